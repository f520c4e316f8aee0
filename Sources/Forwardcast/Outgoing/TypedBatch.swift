// TypedBatch.swift: typed messages that follow one another to another context, in one envelope.
// Layer: Outgoing. See DESIGN.md, "Promises of delivery".

import Synchronization

/// Typed messages of one selector and types to all targets of one context, sent one after another while nothing else was
/// posted: what a stream is made of.
///
/// Its group keeps the one that was posted last. Whoever has the right to add (``DeliveryGroup/enter(_:)``) puts the
/// arguments behind those that are there and then counts them, also while the context serves them. The context closes the
/// batch when it has served all, or has to go on to another envelope; so nobody ever waits for anybody.
///
///     sender, with the right to add              context
///     slots[count] = arguments
///     state: number + 1, unless closed    ───▶   end = number; serves position ..< end, then looks again
///     closed: into a new batch            ◀───   state: closed, if number is still end
///
/// `state` is the only word that both write: who finds it changed has lost, and looks again. What a sender wrote before it
/// counted, the context sees after it has read the count.
@usableFromInline
class PlainBatch: Envelope, @unchecked Sendable {
  // `state` is atomic; `count` belongs to who has the right to add; `position` and `end` belong to the context.

  /// Kept alive as a ``Parcel``'s group is.
  @usableFromInline unowned(unsafe) let group: DeliveryGroup
  @usableFromInline let functionType: ObjectIdentifier
  @usableFromInline let capacity: Int
  /// Serves messages from ``position`` to ``end``, until so many deliveries have been made. A function without a context, of
  /// the sender's types.
  @usableFromInline let serve: (PlainBatch, Mailbox, Int) -> Int
  /// How many messages there are to add behind.
  @usableFromInline @exclusivity(unchecked) final var count = 1
  /// How many messages have been counted, a bit that says that they are being served, and one that no more may come.
  private let state = Atomic<Int>(1)
  private static let closed = Int.min
  private static let served = 1 << (Int.bitWidth - 2)
  private static let number = served - 1
  /// The first message that has not been served, and how many have been seen.
  @usableFromInline @exclusivity(unchecked) final var position = 0
  @usableFromInline @exclusivity(unchecked) final var end = 0

  @usableFromInline
  init(
    _ group: DeliveryGroup, _ functionType: ObjectIdentifier, capacity: Int,
    _ serve: @escaping (PlainBatch, Mailbox, Int) -> Int
  ) {
    (self.group, self.functionType, self.capacity, self.serve) = (group, functionType, capacity, serve)
    super.init()
  }

  /// How many messages have been counted.
  @usableFromInline
  final var filled: Int { state.load(ordering: .acquiring) & PlainBatch.number }

  /// Whether the context has opened the batch with nothing taken behind it. Whether it is still open, ``publish()`` says.
  final var isServed: Bool { state.load(ordering: .relaxed) & PlainBatch.served != 0 }

  /// Counts the message that was put behind the others. `false` when the batch was closed before.
  @usableFromInline
  final func publish() -> Bool {
    var found = state.load(ordering: .relaxed)
    while found & PlainBatch.closed == 0 {
      let (done, now) = state.compareExchange(
        expected: found, desired: found + 1, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
      if done {
        count += 1
        return true
      }
      found = now
    }
    return false
  }

  /// Lets no more messages in, unless some have come that have not been seen. `false` when there are such.
  private func close() -> Bool {
    let found = state.load(ordering: .acquiring)
    guard found & PlainBatch.number == end else { return false }
    return found & PlainBatch.closed != 0
      || state.compareExchange(
        expected: found, desired: found | PlainBatch.closed, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed
      ).exchanged
  }

  /// Takes the next message out, in the form that everything else takes.
  @usableFromInline
  func takeNext() -> MessageArguments { BoxedArguments(Invocation(group.selector)) }

  override func open(in mailbox: Mailbox) -> Int {
    // What has been taken behind the batch was posted after its messages: then no more may join them.
    let bit = mailbox.hasTaken ? PlainBatch.closed : PlainBatch.served
    end = state.bitwiseOr(bit, ordering: .acquiringAndReleasing).oldValue & PlainBatch.number
    var made = 0
    isUnfinished = true
    while true {
      if position < end {
        if made >= mailbox.left || mailbox.isOvertaken { return made }
        if group.methodType == functionType, !mailbox.hasClosedGates {
          made += serve(self, mailbox, mailbox.left - made)
        } else {
          made += Parcel(group, only: nil, takeNext(), nil).open(in: mailbox)
        }
      } else if end < capacity, made < mailbox.left, mailbox.hasNothingNew, mailbox.waitsForMore(after: made) {
        look(mailbox, made)
      } else if close() {
        break
      } else {
        look(mailbox, made)
      }
    }
    isUnfinished = false
    return made
  }

  /// Looks for messages that have come since.
  private func look(_ mailbox: Mailbox, _ made: Int) {
    let filled = filled
    if filled > end { mailbox.noteMore(after: made) }
    end = filled
  }
}

/// A batch with the arguments as they are.
@usableFromInline
final class TypedBatch<R, each A>: PlainBatch, @unchecked Sendable {  // as said there; the arguments may cross
  @usableFromInline let slots: UnsafeMutablePointer<Arguments<repeat each A>>

