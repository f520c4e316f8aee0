// TypedBatch.swift: consecutive typed messages to one context in one envelope.

import Synchronization

/// A lock-free buffer of consecutive typed messages of one selector to all targets of one context.
/// The buffer is posted as one envelope, and messages may join it afterward.
///
/// The group's ``BatchWord`` has the last posted batch and the number of reserved slots. A sender
/// reserves a slot by incrementing the word, writes its arguments there, and publishes the slot in
/// `places`. The context serves the slots up to the first unpublished one. It closes the batch when
/// all slots are served, or when another envelope is behind the batch. No thread blocks: if a
/// sender is interrupted before it publishes, the context stops serving the batch, and that sender
/// wakes the context later.
///
///     sender                                          context
///     word: number + 1 reserves a slot
///     slots[slot] = arguments
///     places: the slot's bit            ────────▶     serves slots while their bits are set
///     wakes the context if it awaits    ◀────────     a slot is reserved: awaits its sender
///     starts a new batch                ◀────────     none is reserved: removes the batch
///
/// The context, or a sender with a new batch, removes the old batch from the word. The remover then
/// knows the number of reserved slots, stores it in `places`, and releases the word's reference to
/// the batch. A sender with a slot needs no reference: the context keeps the batch until the slot
/// is published.
@usableFromInline
package class PlainBatch: Envelope, @unchecked Sendable {
  // `places` is atomic. The context owns `position` and `end`; a sender owns its unpublished slot.

  /// Retained in the same way as the group of a ``Parcel``.
  @usableFromInline package unowned(unsafe) let group: DeliveryGroup
  @usableFromInline let functionType: ObjectIdentifier
  /// The first slot's number. The last slot's number is constant, so the word alone shows whether
  /// the batch is full.
  @usableFromInline let first: Int
  @usableFromInline let memory: UnsafeMutableRawPointer
  private let stride: Int
  /// Calls a method with the arguments at an address. Captures no values.
  private let run: Run
  /// Deinitializes the arguments at an address; `nil` if their types are trivial.
  private let drop: Drop?
  @usableFromInline typealias Run = (UnsafeRawPointer, Method, _ target: AnyObject) throws -> Void
  @usableFromInline typealias Drop = (UnsafeMutableRawPointer) -> Void
  /// The low bits have one bit for each published slot; the bits below ``first`` are set from the
  /// start. The middle bits are the awaited slot plus 1, or 0. The high bits are the number of
  /// slots, once the batch was removed from the word.
  private let places: Atomic<UInt64>
  private static let awaitedShift: UInt64 = 48
  private static let numberShift: UInt64 = 54
  private static let awaited: UInt64 = 0x3F << awaitedShift
  @usableFromInline static let limit = 48
  /// The index of the next message to serve, and the end of the messages known to be published.
  @usableFromInline @exclusivity(unchecked) final var position: Int
  @usableFromInline @exclusivity(unchecked) final var end: Int

  @usableFromInline
  init(
    _ group: DeliveryGroup, _ functionType: ObjectIdentifier, capacity: Int, _ memory: UnsafeMutableRawPointer,
    stride: Int, _ run: @escaping Run, _ drop: Drop?
  ) {
    (self.group, self.functionType) = (group, functionType)
    (self.memory, self.stride, self.run, self.drop) = (memory, stride, run, drop)
    first = PlainBatch.limit - capacity
    (position, end) = (first, first)
    // The first message is already written.
    places = Atomic(2 << UInt64(first) - 1)
    super.init()
  }

  deinit {
    // If the context released its job unexecuted, drops the published messages that remain.
    if let drop { for place in position..<written { drop(memory + (place - first) * stride) } }
    memory.deallocate()
  }

  private static func written(_ places: UInt64) -> Int { (~(places & (1 << awaitedShift - 1))).trailingZeroBitCount }

  private var written: Int { PlainBatch.written(places.load(ordering: .acquiring)) }

  /// The final number of slots, counting slots below ``first``; 0 while more may be reserved.
  private var number: Int { Int(truncatingIfNeeded: places.load(ordering: .acquiring) &>> PlainBatch.numberShift) }

  /// Publishes a slot. Returns true if the context waits for it.
  final func publish(_ place: Int) -> Bool { note(1 &<< UInt64(place), at: place) }

  /// Sets the final number of slots. Returns true if the context waits for it.
  final func seal(at number: Int) -> Bool { note(UInt64(number) &<< PlainBatch.numberShift, at: number) }

  private func note(_ bits: UInt64, at place: Int) -> Bool {
    let found = places.wrappingAdd(bits, ordering: .acquiringAndReleasing).oldValue
    // Only the sender of the awaited slot wakes the context; senders of later slots must not.
    return found & PlainBatch.awaited == UInt64(place + 1) &<< PlainBatch.awaitedShift
  }

  @usableFromInline
  func takeNext() -> MessageArguments { BoxedArguments(Invocation(group.selector)) }

  override func open(in mailbox: Mailbox) -> Int {
    if places.load(ordering: .relaxed) & PlainBatch.awaited != 0 { stopAwaiting() }
    // Envelopes behind the batch were posted after its messages, so no more messages may join.
    if mailbox.hasTaken { group.takeOut(self) } else { group.noteServed(self) }
    var made = 0
    isUnfinished = true
    while true {
      if position < end {
        if made >= mailbox.left || mailbox.leavesToHigher(self) { return made }
        if group.methodType == functionType, !mailbox.hasClosedGates {
          made += serve(mailbox, mailbox.left - made)
        } else {
          made += Parcel(group, only: nil, takeNext(), nil).open(in: mailbox)
        }
        continue
      }
      end = written
      if position < end { continue }
      if number == position || group.takeOut(self, at: position) { break }
      // A sender is about to publish a slot, or to set the number of slots.
      if written == position, number != position { return made }
    }
    isUnfinished = false
    return made
  }

  /// Serves messages until none remain, `limit` is reached, or a message of higher priority has
  /// arrived. Returns the number of deliveries.
  private func serve(_ mailbox: Mailbox, _ limit: Int) -> Int {
    // Senders write to memory near these counts, so the loop uses locals and stores them once.
    let (group, steps, run, end) = (group, group.steps, run, end)
    let only = steps.count == 1 ? steps[0] : nil
    let hasPriority = mailbox.hasPriority
    var held: AnyObject?
    var (made, next) = (0, position)
    while next < end, made < limit, !(hasPriority && mailbox.isOvertaken) {
      let values = memory + (next - first) * stride
      next += 1
      // If only this loop still retains the target, the target must be deallocated now.
      if held != nil, isKnownUniquelyReferenced(&held) { held = nil }
      if let only {
        if held == nil { held = only.target }
        group.serve(only, held.map { .passUnretained($0) }, values, run)
      } else {
        for step in steps {
          let loaded = step.target
          group.serve(step, loaded.map { .passUnretained($0) }, values, run)
          withExtendedLifetime(loaded) {}
        }
      }
      made += steps.count
      drop?(values)
    }
    withExtendedLifetime(held) {}
    position = next
    mailbox.noteDeliveries(made)
    return made
  }

  override func awaitsSender() -> Bool {
    let place = UInt64(position + 1) &<< PlainBatch.awaitedShift
    let found = places.bitwiseOr(place, ordering: .acquiringAndReleasing).oldValue
    if PlainBatch.written(found) == position, Int(found >> PlainBatch.numberShift) != position { return true }
    stopAwaiting()
    return false
  }

  private func stopAwaiting() { places.bitwiseAnd(~PlainBatch.awaited, ordering: .acquiringAndReleasing) }
}

