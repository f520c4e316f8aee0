// ForwardingProxy.swift: the open class; stands for one object.

/// An object that stands for another, and whose every answer a subclass can change.
///
/// By itself it passes each message to its target, held strongly. A subclass overrides the hooks as a subclass of
/// Objective-C's `NSProxy` would. Its own Swift methods never shadow a forwarded selector: messages are looked up in
/// tables, and the table of a proxy is empty.
///
///     let stand = ForwardingProxy(to: screen)
///     try stand.send(.themesColorChanged, .red)       // screen gets it
///
/// It stays in one isolation, and waits from there for what runs elsewhere: ``sendAndWait(_:_:)``.
open class ForwardingProxy: MessageForwarding, MessageHooking {
  /// A proxy's own methods: none, so that every message is forwarded.
  open class var selectorTable: SelectorTable { emptyProxyTable }

  /// The table of this one proxy; a subclass may give one, whose methods are then answered and not forwarded.
  open var objectTable: SelectorTable? { nil }

  /// Adds a method to the proxy's table when a message is not found there: see ``MessageReceiver/resolveMethod(for:)``.
  open class func resolveMethod(for selector: MessageSelector) -> Bool { false }

  let hooks: ForwardingHooks

  /// A proxy without a target, for subclasses that find one themselves.
  public init() { hooks = ForwardingHooks(nil, isShared: false) }

  init(hooks: ForwardingHooks) { self.hooks = hooks }

  /// A proxy that stands for `target` and keeps it alive.
  /// - Parameter target: gets every message that the proxy has no row for.
  public init(to target: any MessageReceiver) { hooks = ForwardingHooks(target, isShared: false) }

  /// A proxy that stands for `target`, which methods of other isolations may have, and keeps it alive.
  /// - Parameter target: gets every message that the proxy has no row for.
  public init(to target: any MessageReceiver & Sendable) { hooks = ForwardingHooks(target, isShared: true) }

  /// The target, where it is known to be `Sendable`.
  var sharedTarget: AnyObject? { hooks.isShared ? hooks.target : nil }

  /// Whether the proxy's table, or the receiver that it forwards to, answers `selector`, or else ``methodSignature(for:)``
  /// has types for it. In a ring of proxies nobody answers.
  open func responds(to selector: MessageSelector) -> Bool { defaultResponds(to: selector) }

  /// The types of the message as the target states them; `nil` when there is no target or it does not respond.
  open func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let method = try? tableMethod(of: self, for: selector) { return method.signature }
    guard let other = forwardingTarget(for: selector), other !== self else { return nil }
    return ProxyQuestion.ask(self, selector, otherwise: nil) { signature(of: other, selector) }
  }

  /// The receiver that gets `selector` as it is: the target.
  open func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { hooks.target }

  /// Handles a message that ``forwardingTarget(for:)`` did not take. The default sends one that it does take as
  /// ``MessageReceiver/perform(_:)`` would.
  ///
  /// - Throws: what ``doesNotRecognize(_:)`` gives where nobody takes it.
  @discardableResult
  open func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    guard hasTaker(for: invocation.selector) else { throw doesNotRecognize(invocation.selector) }
    try perform(&invocation)
    return DeliveryReport(answeredBy: self, invocation.result)
  }

  /// Handles a message that ``forwardingTarget(for:)`` did not take, for a sender that waits. The default forwards in the
  /// caller's turn, and waits for one that it does take; a subclass that sends the message on overrides it with a waiting
  /// send.
  nonisolated(nonsending) open func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    guard hasTaker(for: invocation.selector) else { return try forwardInTurn(invocation) }
    var answered = invocation
    try await performAndWait(&answered)
    return DeliveryReport(answeredBy: self, answered.result)
  }

  /// Whether a send would not end in ``forward(_:)``.
  private func hasTaker(for selector: MessageSelector) -> Bool {
    if (try? tableMethod(of: self, for: selector)) != nil { return true }
    return forwardingTarget(for: selector).map { $0 !== self } ?? false
  }

  /// The proxy's own place: its hooks stand around what it forwards, whoever sends. A subclass that stands for another proxy
  /// gives that one's.
  open var hookPlace: HookPlace { HookPlace(holder: hooks) }

  /// The error for a message that nothing answers.
  open func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError.unrecognized(selector, by: self)
  }
}

private let emptyProxyTable = SelectorTable(for: ForwardingProxy.self, rows: [])
