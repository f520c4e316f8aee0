// ForwardingProxy.swift: the open class that stands for one object.

/// An object that stands for another, with hooks that subclasses override, like Objective-C's `NSProxy`.
///
///     let stand = ForwardingProxy(to: screen)
///     try stand.send(.themesColorChanged, .red)       // screen gets it
///
/// By itself it passes each message to its target, held strongly. Its own Swift methods never shadow a forwarded selector: messages
/// are looked up in tables, and a proxy's is empty. It stays in one isolation, and waits from there for what runs elsewhere:
/// ``sendAndWait(_:_:)``.
open class ForwardingProxy: MessageForwarding, MessageHooking {
  /// Empty, so that every message is forwarded.
  open class var selectorTable: SelectorTable { emptyProxyTable }

  /// The table of this proxy, by default `nil`; its methods are answered and not forwarded.
  open var objectTable: SelectorTable? { nil }

  /// Adds a method for a message that no table answers: see ``MessageReceiver/resolveMethod(for:)``.
  open class func resolveMethod(for selector: MessageSelector) -> Bool { false }

  let hooks: ForwardingHooks

  /// A proxy without a target, for subclasses that find one themselves.
  public init() { hooks = ForwardingHooks(nil, isShared: false) }

  init(hooks: ForwardingHooks) { self.hooks = hooks }

  /// A proxy that forwards to `target` and keeps it alive.
  public init(to target: any MessageReceiver) { hooks = ForwardingHooks(target, isShared: false) }

  /// A proxy that forwards to `target` and keeps it alive; methods of other isolations may get the target.
  public init(to target: any MessageReceiver & Sendable) { hooks = ForwardingHooks(target, isShared: true) }

  /// The target, where it is known to be `Sendable`.
  var sharedTarget: AnyObject? { hooks.isShared ? hooks.target : nil }

  /// Whether the proxy's table, the receiver that it forwards to or ``methodSignature(for:)`` knows `selector`. `false` in a ring
  /// of proxies.
  open func responds(to selector: MessageSelector) -> Bool { defaultResponds(to: selector) }

  /// The types that the target states; `nil` when there is no target or it does not respond.
  open func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let method = try? tableMethod(of: self, for: selector) { return method.signature }
    guard let other = forwardingTarget(for: selector), other !== self else { return nil }
    return ProxyQuestion.ask(self, selector, otherwise: nil) { signature(of: other, selector) }
  }

  /// The target.
  open func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { hooks.target }

  /// Handles a message that ``forwardingTarget(for:)`` did not take. The default throws what ``doesNotRecognize(_:)`` gives; called
  /// directly for a message that is taken, it sends it as ``MessageReceiver/perform(_:)`` does.
  @discardableResult
  open func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    guard hasTaker(for: invocation.selector) else { throw doesNotRecognize(invocation.selector) }
    try perform(&invocation)
    return DeliveryReport(answeredBy: self, invocation.result)
  }

  /// Handles a message that ``forwardingTarget(for:)`` did not take, for a sender that waits; by default, calls ``forward(_:)``.
  /// A subclass that sends the message on overrides this with a waiting send.
  nonisolated(nonsending) open func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    guard hasTaker(for: invocation.selector) else { return try forwardInTurn(invocation) }
    var answered = invocation
    try await performAndWait(&answered)
    return DeliveryReport(answeredBy: self, answered.result)
  }

  /// Whether a send would not end in ``forward(_:)``; then a direct call of the hook sends the message.
  private func hasTaker(for selector: MessageSelector) -> Bool {
    if (try? tableMethod(of: self, for: selector)) != nil { return true }
    return forwardingTarget(for: selector).map { $0 !== self } ?? false
  }

  /// The proxy's hooks, which surround what it forwards, whoever sends. A subclass that stands for another proxy returns its.
  open var hookPlace: HookPlace { HookPlace(holder: hooks) }

  /// The error for a message that nothing answers; by default `unrecognizedSelector`.
  open func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError.unrecognized(selector, by: self)
  }
}

private let emptyProxyTable = SelectorTable(for: ForwardingProxy.self, rows: [])
