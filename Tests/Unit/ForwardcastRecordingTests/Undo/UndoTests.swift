// UndoTests.swift: undo, redo, groups, limits and removal of steps.

import Forwardcast
import ForwardcastRecording
import TestSupport
import Testing

extension Message<(String) -> Void> { fileprivate static var setTitle: Self { .init("setTitle:") } }
extension Message<(Int, Int) -> Bool> { fileprivate static var move: Self { .init("moveTo:y:") } }

/// A receiver that registers the undo of each change.
@Receiver
private final class Page {
  private(set) var title: String
  var place = [0, 0]
  let history: UndoHistory

  init(_ history: UndoHistory, title: String = "") { (self.history, self.title) = (history, title) }

  @Message func setTitle(_ text: String) throws {
    try history.prepare(self).send(.setTitle, title)
    title = text
  }
  @Message("moveTo:y:") func move(_ x: Int, _ y: Int) throws -> Bool {
    try history.prepare(self).send(.move, place[0], place[1])
    place = [x, y]
    return true
  }
  @Message func fail() throws { throw Spilled(description: "no way back") }
}

@Suite("Undo")
struct UndoTests {
  private let history = UndoHistory()

  private func titles(_ page: Page, _ titles: String...) throws { for title in titles { try page.setTitle(title) } }

  @Test("a change can be undone and redone as many times as there are steps")
  func undoAndRedo() throws {
    let page = Page(history)
    try titles(page, "a", "b")
    expect(try history.undo() && page.title == "a")
    expect(try history.undo() && page.title == "")
    expect(try !history.undo())
    expect(try history.redo() && page.title == "a")
    expect(try history.redo() && page.title == "b")
    expect(try !history.redo())
    expect(try history.undo() && page.title == "a")
  }

  @Test("a step whose arguments are Sendable can be undone by targets on other contexts")
  func queuedTarget() async throws {
    let (titles, seen) = (MulticastProxy<any MessageReceiver & Sendable>(), Locked<[String]>([]))
    titles.on(.setTitle, delivery: .mainActor) { title in seen.withLock { $0.append(title) } }
    try history.prepare(titles).send(.setTitle, "a")
    expect(try history.undo())
    try await titles.drain()
    expect(seen.withLock { $0 }, equals: ["a"])
  }

