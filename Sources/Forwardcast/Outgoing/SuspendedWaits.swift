// SuspendedWaits.swift: which suspended methods wait for which targets, so that none waits for itself.

import Synchronization

/// A suspending method of a queued target, while it runs: until it ends its target gets no other message.
final class SuspendedMethod: Sendable {
  let registration: Registration
  fileprivate let task: Int?
  private let ended = Atomic<Bool>(false)

  @TaskLocal private static var running: [SuspendedMethod] = []

  /// The methods that the running task is in, or was made in.
  fileprivate static var around: [SuspendedMethod] { running }
  fileprivate static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  fileprivate var isRunning: Bool { !ended.load(ordering: .acquiring) }

  private init(_ registration: Registration) {
    (self.registration, task) = (registration, Self.currentTask)
  }

  static func run(_ registration: Registration, _ body: () async -> Void) async {
    let method = SuspendedMethod(registration)
    await $running.withValue(running + [method], operation: body)
    method.ended.store(true, ordering: .releasing)
  }
}

/// A wait of a task that is in a method of some target, or was made in one.
// What changes is guarded by the table's lock.
final class SuspendedWait: @unchecked Sendable {
  /// The targets to be waited for, as far as known before the message is sent.
  private var planned: [Registration]
  private var pending: PendingAnswers?
  fileprivate let methods: [SuspendedMethod]
  /// Whether the wait is the methods' own. A task that a method made may be awaited by it, or not.
  fileprivate let isOwn: Bool
  /// When the wait is to end if it may be one for itself.
  private var limit: SuspendedWaits.Limit?
  /// The gates of the targets that others wait for in vain during this wait.
  fileprivate let gates: [ObjectIdentifier]

  fileprivate init(
    _ planned: [Registration], methods: [SuspendedMethod], isOwn: Bool, limit: SuspendedWaits.Limit?
  ) {
    (self.planned, self.methods, self.isOwn, self.limit) = (planned, methods, isOwn, limit)
    gates = methods.map(\.registration.gateIdentity)
  }

  fileprivate var awaited: [Registration] {
    let (pending, planned) = SuspendedWaits.table.withLock { _ in (self.pending, self.planned) }
    return pending?.open.compactMap(\.registration) ?? planned
  }

  /// Adds targets that were not known when the message began, or throws `wouldDeadlock`.
  func add(_ more: [Registration], in core: MulticastCore, _ selector: MessageSelector) throws(MessageError) {
    try SuspendedWaits.enter(more, methods, isOwn: isOwn, core, selector) { _, limit in
      (planned, self.limit) = (planned + more, self.limit ?? limit)
    }
  }

  /// Notes that the message was sent: from now on only open outcomes are waited for.
  func sent(_ pending: PendingAnswers) {
    SuspendedWaits.table.withLock { table in
      self.pending = pending
      table.changes += 1
    }
  }

  /// Starts the timer of a wait with a limit; `expire` ends the wait with an error.
  @inline(never) func start(_ expire: @escaping @Sendable (MessageError) -> Void) -> Task<Void, Never>? {
    guard let limit = SuspendedWaits.table.withLock({ _ in limit }) else { return nil }
    let deadline = Deadline(after: limit.duration)
    return Task.detached { [methods] in
      do { try await deadline.sleep() } catch { return }
      if methods.contains(where: \.isRunning) { expire(limit.error) }
    }
  }

  func end() {
    SuspendedWaits.table.withLock { table in
      for gate in gates {
        table.waits[gate]?.removeAll { $0 === self }
        if table.waits[gate]?.isEmpty == true { table.waits[gate] = nil }
      }
    }
  }
}

/// Who waits for whom, in the whole process.
///
/// A suspending method keeps its target busy, so whoever waits for that target waits for the method. Methods that wait for each
/// other in a ring would never end. Each looks for a ring before it waits, and enters its wait unless another one was entered
/// meanwhile; then it looks again. So exactly one of those that close a ring finds it, and throws `wouldDeadlock` before anything
/// is sent.
///
/// For the wait of a task that a method made, nobody can know whether the method awaits it (`async let`, a group) or not
/// (`Task { }`): it ends with `timedOut` after ``MulticastOptions/deadlockTimeout``, if the method still runs then. A detached task
/// belongs to no method.
enum SuspendedWaits {
  fileprivate struct Table {
    var waits: [ObjectIdentifier: [SuspendedWait]] = .init()
    var changes = 0

    mutating func enter(_ wait: SuspendedWait) { for gate in wait.gates { waits[gate, default: []].append(wait) } }
  }
  fileprivate static let table = Guarded(Table())

  /// The waits of methods of the registration's target.
  private static func waits(of registration: Registration) -> [SuspendedWait] {
    let gate = registration.gateIdentity
    return table.withLock { $0.waits[gate] ?? [] }
  }

