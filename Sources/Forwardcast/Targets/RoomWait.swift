// RoomWait.swift: senders that wait for room in a buffer go on when the way to its target is closed.

import Synchronization

/// A sender that waits for room in the buffer of a target, by the registrations on the way there.
final class RoomWait: Sendable {
  private let way: [Registration]
  /// Lets the sender go, where the way is closed.
  private let look: @Sendable () -> Void

  private static let table = Guarded<[ObjectIdentifier: [ObjectIdentifier: RoomWait]]>(.init())
  /// How many there are: where there is none nobody looks for them.
  private static let count = Atomic<Int>(0)

  /// - Parameter look: lets the sender go if the way is closed: asked now, and whenever a registration on it ends or is muted.
  init(on way: [Registration], _ look: @escaping @Sendable () -> Void) {
    (self.way, self.look) = (way, look)
    // Entered before it looks: a change that closes the way meanwhile finds the wait, or is found by the look.
    RoomWait.count.wrappingAdd(1, ordering: .sequentiallyConsistent)
    RoomWait.table.withLock { table in
      for registration in way { table[ObjectIdentifier(registration), default: .init()][ObjectIdentifier(self)] = self }
    }
    look()
  }

  func end() {
    RoomWait.table.withLock { table in
      for key in way.map(ObjectIdentifier.init) {
        table[key]?[ObjectIdentifier(self)] = nil
        if table[key]?.isEmpty ?? false { table[key] = nil }
      }
    }
    RoomWait.count.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Lets those senders go whose way is closed by a registration.
  static func look(at registration: Registration) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    let waits = table.withLock { Array($0[ObjectIdentifier(registration), default: .init()].values) }
    for wait in waits { wait.look() }
  }
}