/// A tagged pointer to a group's batch: the address, the number of reserved slots, and two flags.
/// The number is in bits 48 to 55, which addresses normally do not use, see ``new(_:)``.
struct BatchWord {
  var bits: UInt64

  /// The context has opened the batch and has not taken an envelope behind it.
  static let served: UInt64 = 1
  /// A sender is creating or posting a new batch.
  static let changing: UInt64 = 2
  private static let one: UInt64 = 1 << 48
  private static let number: UInt64 = 0xFF << 48
  private static let marks: UInt64 = 0xF

  /// The word of a new batch before it is posted; `nil` if the batch's address uses the bits of the
  /// number or flags.
  static func new(_ batch: PlainBatch) -> BatchWord? {
    let address = UInt64(UInt(bitPattern: Unmanaged.passUnretained(batch).toOpaque()))
    guard address & (number | marks) == 0 else { return nil }
    return BatchWord(bits: address + UInt64(batch.first + 1) * one + changing)
  }

  var address: UInt { UInt(truncatingIfNeeded: bits & ~(BatchWord.number | BatchWord.marks)) }
  var batch: Unmanaged<PlainBatch>? { UnsafeRawPointer(bitPattern: address).map { .fromOpaque($0) } }
  var number: Int { Int(truncatingIfNeeded: (bits & BatchWord.number) &>> 48) }
  var isServed: Bool { bits & BatchWord.served != 0 }
  var isChanging: Bool { bits & BatchWord.changing != 0 }
  var withOneMore: BatchWord { BatchWord(bits: bits &+ BatchWord.one) }