  /// The targets that a method of the registration's target waits for.
  static func awaited(by registration: Registration) -> [Registration] {
    waits(of: registration).flatMap(\.awaited)
  }

  /// Notes that the running task is about to wait for those targets; `nil` when it is in no running method.
  ///
  /// - Throws: `wouldDeadlock`, with the ring.
  @inline(never)
  static func begin(
    for wanted: @autoclosure () -> [Registration], in core: MulticastCore, _ selector: MessageSelector
  ) throws(MessageError) -> SuspendedWait? {
    let methods = SuspendedMethod.around.filter(\.isRunning)
    guard !methods.isEmpty else { return nil }
    let (wanted, task) = (wanted(), SuspendedMethod.currentTask)
    let isOwn = methods.contains { $0.task == task }
    let waiting = isOwn ? methods.filter { $0.task == task } : methods
    return try enter(wanted, waiting, isOwn: isOwn, core, selector) { table, limit in
      let wait = SuspendedWait(wanted, methods: waiting, isOwn: isOwn, limit: limit)
      table.enter(wait)
      return wait
    }
  }

  /// Enters a wait, under the table's lock, or throws the ring that it closes. Other waits are asked outside of the lock.
  fileprivate static func enter<T: Sendable>(
    _ wanted: [Registration], _ waiting: [SuspendedMethod], isOwn: Bool, _ core: MulticastCore,
    _ selector: MessageSelector, _ body: (inout Table, Limit?) -> T
  ) throws(MessageError) -> T {
    while true {
      let changes = table.withLock { $0.changes }
      let (ring, limit) = closes(wanted, waiting, isOwn: isOwn, core, selector)
      // While nothing is entered waits only end: so all that was seen existed at one moment, also a ring.
      let (isCurrent, entered) = table.withLock { table -> (Bool, T?) in
        guard table.changes == changes else { return (false, nil) }
        guard ring == nil else { return (true, nil) }
        table.changes += 1
        return (true, body(&table, limit))
      }
      if let entered { return entered }
      if isCurrent, let ring {
        throw MessageError(.wouldDeadlock, receiver: core.name, selector: selector.name, evidence: text(ring))
      }
    }
  }

  /// When a wait ends that may be one for itself, by a ring over a task that a method made.
  struct Limit {
    fileprivate let ring: [Registration]
    fileprivate let core: MulticastCore
    fileprivate let selector: MessageSelector

    fileprivate var duration: Duration { core.options.deadlockTimeout }

    /// Made outside of the table's lock, since it retains targets for a moment.
    fileprivate var error: MessageError {
      let evidence = "after \(duration), in a task that a method made: \(text(ring))"
      return MessageError(.timedOut, receiver: core.name, selector: selector.name, evidence: evidence)
    }
  }

  /// The ring that a wait for some targets closes, if the wait is the methods' own; else its limit, if it may close one.
  private static func closes(
    _ wanted: [Registration], _ waiting: [SuspendedMethod], isOwn: Bool, _ core: MulticastCore,
    _ selector: MessageSelector
  ) -> (ring: [Registration]?, limit: Limit?) {
    let gates = waiting.map(\.registration.gateIdentity)
    let ring = self.ring(from: wanted, to: gates) { $0.isOwn || !isOwn }
    if isOwn, ring != nil { return (ring, nil) }
    // Also over waits of tasks that a method made, which it may await or not.
    guard let suspected = ring ?? self.ring(from: wanted, to: gates, over: { _ in true })
    else { return (nil, nil) }
    return (nil, Limit(ring: suspected, core: core, selector: selector))
  }

  /// The targets from a wanted one to one of the ends, each waited for by a method of the one
  /// before; `nil` if there is no such path.
  private static func ring(
    from wanted: [Registration], to ends: [ObjectIdentifier], over isMeant: (SuspendedWait) -> Bool
  ) -> [Registration]? {
    var seen = Set<ObjectIdentifier>()
    var paths = wanted.map { [$0] }
    while let path = paths.popLast(), let last = path.last {
      if ends.contains(last.gateIdentity) { return path }
      guard seen.insert(last.gateIdentity).inserted else { continue }
      for wait in waits(of: last) where isMeant(wait) { paths += wait.awaited.map { path + [$0] } }
    }
    return nil
  }

  private static func text(_ ring: [Registration]) -> String {
    let names = ring.map { $0.currentTarget.map { typeName(of: $0) } ?? "a dead target" }
    guard names.count > 1 else { return "a method of \(names[0]) would wait for its own end" }
    let links = zip(names, names.dropFirst()).map { "a method of \($0) waits for \($1)" }
    return "a method of \(names[names.count - 1]) would wait for \(names[0]), and \(links.joined(separator: ", and "))"
  }
}

extension Registration {
  /// Identifies the target's turns on its context; its own where it has none.
  @inline(never)
  fileprivate var gateIdentity: ObjectIdentifier { ObjectIdentifier(gate ?? self as AnyObject) }
}
