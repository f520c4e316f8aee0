// ScheduledMessages.swift: messages that take more than a loop over direct targets.
// Layer: Proxy. See DESIGN.md, "One way for a message to leave".

/// A typed broadcast to targets of which some are asked, nested, or on other contexts.
@usableFromInline
func broadcastScheduled(_ route: MessageRoute, _ arguments: MessageArguments) -> BroadcastSummary {
  let message = OutgoingMessage(route.selector, arguments, keepsAnswers: false)
  var schedule = MessageSchedule(message, along: route, into: SummarySink())
  schedule.run()
  return schedule.summary
}

extension MessageSchedule where Sink == SummarySink {
  /// What came of a broadcast; silence is answered as the proxy says.
  var summary: BroadcastSummary {
    var summary = sink.summary
    summary.dropped = dropped
    if case .ignored = route.core.options.silence {
    } else if summary.delivered + summary.failed == 0, summary.queued > 0, !hasLiveQueued {
      // All that was queued is for targets that have died unnoticed.
      summary.skipped += summary.queued
      summary.queued = 0
    }
    if summary.nobodyResponded { reportSilence(route) }
    return summary
  }

  private var hasLiveQueued: Bool {
    nodes.contains { node in
      (0..<node.route.count).contains { index in
        let step = node.route.steps[index]
        return step.queued != nil && step.isActive && step.target != nil
      }
    }
  }
}

/// A typed `collect` over targets of which some are asked, nested, or on other contexts, whose answers nobody waits for.
@usableFromInline
func collectScheduled<R, Output>(
  _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>
) -> Collected<Output> {
  var message = OutgoingMessage(route.selector, arguments, keepsAnswers: R.self != Void.self)
  message.isInOrder = policy.mayStopEarly
  var schedule = MessageSchedule(message, along: route, into: PolicySink(policy, route))
  schedule.run()
  return schedule.sink.collected(schedule.reachedAny ? nil : .silence(route))
}

extension PolicySink {
  /// A sink for typed answers.
  init(_ policy: ReturnPolicy<R, Output>, _ route: MessageRoute) {
    self.init(policy, stopsAtFirst: route.core.stopsAtFirst) { try typedAnswer($0, $1) as R }
  }
}

extension PolicySink where R == ArgumentBox {
  /// A sink for answers in boxes; a target that answers nothing adds nothing.
  init(boxes policy: ReturnPolicy<R, Output>, _ route: MessageRoute) {
    self.init(policy, stopsAtFirst: route.core.stopsAtFirst) { box, _ in box }
  }
}

extension OutgoingMessage {
  /// A message by value whose sender waits: see ``MessageRoute/admit(_:)``.
  init(waiting invocation: Invocation, along route: MessageRoute) throws {
    var message = invocation
    try route.admit(&message)
    try route.checkFirst(message)
    self.init(message, keepsAnswers: true)
  }
}

extension MessageRoute {
  /// Makes sure that the first target which would get the message can take its arguments, be it in a nested proxy.
  func checkFirst(_ message: Invocation) throws {
    var asked: Set<ObjectIdentifier> = []
    _ = try checkFirst(message, &asked, depth: 0)
  }

  private func checkFirst(_ message: Invocation, _ asked: inout Set<ObjectIdentifier>, depth: Int) throws -> Bool {
    guard depth < ProxyChain.maximumDepth, asked.insert(ObjectIdentifier(core)).inserted else { return false }
    for index in 0..<count {
      let step = steps[index]
      guard step.isActive, let target = step.target else { continue }
      if let method = step.method {
        try method.takeUnretainedValue().check(message.arguments, receiver: typeName(of: target))
        return true
      }
      if let multicast = target as? any MulticastSending {
        if try multicast.beginMessage(selector).checkFirst(message, &asked, depth: depth + 1) { return true }
      } else if let receiver = target as? any MessageForwarding, ProxyQuestion.takes(receiver, message) {
        try message.checkFits(receiver)
        return true
      }
    }
    return false
  }
}

extension Invocation {
  /// Makes sure that the arguments are as many as the receiver takes, and of types that its own signature allows.
  func checkFits(_ receiver: any MessageForwarding) throws(MessageError) {
    let name = typeName(of: receiver)
    guard arguments.count == selector.numberOfArguments else {
      throw .argumentCount(selector, receiver: name, wanted: selector.numberOfArguments, found: arguments.count)
    }
    guard let types = receiver.methodSignature(for: selector)?.argumentTypes, types.count == arguments.count + 2 else {
      return
    }
    for index in arguments.indices where types[index + 2].kind != .object(name: nil) {
      do { _ = try arguments[index].converted(to: types[index + 2]) } catch {
        throw .argument(index, selector, receiver: name, error)
      }
    }
  }
}
