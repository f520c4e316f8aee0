// Mailbox.swift: many messages for one context in one hop.

import Synchronization

/// Something that waits in a mailbox for its turn on the context. Also a link of the mailbox's list, so that posting allocates
/// nothing.
@usableFromInline
package class Envelope: @unchecked Sendable {  // `next` is its sender's until it is posted, then the drain's
  /// The address of the envelope posted before; once taken, of the one posted after.
  @exclusivity(unchecked) fileprivate var next: UInt = 0
  /// Whether deliveries are left after it was opened: then it is opened again, before all others. The context's.
  @exclusivity(unchecked) final var isUnfinished = false
  /// The level of its most urgent message: a turn of a lower level does not open it. See "Priorities" in ``Mailbox``.
  fileprivate let level = Atomic<UInt16>(0)

  @usableFromInline
  init() {}

  /// Makes its deliveries, on the context; returns how many.
  func open(in mailbox: Mailbox) -> Int { 0 }

  /// Notes that the context waits for a sender that has not yet written its message and then wakes the context; `false` when it
  /// has. Called on the context, last in a turn, for an envelope that is unfinished though the turn is not over.
  func awaitsSender() -> Bool { false }

  /// Makes a delivery that was put off because its target was busy.
  func resume(_ index: Int, in mailbox: Mailbox) {}

  /// The message that a later one replaces under ``DeliveryBuffer/latestPerSelector``.
  var selector: MessageSelector? { nil }

  /// Notes that its deliveries will not be made.
  func giveUp(_ reason: DeliveryReport.SkipReason) {}

  /// Notes that a message of that level is in it, or about to be.
  final func raise(to level: UInt16) { _ = Mailbox.raise(self.level, to: level) }

  final func forgetLevel() { level.store(0, ordering: .releasing) }
}

