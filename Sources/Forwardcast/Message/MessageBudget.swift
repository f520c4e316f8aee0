// MessageBudget.swift: limits what a message may cost.

/// The limit of what a message, and everything that it causes, may cost. The library counts items,
/// and the creator of the budget prices them. The trail of the message stores it, so a message
/// without a budget pays nothing.
package final class MessageBudget: Sendable {
  /// The counted items. Each is charged before it happens.
  package enum Item: Sendable {
    /// A proxy or forwarding object that the message enters, including the first.
    case proxy
    /// A target that is called or queried, on any context.
    case target
    /// A registration that is skipped, or that a proxy looks at to make a route.
    case passed
    /// A step of a route, each time that a message goes through the steps one by one, or searches them for proxies to wait for.
    case step
    /// A delivery posted to another context.
    case queued
    /// A hook of a proxy.
    case hook
    /// A proxy or forwarding object that is queried for what it responds to.
    case question
  }

  private let spend: @Sendable (Item, Int) throws -> Void

  /// - Parameter spend: called with the number of items, on any thread, under no lock. What it throws is the error of the step and
  ///   ends the message everywhere; a question is then answered with no.
  package init(_ spend: @escaping @Sendable (_ item: Item, _ count: Int) throws -> Void) { self.spend = spend }

  /// Charges for an item that is about to happen. Throws to prevent it.
  package func charge(_ item: Item, _ count: Int = 1) throws { try spend(item, count) }
}

extension Invocation {
  /// The message's budget, to be set before it is sent.
  package var budget: MessageBudget? {
    get { route?.budget }
    set { route = newValue.map { ProxyTrail(nil, budget: $0, after: route) } }
  }
}
