// DrainRound.swift: finds out that nothing is on its way.

// Apart from what waits for it: a linker that strips dead code takes a file's types with all that stands beside them.

/// Rounds of markers through every mailbox of a proxy, until one finds that nothing has run since the one before.
struct DrainRound {
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
  var withNested: [MulticastCore] {
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
