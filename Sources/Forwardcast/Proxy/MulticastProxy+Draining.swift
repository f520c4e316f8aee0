// MulticastProxy+Draining.swift: waits until nothing is on its way.
// Layer: Proxy. See DESIGN.md, "Delivery".

extension MulticastProxy where Interface: Sendable {
  /// Waits until every queued delivery of this proxy has had its turn, those included that are queued meanwhile.
  ///
  /// Where targets send through several proxies, drain all of them again until each gives 0.
  ///
  /// - Returns: how many deliveries had their turn since the call.
  /// - Throws: `CancellationError`; `wouldDeadlock` in a method that suspends and would wait for its own end.
  @discardableResult
  nonisolated(nonsending) public func drain() async throws -> Int {
    if ServedLane.isServing,
      core.registrations.contains(where: { $0.queued.map { ServedLane.contains($0.lane) } ?? false })
    {
      throw MessageError(
        .wouldDeadlock, receiver: typeName(of: self), selector: "drain",
        evidence: "a method of one of the targets would wait for its own end")
    }
    var round = DrainRound(core)
    repeat {
      try Task.checkCancellation()
      try await round.begin().wait()
    } while !round.isQuiet()
    return round.turns
  }

  /// Blocks the caller until every queued delivery of this proxy has had its turn, as ``drain()`` does.
  ///
  /// - Throws: `wouldDeadlock` when the caller is on one of the contexts; `timedOut`, naming those that have not finished.
  @discardableResult
  public func drain(timeout: Duration) throws -> Int {
    let deadline = ContinuousClock.now + timeout
    var round = DrainRound(core)
    repeat {
      if let held = round.mailboxes.first(where: \.isCurrent) {
        throw MessageError(
          .wouldDeadlock, receiver: typeName(of: self), selector: "drain",
          evidence: "the caller holds the \(held.context.name) that it would wait for")
      }
      let late = round.begin().wait(timeout: deadline - ContinuousClock.now)
      guard late.isEmpty else {
        throw MessageError(
          .timedOut, receiver: typeName(of: self), selector: "drain",
          evidence: "not finished in \(timeout): "
            + late.map { round.mailboxes[$0].context.name }.joined(separator: ", "))
      }
    } while !round.isQuiet()
    return round.turns
  }
}

/// Rounds of markers through every mailbox of a proxy, until one finds that nothing has run since the one before.
private struct DrainRound {
  private let core: MulticastCore
  private(set) var mailboxes: [Mailbox]
  private let before: [ObjectIdentifier: Int]
  private var last: [ObjectIdentifier: Int]?
  private var answers = Gathering<Int> { _, _ in 0 }

  init(_ core: MulticastCore) {
    self.core = core
    mailboxes = core.mailboxes
    before = Dictionary(uniqueKeysWithValues: mailboxes.map { (ObjectIdentifier($0), $0.delivered) })
  }

  /// Sends a marker through each mailbox.
  mutating func begin() -> Gathering<Int> {
    mailboxes = core.mailboxes
    answers = Gathering { _, _ in 0 }
    for (index, mailbox) in mailboxes.enumerated() {
      answers.expect(index)
      mailbox.post(Marker(answers, index))
    }
    return answers
  }

  /// Whether nothing had its turn between the last two rounds.
  mutating func isQuiet() -> Bool {
    var seen: [ObjectIdentifier: Int] = [:]
    for (index, mailbox) in mailboxes.enumerated() {
      if case .answered(let count)? = answers.outcome(index) { seen[ObjectIdentifier(mailbox)] = count }
    }
    defer { last = seen }
    return last == seen || seen.isEmpty
  }

  /// How many turns there were since the beginning.
  var turns: Int { last?.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) } ?? 0 }
}
