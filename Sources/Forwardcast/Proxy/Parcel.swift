// Parcel.swift: one message on its way to the targets of one context.
// Layer: Proxy. See DESIGN.md, "Delivery".

/// The typed arguments of one message: runs a method by its typed door and gives `nil`, or, for a method that has none of
/// the message's types and for `nil`, gives the arguments in boxes. The number is the step's place in its route.
@usableFromInline
typealias TypedDoor = @Sendable (Unmanaged<Method>?, AnyObject, Int) throws -> [ArgumentBox]?

/// What few messages have.
final class ParcelDetails: @unchecked Sendable {  // never changes; the target is Sendable, as are all of its proxy
  /// Where outcomes go when the sender waits.
  let reply: (any Reply)?
  /// The message itself, when it came as a value.
  let invocation: Invocation?
  /// The target, when what waits for it keeps it alive.
  let kept: AnyObject?

  init(reply: (any Reply)?, invocation: Invocation?, kept: AnyObject?) {
    (self.reply, self.invocation, self.kept) = (reply, invocation, kept)
  }
}

/// One message on its way to the targets of one context.
///
/// It retains nothing but its arguments: counts that two threads change at the same time are what a queued message would
/// cost most. The group lives as long as its plan, and then until a ``Retirement`` behind all of its parcels is opened;
/// a parcel that leaves the order of its mailbox keeps the group itself.
@usableFromInline
final class Parcel: Envelope, @unchecked Sendable {  // immutable but for `keeper`, which belongs to the context
  private unowned(unsafe) let group: DeliveryGroup
  private var keeper: DeliveryGroup?
  /// The places in the group that the message goes to; `nil` for all.
  private let chosen: [Int]?
  private let door: TypedDoor
  private let details: ParcelDetails?

  private var core: MulticastCore { group.core }

  /// A message for all of a group.
  init(_ group: DeliveryGroup, _ door: @escaping TypedDoor) {
    self.group = group
    chosen = nil
    self.door = door
    details = nil
    super.init()
  }

  init(_ group: DeliveryGroup, only chosen: [Int]?, _ door: @escaping TypedDoor, _ details: ParcelDetails?) {
    (self.group, self.keeper, self.chosen, self.door, self.details) = (group, group, chosen, door, details)
    super.init()
  }

  deinit {
    // Whatever became of the context, nobody waits for a message that is gone. Places that are settled stay as they are.
    guard let reply = details?.reply else { return }
    for place in places { reply.skip(group.indices[place], .lost) }
  }

  override var selector: MessageSelector? { group.selector }

  private var places: [Int] { chosen ?? Array(group.steps.indices) }

  override func open(in mailbox: Mailbox) -> Int {
    var dead: [Registration] = []
    func deliver(_ place: Int) {
      if mailbox.hasBusyLanes, let part = group.steps[place].part, mailbox.park(self, place, in: part.lane) {
        keeper = group
        return
      }
      serve(place, mailbox, &dead)
    }
    let count: Int
    if let chosen {
      for place in chosen { deliver(place) }
      count = chosen.count
    } else {
      count = group.steps.count
      for place in 0..<count { deliver(place) }
    }
    if !dead.isEmpty { core.bury(dead) }
    return count
  }

  override func resume(_ place: Int, in mailbox: Mailbox) {
    var dead: [Registration] = []
    serve(place, mailbox, &dead)
    if !dead.isEmpty { core.bury(dead) }
  }

  override func giveUp(_ reason: DeliveryReport.SkipReason) {
    for place in places {
      group.steps[place].part?.noteTurn()
      drop(place, reason)
    }
  }

  private func drop(_ place: Int, _ reason: DeliveryReport.SkipReason) {
    group.steps[place].part?.noteDropped()
    details?.reply?.skip(group.indices[place], reason)
  }

