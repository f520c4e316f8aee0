// MulticastProxy.swift: one object that forwards to many targets.

/// A proxy that forwards each message to every target that responds to it.
///
///     let themes = MulticastProxy<any ThemesDelegate>(
///       table: ThemesDelegateProxy.table)
///     themes.add(screen)  // weak, in order, synchronous
///     let changed = ThemesDelegateProxy.Messages.themesColorChanged
///     let token = themes.on(changed) { print($0) }
///     themes.broadcast(changed, "red")
///
/// `Interface` is the type of targets: a protocol's existential, or `any MessageReceiver`.
///
/// The proxy is `Sendable` if and only if its interface is. Otherwise the compiler confines it to
/// one isolation. A `Sendable` proxy may be used from any thread. Targets may be added and removed
/// during a message: a removed target gets nothing further, an added target gets the next message.
public final class MulticastProxy<Interface>: ForwardingProxy, MulticastHolding {
  @usableFromInline package let core: MulticastCore

  /// Creates a proxy whose targets have tables of their own.
  public override init() {
    core = MulticastCore(Interface.self, table: nil, options: nil)
    super.init(hooks: .ofNobody)
  }

  /// Creates a proxy with a table for its whole interface, with options, or both.
  ///
  /// - Parameters:
  ///   - table: methods for all targets, looked up after a target's own tables.
  ///   - options: how the proxy treats duplicates, unanswered messages and errors.
  public init(table: SelectorTable? = nil, options: MulticastOptions? = nil) {
    core = MulticastCore(Interface.self, table: table, options: options)
    super.init(hooks: .ofNobody)
  }

  deinit { core.close() }

  /// The proxy's hooks, around all of its targets.
  public override var hookPlace: HookPlace { HookPlace(holder: core) }

  /// The proxy itself.
  public var multicast: MulticastProxy { self }

  /// The receivers of `selector`, retained, see ``MulticastSending/route(for:)``.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { core.begin(selector) }

  /// The receivers of one message, valid during the call only, see ``MulticastSending/visit(_:)``.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { core.visit(selector) }

  /// True if a live, unmuted target of this proxy or of a nested proxy responds to `selector`.
  ///
  /// - Complexity: constant, except for targets that are queried. Each proxy is queried once.
  public override func responds(to selector: MessageSelector) -> Bool { core.isAnswered(selector, self) }

  /// The signature of the first responding target. If no target responds, the options decide: `nil`
  /// if unanswered messages throw, otherwise a signature without a result.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let found = core.firstSignature(for: selector, self) { return found }
    if case .throw = options.noResponder { return nil }
    return .objects(arguments: selector.numberOfArguments, returningVoid: true)
  }

  /// Sends messages to all targets by call syntax, see ``DynamicMessages``.
  public var dynamic: DynamicMessages { dynamicMessages }

  /// `nil`, since a multicast has no single receiver.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Forwards a message to every live, unmuted target that responds, in order. Each target gets its
  /// own copy of the message. The last answer becomes `invocation.result`.
  ///
  /// - Throws: ``MessageError`` `typeMismatch` or `wrongArgumentCount` if the arguments do not fit
  ///   the first target, before any delivery; `proxyCycle` if the message already passed this
  ///   proxy; `nobodyResponds` if the options require a responder. Target errors are in the report.
  @discardableResult
  public override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    try forwardBoxed(&invocation, along: core.visit(invocation.selector), by: self)
  }

  /// Like ``forward(_:)``, but awaits all targets. Targets that are not `Sendable` run in the
  /// caller's isolation, one after another.
  nonisolated(nonsending) public override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self)
  }

  /// `nobodyResponds`, the error of a proxy that throws if no target responds.
  public override func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError(.nobodyResponds, receiver: core.name, selector: selector.name)
  }
}

// The core's lock guards all state, and a Sendable interface has Sendable targets only.
extension MulticastProxy: @unchecked Sendable where Interface: Sendable {}
