// MulticastCore+Delivery.swift: sends what other contexts are to run.
// Layer: Proxy. See DESIGN.md, "Delivery".

/// What became of a message, in the sender's turn, at a target of another context.
enum PostOutcome {
  /// It waits for its turn.
  case queued
  /// It is to run in the sender's turn, which is on that very context.
  case inTurn
  /// The target's buffer was full.
  case refused
  case skipped(DeliveryReport.SkipReason)
  /// Its arguments may not cross.
  case mismatch
}

/// One message to the queued steps of a route.
struct Posting {
  let core: MulticastCore
  let selector: MessageSelector
  /// Whether the arguments are known to be `Sendable`, or vouched for.
  let crosses: Bool
  /// Whether an argument may want a copy for each target.
  let copies: Bool
  /// Where outcomes go when the sender waits.
  var reply: (any Reply)?
  /// The message itself, when it came as a value.
  var invocation: Invocation?
  /// The steps for which the sender has a place in the target's buffer.
  var reserved: Set<Int> = []
  /// How many messages full buffers gave up for this one.
  private(set) var dropped = 0

  init(_ core: MulticastCore, _ selector: MessageSelector, crosses: Bool, copies: Bool) {
    (self.core, self.selector, self.crosses, self.copies) = (core, selector, crosses, copies)
  }

  /// Posts the message to every queued step; those that share a context share an envelope.
  ///
  /// - Parameters:
  ///   - makeDoor: the arguments; with `true`, those that ask for it copied for one target.
  ///   - visit: what became of each step, in no order.
  mutating func postAll(_ plan: DeliveryPlan, _ makeDoor: (Bool) -> TypedDoor, _ visit: (Int, PostOutcome) -> Void) {
    for group in plan.groups {
      if copies || !crosses {
        for place in group.steps.indices { visit(group.indices[place], post(group, place, makeDoor)) }
        continue
      }
      var chosen: [Int]?
      for place in group.steps.indices {
        guard group.steps[place].isActive else {
          if chosen == nil { chosen = Array(0..<place) }
          visit(group.indices[place], .skipped(group.steps[place].reasonToSkip))
          continue
        }
        chosen?.append(place)
        reply?.expect(group.indices[place])
        visit(group.indices[place], .queued)
      }
      if chosen?.isEmpty ?? false { continue }
      group.mailbox.post(Parcel(group, only: chosen, makeDoor(false), details(keeping: nil)))
    }
    for group in plan.loners { visit(group.indices[0], post(group, 0, makeDoor)) }
  }

  /// Posts the message to one step, in an envelope of its own.
  mutating func post(_ group: DeliveryGroup, _ place: Int, _ makeDoor: (Bool) -> TypedDoor) -> PostOutcome {
    let (step, index) = (group.steps[place], group.indices[place])
    let part = step.part
    let isReserved = reserved.remove(index) != nil
    func withdraw(_ outcome: PostOutcome) -> PostOutcome {
      if isReserved { part?.line?.giveBack() }
      return outcome
    }
    guard step.isActive else { return withdraw(.skipped(step.reasonToSkip)) }
    if let part, part.runsNow { return withdraw(.inTurn) }
    guard crosses else { return withdraw(.mismatch) }
    var kept: AnyObject?
    if part?.pending == .deliverPending {
      kept = step.target
      if kept == nil { return withdraw(.skipped(.dead)) }
    }
    reply?.expect(index)
    part?.noteQueued()
    let parcel = Parcel(group, only: group.steps.count == 1 ? nil : [place], makeDoor(copies), details(keeping: kept))
    guard let line = part?.line else {
      group.mailbox.post(parcel)
      return .queued
    }
    guard let lost = line.offer(parcel, reserved: isReserved, to: group.mailbox) else { return .queued }
    dropped += 1
    lost.giveUp(.bufferFull)
    return lost === parcel ? .refused : .queued
  }

  private func details(keeping kept: AnyObject?) -> ParcelDetails? {
    guard reply != nil || invocation != nil || kept != nil else { return nil }
    var own = invocation
    if let boxes = invocation?.arguments { own?.arguments = boxes.map { $0.copiedForDelivery() } }
    return ParcelDetails(reply: reply, invocation: own, kept: kept)
  }
}

extension RouteStep {
  /// Why a registration that was found not to be active is passed over.
  var reasonToSkip: DeliveryReport.SkipReason { registration.takeUnretainedValue().isCancelled ? .removed : .muted }
}

extension MulticastCore {
  /// How the message's queued steps travel; worked out now if that has not been done for this route.
  func plan(_ walk: RouteWalk) -> DeliveryPlan {
    if let plan = walk.plan, plan.count == walk.count { return plan }
    let plan = DeliveryPlan(self, walk)
    keep(plan, for: walk.route)
    return plan
  }

  /// Takes out registrations whose targets were found dead.
  func bury(_ registrations: [Registration]) {
    for registration in registrations { registration.markCancelled() }
    forget(registrations)
  }

