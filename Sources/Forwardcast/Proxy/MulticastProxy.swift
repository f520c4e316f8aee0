// MulticastProxy.swift: one object that stands for many.

/// A proxy that forwards each message to every target that responds to it.
///
///     let themes = MulticastProxy<any ThemesDelegate>(
///       table: ThemesDelegateProxy.table)
///     themes.add(screen)  // weak, in order, synchronous
///     let token = themes.on(.themesColorChanged) { print($0) }
///     themes.broadcast(.themesColorChanged, .red)
///
/// `Interface` is what may be added: the existential of a protocol, or `any MessageReceiver` for whatever has a table.
/// The proxy is `Sendable` exactly when its interface is; so the compiler keeps a proxy whose interface is not inside one
/// isolation. Where it is, every member may be called from any thread. Targets may call all members while a message is on
/// its way: a target that is removed gets nothing further, one that is added gets the next message.
public final class MulticastProxy<Interface>: ForwardingProxy, MulticastHolding {
  @usableFromInline package let core: MulticastCore

  /// A proxy whose targets bring tables of their own.
  public override init() {
    core = MulticastCore(Interface.self, table: nil, options: nil)
    super.init(hooks: .ofNobody)
  }

  /// A proxy with a table for its whole interface, with options, or with both.
  ///
  /// - Parameters:
  ///   - table: methods for every target, whose own tables come first. With it a target needs no table.
  ///   - options: how duplicates, silence and errors are treated; `nil` as ``MulticastOptions`` says for itself.
  public init(table: SelectorTable? = nil, options: MulticastOptions? = nil) {
    core = MulticastCore(Interface.self, table: table, options: options)
    super.init(hooks: .ofNobody)
  }

  deinit { core.close() }

  /// Around all of the proxy's targets.
  public override var hookPlace: HookPlace { HookPlace(holder: core) }

  public var multicast: MulticastProxy { self }

  /// Who would get a message of `selector`: see ``MulticastSending/route(for:)``.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { core.begin(selector) }

  /// Who gets a message that begins now, for as long as it takes: see ``MulticastSending/visit(_:)``.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { core.visit(selector) }

  /// Whether a live, unmuted target would get `selector`, in this proxy or in a multicast among its targets.
  ///
  /// - Complexity: constant, whatever the number of targets, but for those that are asked each time; each proxy is asked
  ///   once, however many ways lead to it.
  public override func responds(to selector: MessageSelector) -> Bool { core.isAnswered(selector, self) }

  /// The types of the first target that would get `selector`. Where there is none: nothing returned and objects taken,
  /// so that the message is let through and reaches nobody; `nil` when silence is an error.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    if let found = core.firstSignature(for: selector, self) { return found }
    if case .thrown = options.silence { return nil }
    return .objects(arguments: selector.numberOfArguments, returningVoid: true)
  }

  /// Messages written like calls, without a key, to every target: see ``DynamicMessages``.
  public var dynamic: DynamicMessages { dynamicMessages }

  /// No single receiver stands behind a multicast.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Forwards a message to every live, unmuted target that responds, in order, and says what became of it at each.
  ///
  /// First the arguments are checked against the first target that would get the message; nothing is delivered when they
  /// do not fit. Each target then has its own copy of the invocation. `invocation.result` becomes the last answer.
  ///
  /// - Throws: ``MessageError`` `typeMismatch` or `wrongArgumentCount` from that check, `proxyCycle` when the message came
  ///   through this proxy before, `nobodyResponds` where silence is an error. Errors of targets are in the report.
  @discardableResult
  public override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    try forwardBoxed(&invocation, along: core.visit(invocation.selector), by: self)
  }

  /// Forwards a message as ``forward(_:)`` does, and waits for all: see ``MulticastSending/forwardAndWait(_:)``. Where
  /// the interface is not `Sendable`, all targets are direct and run in the caller's isolation, one after another.
  nonisolated(nonsending) public override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    try await forwardBoxedAndWait(beginMessage(invocation.selector), invocation, by: self)
  }

  /// `nobodyResponds`: only a proxy that is to throw on silence does not recognize a message.
  public override func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError(.nobodyResponds, receiver: core.name, selector: selector.name)
  }
}

// The core's lock guards all state, and an interface that is Sendable has Sendable targets only.
extension MulticastProxy: @unchecked Sendable where Interface: Sendable {}
