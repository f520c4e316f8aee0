// RoomWait.swift: senders that wait for room in a buffer continue when the way to its target is closed.

import Synchronization

/// A sender that waits for room in a target's buffer, by the registrations on the way there.
final class RoomWait: Sendable {
  private let way: [Registration]
  private let look: @Sendable () -> Void

  private static let table = Guarded<[ObjectIdentifier: [ObjectIdentifier: RoomWait]]>(.init())
  /// How many there are: at zero nobody looks for them.
  private static let count = Atomic<Int>(0)

  /// - Parameter look: resumes the sender if the way is closed: called now, and whenever a registration on it ends or is muted.
  init(on way: [Registration], _ look: @escaping @Sendable () -> Void) {
    (self.way, self.look) = (way, look)
    // Entered before it looks: a change that closes the way meanwhile finds the wait, or the look finds the change.
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

  /// Resumes the senders whose way `registration` closes.
  static func look(at registration: Registration) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    let waits = table.withLock { Array($0[ObjectIdentifier(registration), default: .init()].values) }
    for wait in waits { wait.look() }
  }
}
