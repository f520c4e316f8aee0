// Mailbox.swift: the queued messages of one context.

import Synchronization

/// An entry of a mailbox and a node of its linked list, so posting does not allocate.
@usableFromInline
package class Envelope: @unchecked Sendable {  // `next` belongs to the sender until `post`, then to the drain
  /// The address of the previously posted envelope; after `take`, the address of the envelope
  /// posted next.
  @exclusivity(unchecked) fileprivate var next: UInt = 0
  /// True if deliveries remain, so the drain opens this envelope next. Owned by the context.
  @exclusivity(unchecked) final var isUnfinished = false
  /// The priority level of the envelope's most urgent message, see *Priorities*.
  fileprivate let level = Atomic<UInt16>(0)

  @usableFromInline
  init() {}

  /// Runs the envelope's deliveries on the context. Returns their number.
  func open(in mailbox: Mailbox) -> Int { 0 }

  /// Called at the end of a drain if a sender is still writing its message into this envelope.
  /// Returns true if that sender will wake the context; false if the sender has finished by now.
  func awaitsSender() -> Bool { false }

  /// Runs a delivery that was deferred because its target was busy.
  func resume(_ index: Int, in mailbox: Mailbox) {}

  /// The message's selector, which ``DeliveryBuffer/latestPerSelector`` compares.
  var selector: MessageSelector? { nil }

  /// Reports the envelope's deliveries as skipped.
  func giveUp(_ reason: DeliveryReport.SkipReason) {}

  /// Records that the envelope contains, or will contain, a message of this level.
  final func raise(to level: UInt16) { _ = Mailbox.raise(self.level, to: level) }

  final func forgetLevel() { level.store(0, ordering: .releasing) }
}

