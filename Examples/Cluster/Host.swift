// Host.swift: the room, with local and remote members.
// Example: Cluster.

import DistributedCluster
import Forwardcast
import ForwardcastDistributed
import Synchronization

final class Host: Sendable {
  private let room = RoomMemberProxy()
  private let own = Listener("host")
  /// By identity, which contains the node, so a restarted process has another identity.
  private let members = Mutex<[ClusterSystem.ActorID: RemoteReceiver]>([:])
  private let ends = Mutex((answers: 0, errors: 0))

  init() { room.add(own) }

  /// Admits members as a node discovers them, and prints when one is lost or returns.
  func admit(from system: ClusterSystem) async {
    let admission = RemoteAdmission<ClusterSystem>(options: memberOptions, name: { $0.node.endpoint.systemName })
    for await event in admission.events(of: await system.receptionist.listing(of: .members)) {
      switch event {
      case .admitted(let member, let id):
        endMembers("\(member.name) is back on another node") { $0.node.endpoint.systemName == member.name }
        room.add(remote: member, whenGone: .keepsTrying(RemoteBackoff(first: .milliseconds(200), longest: .seconds(2))))
        members.withLock { $0[id] = member }
        print("\(member.name) is in the room")
        Task { for await presence in member.presences { print("\(member.name): \(presence)") } }
      case .refused(_, let error, let triesAgain):
        print("\(error.peer) stays outside: \(error); again: \(triesAgain)")
      case .searchEnded(let error): print("no more members are found", error.map { "\($0)" } ?? "")
      }
    }
  }

  /// Ends members whose nodes the cluster has declared down, since a node cannot come back.
  func watch(_ system: ClusterSystem) async {
    for await event in system.cluster.events {
      guard case .membershipChange(let change) = event, change.status >= .leaving else { continue }
      endMembers("the cluster says that it is \(change.status)") { $0.node == change.node }
    }
  }

  func endMembers(_ reason: String, where isMeant: (ClusterSystem.ActorID) -> Bool) {
    let gone = members.withLock { members in
      defer { members = members.filter { !isMeant($0.key) } }
      return members.filter { isMeant($0.key) }
    }
    for member in gone.values { member.end(reason) }
  }

  /// Waits until a member of this name has joined.
  func wait(for name: String) async throws {
    while !members.withLock({ $0.values.contains { $0.name == name } }) { try await Task.sleep(for: .milliseconds(20)) }
  }

  /// Sends lines one after another. For each member a line ends in an answer or an error.
  func say(_ numbers: ClosedRange<Int>, every pause: Duration = .zero) async throws {
    for number in numbers {
      let line = Line(number: number, author: "host", text: "line \(number)")
      let call = Invocation(RoomMemberProxy.Messages.heard.selector, arguments: [ArgumentBox(line)])
      let report = try await room.forwardAndWait(call)
      for failure in report.failures where (failure.error as? RemoteError)?.code != .gone {
        print("line \(number): \(failure.error)")
      }
      ends.withLock { $0 = ($0.answers + report.answers.count, $0.errors + report.failures.count) }
      if pause > .zero { try await Task.sleep(for: pause) }
    }
  }

  /// Prints what each member has heard. A member with another kind of answer is skipped.
  func report() async throws {
    let (answers, errors) = ends.withLock { ($0.answers, $0.errors) }
    print("\(answers) answers, \(errors) errors")
    let call = Invocation(RoomMemberProxy.Messages.tally.selector, arguments: [])
    for answer in try await room.forwardAndWait(call).answers {
      guard let tally = try? answer.result?.unbox(as: Tally.self) else { continue }
      print("\(tally.name) heard \(tally.heard), misplaced \(tally.misplaced)")
    }
  }
}
