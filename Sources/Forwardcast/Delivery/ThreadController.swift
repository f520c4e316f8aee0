// ThreadController.swift: lets a test decide when the running thread continues.

/// Decides when a thread continues, for a test that runs a program in every order. Otherwise no thread has one.
package final class ThreadController: Sendable {
  private static let slot = ThreadSlot()

  /// The running thread's, kept alive by its setter.
  package static var current: ThreadController? {
    get { slot.pointer.map { Unmanaged<ThreadController>.fromOpaque($0).takeUnretainedValue() } }
    set { slot.pointer = newValue.map { Unmanaged.passUnretained($0).toOpaque() } }
  }

  private let met: @Sendable (any DeliveryContext) -> Void
  private let reached: @Sendable () -> Void
  private let waited: @Sendable (Deadline, @escaping @Sendable () -> Bool) -> Bool

  package init(
    met: @escaping @Sendable (any DeliveryContext) -> Void, reached: @escaping @Sendable () -> Void,
    waited: @escaping @Sendable (Deadline, @escaping @Sendable () -> Bool) -> Bool
  ) {
    (self.met, self.reached, self.waited) = (met, reached, waited)
  }

  /// Notes that a registration is to be delivered on a context.
  func meet(_ context: any DeliveryContext) { met(context) }

  /// Notes that the thread has sent something that woke no context.
  func reach() { reached() }

  /// Blocks until `isDone`. `false` when the deadline came first.
  func wait(until deadline: Deadline, _ isDone: @escaping @Sendable () -> Bool) -> Bool { waited(deadline, isDone) }
}
