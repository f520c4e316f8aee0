// ProxyQuestion.swift: questions that pass from proxy to proxy.

/// Questions passed from proxy to proxy, ended when they come around a ring.
package enum ProxyQuestion {
  @TaskLocal fileprivate static var asked: ProxyTrail?
  /// The message being sent, and the proxies that it came through.
  @TaskLocal private static var routed: (selector: MessageSelector, trail: ProxyTrail)?

  /// Runs `body` unless `proxy` is already being asked about `selector` further up, or the stack or budget is exhausted; then the
  /// answer is `otherwise`.
  package static func ask<T>(_ proxy: AnyObject, _ selector: MessageSelector, otherwise: T, _ body: () -> T) -> T {
    guard StackGuard.hasRoom else { return otherwise }
    let trail = asked
    if let trail, trail.contains(proxy, selector) { return otherwise }
    do { try (trail?.budget ?? routed?.trail.budget)?.charge(.question) } catch { return otherwise }
    let here = ProxyTrail(proxy, selector, after: trail)
    defer { here.end() }
    return $asked.withValue(here) { body() }
  }

  /// Asks whether `receiver` takes a message that is on its way. A proxy that the message came through says yes, so that it gets
  /// the message and finds the cycle.
  package static func takes(_ receiver: any MessageForwarding, _ message: Invocation) -> Bool {
    guard let trail = message.route else { return receiver.responds(to: message.selector) }
    return $routed.withValue((message.selector, trail)) {
      receiver.responds(to: message.selector)
    }
  }

  /// Charges the budget of the question being asked, if any, for what a message is led or searched through.
  ///
  /// - Throws: when the budget is exhausted.
  static func charge(_ item: MessageBudget.Item, _ count: Int = 1) throws { try asked?.budget?.charge(item, count) }

  /// Whether the question is about a message of `selector` that came through `proxy`.
  package static func isOnItsWay(_ selector: MessageSelector, through proxy: AnyObject) -> Bool {
    guard let routed, routed.selector == selector else { return false }
    return routed.trail.contains(proxy)
  }
}

extension MessageBudget {
  /// Charges the budget for the questions that `body` asks, and for forwarding objects that its sends are led through.
  package func charging<T>(_ body: () throws -> T) rethrows -> T {
    try ProxyQuestion.$asked.withValue(ProxyTrail(nil, budget: self, after: ProxyQuestion.asked), operation: body)
  }
}
