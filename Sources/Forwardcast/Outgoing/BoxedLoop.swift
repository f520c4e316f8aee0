// BoxedLoop.swift: delivers a boxed message to direct targets, unboxing its arguments once.

/// Delivers a boxed message to one proxy's direct targets, whose methods share one type.
///
/// Saves the cost of a ``MessageDelivery``: see the case `boxed` of `.ci/run cost`.
///
/// - Throws: the error of a `before` hook.
/// - Returns: the counts of the targets. If the message needs a ``MessageDelivery``, the
///   result is `nil`, and nothing has been done.
@inline(__always)
func serveOpened<Sink: OutcomeSink>(
  _ message: Invocation, along visit: borrowing MessageVisit, keepsAnswers: Bool, into sink: inout Sink
) throws -> OutcomeCounts? {
  guard visit.loopType ?? visit.typesBehindHooks?.only != nil, !message.hasStatedSignature, message.route == nil,
    !(sink.listsEveryTarget && visit.leavesOut),
    let method = visit.steps[0].method
  else { return nil }
  var loop = BoxedLoop(visit, keepsAnswers: keepsAnswers)
  let hasHooks = visit.loopType == nil
  var failure: (any Error)?
  let isServed = method._withUnsafeGuaranteedRef { method in
    method.withOpened(message.arguments) { run, ask in
      do {
        if hasHooks { try visit.runHooks(BoxedArguments(message)) }
        loop.serve(into: &sink, run, ask)
      } catch let error { failure = error }
    }
  }
  if let failure { throw failure }
  if loop.dead + loop.skipped > 0 { visit.core.end(visit.kept, dead: loop.dead, skipped: loop.skipped) }
  return isServed ? loop.counts : nil
}

/// Calls the method of each direct target. Retains nothing, since the caller retains the route.
private struct BoxedLoop {
  private let route: Unmanaged<Route>
  private let steps: UnsafeMutablePointer<RouteStep>
  private let count: Int
  private let begun: UInt
  private let keepsAnswers: Bool
  /// The number of steps with a dead target, and the number of steps skipped for other reasons.
  private(set) var dead = 0
  private(set) var skipped = 0
  private(set) var counts = OutcomeCounts()
  /// False once the sink needs no further target, or an error has ended the message.
  private var goesOn = true

  init(_ visit: borrowing MessageVisit, keepsAnswers: Bool) {
    (route, steps, count, begun) = (visit.route, visit.steps, visit.count, visit.begun)
    self.keepsAnswers = keepsAnswers
  }

  mutating func serve<Sink: OutcomeSink>(into sink: inout Sink, _ run: Method.OpenedRun, _ ask: Method.OpenedAsk) {
    sink.expect(count)
    var index = 0
    while goesOn, index < count {
      let step = steps[index]
      index &+= 1
      guard step.isActive, let method = step.method, let target = step.target else {
        let reason = step.obstacle ?? .dead
        let isOver = isOver(step)
        if reason == .dead, !isOver { dead += 1 } else { skipped += 1 }
        if !isOver { take(.skipped(reason), step, step.target, &sink) }
        continue
      }
      do {
        if !keepsAnswers {
          try method._withUnsafeGuaranteedRef { try run($0, target) }
        } else if Sink.needsNoContexts {
          sink.take(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target)
        } else {
          take(.answered(try method._withUnsafeGuaranteedRef { try ask($0, target) }), step, target, &sink)
          continue
        }
        counts.noteDelivered(1)
      } catch {
        take(.failed(error), step, target, &sink)
        if route._withUnsafeGuaranteedRef({ $0.core.stopsAtFirst }) { goesOn = false }
      }
    }
    guard sink.listsEveryTarget else { return }
    while index < count {
      let step = steps[index]
      index &+= 1
      if isOver(step) { continue }
      let target = step.target
      take(.skipped(step.obstacle ?? (target == nil ? .dead : .stopped)), step, target, &sink)
    }
  }

  private func isOver(_ step: RouteStep) -> Bool {
    step.registration._withUnsafeGuaranteedRef { $0.ended(before: begun) }
  }

  private mutating func take<Sink: OutcomeSink>(
    _ outcome: StepOutcome, _ step: RouteStep, _ target: AnyObject?, _ sink: inout Sink
  ) {
    let route = route.takeUnretainedValue()
    let context = StepContext(step, of: route.selector, in: ProxyChain(route.core), target, isQueued: false)
    counts.note(outcome)
    if !sink.take(outcome, at: context) { goesOn = false }
  }
}
