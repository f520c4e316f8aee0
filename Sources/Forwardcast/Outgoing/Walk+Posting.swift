// Walk+Posting.swift: hands a message to the contexts that are to run it.

extension Walk {
  /// Posts the message to every queued step, of this proxy and nested ones, before any target runs: so what a direct target sends
  /// comes second there too. A proxy that stops at the first error, and a message whose result may be known early, keep to the
  /// order of delivery instead. Steps on one context share a parcel, unless each needs something of its own.
  func postQueued(_ root: RouteNode) {
    guard root.posted == nil, self.root.hasGroups else { return }
    var waiting = [root]
    while let node = waiting.popLast() {
      guard !node.route.core.stopsAtFirst else { continue }
      var posted = ByStep<RouteNode.Posted>()
      let groups = node.plan?.groups ?? []
      if !groups.isEmpty { node.noteLeft() }
      let isShared = !groups.isEmpty && !message.arguments.mayCopy && !node.route.route.hasNested
      for group in groups {
        var chosen: [Int] = []
        for place in group.steps.indices {
          let found = group.isBatched && isShared ? refusal(group, place, node) : post(group, place, node)
          guard let found else {
            chosen.append(place)
            continue
          }
          if case .outcome(.queued(slot: -1)) = found { continue }
          posted[group.indices[place]] = found
        }
        guard !chosen.isEmpty else { continue }
        let (parcel, slots) = parcel(group, chosen, node)
        for (place, slot) in zip(chosen, slots) { posted[group.indices[place]] = .outcome(.queued(slot: slot)) }
        group.mailbox.post(parcel)
      }
      node.posted = posted
      // What is behind hooks is posted when these let it through.
      for case (_, .node(let child)) in node.nested.reversed()
      where !child.route.isSurrounded && !child.isAway && child.proxies.obstacle == nil { waiting.append(child) }
    }
  }

  /// Posts the message to one step, in its own parcel; without `mayRunNow` to one that was to run in the sender's turn and cannot.
  func post(_ group: DeliveryGroup, _ place: Int, _ node: RouteNode, mayRunNow: Bool = true)
    -> RouteNode.Posted
  {
    let (step, index) = (group.steps[place], group.indices[place])
    let queued = step.queued
    let (isReserved, overfills) = (node.reserved[index] == true, node.reserved[index] == false)
    node.reserved[index] = nil
    if let refusal = refusal(group, place, node, mayRunNow: mayRunNow) {
      if isReserved { queued?.line?.giveBack() }
      return refusal
    }
    queued?.turns?.noteQueued()
    let (parcel, slots) = parcel(group, [place], node)
    let inner = parcel.details?.node
    var sent = RouteNode.Posted.outcome(.queued(slot: slots.first ?? -1))
    if let inner, slots.isEmpty { sent = .away(inner.outcomes(nil, at: context(step, node, step.target))) }
    guard let line = queued?.line else {
      group.mailbox.post(parcel)
      return sent
    }
    guard let lost = line.offer(parcel, reserved: isReserved, overfills: overfills, to: group.mailbox) else {
      return sent
    }
    dropped += 1
    lost.giveUp(.bufferFull)
    guard lost === parcel else { return sent }
    // Known now, and the trace has been told.
    let place = context(step, node, listsEveryTarget ? step.target : nil)
    guard listsEveryTarget, let inner else { return .away([Outcome(.skipped(.bufferFull), place)]) }
    return .away(inner.outcomes(.bufferFull, at: place))
  }