  /// One target's turn.
  private func serve(_ place: Int, _ mailbox: Mailbox, _ dead: inout [Registration]) {
    let step = group.steps[place]
    mailbox.noteTurn()
    if chosen != nil || group.steps.count == 1 { step.part?.noteTurn() }
    if !step.isActive, let reason = reasonToDrop(step) { return drop(place, reason) }
    guard let target = details?.kept ?? step.target else {
      dead.append(step.registration.takeUnretainedValue())
      return drop(place, .dead)
    }
    do {
      if let method = step.method, method._withUnsafeGuaranteedRef({ $0.isolation != .sender }),
        !method.takeUnretainedValue().canRun(on: target)
      {
        return try suspend(place, method.takeUnretainedValue(), target, mailbox)
      }
      guard let boxes = try door(step.method, target, group.indices[place]) else { return }
      let trail = ProxyTrail(core, after: details?.invocation?.route)
      defer { trail.end() }
      var invocation = message(boxes, trail)
      if let method = step.method {
        try method.takeUnretainedValue().invoke(target, &invocation)
      } else {
        guard try core.ask(target, &invocation) else {
          details?.reply?.skip(group.indices[place], .doesNotRespond)
          return
        }
      }
      details?.reply?.accept(group.indices[place], invocation, from: target)
    } catch {
      fail(place, error)
    }
  }

  /// Why the registration lets nothing through, unless what waits is to be delivered all the same.
  private func reasonToDrop(_ step: RouteStep) -> DeliveryReport.SkipReason? {
    let registration = step.registration.takeUnretainedValue()
    if registration.isMuted { return .muted }
    return registration.isCancelled && details?.kept == nil ? .removed : nil
  }

  /// The message by boxes.
  private func message(_ boxes: [ArgumentBox], _ trail: ProxyTrail) -> Invocation {
    // A message that was posted holds only what may cross.
    var invocation =
      details?.invocation ?? Invocation(group.selector, arguments: boxes.map { $0.knownSendable(crosses: true) })
    invocation.route = trail
    return invocation
  }

  /// Runs a method that suspends; the target's next message waits for it.
  private func suspend(_ place: Int, _ method: Method, _ target: AnyObject, _ mailbox: Mailbox) throws {
    guard let lane = group.steps[place].part?.lane else { return }
    keeper = group
    let index = group.indices[place]
    let trail = ProxyTrail(core, after: details?.invocation?.route)
    let invocation = UncheckedSendable(message(try door(nil, target, index) ?? [], trail))
    let sent = UncheckedSendable(target)
    mailbox.enter(lane)
    Task {
      await ServedLane.serve(lane) {
        do {
          let answered = try await method.invokeAndWait(sent.value, invocation)
          self.details?.reply?.accept(index, answered.value, from: sent.value)
        } catch {
          self.fail(place, error)
        }
      }
      trail.end()
      mailbox.leave(lane)
    }
  }

  private func fail(_ place: Int, _ error: any Error) {
    if let reply = details?.reply {
      reply.fail(group.indices[place], error)
    } else {
      _ = core.report(error, group.selector, group.steps[place])
    }
  }
}

extension RouteStep {
  /// The registration's side of delivery on another context.
  var part: QueuedPart? { registration._withUnsafeGuaranteedRef { $0.queued } }
}

/// The lanes whose methods the running task is in, so that a method that waits for its own target is found out.
enum ServedLane {
  private struct Entry: Sendable {
    let lane: ObjectIdentifier
    let task: Int?
  }
  @TaskLocal private static var entries: [Entry] = []

  private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  static func serve(_ lane: Lane, _ body: @Sendable () async -> Void) async {
    await $entries.withValue(entries + [Entry(lane: ObjectIdentifier(lane), task: task)], operation: body)
  }

  /// Whether the running code is in any lane's method, or in a task that was made there.
  static var isServing: Bool { !entries.isEmpty }

  /// Whether the running task is in a method of that lane.
  static func contains(_ lane: Lane) -> Bool {
    guard !entries.isEmpty else { return false }
    let task = task
    return entries.contains { $0.lane == ObjectIdentifier(lane) && $0.task == task }
  }
}
