// MessageDelivery+Waiting.swift: runs a delivery to its end, waiting if requested.

/// The error that ended a message as a whole.
struct DeliveryFailure {
  let error: any Error
  /// True if hooks of the outermost proxy threw the error. Always true for a synchronous sender.
  let isOfHooks: Bool

  /// True if the error means that the sender stopped waiting.
  var endsWait: Bool {
    error is CancellationError || [.timedOut, .cancelled].contains((error as? MessageError)?.code)
  }
}

extension MessageDelivery {
  /// Serves every target synchronously. If requested, blocks until all have answered.
  ///
  /// - Returns: the error that ended the message: an error of its validation or of the outermost
  ///   proxy's hooks. For a blocking sender, the error can also be `wouldDeadlock` (nothing was
  ///   sent) or `timedOut` (with the missing targets).
  @inline(never) func deliver() -> DeliveryFailure? {
    do {
      try admit()
      let wait = try beginBlocking()
      defer { wait?.end() }
      begin()
      let suspension = try run(to: 0)
      assert(suspension == nil, "only a caller that awaits gets something to wait for")
      try block()
    } catch { return end(by: DeliveryFailure(error: error, isOfHooks: true)) }
    return end(by: nil)
  }

  /// Like ``deliver()``, but suspends where necessary. Also returns `CancellationError`, and
  /// `wouldDeadlock` if the message would wait for the method that sends it.
  nonisolated(nonsending) func deliverAndWait() async -> DeliveryFailure? {
    var (failure, isOfHooks) = ((any Error)?.none, false)
    do {
      try admit()
      wait = try beginWait()
      begin()
      isOfHooks = true
      try await runAndWait(to: 0)
      isOfHooks = false
      try await awaitAnswers()
    } catch let room as RoomFailure {
      (failure, isOfHooks) = (room.error, false)
    } catch { failure = error }
    wait?.end()
    return end(by: failure.map { DeliveryFailure(error: $0, isOfHooks: isOfHooks) })
  }

  /// Validates the message. Its receivers are known by now, so targets that join during the
  /// validation do not get it. ``HookedDelivery`` validates a message inside hooks.
  private func admit() throws { if !route.isSurrounded { try message.admit(along: route) } }

  private func end(by failure: DeliveryFailure?) -> DeliveryFailure? {
    if failure == nil {
      assert(visits.isEmpty && unposted.isEmpty, "a message that was not ended has visited every proxy")
      outcomes.flush(scope.pending)
      assert(isSpent || outcomes.held.isEmpty, "a message that was not ended has passed on every outcome")
      if request.listsEveryTarget { listUnmatched() }
    }
    if failure != nil || isSpent {
      // The sender gets no further outcomes, so later errors go to the handlers.
      scope.pending?.abandon()
      outcomes.abandon()
      abandonVisits(to: 0)
    }
    return failure
  }

  /// For each visited proxy, lists the registrations that have no step for this message.
  private func listUnmatched() {
    for (node, stop) in visited {
      for unmatched in node.unmatched {
        let registration = unmatched.registration
        guard let target = unmatched.strong ?? registration.currentTarget else { continue }
        let context = StepContext(
          selector: selector, proxies: node.path, registration: registration, target: target,
          isQueued: registration.queued != nil)
        let own = registration.reasonToLeaveOut(selector)
        outcomes.add(.skipped(stop.map { .first(own, $0) } ?? own), at: context, nil)
      }
    }
  }

  /// Like ``run(to:awaits:)``, but awaits each ``Suspension`` and continues.
  nonisolated(nonsending) func runAndWait(to base: Int) async throws {
    while let suspension = try run(to: base, awaits: true) {
      switch suspension {
      case .hooks(let node, let target): try await HookedDelivery(self, node, target).runAndWait()
      case .room(let node, let step): try await postWhenThereIsRoom(step, node)
      case .target(let attempt, let step, let target): await finish(attempt, step, target)
      }
      // Answers may have arrived during the wait.
      outcomes.continueProbe()
    }
  }

