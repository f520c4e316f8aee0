// Delivery.swift: where and when a registration's messages run.

import Dispatch

/// Where and when a registration's messages run.
///
///     // its own copy of the arguments, on its own queue:
///     members.add(archive, delivery: .queue(diskQueue))
///     members.add(window, delivery: .mainActor)
///     members.add(ledger, delivery: .actor(ledger))
///
/// A target sees the messages of one registration in the order in which they were sent. The targets of one proxy on one context
/// are served one after another; on a concurrent queue they run at the same time.
public struct Delivery: Hashable, Sendable {
  /// The context for queued messages; `nil` for a direct delivery.
  package let context: (any DeliveryContext)?
  package let isAutomatic: Bool

  private init(_ context: (any DeliveryContext)?, isAutomatic: Bool = false) {
    (self.context, self.isAutomatic) = (context, isAutomatic)
  }

  /// Synchronously on the sender's thread.
  public static let direct = Delivery(nil)

  /// On a dispatch queue, by default the main queue. A global queue is treated as concurrent.
  public static func queue(_ queue: DispatchQueue? = nil) -> Delivery { Delivery(QueueContext(queue ?? .main)) }

  /// On a concurrent queue: targets run at the same time, each of them one message at a time, in order.
  ///
  /// The same as ``queue(_:)`` for global queues, and on Apple systems for every concurrent queue. Elsewhere the library cannot
  /// tell that a queue of your own is concurrent, and would run its targets one after another.
  public static func concurrentQueue(_ queue: DispatchQueue) -> Delivery {
    Delivery(QueueContext(queue, isConcurrent: true))
  }

  /// On the main actor.
  public static var mainActor: Delivery { Delivery(MainActorContext()) }

  /// On an actor, which need not be the target. The registration keeps it alive.
  public static func actor(_ actor: any Actor) -> Delivery { Delivery(ActorContext(actor)) }

  /// On a serial executor, such as an event loop.
  public static func executor(_ executor: any SerialExecutor) -> Delivery { Delivery(ExecutorContext(executor)) }

  /// Synchronously when the sender is on the queue and nothing waits for the target, else as ``queue(_:)``; the order of messages
  /// is kept either way.
  ///
  /// The target has one message at a time, also on a concurrent queue: while one sender runs it there, other senders' messages are
  /// queued. Those that it sends itself meanwhile run at once.
  public static func automatic(_ queue: DispatchQueue? = nil) -> Delivery {
    Delivery(QueueContext(queue ?? .main), isAutomatic: true)
  }

  /// On another kind of context.
  package static func on(_ context: any DeliveryContext, isAutomatic: Bool = false) -> Delivery {
    Delivery(context, isAutomatic: isAutomatic)
  }

  /// Whether both are of one kind and on one context; serial and concurrent delivery on one queue are not equal.
  public static func == (left: Delivery, right: Delivery) -> Bool {
    left.isAutomatic == right.isAutomatic && left.context?.identity == right.context?.identity
      && left.context?.isConcurrent == right.context?.isConcurrent
  }

  /// Hashes kind and context.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(isAutomatic)
    hasher.combine(context?.identity)
  }
}

extension Delivery: CustomStringConvertible {
  /// For example `direct`, `queue disk`, `automatic queue disk`.
  public var description: String {
    guard let context else { return "direct" }
    return (isAutomatic ? "automatic " : "") + context.name
  }
}
