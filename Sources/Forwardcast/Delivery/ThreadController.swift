// ThreadController.swift: lets a test decide when the running thread continues.

/// Decides when a thread continues, for a test that runs a program in every order. Otherwise no thread has one.
package final class ThreadController: Sendable {
  private static let slot = ThreadSlot()

  /// The running thread's, kept alive by its setter.
  package static var current: ThreadController? {
    get { slot.pointer.map { Unmanaged<ThreadController>.fromOpaque($0).takeUnretainedValue() } }
    set { slot.pointer = newValue.map { Unmanaged.passUnretained($0).toOpaque() } }
  }

  /// Notes that a registration is to be delivered on a context.
  let meet: @Sendable (any DeliveryContext) -> Void
  /// Notes that the thread has sent something that woke no context.
  let reach: @Sendable () -> Void
  /// Blocks until the condition holds. `false` when the deadline came first.
  let wait: @Sendable (Deadline, @escaping @Sendable () -> Bool) -> Bool

  package init(
    meet: @escaping @Sendable (any DeliveryContext) -> Void, reach: @escaping @Sendable () -> Void,
    wait: @escaping @Sendable (Deadline, @escaping @Sendable () -> Bool) -> Bool
  ) {
    (self.meet, self.reach, self.wait) = (meet, reach, wait)
  }
}