  nonisolated(nonsending) private func finish(
    _ attempt: OutgoingMessage.Attempt, _ step: RouteStep, _ target: AnyObject
  ) async {
    let (registration, path) = (step.registration.takeUnretainedValue(), node.path)
    observer?.noteBegan(step, on: target, in: self)
    let outcome = await attempt.endedAndWaited(&message, for: registration, behind: path)
    take(outcome ?? .skipped(.first(step.obstacle, path.obstacle ?? .muted)), at: context(step, target))
  }

  // MARK: - Unanswered messages

  /// Applies the proxy's `noResponder` option. ``HookedDelivery`` applies it inside hooks.
  func answerSilence() throws { if !root.hasHooks { try route.core.answerSilence(selector) } }

  // MARK: - Waiting

  private func beginBlocking() throws -> SenderWait? {
    guard case .blocking = request.wait else { return nil }
    try refuseHeldContext(root)
    let targets = root.queuedSteps.filter { !$0.group.runsNow }.map { $0.step.registration.takeUnretainedValue() }
    wait = try SenderWait.begin(for: targets, in: route.core, selector, blocks: true)
    return wait
  }

  private func beginWait() throws -> SenderWait? {
    guard request.waitsInTask else { return nil }
    try Task.checkCancellation()
    return try SenderWait.begin(for: tree.queuedTargets, in: route.core, selector)
  }

  nonisolated(nonsending) func awaitAnswers(in part: ProxyNode? = nil) async throws {
    guard request.waitsInTask, let pending = scope.pending else { return }
    wait?.sent(pending, in: part)
    let timer = wait?.start { pending.fail($0) }
    defer { timer?.cancel() }
    do { try await pending.wait() } catch {
      pending.abandon()
      throw error
    }
  }

  /// Blocks until the outcomes of the scope are known, if the sender's request is `blocking`.
  func block(in part: ProxyNode? = nil) throws {
    guard case .blocking(let patience) = request.wait else { return }
    guard let pending = scope.pending else { return }
    wait?.sent(pending, in: part)
    let late = pending.wait(until: patience.deadline)
    guard !late.isEmpty else { return }
    pending.abandon()
    let names = late.map { "\($0.name) on \($0.registration?.queued?.mailbox.context.name ?? "its context")" }
    throw MessageError(
      .timedOut, receiver: route.core.name, selector: selector.name,
      evidence: "no answer in \(patience.timeout) from \(names.joined(separator: ", "))")
  }

  /// - Throws: `wouldDeadlock` if the caller is on a context that it would wait for.
  private func refuseHeldContext(_ node: ProxyNode) throws {
    func refuse(_ evidence: String) -> MessageError {
      MessageError(.wouldDeadlock, receiver: route.core.name, selector: selector.name, evidence: evidence)
    }
    for (step, group) in node.queuedSteps where !group.runsNow {
      if let deadlock = group.mailbox.deadlock { throw refuse(deadlock) }
      guard let target = step.target else { continue }
      // The method needs another isolation, which the caller may be blocking.
      if let method = step.method?.takeUnretainedValue(), !method.isolation.isSender, method.canRun(on: target) {
        throw refuse(
          "a blocking call cannot wait for the method of \(typeName(of: target)), which runs \(method.isolation.place)")
      }
      // The targets of a nested multicast may also be on a context that the caller blocks.
      guard step.method == nil, let inner = (target as? any MulticastSending)?.route(for: selector),
        node.path.refusal(of: inner, message.trail, count: 0, target) == nil
      else { continue }
      let path = ProxyChain(inner.core, in: node.path, by: step.registration.takeUnretainedValue())
      try refuseHeldContext(ProxyTree(inner, path, for: DeliveryRequest(), message.trail, isSent: false).root)
    }
  }
}
