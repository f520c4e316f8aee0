// main.swift: guests behind an actor system, here the toolchain's own, in one process.
// Example: Lounge. Run it with `swift run lounge`.

import Distributed
import Forwardcast
import ForwardcastDistributed
import Synchronization

typealias Engine = LocalTestingDistributedActorSystem

struct Remark: Codable, Sendable {
  let author: String
  let text: String
}

@Forwarded
protocol LoungeGuest: AnyObject, Sendable {
  /// Returns the number of remarks that a guest has heard. The proxy returns the sum.
  @Answer(.sum) func heard(_ remark: Remark) async throws -> Int
}

final class Guest: LoungeGuest {
  private let count = Mutex(0)

  func heard(_ remark: Remark) -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}

let (types, engine) = (KnownTypes(["Remark": Remark.self]), Engine())

/// Makes a guest reachable for the messages of the protocol.
func openDoor(_ guest: Guest) -> MessageEndpoint<Engine> {
  let guests = LoungeGuestProxy()
  guests.add(guest, ownership: .strong)
  return MessageEndpoint(guests, for: LoungeGuestProxy.table, types: types, actorSystem: engine)
}

let (lounge, alice, bob, carol) = (LoungeGuestProxy(), Guest(), openDoor(Guest()), openDoor(Guest()))
lounge.add(alice)

// The engine discovers endpoints; the admission connects to each of them.
let (found, finding) = AsyncStream.makeStream(of: MessageEndpoint<Engine>.self)
finding.yield(bob)
finding.yield(carol)
finding.finish()

let names = [bob.id: "bob", carol.id: "carol"]
let admission = RemoteAdmission<Engine>(options: RemoteOptions(types: types), name: { names[$0] ?? "somebody" })
for await event in admission.events(of: found) {
  switch event {
  case .admitted(let guest, _): lounge.add(remote: guest, whenGone: .endsRegistration)
  case .refused(_, let error, _): print("\(error.peer) stays outside: \(error)")
  case .searchEnded: break
  }
}
print(lounge.count, "guests")

for text in ["hello", "anybody there?"] {
  print("\(text): \(try await lounge.heard(Remark(author: "host", text: text))) remarks heard")
}

// A guest that leaves closes its endpoint, so that no sender waits for a deadline.
await carol.close("carol goes home")
do { _ = try await lounge.heard(Remark(author: "host", text: "bye")) } catch { print(error) }
print(lounge.count, "guests")

// Prints:
// 3 guests
// hello: 3 remarks heard
// anybody there?: 6 remarks heard
// receiver gone: 'heard:' of carol: carol goes home; the message did not run
// 2 guests
