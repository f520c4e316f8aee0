// ReplacedNodesTests.swift: a room on a node, whose node and members' nodes are lost and replaced.

import Forwardcast
import TestSupport
import Testing

@testable import ForwardcastDistributed

extension Message<(Int) -> Int> { fileprivate static var line: Self { .init("line:") } }

/// Records the lines that it receives, on any node.
private final class Guest: MessageReceiver, Sendable {
  let heard = Locked<[Int]>([])

  static let selectorTable = SelectorTable(for: Guest.self) {
    Responds(to: .line) { guest, number in
      guest.heard.withLock { $0.append(number) }
      return number
    }
  }
}

/// A room on a node that admits discovered endpoints.
private final class Room: Sendable {
  let proxy = MulticastProxy<any MessageReceiver & Sendable>()
  private let members = Locked<[NodeActorID: RemoteReceiver]>([:])

  func admit(from network: NodeNetwork, as node: String) -> Task<Void, Never> {
    let found = network.listing(in: NodeActorSystem(node, network))
    let admission = RemoteAdmission<NodeActorSystem>(
      options: RemoteOptions(deadline: unhurried, givesUpAfter: 1),
      backoff: RemoteBackoff(first: .milliseconds(1), longest: .milliseconds(1), attempts: 50),
      name: { $0.node })
    return Task {
      for await case .admitted(let member, let id) in admission.events(of: found) {
        proxy.add(
          remote: member, whenGone: .keepsTrying(RemoteBackoff(first: .zero, longest: .milliseconds(1), attempts: 20)))
        members.withLock { $0[id] = member }
      }
    }
  }

  /// True if exactly these endpoints are connected targets.
  func has(_ endpoints: Set<NodeActorID>) -> Bool {
    let connected = members.withLock { Set($0.filter { !$0.value.isGone }.keys) }
    return connected == endpoints && proxy.count == endpoints.count
  }

  /// Ends the members of a node, or all of them.
  func end(_ node: String? = nil) {
    let gone = members.withLock { members in
      let gone = members.filter { node == nil || $0.key.node == node }
      for id in gone.keys { members[id] = nil }
      return gone.values
    }
    for member in gone { member.end("its node was declared down") }
  }
}

@Suite("Nodes that are lost and replaced", .whenQuiet, .timeLimit(.minutes(10)))
struct ReplacedNodesTests {
  @Test("members on nodes that are lost and replaced reconnect, each call ends, and no line is delivered twice")
  func replaced() async throws {
    let (network, room, names) = (NodeNetwork(), Room(), ["ann", "bob", "carl"])
    let guests = Dictionary(uniqueKeysWithValues: names.map { ($0, Guest()) })
    func start(_ name: String) throws {
      let guest = try #require(guests[name])
      network.set(.arrives, of: name)
      network.announce(
        NodeEndpoint(guest, for: Guest.selectorTable, actorSystem: NodeActorSystem(name, network)))
    }
    let lines = Counter()
    @Sendable func say() async throws -> DeliveryReport {
      try await room.proxy.forwardAndWait(
        Invocation(Message<(Int) -> Int>.line.selector, arguments: [ArgumentBox(lines.add(1))]))
    }
    for name in names { try start(name) }
    var admitting = room.admit(from: network, as: "host 0")
    await until(room.has(network.announced))
    try await expect(say().answers.count, equals: 3)

    var errors = 0
    for round in 0..<bound(24, full: 240) {
      let name = names[round % 3]
      switch round / 3 % 4 {
      case 0, 1:
        // The node crashes before or after a line was handled, and another node replaces it.
        network.set(round / 3 % 4 == 0 ? .breaksBefore : .breaksAfter, of: name)
        let report = try await say()
        expect(report.answers.count == 2 && report.failures.count == 1, "\(report)")
        errors += report.failures.count { ($0.error as? RemoteError)?.outcome == .unknown }
        network.end(name)
        if round % 2 == 0 { room.end(name) }
        try start(name)
      case 2:
        // The node stalls until it is declared down, and receives the line late or not at all.
        let late = network.late
        network.set(.arrivesLate, of: name)
        async let report = say()
        await until(network.late > late)
        room.end(name)
        try await expect(report.answers.count, equals: 2)
        network.end(name)
        try start(name)
      default:
        // The room's node is replaced. Members stay and are discovered from the new node.
        admitting.cancel()
        room.end()
        expect(room.proxy.count, equals: 0)
        admitting = room.admit(from: network, as: "host \(round)")
      }
      // Members that do not return have ended, and the new ones are in the room.
      await until(room.has(network.announced))
      let report = try await say()
      expect(report.answers.count == 3 && report.failures.isEmpty, "round \(round): \(report)")
    }
    expect(errors > 0)
    admitting.cancel()
    for (name, guest) in guests {
      let heard = guest.heard.withLock { $0 }
      expect(Set(heard).count, equals: heard.count, "\(name) heard \(heard)")
    }
  }
}
