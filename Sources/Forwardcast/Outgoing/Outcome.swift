// Outcome.swift: the outcome of a message at one target, as a walk keeps it.

/// The outcome of a message at one target, and where, until the sink has it.
///
/// An object: lists of them are made and iterated for hooks, and copying the parts would cost several retains. It stays in the turn
/// of its message, so no access overlaps another.
final class Outcome {
  @exclusivity(unchecked) var outcome: StepOutcome
  let context: StepContext

  init(_ outcome: StepOutcome, _ context: StepContext) { (self.outcome, self.context) = (outcome, context) }
}

/// Is told of targets that are not asked. Not a closure: the code that tells would be compiled for each.
protocol OutcomeTaker: AnyObject {
  /// - Parameter isStep: whether the target has a step, which traces and routes know.
  func tell(_ outcome: StepOutcome, _ context: StepContext, isStep: Bool)
}

final class OutcomeList: OutcomeTaker {
  private(set) var list: [Outcome] = []

  func tell(_ outcome: StepOutcome, _ context: StepContext, isStep: Bool) { list.append(Outcome(outcome, context)) }
}

extension StepOutcome {
  var isOpen: Bool { if case .queued(let slot) = self { slot >= 0 } else { false } }

  var isReached: Bool { if case .skipped(let reason) = self { reason == .bufferFull } else { true } }

  var hasAnswer: Bool {
    switch self {
    case .answered(let answer): answer != nil
    case .answeredAll(let answers): answers.count > 0
    case .queued, .failed, .skipped: false
    }
  }

  var boxes: [ArgumentBox] {
    var boxes: [ArgumentBox] = []
    add(to: &boxes)
    return boxes
  }

  @inline(never) func add(to boxes: inout [ArgumentBox]) {
    if case .answered(let answer?) = self { boxes.append(answer) }
    if case .answeredAll(let answers) = self { boxes += answers.boxes }
  }

  var hasRun: Bool {
    switch self {
    case .answered, .answeredAll, .failed: true
    case .queued, .skipped: false
    }
  }
}
