// ProxyQuestion.swift: responder queries that pass from proxy to proxy.

/// Queries whether objects respond. A query passes from proxy to proxy and ends at a cycle.
package enum ProxyQuestion {
  @TaskLocal fileprivate static var asked: ProxyTrail?
  /// The message that the current query belongs to, and the proxies that the message has passed.
  @TaskLocal private static var routed: (selector: MessageSelector, trail: ProxyTrail)?

  /// Runs `body`. Returns `otherwise` if `proxy` is already being queried for `selector`, or if the
  /// stack or the budget is exhausted.
  package static func ask<T>(_ proxy: AnyObject, _ selector: MessageSelector, otherwise: T, _ body: () -> T) -> T {
    guard StackGuard.hasRoom else { return otherwise }
    let trail = asked
    if let trail, trail.contains(proxy, selector) { return otherwise }
    do { try charge(.question) } catch { return otherwise }
    let here = ProxyTrail(proxy, selector, after: trail)
    defer { here.end() }
    return $asked.withValue(here) { body() }
  }

  /// True if `receiver` accepts the message. A proxy that the message has already passed returns
  /// true, so it gets the message and detects the cycle.
  package static func takes(_ receiver: any MessageForwarding, _ message: Invocation) -> Bool {
    guard let trail = message.route else { return receiver.responds(to: message.selector) }
    return $routed.withValue((message.selector, trail)) {
      receiver.responds(to: message.selector)
    }
  }

  /// Charges the budget of the current query or of its message, if any. Throws if the budget is
  /// exhausted.
  static func charge(_ item: MessageBudget.Item, _ count: Int = 1) throws {
    try (asked?.budget ?? routed?.trail.budget)?.charge(item, count)
  }

  /// True if the query is about a message of `selector` that passed `proxy`.
  package static func isOnItsWay(_ selector: MessageSelector, through proxy: AnyObject) -> Bool {
    guard let routed, routed.selector == selector else { return false }
    return routed.trail.contains(proxy)
  }
}

extension MessageBudget {
  /// Charges this budget while `body` runs: for each query, and for each forwarding object that a
  /// message passes.
  package func charging<T>(_ body: () throws -> T) rethrows -> T {
    try ProxyQuestion.$asked.withValue(ProxyTrail(nil, budget: self, after: ProxyQuestion.asked), operation: body)
  }
}
