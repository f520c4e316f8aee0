// HeldContext.swift: which contexts the running thread is on, so that a wait on one of them is refused.

import Dispatch

/// One context that the running thread holds: a queue, an actor or an executor whose deliveries it is making.
///
/// The contexts of a thread are a chain on its stack, the innermost first. It belongs to the thread and not to the task: a task
/// that a delivery starts is no longer on the context, and must not be taken to be.
package struct HeldContext {
  private let identity: ObjectIdentifier
  private let outer: UnsafeMutableRawPointer?

  private static let slot = ThreadSlot()

  /// Runs `body` as something that happens on the context of that identity. It must not suspend.
  package static func hold<T, E: Error>(_ identity: ObjectIdentifier, _ body: () throws(E) -> T) throws(E) -> T {
    let outer = slot.pointer
    var held = HeldContext(identity: identity, outer: outer)
    return try withUnsafeMutablePointer(to: &held) { (held) throws(E) -> T in
      slot.pointer = UnsafeMutableRawPointer(held)
      defer { slot.pointer = outer }
      return try body()
    }
  }

  /// Whether the running thread is making a delivery of the context of that identity, at any depth.
  package static func contains(_ identity: ObjectIdentifier) -> Bool {
    var held = slot.pointer
    while let here = held?.assumingMemoryBound(to: HeldContext.self).pointee {
      if here.identity == identity { return true }
      held = here.outer
    }
    return false
  }

  /// Marks the main queue, so that whoever runs on it can tell.
  private static let mainMark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()

  /// Whether the running code is on the main actor: its executor is the main queue.
  @inline(never) package static var isMain: Bool {
    DispatchQueue.getSpecific(key: mainMark) != nil || contains(ObjectIdentifier(MainActor.shared))
  }

  /// Whether the running code is known to be on `actor`: a delivery of its own, or an executor that says so.
  @inline(never) package static func isOn(_ actor: any Actor) -> Bool {
    contains(ObjectIdentifier(actor)) || actor === MainActor.shared && isMain
  }
}
