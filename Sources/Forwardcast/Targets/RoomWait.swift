// RoomWait.swift: waits that react when a registration ends or is muted.

import Synchronization

/// Observes registrations on the path to awaited targets, so the sender's wait reacts when a
/// registration ends or is muted.
final class RoomWait: Sendable {
  private let number = RoomWait.numbers.wrappingAdd(1, ordering: .relaxed).newValue
  private let way: [Registration]
  private let look: @Sendable (Registration) -> Void

  /// The running waits by registration, and by their numbers.
  private static let table = Guarded<[ObjectIdentifier: [Int: RoomWait]]>(.init())
  private static let numbers = Atomic<Int>(0)
  /// The number of running waits. `look(at:)` does nothing if there are none.
  private static let count = Atomic<Int>(0)

  /// - Parameter look: called with each registration of `way` that is inactive now, and with each
  ///   that ends or is muted later.
  init(on way: [Registration], _ look: @escaping @Sendable (Registration) -> Void) {
    (self.way, self.look) = (way, look)
    // The wait is counted before it checks the registrations, so no change is missed. The fence
    // keeps the relaxed loads of the check behind the count.
    RoomWait.count.wrappingAdd(1, ordering: .sequentiallyConsistent)
    RoomWait.table.withLock { table in
      for registration in way { table[ObjectIdentifier(registration), default: .init()][number] = self }
    }
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    for registration in way where !registration.isActive { look(registration) }
  }

  func end() {
    RoomWait.table.withLock { table in
      for key in way.map(ObjectIdentifier.init) {
        table[key]?[number] = nil
        if table[key]?.isEmpty ?? false { table[key] = nil }
      }
    }
    RoomWait.count.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Notifies the waits on a registration that has ended or was muted, in the order in which they
  /// began.
  static func look(at registration: Registration) {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    let waits = table.withLock { Array($0[ObjectIdentifier(registration), default: .init()].values) }
    for wait in inOrder(waits, by: \.number) { wait.look(registration) }
  }
}
