// QueuedState.swift: a registration's state for queued deliveries.

import Synchronization

/// The queue of one registration with a context: its mailbox, buffer and gate.
final class QueuedState: Sendable {
  private struct Rare {
    /// The queued messages; `nil` if the buffer has never been bounded.
    var line: BufferedLine?
    var gate: SerialGate?
  }

  let mailbox: Mailbox
  /// The context's actor, or an actor that retains its executor; `nil` if none must be retained.
  private let actor: (any Actor)?
  /// The gate of an automatic delivery, which senders acquire to run the target. `rare` retains the
  /// gate: a retain per message would be slow, since the gate has weak references.
  private let automaticGate: Unmanaged<SerialGate>?
  var turns: SerialGate? { automaticGate?.takeUnretainedValue() }
  private let rare = Guarded(Rare())
  /// True if queued messages are delivered after a removal. The value changes when the target is
  /// added again.
  private let keepsPending: Atomic<Bool>
  private let droppedCount = Atomic<Int>(0)

  /// - Parameter gate: required for an automatic delivery and for a bounded buffer.
  init(_ options: TargetOptions, _ mailbox: Mailbox, _ gate: SerialGate?, retaining actor: (any Actor)?) {
    (self.mailbox, self.actor) = (mailbox, actor)
    let (buffer, isAutomatic) = (options.buffer, options.delivery.isAutomatic)
    automaticGate = isAutomatic ? gate.map { .passUnretained($0) } : nil
    keepsPending = Atomic(options.pending == .deliverPending)
    guard let gate else { return }
    let line = buffer == .unbounded ? nil : BufferedLine(buffer, gate: gate, isAutomatic: isAutomatic)
    rare.withLock { $0 = Rare(line: line, gate: gate) }
  }

  var delivery: Delivery { .on(mailbox.context, isAutomatic: turns != nil) }

  /// The target's gate, cached when it is first used.
  fileprivate func gate(_ find: () -> SerialGate) -> SerialGate {
    if let known = rare.withLock({ $0.gate }) { return known }
    let found = find()
    return rare.withLock { rare in
      let gate = rare.gate ?? found
      rare.gate = gate
      return gate
    }
  }

  var line: BufferedLine? { rare.withLock { $0.line } }

  var buffer: DeliveryBuffer { line?.buffer ?? .unbounded }

  var pending: PendingDeliveries { keepsPending.load(ordering: .acquiring) ? .deliverPending : .dropPending }

  /// Sets the buffer, which can drop queued messages, and `pending`. Returns true if one changed.
  func change(to options: TargetOptions, of registration: Registration) -> Bool {
    assert(registration.queued === self, "a registration changes its own buffer")
    let (buffer, keeps) = (options.buffer, options.pending == .deliverPending)
    let changesPending = keepsPending.exchange(keeps, ordering: .acquiringAndReleasing) != keeps
    guard self.buffer != buffer, let gate = registration.gate else { return changesPending }
    // An unbounded buffer keeps the line, since new messages must not overtake queued ones.
    let line = rare.withLock { rare -> BufferedLine? in
      defer { if rare.line == nil { rare.line = BufferedLine(buffer, gate: gate, isAutomatic: turns != nil) } }
      return rare.line
    }
    for envelope in line?.change(to: buffer) ?? [] { envelope.giveUp(.bufferFull) }
    return true
  }

  /// True if each message needs an envelope of its own.
  var travelsAlone: Bool { line != nil || pending == .deliverPending || delivery.isAutomatic }

  var dropped: Int { droppedCount.load(ordering: .acquiring) }
  func noteDropped() { droppedCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }

  /// True if a message may run synchronously: the delivery is automatic, the sender is on the
  /// context, no earlier message is queued or running, and the method needs no other isolation.
  func runsNow(_ step: RouteStep) -> Bool {
    guard let turns, mailbox.context.isCurrent, turns.isFree else { return false }
    guard let method = step.method?.takeUnretainedValue(), let target = step.target else { return true }
    return method.canRun(on: target)
  }

  /// Acquires the target until ``endTurn()``. Returns false if another thread runs it.
  func beginTurn() -> Bool { turns?.begin() ?? true }

  func endTurn() { if turns?.end() ?? false { reopen() } }

  @inline(never)
  fileprivate func reopen() { if let turns { mailbox.reopen(turns) } }

  @inline(__always)
  fileprivate func withGate<T>(_ body: (SerialGate) -> T) -> T {
    automaticGate.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }
}

// MARK: - Automatic steps of loops, without reference counting

extension RouteStep {
  @inline(__always)
  private func withAutomatic<T>(_ body: (QueuedState) -> T) -> T {
    registration._withUnsafeGuaranteedRef { $0.withAutomatic(body) }
  }

  /// True if a message may run synchronously: always for direct steps, otherwise as
  /// ``QueuedState/runsNow(_:)``. Also true for muted targets, since an earlier target may unmute
  /// them. `here` caches the address of the last mailbox on whose context the sender was found.
  @inline(__always)
  func runsHere(after here: inout UInt) -> Bool {
    guard isAutomatic else { return true }
    return withAutomatic { queued in
      let mailbox = Unmanaged.passUnretained(queued.mailbox)
      let address = UInt(bitPattern: mailbox.toOpaque())
      if address != here {
        guard mailbox._withUnsafeGuaranteedRef({ $0.context.isCurrent }) else { return false }
        here = address
      }
      return queued.withGate { $0.isFree }
    }
  }

  /// True if the sender is in the isolation of the method.
  var hasSendersIsolation: Bool {
    guard let method, let target else { return true }
    return method._withUnsafeGuaranteedRef { $0.canRun(on: target) }
  }

  private var isAutomatic: Bool { registration._withUnsafeGuaranteedRef(\.isAutomatic) }

  /// Acquires an automatic target. Always true for a direct target: a loop also calls this for
  /// direct targets that were replaced, or unmuted during the loop.
  @usableFromInline
  func beginTurn() -> Bool { isAutomatic ? withAutomatic { $0.withGate { $0.begin() } } : true }

  @usableFromInline
  func endTurn() {
    guard isAutomatic else { return }
    withAutomatic { queued in if queued.withGate({ $0.end() }) { queued.reopen() } }
  }
}

extension Registration {
  /// Serializes the target's methods; `nil` for a direct registration.
  var gate: SerialGate? {
    queued.map { queued in queued.gate { core?.gate(of: key, queued.mailbox) ?? SerialGate() } }
  }

  /// The context on which the target's methods run. The value does not retain an actor or executor.
  /// If the actor or executor has been deallocated, messages to a target that is added with the
  /// value run on another actor.
  public var delivery: Delivery { queued?.delivery ?? .direct }

  /// The limit of queued messages for the target.
  public var buffer: DeliveryBuffer { queued?.buffer ?? .unbounded }

  /// The number of queued messages that did not run, because the buffer was full, or because the
  /// target had been removed, muted or deallocated.
  public var dropped: Int { queued?.dropped ?? 0 }
}
