// Host.swift: the room. It talks to a member of its own and to those that come from other processes.
// Example: Cluster.

import DistributedCluster
import Forwardcast
import ForwardcastDistributed
import Synchronization

final class Host: Sendable {
  private let room = RoomMemberProxy()
  private let own = Listener("host")
  /// By identity, which knows the node: one that is started again is another node of the same name.
  private let members = Mutex<[ClusterSystem.ActorID: RemoteReceiver]>([:])
  private let ends = Mutex((answers: 0, errors: 0))

  init() { room.add(own) }

  /// Lets in whoever checks in, now and later, and tells when one is lost or back.
  func admit(from system: ClusterSystem) async {
    let admission = RemoteAdmission<ClusterSystem>(
      options: memberOptions(.seconds(2)), name: { $0.node.endpoint.systemName })
    for await event in admission.events(of: await system.receptionist.listing(of: .members)) {
      switch event {
      case .admitted(let member, let id):
        room.add(remote: member, whenGone: .keepsTrying(RemoteBackoff(first: .milliseconds(200), longest: .seconds(2))))
        members.withLock { $0[id] = member }
        print("\(member.name) is in the room")
        Task { for await presence in member.presences { print("\(member.name): \(presence)") } }
      case .refused(_, let error, let triesAgain):
        print("\(error.peer) stays outside: \(error); again: \(triesAgain)")
      case .searchEnded(let error): print("nobody is found any more", error as Any)
      }
    }
  }

  /// Ends members of which the cluster says that they will not come back.
  func watch(_ system: ClusterSystem) async {
    for await event in system.cluster.events {
      guard case .membershipChange(let change) = event, change.status >= .leaving else { continue }
      let gone = members.withLock { members in
        defer { members = members.filter { $0.key.node != change.node } }
        return members.filter { $0.key.node == change.node }
      }
      for member in gone.values { member.end("the cluster says that it is \(change.status)") }
    }
  }

  func members(named name: String) -> [RemoteReceiver] {
    members.withLock { members in members.values.filter { $0.name == name } }
  }

  /// Waits until somebody of that name has come.
  func wait(for name: String) async throws {
    while members(named: name).isEmpty { try await Task.sleep(for: .milliseconds(20)) }
  }

  /// Says lines one after another. Each is heard by everybody, and each hearing ends in an answer or an error.
  func say(_ numbers: ClosedRange<Int>, every pause: Duration = .zero) async throws {
    for number in numbers {
      let line = Line(number: number, author: "host", text: "line \(number)")
      let call = Invocation(RoomMemberProxy.Messages.heard.selector, arguments: [ArgumentBox(line)])
      let report = try await room.forwardAndWait(call)
      for failure in report.failures where (failure.error as? RemoteError)?.code != .gone {
        print("line \(number): \(failure.error)")
      }
      ends.withLock {
        $0.answers += report.answers.count
        $0.errors += report.failures.count
      }
      if number % 2500 == 0 { print("line \(number): \(room.count) members") }
      if pause > .zero { try await Task.sleep(for: pause) }
    }
  }

  /// What everybody who is left has heard. One that answers something else ends nothing.
  func report() async throws {
    let (answers, errors) = ends.withLock { ($0.answers, $0.errors) }
    print("\(answers) answers, \(errors) errors")
    let call = Invocation(RoomMemberProxy.Messages.tally.selector, arguments: [])
    for answer in try await room.forwardAndWait(call).answers {
      do {
        guard let tally = try answer.result?.unbox(as: Tally.self) else { continue }
        print("\(tally.name) heard \(tally.heard), misplaced \(tally.misplaced)")
      } catch { print("no tally: \(error)") }
    }
  }
}