  @Test("a step can be prepared by key, by name, as a value and as a closure")
  func preparations() throws {
    let page = Page(history)
    try history.prepare(page).send(.setTitle, "key")
    try history.prepare(page).dynamic.setTitle("name")
    try history.prepare(page).perform(Invocation("setTitle:", arguments: [.init("value")]))
    history.register(page) { try $0.setTitle("closure") }
    for title in ["closure", "value", "name", "key"] { #expect(try history.undo() && page.title == title) }
  }

  @Test("a message with a result is undone too, and its result is dropped")
  func answeringMessages() throws {
    let page = Page(history)
    _ = try page.move(1, 2)
    _ = try page.move(3, 4)
    try history.undo()
    expect(page.place, equals: [1, 2])
  }

  @Test("preparing a message checks its selector and the number and types of its arguments")
  func checks() throws {
    let page = Page(history)
    let code = { (body: () throws -> Void) in #expect(throws: MessageError.self) { try body() }?.code }
    expect(code { try history.prepare(page).dynamic.wash("pan") }, equals: .unrecognizedSelector)
    expect(code { try history.prepare(page).dynamic.setTitle(3) }, equals: .typeMismatch)
    expect(code { try history.prepare(page).perform(Invocation("setTitle:")) }, equals: .wrongArgumentCount)
    let stand = ForwardingProxy(to: page)
    expect(code { try history.prepare(stand).dynamic.wash("pan") }, equals: .unrecognizedSelector)
    expect(code { try history.prepare(stand).perform(Invocation("setTitle:")) }, equals: .wrongArgumentCount)
    expect(!history.canUndo)
    try history.prepare(stand).dynamic.setTitle("through")
    try history.undo()
    expect(page.title, equals: "through")
  }

  @Test("steps of a group are undone together in reverse, and redone in order")
  func groups() throws {
    let page = Page(history)
    try history.group("Type") { try titles(page, "a", "b", "c") }
    var seen: [String] = []
    history.register(page) { _ in seen.append("outside") }
    try history.undo()
    expect(seen == ["outside"] && page.title == "c")
    try history.undo()
    expect(page.title, equals: "")
    expect(history.redoMenuItemTitle, equals: "Redo Type")
    try history.redo()
    expect(page.title == "c" && history.undoMenuItemTitle == "Undo Type")
  }

  @Test("a nested group belongs to its outer group, and can be undone alone while that is open")
  func nesting() throws {
    let page = Page(history)
    history.beginGroup()
    try page.setTitle("a")
    history.beginGroup()
    try titles(page, "b", "c")
    expect(history.groupingLevel, equals: 2)
    try history.endGroup()
    expect(try history.undoNestedGroup() && page.title == "a")
    // The last entry is now a step, not a group.
    expect(try !history.undoNestedGroup() && page.title == "a")
    expect(history.groupingLevel == 1 && history.redoCount == 1)
    try history.endGroup()
    try history.undo()
    expect(page.title, equals: "")
    // What was undone as one is redone as one.
    expect(history.redoCount, equals: 2)
    try history.redo()
    expect(page.title, equals: "a")
    // A group followed by a step is not the last entry.
    history.beginGroup()
    try history.group { try page.setTitle("d") }
    try page.setTitle("e")
    expect(try !history.undoNestedGroup() && page.title == "e")
    try history.endGroup()
  }

  @Test("undo closes a single open group and refuses several; redo refuses any")
  func openGroups() throws {
    let page = Page(history)
    try page.setTitle("a")
    history.beginGroup()
    try page.setTitle("b")
    history.beginGroup()
    let undone = #expect(throws: UndoError.self) { try history.undo() }
    expect(undone?.code == .groupIsOpen && undone?.description == "2 undo groups are open; end them first")
    try history.endGroup()
    let redone = #expect(throws: UndoError.self) { try history.redo() }
    expect(redone?.code == .groupIsOpen && redone?.groupingLevel == 1)
    expect(page.title, equals: "b")
    try history.undo()
    expect(page.title == "a" && history.groupingLevel == 0)
    let ended = #expect(throws: UndoError.self) { try history.endGroup() }
    expect(ended?.code, equals: .noGroupIsOpen)
  }

  @Test("an empty group is not kept, and a group whose body throws is closed")
  func groupEnds() throws {
    let page = Page(history)
    history.group {}
    expect(!history.canUndo && history.undoCount == 0)
    #expect(throws: Spilled.self) {
      try history.group("Half") {
        try page.setTitle("a")
        history.beginGroup()
        throw Spilled(description: "")
      }
    }
    expect(history.groupingLevel == 0 && history.undoCount == 1)
    try history.undo()
    expect(page.title, equals: "")
  }

  @Test("a new step clears the redo stack, and a step of an undo or redo does not")
  func redoIsCleared() throws {
    let page = Page(history)
    try titles(page, "a", "b", "c")
    try history.undo()
    try history.undo()
    expect(history.redoCount, equals: 2)
    try history.redo()
    expect(history.redoCount == 1 && page.title == "b")
    try page.setTitle("d")
    expect(!history.canRedo && history.undoCount == 3)
  }

  @Test("the oldest groups beyond the limit are dropped, also when it is lowered; 0 means no limit")
  func limit() throws {
    let page = Page(history)
    history.levelsOfUndo = 3
    try titles(page, "a", "b", "c", "d", "e")
    expect(history.undoCount, equals: 3)
    history.levelsOfUndo = 2
    expect(history.undoCount, equals: 2)
    try history.undo()
    try history.undo()
    expect(try !history.undo() && page.title == "c")
    history.levelsOfUndo = 1
    expect(history.redoCount, equals: 1)
    history.levelsOfUndo = 0
    history.removeAllActions()
    try titles(page, "1", "2", "3", "4")
    expect(history.undoCount, equals: 4)
  }

  @Test("removing a target's steps from an open group keeps the steps of other targets and their groups")
  func removalInOpenGroup() throws {
    let (page, other) = (Page(history), Page(history))
    try history.group {
      try titles(page, "a")
      try history.group { try titles(other, "b") }
      try history.group { try titles(page, "c") }
      try history.group {
        try titles(page, "d")
        try titles(other, "e")
      }
      history.removeAllActions(withTarget: page)
      // Undoes the last of the two remaining groups, and only its own step.
      expect(try history.undoNestedGroup() && page.title == "d" && other.title == "b")
    }
    expect(try history.undo() && page.title == "d" && other.title == "" && !history.canUndo)
  }

  @Test("the largest limit keeps everything, including what was undone when it was set")
  func largestLimit() throws {
    let page = Page(history)
    try titles(page, "a", "b", "c")
    try history.undo()
    history.levelsOfUndo = .max
    try history.redo()
    try titles(page, "d", "e")
    expect(history.undoCount, equals: 5)
    for _ in 0..<5 { try history.undo() }
    expect(try !history.undo() && history.redoCount == 5)
    history.removeAllActions()
    try titles(page, "f")
    expect(history.undoCount, equals: 1)
  }

  @Test("a group counts once for the limit, with all its steps")
  func limitCountsGroups() throws {
    let page = Page(history)
    history.levelsOfUndo = 2
    for letter in ["a", "b", "c"] { try history.group { try titles(page, letter + "1", letter + "2") } }
    try history.undo()
    try history.undo()
    expect(page.title == "a2" && !history.canUndo)
  }

  @Test("nothing is registered while registration is disabled, and each disable needs one enable")
  func disabling() throws {
    let page = Page(history)
    history.disableRegistration()
    history.disableRegistration()
    try page.setTitle("a")
    try history.enableRegistration()
    expect(!history.isRegistrationEnabled)
    try page.setTitle("b")
    expect(!history.canUndo)
    try history.enableRegistration()
    let refused = #expect(throws: UndoError.self) { try history.enableRegistration() }
    expect(refused?.code, equals: .isNotDisabled)
    try page.setTitle("c")
    try history.withoutRegistration { try page.setTitle("d") }
    try history.undo()
    expect(page.title, equals: "b")
  }

  @Test("a step that is ignored while registration is disabled keeps the redo stack")
  func disabledStepsClearNothing() throws {
    let page = Page(history)
    try page.setTitle("a")
    try history.undo()
    try history.withoutRegistration { try page.setTitle("b") }
    expect(history.canRedo)
  }

  @Test("removing all actions empties both stacks and enables registration")
  func removeAll() throws {
    let page = Page(history)
    try titles(page, "a", "b")
    try history.undo()
    history.disableRegistration()
    history.beginGroup()
    history.removeAllActions()
    expect(!history.canUndo && !history.canRedo && history.isRegistrationEnabled && history.groupingLevel == 1)
    try history.endGroup()
    expect(!history.canUndo)
    history.withoutRegistration { history.removeAllActions() }
    expect(history.isRegistrationEnabled)
  }

  @Test("removing a target's actions keeps those of other targets, and the state of registration")
  func removeTarget() throws {
    let (page, other) = (Page(history), Page(history))
    try page.setTitle("a")
    try history.group {
      try other.setTitle("b")
      try history.group { try page.setTitle("c") }
    }
    try page.setTitle("d")
    try history.undo()
    history.disableRegistration()
    history.removeAllActions(withTarget: page)
    expect(!history.isRegistrationEnabled && !history.canRedo)
    try history.enableRegistration()
    expect(history.undoCount, equals: 1)
    try history.undo()
    expect(other.title == "" && page.title == "c")
    // Steps in a group that is open during an undo are removed too.
    history.beginGroup()
    try page.setTitle("e")
    history.group { history.register(other) { $0.history.removeAllActions(withTarget: page) } }
    try history.undoNestedGroup()
    try history.endGroup()
    try history.undo()
    expect(page.title, equals: "e")
  }

  @Test("actions that an undo registers in groups are redone as one")
  func groupsWhileUndoing() throws {
    let page = Page(history)
    history.register(page) { page in
      try page.history.group { try page.setTitle("a") }
      page.history.beginGroup()
      try page.setTitle("b")
      // Leaves a group open like a careless handler. The history's own group cannot be closed.
      try page.history.endGroup()
      #expect(throws: UndoError.self) { try page.history.endGroup() }
      page.history.beginGroup()
    }
    try history.undo()
    expect(page.title == "b" && history.groupingLevel == 0 && history.redoCount == 1)
    try history.redo()
    expect(page.title, equals: "")
  }

  @Test("an undo within an undo is refused")
  func reentrance() throws {
    let page = Page(history)
    var refused: [UndoError.Code] = []
    var phases: [Bool] = []
    history.register(page) { page in
      phases += [page.history.isUndoing, page.history.isRedoing]
      for body in [page.history.undo, page.history.redo, page.history.undoNestedGroup] {
        do { _ = try body() } catch let error as UndoError { refused.append(error.code) }
      }
    }
    try history.undo()
    expect(refused, equals: [.isPerforming, .isPerforming, .isPerforming])
    expect(phases == [true, false] && !history.isUndoing)
  }

  @Test("a step that throws does not stop the other steps, and its error is thrown at the end")
  func failingSteps() throws {
    let page = Page(history)
    try history.group {
      try page.setTitle("a")
      try history.prepare(page).dynamic.fail()
      _ = try page.move(1, 1)
    }
    let error = #expect(throws: Spilled.self) { try history.undo() }
    expect(error?.description, equals: "no way back")
    expect(page.title == "" && page.place == [0, 0] && !history.isUndoing && history.undoCount == 1)
    try history.redo()
    expect(page.title == "a" && page.place == [1, 1])
    history.group {
      for text in ["last", "first"] { history.register(page) { _ in throw Spilled(description: text) } }
    }
    expect(#expect(throws: Spilled.self) { try history.undo() }?.description, equals: "first")
  }

  @Test("a step that throws can be undone or redone again, with its action name, until it succeeds")
  func retriedSteps() throws {
    let page = Page(history)
    var isFull = true
    func move(_ page: Page) throws {
      if isFull { throw Spilled(description: "disk full") }
      history.register(page, move)
      page.place[0] += 1
    }
    history.levelsOfUndo = 1
    try history.group("Move") {
      history.register(page, move)
      try page.setTitle("a")
    }
    for _ in 0..<2 {
      #expect(throws: Spilled.self) { try history.undo() }
      expect(page.title == "" && history.undoCount == 1 && history.redoCount == 1)
      expect(history.undoActionName, equals: "Move")
    }
    isFull = false
    try history.undo()
    expect(page.place == [1, 0] && history.undoCount == 0 && history.redoCount == 1)
    isFull = true
    #expect(throws: Spilled.self) { try history.redo() }
    expect(page.place == [1, 0] && history.redoActionName == "Move")
    isFull = false
    try history.redo()
    expect(page.place == [2, 0] && !history.canRedo && history.undoCount == 1)
    // The listeners of the end may remove the step.
    isFull = true
    history.events.on(UndoHistory.Events.didUndo) { [unowned page] in $0.removeAllActions(withTarget: page) }
    #expect(throws: Spilled.self) { try history.undo() }
    expect(!history.canUndo)
  }

  @Test("a step that removes its target's steps, or all, and then throws is not kept", arguments: [false, true])
  func removedWhileRunning(all: Bool) {
    let page = Page(history)
    history.group {
      history.register(page) { _ in
        if all { history.removeAllActions() } else { history.removeAllActions(withTarget: page) }
        throw Spilled(description: "first")
      }
      history.register(page) { _ in throw Spilled(description: "last") }
    }
    #expect(throws: Spilled.self) { try history.undo() }
    expect(!history.canUndo && !history.canRedo)
  }

  @Test("a step of a nested group that throws stays in its group")
  func retriedNestedSteps() throws {
    let page = Page(history)
    var isFull = true
    history.beginGroup()
    history.group {
      history.register(page) { page in
        if isFull { throw Spilled(description: "disk full") }
        page.place[0] += 1
      }
    }
    #expect(throws: Spilled.self) { try history.undoNestedGroup() }
    isFull = false
    expect(try history.undoNestedGroup() && page.place == [1, 0] && history.groupingLevel == 1)
    try history.endGroup()
    expect(!history.canUndo)
  }

  @Test("a nested undo is refused while several groups are open and the innermost has no group to undo")
  func nestedInSeveral() throws {
    let page = Page(history)
    try page.setTitle("a")
    for _ in 0..<2 { history.beginGroup() }
    let refused = #expect(throws: UndoError.self) { try history.undoNestedGroup() }
    expect("\(try #require(refused))", equals: "2 undo groups are open; end them first")
    try history.group { try page.setTitle("b") }
    expect(try history.undoNestedGroup() && page.title == "a")
  }

  @Test("a negative limit means no limit", arguments: [-1, Int.min])
  func negativeLevels(levels: Int) throws {
    let page = Page(history)
    try titles(page, "a", "b")
    history.levelsOfUndo = levels
    try titles(page, "c")
    expect(history.undoCount, equals: 3)
  }
}
