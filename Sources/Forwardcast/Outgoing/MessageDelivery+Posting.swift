// MessageDelivery+Posting.swift: posts a message to other contexts.

extension MessageDelivery {
  enum Posted {
    case outcome(StepOutcome)
    /// Not posted. The sender is on the automatic step's context, so the step runs synchronously.
    case inTurn
    /// The buffer is full, and the sender waits for capacity.
    case needsRoom
    /// Not posted. The registration ended before the message began, or the budget is exceeded.
    case nothing
  }

  /// The results of one proxy's queued steps. A step without an entry is posted, but not awaited.
  typealias PostedSteps = ByStep<Posted>

  /// Posts to queued steps before direct targets run, so messages that direct targets send arrive
  /// later. With strict delivery order, each step is posted in its position instead.
  func postAhead(awaits: Bool) -> Suspension? {
    while let (node, first) = unposted.popLast() {
      if let group = postGroups(of: node, from: first, awaits: awaits) {
        unposted.append((node, group))
        return .room(node, step: node.plan?.groups[group].indices[0] ?? 0)
      }
      // Steps inside hooks are posted once the hooks let the message through, and steps of an
      // extension point once its lazy observers exist.
      for case (_, .proxy(let child)) in node.children.reversed()
      where child.route.route.around?.onlyListens ?? true && !child.route.makesObservers && !child.keepsOrder
        && child.path.obstacle == nil
      {
        unposted.append((child, 0))
      }
    }
    return nil
  }

  /// Posts to a proxy's groups from number `first` on. If the sender waits for capacity, returns
  /// the number of the first group whose buffer is full.
  private func postGroups(of node: ProxyNode, from first: Int, awaits: Bool) -> Int? {
    var found = posted(node) ?? PostedSteps()
    defer { setPosted(found, node) }
    guard let groups = node.plan?.groups, !groups.isEmpty else { return nil }
    let isShared = !message.arguments.mayCopy
    for number in first..<groups.count {
      let group = groups[number]
      var chosen: [Int] = []
      for place in group.steps.indices {
        let index = group.indices[place]
        if group.isBatched && isShared {
          if let refusal = refusal(group, place, node) ?? charge(group, place, node) {
            found[index] = refusal
          } else {
            chosen.append(place)
          }
          continue
        }
        switch post(index, node, awaits: awaits) {
        case .needsRoom:
          assert(group.steps.count == 1, "a step with a bounded buffer has a group of its own")
          return number
        case .outcome(.queued(slot: -1)): break
        case let outcome: found[index] = outcome
        }
      }
      if chosen.isEmpty { continue }
      let (parcel, slots) = parcel(group, chosen, node)
      for (place, slot) in zip(chosen, slots) { found[group.indices[place]] = .outcome(.queued(slot: slot)) }
      postedCount += chosen.count
      group.mailbox.post(parcel)
    }
    return nil
  }

  /// Posts to one step in an envelope of its own. `mayRunNow` is false if the step must be queued.
  /// `isCharged` is true if the budget was charged for the target.
  func post(
    _ index: Int, _ node: ProxyNode, mayRunNow: Bool = true, isReserved: Bool = false, awaits: Bool,
    isCharged: Bool = false
  ) -> Posted {
    guard let (group, place) = node.location(of: index) else {
      assertionFailure("a queued step has a group")
      return .outcome(.queued(slot: -1))
    }
    let queued = group.steps[place].queued
    let line = queued?.line
    var isReserved = isReserved
    func giveBack(_ posted: Posted) -> Posted {
      if isReserved { line?.giveBack() }
      return posted
    }
    if let refusal = refusal(group, place, node, mayRunNow: mayRunNow) { return giveBack(refusal) }
    if awaits, request.waitsForRoom, !isReserved, let line, line.suspendsSenders {
      guard line.reserveAtOnce() else { return .needsRoom }
      isReserved = true
    }
    if let refusal = charge(group, place, node) { return giveBack(refusal) }
    queued?.turns?.noteQueued()
    let (parcel, slots) = parcel(group, [place], node, isCharged: isCharged)
    let sent = Posted.outcome(.queued(slot: slots.first ?? -1))
    postedCount += 1
    guard let line else {
      group.mailbox.post(parcel)
      return sent
    }
    guard let lost = line.offer(parcel, reserved: isReserved, to: group.mailbox) else { return sent }
    outcomes.dropped += 1
    lost.giveUp(.bufferFull)
    if lost !== parcel { return sent }
    postedCount -= 1
    return .outcome(.skipped(.bufferFull))
  }

