// Mailbox.swift: many messages for one context in one hop.

import Synchronization

/// Something that waits in a mailbox for its turn on the context.
///
/// Also a link of the mailbox's list, so that posting allocates nothing.
@usableFromInline
package class Envelope: @unchecked Sendable {  // `next` is its sender's until it is posted, then the drain's
  /// The address of the one posted before; once taken, of the one posted after.
  @exclusivity(unchecked) fileprivate var next: UInt = 0
  /// Whether it has deliveries left after it was opened: then it is opened again, before all others. The context's.
  @exclusivity(unchecked) final var isUnfinished = false
  /// The level of the most urgent message in it: a turn of a lower one does not open it. See "Priorities" in ``Mailbox``.
  fileprivate let level = Atomic<UInt16>(0)

  @usableFromInline
  init() {}

  /// Makes the envelope's deliveries, on the context. Gives how many there were.
  func open(in mailbox: Mailbox) -> Int { 0 }

  /// Says that the context waits for a sender that has not written its message yet; the sender then wakes it. `false` when
  /// it has. Called on the context, as the last that its turn does, for an envelope that is unfinished though its turn is not over.
  func awaitsSender() -> Bool { false }

  /// Makes one of its deliveries, which had been put off since its target was still busy.
  func resume(_ index: Int, in mailbox: Mailbox) {}

  /// Which messages it would be the same as for a buffer that keeps the latest of each.
  var selector: MessageSelector? { nil }

  /// Says that its deliveries will not be made.
  func giveUp(_ reason: DeliveryReport.SkipReason) {}

  /// Notes that a message of that level is in it, or is about to be.
  final func raise(to level: UInt16) { _ = Mailbox.raise(self.level, to: level) }

  /// Notes that nothing is in it.
  final func forgetLevel() { level.store(0, ordering: .releasing) }
}

