// UndoModelTests.swift: compares random use of an undo history with a list of snapshots.

import Forwardcast
import ForwardcastRecording
import TestSupport
import Testing

extension Message<(Int) -> Void> { fileprivate static var set: Self { .init("set:") } }

/// A number that registers the undo of each change.
@Receiver
private final class Dial {
  private(set) var value = 0
  let history: UndoHistory

  init(_ history: UndoHistory) { self.history = history }

  @Message func set(_ new: Int) throws {
    try history.prepare(self).send(.set, value)
    value = new
  }
}

/// A history without steps: each group is the value before and after it.
private struct Snapshots {
  struct Group: Equatable {
    var before: Int
    var after: Int
  }

  var value = 0
  var undo: [Group] = []
  var redo: [Group] = []
  /// For each open group, its initial value, and whether anything was registered in it.
  var open: [(before: Int, isUsed: Bool)] = []
  var disabled = 0
  var limit = 0

  mutating func set(_ new: Int) {
    if disabled == 0 {
      redo = []
      if open.isEmpty {
        push(Group(before: value, after: new))
      } else {
        open[open.count - 1].isUsed = true
      }
    }
    value = new
  }

  mutating func end() {
    let group = open.removeLast()
    guard group.isUsed else { return }
    if open.isEmpty { push(Group(before: group.before, after: value)) } else { open[open.count - 1].isUsed = true }
  }

  mutating func push(_ group: Group) {
    undo.append(group)
    enforceLimit()
  }

  mutating func enforceLimit() {
    guard limit > 0 else { return }
    undo = undo.suffix(limit)
    redo = redo.suffix(limit)
  }

  /// Returns true if the undo is refused.
  mutating func undoOne() -> Bool {
    if open.count > 1 { return true }
    if open.count == 1 { end() }
    guard let group = undo.popLast() else { return false }
    value = group.before
    // While registration is disabled, an undo cannot be redone.
    if disabled == 0 { redo.append(group) }
    enforceLimit()
    return false
  }

  mutating func redoOne() -> Bool {
    if !open.isEmpty { return true }
    guard let group = redo.popLast() else { return false }
    value = group.after
    if disabled == 0 { undo.append(group) }
    enforceLimit()
    return false
  }
}

@Suite("Random undo histories")
struct UndoModelTests {
  /// Applies one random action to both, and returns its name.
  private func act(_ history: UndoHistory, _ dial: Dial, _ model: inout Snapshots, _ random: inout Seeded) throws
    -> String
  {
    func refused(_ body: () throws -> Bool) throws -> Bool {
      do { _ = try body() } catch let error as UndoError where error.code == .groupIsOpen { return true }
      return false
    }
    switch random.number(0...20) {
    case 0...6:
      let value = random.number(1...999)
      try dial.set(value)
      model.set(value)
      return "set \(value)"
    case 7...10:
      let (wanted, found) = (model.undoOne(), try refused(history.undo))
      expect(wanted, equals: found)
      return "undo"
    case 11...13:
      let (wanted, found) = (model.redoOne(), try refused(history.redo))
      expect(wanted, equals: found)
      return "redo"
    case 14...15:
      history.beginGroup()
      model.open.append((model.value, false))
      return "begin"
    case 16...17:
      guard !model.open.isEmpty else {
        #expect(throws: UndoError.self) { try history.endGroup() }
        return "end refused"
      }
      try history.endGroup()
      model.end()
      return "end"
    case 18:
      // Only outside groups: an unregistered change within a group could not be undone.
      guard model.open.isEmpty, random.chance(30) else { return "-" }
      history.removeAllActions()
      (model.undo, model.redo, model.disabled) = ([], [], 0)
      return "remove all"
    case 19:
      let limit = random.number(0...5)
      history.levelsOfUndo = limit
      model.limit = limit
      model.enforceLimit()
      return "limit \(limit)"
    default:
      // Undoes without registration, so that only the value changes.
      guard model.open.isEmpty else { return "-" }
      history.disableRegistration()
      model.disabled = 1
      let (wanted, found) = (model.undoOne(), try refused(history.undo))
      expect(wanted, equals: found)
      try history.enableRegistration()
      model.disabled = 0
      // No step knows of this change.
      history.removeAllActions()
      (model.undo, model.redo) = ([], [])
      return "undo unregistered"
    }
  }

  @Test("a history behaves like a list of snapshots", arguments: 1...bound(40, full: 200))
  func model(seed: Int) throws {
    var random = Seeded(seed)
    let history = UndoHistory()
    let dial = Dial(history)
    var model = Snapshots()
    var said: [String] = []
    for _ in 0..<60 {
      said.append(try act(history, dial, &model, &random))
      let comment: Comment = "seed \(seed): \(said.joined(separator: ", "))"
      try #require(dial.value == model.value, comment)
      try #require(history.groupingLevel == model.open.count, comment)
      let isOpenUsed = model.open.contains { $0.isUsed }
      try #require(history.undoCount == model.undo.count + (isOpenUsed ? 1 : 0), comment)
      try #require(history.redoCount == model.redo.count, comment)
      try #require(history.canUndo == (!model.undo.isEmpty || isOpenUsed), comment)
      try #require(history.canRedo == !model.redo.isEmpty, comment)
    }
  }
}