  /// True if the target is a multicast without a responder, so nothing is posted to it. False if
  /// the multicast has targets to query, since one might forward the message in a cycle, which must
  /// be reported as an error.
  func isSilent(_ step: RouteStep, _ target: AnyObject) -> Bool {
    guard step.method == nil, let inner = (target as? any MulticastSending)?.route(for: selector),
      inner.forwarders.isEmpty, let core = step.registration.takeUnretainedValue().core
    else { return false }
    return !core.wouldTake(target, selector)
  }

  /// The result for a step that is not posted; `nil` if the step may be posted.
  private func refusal(_ group: DeliveryGroup, _ place: Int, _ node: ProxyNode, mayRunNow: Bool = true) -> Posted? {
    let step = group.steps[place]
    if let reason = step.obstacle {
      if node.route.isOver(step) { return .nothing }
      return pay(.passed, at: { $0.queuedContext(step, node) }) ? .outcome(.skipped(reason)) : .nothing
    }
    // True if a proxy on the path reports messages without a responder, such as a dead target's.
    let mayBeSilent = sequence(first: node.path, next: \.outer).contains { !$0.core.ignoresSilence }
    let looks = request.asks || scope.mayNotWait || keepsTarget(step, group) || mayBeSilent
    let target = looks || step.method == nil ? step.target : nil
    if looks, target == nil { return .outcome(.skipped(.dead)) }
    if let target, isSilent(step, target) { return .outcome(.skipped(.doesNotRespond)) }
    if mayRunNow, !group.isBatched, group.runsNow { return .inTurn }
    // Most targets were checked for deadlocks before the message began. The others are automatic
    // targets that the sender could have run then, and targets of proxies that were found later.
    if case .blocking = request.wait {
      if let deadlock = group.mailbox.deadlock {
        return .outcome(
          .failed(MessageError(.wouldDeadlock, receiver: route.core.name, selector: selector.name, evidence: deadlock)))
      }
      if !group.isBatched, step.queued?.turns != nil {
        do { try wait?.add([step.registration.takeUnretainedValue()]) } catch { return .outcome(.failed(error)) }
      }
    }
    if scope.mayNotWait {
      return refused(step) {
        "the target answers on the \($0), but an around hook of an enclosing proxy is not async; "
          + "pass the hook's async form as 'waiting:'"
      }
    }
    guard message.arguments.crosses else {
      return refused(step) {
        let staying = message.arguments.invocation(selector).arguments.staying("cross to the \($0)")
        return staying?.evidence ?? "an argument is not known to be Sendable and may not cross to the \($0)"
      }
    }
    return nil
  }

  private func charge(_ group: DeliveryGroup, _ place: Int, _ node: ProxyNode) -> Posted? {
    pay(.queued, at: { $0.queuedContext(group.steps[place], node) }) ? nil : .nothing
  }

  /// True if queued messages retain the target, so the step has an envelope of its own.
  private func keepsTarget(_ step: RouteStep, _ group: DeliveryGroup) -> Bool {
    !group.isBatched && step.queued?.pending == .deliverPending
  }

  /// An envelope for steps of one group. `slots` has the steps' slots; empty if no sender waits.
  private func parcel(
    _ group: DeliveryGroup, _ places: [Int], _ node: ProxyNode, isCharged: Bool = false
  ) -> (Parcel, slots: [Int]) {
    let step = group.steps[places[0]]
    let arguments = message.arguments
    let kept = keepsTarget(step, group) ? step.target : nil
    let slots =
      scope.pending.map { pending in
        places.map { pending.open(queuedContext(group.steps[$0], node), isKept: kept != nil) }
      } ?? []
    let details = details(node, slots, keeping: kept, isCharged: isCharged)
    if let details, let trace = details.trace {
      // The trace reports the steps before posting. The executions will have these step numbers.
      for place in places {
        trace.note(
          .queued, arguments, at: queuedContext(group.steps[place], node), step: details.firstStep + place)
      }
    }
    let isWhole = places.count == group.steps.count
    let parcel = Parcel(
      group, only: isWhole ? nil : places, arguments.mayCopy ? arguments.copied() : arguments, details)
    return (parcel, slots)
  }

  private func details(
    _ node: ProxyNode, _ slots: [Int], keeping kept: AnyObject?, isCharged: Bool
  ) -> ParcelDetails? {
    let (pending, message, isNested) = (scope.pending, message, node.path.isNested)
    guard
      pending != nil || kept != nil || isNested || message.trail != nil || observer?.trace != nil
        || request.waitsForRoom || isCharged
    else { return nil }
    // A sender that does not wait gets no answers from other contexts.
    let request = pending == nil ? DeliveryRequest(wait: self.request.waitsForRoom ? .room : .none) : self.request
    return ParcelDetails(
      pending: pending, slots: slots, request: request, kept: kept, proxies: isNested ? node.path : nil,
      // Detects cycles when the message runs: the sender's own trail can have ended by then.
      trail: message.trail.map { ProxyTrail(node.route.core, after: $0) }, trace: observer?.trace,
      steps: node.route.count, isCharged: isCharged)
  }

