// ForwardingProxy.swift: the open class of proxies for one object.

/// An object that forwards to another object, like Objective-C's `NSProxy`. Subclasses can override
/// each step.
///
///     let stand = ForwardingProxy(to: screen)
///     try stand.send(.themesColorChanged, "red")  // screen receives it
///
/// By default the proxy forwards each message to its target, which it retains. Its own Swift
/// methods never shadow a selector, because messages are looked up in tables and a proxy's table is
/// empty. The proxy stays in one isolation and awaits isolated methods from there, see
/// ``sendAndWait(_:_:)``.
open class ForwardingProxy: MessageForwarding, MessageHooking {
  /// Empty, so that every message is forwarded.
  open class var selectorTable: SelectorTable { emptyProxyTable }

  /// The table of this proxy, `nil` by default. Messages that this table answers are not forwarded.
  open var objectTable: SelectorTable? { nil }

  /// Adds a method for a message that no table answers, see
  /// ``MessageReceiver/resolveMethod(for:)``.
  open class func resolveMethod(for selector: MessageSelector) -> Bool { false }

  let hooks: ForwardingHooks

  /// Creates a proxy without a target, for subclasses that provide one.
  public init() { hooks = ForwardingHooks(nil, isShared: false) }

  init(hooks: ForwardingHooks) { self.hooks = hooks }

  /// Creates a proxy that forwards to `target` and retains it.
  public init(to target: any MessageReceiver) { hooks = ForwardingHooks(target, isShared: false) }

  /// Creates a proxy that retains `target`. Methods in other isolations may use the target.
  public init(to target: any MessageReceiver & Sendable) { hooks = ForwardingHooks(target, isShared: true) }

  /// The target, if it is known to be `Sendable`.
  var sharedTarget: AnyObject? { hooks.isShared ? hooks.target : nil }

  /// True if the proxy's table or its target responds to `selector`. Without a target, true if
  /// ``methodSignature(for:)`` returns a signature.
  open func responds(to selector: MessageSelector) -> Bool { defaultResponds(to: selector) }

  /// The signature of the proxy's table or of the target; `nil` if neither responds.
  open func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let method = try? tableMethod(of: self, for: selector) { return method.signature }
    guard let other = forwardingTarget(for: selector), other !== self else { return nil }
    return ProxyQuestion.ask(self, selector, otherwise: nil) { signature(of: other, selector) }
  }

  /// The target.
  open func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { hooks.target }

  /// Handles a message for which there is no forwarding target. The default throws the error of
  /// ``doesNotRecognize(_:)``. If you call this method yourself with a message that the proxy does
  /// recognize, the default performs the message instead.
  @discardableResult
  open func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    guard hasTaker(for: invocation.selector) else { throw doesNotRecognize(invocation.selector) }
    try perform(&invocation)
    return DeliveryReport(answeredBy: self, invocation.result)
  }

  /// Like ``forward(_:)``, for a waiting sender. The default calls ``forward(_:)``; override this
  /// method to forward with a waiting send.
  nonisolated(nonsending) open func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    guard hasTaker(for: invocation.selector) else { return try forwardInTurn(invocation) }
    var answered = invocation
    try await performAndWait(&answered)
    return DeliveryReport(answeredBy: self, answered.result)
  }

  /// True if a table has the method, or there is another object to forward to.
  private func hasTaker(for selector: MessageSelector) -> Bool {
    if (try? tableMethod(of: self, for: selector)) != nil { return true }
    return forwardingTarget(for: selector).map { $0 !== self } ?? false
  }

  /// The proxy's hooks. A class that wraps another proxy returns the hooks of the wrapped proxy.
  open var hookPlace: HookPlace { HookPlace(holder: hooks) }

  /// The error of an unanswered message, `unrecognizedSelector` by default.
  open func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError.unrecognized(selector, by: self)
  }
}

private let emptyProxyTable = SelectorTable(for: ForwardingProxy.self, rows: [])
