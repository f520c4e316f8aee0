// MessageBudget.swift: limits the cost of a message.

/// Limits the cost of a message. Forwardcast counts items, and the budget's creator prices them.
package final class MessageBudget: Sendable {
  /// The counted items. Each is charged before it happens.
  package enum Item: Sendable {
    /// A proxy or forwarding object that the message enters, including the first one.
    case proxy
    /// A target that is called or queried, on any context.
    case target
    /// A registration that is skipped, or scanned for a route (the target list for one selector).
    case passed
    /// An entry of a route that a message visits or scans.
    case step
    /// A delivery posted to another context.
    case queued
    /// A hook of a proxy.
    case hook
    /// A proxy or forwarding object that is queried.
    case question
  }

  private let spend: @Sendable (Item, Int) throws -> Void

  /// - Parameter spend: called with the number of items, on any thread, without a lock held. If
  ///   `spend` throws, a message ends with that error, and a query is answered with no.
  package init(_ spend: @escaping @Sendable (_ item: Item, _ count: Int) throws -> Void) { self.spend = spend }

  /// Charges for `count` items that are about to happen. Throws to prevent them.
  package func charge(_ item: Item, _ count: Int = 1) throws { try spend(item, count) }
}

extension Invocation {
  package var budget: MessageBudget? {
    get { route?.budget }
    set { route = newValue.map { ProxyTrail(nil, budget: $0, after: route) } }
  }
}
