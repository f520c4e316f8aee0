// DrainRound.swift: detects that no message is queued or running.

// This code has its own file, since some linkers strip dead code per file.

/// Posts rounds of markers to a proxy's mailboxes until nothing ran between two rounds.
struct DrainRound {
  private let core: MulticastCore
  /// The proxy and its nested proxies at the beginning of the round.
  private var cores: [MulticastCore]
  private var mailboxes: [Mailbox]
  private var before: [ObjectIdentifier: Int] = .init()
  private var last: [ObjectIdentifier: Int]?
  private var counts = DrainCounts()

  init(_ core: MulticastCore) {
    self.core = core
    cores = core.withNested
    mailboxes = cores.flatMap(\.mailboxes)
    for mailbox in mailboxes { before[ObjectIdentifier(mailbox)] = mailbox.delivered }
  }

  /// Posts the markers. If the caller `blocks`, throws `wouldDeadlock` on one of the contexts.
  mutating func begin(blocks: Bool = false) throws -> Completion {
    cores = core.withNested
    mailboxes = cores.flatMap(\.mailboxes)
    if blocks, let deadlock = mailboxes.lazy.compactMap(\.deadlock).first {
      throw MessageError(.wouldDeadlock, of: core, "drain", deadlock)
    }
    let counts = DrainCounts()
    self.counts = counts
    for mailbox in mailboxes {
      let id = ObjectIdentifier(mailbox)
      // A mailbox of a proxy that was added meanwhile is counted from now on.
      if before[id] == nil { before[id] = mailbox.delivered }
      counts.completion.enter()
      mailbox.post(DrainMarker { counts.settle(id, $0) })
    }
    return counts.completion
  }

  /// To detect deadlocks, records that the caller is about to wait for the round. Called after
  /// ``begin()``, so the wait includes each mailbox with a marker. Throws `wouldDeadlock`.
  func beginWait(blocks: Bool) throws -> SenderWait? {
    try SenderWait.begin(in: core, "drain", draining: cores, blocks: blocks)
  }

  var lateContexts: @Sendable () -> [String] {
    { [mailboxes, counts] in mailboxes.filter { counts.all[ObjectIdentifier($0)] == nil }.map(\.context.name) }
  }

  mutating func isQuiet() -> Bool {
    let seen = counts.all
    defer { last = seen }
    return last == seen || seen.isEmpty
  }

  var turns: Int { last?.reduce(0) { $0 + max(0, $1.value - (before[$1.key] ?? 0)) } ?? 0 }
}

extension MulticastCore {
  /// The proxy and its nested proxies at any depth, each once.
  var withNested: [MulticastCore] {
    var found = [self]
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    var index = 0
    while index < found.count {
      let registrations = found[index].registrations
      do { try ProxyQuestion.charge(.step, registrations.count) } catch { return found }
      for target in registrations.lazy.compactMap(\.liveTarget) where ClassKind.of(target) == .other {
        guard let core = (target as? any MulticastSending)?.core else { continue }
        if seen.insert(ObjectIdentifier(core)).inserted { found.append(core) }
      }
      index += 1
    }
    return found
  }
}

private final class DrainCounts: Sendable {
  let completion = Completion()
  private let counts = Guarded<[ObjectIdentifier: Int]>(.init())

  /// The delivery count of each mailbox whose marker has arrived; 0 if the marker was deallocated.
  var all: [ObjectIdentifier: Int] { counts.withLock { $0 } }

  func settle(_ mailbox: ObjectIdentifier, _ count: Int?) {
    counts.withLock { $0[mailbox] = count ?? 0 }
    completion.leave()
  }
}
