// Verbs.swift: sends a message by a delivery and returns its result.

// No parameter packs here: because of a compiler bug, a function that suspends after allocating a
// pack must not return early.

extension OutgoingMessage {
  /// Serves every target synchronously and returns the sink's result.
  consuming func send<Sink: OutcomeSink>(
    along route: MessageRoute, in path: ProxyChain? = nil, into sink: Sink, waiting: DeliveryRequest.Wait = .none
  ) -> Sink.Output {
    let (delivery, queue) = delivery(along: route, in: path, into: sink, waiting: waiting)
    let failure = delivery.deliver()
    return queue.sink.end(delivery, by: failure?.error)
  }

  /// Like `send`, with suspensions. Not specialized, since the wait dominates its cost.
  @_semantics("optimize.sil.specialize.generic.never")
  nonisolated(nonsending) consuming func sendAndWait<Sink: OutcomeSink>(
    along route: MessageRoute, in path: ProxyChain? = nil, into sink: Sink
  ) async -> Sink.Output {
    let (delivery, queue) = delivery(along: route, in: path, into: sink, waiting: .suspending)
    let failure = await delivery.deliverAndWait()
    return queue.sink.end(delivery, by: failure?.error)
  }

  /// Broadcasts, waiting for buffer capacity. Throws the error that ended a wait, even if a hook
  /// rethrew the error.
  nonisolated(nonsending) consuming func broadcastWhenReady(along route: MessageRoute, in path: ProxyChain? = nil)
    async throws -> BroadcastSummary
  {
    let (delivery, queue) = delivery(along: route, in: path, into: SummarySink(), waiting: .room)
    let failure = await delivery.deliverAndWait()
    if let failure, !failure.isOfHooks || failure.endsWait { throw failure.error }
    return queue.sink.end(delivery, by: failure?.error)
  }

  consuming func delivery<Sink: OutcomeSink>(
    along route: MessageRoute, in path: ProxyChain?, into sink: Sink, waiting: DeliveryRequest.Wait
  ) -> (MessageDelivery, Sink.Queue) {
    request.wait = waiting
    let tree = ProxyTree(route, path ?? ProxyChain(route.core), for: request, trail)
    let queue = Sink.Queue(sink, request, tree)
    return (MessageDelivery(self, to: tree, into: queue), queue)
  }
}

// MARK: - Typed messages

/// A typed `collect` that needs more than a loop. `arguments` is `nil` if the route is empty.
@usableFromInline
func collectDelivered<R, Output>(
  _ route: MessageRoute, _ policy: ReturnPolicy<R, Output>, _ collector: AnswerCollector<R, Output>,
  _ arguments: MessageArguments?
) -> CollectResult<Output> {
  guard let arguments else { return policy.result(collector.finish(), .silence(route)) }
  return OutgoingMessage(asking: policy, arguments, along: route)
    .send(along: route, into: PolicySink(policy, route, collector))
}

nonisolated(nonsending) func collectWaiting<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>
) async -> CollectResult<Output> {
  await OutgoingMessage(asking: policy, arguments, along: route)
    .sendAndWait(along: route, into: PolicySink(policy, route))
}

// MARK: - Boxed messages

@usableFromInline
func broadcastBoxed(_ visit: consuming MessageVisit, _ invocation: Invocation) -> BroadcastSummary {
  var sink = SummarySink()
  do {
    if let counts = try serveOpened(invocation, along: visit, keepsAnswers: false, into: &sink) {
      let summary = counts.summary
      if summary.nobodyResponded { reportSilence(visit.kept) }
      return summary
    }
  } catch { return visit.failure(error) }
  let route = keep(visit)
  do {
    return try OutgoingMessage(invocation, asks: false, along: route).send(along: route, into: SummarySink())
  } catch {
    route.core.report(error, invocation.selector, nil, receiver: route.core.name)
    return BroadcastSummary(failed: 1)
  }
}

/// Forwards a message and reports each outcome; `invocation.result` becomes the last answer. The
/// report names `proxy` as the target of answers that hooks created.
package func forwardBoxed(_ invocation: inout Invocation, along visit: consuming MessageVisit, by proxy: AnyObject)
  throws -> DeliveryReport
{
  invocation.result = nil
  var report = DeliveryReport()
  if let counts = try serveOpened(invocation, along: visit, keepsAnswers: true, into: &report) {
    if counts.ran == 0 { try visit.core.answerSilence(invocation.selector) }
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
  mutating func nameProxy(_ proxy: AnyObject, of route: MessageRoute) {
    guard route.isSurrounded else { return }
    for index in answers.indices where answers[index].target === route.core {
      answers[index] = Answer(target: proxy, result: answers[index].result)
      answers[index].isOwn = true
    }
  }
}
