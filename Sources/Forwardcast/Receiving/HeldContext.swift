// HeldContext.swift: the contexts of the current thread, for refusing to wait for them.

import Dispatch

#if canImport(CDispatch)
  internal import CDispatch
#endif

/// A context (queue, actor or executor) on which the running thread is making a delivery.
///
/// A thread's contexts are a linked list on its stack, innermost first. They belong to the thread:
/// a task started by a delivery is not on the context.
package struct HeldContext {
  private let identity: ObjectIdentifier
  private let outer: UnsafeMutableRawPointer?

  private static let slot = ThreadSlot()

  /// Runs `body`, which must not suspend, as a delivery on the context `identity`.
  package static func hold<T, E: Error>(_ identity: ObjectIdentifier, _ body: () throws(E) -> T) throws(E) -> T {
    let outer = slot.pointer
    var held = HeldContext(identity: identity, outer: outer)
    return try withUnsafeMutablePointer(to: &held) { (held) throws(E) -> T in
      slot.pointer = UnsafeMutableRawPointer(held)
      defer { slot.pointer = outer }
      return try body()
    }
  }

  package static func contains(_ identity: ObjectIdentifier) -> Bool {
    var held = slot.pointer
    while let here = held?.assumingMemoryBound(to: HeldContext.self).pointee {
      if here.identity == identity { return true }
      held = here.outer
    }
    return false
  }

  static var all: [ObjectIdentifier] {
    var (all, held) = ([ObjectIdentifier](), slot.pointer)
    while let here = held?.assumingMemoryBound(to: HeldContext.self).pointee {
      all.append(here.identity)
      held = here.outer
    }
    return all
  }

  private static let mainMark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()

  /// True if the running code is on the main actor, whose executor is the main queue.
  @inline(never) package static var isMain: Bool {
    mainMark.isCurrent || contains(ObjectIdentifier(MainActor.shared))
  }

  @inline(never) package static func isOn(_ actor: any Actor) -> Bool {
    contains(ObjectIdentifier(actor)) || actor === MainActor.shared && isMain
  }
}

extension DispatchSpecificKey {
  /// True if the code runs on a queue with a value for the key, or on a queue whose target queue
  /// has a value.
  var isCurrent: Bool {
    #if canImport(CDispatch)
      // `getSpecific` is not specialized for its type (case `here` of `.ci/run cost`). Dispatch's
      // key is the address of the object, which the assertion checks.
      let isSet = dispatch_get_specific(Unmanaged.passUnretained(self).toOpaque()) != nil
      assert(isSet == (DispatchQueue.getSpecific(key: self) != nil), "the key is the object's address")
      return isSet
    #else
      return DispatchQueue.getSpecific(key: self) != nil
    #endif
  }
}