  /// The error for a target that the arguments of a message may not reach.
  func mismatch(_ selector: MessageSelector, _ step: RouteStep) -> MessageError {
    MessageError(
      .isolationMismatch, receiver: step.target.map { typeName(of: $0) } ?? "a dead target", selector: selector.name,
      evidence:
        "an argument is not known to be Sendable and may not cross to the \(step.part?.mailbox.context.name ?? "")")
  }

  /// A broadcast of which some targets are on other contexts.
  ///
  /// What is queued leaves first, so that a message that a direct target sends in its turn comes second there as well.
  /// Only a proxy that stops at the first error keeps to the order of delivery throughout.
  @usableFromInline
  func broadcastQueued(
    _ walk: RouteWalk, _ selector: MessageSelector, crosses: Bool, copies: Bool, proxy: AnyObject,
    makeDoor: (Bool) -> TypedDoor
  ) -> BroadcastSummary {
    if let plan = walk.plan, plan.count == walk.count, plan.areAllTogether, crosses, !copies, !stopsAtFirst,
      case .ignored = options.silence, let summary = broadcastTogether(plan, makeDoor)
    {
      return summary
    }
    var posting = Posting(self, selector, crosses: crosses, copies: copies)
    return broadcast(walk, &posting, proxy, makeDoor)
  }

  /// The plain case: every target is on another context and gets everything. `nil`, and nothing done, when one is muted
  /// or removed.
  private func broadcastTogether(_ plan: DeliveryPlan, _ makeDoor: (Bool) -> TypedDoor) -> BroadcastSummary? {
    // The plan has to outlive the last post: its end is what retires the groups.
    withExtendedLifetime(plan) {
      for group in plan.groups where !group.areAllActive { return nil }
      let door = makeDoor(false)
      for group in plan.groups { group.mailbox.post(Parcel(group, door)) }
      return BroadcastSummary(queued: plan.count)
    }
  }

  func broadcast(_ walk: RouteWalk, _ posting: inout Posting, _ proxy: AnyObject, _ makeDoor: (Bool) -> TypedDoor)
    -> BroadcastSummary
  {
    let selector = posting.selector
    let plan = plan(walk)
    var summary = BroadcastSummary()
    var (dead, stopped) = (0, false)
    var inTurn: Set<Int> = []
    func count(_ index: Int, _ outcome: PostOutcome) {
      switch outcome {
      case .queued: summary.queued += 1
      case .inTurn: inTurn.insert(index)
      case .refused: break
      case .skipped: summary.skipped += 1
      case .mismatch:
        summary.failed += 1
        if report(mismatch(selector, walk.route.steps[index]), selector, walk.route.steps[index]) { stopped = true }
      }
    }
    func run(_ index: Int, _ door: TypedDoor) {
      let step = walk.route.steps[index]
      guard step.isActive else { return summary.skipped += 1 }
      guard let target = step.target else { return dead += 1 }
      do {
        if let boxes = try door(step.method, target, index) {
          let sent = boxes.map { $0.knownSendable(crosses: posting.crosses) }
          guard try sendBoxes(sent, selector, step, target, through: proxy) != nil else { return }
        }
        summary.delivered += 1
      } catch {
        summary.failed += 1
        if report(error, selector, step) { stopped = true }
      }
    }
    if stopsAtFirst {
      let steps = plan.inOrder
      for step in steps where !stopped {
        guard let (group, place) = step.post else { run(step.index, makeDoor(false)); continue }
        count(step.index, posting.post(group, place, makeDoor))
        if inTurn.remove(step.index) != nil { run(step.index, makeDoor(false)) }
      }
    } else {
      posting.postAll(plan, makeDoor, count)
      if !plan.inTurn.isEmpty {
        let door = makeDoor(false)
        for index in plan.inTurn where inTurn.contains(index) || walk.route.steps[index].part == nil {
          run(index, door)
        }
      }
    }
    if dead + summary.skipped > 0 { end(walk, dead: dead, skipped: summary.skipped) }
    summary.skipped += dead
    summary.dropped = posting.dropped
    if case .ignored = options.silence {
    } else if summary.delivered + summary.failed == 0, summary.queued > 0, !hasLiveQueued(plan) {
      // All that was queued is for targets that have died unnoticed.
      summary.skipped += summary.queued
      summary.queued = 0
    }
    if summary.nobodyResponded { silence(selector, proxy) }
    return summary
  }

  private func hasLiveQueued(_ plan: DeliveryPlan) -> Bool {
    (plan.groups + plan.loners).contains { group in group.steps.contains { $0.isActive && $0.target != nil } }
  }
}

extension DeliveryPlan {
  /// Every step in the order of delivery, with what it needs to be posted; `nil` for a direct one.
  var inOrder: [(index: Int, post: (DeliveryGroup, Int)?)] {
    var steps: [(index: Int, post: (DeliveryGroup, Int)?)] = (0..<count).map { ($0, nil) }
    for group in groups + loners {
      for (place, index) in group.indices.enumerated() { steps[index].post = (group, place) }
    }
    return steps
  }
}
