// OtherProcesses.swift: the code of the catalog of ForwardcastDistributed, in one process.

// snippet: remote-protocol
import Distributed
import Forwardcast
import ForwardcastDistributed
// end
import TestSupport
// snippet: engine-test
import Distributed
import Forwardcast
import ForwardcastDistributed
import Synchronization
import Testing
// end

// snippet: remote-protocol
struct Line: Codable, Sendable { var text = "hello" }

@Forwarded
protocol RoomMember: AnyObject, Sendable {
  @Answer(.sum) @discardableResult func heard(_ line: Line) -> Int
}

final class Member: RoomMember {
  func heard(_ line: Line) -> Int { line.text.count }
}
// end

extension Message<(Int) -> Int> {
  static var add: Self { .init("add:") }
}

@Receiver
final class Counter: Sendable {
  private let sum = Mutex(0)
  @Message func add(_ number: Int) -> Int {
    sum.withLock {
      $0 += number
      return $0
    }
  }
}

@Suite("Sending to Other Processes", .whenQuiet)
struct OtherProcesses {
  @Test("a client in another process sends messages to a receiver")
  func counter() async throws {
    let system = LocalTestingDistributedActorSystem()  // or your engine

    // In the process that has the counter:
    let door = MessageEndpoint(
      Counter(), for: Counter.selectorTable, actorSystem: system)

    // In another, after its engine has found the endpoint:
    let counter = try await RemoteReceiver(connectingTo: door, name: "counter")
    let sum = try await counter.sendAndWait(.add, 5)
    expect(sum, equals: 5)
    withExtendedLifetime(door) {}
  }

  @Test("one endpoint serves a multicast, and members join when they are discovered")
  func rooms() async throws {
    // snippet: remote-doors
    let system = LocalTestingDistributedActorSystem()  // or your engine
    let (member, room) = (Member(), RoomMemberProxy())
    room.add(member)

    let types = KnownTypes(["Line": Line.self])
    let door = MessageEndpoint(
      room, for: RoomMemberProxy.table, types: types, actorSystem: system)
    let narrow = MessageEndpoint(
      room, allowing: [RoomMemberProxy.Messages.heard.selector],
      actorSystem: system)
    // end
    // snippet: remote-send
    let bob = try await RemoteReceiver(
      connectingTo: door, name: "bob",
      options: RemoteOptions(deadline: .seconds(30)))
    let heard = RoomMemberProxy.Messages.heard
    let answer = try await bob.sendAndWait(heard, Line())  // 5
    // end
    expect(answer, equals: 5)
    // snippet: remote-room
    let window = Member()
    let hall = RoomMemberProxy()
    hall.add(window, delivery: .mainActor)
    hall.add(
      remote: bob, buffer: .keepNewest(100),
      whenGone: .keepsTrying(RemoteBackoff()))
    hall.heard(Line())  // to all, waits for nobody
    let counts = try await hall.collectAndWait(
      heard, Line(text: "hi"), returning: .all)  // [2, 2]
    // end
    expect(counts, equals: [2, 2])
    // snippet: remote-presence
    let watching = Task {
      for await presence in bob.presences {
        switch presence {
        case .connected: print("bob is here")
        case .lost(let reason): print("lost: \(reason)")  // messages fail at once
        case .ended(let reason): print("left: \(reason)")  // for good
        }
      }
    }
    // end
    watching.cancel()
    // snippet: remote-admission
    typealias System = LocalTestingDistributedActorSystem
    let (found, finding) = AsyncStream.makeStream(of: MessageEndpoint<System>.self)
    finding.yield(door)  // the engine does, for each endpoint that it finds
    finding.finish()

    let admission = RemoteAdmission<System>(options: RemoteOptions(types: types))
    for await event in admission.events(of: found) {
      switch event {
      case .admitted(let member, _):
        hall.add(remote: member, whenGone: .keepsTrying(RemoteBackoff()))
      case .refused(let id, let error, let triesAgain):
        print(id, error, triesAgain ? "for now" : "for good")
      case .searchEnded(let error):
        print("nobody is found any more", error.map { "\($0)" } ?? "")
      }
    }
    // end
    expect(hall.count, equals: 3)
    withExtendedLifetime((member, window, door, narrow)) {}
  }
}

// snippet: engine-test
@Receiver
final class Witness: Sendable {
  let seen = Mutex<[Int]>([])
  @Message func note(_ number: Int) -> Int {
    seen.withLock { $0.append(number) }
    return number
  }
  @Message func echo(_ text: String) -> String { text }
}

@Test("the engine carries messages unchanged and to their receivers")
func carriesMessages() async throws {
  typealias System = LocalTestingDistributedActorSystem
  let serving = System()
  let calling = serving  // another node of your engine
  let witness = Witness()
  let door = MessageEndpoint(
    witness, for: Witness.selectorTable, actorSystem: serving)
  let found = try MessageEndpoint<System>.resolve(id: door.id, using: calling)
  let remote = try await RemoteReceiver(connectingTo: found)
  let note = Message<(Int) -> Int>("note:")
  let echo = Message<(String) -> String>("echo:")

  let text = String(repeating: "a \"quote\", a null \0 and 🙂", count: 9_999)
  #expect(try await remote.sendAndWait(echo, text) == text)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for number in 1...200 {
      group.addTask {
        let answer = try await remote.sendAndWait(note, number)
        #expect(answer == number)
      }
    }
    try await group.waitForAll()
  }
  #expect(witness.seen.withLock { $0.sorted() } == Array(1...200))
  await door.close("done")
  await #expect(throws: RemoteError.self) {
    try await remote.sendAndWait(note, 0)
  }
}
// end
