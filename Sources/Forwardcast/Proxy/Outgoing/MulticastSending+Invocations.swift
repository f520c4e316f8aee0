// MulticastSending+Invocations.swift: messages as values, and messages written like calls.
// Layer: Proxy. See DESIGN.md, "One way for a message to leave".

extension MulticastSending {
  /// Forwards a message without making a report; errors go to `onError`.
  ///
  /// Arguments that do not fit a target, and a cycle of proxies, count as that target's failure, or as one failure of
  /// the
  /// proxy.
  ///
  /// - Parameter invocation: the message.
  @inlinable
  @discardableResult
  public func broadcast(_ invocation: Invocation) -> BroadcastSummary {
    broadcastBoxed(beginMessage(invocation.selector), invocation)
  }

  /// Forwards a message and makes one result of the answers, as the typed form does.
  ///
  /// A target that answers nothing, since its method returns `void`, adds nothing.
  ///
  /// - Parameters:
  ///   - invocation: the message.
  ///   - policy: what becomes of the answers.
  /// - Throws: as ``MulticastSending/collect(_:_:returning:)-6t1cs``, and as ``MulticastProxy/forward(_:)`` for
  ///   arguments and cycles.
  public func collect<Output>(_ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>) throws
    -> Output
  {
    let route = beginMessage(invocation.selector)
    if let (around, inside) = route.surrounded {
      try route.refuseCycle(invocation)
      return try around.collect(inside, BoxedArguments(invocation), policy) {
        collectBoxed(inside, $0.invocation(route.selector), $1)
      }.get()
    }
    return try collectBoxed(route, invocation, policy).get()
  }

  /// Messages written like calls, without a key: see ``DynamicMessages``.
  public var dynamic: DynamicMessages { dynamicMessages }

  var dynamicMessages: DynamicMessages {
    DynamicMessages(
      deliver: { selector, boxes in
        var invocation = Invocation(selector, arguments: boxes)
        let route = self.beginMessage(selector)
        do {
          let report = try forwardBoxed(&invocation, along: route)
          for failure in report.failures {
            route.core.report(failure.error, selector, nil, receiver: typeName(of: failure.target))
          }
        } catch {
          route.core.report(error, selector, nil, receiver: route.core.name)
        }
        return invocation.result?.value
      },
      refuse: {
        let core = self.beginMessage("dynamic").core
        core.report($0, "dynamic", nil, receiver: core.name)
      })
  }
}

/// Forwards a message and says what became of it at each target; `invocation.result` becomes the last answer.
package func forwardBoxed(_ invocation: inout Invocation, along route: MessageRoute) throws -> DeliveryReport {
  invocation.result = nil
  let report = try reportBoxed(route, invocation)
  invocation.result = report.result
  return report
}

/// A `forward` in the caller's turn.
private func reportBoxed(_ route: MessageRoute, _ invocation: Invocation) throws -> DeliveryReport {
  if invocation.isPlain, !route.needsSchedule, !route.route.leavesOut {
    var loop = BoxedLoop(along: route, keepsAnswers: true, into: ReportSink())
    try loop.run(invocation, checked: true)
    if !loop.reachedAny { try route.core.answerSilence(route.selector) }
    return loop.sink.takeReport()
  }
  return try reportUnusual(route, invocation)
}

/// The same through hooks, by a schedule, or with something in the message that has to be looked into.
@inline(never)
private func reportUnusual(_ route: MessageRoute, _ invocation: Invocation) throws -> DeliveryReport {
  if let (around, inside) = route.surrounded {
    try route.refuseCycle(invocation)
    return try around.report(inside, invocation) { try reportBoxed(inside, $0) }
  }
  let served = try route.serveAdmitted(invocation, inOrder: false, into: ReportSink())
  if !served.reachedAny { try route.core.answerSilence(route.selector) }
  var report = served.sink.report
  report.dropped = served.dropped
  return report
}

/// A `collect` by boxes.
private func collectBoxed<Output>(
  _ route: MessageRoute, _ invocation: Invocation, _ policy: ReturnPolicy<ArgumentBox, Output>
) -> Collected<Output> {
  do {
    let served = try route.serveAdmitted(
      invocation, inOrder: policy.mayStopEarly, into: PolicySink(boxes: policy, route))
    return served.sink.collected(served.reachedAny ? nil : .silence(route))
  } catch {
    return Collected(policy.empty, CollectFailure(error, route))
  }
}

/// A broadcast by boxes.
@usableFromInline
func broadcastBoxed(_ route: MessageRoute, _ invocation: Invocation) -> BroadcastSummary {
  do {
    return try invocation.isPlain && !route.needsSchedule
      ? broadcastDirect(route, invocation) : broadcastUnusual(route, invocation)
  } catch {
    route.core.report(error, invocation.selector, nil, receiver: route.core.name)
    return BroadcastSummary(failed: 1)
  }
}

@inline(__always)
private func broadcastDirect(_ route: MessageRoute, _ invocation: Invocation) throws -> BroadcastSummary {
  var loop = BoxedLoop(along: route, keepsAnswers: false, into: SummarySink())
  try loop.run(invocation)
  if loop.sink.summary.nobodyResponded { reportSilence(route) }
  return loop.sink.summary
}

/// Through hooks, by a schedule, or with something in the message that has to be looked into.
@inline(never)
private func broadcastUnusual(_ route: MessageRoute, _ invocation: Invocation) throws -> BroadcastSummary {
  if let (around, inside) = route.surrounded {
    try route.refuseCycle(invocation)
    return around.broadcast(inside, BoxedArguments(invocation)) {
      broadcastBoxed(inside, $0.invocation(route.selector))
    }
  }
  var message = invocation
  try route.admit(&message)
  if !route.needsSchedule { return try broadcastDirect(route, message) }
  let outgoing = OutgoingMessage(message, keepsAnswers: false)
  var schedule = MessageSchedule(outgoing, along: route, into: SummarySink())
  schedule.run()
  return schedule.summary
}

extension Invocation {
  /// Whether there is nothing about the message that a proxy would have to look into or take off.
  fileprivate var isPlain: Bool { !hasStatedSignature && route == nil }
}

extension MessageRoute {
  /// Serves every target with a message that has come to the proxy now, and keeps the answers.
  fileprivate func serveAdmitted<Sink: OutcomeSink>(_ invocation: Invocation, inOrder: Bool, into sink: Sink) throws
    -> (sink: Sink, reachedAny: Bool, dropped: Int)
  {
    if invocation.isPlain { return try serve(invocation, keepsAnswers: true, inOrder: inOrder, into: sink) }
    var message = invocation
    try admit(&message)
    return try serve(message, keepsAnswers: true, inOrder: inOrder, into: sink)
  }
}
