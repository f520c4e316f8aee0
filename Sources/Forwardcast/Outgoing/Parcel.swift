// Parcel.swift: one queued message for the targets of one context.

/// Rarely used properties of a queued message, for example of an awaited or traced message.
// Immutable. `kept` is Sendable, like every target of its proxy.
package final class ParcelDetails: @unchecked Sendable {
  /// The outcomes that the sender waits for (`nil` if it does not wait). Each target has a slot.
  package let pending: PendingAnswers?
  let slots: [Int]
  let request: DeliveryRequest
  /// The target, if its registration has `deliverPending`; otherwise `nil`.
  let kept: AnyObject?
  /// The targets' proxy and its enclosing proxies; `nil` if no proxy encloses it.
  let proxies: ProxyChain?
  let trail: ProxyTrail?
  let trace: MessageTrace?
  let firstStep: Int
  /// True if the sender has charged the budget for the target.
  let isCharged: Bool

  init(
    pending: PendingAnswers?, slots: [Int], request: DeliveryRequest, kept: AnyObject?, proxies: ProxyChain?,
    trail: ProxyTrail?, trace: MessageTrace?, steps: Int, isCharged: Bool
  ) {
    (self.trace, self.isCharged) = (trace, isCharged)
    firstStep = trace == nil ? 0 : MessageTrace.nextStep(steps)
    (self.pending, self.slots, self.request, self.kept) = (pending, slots, request, kept)
    (self.proxies, self.trail) = (proxies, trail)
  }
}

/// One queued message for the targets of one context.
///
/// Retains only its arguments. If it retained the group, sender and receiver would contend for one
/// reference count. The plan retains the group. When the plan is deallocated, a ``GroupRelease``
/// behind the last message retains the group instead. A message that is suspended or deferred at a
/// gate, or whose group is not batched, retains the group itself, in `keeper`.
@usableFromInline
package final class Parcel: Envelope, @unchecked Sendable {  // immutable, except for `keeper`, which the context owns
  package unowned(unsafe) let group: DeliveryGroup
  var keeper: DeliveryGroup?
  private let chosen: [Int]?
  let arguments: MessageArguments
  package let details: ParcelDetails?

  /// - Parameter chosen: the group's steps that get the message; `nil` for all.
  init(_ group: DeliveryGroup, only chosen: [Int]?, _ arguments: MessageArguments, _ details: ParcelDetails?) {
    (self.group, self.chosen, self.arguments, self.details) = (group, chosen, arguments, details)
    keeper = group.isBatched ? nil : group
    super.init()
  }

  deinit {
    // Ends the sender's wait even if the context dropped the message. Settled slots do not change.
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

  /// The slot of a target; -1 if no sender waits.
  func slot(_ place: Int) -> Int {
    guard let details, details.pending != nil else { return -1 }
    return details.slots[chosen?.partitioningIndex { $0 >= place } ?? place]
  }

  var isAwaited: Bool { details.map { $0.pending != nil || $0.request.waitsForRoom } ?? false }

  func noteBegan(_ place: Int, _ target: AnyObject) {
    guard let details, let trace = details.trace else { return }
    trace.note(.began, arguments, at: context(place, target), step: details.firstStep + place)
  }

  /// Records the start of a target's method. Returns false if the target is already removed.
  func begin(_ place: Int) -> Bool { details?.pending?.begin(slot(place)) ?? true }

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

  func drop(_ place: Int, _ reason: DeliveryReport.SkipReason) {
    group.steps[place].queued?.noteDropped()
    // The report also lists a removed strong target.
    settle(place, .skipped(reason), details?.pending == nil ? nil : group.steps[place].target)
  }

  private func serve(_ place: Int, _ message: inout OutgoingMessage, _ mailbox: Mailbox) {
    let step = group.steps[place]
    let automatic = group.isBatched ? nil : step.queued
    if let turns = automatic?.turns, !turns.beginQueued() {
      // A sender on the context is running the target.
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
    if !(details?.isCharged ?? false) {
      do { try details?.trail?.budget?.charge(.target) } catch { return settle(place, .failed(error), target) }
    }
    let method = step.method?.takeUnretainedValue()
    // Methods in other isolations call `begin` there, and awaited proxies call it in their task.
    guard method?.runsElsewhere(on: target) ?? (isAwaited && target is any MulticastSending) || begin(place) else {
      return drop(place, reasonToDrop(step) ?? .removed)
    }
    // `begin` may have waited for a lock, and the target may have been muted meanwhile.
    if isAwaited, !step.isActive, let reason = reasonToDrop(step) { return drop(place, reason) }
    let attempt = message.attempt(method, on: target, trail: layTrail())
    switch attempt {
    case .multicast(let multicast): send(message, on: multicast, place, target, mailbox)
    case _ where attempt.suspends:
      let sent = UncheckedSendable((attempt: attempt, target: target))
      // The task ends the trail, so this delivery does not.
      let laid = trail
      trail = nil
      suspend(mailbox, place) { [self] in
        var message = self.message
        let registration = group.steps[place].registration.takeUnretainedValue()
        noteBegan(place, sent.value.target)
        let outcome = await sent.value.attempt.endedAndWaited(
          &message, for: registration, behind: proxies, isKept: details?.kept != nil, begin: { self.begin(place) })
        laid?.end()
        if let outcome {
          settle(place, outcome, sent.value.target)
        } else {
          drop(place, reasonToDrop(group.steps[place]) ?? .removed)
        }
      }
    default:
      if case .over = attempt {} else { noteBegan(place, target) }
      settle(place, attempt.ended(&message) ?? .answered(nil), target)
    }
    trail?.end()
  }

  /// The reason to drop the message, if a registration on its path is inactive. A removal is no
  /// reason if queued messages are delivered even after a removal.
  func reasonToDrop(_ step: RouteStep) -> DeliveryReport.SkipReason? {
    let isKept = details?.kept != nil
    let own = isKept && !step.registration.takeUnretainedValue().isMuted ? nil : step.obstacle
    guard let outer = details?.proxies?.obstacle else { return own }
    return .first(own ?? (isKept || step.target != nil ? nil : .dead), outer)
  }

  func settle(_ place: Int, _ outcome: StepOutcome, _ target: AnyObject?) {
    if let details, let trace = details.trace {
      trace.note(outcome, arguments, at: context(place, target), step: details.firstStep + place)
    }
    if let details, let pending = details.pending {
      var outcome = outcome
      // If the target is a closure, the method is the closure, and only `target` retains it here.
      if case .answered(let answer) = outcome, let target,
        !(group.steps[place].method?.takeUnretainedValue().answers(to: nil) ?? false)
      {
        outcome = OutgoingMessage.Attempt.crossing(
          answer, from: target, group.selector, wanted: details.request.keepsAnswers)
      }
      // Only reports and errors retain the target.
      let isKept = if case .failed = outcome { true } else { details.request.listsEveryTarget }
      pending.settle(slot(place), outcome, from: isKept ? target : nil)
    } else if case .failed(let error) = outcome {
      context(place, target).report(error)
    }
  }
}
