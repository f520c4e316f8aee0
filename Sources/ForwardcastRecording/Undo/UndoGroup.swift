// UndoGroup.swift: groups of steps, open and closed.

/// One change of a weakly referenced target.
struct UndoStep {
  weak var target: AnyObject?
  let perform: (AnyObject) throws -> Void
}

struct UndoAction {
  var name = ""
  var isDiscardable = false
}

/// Steps that are undone together, the last step first.
struct UndoGroup {
  var steps: [UndoStep] = []
  var action = UndoAction()
  /// The kind of groups that can still be joined to this one; `nil` if none can.
  var coalescing: String?

  var isLive: Bool { steps.contains { $0.target != nil } }

  /// Adds the steps of a later group. The result can be discarded only if both groups can.
  mutating func join(_ later: UndoGroup) {
    steps += later.steps
    if !later.action.isDiscardable { action.isDiscardable = false }
  }
}

/// The steps of the current undo or redo that stay in the history: those that threw.
struct FailedSteps {
  /// The steps in the order in which they threw.
  private var steps: [UndoStep] = []
  private var running: UndoStep?

  mutating func begin(_ step: UndoStep) { running = step }

  mutating func end(threw: Bool) {
    if threw, let running { steps.append(running) }
    running = nil
  }

  /// Returns the steps in the order of their group.
  mutating func take() -> [UndoStep] { exchange(&steps, with: []).reversed() }

  /// Removes a target's steps, or all. Returns the old steps, whose release may run foreign code.
  mutating func remove(of target: AnyObject?) -> [UndoStep] {
    func isKept(_ step: UndoStep) -> Bool { target != nil && step.target !== target }
    let old = steps + (running.map { [$0] } ?? [])
    steps = steps.filter(isKept)
    if let step = running, !isKept(step) { running = nil }
    return old
  }
}

/// The open groups. Each group is nested in the preceding group. All steps are in one list, so
/// closing a group moves no step. Removed steps are released only after a change is complete,
/// because a `deinit` may call the history.
final class OpenGroups {
  private struct Frame {
    let number: Int
    var start: Int
    let coalescing: String?
    /// The steps of each closed group within this group, in order. Removed groups are not listed.
    var closed: [Range<Int>] = []
  }

  private var steps: [UndoStep] = []
  private var frames: [Frame] = []

  var level: Int { frames.count }

  var isLive: Bool { steps.contains { $0.target != nil } }

  /// The action of the outermost group. Nested groups have none.
  var action = UndoAction()

  func open(_ number: Int, coalescing: String? = nil) {
    frames.append(Frame(number: number, start: steps.count, coalescing: coalescing))
  }

  /// The nesting level of the group `number`, from 1; `nil` if that group is closed.
  func level(of number: Int) -> Int? { frames.lastIndex { $0.number == number }.map { $0 + 1 } }

  func append(_ step: UndoStep) { steps.append(step) }

  /// Adds a closed group to the innermost open group.
  func append(_ group: UndoGroup) {
    open(0)
    steps += group.steps
    _ = close()
  }

  /// Closes the innermost group. Returns the group if no other group is open.
  func close() -> UndoGroup? {
    guard let frame = frames.popLast() else { return nil }
    if frames.isEmpty {
      defer { (steps, action) = ([], UndoAction()) }
      return UndoGroup(steps: steps, action: action, coalescing: frame.coalescing)
    }
    if frame.start < steps.count { frames[frames.count - 1].closed.append(frame.start..<steps.count) }
    return nil
  }

  /// Removes and returns the last closed group in the innermost open group, unless a step follows.
  func takeNested() -> UndoGroup? {
    guard let closed = frames.last?.closed.last, closed.upperBound == steps.count else { return nil }
    frames[frames.count - 1].closed.removeLast()
    let taken = Array(steps[closed])
    steps.removeLast(taken.count)
    return UndoGroup(steps: taken)
  }

  func removeSteps(of target: AnyObject?) {
    let old = steps
    func isKept(_ step: UndoStep) -> Bool { target != nil && step.target !== target }
    // The new position of each step, and of the end of the list.
    let places = old.reduce(into: [0]) { $0.append($0[$0.count - 1] + (isKept($1) ? 1 : 0)) }
    steps = old.filter(isKept)
    for index in frames.indices {
      frames[index].start = places[frames[index].start]
      frames[index].closed = frames[index].closed.compactMap { closed in
        let steps = places[closed.lowerBound]..<places[closed.upperBound]
        return steps.isEmpty ? nil : steps
      }
    }
    withExtendedLifetime(old) {}
  }
}
