// Parcel+Suspending.swift: turns of queued targets that do not end on their context, and nested proxies.
// Layer: Proxy. See DESIGN.md, "Delivery".

extension Parcel {
  /// Serves the targets of a multicast that is delivered on this context: here those that can run here, and afterwards,
  /// one after another, those that run elsewhere. Until all have ended its next message waits.
  func serve(
    _ multicast: any MulticastSending, _ place: Int, _ target: AnyObject, _ message: OutgoingMessage, _ mailbox: Mailbox
  ) {
    let (proxies, pending) = (context(place, target).proxies, details?.pending)
    let route = multicast.beginMessage(message.selector)
    if let error = RouteNode.refusal(route, in: proxies, message.trail, count: 0, target) {
      return settle(place, .failed(error), target)
    }
    var schedule = MessageSchedule(
      message, along: route, in: proxies, into: NestedSink(pending), pending: pending, isElsewhere: true)
    schedule.deferred = []
    schedule.run()
    if !schedule.reachedAny {
      let place = context(place, target)
      do {
        try route.core.answerSilence(message.selector)
        _ = schedule.sink.take(.skipped(.doesNotRespond), at: place)
      } catch {
        // It happened in the inner proxy, whose handler comes first.
        _ = schedule.sink.take(.failed(error), at: place.within(ProxyChain(route.core, in: proxies)))
      }
    }
    if pending != nil { schedule.sink.finish(slot(place)) }
    guard let deferred = schedule.deferred, !deferred.isEmpty else { return }
    let turns = UncheckedSendable(deferred)
    suspend(mailbox, place) { message in
      for turn in turns.value {
        let registration = turn.context.registration
        let outcome = await turn.turn.endedAndWaited(&message) {
          registration?.isActive ?? true
        }
        if let pending {
          pending.settle(turn.slot, outcome ?? .answered(nil), from: turn.target)
        } else if case .failed(let error)? = outcome {
          turn.context.report(error)
        }
      }
    }
  }

  /// Goes on with a target's turn in a task; the target's next message waits for its end.
  func suspend(
    _ mailbox: Mailbox, _ place: Int, _ body: @escaping @Sendable (inout OutgoingMessage) async -> Void
  ) {
    guard let gate = group.steps[place].queued?.gate else { return }
    keep(group)
    mailbox.close(gate)
    Task { [self] in
      var message = message
      await RunningGates.run(gate) { await body(&message) }
      mailbox.reopen(gate)
    }
  }
}

/// The gates of the targets whose methods the running task is in, so that a method which waits for its own target is
/// found out.
enum RunningGates {
  private struct Entry: Sendable {
    let gate: ObjectIdentifier
    let task: Int?
  }
  @TaskLocal private static var entries: [Entry] = []

  private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  static func run(_ gate: SerialGate, _ body: () async -> Void) async {
    await $entries.withValue(entries + [Entry(gate: ObjectIdentifier(gate), task: task)], operation: body)
  }

  /// Whether the running code is in the method of some target, or in a task that was made there.
  static var isEmpty: Bool { entries.isEmpty }

  /// Whether the running task is in a method behind that gate.
  static func contains(_ gate: SerialGate) -> Bool {
    guard !entries.isEmpty else { return false }
    let task = task
    return entries.contains { $0.gate == ObjectIdentifier(gate) && $0.task == task }
  }
}
