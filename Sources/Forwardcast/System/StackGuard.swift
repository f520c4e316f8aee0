// StackGuard.swift: checks the thread's stack before a message.

import Synchronization

/// Checks the thread's stack before a message, so that unbounded recursion throws. A check compares
/// the address of a local variable with a limit in a thread-specific slot. The limit leaves 256 KiB
/// for the method and the error. On a small stack it leaves a quarter, on a tiny one up to half.
package enum StackGuard {
  /// True if the stack has space for another message, or if the stack's size is unknown.
  @inline(__always)
  package static var hasRoom: Bool {
    var local: UInt8 = 0
    // `local` is never written, so the function needs no stack protector.
    let here = _withUnprotectedUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
    let slot = slot.load(ordering: .relaxed)
    // The slot holds the complement of the limit, so an empty slot (0) fails the comparison.
    return slot != noSlot && ~here < UInt(bitPattern: ThreadSlot(number: slot).pointer) || hasRoomByBounds(here)
  }

  @inline(never)
  private static func hasRoomByBounds(_ here: UInt) -> Bool {
    let stack = ThreadStack.bounds(around: here)
    let end = stack.map { $0.lowerBound + reserve(of: UInt($0.count)) } ?? 0
    madeSlot.pointer = UnsafeMutableRawPointer(bitPattern: ~end)
    return here > end
  }

  /// Calls `handler` and returns true. Calls nothing and returns false if the stack is exhausted
  /// while this thread is running a handler that was called on an exhausted stack.
  package static func tell(_ handler: () -> Void) -> Bool {
    if !hasRoom {
      guard telling.pointer == nil else { return false }
      telling.pointer = UnsafeMutableRawPointer(bitPattern: 1)
    }
    handler()
    telling.pointer = nil
    return true
  }

  private static let telling = ThreadSlot()

  private static func reserve(of size: UInt) -> UInt {
    max(min(256 << 10, size / 4), min(32 << 10, size / 2))
  }

  /// The number of the slot. `madeSlot` sets it, so that reading the number needs no lazy
  /// initialization.
  private static let slot = Atomic<UInt>(noSlot)
  private static let noSlot = UInt.max
  private static let madeSlot: ThreadSlot = {
    let made = ThreadSlot()
    slot.store(made.number, ordering: .relaxed)
    return made
  }()
}
