// Delivery.swift: where and when a registration's messages run.

import Dispatch

/// Where and when a registration's messages run.
///
///     // its own copy of the arguments, on its own queue:
///     members.add(archive, delivery: .queue(diskQueue))
///     members.add(window, delivery: .mainActor)
///     members.add(ledger, delivery: .actor(ledger))
///
/// One target sees the messages of one registration in the order in which they were sent. The targets of one proxy on
/// one context are served one after another; on a concurrent queue they run at the same time. Two deliveries are equal when
/// they are of one kind and on one context; on a queue, as one that is served one after another and as a concurrent one, they
/// are two.
public struct Delivery: Hashable, Sendable {
  package enum Kind: Sendable {
    case direct
    case queued(any DeliveryContext)
    case automatic(any DeliveryContext)
  }

  package let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  /// In the sender's turn, on the sender's thread: `broadcast` returns when the target has.
  public static let direct = Delivery(.direct)

  /// On a dispatch queue; on the main queue where none is named.
  /// - Parameter queue: a serial one, or a global one, which is taken as concurrent.
  public static func queue(_ queue: DispatchQueue? = nil) -> Delivery {
    Delivery(.queued(QueueContext(queue ?? .main)))
  }

  /// On a concurrent queue: different targets run at the same time, each of them one message at a time, in order.
  ///
  /// ``queue(_:)`` does the same for the global queues, and on Apple systems for every concurrent queue. Elsewhere nothing
  /// tells that a queue of your own is concurrent, and its targets would run one after another.
  public static func concurrentQueue(_ queue: DispatchQueue) -> Delivery {
    Delivery(.queued(QueueContext(queue, isConcurrent: true)))
  }

  /// On the main actor.
  public static var mainActor: Delivery { Delivery(.queued(MainActorContext())) }

  /// On an actor, which need not be the target. The actor is kept alive as long as the registration is.
  public static func actor(_ actor: any Actor) -> Delivery { Delivery(.queued(ActorContext(actor))) }

  /// On a serial executor, such as an event loop.
  public static func executor(_ executor: any SerialExecutor) -> Delivery {
    Delivery(.queued(ExecutorContext(executor)))
  }

  /// In the sender's turn when the sender is on the queue and nothing waits for the target, else as
  /// ``queue(_:)``; so the order of messages is the same on either way.
  ///
  /// The target has one message at a time, also where the queue runs several blocks at a time: while one sender runs it there,
  /// the messages of others are queued. Those that it sends itself in its turn run at once.
  public static func automatic(_ queue: DispatchQueue? = nil) -> Delivery {
    Delivery(.automatic(QueueContext(queue ?? .main)))
  }

  /// On a context of another kind.
  package static func on(_ context: any DeliveryContext, isAutomatic: Bool = false) -> Delivery {
    Delivery(isAutomatic ? .automatic(context) : .queued(context))
  }

  /// The context that messages are queued on; `nil` for a direct delivery.
  package var context: (any DeliveryContext)? {
    switch kind {
    case .direct: nil
    case .queued(let context), .automatic(let context): context
    }
  }

  package var isAutomatic: Bool { if case .automatic = kind { true } else { false } }

  /// Whether both are of one kind and on one context.
  public static func == (left: Delivery, right: Delivery) -> Bool {
    left.isAutomatic == right.isAutomatic && left.context?.identity == right.context?.identity
      && left.context?.isConcurrent == right.context?.isConcurrent
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(isAutomatic)
    hasher.combine(context?.identity)
  }
}

extension Delivery: CustomStringConvertible {
  /// The kind and the context's name: `direct`, `queue disk`, `automatic queue disk`.
  public var description: String {
    guard let context else { return "direct" }
    return (isAutomatic ? "automatic " : "") + context.name
  }
}
