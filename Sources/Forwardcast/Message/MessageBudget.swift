// MessageBudget.swift: what a message may cost, and who is asked before it costs more.

/// What a message, and everything that it leads to, may cost.
///
/// The library counts; whoever made the budget says what each item costs. A budget travels with the trail of its message, so a
/// message without one costs nothing more.
package final class MessageBudget: Sendable {
  /// What is counted, each before it is done.
  package enum Item: Sendable {
    /// A proxy or forwarding object that the message enters, the first one included.
    case proxy
    /// A target that is served or asked, here or on its own context.
    case target
    /// A registration that is passed by, or that a proxy looks at to find who gets a selector.
    case passed
    /// A registration of those who get a selector, each time that a message goes along all of them one by one; one that is
    /// looked at for proxies that are to be waited for.
    case step
    /// A delivery that is posted to another context.
    case queued
    /// A hook of a proxy.
    case hook
    /// A proxy or forwarding object that is asked what it responds to.
    case question
  }

  private let spend: @Sendable (Item, Int) throws -> Void

  /// - Parameter spend: called with the number of items, on any thread and under no lock. What it throws is the error of the
  ///   step, and ends the message everywhere; a question is then answered with no.
  package init(_ spend: @escaping @Sendable (_ item: Item, _ count: Int) throws -> Void) { self.spend = spend }

  /// Charges for what is about to be done.
  ///
  /// - Throws: why it is not to be done.
  package func charge(_ item: Item, _ count: Int = 1) throws { try spend(item, count) }
}

extension Invocation {
  /// Who pays for the message: to be set before it is sent.
  package var budget: MessageBudget? {
    get { route?.budget }
    set { route = newValue.map { ProxyTrail($0, after: route) } }
  }
}
