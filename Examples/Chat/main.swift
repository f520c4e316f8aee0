// main.swift: a room over TCP; each line goes to every client, and there to delegates on their own queues.
// Example: Chat. Run it with `swift run chat`.

import Dispatch
import Forwardcast

let room = try Room()
var guests: [(client: Client, inbox: Inbox)] = []

/// Waits until everybody who is in the room has heard one line.
@MainActor
func everybodyHears() throws {
  for guest in guests { print("  \(guest.client.name) hears \"\(try guest.inbox.next())\"") }
}

for name in ["ann", "bob", "eve"] {
  let (client, inbox) = (try Client(name, port: room.port), Inbox())
  client.delegates.add(inbox, delivery: .queue(DispatchQueue(label: "inbox of \(name)")))
  guests.append((client, inbox))
  print("\(name) connects")
  client.join()
  try everybodyHears()
}

print("bob speaks")
guests[1].client.say("hello, everybody")
try everybodyHears()

print("all speak at once")
DispatchQueue.concurrentPerform(iterations: guests.count) { [guests] speaker in
  for number in 1...100 { guests[speaker].client.say("line \(number)") }
}
let heard = try guests.map { guest in try (0..<300).map { _ in try guest.inbox.next() } }
print("  each hears \(Set(heard[0]).count) lines, in \(Set(heard).count) order")

while !guests.isEmpty {
  let leaving = guests.removeFirst()
  print("\(leaving.client.name) leaves")
  leaving.client.leave()
  try everybodyHears()
}

// Prints:
// ann connects
//   ann hears "ann joins"
// bob connects
//   ann hears "bob joins"
//   bob hears "bob joins"
// eve connects
//   ann hears "eve joins"
//   bob hears "eve joins"
//   eve hears "eve joins"
// bob speaks
//   ann hears "bob: hello, everybody"
//   bob hears "bob: hello, everybody"
//   eve hears "bob: hello, everybody"
// all speak at once
//   each hears 300 lines, in 1 order
// ann leaves
//   bob hears "ann leaves"
//   eve hears "ann leaves"
// bob leaves
//   eve hears "bob leaves"
// eve leaves
