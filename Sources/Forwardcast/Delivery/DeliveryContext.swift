// DeliveryContext.swift: the queues, actors and executors on which mailboxes are emptied.

import Dispatch

/// Something on which mailboxes are emptied.
package protocol DeliveryContext: AnyObject, Sendable {
  /// The queue's own object, the actor or the executor. The context keeps it alive, so it stays unique.
  var identity: ObjectIdentifier { get }
  var name: String { get }
  /// Makes `mailbox.drain()` run once on the context, later, with that priority if the context has priorities, and without
  /// task-local values: one sender's are not for the messages of others.
  ///
  /// This must happen eventually, and nothing tells when it does not: a queue keeps its blocks, and an executor that drops a job
  /// never releases what the task holds. Waiters then end by timeout or cancellation.
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority)
  /// Whether the context runs tasks, which have a priority.
  var hasPriority: Bool { get }
  /// Whether the running code is on the context, so that waiting for it would never end.
  var isCurrent: Bool { get }
  /// Whether the context is known to do nothing before the running code, which is not on it, has ended.
  var waitsForCaller: Bool { get }
  /// How many deliveries a mailbox makes in one turn before others get theirs.
  var turn: Int { get }
  /// Whether deliveries can run on it in parallel, so that each target has its own mailbox.
  var isConcurrent: Bool { get }
}

extension DeliveryContext {
  package var turn: Int { 512 }
  package var isConcurrent: Bool { false }
  package var hasPriority: Bool { false }
  package var waitsForCaller: Bool { false }

  /// Whether the running thread is making one of the context's deliveries.
  package var isHeld: Bool { HeldContext.contains(identity) }
}

final class QueueContext: DeliveryContext {
  private let queue: DispatchQueue
  private let id: QueueIdentity
  let isConcurrent: Bool

  /// - Parameter isConcurrent: `nil` to find out as far as the system tells.
  init(_ queue: DispatchQueue, isConcurrent: Bool? = nil) {
    self.queue = queue
    self.isConcurrent = isConcurrent ?? Self.isKnownConcurrent(queue)
    id = QueueIdentity.of(queue, isConcurrent: self.isConcurrent)
  }

  /// Whether a queue is a global one, or described as concurrent by the system, which only Apple's does.
  private static func isKnownConcurrent(_ queue: DispatchQueue) -> Bool {
    if queue.label.hasPrefix("com.apple.root.") { return true }
    #if canImport(Darwin)
      return "\(queue)".contains("OS_dispatch_queue_concurrent")
    #else
      return false
    #endif
  }

  var identity: ObjectIdentifier { ObjectIdentifier(id) }
  var name: String { queue.label.isEmpty ? "queue" : "queue \(queue.label)" }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {
    queue.async { [self] in
      assert(id.isCurrent, "a queue runs its own blocks")
      id.lookForNewTarget(of: queue)
      mailbox.drain()
    }
  }

  var isCurrent: Bool { id.isCurrent }
  var waitsForCaller: Bool { id.waitsForCaller }
}

class ActorContext: DeliveryContext, @unchecked Sendable {  // immutable
  private let actor: any Actor

  init(_ actor: any Actor) { self.actor = actor }

  var identity: ObjectIdentifier { ObjectIdentifier(actor) }
  var name: String { "actor \(typeName(of: actor))" }
  final var hasPriority: Bool { true }
  var isCurrent: Bool { HeldContext.isOn(actor) }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {
    let level = Mailbox.level(priority)
    Task.detached(priority: priority) { [actor] in await Self.drain(mailbox, level, on: actor) }
  }

  private static func drain(_ mailbox: Mailbox, _ level: UInt16, on actor: isolated any Actor) {
    actor.assertIsolated()
    mailbox.drain(level)
  }
}

/// Its tasks begin on the main actor: on any other they have to change over to it.
final class MainActorContext: ActorContext, @unchecked Sendable {  // immutable
  init() { super.init(MainActor.shared) }

  override var name: String { "main actor" }

  override func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {
    let level = Mailbox.level(priority)
    Task.detached(priority: priority) { @MainActor in mailbox.drain(level) }
  }
}

final class ExecutorContext: ActorContext, @unchecked Sendable {  // immutable
  /// An actor on the executor, which is the only way to run code there.
  private actor Guest {
    private let executor: any SerialExecutor
    init(_ executor: any SerialExecutor) { self.executor = executor }
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  }

  private let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) {
    self.executor = executor
    super.init(Guest(executor))
  }

  override var identity: ObjectIdentifier { ObjectIdentifier(executor) }
  override var name: String { "executor \(typeName(of: executor))" }
  override var isCurrent: Bool {
    if isHeld { return true }
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return executor.isIsolatingCurrentContext() ?? false
    }
    return false
  }
}
