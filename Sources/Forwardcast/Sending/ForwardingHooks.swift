// ForwardingHooks.swift: the hooks of a proxy for one object.

import Synchronization

final class ForwardingHooks: HookHolder, @unchecked Sendable {  // `target` stays in its proxy's isolation
  /// A placeholder for a proxy that stores its hooks itself.
  static let ofNobody = ForwardingHooks(nil, isShared: false)
  /// True once a proxy for one object has had a hook. Until then, no message looks for such hooks.
  private static let everInstalled = Atomic<Bool>(false)

  let target: (any MessageReceiver)?
  /// True if methods in other isolations may use the target.
  let isShared: Bool
  private let list = Guarded(FirstInFirstOut<Hook>())

  init(_ target: (any MessageReceiver)?, isShared: Bool) { (self.target, self.isShared) = (target, isShared) }

  var receiverName: String { "the proxy" }

  /// Returns `nil`, because querying a lazy target would create it.
  func firstMethod(for selector: MessageSelector) -> Method? { nil }

  func install(_ hook: Hook) -> HookRegistration {
    Self.everInstalled.store(true, ordering: .releasing)
    list.withLock { hook.number = $0.append(hook) }
    // The caller of `cancel` retains the hook until the lock is released.
    return HookRegistration(hook) { [weak self] hook in _ = self?.list.withLock { $0.remove(hook.number) } }
  }

  /// The hooks for a message that `receiver` forwards. `past` is a proxy whose hooks are running.
  static func around(_ selector: MessageSelector, of receiver: any MessageForwarding, past: AnyObject?)
    -> ForwardingAround?
  {
    guard everInstalled.load(ordering: .acquiring), receiver !== past, let proxy = receiver as? ForwardingProxy
    else { return nil }
    let own = proxy.hooks.list.withLock { $0.filter { $0.isFor(selector) } }
    return own.isEmpty ? nil : ForwardingAround(proxy: proxy, chain: HookChain(hooks: own))
  }
}

/// Runs a proxy's hooks around one message. The innermost hook passes the message to the proxy's
/// target.
final class ForwardingAround: ForwardingToMany {
  private let proxy: ForwardingProxy
  private let chain: HookChain
  /// True if a receiver that is used outside the waiting sender's isolation must be `Sendable`.
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
    HookedMessage(
      selector: invocation.selector, receiver: proxy, arguments: BoxedArguments(invocation), isOfProxy: true)
  }
}
