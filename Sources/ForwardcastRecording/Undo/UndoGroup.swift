// UndoGroup.swift: steps that are undone together, while their group is open and afterwards.

/// One thing to do to a target, which is not kept alive.
struct UndoStep {
  weak var target: AnyObject?
  let perform: (AnyObject) throws -> Void
}

struct UndoAction {
  var name = ""
  var isDiscardable = false
}

/// Steps that are undone together, the last first.
struct UndoGroup {
  var steps: [UndoStep] = []
  var action = UndoAction()

  /// Whether a step's target is alive.
  var isLive: Bool { steps.contains { $0.target != nil } }

  /// Performs the steps, last first. One that fails does not keep the others from running.
  /// - Returns: the first error.
  func perform() -> (any Error)? {
    var first: (any Error)?
    for step in steps.reversed() {
      guard let target = step.target else { continue }
      do { try step.perform(target) } catch { first = first ?? error }
    }
    return first
  }
}

/// The groups that are open, each inside of the one before.
///
/// The steps of all of them stand in one list, in the order in which they were registered, and a group is where it begins
/// there. So a group that closes moves no step, and nothing is as deep as groups are nested.
///
/// What is released may call the history from its `deinit`: it is kept until the change is made.
final class OpenGroups {
  private struct Frame {
    let number: Int
    var start: Int
    let coalescing: String?
    var action = UndoAction()
    /// The groups that were closed inside of it, in order, while nothing has taken them out.
    var closed: [Closed] = []
  }

  private struct Closed {
    var steps: Range<Int>
    let action: UndoAction
  }

  private var steps: [UndoStep] = []
  private var frames: [Frame] = []

  var level: Int { frames.count }

  /// Whether a step's target is alive.
  var isLive: Bool { steps.contains { $0.target != nil } }

  var action: UndoAction {
    get { frames.first?.action ?? UndoAction() }
    set { if !frames.isEmpty { frames[0].action = newValue } }
  }

  /// Opens a group. Its number tells it from all others of the history.
  func open(_ number: Int, coalescing: String? = nil) {
    frames.append(Frame(number: number, start: steps.count, coalescing: coalescing))
  }

  /// How many groups are open up to that one; `nil` when it is closed.
  func level(of number: Int) -> Int? { frames.lastIndex { $0.number == number }.map { $0 + 1 } }

  func append(_ step: UndoStep) { steps.append(step) }

  /// Closes the innermost group.
  /// - Returns: the group when it was the outermost one, and with what it may be joined.
  func close() -> (group: UndoGroup, coalescing: String?)? {
    guard let frame = frames.popLast() else { return nil }
    if frames.isEmpty {
      defer { steps = [] }
      return (UndoGroup(steps: steps, action: frame.action), frame.coalescing)
    }
    guard frame.start < steps.count else { return nil }
    let outer = frames.count - 1
    if frames[outer].action.name.isEmpty { frames[outer].action.name = frame.action.name }
    frames[outer].closed.append(Closed(steps: frame.start..<steps.count, action: frame.action))
    return nil
  }

  /// Takes out the group that was closed last inside of the innermost one; `nil` when a step stands behind it.
  func takeNested() -> UndoGroup? {
    guard let closed = frames.last?.closed.last, closed.steps.upperBound == steps.count else { return nil }
    frames[frames.count - 1].closed.removeLast()
    let taken = Array(steps[closed.steps])
    steps.removeLast(taken.count)
    return UndoGroup(steps: taken, action: closed.action)
  }

  func removeSteps(of target: AnyObject?) {
    var kept: [UndoStep] = []
    // Where each step, and the end, stands afterwards.
    var places: [Int] = []
    for step in steps {
      places.append(kept.count)
      if let target, step.target !== target { kept.append(step) }
    }
    places.append(kept.count)
    let old = steps
    steps = kept
    frames = frames.map { old in
      var frame = old
      frame.start = places[old.start]
      for (index, closed) in old.closed.enumerated() {
        frame.closed[index].steps = places[closed.steps.lowerBound]..<places[closed.steps.upperBound]
      }
      frame.closed.removeAll(where: \.steps.isEmpty)
      return frame
    }
    withExtendedLifetime(old) {}
  }
}
