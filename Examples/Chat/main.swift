// main.swift: members of a room hear lines in one order, on queues of their own.
// Example: Chat. Run it with `swift run chat`.

import Dispatch
import Forwardcast
import Synchronization

@Forwarded
protocol RoomListener: AnyObject, Sendable {
  func heard(_ line: String)
}

/// Sends lines one after another from any thread, so that all members receive them in one order.
final class Room: Sendable {
  private let queue = DispatchQueue(label: "room")
  private let members = RoomListenerProxy()

  func join(_ member: Member) {
    queue.sync {
      members.add(member, delivery: .queue(DispatchQueue(label: member.name)))
      members.heard("\(member.name) joins")
    }
  }

  func leave(_ member: Member) {
    queue.sync {
      members.remove(member)
      members.heard("\(member.name) leaves")
    }
  }

  func say(_ text: String, by member: Member) { queue.sync { members.heard("\(member.name): \(text)") } }

  /// Waits until every member has received all lines.
  func settle() async throws { try await members.drain() }
}

final class Member: RoomListener {
  let name: String
  private let lines = Mutex<[String]>([])
  init(_ name: String) { self.name = name }

  func heard(_ line: String) { lines.withLock { $0.append(line) } }
  /// Returns the lines since the last call.
  func news() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

let room = Room()
let (ann, bob, eve) = (Member("ann"), Member("bob"), Member("eve"))
for member in [ann, bob, eve] { room.join(member) }
room.say("hello, everybody", by: bob)
try await room.settle()
for member in [ann, bob, eve] { print("\(member.name) hears \(member.news())") }

DispatchQueue.concurrentPerform(iterations: 3) { speaker in
  for number in 1...100 { room.say("line \(number)", by: [ann, bob, eve][speaker]) }
}
try await room.settle()
let heard = [ann, bob, eve].map { $0.news() }
print("each hears \(Set(heard[0]).count) lines, in \(Set(heard).count) order")
room.leave(ann)
try await room.settle()
for member in [ann, bob, eve] { print("\(member.name) hears \(member.news())") }

// Prints:
// ann hears ["ann joins", "bob joins", "eve joins", "bob: hello, everybody"]
// bob hears ["bob joins", "eve joins", "bob: hello, everybody"]
// eve hears ["eve joins", "bob: hello, everybody"]
// each hears 300 lines, in 1 order
// ann hears []
// bob hears ["ann leaves"]
// eve hears ["ann leaves"]
