// Verbs.swift: what each verb makes of a walk: begin, walk, sink, end.
// Layer: Proxy. See DESIGN.md, "One way for a message to leave".

// The forms that block are the same functions with another ``Walk/Waiting``; those that suspend say so in their names. None
// has packs: a function that suspends after a pack was allocated must not return early (a defect of the compiler).

extension OutgoingMessage {
  /// A broadcast.
  func broadcast(along route: MessageRoute) -> BroadcastSummary {
    var (walk, sink) = (Walk(self, along: route), SummarySink())
    do { try walk.serve(into: &sink) } catch { sink.fail(error, route) }
    return sink.summary(of: walk)
  }

  /// A broadcast whose sender waits for room in buffers.
  nonisolated(nonsending) func broadcastWhenReady(along route: MessageRoute) async throws
    -> BroadcastSummary
  {
    var (walk, sink) = (Walk(self, along: route), SummarySink())
    do { try await walk.serveAndWait(into: &sink) } catch {
      // Only what hooks threw counts as a failure.
      if walk.failure == nil || error is CancellationError { throw error }
      sink.fail(error, route)
    }
    return sink.summary(of: walk)
  }

  /// A `collect`.
  func collect<R, Output>(
    along route: MessageRoute, into empty: PolicySink<R, Output>,
    waiting: Walk.Waiting = .nobody
  ) -> Collected<Output> {
    var (walk, sink) = (Walk(self, along: route, waiting: waiting), empty)
    do {
      try walk.serve(into: &sink)
      try walk.answerSilence()
      return sink.collected()
    } catch {
      return sink.collected(CollectFailure(error, route))
    }
  }

  /// A `collect` whose sender suspends.
  nonisolated(nonsending) func collectAndWait<R, Output>(
    along route: MessageRoute, into empty: PolicySink<R, Output>
  ) async -> Collected<Output> {
    var (walk, sink) = (Walk(self, along: route, waiting: .suspended), empty)
    do {
      try await walk.serveAndWait(into: &sink)
      try walk.answerSilence()
      return sink.collected()
    } catch {
      return sink.collected(CollectFailure(error, route))
    }
  }

  /// A `forward`.
  func forward(along route: MessageRoute, waiting: Walk.Waiting = .nobody) throws
    -> DeliveryReport
  {
    var (walk, sink) = (Walk(self, along: route, waiting: waiting, listsEveryTarget: true), ReportSink())
    do {
      try walk.serve(into: &sink)
      try walk.answerSilence()
    } catch {
      throw sink.giveUp(error, route)
    }
    return sink.report(of: walk)
  }

  /// A `forward` whose sender suspends.
  nonisolated(nonsending) func forwardAndWait(along route: MessageRoute) async throws
    -> DeliveryReport
  {
    var (walk, sink) = (Walk(self, along: route, waiting: .suspended, listsEveryTarget: true), ReportSink())
    do {
      try await walk.serveAndWait(into: &sink)
      try walk.answerSilence()
    } catch {
      throw sink.giveUp(error, route)
    }
    return sink.report(of: walk)
  }
}

// MARK: Typed messages

/// A typed broadcast that takes more than a loop.
@usableFromInline
func broadcastWalked(_ route: MessageRoute, _ arguments: MessageArguments) -> BroadcastSummary {
  OutgoingMessage(route.selector, arguments, keepsAnswers: false).broadcast(along: route)
}

/// A typed `collect` that nobody is there for.
@usableFromInline
func collectNobody<R, Output>(_ route: MessageRoute, _ policy: ReturnPolicy<R, Output>) -> Collected<Output> {
  Collected(policy.empty, .silence(route))
}

/// A typed `collect` that takes more than a loop.
@usableFromInline
func collectWalked<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>
) -> Collected<Output> {
  OutgoingMessage(asking: policy, arguments, along: route).collect(along: route, into: PolicySink(policy, route))
}

nonisolated(nonsending) func collectWaiting<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>
) async -> Collected<Output> {
  await OutgoingMessage(asking: policy, arguments, along: route)
    .collectAndWait(along: route, into: PolicySink(policy, route))
}

// MARK: Messages by boxes

/// A broadcast by boxes.
@usableFromInline
func broadcastBoxed(_ route: MessageRoute, _ invocation: Invocation) -> BroadcastSummary {
  var loop = BoxedLoop(along: route, keepsAnswers: false, into: SummarySink())
  if loop.run(invocation) {
    if loop.sink.summary.nobodyResponded { reportSilence(route) }
    return loop.sink.summary
  }
  do { return try OutgoingMessage(invocation, asks: false, along: route).broadcast(along: route) } catch {
    route.core.report(error, invocation.selector, nil, receiver: route.core.name)
    return BroadcastSummary(failed: 1)
  }
}

/// Forwards a message and says what became of it at each target; `invocation.result` becomes the last answer.
package func forwardBoxed(_ invocation: inout Invocation, along route: MessageRoute) throws -> DeliveryReport {
  invocation.result = nil
  var loop = BoxedLoop(along: route, keepsAnswers: true, into: ReportSink())
  let report: DeliveryReport
  if loop.run(invocation) {
    if !loop.reachedAny { try route.core.answerSilence(route.selector) }
    report = loop.sink.takeReport()
  } else {
    report = try OutgoingMessage(invocation, asks: true, along: route).forward(along: route)
  }
  invocation.result = report.result
  return report
}

package nonisolated(nonsending) func forwardScheduled(_ route: MessageRoute, _ invocation: Invocation) async throws
  -> DeliveryReport
{
  try await OutgoingMessage(invocation, asks: true, along: route).forwardAndWait(along: route)
}
