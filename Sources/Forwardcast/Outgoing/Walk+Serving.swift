// Walk+Serving.swift: drives a walk, in the sender's turn or with suspensions, and waits where the sender does.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

extension Walk {
  /// Serves every target in the caller's turn, and blocks until all have answered where the sender does.
  ///
  /// - Parameter take: gets each outcome. `false` when no further target is needed.
  /// - Throws: the error of hooks around the proxy that the message was sent to; for a sender that blocks `wouldDeadlock`,
  ///   before anything is sent, and `timedOut` with those who did not answer.
  @inline(__always)
  mutating func serve(_ take: (StepOutcome, StepContext) -> Bool) throws {
    while let found = try advance() { give(found, take) }
  }

  /// Waits for room in buffers, serves every target, and suspends until all have answered where the sender waits for that.
  ///
  /// - Throws: as ``serve(_:)``; also `CancellationError`, and `wouldDeadlock` in a method that would wait for its own
  ///   end.
  @inline(__always)
  nonisolated(nonsending) mutating func serveAndWait(_ take: (StepOutcome, StepContext) -> Bool) async throws {
    while let found = try await advanceAndWait() { give(found, take) }
  }

  @inline(__always)
  private mutating func give(_ found: Outcome, _ take: (StepOutcome, StepContext) -> Bool) {
    if !isKnown {
      isKnown = !take(found.outcome, found.context)
    } else if case .failed(let error) = found.outcome {
      found.context.report(error)
    }
  }

  // Loops are copied to where they are used. What follows is there once, for every sink.

  /// What is known next, until nothing is left to do.
  @inline(never)
  private mutating func advance() throws -> Outcome? {
    if case .blocked = waiting, !isDriven { try refuseToWaitForHeldContext() }
    isDriven = true
    if let found = nextOutcome() { return found }
    if case .blocked(let patience) = waiting, !isAwaited {
      isAwaited = true
      try block(patience)
      if let found = nextOutcome() { return found }
    }
    return try end()
  }

  /// The same with suspensions.
  @inline(never)
  nonisolated(nonsending) private mutating func advanceAndWait() async throws -> Outcome? {
    var found: Outcome?
    do {
      if !isDriven {
        isDriven = true
        wait = try beginWait()
        try await reserveRoom()
      }
      found = await nextOutcomeAndWait()
      if found == nil, !isAwaited {
        isAwaited = true
        giveBackRoom()
        if case .suspended = waiting { try await suspend() }
        found = nextOutcome()
      }
      if found == nil {
        wait?.end()
        found = try end()
      }
    } catch {
      wait?.end()
      throw error
    }
    return found
  }

  private func end() throws -> Outcome? {
    // What a message that its budget ended had posted before is not among the outcomes.
    if isSpent { pending?.abandon() }
    if let failure { throw failure }
    return nil
  }

  /// Runs targets and hooks until something is known.
  private mutating func nextOutcome() -> Outcome? {
    while let event = next() {
      switch event {
      case .outcome(let found): return found
      case .hooks(let node, let place):
        let step = hooked(node, place)
        step.run()
        take(step)
      case .turn(let step, let target): run(step, target)
      }
    }
    return nil
  }

  /// The same with suspensions: hooks run in their form that waits, and a sender that waits for answers does so for the
  /// methods of direct targets that suspend or run elsewhere.
  nonisolated(nonsending) private mutating func nextOutcomeAndWait() async -> Outcome? {
    while let event = next() {
      switch event {
      case .outcome(let found): return found
      case .hooks(let node, let place):
        let step = hooked(node, place)
        await step.runAndWait()
        take(step)
      case .turn(let step, let target):
        guard case .suspended = waiting else {
          run(step, target)
          continue
        }
        let attempt = perform(step, on: target)
        if case .multicast(let multicast) = attempt {
          endTurn()
          enter(multicast, target, step)
        } else {
          if attempt.suspends { endTurn() }
          let outcome = await attempt.endedAndWaited(&message, for: step.registration.takeUnretainedValue())
          take(outcome ?? .skipped(step.reasonToSkip), at: context(step, target))
          endTurn()
        }
      }
    }
    return nil
  }

  private mutating func run(_ step: RouteStep, _ target: AnyObject) {
    let attempt = perform(step, on: target)
    if case .multicast(let multicast) = attempt {
      endTurn()
      enter(multicast, target, step)
    } else if deferred != nil, attempt.suspends {
      endTurn()
      put(off: attempt, target, step)
    } else {
      if let outcome = attempt.ended(&message) { take(outcome, at: context(step, target)) }
      endTurn()
    }
  }