  /// Why a step is not posted, if it is not.
  private func refusal(_ group: DeliveryGroup, _ place: Int, _ node: RouteNode, mayRunNow: Bool = true)
    -> RouteNode.Posted?
  {
    let (step, index) = (group.steps[place], group.indices[place])
    if let reason = step.obstacle {
      guard pay(.passed, at: { $0.context(step, node) }) else { return .repeated }
      return node.isListedElsewhere(step) ? .repeated : passed(reason, index, node)
    }
    if pending != nil || listsEveryTarget || mayNotWait || node.route.route.hasRepeats || isKept(step, group),
      step.target == nil
    {
      return node.list(step) ? .outcome(.skipped(.dead)) : .repeated
    }
    if mayRunNow, node.route.route.hasRepeats, !node.served.enter(step) { return .repeated }
    if mayRunNow, !group.isBatched, let queued = step.queued, queued.runsNow(step) { return .inTurn }
    if case .refused(let error)? = node.nested(at: index) { return .outcome(.failed(error)) }
    if mayNotWait {
      return refused(step) {
        "it is on the \($0) and has to be waited for, and an around hook of a proxy before it has no form that waits: "
          + "give it one as waiting:"
      }
    }
    guard message.arguments.crosses else {
      return refused(step) { "an argument is not known to be Sendable and may not cross to the \($0)" }
    }
    return pay(.queued, at: { $0.context(step, node) }) ? nil : .repeated
  }

  /// Whether waiting messages keep a target alive: such a step goes alone.
  private func isKept(_ step: RouteStep, _ group: DeliveryGroup) -> Bool {
    !group.isBatched && step.queued?.pending == .deliverPending
  }

  /// A parcel for steps of one group, and the slots of their outcomes, if these are waited for.
  private func parcel(_ group: DeliveryGroup, _ places: [Int], _ node: RouteNode) -> (Parcel, slots: [Int]) {
    let (step, arguments) = (group.steps[places[0]], message.arguments)
    let inner: RouteNode? = if case .node(let child)? = node.nested(at: group.indices[places[0]]) { child } else { nil }
    let kept = isKept(step, group) ? step.target : nil
    // A report lists the targets of a removed proxy on a queue, which its context does.
    let isKept = kept != nil || inner != nil && listsEveryTarget
    let slots =
      pending.map { pending in places.map { pending.open(context(group.steps[$0], node), isKept: isKept) } } ?? []
    let details = details(node, slots, keeping: kept, inner)
    noteQueued(details, group, places, node)
    let isWhole = places.count == group.steps.count
    let parcel = Parcel(
      group, only: isWhole ? nil : places, arguments.mayCopy ? arguments.copied() : arguments, details)
    return (parcel, slots)
  }

  /// The outcome of a skipped step; where every target is listed, those of a nested proxy's targets.
  private func passed(_ reason: DeliveryReport.SkipReason, _ index: Int, _ node: RouteNode) -> RouteNode.Posted {
    guard listsEveryTarget, case .node(let child)? = node.nested(at: index) else { return .outcome(.skipped(reason)) }
    let step = node.route.steps[index]
    return .away(child.outcomes(reason, at: context(step, node, step.target)))
  }

  private func context(_ step: RouteStep, _ node: RouteNode, _ target: AnyObject? = nil) -> StepContext {
    StepContext(step, of: selector, in: node.proxies, target, isQueued: true)
  }

  /// Tells the trace of turns about to be queued, under the numbers that they have when they run.
  private func noteQueued(
    _ details: ParcelDetails?, _ group: DeliveryGroup, _ places: [Int], _ node: RouteNode
  ) {
    guard let details, let trace = details.trace else { return }
    for place in places {
      trace.note(
        .queued, selector, message.arguments, at: context(group.steps[place], node), step: details.firstStep + place)
    }
  }

  private func details(_ node: RouteNode, _ slots: [Int], keeping kept: AnyObject?, _ inner: RouteNode? = nil)
    -> ParcelDetails?
  {
    let isNested = node.proxies.outer != nil
    guard
      pending != nil || kept != nil || isNested || inner != nil || message.trail != nil || message.trace != nil
    else {
      return nil
    }
    // A sender that does not wait gets no answers from other contexts.
    var request =
      pending == nil
      ? MessageRequest(keepsAnswers: false, waitsForRoom: message.request.waitsForRoom) : message.request
    request.listsEveryTarget = pending != nil && listsEveryTarget
    return ParcelDetails(
      pending: pending, slots: slots, request: request, kept: kept, proxies: isNested ? node.proxies : nil, node: inner,
      // The sender's own trail ends with its turn; this one goes with the message.
      trail: message.trail.map { ProxyTrail(node.route.core, after: $0) }, trace: message.trace, steps: node.route.count
    )
  }