  func isOf(_ batch: PlainBatch) -> Bool { address == UInt(bitPattern: Unmanaged.passUnretained(batch).toOpaque()) }
}

@usableFromInline
final class TypedBatch<R, each A>: PlainBatch, @unchecked Sendable {  // as for `PlainBatch`; the arguments are Sendable
  @usableFromInline var slots: UnsafeMutablePointer<Arguments<repeat each A>> {
    @export(implementation) @inline(__always) get { memory.assumingMemoryBound(to: Arguments<repeat each A>.self) }
  }

  @inlinable
  init(_ group: DeliveryGroup, _ first: Arguments<repeat each A>, capacity: Int, returning: R.Type) {
    let slots = UnsafeMutablePointer<Arguments<repeat each A>>.allocate(capacity: capacity)
    slots.initialize(to: first)
    super.init(
      group, ObjectIdentifier(((repeat each A) -> R).self), capacity: capacity, UnsafeMutableRawPointer(slots),
      stride: MemoryLayout<Arguments<repeat each A>>.stride,
      { values, method, target in
        let typed = unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self)
        _ = try typed.call(target, values.assumingMemoryBound(to: Arguments<repeat each A>.self).pointee)
      },
      _isPOD(Arguments<repeat each A>.self)
        ? nil : { $0.assumingMemoryBound(to: Arguments<repeat each A>.self).deinitialize(count: 1) })
  }

  @usableFromInline
  override func takeNext() -> MessageArguments {
    defer { position += 1 }
    return (slots + (position - first)).move().shared(returning: R.self, crosses: true)
  }
}

@usableFromInline
enum BatchPlace {
  /// The message begins a new batch with this many slots. With one slot, no other message can join.
  case new(Int)
  /// The message joins this batch in this slot. The sender owns the slot until
  /// ``DeliveryGroup/wrote(_:_:)``.
  case behind(Unmanaged<PlainBatch>, Int)
}

extension DeliveryGroup {
  /// The number of times that a sender polls for a batch that another sender is about to post.
  private static let looksForBatch = 1024

  /// Delivers one message to the target of a step. `target` is `nil` if it was deallocated.
  @inline(__always)
  func serve(
    _ step: RouteStep, _ target: Unmanaged<AnyObject>?, _ values: UnsafeRawPointer, _ run: PlainBatch.Run
  ) {
    // Checked directly before the call: a target removed or muted earlier must not be called.
    guard step.isActive else { return noteDropped(step) }
    guard let target else { return noteDead(step) }
    do {
      try target._withUnsafeGuaranteedRef { target in
        try step.method.unsafelyUnwrapped._withUnsafeGuaranteedRef { try run(values, $0, target) }
      }
    } catch { note(error, step) }
  }

  private func noteDropped(_ step: RouteStep) { step.queued?.noteDropped() }

  @inline(never)
  private func noteDead(_ step: RouteStep) {
    step.queued?.noteDropped()
    core.removeDead([step.registration.takeUnretainedValue()])
  }

  @inline(never)
  private func note(_ error: any Error, _ step: RouteStep) { core.report(error, selector, step) }

