// UndoGroup.swift: steps that are undone together.
// Layer: Recording, Undo. See DESIGN.md, "Undo".

/// One thing to do to a target, which is not kept alive.
struct UndoStep {
  weak var target: AnyObject?
  let perform: (AnyObject) throws -> Void
}

/// Steps that are undone together, and groups inside of it.
final class UndoGroup {
  enum Entry {
    case step(UndoStep)
    case group(UndoGroup)
  }

  var entries: [Entry] = []
  var actionName = ""
  var isDiscardable = false

  /// Whether a step's target is alive.
  var isLive: Bool {
    entries.contains {
      switch $0 {
      case .step(let step): step.target != nil
      case .group(let group): group.isLive
      }
    }
  }

  /// Performs the steps, last first. One that fails does not keep the others from running.
  ///
  /// - Returns: the first error.
  func perform() -> (any Error)? {
    var first: (any Error)?
    for entry in entries.reversed() {
      switch entry {
      case .step(let step):
        guard let target = step.target else { continue }
        do { try step.perform(target) } catch { first = first ?? error }
      case .group(let group):
        if let error = group.perform() { first = first ?? error }
      }
    }
    return first
  }

  /// Forgets the steps of a target, and what has become empty by that.
  func removeSteps(of target: AnyObject) {
    entries = entries.filter {
      switch $0 {
      case .step(let step): return step.target !== target
      case .group(let group):
        group.removeSteps(of: target)
        return !group.entries.isEmpty
      }
    }
  }
}
