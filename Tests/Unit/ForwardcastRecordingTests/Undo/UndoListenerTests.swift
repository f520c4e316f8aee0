// UndoListenerTests.swift: listeners of a history that call the history, and endless groups.

import Forwardcast
import TestSupport
import Testing

@testable import ForwardcastRecording

/// A number that registers the undo of each change.
private final class Counter {
  private(set) var value = 0
  let history: UndoHistory

  init(_ history: UndoHistory) { self.history = history }

  func set(_ new: Int) {
    history.register(self) { [value] in $0.set(value) }
    value = new
  }
}

private typealias Events = UndoHistory.Events

/// The event at which a listener acts, and the expected state.
private struct Moment: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let key: @Sendable () -> Message<(UndoHistory) -> Void>

  static let all = [
    Moment(testDescription: "checkpoint") { Events.checkpoint },
    Moment(testDescription: "didOpenGroup") { Events.didOpenGroup },
    Moment(testDescription: "willCloseGroup") { Events.willCloseGroup },
    Moment(testDescription: "didCloseGroup") { Events.didCloseGroup },
    Moment(testDescription: "willUndo") { Events.willUndo },
    Moment(testDescription: "didUndo") { Events.didUndo },
    Moment(testDescription: "willRedo") { Events.willRedo },
    Moment(testDescription: "didRedo") { Events.didRedo },
  ]
}

/// A listener's action on the history.
private struct Meddling: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let act: @Sendable (UndoHistory) throws -> Void

  static let all = [
    Meddling(testDescription: "ends a group") { try $0.endGroup() },
    Meddling(testDescription: "opens a group") { $0.beginGroup() },
    Meddling(testDescription: "opens and ends a group") {
      $0.beginGroup()
      try $0.endGroup()
    },
    Meddling(testDescription: "undoes") { try $0.undo() },
    Meddling(testDescription: "undoes a nested group") { try $0.undoNestedGroup() },
    Meddling(testDescription: "redoes") { try $0.redo() },
    Meddling(testDescription: "forgets everything") { $0.removeAllActions() },
    Meddling(testDescription: "sets a limit") { $0.levelsOfUndo = 1 },
  ]
}

@Suite("Listeners of an undo history")
struct UndoListenerTests {
  private let history = UndoHistory()

  /// The code of the error that `body` throws, if any.
  private func refusal(_ body: () throws -> Void) -> UndoError.Code? {
    do { try body() } catch { return (error as? UndoError)?.code }
    return nil
  }

  @Test("the history stays consistent whatever a listener calls", arguments: Moment.all, Meddling.all)
  private func meddling(moment: Moment, meddling: Meddling) throws {
    let counter = Counter(history)
    var depth = 0
    let listening = history.events.on(moment.key()) { history in
      // Ignores events that the listener itself causes.
      guard depth == 0 else { return }
      depth += 1
      defer { depth -= 1 }
      try? meddling.act(history)
    }
    counter.set(1)
    history.group("Both") {
      counter.set(2)
      history.group { counter.set(3) }
    }
    history.beginGroup()
    counter.set(4)
    try? history.endGroup()
    _ = try? history.undo()
    _ = try? history.redo()
    listening.cancel()
    // The history is idle and works normally, whatever the listener did.
    expect(!history.isUndoing && !history.isRedoing)
    while history.groupingLevel > 0 { try history.endGroup() }
    history.removeAllActions()
    let value = counter.value
    counter.set(value + 1)
    expect(try history.undo() && counter.value == value)
    expect(try history.redo() && counter.value == value + 1)
  }

  @Test("a listener cannot end a group that is being closed")
  func endsTheClosingGroup() throws {
    let counter = Counter(history)
    var refusals: [UndoError.Code?] = []
    for key in [Events.checkpoint, Events.willCloseGroup] {
      history.events.on(key) { history in
        guard history.groupingLevel > 0 else { return }
        refusals.append(self.refusal { try history.endGroup() })
      }
    }
    counter.set(1)
    expect(refusals, equals: [.isPerforming, .isPerforming])
    expect(history.undoCount == 1 && history.groupingLevel == 0)
  }

  @Test("a listener of a closed group may open and close a group, even after a single step")
  func opensAndEndsAfterClosing() throws {
    let counter = Counter(history)
    var refusals: [UndoError.Code?] = []
    let listening = history.events.on(Events.didCloseGroup) { history in
      guard history.groupingLevel == 0, refusals.count < 3 else { return }
      refusals.append(nil)
      history.beginGroup()
      refusals[refusals.count - 1] = self.refusal { try history.endGroup() }
    }
    counter.set(1)
    expect(refusals == [nil, nil, nil] && history.groupingLevel == 0 && history.undoCount == 1)
    listening.cancel()
    expect(try history.undo() && counter.value == 0)
  }

