// Mailbox.swift: many messages for one context in one hop.
// Layer: Delivery. See DESIGN.md, "Delivery".

import Synchronization

/// Something that waits in a mailbox for its turn on the context.
///
/// Also a link of the mailbox's list, so that posting allocates nothing.
@usableFromInline
package class Envelope: @unchecked Sendable {  // `next` belongs to whoever holds the list that the envelope is in
  @exclusivity(unchecked) fileprivate var next: UInt = 0
  /// Whether it has deliveries left after it was opened: then it is opened again, before all others. The context's.
  @exclusivity(unchecked) package final var isUnfinished = false

  @usableFromInline
  package init() {}

  /// Makes the envelope's deliveries, on the context. Gives how many there were.
  package func open(in mailbox: Mailbox) -> Int { 0 }

  /// Makes one of its deliveries, which had been put off since its target was still busy.
  package func resume(_ index: Int, in mailbox: Mailbox) {}

  /// Which messages it would be the same as for a buffer that keeps the latest of each.
  package var selector: MessageSelector? { nil }

  /// Says that its deliveries will not be made.
  package func giveUp(_ reason: DeliveryReport.SkipReason) {}
}

/// The messages of one proxy that wait for one context, first sent first.
///
/// Any thread posts, by one exchange of a pointer and without a lock. The first envelope in an empty mailbox wakes the
/// context; those that follow find it awake. On the context everything that has come is taken at once, put in the order
/// of its posting, and opened; after a turn of `context.turn` deliveries the mailbox goes to the end of its context's
/// line, so that a flood does not keep others out.
@usableFromInline
package final class Mailbox: @unchecked Sendable {
  // `head` is atomic; everything else belongs to the one drain that is under way, which `head` being busy stands for.

  package let context: any DeliveryContext

  /// The envelope posted last, or one of the two words below.
  private let head = Atomic<UInt>(Mailbox.asleep)
  private static let asleep: UInt = 0
  private static let awake: UInt = 1

  /// So many deliveries in one turn are a stream: then it is looked so often whether more comes, instead of once.
  private static let streamLength = 16
  private static let streamLooks = 16

  /// See ``lastGroup``.
  private let poster = Atomic<UInt>(0)

  /// What has been taken and not been opened yet, first posted first.
  @exclusivity(unchecked) private var taken: UInt = 0
  /// How many deliveries the turn has left, when an envelope is opened, and its priority.
  @usableFromInline @exclusivity(unchecked) package private(set) var left = 0
  @exclusivity(unchecked) private var priority = TaskPriority.medium
  /// How many deliveries the turn has made, those of the open envelope left out, and how often it has been looked since whether
  /// more comes.
  @exclusivity(unchecked) private var made = 0
  @exclusivity(unchecked) private var looks = 0
  /// How many targets have had their turn: written by the drain, read by anyone.
  private let turns = Atomic<Int>(0)
  /// The gates of targets that run a method which suspends.
  private var closed: [SerialGate] = []

  private let probe: any ContextProbe
  /// Whether turns have a priority: that of the context's tasks.
  @usableFromInline package let hasPriority: Bool
  /// See "Priorities" below.
  private let raised = Atomic<UInt16>(0)

  package init(_ context: any DeliveryContext) {
    self.context = context
    probe = context.makeProbe()
    hasPriority = context.hasPriority
  }

  /// How many targets have had their turn, for those who want to know whether anything still happens.
  package var delivered: Int { turns.load(ordering: .acquiring) }

  /// Counts a turn. Called on the context, by its only drain.
  @usableFromInline
  package func noteTurn() { turns.store(turns.load(ordering: .relaxed) &+ 1, ordering: .releasing) }

  /// Whether the running code is on the context.
  ///
  /// Where a context runs several mailboxes at a time, waiting for another is no deadlock: there only this mailbox counts.
  package var isCurrent: Bool {
    context.isConcurrent ? HeldContext.contains(ObjectIdentifier(self)) : probe.isCurrent
  }

  /// Why the running code would wait for its own end if it blocked until the context has done something; `nil` when it
  /// would not, as far as is known.
  package var deadlock: String? {
    if isCurrent { return "the caller holds the \(context.name) that it would wait for" }
    return probe.waitsForCaller ? "the \(context.name) that the caller would wait for targets one that it holds" : nil
  }

  deinit {
    // Nobody posts any more and no drain is under way; a context that threw its work away may have left something.
    _ = take()
    while let envelope = next() { withExtendedLifetime(envelope) {} }
  }

  /// Whether nothing waits and no drain is under way.
  package var isAsleep: Bool { head.load(ordering: .acquiring) == Mailbox.asleep }

  /// The address of the envelope posted last, as long as it has not been taken; 0 when nothing has been posted since.
  ///
  /// Only good for comparing: the envelope may be gone at any moment.
  package var last: UInt {
    let last = head.load(ordering: .relaxed)
    return last <= Mailbox.awake ? 0 : last
  }

  /// Whether the context is awake and has taken all that was posted.
  package var hasNothingNew: Bool { head.load(ordering: .acquiring) == Mailbox.awake }

  /// Whether something has been taken that has not been opened. Asked on the context.
  package var hasTaken: Bool { taken != 0 }

  /// Who posted the last message that was plain, by a number of its own: a hint, which another sender may change before
  /// its message is there.
  package var lastGroup: UInt {
    get { poster.load(ordering: .relaxed) }
    set { poster.store(newValue, ordering: .relaxed) }
  }

  /// Adds to an envelope that waits, as if by ``post(_:)``. Gives what `add` does: whether it could.
  package func adding(_ add: () -> Bool) -> Bool {
    guard hasPriority else { return add() }
    var isAdded = false
    wake(Task.currentPriority) {
      isAdded = add()
      return false
    }
    return isAdded
  }

  /// Adds an envelope behind all that wait.
  package func post(_ envelope: Envelope) {
    if hasPriority {
      post(envelope, Task.currentPriority)
    } else if push(envelope) {
      context.wake(self, .medium)
    }
  }

  /// The same with a priority of its own, where the context has any.
  package func post(_ envelope: Envelope, _ priority: TaskPriority) { wake(priority) { push(envelope) } }

  /// Adds an envelope. `true` when nothing waited and no drain was under way.
  @inline(__always)
  private func push(_ envelope: Envelope) -> Bool {
    let link = UInt(bitPattern: Unmanaged.passRetained(envelope).toOpaque())
    var last = head.load(ordering: .relaxed)
    while true {
      envelope.next = last <= Mailbox.awake ? 0 : last
      let (done, found) = head.weakCompareExchange(
        expected: last, desired: link, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
      if done { return last == Mailbox.asleep }
      last = found
    }
  }

  // MARK: Priorities

  // No message is opened in a turn of a lower priority than its sender's. `raised` holds the highest level for which a turn
  // is under way or has been, or is about to be, asked for; a turn of a lower one opens nothing more.
  //
  //     sender                               turn
  //     raises (1)                           opens what it has taken while nothing is raised above it
  //     puts the message in                  takes what has come
  //     raises again (2)                     nothing: lowers `raised` to 0 and falls asleep, or, when something has come
  //     wakes, if 1 or 2 did raise,            meanwhile, puts back what it found
  //       or the mailbox was asleep
  //
  // (1) comes before the message, so that no lower turn opens it. A turn may fall asleep between (1) and the message,
  // and another sender of a lower priority wake the mailbox: then (2) raises once more.

  /// The level of a priority in `raised`; 0 is below all.
  private static func level(_ priority: TaskPriority) -> UInt16 { UInt16(priority.rawValue) + 1 }

  /// Whether somebody has asked, or is about to ask, for a turn of a higher priority.
  @usableFromInline
  package var isOvertaken: Bool { hasPriority && raised.load(ordering: .acquiring) > Mailbox.level(priority) }

  /// Wakes the context for what `put` puts in, unless a turn of that priority is to come or under way.
  ///
  /// - Parameter put: gives whether the mailbox was asleep.
  @inline(never)
  private func wake(_ priority: TaskPriority, for put: () -> Bool) {
    let wasRaised = raise(to: priority)
    let wasAsleep = put()
    if raise(to: priority) || wasRaised || wasAsleep { context.wake(self, priority) }
  }

  private func raise(to priority: TaskPriority) -> Bool {
    let level = Mailbox.level(priority)
    return raised.load(ordering: .acquiring) < level
      && raised.max(level, ordering: .acquiringAndReleasing).oldValue < level
  }

  // MARK: On the context

  /// Opens what waits, for one turn. Called by the context, once for each time that it was woken.
  ///
  /// - Parameter priority: that of the turn. What waits with a higher one has woken the context again, for a turn that
  ///   takes everything from there on.
  package func drain(_ priority: TaskPriority = .medium) {
    HeldContext.hold(context.isConcurrent ? ObjectIdentifier(self) : context.identity.object) {
      self.priority = priority
      if hasPriority { _ = raise(to: priority) }
      left = context.turn
      made = 0
      looks = 0
      repeat {
        if isOvertaken { return }
        while let envelope = next() {
          let count = max(envelope.open(in: self), 1)
          (made, left) = (made + count, left - count)
          if envelope.isUnfinished { putBack(envelope) }
          if left <= 0 {
            return context.wake(self, priority)
          }
          if isOvertaken { return }
        }
        if take() {
          noteMore()
        } else if !waitsForMore(), sleep() {
          return
        }
      } while true
    }
  }

  /// Gives the processor up before the context falls asleep or closes a batch: who is about to send goes first, and is spared a
  /// wake-up. `false` when that has been done often enough, or nothing was delivered. Called on the context.
  ///
  /// - Parameter more: how many deliveries the envelope has made that is open.
  package func waitsForMore(after more: Int = 0) -> Bool {
    let made = made + more
    guard made > 0, looks < (made >= Mailbox.streamLength ? Mailbox.streamLooks : 1) else { return false }
    looks += 1
    yieldProcessor()
    return true
  }

  /// Says that something has come: a stream is waited for anew. Called on the context.
  ///
  /// - Parameter more: as for ``waitsForMore(after:)``.
  package func noteMore(after more: Int = 0) { if made + more >= Mailbox.streamLength { looks = 0 } }

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

/// Keeps the methods of one target from overlapping: while one of them is suspended, the messages behind it wait here.
///
/// Touched on the context only, by the drain that is under way; whether it is closed is also asked elsewhere.
package final class SerialGate: @unchecked Sendable {
  private let closed = Atomic<Bool>(false)
  package fileprivate(set) var isClosed: Bool {
    get { closed.load(ordering: .acquiring) }
    set { closed.store(newValue, ordering: .releasing) }
  }
  private var parked = FirstInFirstOut<(envelope: Envelope, index: Int)>()

  package init() {}

  fileprivate func park(_ envelope: Envelope, _ index: Int) { parked.append((envelope, index)) }
  fileprivate func putBack(_ envelope: Envelope, _ index: Int) { parked.putBack((envelope, index)) }
  fileprivate func next() -> (envelope: Envelope, index: Int)? { parked.next() }
}

extension Mailbox {
  /// Whether some target runs a method that suspends. Asked on the context.
  package var hasClosedGates: Bool { !closed.isEmpty }

  /// The gates of targets that run a method which suspends. Asked on the context.
  package var closedGates: [SerialGate] { closed }

  /// Puts a delivery off while its target's gate is closed. `false` when it is open. Called on the context.
  package func park(_ envelope: Envelope, _ index: Int, at gate: SerialGate) -> Bool {
    guard gate.isClosed else { return false }
    gate.park(envelope, index)
    return true
  }

  /// Closes a target's gate and puts a delivery off, before all others that wait there. Called on the context.
  package func close(_ gate: SerialGate, before envelope: Envelope, _ index: Int) {
    close(gate)
    gate.putBack(envelope, index)
  }

  /// Closes a target's gate until ``reopen(_:)``. Called on the context.
  package func close(_ gate: SerialGate) {
    gate.isClosed = true
    closed.append(gate)
  }

  /// Says, from anywhere, that a target's method has ended: what was put off goes on.
  package func reopen(_ gate: SerialGate) { post(GateOpening(gate)) }

  fileprivate func open(_ gate: SerialGate) -> Int {
    gate.isClosed = false
    closed.removeAll { $0 === gate }
    var count = 0
    while !gate.isClosed, let parked = gate.next() {
      parked.envelope.resume(parked.index, in: self)
      count += 1
    }
    return count
  }
}

/// The news that a method which suspended has ended.
private final class GateOpening: Envelope, @unchecked Sendable {  // immutable
  private let gate: SerialGate
  init(_ gate: SerialGate) { self.gate = gate }
  override func open(in mailbox: Mailbox) -> Int { mailbox.open(gate) }
}
