// Parcel.swift: one message on its way to the targets of one context.

/// What a message on its way has besides its arguments, where somebody waits for it, it came by another proxy, or is traced.
// Immutable; the target is Sendable, as are all of its proxy.
package final class ParcelDetails: @unchecked Sendable {
  /// Where outcomes go if the sender waits, and the slot of each target.
  package let pending: PendingAnswers?
  let slots: [Int]
  let request: DeliveryRequest
  /// The target, if waiting messages keep it alive.
  let kept: AnyObject?
  /// The proxy of the targets and those around it, if there are any.
  let proxies: ProxyChain?
  /// The proxies that the message came through by hooks.
  let trail: ProxyTrail?
  let trace: MessageTrace?
  /// The first target's step number in the trace.
  let firstStep: Int

  init(
    pending: PendingAnswers?, slots: [Int], request: DeliveryRequest, kept: AnyObject?, proxies: ProxyChain?,
    trail: ProxyTrail?, trace: MessageTrace?, steps: Int
  ) {
    self.trace = trace
    firstStep = trace == nil ? 0 : MessageTrace.nextStep(steps)
    (self.pending, self.slots, self.request, self.kept) = (pending, slots, request, kept)
    (self.proxies, self.trail) = (proxies, trail)
  }
}

/// One message on its way to the targets of one context.
///
/// It retains only its arguments: counts changed by two threads at once would be the largest cost of a queued message. The group
/// lives as long as its plan, and then until a ``GroupRelease`` behind all of its parcels is opened; a parcel that leaves the order
/// of its mailbox retains the group itself.
@usableFromInline
package final class Parcel: Envelope, @unchecked Sendable {  // immutable but for `keeper`, which belongs to the context
  package unowned(unsafe) let group: DeliveryGroup
  var keeper: DeliveryGroup?
  private let chosen: [Int]?
  let arguments: MessageArguments
  package let details: ParcelDetails?

  /// - Parameter chosen: the places in the group that the message goes to; `nil` for all.
  init(_ group: DeliveryGroup, only chosen: [Int]?, _ arguments: MessageArguments, _ details: ParcelDetails?) {
    (self.group, self.chosen, self.arguments, self.details) = (group, chosen, arguments, details)
    keeper = group.isBatched ? nil : group
    super.init()
  }

  deinit {
    // Whatever became of the context, nobody waits for a message that is gone. Settled slots stay as they are.
    guard let details, let pending = details.pending else { return }
    for slot in details.slots { pending.settle(slot, .skipped(.lost), from: nil) }
  }

  override var selector: MessageSelector? { group.selector }

  private var count: Int { chosen?.count ?? group.steps.count }
  private func place(_ index: Int) -> Int { chosen?[index] ?? index }

  var message: OutgoingMessage {
    let request = details?.request ?? DeliveryRequest()
    var message = OutgoingMessage(group.selector, arguments, request, trail: details?.trail)
    message.trace = details?.trace
    return message
  }

  /// The slot of the target at a place; -1 when nobody waits.
  func slot(_ place: Int) -> Int {
    guard let details, details.pending != nil else { return -1 }
    return details.slots[chosen?.partitioningIndex { $0 >= place } ?? place]
  }

  /// Whether the sender waits for answers or room.
  var isAwaited: Bool { details.map { $0.pending != nil || $0.request.waitsForRoom } ?? false }

  func noteBegan(_ place: Int, _ target: AnyObject) {
    guard let details, let trace = details.trace else { return }
    trace.note(.began, group.selector, arguments, at: context(place, target), step: details.firstStep + place)
  }

  /// Notes that the method of a target starts. `false` if the sender stopped waiting because the
  /// target was removed.
  private func begin(_ place: Int) -> Bool { details?.pending?.begin(slot(place)) ?? true }

  var proxies: ProxyChain { details?.proxies ?? ProxyChain(group.core) }

  func context(_ place: Int, _ target: AnyObject?) -> StepContext {
    StepContext(group.steps[place], of: group.selector, in: proxies, target, isQueued: true)
  }

  @inline(never)
  override func open(in mailbox: Mailbox) -> Int {
    var message = message
    for index in 0..<count {
      let place = place(index)
      if mailbox.hasClosedGates, let gate = group.steps[place].registration.takeUnretainedValue().gate,
        mailbox.park(self, place, at: gate)
      {
        keeper = group
      } else {
        serve(place, &message, mailbox)
      }
    }
    return count
  }

  override func resume(_ place: Int, in mailbox: Mailbox) {
    var message = message
    serve(place, &message, mailbox)
  }

  override func giveUp(_ reason: DeliveryReport.SkipReason) {
    for place in (0..<count).map(place) {
      let step = group.steps[place]
      step.queued?.turns?.noteDropped()
      let own = reasonToDrop(step) ?? (details?.kept == nil && step.target == nil ? .dead : nil)
      drop(place, .first(own, reason))
    }
  }

  private func drop(_ place: Int, _ reason: DeliveryReport.SkipReason) {
    group.steps[place].queued?.noteDropped()
    // A removed strong target is listed all the same.
    settle(place, .skipped(reason), details?.pending == nil ? nil : group.steps[place].target)
  }

  private func serve(_ place: Int, _ message: inout OutgoingMessage, _ mailbox: Mailbox) {
    let step = group.steps[place]
    let automatic = group.isBatched ? nil : step.queued
    if let turns = automatic?.turns, !turns.beginQueued() {
      // A sender on the context runs the target at the moment.
      keeper = group
      return mailbox.close(turns, before: self, place)
    }
    defer { automatic?.endTurn() }
    mailbox.noteDeliveries()
    if !step.isActive || details?.proxies != nil, let reason = reasonToDrop(step) { return drop(place, reason) }
    guard let target = details?.kept ?? step.target else {
      group.core.removeDead([step.registration.takeUnretainedValue()])
      return drop(place, .dead)
    }
    var trail: ProxyTrail?
    func layTrail() -> ProxyTrail {
      let laid = proxies.trail(after: details?.trail)
      trail = laid
      return laid
    }
    // The execution of a multicast that waits begins in its task.
    if !(isAwaited && target is any MulticastSending) { noteBegan(place, target) }
    do { try details?.trail?.budget?.charge(.target) } catch { return settle(place, .failed(error), target) }
    let method = step.method?.takeUnretainedValue()
    // A method that runs elsewhere begins there.
    guard method?.runsElsewhere(on: target) ?? false || begin(place) else {
      return drop(place, reasonToDrop(step) ?? .removed)
    }
    let attempt = message.perform(method, on: target, trail: layTrail())
    switch attempt {
    case .multicast(let multicast): send(message, on: multicast, place, target, mailbox)
    case _ where attempt.suspends:
      let sent = UncheckedSendable((attempt: attempt, target: target))
      // Its message has the trail, which ends with it.
      let laid = trail
      trail = nil
      suspend(mailbox, place) { [self] in
        var message = self.message
        let registration = group.steps[place].registration.takeUnretainedValue()
        let outcome = await sent.value.attempt.endedAndWaited(
          &message, for: registration, behind: proxies, isKept: details?.kept != nil, begin: { self.begin(place) })
        laid?.end()
        if let outcome {
          settle(place, outcome, sent.value.target)
        } else {
          drop(place, reasonToDrop(group.steps[place]) ?? .removed)
        }
      }
    default: settle(place, attempt.ended(&message) ?? .answered(nil), target)
    }
    trail?.end()
  }

  /// Why the registration, or that of a proxy on the way, lets nothing through; `nil` also where waiting messages are delivered
  /// regardless.
  private func reasonToDrop(_ step: RouteStep) -> DeliveryReport.SkipReason? {
    let isKept = details?.kept != nil
    let own = isKept ? step.registration.takeUnretainedValue().isMuted ? .muted : nil : step.obstacle
    guard let outer = details?.proxies?.obstacle else { return own }
    return .first(own ?? (isKept || step.target != nil ? nil : .dead), outer)
  }

  func settle(_ place: Int, _ outcome: StepOutcome, _ target: AnyObject?) {
    if let details, let trace = details.trace {
      trace.note(outcome, arguments, at: context(place, target), step: details.firstStep + place)
    }
    if let details, let pending = details.pending {
      var outcome = outcome
      // A closure's method is there as long as its target.
      if case .answered(let answer) = outcome, let target,
        !(group.steps[place].method?.takeUnretainedValue().answers(to: nil) ?? false)
      {
        outcome = OutgoingMessage.Attempt.crossing(
          answer, from: target, group.selector, wanted: details.request.keepsAnswers)
      }
      // A target that did not fail is kept only where targets are listed.
      let isKept = if case .failed = outcome { true } else { details.request.listsEveryTarget }
      pending.settle(slot(place), outcome, from: isKept ? target : nil)
    } else if case .failed(let error) = outcome {
      context(place, target).report(error)
    }
  }
}
