// Outcome.swift: what became of a message at one target, as a walk keeps it.

/// What became of a message at one target, and where, until the sink has it.
///
/// An object: a list of them is made and gone through for hooks, and to copy one's parts would cost several counts of references.
/// Stays in the turn of its message: no access overlaps with another, so none has to be checked.
final class Outcome {
  @exclusivity(unchecked) var outcome: StepOutcome
  let context: StepContext

  init(_ outcome: StepOutcome, _ context: StepContext) { (self.outcome, self.context) = (outcome, context) }
}

/// Is told of targets that are not asked. No closure: what tells would be compiled for each.
protocol OutcomeTaker: AnyObject {
  /// - Parameter isStep: whether the target is that of a step, which traces and routes know.
  func tell(_ outcome: StepOutcome, _ context: StepContext, isStep: Bool)
}

final class OutcomeList: OutcomeTaker {
  private(set) var list: [Outcome] = []

  func tell(_ outcome: StepOutcome, _ context: StepContext, isStep: Bool) { list.append(Outcome(outcome, context)) }
}

extension StepOutcome {
  /// Whether the outcome is still to come, in the slot that is named.
  var isOpen: Bool { if case .queued(let slot) = self { slot >= 0 } else { false } }

  /// Whether a target got the message.
  var isReached: Bool { if case .skipped(let reason) = self { reason == .bufferFull } else { true } }

  /// Whether there is an answer.
  var hasAnswer: Bool {
    switch self {
    case .answered(let answer): answer != nil
    case .answeredAll(let answers): answers.count > 0
    case .queued, .failed, .skipped: false
    }
  }

  /// The answers in boxes.
  var boxes: [ArgumentBox] {
    var boxes: [ArgumentBox] = []
    add(to: &boxes)
    return boxes
  }

  @inline(never) func add(to boxes: inout [ArgumentBox]) {
    if case .answered(let answer?) = self { boxes.append(answer) }
    if case .answeredAll(let answers) = self { boxes += answers.boxes }
  }

  /// Whether targets have run, or failed.
  var hasRun: Bool {
    switch self {
    case .answered, .answeredAll, .failed: true
    case .queued, .skipped: false
    }
  }
}