  @inlinable
  init(_ group: DeliveryGroup, _ first: Arguments<repeat each A>, returning: R.Type) {
    let capacity = group.batchCapacity
    slots = .allocate(capacity: capacity)
    slots.initialize(to: first)
    super.init(group, ObjectIdentifier(((repeat each A) -> R).self), capacity: capacity) { batch, mailbox, limit in
      unsafeDowncast(batch, to: TypedBatch<R, repeat each A>.self).serveAll(mailbox, limit)
    }
  }

  deinit {
    // What was counted and not served: the context threw its work away.
    (slots + position).deinitialize(count: filled - position)
    slots.deallocate()
  }

  @usableFromInline
  override func takeNext() -> MessageArguments {
    defer { position += 1 }
    return TypedArguments((slots + position).move(), returning: R.self, crosses: true)
  }

  /// Serves one message after another until all are served or the turn is over. Gives the number of deliveries.
  ///
  /// The weak target of a group that has one step is loaded once, and again whenever nobody else holds it any more.
  @export(implementation) @inline(__always)
  func serveAll(_ mailbox: Mailbox, _ limit: Int) -> Int {
    let (group, steps) = (group, group.steps)
    let only = steps.count == 1 && steps[0].strong == nil ? steps[0] : nil
    let hasPriority = mailbox.hasPriority
    var held: AnyObject?
    var made = 0
    while position < end, made < limit, !(hasPriority && mailbox.isOvertaken) {
      let values = slots + position
      position += 1
      // A target that only this loop holds is to die now, as if it had not been held.
      if held != nil, isKnownUniquelyReferenced(&held) { held = nil }
      if let only {
        group.serve(only, mailbox) { try only.call(values.pointee, returning: R.self, holding: &held) != nil }
      } else {
        for step in steps {
          group.serve(step, mailbox) { try step.call(values.pointee, returning: R.self) != nil }
        }
      }
      made += steps.count
      values.deinitialize(count: 1)
    }
    withExtendedLifetime(held) {}
    return made
  }
}

/// Where the message of a sender goes that has asked for the right to add to a batch.
@usableFromInline
enum BatchPlace {
  /// Into an envelope of its own.
  case alone
  /// Behind the messages of this batch, which the group keeps.
  case behind(Unmanaged<PlainBatch>)
  /// Into a new batch.
  case new
}

extension DeliveryGroup {
  private static let none: UInt = 0
  private static let held: UInt = 1
  @usableFromInline static let largestBatch = 64
  private static let looksForRight = 32

  /// Gives one message to a step.
  ///
  /// - Parameter call: calls its method; `false` when the target has died.
  @export(implementation) @inline(__always)
  func serve(_ step: RouteStep, _ mailbox: Mailbox, _ call: () throws -> Bool) {
    mailbox.noteDelivery()
    // Nothing comes between this look and the method: one that was removed or muted before does not start.
    guard step.isActive else { return noteDropped(step) }
    do { if try !call() { noteDead(step) } } catch { note(error, step) }
  }

  @usableFromInline
  func noteDropped(_ step: RouteStep) { step.queued?.noteDropped() }

  @usableFromInline @inline(never)
  func noteDead(_ step: RouteStep) {
    step.queued?.noteDropped()
    core.removeDead([step.registration.takeUnretainedValue()])
  }

  @usableFromInline @inline(never)
  func note(_ error: any Error, _ step: RouteStep) { core.report(error, selector, step) }

