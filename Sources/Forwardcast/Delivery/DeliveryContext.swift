// DeliveryContext.swift: the queues, actors and executors that drain mailboxes.

import Dispatch

package protocol DeliveryContext: AnyObject, Sendable {
  /// The identity of the queue, actor or executor, unique as long as the context exists.
  var identity: ObjectIdentifier { get }
  var name: String { get }
  /// Schedules one `mailbox.drain()`, at `priority` if the context has priorities. The drain
  /// gets no task-local values, since those belong to one sender. The drain must run eventually.
  /// Otherwise senders that await its deliveries wait until timeout or cancellation.
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority)
  /// True if the context runs tasks, so its drains have a priority.
  var hasPriority: Bool { get }
  /// True if the running code is on the context, so waiting for the context would deadlock.
  var isCurrent: Bool { get }
  /// True if the context cannot run until the caller has finished, for example a queue that targets
  /// the caller's queue. Waiting for the context would then deadlock.
  var waitsForCaller: Bool { get }
  /// The maximum number of deliveries in one drain, for fairness to the context's other work.
  var turn: Int { get }
  /// True if deliveries can run in parallel, so each target has its own mailbox.
  var isConcurrent: Bool { get }
  /// The context for the mailbox of `target`, and the actor, if any, that a registration of
  /// `target` retains. The context must not retain `target`.
  func forMailbox(of target: AnyObject) -> (context: any DeliveryContext, retained: (any Actor)?)
}

extension DeliveryContext {
  package var turn: Int { 512 }
  package var isConcurrent: Bool { false }
  package var hasPriority: Bool { false }
  package var waitsForCaller: Bool { false }
  package func forMailbox(of target: AnyObject) -> (context: any DeliveryContext, retained: (any Actor)?) {
    (self, nil)
  }

  /// True if the current thread is running one of the context's deliveries.
  package var isHeld: Bool { HeldContext.contains(identity) }
}

final class QueueContext: DeliveryContext {
  private let queue: DispatchQueue
  private let id: QueueIdentity
  let isConcurrent: Bool

  /// - Parameter isConcurrent: `nil` to detect it, as far as the system allows.
  init(_ queue: DispatchQueue, isConcurrent: Bool? = nil) {
    self.queue = queue
    self.isConcurrent = isConcurrent ?? Self.isKnownConcurrent(queue)
    id = QueueIdentity.of(queue, isConcurrent: self.isConcurrent)
  }

  /// True for global queues, and for queues that Apple's Dispatch describes as concurrent.
  private static func isKnownConcurrent(_ queue: DispatchQueue) -> Bool {
    if queue.label.hasPrefix("com.apple.root.") { return true }
    #if canImport(Darwin)
      return "\(queue)".contains("OS_dispatch_queue_concurrent")
    #else
      return false
    #endif
  }

  var identity: ObjectIdentifier { ObjectIdentifier(id) }
  var name: String {
    // On Linux, `DispatchQueue.main` is not always the same object.
    if queue === DispatchQueue.main || queue.label == "com.apple.main-thread" { return "main queue" }
    return queue.label.isEmpty ? "queue" : "queue \(queue.label)"
  }

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

  func forMailbox(of target: AnyObject) -> (context: any DeliveryContext, retained: (any Actor)?) {
    if actor === MainActor.shared { return (self, nil) }
    return (WeakActorContext(actor), actor === target ? nil : actor)
  }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { Self.wake(mailbox, priority, on: actor) }

  fileprivate static func wake(_ mailbox: Mailbox, _ priority: TaskPriority, on actor: any Actor) {
    let level = Mailbox.level(priority)
    Task.detached(priority: priority) { await drain(mailbox, level, on: actor) }
  }

  private static func drain(_ mailbox: Mailbox, _ level: UInt16, on actor: isolated any Actor) {
    actor.assertIsolated()
    mailbox.drain(level)
  }
}

/// A weakly referenced actor as a context. Registrations retain the actor, unless it is the target.
final class WeakActorContext: DeliveryContext, @unchecked Sendable {  // `actor` is written once, in `init`
  /// Drains the mailbox of a deallocated actor or executor, usually to drop its messages.
  fileprivate actor Substitute {
    static let shared = Substitute()
  }

  private weak var actor: (any Actor)?
  /// Keeps the address from being used for another object.
  private unowned let address: any Actor
  let identity: ObjectIdentifier
  private let type: any Actor.Type

  fileprivate init(_ actor: any Actor) {
    (self.actor, address, identity, type) = (actor, actor, ObjectIdentifier(actor), Swift.type(of: actor))
  }

  var name: String { "actor \(actor.map(typeName) ?? "\(type)")" }
  var hasPriority: Bool { true }
  var isCurrent: Bool { HeldContext.contains(identity) }

  func forMailbox(of target: AnyObject) -> (context: any DeliveryContext, retained: (any Actor)?) {
    (self, actor.flatMap { $0 === target ? nil : $0 })
  }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {
    ActorContext.wake(mailbox, priority, on: actor ?? Substitute.shared)
  }
}

/// The main actor as a context. Its tasks start there, which saves an actor hop.
final class MainActorContext: ActorContext, @unchecked Sendable {  // immutable
  init() { super.init(MainActor.shared) }

  override var name: String { "main actor" }

  override func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {
    let level = Mailbox.level(priority)
    Task.detached(priority: priority) { @MainActor in mailbox.drain(level) }
  }
}

final class ExecutorContext: DeliveryContext, @unchecked Sendable {  // immutable
  /// An actor that uses the executor. Only through such an actor can code run on the executor.
  private actor Guest {
    private let executor: any SerialExecutor
    init(_ executor: any SerialExecutor) { self.executor = executor }
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  }

  private weak let executor: (any SerialExecutor)?
  /// `nil` in the context of a mailbox, so that an executor can be a weak target.
  private let strong: (any SerialExecutor)?
  /// Keeps the address from being used for another object.
  private unowned let address: any SerialExecutor
  let identity: ObjectIdentifier
  let name: String

  init(_ executor: any SerialExecutor, isStrong: Bool = true) {
    (self.executor, strong, address) = (executor, isStrong ? executor : nil, executor)
    (identity, name) = (ObjectIdentifier(executor), "executor \(typeName(of: executor))")
  }

  func forMailbox(of target: AnyObject) -> (context: any DeliveryContext, retained: (any Actor)?) {
    guard let executor else { return (self, nil) }
    return (
      strong == nil ? self : ExecutorContext(executor, isStrong: false), executor === target ? nil : Guest(executor)
    )
  }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {
    ActorContext.wake(mailbox, priority, on: executor.map { Guest($0) } ?? WeakActorContext.Substitute.shared)
  }

  var hasPriority: Bool { true }
  var isCurrent: Bool {
    if isHeld { return true }
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return executor?.isIsolatingCurrentContext() ?? false
    }
    return false
  }
}