  @Test("a step is kept even if a listener tries to undo the group being opened for it")
  func undoesTheOpeningGroup() throws {
    let counter = Counter(history)
    var refusals: [UndoError.Code?] = []
    history.events.on(Events.didOpenGroup) { history in
      if !history.isUndoing { refusals.append(self.refusal { try history.undo() }) }
    }
    counter.set(1)
    expect(refusals == [.isPerforming] && history.undoCount == 1)
    try history.undo()
    expect(counter.value, equals: 0)
  }

  @Test("a listener of an undo cannot undo, so nothing is undone twice or out of order")
  func undoesWhileUndoing() throws {
    let counter = Counter(history)
    for value in 1...3 { counter.set(value) }
    var refusals: [UndoError.Code?] = []
    for key in [Events.checkpoint, Events.willUndo] {
      history.events.on(key) { history in
        if history.groupingLevel == 0 {
          refusals.append(self.refusal { try history.undo() })
          refusals.append(self.refusal { try history.redo() })
        }
      }
    }
    try history.undo()
    expect(counter.value == 2 && !refusals.isEmpty && refusals.allSatisfy { $0 == .isPerforming })
    expect(history.undoCount == 2 && history.redoCount == 1)
  }

  @Test("a listener of a finished undo or redo may undo and redo")
  func performsAfterwards() throws {
    let counter = Counter(history)
    for value in 1...3 { counter.set(value) }
    var (values, results): ([Int], [Bool]) = ([], [])
    let listening = history.events.on(Events.didUndo) { history in
      values.append(counter.value)
      results.append(try history.undo())
    }
    expect(try history.undo())
    expect(values == [2, 1, 0] && results == [false, true, true] && history.redoCount == 3)
    listening.cancel()
    history.events.on(Events.didRedo) { history in if counter.value < 3 { expect(try history.redo()) } }
    expect(try history.redo() && counter.value == 3)
  }

  @Test("an action registered by a willUndo listener is undone first")
  func registersBeforeUndo() throws {
    let counter = Counter(history)
    counter.set(1)
    let listening = history.events.on(Events.willUndo) { _ in counter.set(2) }
    try history.undo()
    listening.cancel()
    expect(counter.value == 1 && history.undoCount == 1)
    try history.undo()
    expect(counter.value, equals: 0)
  }

  @Test("a group that a listener leaves open inside a closing group becomes part of it")
  func opensInTheClosingGroup() throws {
    let counter = Counter(history)
    history.events.on(Events.willCloseGroup) { $0.beginGroup() }
    history.group { counter.set(1) }
    expect(history.groupingLevel == 0 && history.undoCount == 1)
    try history.undo()
    expect(counter.value == 0 && history.groupingLevel == 0)
  }

  @Test("groups may be nested as deeply as memory allows")
  func depth() throws {
    let (counter, depth) = (Counter(history), bound(10_000, full: 100_000))
    for _ in 0..<depth { history.beginGroup() }
    counter.set(1)
    for _ in 0..<depth { try history.endGroup() }
    expect(history.canUndo && history.undoCount == 1)
    try history.undo()
    expect(counter.value == 0 && history.redoCount == 1)
    for _ in 0..<100 { history.beginGroup() }
    counter.set(2)
    history.removeAllActions(withTarget: counter)
    for _ in 0..<100 { try history.endGroup() }
    expect(!history.canUndo)
  }

  /// Calls its history in its deinit.
  private final class Caller {
    let history: UndoHistory
    let counter: Counter
    init(_ history: UndoHistory, _ counter: Counter) { (self.history, self.counter) = (history, counter) }
    deinit {
      _ = (history.canUndo, history.redoCount, history.undoActionName)
      history.removeAllActions(withTarget: counter)
      history.register(counter) { _ in }
    }
  }

  @Test("an object released with a step may call the history")
  func releases() throws {
    let (counter, other) = (Counter(history), Counter(history))
    func step(of target: Counter? = nil) {
      let caller = Caller(history, other)
      history.register(target ?? counter) { _ in withExtendedLifetime(caller) {} }
    }
    // Steps are released by a limit, by a new step, by target, with a dead target, in a group.
    history.levelsOfUndo = 2
    for _ in 0..<8 { step() }
    try history.undo()
    step()
    history.levelsOfUndo = 1
    history.removeAllActions()
    step()
    history.removeAllActions(withTarget: counter)
    do { step(of: Counter(history)) }
    expect(history.undoCount <= 1)
    history.group {
      step()
      history.removeAllActions(withTarget: counter)
      step()
      history.removeAllActions()
    }
    history.removeAllActions()
    counter.set(5)
    expect(try history.undo() && counter.value == 0)
  }