  /// Chooses the slot for a message. A new batch has several slots only if the mailbox's previous
  /// typed message was of this group, and either that message is still queued or earlier batches
  /// were at least half full.
  @usableFromInline
  func enter(_ functionType: ObjectIdentifier) -> BatchPlace {
    if mailbox.isAsleep || methodType != functionType { return .new(1) }
    var looks = 0
    var word = BatchWord(bits: batch.load(ordering: .acquiring))
    while true {
      if word.isChanging {
        looks += 1
        if looks > DeliveryGroup.looksForBatch { return .new(1) }
        word.bits = batch.load(ordering: .acquiring)
        continue
      }
      // Joining preserves the sender's order if the batch is the last envelope, or is being served
      // with no envelope behind it. If a different batch now has this address, it was posted later,
      // which preserves the order too.
      let joins =
        word.number < PlainBatch.limit && word.address != 0
        && (word.address == mailbox.last || word.isServed && mailbox.hasNothingNew)
      if !joins, mailbox.lastGroup != number || mailbox.last == 0 && batchCapacity <= DeliveryGroup.smallestBatch {
        return .new(1)
      }
      let (done, found) = batch.weakCompareExchange(
        expected: word.bits, desired: joins ? word.withOneMore.bits : BatchWord.changing,
        successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if done {
        if joins, let batch = word.batch { return .behind(batch, word.number) }
        if let old = word.batch { mailbox.adding(to: old.takeUnretainedValue()) { retire(old, at: word.number) } }
        return .new(batchCapacity)
      }
      word.bits = found
    }
  }

  /// Releases a batch that was removed from the word, and adapts the next batch's capacity. Returns
  /// true if the context waits for the final number of slots.
  private func retire(_ batch: Unmanaged<PlainBatch>, at number: Int) -> Bool {
    defer { batch.release() }
    return batch._withUnsafeGuaranteedRef { batch in
      let (count, capacity) = (number - batch.first, PlainBatch.limit - batch.first)
      let next = count * 2 >= capacity ? capacity * 2 : capacity / 2
      nextCapacity.store(min(max(next, DeliveryGroup.smallestBatch), PlainBatch.limit), ordering: .relaxed)
      return batch.seal(at: number)
    }
  }

  private var batchCapacity: Int { nextCapacity.load(ordering: .relaxed) }

  @usableFromInline
  func wrote(_ batch: Unmanaged<PlainBatch>, _ place: Int) {
    batch._withUnsafeGuaranteedRef { batch in mailbox.adding(to: batch) { batch.publish(place) } }
  }

  /// Posts a new batch. Other messages may join the batch if it has capacity.
  @usableFromInline
  func post(_ new: consuming PlainBatch) {
    if new.first + 1 == PlainBatch.limit {
      _ = new.seal(at: PlainBatch.limit)
      mailbox.lastGroup = number
      return mailbox.post(new)
    }
    if let word = BatchWord.new(copy new) {
      _ = Unmanaged.passRetained(new)
      batch.store(word.bits, ordering: .releasing)
    } else {
      _ = new.seal(at: new.first + 1)
    }
    mailbox.post(new)
    batch.bitwiseAnd(~BatchWord.changing, ordering: .acquiringAndReleasing)
  }

  /// Lets messages join the batch that is being served. They can join until another envelope is
  /// posted. Called on the context.
  func noteServed(_ served: PlainBatch) {
    var word = BatchWord(bits: batch.load(ordering: .relaxed))
    while word.isOf(served), !word.isServed {
      let (done, found) = batch.weakCompareExchange(
        expected: word.bits, desired: word.bits | BatchWord.served, successOrdering: .acquiringAndReleasing,
        failureOrdering: .relaxed)
      if done { return }
      word.bits = found
    }
  }

  /// Removes a batch from the word. With `number`, the batch is removed only if exactly that many
  /// slots are reserved. Returns whether it was removed. Called on the context.
  @discardableResult
  func takeOut(_ served: PlainBatch, at number: Int? = nil) -> Bool {
    var word = BatchWord(bits: batch.load(ordering: .acquiring))
    while word.isOf(served), word.number == number ?? word.number {
      let (done, found) = batch.weakCompareExchange(
        expected: word.bits, desired: word.bits & BatchWord.changing, successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring)
      if done {
        _ = retire(.passUnretained(served), at: word.number)
        return true
      }
      word.bits = found
    }
    return false
  }

  func releaseBatch() { BatchWord(bits: batch.load(ordering: .acquiring)).batch?.release() }

  @export(implementation) @inline(__always)
  func send<R, each A>(_ arguments: Arguments<repeat each A>, returning: R.Type) {
    switch enter(ObjectIdentifier(((repeat each A) -> R).self)) {
    case .new(let capacity): post(TypedBatch(self, arguments, capacity: capacity, returning: R.self))
    case .behind(let batch, let place):
      let typed = Unmanaged<TypedBatch<R, repeat each A>>.fromOpaque(batch.toOpaque())
      typed._withUnsafeGuaranteedRef { ($0.slots + (place - $0.first)).initialize(to: arguments) }
      wrote(batch, place)
    }
  }
}
