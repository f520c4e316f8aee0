// MulticastProxy+Draining.swift: waits until nothing is on its way.

extension MulticastHolding where Interface: Sendable {
  /// Waits until every queued delivery of this proxy, and of proxies among its targets, has had its turn, those included that
  /// are queued meanwhile.
  ///
  /// Where targets send through several proxies, drain all of them again until each gives 0.
  ///
  /// - Returns: how many deliveries had their turn since the call.
  /// - Throws: `CancellationError`; `wouldDeadlock` in a method that suspends and would wait for its own end;
  ///   `timedOut` in a task that such a method made: see ``MulticastOptions/deadlockTimeout``.
  @discardableResult
  nonisolated(nonsending) public func drain() async throws -> Int {
    let wait = try SuspendedWaits.begin(
      for: core.withNested.flatMap(\.registrations).filter { $0.queued != nil }, in: core, "drain")
    defer { wait?.end() }
    var round = DrainRound(core)
    repeat {
      try Task.checkCancellation()
      let completion = round.begin()
      let timer = wait?.start { completion.fail($0) }
      defer { timer?.cancel() }
      try await completion.wait()
    } while !round.isQuiet()
    return round.turns
  }

  /// Blocks the caller until every queued delivery of this proxy has had its turn, as ``drain()`` does.
  ///
  /// - Parameter timeout: the longest wait. What has not run by then still runs.
  /// - Throws: `wouldDeadlock` when the caller is on one of the contexts; `timedOut`, naming those that have not finished.
  @discardableResult
  public func drain(timeout: Duration) throws -> Int {
    let deadline = Deadline(after: timeout)
    var round = DrainRound(core)
    repeat {
      if let deadlock = round.mailboxes.lazy.compactMap(\.deadlock).first {
        throw MessageError(.wouldDeadlock, receiver: core.name, selector: "drain", evidence: deadlock)
      }
      guard round.begin().wait(until: deadline) else {
        throw MessageError(
          .timedOut, receiver: core.name, selector: "drain",
          evidence: "not finished in \(timeout): "
            + round.late.map(\.context.name).joined(separator: ", "))
      }
    } while !round.isQuiet()
    return round.turns
  }
}

/// Rounds of markers through every mailbox of a proxy, until one finds that nothing has run since the one before.
private struct DrainRound {
  private let core: MulticastCore
  private(set) var mailboxes: [Mailbox]
  private var before: [ObjectIdentifier: Int] = .init()
  private var last: [ObjectIdentifier: Int]?
  private var counts = DrainCounts(0)

  init(_ core: MulticastCore) {
    self.core = core
    mailboxes = core.withNested.flatMap(\.mailboxes)
    for mailbox in mailboxes { before[ObjectIdentifier(mailbox)] = mailbox.delivered }
  }

  /// Sends a marker through each mailbox.
  mutating func begin() -> Completion {
    mailboxes = core.withNested.flatMap(\.mailboxes)
    let counts = DrainCounts(mailboxes.count)
    self.counts = counts
    for (index, mailbox) in mailboxes.enumerated() {
      counts.completion.enter()
      mailbox.post(DrainMarker { counts.settle(index, $0) })
    }
    return counts.completion
  }

  /// The mailboxes whose marker has not come through.
  var late: [Mailbox] { mailboxes.indices.filter { counts.all[$0] == nil }.map { mailboxes[$0] } }

  /// Whether nothing had its turn between the last two rounds.
  mutating func isQuiet() -> Bool {
    var seen: [ObjectIdentifier: Int] = .init()
    for (mailbox, count) in zip(mailboxes, counts.all) {
      if case .some(let count?) = count { seen[ObjectIdentifier(mailbox)] = count }
    }
    defer { last = seen }
    return last == seen || seen.isEmpty
  }

  /// How many turns there were since the beginning.
  var turns: Int { last?.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) } ?? 0 }
}

extension MulticastCore {
  /// The proxy and those that a message to it may come to, each once.
  fileprivate var withNested: [MulticastCore] {
    var found = [self]
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    var index = 0
    // A dynamic cast costs more than all else here.
    var plain: ObjectIdentifier?
    while index < found.count {
      let registrations = found[index].registrations
      do { try ProxyQuestion.charge(.step, registrations.count) } catch { return found }
      for registration in registrations {
        guard let target = registration.liveTarget else { continue }
        let type = ObjectIdentifier(type(of: target))
        if type == plain { continue }
        guard let multicast = target as? any MulticastSending else {
          if !standsForValue(target) { plain = type }
          continue
        }
        let core = multicast.core
        if seen.insert(ObjectIdentifier(core)).inserted { found.append(core) }
      }
      index += 1
    }
    return found
  }
}

/// What the markers of one round found.
private final class DrainCounts: Sendable {
  let completion = Completion()
  private let counts: Guarded<[Int??]>

  init(_ count: Int) { counts = Guarded(Array(repeating: nil, count: count)) }

  /// The turns that each mailbox has seen; `.some(nil)` for one whose context went away.
  var all: [Int??] { counts.withLock { $0 } }

  func settle(_ index: Int, _ count: Int?) {
    counts.withLock { $0[index] = .some(count) }
    completion.leave()
  }
}