/// The messages of one proxy for one context, in sending order.
///
/// Any thread posts without a lock, by one exchange of a pointer. The first envelope in an empty
/// mailbox wakes the context. The drain takes all posted envelopes, restores their order and opens
/// them. After `context.turn` deliveries it yields to other work of the context.
///
/// Threads share `head`, one word:
///
///     asleep ──post, wakes──▶ address of the envelope posted last ──take──▶ awake
///        ▲                       ▲ │ post                     ▲              │ │
///        │                       └─┘                          └─────post─────┘ │
///        └──────────────────────────────sleep──────────────────────────────────┘
///
/// - Only `post` leaves the `asleep` state, and it schedules a drain. In every other state exactly
///   one drain is running, scheduled, or to be scheduled by a sender (``Envelope/awaitsSender()``),
///   so the drain's state has a single owner.
/// - Only the drain calls `take` and `sleep`. Falling asleep is an exchange that expects `awake`.
///   It fails after a post, so no message is missed.
/// - `head` owns one reference to each posted envelope; `take` passes these references to the
///   drain. A post releases, and a take acquires, the posting thread's earlier writes.
/// - Exception: a context with priorities can be woken while it is awake. Its drains still run one
///   after another, and a drain that finds nothing falls asleep again.
@usableFromInline
package final class Mailbox: @unchecked Sendable {  // atomic, immutable, or owned by the drain (see the marks)
  package let context: any DeliveryContext
  @usableFromInline let hasPriority: Bool
  // Copies of the context's properties, which avoid dynamic dispatch in a drain.
  /// `nil` if the context runs several mailboxes in parallel.
  private let contextObject: ObjectIdentifier?
  private let turn: Int

  // MARK: - Shared state (atomic)

  /// The address of the envelope posted last, or one of the two states below.
  private let head = Atomic<UInt>(Mailbox.asleep)
  private static let asleep: UInt = 0
  private static let awake: UInt = 1
  private let raised = Atomic<UInt16>(0)
  /// The number of deliveries run so far. Written by the drain, read by any thread.
  private let deliveries = Atomic<Int>(0)
  private let poster = Atomic<UInt>(0)

  // MARK: - Drain state (owned by the drain)

  /// The address of the first taken, unopened envelope. Each envelope links to the next one.
  @exclusivity(unchecked) private var taken: UInt = 0
  @usableFromInline @exclusivity(unchecked) package private(set) var left = 0
  @exclusivity(unchecked) private var turnLevel: UInt16 = 0
  /// The closed gates, see ``SerialGate``.
  @exclusivity(unchecked) var closedGates: [SerialGate] = []

  package init(_ context: any DeliveryContext) {
    self.context = context
    (hasPriority, turn) = (context.hasPriority, context.turn)
    contextObject = context.isConcurrent ? nil : context.identity
    ThreadController.current?.meet(context)
  }

  package var delivered: Int { deliveries.load(ordering: .acquiring) }

  @usableFromInline
  func noteDeliveries(_ count: Int = 1) {
    assert(count >= 0 && isOnContext, "deliveries are counted on the context")
    deliveries.store(deliveries.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }

  /// True if the running code is on the context. On a concurrent context, true only in a drain of
  /// this mailbox, since waiting for another mailbox of the context cannot deadlock.
  package var isCurrent: Bool {
    contextObject == nil ? HeldContext.contains(ObjectIdentifier(self)) : context.isCurrent
  }

  /// The identity that a thread holds while it drains, used to detect deadlocks.
  var heldIdentity: ObjectIdentifier { contextObject ?? ObjectIdentifier(self) }

  /// True if the running code is in a drain of the context. Only for assertions.
  var isOnContext: Bool { HeldContext.contains(heldIdentity) }

  /// The reason why blocking on the context would deadlock; `nil` if no deadlock is known.
  package var deadlock: String? {
    if isCurrent { return "the caller runs on the \(context.name) and would wait for it" }
    return context.waitsForCaller ? "the caller runs on the target queue of the \(context.name)" : nil
  }

  deinit {
    // No other thread uses the mailbox now. Envelopes remain if the context dropped its drain.
    _ = take()
    while let envelope = next() { withExtendedLifetime(envelope) {} }
  }

  /// True if nothing is queued and no drain is running or scheduled.
  var isAsleep: Bool { head.load(ordering: .acquiring) == Mailbox.asleep }

  /// The address of the envelope posted last, or 0 if it was taken. Only for comparison, since the
  /// envelope may be deallocated at any time.
  package var last: UInt {
    let last = head.load(ordering: .relaxed)
    return last <= Mailbox.awake ? 0 : last
  }

  /// True if the context is awake and has taken everything posted.
  var hasNothingNew: Bool { head.load(ordering: .acquiring) == Mailbox.awake }

  /// True if the drain has taken envelopes that it has not opened yet. Called on the context.
  var hasTaken: Bool { taken != 0 }

  /// The number of the `DeliveryGroup` that posted last. Only a hint, since it is set before
  /// posting.
  var lastGroup: UInt {
    get { poster.load(ordering: .relaxed) }
    set { poster.store(newValue, ordering: .relaxed) }
  }

  /// Adds a message to a queued envelope, and wakes the context if necessary. `add` returns true if
  /// the context waits for this sender. Once `add` has returned, the context owns the envelope.
  @inline(__always)
  func adding(to envelope: Envelope, _ add: () -> Bool) {
    let level = senderLevel
    envelope.raise(to: level)
    let isAwaited = add()
    // The drain gets the raised level, since a drain below the envelope's level would not open it.
    if !noteAdded(level), isAwaited { wake(raised.load(ordering: .acquiring)) }
  }

  /// Wakes the context, if necessary, for a message in a queued envelope. Returns true if the
  /// context was woken.
  @discardableResult
  func noteAdded(_ level: UInt16) -> Bool {
    guard raise(to: level) else { return false }
    wake(level)
    return true
  }

  /// Appends an envelope; `level` is the sender's by default.
  func post(_ envelope: consuming Envelope, _ level: UInt16? = nil) {
    let level = level ?? senderLevel
    envelope.raise(to: level)
    let wasAsleep = push(envelope)
    if raise(to: level) || wasAsleep { wake(level) }
  }

  /// Appends an envelope. Returns true if the mailbox was asleep.
  @inline(__always)
  private func push(_ envelope: consuming Envelope) -> Bool {
    // Passes on the sender's own reference, so sender and context do not contend for the count.
    let envelope = Unmanaged.passRetained(envelope)
    let link = UInt(bitPattern: envelope.toOpaque())
    assert(link > Mailbox.awake, "no envelope has an address that is a state")
    var last = head.load(ordering: .relaxed)
    while true {
      envelope._withUnsafeGuaranteedRef { $0.next = last <= Mailbox.awake ? 0 : last }
      let (done, found) = head.weakCompareExchange(
        expected: last, desired: link, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
      if done { return last == Mailbox.asleep }
      last = found
    }
  }

  // MARK: - Priorities

  // Every message is opened by a drain of at least its sender's priority. `raised` is the highest
  // level at which a drain has been requested. Drains of lower levels stop.
  //
  // A sender records its level in the envelope and posts it. Then it raises `raised` to its level.
  // If this increased `raised`, or if the mailbox was asleep, the sender wakes the context.
  //
  // A drain stops if `raised` is above its level. A drain also stops before an envelope above its
  // level, and raises `raised` to the envelope's level. Without envelopes, a drain sets `raised` to
  // 0 and falls asleep. If an envelope was posted in between, the drain restores `raised` and takes
  // that envelope.

  /// The level of a priority in `raised`. Level 0 is below all priorities.
  static func level(_ priority: TaskPriority) -> UInt16 { UInt16(priority.rawValue) + 1 }

  /// The level of the running code; 0 on contexts without priorities.
  var senderLevel: UInt16 { hasPriority ? Mailbox.currentLevel : 0 }

  // The layout of `TaskPriority` is known only at run time, so this slow code is not inlined.
  @inline(never)
  private static var currentLevel: UInt16 { level(Task.currentPriority) }

  @inline(never)
  func wake(_ level: UInt16) {
    context.wake(self, hasPriority ? TaskPriority(rawValue: UInt8(max(level, 1) - 1)) : .medium)
  }

  /// True if a drain of higher priority has been requested.
  @usableFromInline
  var isOvertaken: Bool { hasPriority && raised.load(ordering: .acquiring) > turnLevel }

  /// True if a drain of higher priority must open the envelope. Requests that drain if necessary.
  func leavesToHigher(_ envelope: Envelope) -> Bool {
    assert(isOnContext, "the drain's state has one owner")
    guard hasPriority else { return false }
    let level = envelope.level.load(ordering: .acquiring)
    guard level > turnLevel else { return isOvertaken }
    noteAdded(level)
    return true
  }

  private func raise(to level: UInt16) -> Bool { Mailbox.raise(raised, to: level) }

  fileprivate static func raise(_ word: borrowing Atomic<UInt16>, to level: UInt16) -> Bool {
    word.load(ordering: .acquiring) < level && word.max(level, ordering: .acquiringAndReleasing).oldValue < level
  }

  // MARK: - On the context

  /// Opens the posted envelopes. Called on the context, once for each `wake` and at its priority.
  package func drain(_ priority: TaskPriority) { drain(hasPriority ? Mailbox.level(priority) : 0) }

  /// Drains at a level; 0 on contexts without priorities.
  package func drain(_ level: UInt16 = 0) {
    HeldContext.hold(heldIdentity) {
      turnLevel = level
      _ = raise(to: level)
      left = turn
      repeat {
        if isOvertaken { return }
        while let envelope = next() {
          if leavesToHigher(envelope) { return putBack(envelope) }
          left -= max(envelope.open(in: self), 1)
          if envelope.isUnfinished { putBack(envelope) }
          if left <= 0 { return wake(turnLevel) }
          if envelope.isUnfinished, !isOvertaken, envelope.awaitsSender() { return }
        }
      } while take() || !sleep()
    }
  }

  // For contexts that run each delivery separately, in an order of their choice:

  /// Takes the posted envelopes, in order, and falls asleep, so the next post wakes the context.
  /// The caller ensures that no other thread posts during the call.
  package func takePosted() -> [Envelope] {
    var envelopes: [Envelope] = []
    if take() { while let envelope = next() { envelopes.append(envelope) } }
    _ = fallAsleep()
    return envelopes
  }

  /// Opens an envelope taken by ``takePosted()``. Called on the context.
  package func open(_ envelope: Envelope) {
    HeldContext.hold(heldIdentity) {
      left = turn
      repeat { _ = envelope.open(in: self) } while envelope.isUnfinished
    }
  }

  private func next() -> Envelope? {
    guard let pointer = UnsafeRawPointer(bitPattern: taken) else { return nil }
    let envelope = Unmanaged<Envelope>.fromOpaque(pointer).takeRetainedValue()
    taken = envelope.next
    return envelope
  }

  private func putBack(_ envelope: Envelope) {
    envelope.next = taken
    taken = UInt(bitPattern: Unmanaged.passRetained(envelope).toOpaque())
  }

  /// Takes the posted envelopes and restores their order. Returns false if there were none.
  private func take() -> Bool {
    var link = head.exchange(Mailbox.awake, ordering: .acquiringAndReleasing)
    guard link > Mailbox.awake else { return false }
    while let pointer = UnsafeRawPointer(bitPattern: link) {
      let envelope = Unmanaged<Envelope>.fromOpaque(pointer).takeUnretainedValue()
      (link, envelope.next, taken) = (envelope.next, taken, link)
    }
    return true
  }

  private func sleep() -> Bool {
    guard hasPriority else { return fallAsleep() }
    guard hasNothingNew else { return false }
    let found = raised.exchange(0, ordering: .acquiringAndReleasing)
    if fallAsleep() { return true }
    raised.max(found, ordering: .acquiringAndReleasing)
    return false
  }

  private func fallAsleep() -> Bool {
    assert(taken == 0, "a mailbox that has taken something does not fall asleep")
    return head.compareExchange(
      expected: Mailbox.awake, desired: Mailbox.asleep, successOrdering: .acquiringAndReleasing,
      failureOrdering: .relaxed
    ).exchanged
  }
}