  private func queuedContext(_ step: RouteStep, _ node: ProxyNode) -> StepContext {
    StepContext(step, of: selector, in: node.path, nil, isQueued: true)
  }

  private func refused(_ step: RouteStep, _ evidence: (_ context: String) -> String) -> Posted {
    .outcome(
      .failed(
        MessageError(
          .isolationMismatch, receiver: step.target.map { typeName(of: $0) } ?? "a dead target",
          selector: selector.name, evidence: evidence(step.queued?.mailbox.context.name ?? ""))))
  }

  // MARK: - Posted steps

  private func posted(_ node: ProxyNode) -> PostedSteps? { node.number < posted.count ? posted[node.number] : nil }

  private func setPosted(_ steps: PostedSteps, _ node: ProxyNode) {
    if posted.count <= node.number { posted += repeatElement(nil, count: node.number + 1 - posted.count) }
    posted[node.number] = steps
  }

  func wasPosted(_ node: ProxyNode) -> Bool { posted(node) != nil }

  /// The result of posting a step before direct targets ran; `nil` if the step is posted later.
  func postedAhead(_ index: Int, _ node: ProxyNode) -> Posted? {
    posted(node).map { $0[index] ?? .outcome(.queued(slot: -1)) }
  }

  /// True if the message was posted ahead to a target of this proxy or of a nested one.
  func hasPosted(_ node: ProxyNode) -> Bool {
    if posted.isEmpty { return false }
    return node.all.contains { wasPosted($0) && !($0.plan?.groups.isEmpty ?? true) }
  }

  /// Forgets the posted steps here and in nested proxies, so another `proceed` posts them again.
  func forgetPosted(_ node: ProxyNode) {
    for node in node.all where wasPosted(node) { posted[node.number] = nil }
  }

  // MARK: - Capacity

  /// Thrown if the target becomes unreachable while the sender waits for its buffer.
  private struct PathClosed: Error {}

  /// Waits for capacity in a step's buffer, then posts to it. Throws ``RoomFailure``.
  nonisolated(nonsending) func postWhenThereIsRoom(_ index: Int, _ node: ProxyNode) async throws {
    let posted: Posted
    do { posted = try await postedWhenThereIsRoom(index, node) } catch {
      let count = postedCount + outcomes.countsWithHeld.received
      guard error is CancellationError, count > 0 else { throw RoomFailure(error: error) }
      throw RoomFailure(
        error: MessageError(
          .cancelled, receiver: route.core.name, selector: selector.name,
          evidence: "the sender was canceled while it waited for room in a full buffer; "
            + "\(count) target\(count == 1 ? " has" : "s have") already received the message"))
    }
    if let last = unposted.indices.last, unposted[last].node === node {
      var steps = self.posted(node) ?? PostedSteps()
      steps[index] = posted
      setPosted(steps, node)
      unposted[last].group += 1
    } else if case .outcome(let outcome) = posted {
      takeQueued(outcome, node.route.steps[index], node)
    }
  }

  nonisolated(nonsending) private func postedWhenThereIsRoom(_ index: Int, _ node: ProxyNode) async throws -> Posted {
    let step = node.route.steps[index]
    let registration = step.registration.takeUnretainedValue()
    guard let line = step.queued?.line else { return post(index, node, awaits: false) }
    let path = node.path
    let wait = try SenderWait.begin(for: [registration], in: route.core, selector)
    let late = "\(context(step, step.target).name), whose buffer is full"
    let number = TimedWait.current?.begin { [late] }
    var room: RoomWait?
    defer {
      room?.end()
      wait?.end()
      if let number { TimedWait.current?.end(number) }
    }
    do {
      try await line.reserve { giveUp in
        room = RoomWait(on: [registration] + path.registrations) { _ in
          if !registration.isActive || path.obstacle != nil { giveUp(PathClosed()) }
        }
        return wait?.start(giveUp)
      }
    } catch is PathClosed {
      let own = step.obstacle
      return .outcome(.skipped(.first(own, path.obstacle ?? own ?? .removed)))
    }
    // With `stopAtFirst`, a queued target may have failed during the wait.
    if let reason = obstacle(node) {
      line.giveBack()
      return .outcome(.skipped(reason))
    }
    return post(index, node, mayRunNow: false, isReserved: true, awaits: false)
  }
}

struct RoomFailure: Error {
  let error: any Error
}