/// The messages of one proxy that wait for one context, first sent first.
///
/// Any thread posts, by one exchange of a pointer and without a lock. The first envelope in an empty mailbox wakes the
/// context; those that follow find it awake. On the context everything that has come is taken at once, put in the order
/// of its posting, and opened; after a turn of `context.turn` deliveries the mailbox goes to the end of its context's
/// line, so that a flood does not keep others out.
///
/// Threads meet in `head`, one word:
///
///     asleep ──post, wakes──▶ address of the envelope posted last ──take──▶ awake
///        ▲                       ▲ │ post                     ▲              │ │
///        │                       └─┘                          └─────post─────┘ │
///        └──────────────────────────────sleep──────────────────────────────────┘
///
/// - Only a post leads away from `asleep`, and it wakes the context. So a word that is not `asleep` stands for one drain that
///   is under way or to come, or that a sender is to begin (``Envelope/awaitsSender()``), and what belongs to the drain has one
///   owner at a time.
/// - Only the drain takes and falls asleep. It falls asleep by an exchange that expects `awake`, which a post in between
///   makes fail: no message is left behind with nobody to open it.
/// - The word, and then the drain, hold one reference on each envelope. A post releases what its thread has done before, and
///   a take acquires it.
/// - With priorities a context may be woken again while it is awake. Its turns come one after another all the same: a drain
///   that finds nothing falls asleep again.
@usableFromInline
package final class Mailbox: @unchecked Sendable {  // atomic, immutable, or the drain's (see the marks)
  package let context: any DeliveryContext
  /// Whether turns have a priority: that of the context's tasks.
  @usableFromInline let hasPriority: Bool
  // The context's, which a turn need not ask for them.
  /// `nil` where it runs several mailboxes at a time.
  private let contextObject: ObjectIdentifier?
  private let turn: Int

  // MARK: Where threads meet

  /// The address of the envelope posted last, or one of the two words below.
  private let head = Atomic<UInt>(Mailbox.asleep)
  private static let asleep: UInt = 0
  private static let awake: UInt = 1
  /// See "Priorities" below.
  private let raised = Atomic<UInt16>(0)
  /// How many deliveries have been made: written by the drain, read by anyone.
  private let deliveries = Atomic<Int>(0)
  /// See ``lastGroup``.
  private let poster = Atomic<UInt>(0)

  // MARK: The drain's

  /// The address of the first envelope that has been taken and not been opened yet; each leads to the one posted after it.
  @exclusivity(unchecked) private var taken: UInt = 0
  /// How many deliveries the turn has left, when an envelope is opened.
  @usableFromInline @exclusivity(unchecked) package private(set) var left = 0
  /// The turn's level.
  @exclusivity(unchecked) private var turnLevel: UInt16 = 0
  /// The gates that are closed: targets run a method that suspends, or are run by a sender.
  @exclusivity(unchecked) var closedGates: [SerialGate] = []

  package init(_ context: any DeliveryContext) {
    self.context = context
    (hasPriority, turn) = (context.hasPriority, context.turn)
    contextObject = context.isConcurrent ? nil : context.identity.object
    ThreadController.current?.meet(context)
  }

  /// How many deliveries have been made, for those who want to know whether anything still happens.
  package var delivered: Int { deliveries.load(ordering: .acquiring) }

  /// Counts deliveries that have been made. Called on the context, by its only drain.
  @usableFromInline
  func noteDeliveries(_ count: Int = 1) {
    deliveries.store(deliveries.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }

  /// Whether the running code is on the context.
  ///
  /// Where a context runs several mailboxes at a time, waiting for another is no deadlock: there only this mailbox counts.
  package var isCurrent: Bool {
    contextObject == nil ? HeldContext.contains(ObjectIdentifier(self)) : context.isCurrent
  }

  /// Why the running code would wait for its own end if it blocked until the context has done something; `nil` when it
  /// would not, as far as is known.
  package var deadlock: String? {
    if isCurrent { return "the caller holds the \(context.name) that it would wait for" }
    return context.waitsForCaller ? "the \(context.name) that the caller would wait for targets one that it holds" : nil
  }

  deinit {
    // Nobody posts any more and no drain is under way; a context that threw its work away may have left something.
    _ = take()
    while let envelope = next() { withExtendedLifetime(envelope) {} }
  }

  /// Whether nothing waits and no drain is under way.
  var isAsleep: Bool { head.load(ordering: .acquiring) == Mailbox.asleep }

  /// The address of the envelope posted last, as long as it has not been taken; 0 when nothing has been posted since.
  ///
  /// Only good for comparing: the envelope may be gone at any moment.
  package var last: UInt {
    let last = head.load(ordering: .relaxed)
    return last <= Mailbox.awake ? 0 : last
  }

  /// Whether the context is awake and has taken all that was posted.
  var hasNothingNew: Bool { head.load(ordering: .acquiring) == Mailbox.awake }

  /// Whether something has been taken that has not been opened. Asked on the context.
  var hasTaken: Bool { taken != 0 }

  /// Who posted the last message that was plain, by a number of its own: a hint, which another sender may change before
  /// its message is there.
  var lastGroup: UInt {
    get { poster.load(ordering: .relaxed) }
    set { poster.store(newValue, ordering: .relaxed) }
  }

  /// Adds to an envelope that waits, as if by ``post(_:)``.
  ///
  /// - Parameter add: gives whether the context waits for this: see ``Envelope/awaitsSender()``. The envelope is the context's
  ///   from then on.
  @inline(__always)
  func adding(to envelope: Envelope, _ add: () -> Bool) {
    let level = senderLevel
    envelope.raise(to: level)
    let isAwaited = add()
    // A turn of a lower level than the one that waits would leave all to a higher one.
    if !noteAdded(level), isAwaited { wake(raised.load(ordering: .acquiring)) }
  }

  /// Says that a message of that level is in an envelope that waits, which knows of it. Gives whether the context was woken.
  @discardableResult
  func noteAdded(_ level: UInt16) -> Bool {
    guard raise(to: level) else { return false }
    wake(level)
    return true
  }

  /// Adds an envelope behind all that wait.
  func post(_ envelope: consuming Envelope) { post(envelope, senderLevel) }

  /// The same with a level of its own.
  func post(_ envelope: consuming Envelope, _ level: UInt16) {
    envelope.raise(to: level)
    let wasAsleep = push(envelope)
    if raise(to: level) || wasAsleep { wake(level) }
  }

  /// Adds an envelope. `true` when nothing waited and no drain was under way.
  @inline(__always)
  private func push(_ envelope: consuming Envelope) -> Bool {
    // The sender's own reference: it does not touch the count while the context does.
    let envelope = Unmanaged.passRetained(envelope)
    let link = UInt(bitPattern: envelope.toOpaque())
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

  // No message waits for a turn of a lower priority than its sender's, nor is it opened in one. `raised` holds the highest level
  // for which a turn is under way or has been, or is about to be, asked for; a turn of a lower one opens nothing more.
  //
  //     sender                               turn
  //     notes its level in the envelope      opens what it has taken while nothing is raised above it, and no envelope is of
  //     puts the message in                    a higher level: else it raises for that one, and leaves all to the next turn
  //     raises                               takes what has come
  //     wakes, if that did raise,            nothing: lowers `raised` to 0 and falls asleep, or, when something has come
  //       or the mailbox was asleep            meanwhile, puts back what it found

  /// The level of a priority in `raised`; 0 is below all.
  static func level(_ priority: TaskPriority) -> UInt16 { UInt16(priority.rawValue) + 1 }

  /// The level of the running code; 0 where turns have no priority.
  var senderLevel: UInt16 { hasPriority ? Mailbox.currentLevel : 0 }

  // The layout of a priority is known at run time only: code that handles one stands apart from that of each message.
  @inline(never)
  private static var currentLevel: UInt16 { level(Task.currentPriority) }

  @inline(never)
  func wake(_ level: UInt16) {
    context.wake(self, hasPriority ? TaskPriority(rawValue: UInt8(max(level, 1) - 1)) : .medium)
  }

  /// Whether somebody has asked, or is about to ask, for a turn of a higher priority.
  @usableFromInline
  var isOvertaken: Bool { hasPriority && raised.load(ordering: .acquiring) > turnLevel }

  /// Whether the turn is to leave an envelope to one of a higher priority, which is to come then.
  func leavesToHigher(_ envelope: Envelope) -> Bool {
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

  /// Opens what waits, for one turn. Called by the context, once for each time that it was woken.
  ///
  /// - Parameter priority: that of the turn. What waits with a higher one has woken the context again, for a turn that
  ///   takes everything from there on.
  package func drain(_ priority: TaskPriority) { drain(hasPriority ? Mailbox.level(priority) : 0) }

  /// The same for a turn of a level; 0 where turns have no priority.
  package func drain(_ level: UInt16 = 0) {
    HeldContext.hold(contextObject ?? ObjectIdentifier(self)) {
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

  /// Takes what has been posted, first posted first, and falls asleep: so the next post wakes the context again. Who calls it
  /// sees to it that nobody posts meanwhile.
  package func takePosted() -> [Envelope] {
    var envelopes: [Envelope] = []
    if take() { while let envelope = next() { envelopes.append(envelope) } }
    _ = fallAsleep()
    return envelopes
  }

  /// Opens an envelope that was taken so, on the context.
  package func open(_ envelope: Envelope) {
    HeldContext.hold(contextObject ?? ObjectIdentifier(self)) {
      left = turn
      repeat { _ = envelope.open(in: self) } while envelope.isUnfinished
    }
  }

  /// The next envelope of those that were taken.
  private func next() -> Envelope? {
    guard let pointer = UnsafeRawPointer(bitPattern: taken) else { return nil }
    let envelope = Unmanaged<Envelope>.fromOpaque(pointer).takeRetainedValue()
    taken = envelope.next
    return envelope
  }

  /// Puts an envelope before those that were taken.
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
    head.compareExchange(
      expected: Mailbox.awake, desired: Mailbox.asleep, successOrdering: .acquiringAndReleasing,
      failureOrdering: .relaxed
    ).exchanged
  }
}
