// SenderWait.swift: the waits of senders for targets, in the wait-for graph.

import Synchronization

/// A running asynchronous method of a queued target. The target's next message waits for its end.
final class SuspendedMethod: Sendable {
  fileprivate let registration: Registration
  fileprivate let task: Int?
  private let ended = Atomic<Bool>(false)

  /// The methods that the current task runs in or was created in.
  @TaskLocal fileprivate static var around: [SuspendedMethod] = []
  fileprivate static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  fileprivate var isRunning: Bool { !ended.load(ordering: .acquiring) }

  private init(_ registration: Registration) {
    (self.registration, task) = (registration, Self.currentTask)
  }

  static func run(_ registration: Registration, _ body: () async -> Void) async {
    let method = SuspendedMethod(registration)
    await $around.withValue(around + [method], operation: body)
    method.ended.store(true, ordering: .releasing)
  }
}

/// A wait that may be part of a deadlock, since other code may be waiting for the sender. Such a
/// sender blocks contexts, runs in a target's suspended method, or runs in a task that a suspended
/// method created.
///
/// The library cannot know whether a method awaits a task that it created. A wait in such a task
/// ends with `timedOut` after ``MulticastOptions/deadlockTimeout`` if the method still runs.
final class SenderWait: Sendable {
  private let wait: Wait
  private let methods: [SuspendedMethod]
  private let core: MulticastCore
  private let selector: MessageSelector
  /// A cycle of waits. The cycle is a deadlock if a method awaits the task that it created.
  private let suspected = Guarded<[AwaitedEnd]?>(nil)

  private init(_ wait: Wait, _ methods: [SuspendedMethod], _ core: MulticastCore, _ selector: MessageSelector) {
    (self.wait, self.methods, self.core, self.selector) = (wait, methods, core, selector)
  }

  /// Begins a wait of the caller for targets, and for all deliveries of `drained`; `nil` if nothing
  /// can be waiting for the caller. With `blocks`, the caller's thread waits. Throws
  /// `wouldDeadlock`, with the cycle.
  @inline(never)
  static func begin(
    for wanted: @autoclosure () -> [Registration] = [], in core: MulticastCore, _ selector: MessageSelector,
    draining drained: [MulticastCore] = [], blocks: Bool = false
  ) throws(MessageError) -> SenderWait? {
    let (methods, task) = (SuspendedMethod.around.filter(\.isRunning), SuspendedMethod.currentTask)
    let own = methods.filter { $0.task == task }
    let isOwn = blocks || !own.isEmpty
    let held =
      (isOwn ? own : methods).map(\.registration.gateIdentity) + (blocks ? WaitGraph.held + QueueIdentity.held : [])
    guard !held.isEmpty else { return nil }
    let wait = SenderWait(Wait(holding: held, isOwn: isOwn), isOwn ? own : methods, core, selector)
    try wait.add(wanted(), draining: drained)
    return wait
  }

  /// Adds targets that were unknown when the message began. Throws `wouldDeadlock`, with the cycle.
  func add(_ more: [Registration], draining drained: [MulticastCore] = []) throws(MessageError) {
    guard let (ring, isCertain) = wait.enter(AwaitedEnd.all(of: drained) + more.map(\.awaited)) else { return }
    if isCertain {
      throw MessageError(.wouldDeadlock, receiver: core.name, selector: selector.name, evidence: text(ring))
    }
    suspected.withLock { $0 = $0 ?? ring }
  }

  /// Records that the message was sent, so only pending outcomes are awaited from now on. If
  /// hooks of the proxy `part` have sent the message, this applies only to that proxy's targets.
  func sent(_ pending: PendingAnswers, in part: ProxyNode? = nil) {
    let open: @Sendable () -> [AwaitedEnd] = { pending.open.compactMap { $0.registration?.awaited } }
    guard let part else { return wait.narrow(to: open) }
    let sent = part.queuedTargets.map(\.awaited)
    wait.narrow(ObjectIdentifier(part)) { awaited in awaited.filter { !sent.contains($0) } + open() }
  }

  /// Starts the timer of a wait that may be a deadlock; `expire` ends the wait with an error.
  @inline(never) func start(_ expire: @escaping @Sendable (MessageError) -> Void) -> Task<Void, Never>? {
    guard let ring = suspected.withLock({ $0 }) else { return nil }
    let duration = core.options.deadlockTimeout
    let deadline = Deadline(after: duration)
    return Task.detached { [self] in
      do { try await deadline.sleep() } catch { return }
      guard methods.contains(where: \.isRunning) else { return }
      let evidence =
        "no answer in \(duration), probably a deadlock: the sender is a task that a method created, and "
        + text(ring)
        + "; do not await the task in the method that created it, or, if that method is only slow, raise "
        + "'deadlockTimeout'"
      expire(MessageError(.timedOut, receiver: core.name, selector: selector.name, evidence: evidence))
    }
  }

  func end() { wait.end() }

  private func text(_ ring: [AwaitedEnd]) -> String {
    let names = ring.flatMap { $0.names() }
    guard names.count > 1 else { return "a method of \(names[0]) would wait for its own end" }
    let links = zip(names, names.dropFirst()).map { "a method of \($0) waits for \($1)" }
    return "a method of \(names[names.count - 1]) would wait for \(names[0]), and \(links.joined(separator: ", and "))"
  }
}

extension AwaitedEnd {
  /// Everything that a drain of the proxies waits for at this moment. A queued message of a removed
  /// target gets a gate only when it runs. Cycles are first searched for among registrations, so a
  /// cycle through a mailbox or gate is found only for a removed target.
  fileprivate static func all(of drained: [MulticastCore]) -> [AwaitedEnd] {
    drained.flatMap(\.mailboxesAndGates).map(AwaitedEnd.init)
      + drained.flatMap(\.registrations).filter { $0.queued != nil }.map(\.awaited)
  }

  /// The end of the methods behind a mailbox or gate.
  fileprivate init(_ object: any AnyObject & Sendable) {
    let identity = (object as? Mailbox)?.heldIdentity ?? ObjectIdentifier(object)
    self.init([identity]) { withExtendedLifetime(object) { ["a removed target"] } }
  }
}

extension Registration {
  /// The identity of the target's gate on its context; without a gate, the registration's identity.
  @inline(never)
  var gateIdentity: ObjectIdentifier { ObjectIdentifier(gate ?? self as AnyObject) }

  fileprivate var awaited: AwaitedEnd {
    let context = queued.map { [$0.mailbox.heldIdentity] } ?? []
    return AwaitedEnd([gateIdentity] + context) { [self] in
      [currentTarget.map { typeName(of: $0) } ?? "a dead target"]
    }
  }
}
