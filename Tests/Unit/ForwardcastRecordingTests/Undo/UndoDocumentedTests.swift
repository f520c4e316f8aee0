// UndoDocumentedTests.swift: the documented rules of Foundation's undo manager, one by one.

import Forwardcast
import ForwardcastRecording
import TestSupport
import Testing

extension Message<(String) -> Void> { fileprivate static var type: Self { .init("type:") } }

/// A text that registers the undo of each change.
@Receiver
private final class Note {
  private(set) var text = ""
  let history: UndoHistory

  init(_ history: UndoHistory) { self.history = history }

  @Message func type(_ text: String) throws {
    try history.prepare(self).send(.type, self.text)
    self.text = text
  }
}

private enum Act: Sendable {
  case type(String), name(String), undo, redo, undoNested, begin, end, disable, enable, removeAll, removeNote, limit(
    Int)
}

/// One documented rule: the actions, and the expected state.
private struct Rule: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let acts: [Act]
  let text: String
  let undo: String?
  let redo: String?
  let level: Int
  let errors: [UndoError.Code]

  /// - Parameters:
  ///   - undo: the name of the next undo, or `nil`.
  ///   - redo: the name of the next redo, or `nil`.
  ///   - errors: the errors thrown meanwhile.
  init(
    _ rule: String, _ acts: [Act], text: String, undo: String? = nil, redo: String? = nil, level: Int = 0,
    errors: [UndoError.Code] = []
  ) {
    (testDescription, self.acts, self.text, self.undo, self.redo) = (rule, acts, text, undo, redo)
    (self.level, self.errors) = (level, errors)
  }
}

private let rules: [Rule] = [
  // Registering.
  .init("prepared messages are recorded for undo", [.type("a")], text: "a", undo: ""),
  .init("undo sends the recorded message", [.type("a"), .undo], text: "", redo: ""),
  .init("what an undo registers is recorded for redo", [.type("a"), .undo, .redo], text: "a", undo: ""),
  .init(
    "what a redo registers is recorded for undo", [.type("a"), .undo, .redo, .undo], text: "", redo: ""),
  .init("a new action clears the redo stack", [.type("a"), .undo, .type("b")], text: "b", undo: ""),
  .init("undo without anything to undo does nothing", [.undo, .redo], text: ""),
  // Groups.
  .init(
    "the actions of a group are undone together, in reverse",
    [.begin, .type("a"), .type("b"), .end, .undo], text: "", redo: ""),
  .init("and redone together", [.begin, .type("a"), .type("b"), .end, .undo, .redo], text: "b", undo: ""),
  .init(
    "groups nest, and the outermost one is what is undone",
    [.begin, .type("a"), .begin, .type("b"), .end, .type("c"), .end, .undo], text: "", redo: ""),
  .init("the grouping level counts open groups", [.begin, .begin, .type("a")], text: "a", undo: "", level: 2),
  .init("ending a group that was not begun is an error", [.end], text: "", errors: [.noGroupIsOpen]),
  .init("undo ends the group that is open when there is one", [.begin, .type("a"), .undo], text: "", redo: ""),
  .init(
    "undo is an error while more than one is open", [.begin, .begin, .type("a"), .undo], text: "a", undo: "", level: 2,
    errors: [.groupIsOpen]),
  .init(
    "redo is an error while one is open", [.type("a"), .undo, .begin, .redo], text: "", redo: "", level: 1,
    errors: [.groupIsOpen]),
  .init(
    "a nested undo undoes the last group, nested or not",
    [.begin, .type("a"), .begin, .type("b"), .end, .undoNested], text: "a", undo: "", redo: "", level: 1),
  .init("a nested undo without an open group undoes the last one", [.type("a"), .undoNested], text: "", redo: ""),
  .init("an empty group can be ended and leaves nothing to undo", [.begin, .end], text: ""),
  // Limit.
  .init(
    "beyond the limit the oldest groups are dropped",
    [.limit(2), .type("a"), .type("b"), .type("c"), .undo, .undo, .undo],
    text: "a", redo: ""),
  .init(
    "a limit that is lowered drops at once", [.type("a"), .type("b"), .limit(1), .undo, .undo], text: "a", redo: ""),
  .init("no limit is 0", [.limit(1), .limit(0), .type("a"), .type("b"), .undo, .undo], text: "", redo: ""),
  // Enabling.
  .init("nothing is recorded while registration is disabled", [.disable, .type("a")], text: "a"),
  .init("it is disabled as often as it was not enabled", [.disable, .disable, .enable, .type("a")], text: "a"),
  .init("and recorded again after", [.disable, .type("a"), .enable, .type("b"), .undo], text: "a", redo: ""),
  .init("enabling what is not disabled is an error", [.enable], text: "", errors: [.isNotDisabled]),
  // Removing.
  .init("all actions are removed from both stacks", [.type("a"), .type("b"), .undo, .removeAll], text: "a"),
  .init("which enables registration", [.disable, .removeAll, .type("a")], text: "a", undo: ""),
  .init("a target's actions are removed from both stacks", [.type("a"), .type("b"), .undo, .removeNote], text: "a"),
  .init("which does not enable registration", [.disable, .removeNote, .type("a")], text: "a"),
  // Names.
  .init("an action has a name", [.type("a"), .name("Typing")], text: "a", undo: "Typing"),
  .init("an empty name removes it", [.type("a"), .name("Typing"), .name("")], text: "a", undo: ""),
  .init("the name goes with the action to redo", [.type("a"), .name("Typing"), .undo], text: "", redo: "Typing"),
  .init("and back to undo", [.type("a"), .name("Typing"), .undo, .redo], text: "a", undo: "Typing"),
  .init(
    "a group has one name", [.begin, .type("a"), .name("First"), .type("b"), .name("Second"), .end], text: "b",
    undo: "Second"),
]

@Suite("Undo as documented")
struct UndoDocumentedTests {
  private func perform(_ act: Act, _ history: UndoHistory, _ note: Note) throws {
    switch act {
    case .type(let text): try note.type(text)
    case .name(let name): history.setActionName(name)
    case .undo: try history.undo()
    case .redo: try history.redo()
    case .undoNested: try history.undoNestedGroup()
    case .begin: history.beginGroup()
    case .end: try history.endGroup()
    case .disable: history.disableRegistration()
    case .enable: try history.enableRegistration()
    case .removeAll: history.removeAllActions()
    case .removeNote: history.removeAllActions(withTarget: note)
    case .limit(let limit): history.levelsOfUndo = limit
    }
  }

  @Test("a documented rule holds", arguments: rules)
  private func holds(rule: Rule) throws {
    let history = UndoHistory()
    let note = Note(history)
    var errors: [UndoError.Code] = []
    for act in rule.acts {
      do { try perform(act, history, note) } catch let error as UndoError { errors.append(error.code) }
    }
    expect(note.text, equals: rule.text)
    expect(history.canUndo == (rule.undo != nil) && history.canRedo == (rule.redo != nil))
    expect(history.undoActionName == rule.undo ?? "" && history.redoActionName == rule.redo ?? "")
    expect(history.groupingLevel, equals: rule.level)
    expect(errors, equals: rule.errors)
    expect(!history.isUndoing && !history.isRedoing)
  }
}
