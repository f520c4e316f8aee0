// Walk+Posting.swift: hands a message to the contexts that are to run it.
// Layer: Outgoing. See DESIGN.md, "Promises of delivery".

extension Walk {
  /// Posts the message to every step on another context, of this proxy and of those among its targets, before any target
  /// runs: so what a direct target sends in its turn comes second there too. A proxy that stops at the first error, and
  /// a message whose result may be known early, keep to the order of delivery instead.
  mutating func postQueued(_ root: RouteNode) {
    guard root.posted == nil else { return }
    var waiting = [root]
    while let node = waiting.popLast() {
      guard !node.route.core.stopsAtFirst else { continue }
      post(node)
      for nested in node.nested.elements.reversed() {
        // What stands behind hooks is posted when these have sent it on.
        if case .node(let child)? = nested, !child.route.isSurrounded { waiting.append(child) }
      }
    }
  }

  /// Posts the message to every step of one proxy that is on another context; those that share a context share a parcel.
  private mutating func post(_ node: RouteNode) {
    var posted = ByStep<RouteNode.Posted>()
    guard node.route.route.hasQueued else { return node.posted = posted }
    let arguments = message.arguments
    for group in node.plan.groups {
      if !group.isBatched || arguments.mayCopy || !arguments.crosses || node.route.route.hasRepeats
        || message.trail?.budget != nil
      {
        for place in group.steps.indices {
          let outcome = post(group, place, node)
          if case .outcome(.queued(slot: -1)) = outcome { continue }
          posted[group.indices[place]] = outcome
        }
        continue
      }
      var chosen: [Int]?
      var slots: [Int] = []
      for place in group.steps.indices {
        let step = group.steps[place]
        guard step.isActive else {
          if chosen == nil { chosen = Array(0..<place) }
          posted[group.indices[place]] = .outcome(.skipped(step.reasonToSkip))
          continue
        }
        chosen?.append(place)
        if let pending {
          let slot = pending.open(context(step, node))
          slots.append(slot)
          posted[group.indices[place]] = .outcome(.queued(slot: slot))
        }
      }
      if chosen?.isEmpty ?? false { continue }
      let details = details(node, slots, keeping: nil)
      noteQueued(details, group, chosen ?? Array(group.steps.indices), node)
      group.mailbox.post(Parcel(group, only: chosen, arguments, details))
    }
    node.posted = posted
  }

  /// Posts the message to one step, in a parcel of its own.
  ///
  /// - Parameter mayRunNow: `false` for a step that was to run in the sender's turn and cannot.
  mutating func post(_ group: DeliveryGroup, _ place: Int, _ node: RouteNode, mayRunNow: Bool = true)
    -> RouteNode.Posted
  {
    let (step, index) = (group.steps[place], group.indices[place])
    let queued = step.queued
    let isReserved = node.reserved[index] == true
    if isReserved { node.reserved[index] = nil }
    func withdraw(_ posted: RouteNode.Posted) -> RouteNode.Posted {
      if isReserved { queued?.line?.giveBack() }
      return posted
    }
    guard step.isActive else { return withdraw(.outcome(.skipped(step.reasonToSkip))) }
    if mayRunNow, node.route.route.hasRepeats, !node.served.enter(step) { return withdraw(.repeated) }
    if mayRunNow, let queued, queued.runsNow(step) { return withdraw(.inTurn) }
    let arguments = message.arguments
    guard arguments.crosses else { return withdraw(.outcome(.failed(mismatch(step)))) }
    guard pay(.queued, at: { $0.context(step, node) }) else { return withdraw(.repeated) }
    var kept: AnyObject?
    if queued?.pending == .deliverPending {
      kept = step.target
      if kept == nil { return withdraw(.outcome(.skipped(.dead))) }
    }
    let slot = pending?.open(context(step, node)) ?? -1
    queued?.turns?.noteQueued()
    let details = details(node, slot < 0 ? [] : [slot], keeping: kept)
    noteQueued(details, group, [place], node)
    let parcel = Parcel(
      group, only: group.steps.count == 1 ? nil : [place], arguments.mayCopy ? arguments.copied() : arguments, details)
    guard let line = queued?.line else {
      group.mailbox.post(parcel)
      return .outcome(.queued(slot: slot))
    }
    guard let lost = line.offer(parcel, reserved: isReserved, to: group.mailbox) else {
      return .outcome(.queued(slot: slot))
    }
    dropped += 1
    lost.giveUp(.bufferFull)
    guard lost === parcel else { return .outcome(.queued(slot: slot)) }
    return .outcome(slot < 0 ? .skipped(.bufferFull) : .queued(slot: slot))
  }

  private func context(_ step: RouteStep, _ node: RouteNode) -> StepContext {
    StepContext(step, of: message.selector, in: node.proxies, nil, isQueued: true)
  }

  /// Tells the trace which turns are about to be queued, under the numbers that they have when they run.
  private mutating func noteQueued(
    _ details: ParcelDetails?, _ group: DeliveryGroup, _ places: [Int], _ node: RouteNode
  ) {
    guard let details, let trace = details.trace else { return }
    for place in places {
      trace.note(.queued, message.invocation, at: context(group.steps[place], node), step: details.firstStep + place)
    }
  }

  private func details(_ node: RouteNode, _ slots: [Int], keeping kept: AnyObject?) -> ParcelDetails? {
    let outer = node.proxies.outer
    guard
      pending != nil || kept != nil || outer != nil || message.trail != nil || message.keepsAnswers
        || message.trace != nil
    else {
      return nil
    }
    return ParcelDetails(
      pending: pending, slots: slots, keepsAnswers: message.keepsAnswers, kept: kept, outer: outer,
      // The sender's own trail ends with its turn; this one goes with the message.
      trail: message.trail.map { ProxyTrail(node.route.core, after: $0) }, trace: message.trace, steps: node.route.count
    )
  }

  /// The error for a target that the arguments of the message may not reach.
  private func mismatch(_ step: RouteStep) -> MessageError {
    MessageError(
      .isolationMismatch, receiver: step.target.map { typeName(of: $0) } ?? "a dead target",
      selector: message.selector.name,
      evidence:
        "an argument is not known to be Sendable and may not cross to the \(step.queued?.mailbox.context.name ?? "")")
  }

  // MARK: Room

  /// Waits for a place in every buffer that suspends its senders, in the order of delivery.
  ///
  /// - Throws: `CancellationError`; `wouldDeadlock` in a method of the target that would make room, or of one that it
  ///   waits for; `timedOut` in a task that such a method made. No place is kept then.
  nonisolated(nonsending) mutating func reserveRoom() async throws {
    do {
      // What stands behind hooks is reserved by the walk inside of them.
      for node in nodes where node.route.route.hasQueued && !node.route.isSurrounded {
        for group in node.plan.groups where !group.isBatched {
          guard let line = group.steps[0].queued?.line, line.suspendsSenders, group.steps[0].isActive else { continue }
          if !line.reserveAtOnce() {
            let registration = group.steps[0].registration.takeUnretainedValue()
            let wait = try SuspendedWaits.begin(for: [registration], in: route.core, route.selector)
            defer { wait?.end() }
            try await line.reserve { wait?.start($0) }
          }
          node.reserved[group.indices[0]] = true
        }
      }
    } catch {
      giveBackRoom()
      throw error
    }
  }

  /// Gives back the places that were not used.
  func giveBackRoom() {
    for node in nodes {
      for index in node.reserved.elements.indices where node.reserved[index] == true {
        node.route.steps[index].queued?.line?.giveBack()
      }
      node.reserved = ByStep()
    }
  }
}