  /// Asks for the right to add to the group's batch, which one sender has at a time; ``post(batch:)`` and
  /// ``added(to:)`` give it back. Who does not get it, or has nothing to add to, posts an envelope of its own.
  ///
  /// A batch is begun when something waits and the last plain message was one of the same group: so a message that is
  /// alone, or stands between others, takes no more memory than it needs. Where batches have been filled, it is enough
  /// that the context is awake.
  @usableFromInline
  func enter(_ functionType: ObjectIdentifier) -> BatchPlace {
    if mailbox.isAsleep || methodType != functionType { return .alone }
    var found = batch.exchange(DeliveryGroup.held, ordering: .acquiringAndReleasing)
    if found == DeliveryGroup.held {
      found = enterLater()
      if found == DeliveryGroup.held { return .alone }
    }
    if let pointer = UnsafeRawPointer(bitPattern: found) {
      let kept = Unmanaged<PlainBatch>.fromOpaque(pointer)
      // The batch is kept from before this look, so no other envelope has its address.
      let isLast =
        found == mailbox.last || kept._withUnsafeGuaranteedRef { $0.isServed } && mailbox.hasNothingNew
      if isLast, kept._withUnsafeGuaranteedRef({ $0.count < $0.capacity }) { return .behind(kept) }
      retire(kept)
    }
    if mailbox.lastGroup == number, mailbox.last != 0 || batchCapacity > DeliveryGroup.smallestBatch { return .new }
    batch.store(DeliveryGroup.none, ordering: .releasing)
    return .alone
  }

  /// Asks again for as long as another sender takes to add its message, unless that one was interrupted.
  @inline(never)
  private func enterLater() -> UInt {
    for _ in 0..<DeliveryGroup.looksForRight where batch.load(ordering: .relaxed) != DeliveryGroup.held {
      let found = batch.exchange(DeliveryGroup.held, ordering: .acquiringAndReleasing)
      if found != DeliveryGroup.held { return found }
    }
    return DeliveryGroup.held
  }

  /// Lets a batch go that nothing can be added to any more. The next one has twice its room, or half of it.
  @usableFromInline
  func retire(_ batch: Unmanaged<PlainBatch>) {
    let isFilled = batch._withUnsafeGuaranteedRef { $0.count * 2 >= $0.capacity }
    batchCapacity =
      isFilled
      ? min(batchCapacity * 2, DeliveryGroup.largestBatch) : max(batchCapacity / 2, DeliveryGroup.smallestBatch)
    batch.release()
  }

  /// Counts the message that was added to the batch, and gives the right to add back. `false`, with the right and
  /// the batch left to the caller, when the batch has been closed meanwhile: the message goes into a new one.
  @usableFromInline
  func added(to last: Unmanaged<PlainBatch>) -> Bool {
    guard mailbox.adding({ last._withUnsafeGuaranteedRef { $0.publish() } }) else { return false }
    batch.store(UInt(bitPattern: last.toOpaque()), ordering: .releasing)
    return true
  }

  /// Posts a new batch, and gives the right to add back.
  @usableFromInline
  func post(batch new: PlainBatch) {
    let kept = Unmanaged.passRetained(new)
    mailbox.post(new)
    batch.store(UInt(bitPattern: kept.toOpaque()), ordering: .releasing)
  }

  /// Lets the batch go with the group.
  func releaseBatch() {
    guard let pointer = UnsafeRawPointer(bitPattern: batch.load(ordering: .acquiring)) else { return }
    Unmanaged<PlainBatch>.fromOpaque(pointer).release()
  }

  /// Sends a message to all of the group.
  @export(implementation) @inline(__always)
  func send<R, each A>(_ arguments: Arguments<repeat each A>, returning: R.Type) {
    switch enter(ObjectIdentifier(((repeat each A) -> R).self)) {
    case .alone: return post(TypedParcel(self, arguments, returning: R.self))
    case .new: break
    case .behind(let last):
      let typed = Unmanaged<TypedBatch<R, repeat each A>>.fromOpaque(last.toOpaque())
      let slot = typed._withUnsafeGuaranteedRef { $0.slots + $0.count }
      slot.initialize(to: arguments)
      if added(to: last) { return }
      slot.deinitialize(count: 1)
      retire(last)
    }
    post(batch: TypedBatch(self, arguments, returning: R.self))
  }
}
