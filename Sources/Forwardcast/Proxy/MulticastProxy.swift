// MulticastProxy.swift: one object that stands for many.

/// A proxy that forwards each message to every target that responds to it.
///
///     let themes = MulticastProxy<any ThemesDelegate>(
///       table: ThemesDelegateProxy.table)
///     themes.add(screen)  // weak, in order, synchronous
///     let token = themes.on(.themesColorChanged) { print($0) }
///     themes.broadcast(.themesColorChanged, .red)
///
/// `Interface` is what may be added: a protocol's existential, or `any MessageReceiver` for whatever has a table.
///
/// The proxy is `Sendable` exactly when its interface is; otherwise the compiler keeps it in one isolation. If it is, all members
/// may be called from any thread. Targets may call all members during a message: a removed target gets nothing further, an added
/// one gets the next message.
public final class MulticastProxy<Interface>: ForwardingProxy, MulticastHolding {
  @usableFromInline package let core: MulticastCore

  /// A proxy whose targets have tables.
  public override init() {
    core = MulticastCore(Interface.self, table: nil, options: nil)
    super.init(hooks: .ofNobody)
  }

  /// A proxy with a table for its whole interface, with options, or both.
  ///
  /// - Parameters:
  ///   - table: methods for all targets, searched after a target's own tables. With it targets need none.
  ///   - options: how duplicates, silence and errors are treated.
  public init(table: SelectorTable? = nil, options: MulticastOptions? = nil) {
    core = MulticastCore(Interface.self, table: table, options: options)
    super.init(hooks: .ofNobody)
  }

  deinit { core.close() }

  /// The proxy's hooks, around all of its targets.
  public override var hookPlace: HookPlace { HookPlace(holder: core) }

  /// The proxy itself.
  public var multicast: MulticastProxy { self }

  /// Who would get a message of `selector`: see ``MulticastSending/route(for:)``.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { core.begin(selector) }

  /// Who gets a message that begins now: see ``MulticastSending/visit(_:)``.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { core.visit(selector) }

  /// Whether a live, unmuted target of this proxy or a nested one would get `selector`.
  ///
  /// - Complexity: constant, except for targets that are asked each time; each proxy is asked once, however many ways lead to it.
  public override func responds(to selector: MessageSelector) -> Bool { core.isAnswered(selector, self) }

  /// The types of the first target that would get `selector`. Without one: objects taken and nothing returned, so that the message
  /// is let through and reaches nobody; `nil` when silence is an error.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let found = core.firstSignature(for: selector, self) { return found }
    if case .throw = options.noResponder { return nil }
    return .objects(arguments: selector.numberOfArguments, returningVoid: true)
  }

  /// Messages to all targets, written like calls: see ``DynamicMessages``.
  public var dynamic: DynamicMessages { dynamicMessages }

  /// None: no single receiver stands behind a multicast.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Forwards a message to every live, unmuted target that responds, in order, each with its own copy of the invocation. The last
  /// answer becomes `invocation.result`.
  ///
  /// - Throws: ``MessageError`` `typeMismatch` or `wrongArgumentCount` when the arguments do not fit the first target, with nothing
  ///   delivered; `proxyCycle` when the message came through this proxy before; `nobodyResponds` where silence is an error.
  ///   Errors of targets are in the report.
  @discardableResult
  public override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    try forwardBoxed(&invocation, along: core.visit(invocation.selector), by: self)
  }

  /// As ``forward(_:)``, and waits for all targets: see ``MulticastSending/forwardAndWait(_:)``. If the interface is not
  /// `Sendable`, all targets are direct and run in the caller's isolation, one after another.
  nonisolated(nonsending) public override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self)
  }

  /// `nobodyResponds`: only a proxy that throws on silence does not recognize a message.
  public override func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError(.nobodyResponds, receiver: core.name, selector: selector.name)
  }
}

// The core's lock guards all state, and an interface that is Sendable has Sendable targets only.
extension MulticastProxy: @unchecked Sendable where Interface: Sendable {}
