// Delivery.swift: the context on which a registration's methods run.

import Dispatch

/// The context on which a registration's methods run.
///
///     // the archive runs on its own queue:
///     members.add(archive, delivery: .queue(diskQueue))
///     members.add(window, delivery: .mainActor)
///     members.add(ledger, delivery: .actor(ledger))
///
/// A registration's messages run in the order in which they were sent. Targets of one proxy on one
/// serial context run one after another. On a concurrent queue, targets run in parallel.
public struct Delivery: Hashable, Sendable {
  /// The context of queued messages; `nil` for direct delivery.
  package let context: (any DeliveryContext)?
  package let isAutomatic: Bool

  private init(_ context: (any DeliveryContext)?, isAutomatic: Bool = false) {
    (self.context, self.isAutomatic) = (context, isAutomatic)
  }

  /// Synchronously on the sender's thread.
  public static let direct = Delivery(nil)

  /// On a dispatch queue, the main queue by default. A global queue is treated as concurrent.
  public static func queue(_ queue: DispatchQueue? = nil) -> Delivery { Delivery(QueueContext(queue ?? .main)) }

  /// On a concurrent queue. Targets run in parallel; each runs one message at a time, in order.
  ///
  /// On Apple platforms, ``queue(_:)`` detects concurrent queues. On other platforms it detects
  /// only global queues, and runs the targets on other queues one after another.
  public static func concurrentQueue(_ queue: DispatchQueue) -> Delivery {
    Delivery(QueueContext(queue, isConcurrent: true))
  }

  /// On the main actor.
  public static var mainActor: Delivery { Delivery(MainActorContext()) }

  /// On an actor. If the actor is not the target itself, the registration retains it.
  public static func actor(_ actor: any Actor) -> Delivery { Delivery(ActorContext(actor)) }

  /// On a serial executor, such as an event loop. If the executor is not the target itself, the
  /// registration retains it.
  public static func executor(_ executor: any SerialExecutor) -> Delivery { Delivery(ExecutorContext(executor)) }

  /// Synchronously if the sender is on the queue and no earlier message for the target is queued;
  /// otherwise like ``queue(_:)``. Messages run in order either way.
  ///
  /// If the target forwards the message to a method that suspends, the message is queued.
  ///
  /// The target runs one message at a time, even on a concurrent queue: while one sender runs it,
  /// the messages of other senders are queued. Messages that the target sends to itself run
  /// synchronously.
  public static func automatic(_ queue: DispatchQueue? = nil) -> Delivery {
    Delivery(QueueContext(queue ?? .main), isAutomatic: true)
  }

  package static func on(_ context: any DeliveryContext, isAutomatic: Bool = false) -> Delivery {
    Delivery(context, isAutomatic: isAutomatic)
  }

  /// True if both have the same kind and context. Serial and concurrent are different kinds.
  public static func == (left: Delivery, right: Delivery) -> Bool {
    left.isAutomatic == right.isAutomatic && left.context?.identity == right.context?.identity
      && left.context?.isConcurrent == right.context?.isConcurrent
  }

  /// Hashes the context, and whether the delivery is automatic.
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
