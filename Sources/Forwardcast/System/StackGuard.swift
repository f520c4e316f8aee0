// StackGuard.swift: checks the thread's stack before a message.

import Synchronization

/// Checks the thread's stack before a message, so that unbounded recursion throws instead of
/// crashing.
///
/// Each thread stores the limit in a thread-specific slot; a check compares it with the address of
/// a local variable. 256 KiB remain for a method's own work, the error and the return; on stacks
/// below 1 MiB a quarter, but at least 32 KiB.
package enum StackGuard {
  /// True if the stack has space for another message, or its size is unknown.
  ///
  /// - Complexity: reads thread-specific data and compares, after the first call on a thread.
  @inline(__always)
  package static var hasRoom: Bool {
    var local: UInt8 = 0
    // Nothing is written there, so the function needs no stack protector.
    let here = _withUnprotectedUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
    let slot = slot.load(ordering: .relaxed)
    // The slot holds the complement of the limit, so an empty slot is a limit that no address
    // reaches.
    return slot != noSlot && ~here < UInt(bitPattern: ThreadSlot(number: slot).pointer) || hasRoomByBounds(here)
  }

  /// Determines the bounds of the stack, stores the limit, and compares with it.
  @inline(never)
  private static func hasRoomByBounds(_ here: UInt) -> Bool {
    let stack = ThreadStack.bounds(around: here)
    let end = stack.map { $0.lowerBound + reserve(of: UInt($0.count)) } ?? 0
    madeSlot.pointer = UnsafeMutableRawPointer(bitPattern: ~end)
    return here > end
  }

  /// Calls an error handler, and returns true. If the stack is exhausted and such a call is already
  /// running on this thread, returns false instead.
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

  /// The slot's number. A constant at first, so that reading it needs no lazy initialization.
  private static let slot = Atomic<UInt>(noSlot)
  private static let noSlot = UInt.max
  private static let madeSlot: ThreadSlot = {
    let made = ThreadSlot()
    slot.store(made.number, ordering: .relaxed)
    return made
  }()
}