  @Test("a limit costs each step the same, however many steps are kept")
  func limitIsLinear() {
    let counter = Counter(history)
    history.levelsOfUndo = 1000
    for value in 0..<12_000 { counter.set(value) }
    expect(history.undoCount, equals: 1000)
    expect(history.undoStack.looks <= 12_000 * 6, "\(history.undoStack.looks)")
  }

  @Test("no more steps can be undone than the limit, even while more are stored", arguments: [1, 2, 5, 8, 100])
  func limitHolds(limit: Int) throws {
    let counter = Counter(history)
    history.levelsOfUndo = limit
    for steps in [1, limit, limit + 1, limit * 3, limit + limit / 4] {
      for value in 1...steps { counter.set(value) }
      let before = history.undoCount
      expect(before <= limit)
      var undone = 0
      while try history.undo() { undone += 1 }
      expect(undone == before && !history.canUndo && history.redoCount == undone)
      while try history.redo() { undone -= 1 }
      expect(undone == 0 && history.undoCount == before)
    }
    // Raising or removing the limit does not restore dropped steps.
    for value in 1...(limit * 2) { counter.set(value) }
    history.levelsOfUndo = limit * 2
    expect(history.undoCount, equals: limit)
    history.levelsOfUndo = 0
    expect(history.undoCount, equals: limit)
  }
}

@Suite("Coalescing")
struct UndoCoalescingTests {
  private let history = UndoHistory()

  private func type(_ counter: Counter, _ value: Int, _ kind: String? = "typing") {
    history.group("Type", coalescing: kind) { counter.set(value) }
  }

  @Test("consecutive groups of one kind are undone and redone as one")
  func joined() throws {
    let counter = Counter(history)
    for value in 1...5 { type(counter, value) }
    expect(history.undoCount == 1 && history.undoMenuItemTitle == "Undo Type")
    try history.undo()
    expect(counter.value == 0 && history.redoCount == 1)
    try history.redo()
    expect(counter.value, equals: 5)
    // A change after an undo or redo is not coalesced.
    type(counter, 6)
    expect(history.undoCount, equals: 2)
    try history.undo()
    expect(counter.value, equals: 5)
    type(counter, 7)
    expect(history.undoCount == 2 && !history.canRedo)
  }

  /// An action that prevents coalescing.
  private enum Cut: CaseIterable { case none, otherKind, noKind, step, broken, undone, forgotten }

  @Test("an action in between prevents coalescing", arguments: Cut.allCases)
  private func cut(cut: Cut) throws {
    let counter = Counter(history)
    type(counter, 1)
    var between = 0
    switch cut {
    case .none: break
    case .otherKind: (between, _) = (1, type(counter, 2, "deleting"))
    case .noKind: (between, _) = (1, type(counter, 2, nil))
    case .step: (between, _) = (1, counter.set(2))
    case .broken: history.breakCoalescing()
    case .undone:
      counter.set(2)
      try history.undo()
    case .forgotten: history.removeAllActions()
    }
    type(counter, 3)
    let apart = 2 + between
    expect(history.undoCount, equals: cut == .none || cut == .forgotten ? 1 : apart)
    type(counter, 4)
    try history.undo()
    expect(counter.value, equals: cut == .none ? 0 : between > 0 ? 2 : 1)
  }

  @Test("a group does not join one below a removed group", arguments: [false, true])
  func gone(isRemoved: Bool) throws {
    let (counter, other) = (Counter(history), Counter(history))
    other.set(1)
    var text: Counter? = Counter(history)
    if let text { type(text, 1) }
    if isRemoved, let text { history.removeAllActions(withTarget: text) }
    text = nil
    expect(history.canUndo)
    type(counter, 1)
    expect(history.undoCount, equals: 2)
    try history.undo()
    expect(counter.value == 0 && other.value == 1)
  }

  @Test("a joined group counts once for the limit, and an inner group belongs to its outer one whatever its kind")
  func limits() throws {
    let counter = Counter(history)
    history.levelsOfUndo = 2
    counter.set(1)
    for value in 2...20 { type(counter, value) }
    expect(history.undoCount, equals: 2)
    history.group {
      type(counter, 21)
      type(counter, 22)
    }
    type(counter, 23)
    try history.undo()
    expect(counter.value, equals: 22)
    try history.undo()
    expect(counter.value, equals: 20)
  }
}
