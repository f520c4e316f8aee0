// ThreadController.swift: lets a test control when a thread continues.

/// Controls when a thread continues, for tests that explore every schedule. Otherwise unused.
package final class ThreadController: Sendable {
  private static let slot = ThreadSlot()

  /// The controller of the current thread. The code that sets the controller must retain it.
  package static var current: ThreadController? {
    get { slot.pointer.map { Unmanaged<ThreadController>.fromOpaque($0).takeUnretainedValue() } }
    set { slot.pointer = newValue.map { Unmanaged.passUnretained($0).toOpaque() } }
  }

  /// Called when a mailbox for a context is created.
  let meet: @Sendable (any DeliveryContext) -> Void
  /// Called when the thread has sent something that did not wake a context.
  let reach: @Sendable () -> Void
  /// Blocks until the condition holds. Returns false if the deadline passes first.
  let wait: @Sendable (Deadline, @escaping @Sendable () -> Bool) -> Bool

  package init(
    meet: @escaping @Sendable (any DeliveryContext) -> Void, reach: @escaping @Sendable () -> Void,
    wait: @escaping @Sendable (Deadline, @escaping @Sendable () -> Bool) -> Bool
  ) {
    (self.meet, self.reach, self.wait) = (meet, reach, wait)
  }
}
