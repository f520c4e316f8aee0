// Host.swift: the room. It talks to a member of its own and to those that come from other processes.
// Example: Cluster.

import DistributedCluster
import Forwardcast
import ForwardcastDistributed
import Synchronization

final class Host: Sendable {
  private let room = RoomMemberProxy()
  private let own = Listener("host")
  private let names = Mutex<[String]>([])
  private let ends = Mutex((answers: 0, errors: 0))

  init() { room.add(own) }

  /// Lets in whoever checks in, now and later.
  func admit(from system: ClusterSystem) async throws {
    for await door in await system.receptionist.listing(of: .members) {
      let options = RemoteOptions(deadline: .seconds(2), types: roomTypes, givesUpAfter: 1)
      let member = try await RemoteReceiver(connectingTo: door, name: door.id.node.description, options: options)
      let name = try await member.sendAndWait(RoomMemberProxy.Messages.tally).name
      room.add(remote: member, whenGone: .endsRegistration)
      names.withLock { $0.append(name) }
      print("\(name) is in the room")
    }
  }

  /// Waits until somebody of that name has come.
  func wait(for name: String) async throws {
    while !names.withLock({ $0.contains(name) }) { try await Task.sleep(for: .milliseconds(20)) }
  }

  /// Says lines one after another. Each is heard by everybody, and each hearing ends in an answer or an error.
  func say(_ numbers: ClosedRange<Int>) async throws {
    for number in numbers {
      let line = Line(number: number, author: "host", text: "line \(number)")
      let call = Invocation(RoomMemberProxy.Messages.heard.selector, arguments: [ArgumentBox(line)])
      let report = try await room.forwardAndWait(call)
      for failure in report.failures { print("line \(number): \(failure.error)") }
      ends.withLock {
        $0.answers += report.answers.count
        $0.errors += report.failures.count
      }
      if number % 2500 == 0 { print("line \(number): \(room.count) members") }
    }
  }

  /// What everybody who is left has heard.
  func report() async throws {
    let (answers, errors) = ends.withLock { ($0.answers, $0.errors) }
    print("\(answers) answers, \(errors) errors")
    for tally in try await room.collectAndWait(RoomMemberProxy.Messages.tally, returning: .all) {
      print("\(tally.name) heard \(tally.heard), misplaced \(tally.misplaced)")
    }
  }
}
