// Verbs.swift: what the verbs share: a message begins, walks into a sink, and ends.

// Blocking forms are the synchronous ones with another ``Walk/Waiting``. None has packs: a function that suspends after a pack was
// allocated must not return early (a compiler bug).

extension OutgoingMessage {
  /// Serves every target synchronously, and returns what the sink makes of it.
  consuming func send<Sink: OutcomeSink>(along route: MessageRoute, into empty: Sink, waiting: Walk.Waiting = .nobody)
    -> Sink.Output
  {
    let walk = Sink.Way(empty, self, along: route, waiting: waiting)
    let failure = walk.serveAll()
    return walk.sink.end(walk, by: failure)
  }

  /// The same with suspensions. Not specialized: next to a wait that costs nothing.
  @_semantics("optimize.sil.specialize.generic.never")
  nonisolated(nonsending) consuming func sendAndWait<Sink: OutcomeSink>(
    along route: MessageRoute, into empty: Sink
  ) async -> Sink.Output {
    let walk = Sink.Way(empty, self, along: route, waiting: .suspended)
    let failure = await walk.serveAllAndWait()
    return walk.sink.end(walk, by: failure)
  }

  /// Broadcasts once there is room; throws why there is none.
  nonisolated(nonsending) func broadcastWhenReady(along route: MessageRoute) async throws -> BroadcastSummary {
    let walk = SummaryWalk(BroadcastSummary(), self, along: route, waiting: .nobody)
    let failure = await walk.serveAllAndWait()
    if let failure, !walk.failedInHooks || failure is CancellationError { throw failure }
    return walk.sink.end(walk, by: failure)
  }
}

// MARK: Typed messages

/// A typed `collect` that takes more than a loop; without arguments where there is nobody to get them.
@usableFromInline
func collectWalked<R, Output>(
  _ route: MessageRoute, _ policy: ReturnPolicy<R, Output>, _ collector: AnswerCollector<R, Output>,
  _ arguments: MessageArguments?
) -> Collected<Output> {
  guard let arguments else { return Collected(collector.finish(), .silence(route)) }
  return OutgoingMessage(asking: policy, arguments, along: route)
    .send(along: route, into: PolicySink(policy, route, collector))
}

nonisolated(nonsending) func collectWaiting<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>
) async -> Collected<Output> {
  await OutgoingMessage(asking: policy, arguments, along: route)
    .sendAndWait(along: route, into: PolicySink(policy, route))
}

// MARK: Boxed messages

@usableFromInline
func broadcastBoxed(_ visit: consuming MessageVisit, _ invocation: Invocation) -> BroadcastSummary {
  var summary = BroadcastSummary()
  do {
    if try serveOpened(invocation, along: visit, keepsAnswers: false, into: &summary) != nil {
      if summary.nobodyResponded { reportSilence(visit.kept) }
      return summary
    }
  } catch { return visit.failure(error) }
  let route = keep(visit)
  do {
    return try OutgoingMessage(invocation, asks: false, along: route).send(along: route, into: BroadcastSummary())
  } catch {
    route.core.report(error, invocation.selector, nil, receiver: route.core.name)
    return BroadcastSummary(failed: 1)
  }
}

/// Forwards a message and reports the outcome at each target; `invocation.result` becomes the last answer.
///
/// - Parameter proxy: stands for answers that its hooks made up.
package func forwardBoxed(_ invocation: inout Invocation, along visit: consuming MessageVisit, by proxy: AnyObject)
  throws -> DeliveryReport
{
  invocation.result = nil
  var report = DeliveryReport()
  if let reachedAny = try serveOpened(invocation, along: visit, keepsAnswers: true, into: &report) {
    if !reachedAny { try visit.core.answerSilence(invocation.selector) }
  } else {
    let route = keep(visit)
    report = try OutgoingMessage(invocation, asks: true, along: route).send(along: route, into: report).get()
    report.nameProxy(proxy, of: route)
  }
  invocation.result = report.result
  return report
}

package nonisolated(nonsending) func forwardBoxedAndWait(
  _ route: MessageRoute, _ invocation: Invocation, by proxy: AnyObject
) async throws -> DeliveryReport {
  var report = try await OutgoingMessage(invocation, asks: true, along: route)
    .sendAndWait(along: route, into: DeliveryReport()).get()
  report.nameProxy(proxy, of: route)
  return report
}

extension DeliveryReport {
  /// Names a proxy, in place of its core, in answers that its hooks made up.
  mutating func nameProxy(_ proxy: AnyObject, of route: MessageRoute) {
    guard route.isSurrounded else { return }
    for index in answers.indices where answers[index].target === route.core {
      answers[index] = Answer(target: proxy, result: answers[index].result)
      answers[index].isOwn = true
    }
  }
}
