// BufferedLine.swift: the queued messages of a registration with a bounded buffer.

/// The queued messages of one registration with a bounded buffer. While the line has messages, the
/// mailbox contains the line, not each message. So dropping a message does not change the mailbox.
final class BufferedLine: Envelope, @unchecked Sendable {  // `state` has a lock; the rest is immutable
  private struct State {
    var buffer: DeliveryBuffer
    var waiting = FirstInFirstOut<Envelope>()
    /// For `latestPerSelector`, the number that `waiting` gave to each selector's latest message.
    var latest: [MessageSelector?: Int] = .init()
    /// The number of slots (places in the buffer) reserved by senders that have not posted yet.
    var reserved = 0
    var isPosted = false
    var waiters = FirstInFirstOut<Completion>()

    var isFull: Bool {
      guard case .suspendSender(let bound) = buffer.policy else { return false }
      return waiting.count + reserved >= bound
    }

    /// Reserves free slots for the senders that have waited longest.
    mutating func admit() -> [Completion] {
      var admitted: [Completion] = []
      while !isFull, let waiter = waiters.next() {
        reserved += 1
        admitted.append(waiter)
      }
      return admitted
    }

    mutating func reserve() -> Bool {
      guard waiters.isEmpty, !isFull else { return false }
      reserved += 1
      return true
    }

    /// Appends a message. Returns the older message that `latestPerSelector` drops.
    mutating func append(_ envelope: Envelope) -> Envelope? {
      let number = waiting.append(envelope)
      guard case .latestPerSelector = buffer.policy else { return nil }
      let older = rareValue(of: envelope.selector, in: latest)
      setRareValue(number, of: envelope.selector, in: &latest)
      return older.flatMap { waiting.remove($0) }
    }
  }

  private let state: Guarded<State>
  private let gate: SerialGate
  /// True if senders may run the target, so messages leave the line only while the gate is free.
  private let isAutomatic: Bool

  init(_ buffer: DeliveryBuffer, gate: SerialGate, isAutomatic: Bool = false) {
    state = Guarded(State(buffer: buffer))
    (self.gate, self.isAutomatic) = (gate, isAutomatic)
    super.init()
  }

  var count: Int { state.withLock { $0.waiting.count } }

  var waitingSenders: Int { state.withLock { $0.waiters.count } }

  var buffer: DeliveryBuffer { state.withLock { $0.buffer } }

  /// Changes the buffer. Returns the queued messages that the new buffer drops.
  func change(to buffer: DeliveryBuffer) -> [Envelope] {
    makingRoom { state in
      state.buffer = buffer
      var dropped: [Envelope] = []
      switch buffer.policy {
      case .keepNewest(let bound):
        while state.waiting.count > bound, let oldest = state.waiting.next() { dropped.append(oldest) }
      case .latestPerSelector:
        var old = exchange(&state.waiting, with: FirstInFirstOut())
        state.latest = .init()
        while let envelope = old.next() { if let older = state.append(envelope) { dropped.append(older) } }
      case .unbounded, .keepOldest, .suspendSender: break
      }
      return dropped
    }
  }

  /// Makes a change under the lock, then resumes the waiting senders that got a slot.
  private func makingRoom<T: Sendable>(_ change: (inout State) -> T) -> T {
    let (result, admitted) = state.withLock { state in
      let result = change(&state)
      return (result, state.admit())
    }
    for waiter in admitted { waiter.leave() }
    return result
  }

  /// Appends a message. If `reserved`, the message fills the sender's slot. Returns the message
  /// that the buffer drops, if any: an older message or `envelope`.
  func offer(_ envelope: Envelope, reserved: Bool, to mailbox: Mailbox) -> Envelope? {
    let level = mailbox.senderLevel
    let (dropped, wakes) = state.withLock { state -> (Envelope?, Bool) in
      assert(!reserved || state.reserved > 0, "a sender fills a place that it has")
      if reserved { state.reserved -= 1 }
      var dropped: Envelope?
      let taken = state.waiting.count + state.reserved
      switch state.buffer.policy {
      case .unbounded, .latestPerSelector: break
      case .keepNewest(let bound): if taken >= bound { dropped = state.waiting.next() }
      case .keepOldest(let bound), .suspendSender(let bound):
        if taken >= bound, !reserved { return (envelope, false) }
      }
      dropped = state.append(envelope) ?? dropped
      // Raise the priority level before a drain can find the message.
      raise(to: level)
      return (dropped, !exchange(&state.isPosted, with: true))
    }
    if wakes {
      mailbox.post(self)
    } else {
      if dropped !== envelope { mailbox.noteAdded(level) }
      ThreadController.current?.reach()
    }
    return dropped
  }

  /// Runs messages, oldest first, until the target is busy, the batch limit is reached, or a drain
  /// of higher priority is due.
  override func open(in mailbox: Mailbox) -> Int {
    assert(mailbox.isOnContext, "a line is opened on its context")
    var made = 0
    while made < 32 {
      if mailbox.leavesToHigher(self) { break }
      if mailbox.park(self, 0, at: gate) { return made }
      if isAutomatic, !gate.acquire() {
        mailbox.close(gate, before: self, 0)
        return made
      }
      defer { if isAutomatic, gate.end() { mailbox.reopen(gate) } }
      guard let envelope = next() else { return made }
      made += envelope.open(in: mailbox)
    }
    mailbox.post(self)
    return made
  }

  override func resume(_ index: Int, in mailbox: Mailbox) { _ = open(in: mailbox) }

  /// Removes the oldest message. If there is none, records that the line has left the mailbox.
  @inline(never) private func next() -> Envelope? {
    makingRoom { state in
      assert(state.isPosted, "a line is opened while it is in the mailbox")
      let envelope = state.waiting.next()
      if envelope == nil {
        state.isPosted = false
        forgetLevel()
      }
      return envelope
    }
  }

  // MARK: - Capacity

  var suspendsSenders: Bool { if case .suspendSender = buffer.policy { true } else { false } }

  func reserveAtOnce() -> Bool { state.withLock { $0.reserve() } }

  /// Waits for a slot. Senders get slots in the order of their calls.
  ///
  /// - Parameter limit: called with a function that ends the wait with an error. `limit` may return
  ///   a timer, which is canceled after the wait.
  @inline(never)
  nonisolated(nonsending) func reserve(
    limit: (@escaping @Sendable (any Error) -> Void) -> Task<Void, Never>? = { _ in nil }
  ) async throws {
    try Task.checkCancellation()
    let waiter = Completion()
    waiter.enter()
    let number = state.withLock { $0.reserve() ? nil : $0.waiters.append(waiter) }
    guard let number else { return }
    @Sendable func giveUp(_ error: any Error) {
      if state.withLock({ $0.waiters.remove(number) }) != nil { waiter.fail(error) }
    }
    let timer = limit(giveUp)
    defer { timer?.cancel() }
    try await withTaskCancellationHandler {
      try await waiter.untilDone()
    } onCancel: {
      giveUp(CancellationError())
    }
  }

  @inline(never) func giveBack() {
    makingRoom { state in
      assert(state.reserved > 0, "a sender gives back a place that it has")
      state.reserved -= 1
    }
  }
}
