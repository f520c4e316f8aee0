// Room.swift: the server. What one member says, every member hears.
// Example: Chat.

import Dispatch
import Forwardcast
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

final class Room: Sendable {
  let port: UInt16
  /// One line after another: everybody hears the same in the same order.
  private let queue = DispatchQueue(label: "room")
  private let members = LineListenerProxy()
  /// Where clients come in.
  nonisolated(unsafe) private let door: any DispatchSourceRead  // never changed; a source takes calls from any thread

  init() throws {
    let (descriptor, port) = try listeningSocket()
    self.port = port
    door = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    door.setEventHandler { [weak self] in
      let guest = accept(descriptor, nil, nil)
      if guest >= 0 { self?.admit(Member(Wire(guest))) }
    }
    door.setCancelHandler { close(descriptor) }
    door.resume()
  }

  deinit { door.cancel() }

  private func admit(_ member: Member) {
    member.wire.read(on: queue) { [self] line in
      switch (member.name, line) {
      case (nil, let name?):
        member.name = name
        // Its lines leave on a queue of its own: a member that is slow to read keeps nobody waiting.
        members.add(member, delivery: .queue(DispatchQueue(label: name)), ownership: .strong)
        members.heard("\(name) joins")
      case (let name?, let text?):
        members.heard("\(name): \(text)")
      case (let name?, nil):
        members.remove(member)
        members.heard("\(name) leaves")
      case (nil, nil): break
      }
    }
  }
}

/// The room's end of a connection: what it hears goes over the wire.
final class Member: LineListener {
  let wire: Wire
  private let givenName = Mutex<String?>(nil)

  init(_ wire: Wire) { self.wire = wire }

  var name: String? {
    get { givenName.withLock { $0 } }
    set { givenName.withLock { $0 = newValue } }
  }

  func heard(_ line: String) { wire.send(line) }
}
