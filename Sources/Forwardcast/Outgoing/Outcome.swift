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

/// Outcomes in the order of delivery. A class that walks inherit from: with a closure or protocol, the code that tells of targets
/// would be compiled for each who is told.
@usableFromInline
class OutcomeLog {
  @exclusivity(unchecked) final var log: [Outcome] = []

  /// Takes the outcome of a target that was not asked.
  ///
  /// - Parameter isStep: whether the target has a step, which traces and routes know.
  func tell(_ outcome: StepOutcome, _ context: StepContext, isStep: Bool) { log.append(Outcome(outcome, context)) }
}

extension StepOutcome {
  var isOpen: Bool { if case .queued(let slot) = self { slot >= 0 } else { false } }

  var isReached: Bool { if case .skipped(let reason) = self { reason == .bufferFull } else { true } }

  var answerCount: Int {
    switch self {
    case .answered(let answer): answer == nil ? 0 : 1
    case .answeredAll(let answers): answers.count
    case .queued, .failed, .skipped: 0
    }
  }

  var hasAnswer: Bool { answerCount > 0 }

  /// Has the next answers in place of its own; none, when there are no more.
  mutating func replaceAnswers(_ next: () -> ArgumentBox?) {
    if case .answeredAll(let answers as ListedAnswers) = self { return answers.replaceResults(next) }
    self = .answered(next())
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
