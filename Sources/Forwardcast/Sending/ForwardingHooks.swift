// ForwardingHooks.swift: hooks around the messages of a proxy before one object.

import Synchronization

/// The hooks of a proxy before one object, and that object.
final class ForwardingHooks: HookHolder, @unchecked Sendable {  // `target` is the proxy's, and stays in its isolation
  /// Of a proxy whose hooks stand elsewhere.
  static let ofNobody = ForwardingHooks(nil, isShared: false)
  /// Whether there were ever any in the process: while there were not, no message looks for them.
  private static let everInstalled = Atomic<Bool>(false)

  let target: (any MessageReceiver)?
  /// Whether methods of other isolations may have the target.
  let isShared: Bool
  private let list = Guarded<[Hook]>([])

  init(_ target: (any MessageReceiver)?, isShared: Bool) { (self.target, self.isShared) = (target, isShared) }

  var receiverName: String { "the proxy" }

  /// Who stands behind the proxy is not asked: a lazy one would be made.
  func firstMethod(for selector: MessageSelector) -> Method? { nil }

  func install(_ hook: Hook) -> HookRegistration {
    Self.everInstalled.store(true, ordering: .releasing)
    list.withLock { $0.append(hook) }
    // Who removes it keeps it until after the lock.
    return HookRegistration(hook) { [weak self] hook in self?.list.withLock { $0.removeAll { $0 === hook } } }
  }

  /// The hooks for a message that came to `receiver`, as somebody who forwards it.
  ///
  /// - Parameter past: the proxy whose hooks run already.
  static func around(_ selector: MessageSelector, of receiver: any MessageForwarding, past: AnyObject?)
    -> ForwardingAround?
  {
    guard everInstalled.load(ordering: .acquiring), receiver !== past, let proxy = receiver as? ForwardingProxy
    else { return nil }
    let own = proxy.hooks.list.withLock { $0.filter { $0.isFor(selector) } }
    return own.isEmpty ? nil : ForwardingAround(proxy: proxy, chain: HookChain(hooks: own))
  }
}

/// Forwards one message of a proxy through the proxy's hooks.
///
/// Inside of them the message is sent once more, past these hooks and with its arguments as they are.
final class ForwardingAround: ForwardingToMany {
  private let proxy: ForwardingProxy
  private let chain: HookChain
  /// Whether a sender that waits for it may let no receiver go elsewhere that is not known to be `Sendable`.
  var stays = false

  init(proxy: ForwardingProxy, chain: HookChain) { (self.proxy, self.chain) = (proxy, chain) }

  func responds(to selector: MessageSelector) -> Bool { proxy.responds(to: selector) }

  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    let answers = try chain.run(message(invocation), sendInTurn(invocation.selector))
    invocation.result = answers.boxes.last
    return DeliveryReport(answeredBy: proxy, invocation.result)
  }

  nonisolated(nonsending) func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    let (proxy, selector, stays) = (proxy, invocation.selector, stays)
    let rest: Hook.WaitingRest = { arguments in
      var copy = arguments.invocation(selector)
      var found = try resolve(selector, for: proxy, past: proxy)
      if stays { found = try await staying(found, selector, behind: proxy) }
      try await finishWaiting(found, &copy)
      return TypedAnswers(of: copy)
    }
    let answers = try await chain.runAndWait(message(invocation), rest, inTurn: sendInTurn(selector))
    return DeliveryReport(answeredBy: proxy, answers.boxes.last)
  }

  private func sendInTurn(_ selector: MessageSelector) -> Hook.Rest {
    { [proxy] arguments in
      var copy = arguments.invocation(selector)
      try finish(try resolve(selector, for: proxy, past: proxy), &copy)
      return TypedAnswers(of: copy)
    }
  }

  private func message(_ invocation: Invocation) -> HookedMessage {
    HookedMessage(selector: invocation.selector, receiver: proxy, arguments: BoxedArguments(invocation))
  }
}
