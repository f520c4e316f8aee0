// StackGuard.swift: whether the running thread's stack has room for another message.

import Synchronization

/// Whether the running thread's stack has room for another message, so that messages which send messages without end
/// become an error and not a crash.
///
/// Each thread keeps where its room ends in a slot of its own, found once. A check then reads the slot and compares it
/// with the address of a local variable. What is left free is 256 KiB, on stacks of less than 1 MiB a quarter of them:
/// enough for a method's own work, the error and its way back.
package enum StackGuard {
  /// Whether the stack has room for another message.
  ///
  /// Where the system does not say how large the stack is, the answer is yes.
  ///
  /// - Complexity: one read of a thread's slot and one comparison, after the first call on a thread.
  @inline(__always)
  package static var hasRoom: Bool {
    var local: UInt8 = 0
    // Nothing is written there, so that the function needs no guard against what is written too far.
    let here = _withUnprotectedUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
    let slot = slot.load(ordering: .relaxed)
    // The slot holds the end's complement, so that an empty slot is an end that no address reaches.
    return slot != noSlot && ~here < UInt(bitPattern: ThreadSlot(number: slot).pointer) || hasRoomByBounds(here)
  }

  /// Finds the bounds of the running stack, keeps where its room ends, and compares with that.
  @inline(never)
  private static func hasRoomByBounds(_ here: UInt) -> Bool {
    let stack = ThreadStack.bounds(around: here)
    let end = stack.map { $0.lowerBound + min(reserve, UInt($0.count) / 4) } ?? 0
    madeSlot.pointer = UnsafeMutableRawPointer(bitPattern: ~end)
    return here > end
  }

  /// Calls a handler of errors. Where the stack has no room for a message that is done once: `false` when a handler has been
  /// called so on this thread and has not ended, for what it sends has no room either.
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

  private static let reserve: UInt = 256 << 10

  /// The number of the slot, once one has been made: a constant to begin with, so that reading it runs nothing else.
  private static let slot = Atomic<UInt>(noSlot)
  private static let noSlot = UInt.max
  private static let madeSlot: ThreadSlot = {
    let made = ThreadSlot()
    slot.store(made.number, ordering: .relaxed)
    return made
  }()
}
