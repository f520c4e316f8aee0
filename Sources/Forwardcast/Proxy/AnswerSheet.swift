// AnswerSheet.swift: the answers of a question, taken in the order of delivery.
// Layer: Proxy. See DESIGN.md, "Delivery".

/// Takes the outcomes of a question, place by place, into the collector of a policy.
final class AnswerSheet<R, Output> {
  private let answers: Gathering<R>
  private let collector: AnswerCollector<R, Output>
  private let stopsAtFirst: Bool
  /// Throws for an answer that may not be taken.
  var check: (Int, R) throws -> Void = { _, _ in }
  private var next = 0
  private var isDone = false
  /// The first error in the order of delivery.
  private(set) var error: (any Error)?
  /// Whether anybody got the message.
  private(set) var reachedAny = false

  init(_ answers: Gathering<R>, _ collector: AnswerCollector<R, Output>, stopsAtFirst: Bool) {
    (self.answers, self.collector, self.stopsAtFirst) = (answers, collector, stopsAtFirst)
  }

  /// Takes what is settled of the places before `end`, up to the first that is open. `true` when the result is known.
  func take(before end: Int) -> Bool {
    while !isDone, next < end {
      switch answers.outcome(next) {
      case .open: return false
      case nil, .skipped: break
      case .failed(let failure):
        reachedAny = true
        fail(failure)
      case .answered(let answer):
        reachedAny = true
        do {
          try check(next, answer)
          if try !collector.take(answer) { isDone = true }
        } catch { fail(error) }
      }
      next += 1
    }
    return isDone
  }

  private func fail(_ failure: any Error) {
    if error == nil { error = failure }
    if stopsAtFirst { isDone = true }
  }

  /// The result, once nothing is open any more. Throws the first error.
  func finish() throws -> Output {
    if let error { throw error }
    return collector.finish()
  }
}