/// The messages of one proxy that wait for one context, first sent first.
///
/// Any thread posts, with one exchange of a pointer and without a lock. The first envelope in an empty mailbox wakes the context.
/// There everything posted is taken at once, put in order and opened; after `context.turn` deliveries the mailbox goes to the end
/// of its context's line, so that a flood does not keep others out.
///
/// Threads meet in `head`, one word:
///
///     asleep ──post, wakes──▶ address of the envelope posted last ──take──▶ awake
///        ▲                       ▲ │ post                     ▲              │ │
///        │                       └─┘                          └─────post─────┘ │
///        └──────────────────────────────sleep──────────────────────────────────┘
///
/// - Only a post leads away from `asleep`, and it wakes the context. So any other word stands for one drain that runs, is to come,
///   or that a sender is to begin (``Envelope/awaitsSender()``), and the drain's state has one owner at a time.
/// - Only the drain takes and falls asleep. It falls asleep by an exchange that expects `awake` and fails after a post in between:
///   no message is left behind.
/// - The word, and then the drain, hold one reference on each envelope. A post releases, and a take acquires, what the posting
///   thread did before.
/// - With priorities a context may be woken again while it is awake. Its turns still come one after another: a drain that finds
///   nothing falls asleep again.
@usableFromInline
package final class Mailbox: @unchecked Sendable {  // atomic, immutable, or the drain's (see the marks)
  package let context: any DeliveryContext
  @usableFromInline let hasPriority: Bool
  // Copies of the context's properties, so that a turn does not ask for them.
  /// `nil` where the context runs several mailboxes in parallel.
  private let contextObject: ObjectIdentifier?
  private let turn: Int

  // MARK: Where threads meet

  /// The address of the envelope posted last, or one of the two words below.
  private let head = Atomic<UInt>(Mailbox.asleep)
  private static let asleep: UInt = 0
  private static let awake: UInt = 1
  private let raised = Atomic<UInt16>(0)
  /// How many deliveries have been made: written by the drain, read by anyone.
  private let deliveries = Atomic<Int>(0)
  private let poster = Atomic<UInt>(0)

  // MARK: The drain's

  /// The address of the first taken envelope that has not been opened; each leads to the one posted after it.
  @exclusivity(unchecked) private var taken: UInt = 0
  @usableFromInline @exclusivity(unchecked) package private(set) var left = 0
  @exclusivity(unchecked) private var turnLevel: UInt16 = 0
  /// The closed gates, whose targets run a suspending method or are run by a sender.
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

  /// Whether the running code is on the context; where that runs several mailboxes in parallel, whether it is in this one's turn,
  /// since waiting for another is no deadlock.
  package var isCurrent: Bool {
    contextObject == nil ? HeldContext.contains(ObjectIdentifier(self)) : context.isCurrent
  }

  /// What a thread holds while it makes one of the mailbox's deliveries.
  var heldIdentity: ObjectIdentifier { contextObject ?? ObjectIdentifier(self) }

  /// Whether the running code is in a turn of the context. For assertions.
  var isOnContext: Bool { HeldContext.contains(heldIdentity) }

  /// Why the running code would wait for itself if it blocked until the context has done something; `nil` if not, as far as is
  /// known.
  package var deadlock: String? {
    if isCurrent { return "the caller holds the \(context.name) that it would wait for" }
    return context.waitsForCaller ? "the \(context.name) that the caller would wait for targets one that it holds" : nil
  }

  deinit {
    // Nobody posts any more and no drain runs, but a context that dropped its work may have left something.
    _ = take()
    while let envelope = next() { withExtendedLifetime(envelope) {} }
  }

  /// Whether nothing waits and no drain runs.
  var isAsleep: Bool { head.load(ordering: .acquiring) == Mailbox.asleep }

  /// The address of the envelope posted last; 0 once taken. For comparison only: the envelope may be gone at any moment.
  package var last: UInt {
    let last = head.load(ordering: .relaxed)
    return last <= Mailbox.awake ? 0 : last
  }

  /// Whether the context is awake and has taken everything posted.
  var hasNothingNew: Bool { head.load(ordering: .acquiring) == Mailbox.awake }

  /// Whether something is taken and not opened. Asked on the context.
  var hasTaken: Bool { taken != 0 }

  /// A number of the poster of the last plain message: a hint, which another sender may overwrite before its message is there.
  var lastGroup: UInt {
    get { poster.load(ordering: .relaxed) }
    set { poster.store(newValue, ordering: .relaxed) }
  }

  /// Adds to an envelope that waits, with the effects of ``post(_:)``. `add` returns whether the context waits for this, see
  /// ``Envelope/awaitsSender()``; from then on the envelope is the context's.
  @inline(__always)
  func adding(to envelope: Envelope, _ add: () -> Bool) {
    let level = senderLevel
    envelope.raise(to: level)
    let isAwaited = add()
    // A turn of a level below that of the waiting one would leave everything to a higher one.
    if !noteAdded(level), isAwaited { wake(raised.load(ordering: .acquiring)) }
  }

  /// Notes that a message of that level, noted in its envelope, is in one that waits. Returns whether the context was woken.
  @discardableResult
  func noteAdded(_ level: UInt16) -> Bool {
    guard raise(to: level) else { return false }
    wake(level)
    return true
  }

  /// Adds an envelope at the end; `level` is that of the sender unless given.
  func post(_ envelope: consuming Envelope, _ level: UInt16? = nil) {
    let level = level ?? senderLevel
    envelope.raise(to: level)
    let wasAsleep = push(envelope)
    if raise(to: level) || wasAsleep { wake(level) }
  }

  /// Adds an envelope. `true` when nothing waited and no drain ran.
  @inline(__always)
  private func push(_ envelope: consuming Envelope) -> Bool {
    // The sender's own reference, so that it does not touch the count at the same time as the context.
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

  // MARK: Priorities

  // No message waits for, or is opened in, a turn of a lower priority than its sender's. `raised` holds the highest level for which
  // a turn runs, has run, or is or will be asked for; a turn of a lower level opens nothing more.
  //
  //     sender                               turn
  //     notes its level in the envelope      opens what it has taken while nothing is raised above it and no envelope has a higher
  //     puts the message in                    level: then it raises to that and leaves everything to the next turn
  //     raises                               takes what has come
  //     wakes, if that raised,               nothing: lowers `raised` to 0 and falls asleep; if something has come meanwhile,
  //       or the mailbox was asleep            restores what it found

  /// The level of a priority in `raised`; 0 is below all.
  static func level(_ priority: TaskPriority) -> UInt16 { UInt16(priority.rawValue) + 1 }

  /// The level of the running code; 0 where turns have no priority.
  var senderLevel: UInt16 { hasPriority ? Mailbox.currentLevel : 0 }

  // A priority's layout is known at run time only: keep code that handles one out of the path of each message.
  @inline(never)
  private static var currentLevel: UInt16 { level(Task.currentPriority) }

  @inline(never)
  func wake(_ level: UInt16) {
    context.wake(self, hasPriority ? TaskPriority(rawValue: UInt8(max(level, 1) - 1)) : .medium)
  }

  /// Whether a turn of a higher priority is, or is about to be, asked for.
  @usableFromInline
  var isOvertaken: Bool { hasPriority && raised.load(ordering: .acquiring) > turnLevel }

  /// Whether to leave an envelope to a turn of a higher priority, which is asked for if needed.
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

  // MARK: On the context

  /// Opens what waits, for one turn. Called by the context once for each wake.
  ///
  /// - Parameter priority: the turn's. Envelopes of a higher one have woken the context again, for a turn that takes everything
  ///   from there on.
  package func drain(_ priority: TaskPriority) { drain(hasPriority ? Mailbox.level(priority) : 0) }

  /// As above for a level; 0 where turns have no priority.
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

  // For a context that makes each delivery a turn of its own, and chooses when.

  /// Takes what has been posted, in order, and falls asleep, so that the next post wakes the context again. The caller makes sure
  /// that nobody posts meanwhile.
  package func takePosted() -> [Envelope] {
    var envelopes: [Envelope] = []
    if take() { while let envelope = next() { envelopes.append(envelope) } }
    _ = fallAsleep()
    return envelopes
  }

  /// Opens an envelope taken by ``takePosted()``, on the context.
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

  /// Takes what has been posted and puts it in order. `false` when there was nothing.
  private func take() -> Bool {
    var link = head.exchange(Mailbox.awake, ordering: .acquiringAndReleasing)
    guard link > Mailbox.awake else { return false }
    while let pointer = UnsafeRawPointer(bitPattern: link) {
      let envelope = Unmanaged<Envelope>.fromOpaque(pointer).takeUnretainedValue()
      (link, envelope.next, taken) = (envelope.next, taken, link)
    }
    return true
  }

  /// Ends the turn unless something has come.
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
