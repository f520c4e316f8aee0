// ClusterTests.swift: the host of the chat room over a cluster, with a stand-in for the engine.
// See Examples/Cluster/README.md.

import DistributedCluster
import Forwardcast
import ForwardcastDistributed
import TestSupport
import Testing

@testable import chatroom

/// A member of a node of its own.
private struct Guest {
  let listener: Listener
  let door: Door
  let system: ClusterSystem
  private let members = RoomMemberProxy()

  init(_ name: String, port: Int) async {
    system = await startNode(name, port: port)
    listener = Listener(name)
    members.add(listener)
    door = Door(members, for: RoomMemberProxy.table, types: roomTypes, actorSystem: system)
    await system.receptionist.checkIn(door, with: .members)
  }
}

/// Answers what no member does.
private final class Stranger: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Stranger.self) {
    Responds(to: RoomMemberProxy.Messages.heard) { _, line in line.number }
    Responds(to: "tally") { _ in "nothing" }
  }
}

@Suite("The chat room over a cluster", .serialized, .timeLimit(.minutes(10)))
struct ClusterTests {
  @Test("a member that is started again stays when the cluster says that its former node is down")
  func startedAgain() async throws {
    let system = await startNode("host", port: 7337)
    let host = Host()
    let tasks = [Task { await host.admit(from: system) }, Task { await host.watch(system) }]
    let first = await Guest("ann", port: 7338)
    await until(host.members(named: "ann").count == 1)
    await first.door.close("it crashed")
    let second = await Guest("ann", port: 7338)
    await until(host.members(named: "ann").count == 2)
    // Said again until the host listens.
    while host.members(named: "ann").count == 2 {
      system.cluster.become(first.door.id.node, .down)
      await Task.yield()
    }
    try #require(host.members(named: "ann").map { $0.endpointID as? ClusterSystem.ActorID } == [second.door.id])
    try await host.say(1...3)
    expect(second.listener.tally().heard, equals: 3)
    expect(first.listener.tally().heard, equals: 0)
    // A stranger is no reason for the others to end.
    let strange = Door(Stranger(), for: Stranger.selectorTable, types: roomTypes, actorSystem: second.system)
    await system.receptionist.checkIn(strange, with: .members)
    await until(host.members(named: "ann").count == 2)
    try await host.report()
    for task in tasks { task.cancel() }
    withExtendedLifetime((first, second, strange)) {}
  }
}
