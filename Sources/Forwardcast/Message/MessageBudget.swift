// MessageBudget.swift: limits what a message may cost.

/// What a message, and everything that it leads to, may cost. The library counts; the budget's maker prices the items. It travels
/// with the trail of its message, so a message without one pays nothing for it.
package final class MessageBudget: Sendable {
  /// What is counted, each before it is done.
  package enum Item: Sendable {
    /// A proxy or forwarding object that the message enters, including the first.
    case proxy
    /// A target that is served or asked, on any context.
    case target
    /// A registration that is skipped, or that a proxy looks at to make a route.
    case passed
    /// A step of a route, each time that a message goes through the steps one by one, or searches them for proxies to wait for.
    case step
    /// A delivery posted to another context.
    case queued
    /// A hook of a proxy.
    case hook
    /// A proxy or forwarding object that is asked what it responds to.
    case question
  }

  private let spend: @Sendable (Item, Int) throws -> Void

  /// - Parameter spend: called with the number of items, on any thread, under no lock. What it throws is the error of the step and
  ///   ends the message everywhere; a question is then answered with no.
  package init(_ spend: @escaping @Sendable (_ item: Item, _ count: Int) throws -> Void) { self.spend = spend }

  /// Charges for what is about to be done; throws to prevent it.
  package func charge(_ item: Item, _ count: Int = 1) throws { try spend(item, count) }
}

extension Invocation {
  /// The message's budget, to be set before it is sent.
  package var budget: MessageBudget? {
    get { route?.budget }
    set { route = newValue.map { ProxyTrail(nil, budget: $0, after: route) } }
  }
}
