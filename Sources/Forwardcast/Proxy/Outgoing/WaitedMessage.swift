// WaitedMessage.swift: one message whose sender waits for the answers.
// Layer: Proxy. See DESIGN.md, "Waiting".

/// One message that every target is to answer, wherever it runs.
///
/// Queued targets are posted to, direct ones run in the sender's turn, and each outcome has its slot. When the result may
/// be known early, targets are asked in the order of delivery; otherwise what is queued leaves first.
struct WaitedMessage<Final: OutcomeSink> {
  private let route: MessageRoute
  private let pending: PendingAnswers
  private var schedule: MessageSchedule<WaitingSink<Final>>

  init(_ message: OutgoingMessage, along route: MessageRoute, into final: Final) {
    let pending = PendingAnswers()
    (self.route, self.pending) = (route, pending)
    schedule = MessageSchedule(message, along: route, into: WaitingSink(pending, into: final), pending: pending)
  }

  /// How many messages full buffers gave up for this one.
  var dropped: Int { schedule.dropped }

  /// What has taken the outcomes that came.
  var final: Final { schedule.sink.final }

  /// Sends the message when there is room for it everywhere, runs the direct targets, and waits for all.
  ///
  /// - Throws: `CancellationError`; `wouldDeadlock` in a method that would wait for its own end; `nobodyResponds` where
  ///   silence is an error; what `finish` throws.
  nonisolated(nonsending) mutating func wait<Output>(_ finish: (Final) throws -> Output) async throws -> Output {
    try Task.checkCancellation()
    let wait = try SuspendedWaits.begin(for: { queuedTargets }, in: route.core, route.selector)
    defer { wait?.end() }
    try await schedule.reserveRoom()
    await schedule.runAndWait()
    schedule.giveBackRoom()
    wait?.sent(pending)
    try await pending.wait(limitedBy: wait)
    return try output(finish)
  }

  /// Sends the message and blocks until all have answered or the time is over.
  ///
  /// Methods of direct targets that suspend cannot be reached from here, and count as failed.
  ///
  /// - Throws: `wouldDeadlock` when a target's context is held by the caller; `timedOut` with those who did not answer; as
  ///   ``wait(_:)``.
  mutating func block<Output>(_ timeout: Duration, _ finish: (Final) throws -> Output) throws -> Output {
    try refuseToWaitForHeldContext()
    schedule.run()
    let late = pending.wait(timeout: timeout)
    guard late.isEmpty else {
      let names = late.map { "\($0.name) on \($0.registration?.queued?.mailbox.context.name ?? "its context")" }
      throw MessageError(
        .timedOut, receiver: route.core.name, selector: route.selector.name,
        evidence: "no answer in \(timeout) from \(names.joined(separator: ", "))")
    }
    return try output(finish)
  }

  private mutating func output<Output>(_ finish: (Final) throws -> Output) throws -> Output {
    schedule.sink.give()
    let output = try finish(schedule.sink.final)
    if !schedule.sink.reachedAny { try route.core.answerSilence(route.selector) }
    return output
  }

  private var groups: [DeliveryGroup] {
    schedule.nodes.flatMap { $0.route.route.hasQueued ? Array($0.plan.groups) : [] }
  }

  /// - Throws: `wouldDeadlock` when the caller is on a context that it would wait for.
  private func refuseToWaitForHeldContext() throws {
    for group in groups where !group.runsNow {
      guard let deadlock = group.mailbox.deadlock else { continue }
      throw MessageError(
        .wouldDeadlock, receiver: route.core.name, selector: route.selector.name, evidence: deadlock)
    }
    // A method that leaves the context of its delivery for one where the caller blocks.
    for step in groups.filter({ !$0.runsNow }).flatMap(\.steps) where step.isActive {
      guard let method = step.method?.takeUnretainedValue(), method.isolation != .sender, let target = step.target,
        method.canRun(on: target)
      else { continue }
      throw MessageError(
        .wouldDeadlock, receiver: route.core.name, selector: route.selector.name,
        evidence:
          "the method of \(typeName(of: target)) runs where the caller would wait for it: \(method.isolation.place)")
    }
  }

  /// The targets that are waited for on contexts of their own.
  private var queuedTargets: [Registration] {
    groups.flatMap(\.steps).filter { $0.isActive && $0.queued != nil }.map { $0.registration.takeUnretainedValue() }
  }
}

extension DeliveryGroup {
  /// Whether its one step would run in the sender's turn.
  fileprivate var runsNow: Bool { steps.count == 1 && steps[0].queued?.runsNow(steps[0]) ?? false }
}
