// Verbs.swift: what the verbs share: a message begins, walks into a sink, and ends.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

// Forms that block are those that do not wait, with another ``Walk/Waiting``. None has packs: a function that suspends after a pack was allocated must not return early (a defect of the compiler).

extension OutgoingMessage {
  /// Serves every target into `empty`, in the caller's turn, and gives what that makes of it.
  func send<Sink: OutcomeSink>(along route: MessageRoute, into empty: Sink, waiting: Walk.Waiting = .nobody)
    -> Sink.Output
  {
    var sink = empty
    var walk = Walk(self, along: route, waiting: waiting, listsEveryTarget: empty.listsEveryTarget)
    var failure: (any Error)?
    do { try walk.serve { sink.take($0, at: $1) } } catch { failure = error }
    return sink.end(walk, by: failure)
  }

  /// The same with suspensions. There once for all sinks: who waits does not feel that.
  @_semantics("optimize.sil.specialize.generic.never")
  nonisolated(nonsending) func sendAndWait<Sink: OutcomeSink>(
    along route: MessageRoute, into empty: Sink, waiting: Walk.Waiting = .suspended
  ) async -> Sink.Output {
    var sink = empty
    var walk = Walk(self, along: route, waiting: waiting, listsEveryTarget: empty.listsEveryTarget)
    var failure: (any Error)?
    do { try await walk.serveAndWait { sink.take($0, at: $1) } } catch { failure = error }
    return sink.end(walk, by: failure)
  }
}

// MARK: Typed messages

// Without arguments where there is nobody to get them.

/// A typed broadcast that takes more than a loop.
@usableFromInline
func broadcastWalked(_ route: MessageRoute, _ arguments: MessageArguments?) -> BroadcastSummary {
  guard let arguments else { return LoopTally().summary(route, reached: 0) }
  return OutgoingMessage(route.selector, arguments, keepsAnswers: false).send(along: route, into: BroadcastSummary())
}

/// A typed `collect` that takes more than a loop.
@usableFromInline
func collectWalked<R, Output>(
  _ route: MessageRoute, _ policy: ReturnPolicy<R, Output>, _ arguments: MessageArguments?
) -> Collected<Output> {
  guard let arguments else { return Collected(policy.empty, .silence(route)) }
  return OutgoingMessage(asking: policy, arguments, along: route).send(along: route, into: PolicySink(policy, route))
}

nonisolated(nonsending) func collectWaiting<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>
) async -> Collected<Output> {
  await OutgoingMessage(asking: policy, arguments, along: route)
    .sendAndWait(along: route, into: PolicySink(policy, route))
}

// MARK: Messages by boxes

/// A broadcast by boxes.
@usableFromInline
func broadcastBoxed(_ route: MessageRoute, _ invocation: Invocation) -> BroadcastSummary {
  var summary = BroadcastSummary()
  if serveOpened(invocation, along: route, keepsAnswers: false, into: &summary) != nil {
    if summary.nobodyResponded { reportSilence(route) }
    return summary
  }
  do {
    return try OutgoingMessage(invocation, asks: false, along: route).send(along: route, into: BroadcastSummary())
  } catch {
    route.core.report(error, invocation.selector, nil, receiver: route.core.name)
    return BroadcastSummary(failed: 1)
  }
}

/// Forwards a message and says what became of it at each target; `invocation.result` becomes the last answer.
package func forwardBoxed(_ invocation: inout Invocation, along route: MessageRoute) throws -> DeliveryReport {
  invocation.result = nil
  var report = DeliveryReport()
  if let reachedAny = serveOpened(invocation, along: route, keepsAnswers: true, into: &report) {
    if !reachedAny { try route.core.answerSilence(route.selector) }
  } else {
    report = try OutgoingMessage(invocation, asks: true, along: route).send(along: route, into: report).get()
  }
  invocation.result = report.result
  return report
}

package nonisolated(nonsending) func forwardBoxedAndWait(_ route: MessageRoute, _ invocation: Invocation) async throws
  -> DeliveryReport
{
  try await OutgoingMessage(invocation, asks: true, along: route)
    .sendAndWait(along: route, into: DeliveryReport()).get()
}