  /// The outcome of a target that the message may not be sent to.
  private func refused(_ step: RouteStep, _ evidence: (_ context: String) -> String) -> RouteNode.Posted {
    .outcome(
      .failed(
        MessageError(
          .isolationMismatch, receiver: step.target.map { typeName(of: $0) } ?? "a dead target",
          selector: message.selector.name, evidence: evidence(step.queued?.mailbox.context.name ?? ""))))
  }

  // MARK: Room

  typealias Place = (line: BufferedLine, node: RouteNode, index: Int)

  /// Waits for a place in every buffer that suspends its senders, of a proxy and those inside, if the sender does: once for all
  /// that the message may reach, also behind hooks, and for `kept`, which it had before.
  ///
  /// - Throws: `CancellationError`; `wouldDeadlock` in a method of the target that would make room, or of one that it waits for;
  ///   `timedOut` in a task that such a method made. Then no place is kept.
  nonisolated(nonsending) func reserveRoom(in root: RouteNode, with kept: [Place] = []) async throws {
    guard mayAwaitRoom else { return }
    var places = kept
    for node in root.all() {
      for group in node.plan?.groups ?? [] where !group.isBatched {
        guard let line = group.steps[0].queued?.line, line.suspendsSenders else { continue }
        places.append((line, node, group.indices[0]))
      }
    }
    try await reserve(places)
  }

  nonisolated(nonsending) func reserve(_ places: [Place]) async throws {
    guard !places.isEmpty else { return }
    keepsRoom = true
    var (kept, last): ([Registration], BufferedLine?) = ([], nil)
    do {
      // All senders take places in one order, so that no two wait for places of each other.
      for (line, node, index) in inOrder(places, by: { ObjectIdentifier($0.line) }) {
        let step = node.route.steps[index]
        guard step.isActive, step.target != nil, node.proxies.obstacle == nil else { continue }
        // A line reached by several ways gives one place for all of them: its sender may not wait for a second one.
        guard line !== last else {
          node.reserved[index] = node.reserved[index] ?? false
          continue
        }
        let registration = step.registration.takeUnretainedValue()
        do {
          if !line.reserveAtOnce(), try await !wait(for: line, registration, node.proxies, keeping: kept) { continue }
        } catch is PlacesWanted {
          giveBack(places)
          if try await wait(for: line, registration, node.proxies, keeping: []) { line.giveBack() }
          return try await reserve(places)
        }
        node.reserved[index] = true
        kept.append(registration)
        last = line
      }
    } catch {
      giveBack(places)
      throw error
    }
  }

  /// The way to a target was closed while its sender waited for room.
  private struct WayClosed: Error {}
  /// A method that has to end before there is room waits for a place that the sender keeps.
  private struct PlacesWanted: Error {}

  /// Waits for one place. `false` when the target, or a proxy on the way there, was removed or muted before.
  nonisolated(nonsending) private func wait(
    for line: BufferedLine, _ registration: Registration, _ proxies: ProxyChain, keeping kept: [Registration]
  ) async throws -> Bool {
    let wait = try SuspendedWaits.begin(for: [registration], in: route.core, route.selector)
    var (room, keeping): (RoomWait?, SuspendedWait?)
    defer {
      room?.end()
      keeping?.end()
      wait?.end()
    }
    do {
      try await line.reserve { giveUp in
        room = RoomWait(on: [registration] + proxies.registrations) { _ in
          if !registration.isActive || proxies.obstacle != nil { giveUp(WayClosed()) }
        }
        keeping = SuspendedWaits.keep(kept, whileWaitingFor: registration) { giveUp(PlacesWanted()) }
        return wait?.start(giveUp)
      }
    } catch is WayClosed { return false }
    return true
  }

  @inline(never)
  @discardableResult
  func giveBackRoom(in root: RouteNode) -> [Place] {
    let unused = root.all().flatMap { node in
      node.reserved.indices.compactMap { index -> Place? in
        guard node.reserved[index] == true, let line = node.route.steps[index].queued?.line else { return nil }
        return (line, node, index)
      }
    }
    giveBack(unused)
    return unused
  }

  private func giveBack(_ places: [Place]) {
    for (line, node, index) in places where node.reserved[index] == true {
      node.reserved[index] = nil
      line.giveBack()
    }
  }
}