  /// The hooks of a proxy, to be run now.
  private mutating func hooked(_ node: RouteNode, _ place: StepContext) -> HookedStep {
    HookedStep(
      inside(), node, at: place, isNested: isNested(node), waiting, defers: deferred != nil,
      listsEveryTarget: listsEveryTarget)
  }

  private mutating func take(_ step: HookedStep) {
    dropped += step.dropped
    deferred?.append(contentsOf: step.deferred)
    for found in step.outcomes { note(found) }
    if !step.isNested { end(told: step.told, by: step.failure) }
  }

  /// What the proxy does about a message that nobody got.
  ///
  /// - Throws: `nobodyResponds` where silence is an error.
  func answerSilence() throws { if !reachedAny { try route.core.answerSilence(route.selector) } }

  /// Whether what is to become of silence has not been decided within hooks.
  var isSilenceOpen: Bool { !route.isSurrounded }

  /// Whether all that a broadcast queued is for targets that have died unnoticed. Asked only where silence is not ignored.
  func reachesOnlyDead(_ summary: BroadcastSummary) -> Bool {
    if case .ignored = route.core.options.silence { return false }
    guard summary.delivered + summary.failed == 0, summary.queued > 0 else { return false }
    return !nodes.contains { node in
      UnsafeBufferPointer(start: node.route.steps, count: node.route.count).contains { step in
        step.queued != nil && step.isActive && step.target != nil
      }
    }
  }

  // MARK: Waiting

  private func beginWait() throws -> SuspendedWait? {
    guard case .suspended = waiting else { return nil }
    try Task.checkCancellation()
    return try SuspendedWaits.begin(for: queuedTargets, in: route.core, route.selector)
  }

  nonisolated(nonsending) private func suspend() async throws {
    guard let pending else { return }
    wait?.sent(pending)
    let timer = wait?.start { pending.fail($0) }
    defer { timer?.cancel() }
    do { try await pending.wait() } catch {
      pending.abandon()
      throw error
    }
  }

  private func block(_ patience: Patience) throws {
    let late = pending?.wait(until: patience.deadline) ?? []
    guard !late.isEmpty else { return }
    pending?.abandon()
    let names = late.map { "\($0.name) on \($0.registration?.queued?.mailbox.context.name ?? "its context")" }
    throw MessageError(
      .timedOut, receiver: route.core.name, selector: route.selector.name,
      evidence: "no answer in \(patience.timeout) from \(names.joined(separator: ", "))")
  }

  /// What goes to contexts of its own.
  private var groups: [DeliveryGroup] {
    var groups: [DeliveryGroup] = []
    for node in nodes where node.route.route.hasQueued {
      for group in node.plan.groups where !group.runsNow { groups.append(group) }
    }
    return groups
  }

  /// - Throws: `wouldDeadlock` when the caller is on a context that it would wait for.
  private func refuseToWaitForHeldContext() throws {
    func refuse(_ evidence: String) -> MessageError {
      MessageError(.wouldDeadlock, receiver: route.core.name, selector: route.selector.name, evidence: evidence)
    }
    for group in groups {
      for step in group.steps where step.isActive {
        if let deadlock = group.mailbox.deadlock { throw refuse(deadlock) }
        // A method that leaves the context of its delivery for one where the caller blocks.
        guard let method = step.method?.takeUnretainedValue(), !method.isolation.isSender, let target = step.target,
          method.canRun(on: target)
        else { continue }
        throw refuse(
          "the method of \(typeName(of: target)) runs where the caller would wait for it: \(method.isolation.place)")
      }
    }
  }

  /// The targets that are waited for on contexts of their own.
  private var queuedTargets: [Registration] {
    var targets: [Registration] = []
    for node in nodes where node.route.route.hasQueued {
      for group in node.plan.groups {
        for step in group.steps where step.isActive { targets.append(step.registration.takeUnretainedValue()) }
      }
    }
    return targets
  }

  /// A target that would have to be waited for; `nil` when all can be served in the caller's turn, as far as is known
  /// before they are asked.
  var waitedFor: String? {
    for group in groups {
      for step in group.steps where step.isActive {
        if let target = step.target { return "\(typeName(of: target)) on \(group.mailbox.context.name)" }
      }
    }
    for route in nodes.isEmpty ? [route] : nodes.map(\.route) {
      for index in 0..<route.count where route.steps[index].isActive {
        let step = route.steps[index]
        if step.queued == nil, let method = step.method?.takeUnretainedValue(), !method.isolation.isSender,
          let target = step.target, !method.canRun(on: target)
        {
          return "the method of \(typeName(of: target)), which runs \(method.isolation.place),"
        }
      }
    }
    return nil
  }
}

extension DeliveryGroup {
  /// Whether its one step would run in the sender's turn.
  fileprivate var runsNow: Bool { steps.count == 1 && steps[0].queued?.runsNow(steps[0]) ?? false }
}
