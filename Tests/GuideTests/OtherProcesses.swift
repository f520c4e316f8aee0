// OtherProcesses.swift: the code of the catalog of ForwardcastDistributed, with both ends in one process.
// Layer: Tests.

import Distributed
import Forwardcast
import ForwardcastDistributed
import ForwardcastDistributedTesting
import Synchronization
import TestSupport
import Testing

// snippet: remote-protocol
struct Line: Codable, Sendable { var text = "hello" }

@Forwarded
protocol RoomMember: AnyObject, Sendable {
  @Answer(.sum) @discardableResult func heard(_ line: Line) -> Int
}
// end

extension Message<(Int) -> Int> { fileprivate static var add: Self { .init("add:") } }

@Receiver
private final class Counter: Sendable {
  private let sum = Mutex(0)
  @Message func add(_ number: Int) -> Int {
    sum.withLock {
      $0 += number
      return $0
    }
  }
}

private final class Member: RoomMember {
  private let count = Mutex(0)
  func heard(_ line: Line) -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}

@Suite("Other processes", .whenQuiet)
struct OtherProcesses {
  private let system = LocalTestingDistributedActorSystem()

  private func open(_ counter: Counter) -> MessageEndpoint<LocalTestingDistributedActorSystem> {
    // snippet: remote-counter
    // In the process that has the counter:
    let door = MessageEndpoint(counter, for: Counter.selectorTable, actorSystem: system)
    // end
    return door
  }

  @Test("a counter is reached from elsewhere, alone and among others")
  func counter() async throws {
    let door = open(Counter())
    let room = RoomMemberProxy()
    // snippet: remote-counter
    // In another, after its engine has found the endpoint:
    let counter = try await RemoteReceiver(connectingTo: door, name: "counter")
    let sum = try await counter.sendAndWait(.add, 5)
    room.add(remote: counter, buffer: .keepNewest(100), whenGone: .endsRegistration)
    // end
    expect(sum, equals: 5)
    withExtendedLifetime(door) {}
  }

  @Test("a multicast is reached as one, and is a target as one")
  func rooms() async throws {
    let (first, window) = (Member(), Member())
    let far = RoomMemberProxy()
    far.add(first)
    let (door, narrow) = doors(far)
    let line = Line()
    // snippet: remote-send
    let bob = try await RemoteReceiver(connectingTo: door, name: "bob", options: RemoteOptions(deadline: .seconds(30)))
    let answer = try await bob.sendAndWait(Message<(Line) -> Int>("heard:"), line)
    // end
    expect(answer, equals: 1)
    // snippet: remote-room
    let room = RoomMemberProxy()
    room.add(window, delivery: .mainActor)
    room.add(remote: bob, buffer: .keepNewest(100), whenGone: .keepsTrying(RemoteBackoff()))
    room.heard(line)  // to all, waits for nobody
    let counts = try await room.collectAndWait(RoomMemberProxy.Messages.heard, line, returning: .all)
    // end
    expect(counts, equals: [2, 3])
    withExtendedLifetime((first, window, door, narrow)) {}
  }

  @Test("members are admitted as they are found")
  func admission() async throws {
    let (room, door) = (RoomMemberProxy(), open(Counter()))
    let (found, finding) = AsyncStream.makeStream(of: MessageEndpoint<LocalTestingDistributedActorSystem>.self)
    finding.yield(door)
    finding.finish()
    let types = InvocationTypes(["Line": Line.self])
    // snippet: remote-admission
    let admission = RemoteAdmission<LocalTestingDistributedActorSystem>(options: RemoteOptions(types: types))
    for await event in admission.events(of: found) {
      switch event {
      case .admitted(let member, _): room.add(remote: member, whenGone: .keepsTrying(RemoteBackoff()))
      case .refused(let id, let error, let triesAgain): print(id, error, triesAgain ? "for now" : "for good")
      case .searchEnded(let error): print("nobody is found any more", error.map { "\($0)" } ?? "")
      }
    }
    // end
    expect(room.count, equals: 1)
  }

  @Test("an engine is checked")
  func engine() async {
    let (server, client) = (system, system)
    // snippet: engine-conformance
    let checks = await EngineConformance(serving: server, calling: client, deadline: .seconds(60)).run()
    let broken = checks.filter { !$0.isKept }  // each says its promise, and what was found instead
    // end
    #expect(broken.isEmpty, "\(broken)")
    expect(checks.count, equals: 11)
  }

  private func doors(_ room: RoomMemberProxy) -> (
    MessageEndpoint<LocalTestingDistributedActorSystem>, MessageEndpoint<LocalTestingDistributedActorSystem>
  ) {
    // snippet: remote-doors
    let types = InvocationTypes(["Line": Line.self])
    let door = MessageEndpoint(room, for: RoomMemberProxy.table, types: types, actorSystem: system)
    let narrow = MessageEndpoint(room, allowing: [RoomMemberProxy.Messages.heard.selector], actorSystem: system)
    // end
    return (door, narrow)
  }
}
