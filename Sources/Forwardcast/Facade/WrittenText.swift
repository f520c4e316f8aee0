// WrittenText.swift: called by what the attributes write.

extension Responds {
  /// Changes a target of a protocol that values may adopt too: an object itself, or a copy of a value.
  @inlinable
  public static func change(_ target: Target, _ body: (inout Target) -> Void) {
    var copy = target
    body(&copy)
  }

  /// The row of a function of the written class, on its actor. It captures nothing, which Swift 5 does not see.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    function: @escaping @isolated(any) (Target, repeat each A) throws -> R
  ) {
    self.init(message, IsolatedRow<Target, R, repeat each A>(call: function))
  }

  /// As above for a function that suspends.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    asyncFunction function: @escaping @isolated(any) (Target, repeat each A) async throws -> R, sharing: Bool
  ) {
    self.init(message, IsolatedSuspendingRow<Target, R, repeat each A>(call: function), sharing: sharing)
  }

  /// The row that `type` makes.
  public init<Row: WrittenRow>(writtenBy type: Row) where Row.Target == Target { self = type.row() }
}

extension SelectorTable {
  /// A table for a protocol that refines others: inherits the first of `parents`, with all its later changes, and copies the
  /// present methods of the others.
  public init<Target>(
    for type: Target.Type, inheritingAll parents: [SelectorTable],
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) {
    self.init(for: type, inheriting: parents.first, rows)
    for parent in parents.dropFirst() {
      for selector in parent.selectors {
        guard storage.method(for: selector) == nil, storage.refusal(for: selector) == nil else { continue }
        if let method = parent.storage.method(for: selector) { storage.enterOrRefuse([method]) }
      }
      storage.name(parent.swiftNames)
    }
  }

  /// Adds the Swift names of requirements whose selectors do not tell them, for failures of test doubles: `price(of:) title`. A
  /// differing key is prefixed with `=`.
  public func named(_ names: String) -> SelectorTable {
    storage.name(names)
    return self
  }

  /// The Swift names of all requirements, including inherited ones.
  package var swiftNames: String { storage.swiftNames }
}

extension MulticastProxy {
  /// Traps, since a message that needs an answer got none: see ``SilentAnswers/emptyValuesOrTrap``.
  public func endProcess(unanswered selector: MessageSelector) -> Never {
    fatalError("nobody answers \(selector.name) of \(core.name)")
  }
}

/// The superclass of a written class that has no other and is on no actor: the proxy, and conformances compiled once. Written
/// members send by it and not by `multicast`, since a class reached from elsewhere is retained for each message.
open class WrittenFacade<Interface>: MulticastFacade {
  /// The proxy with the targets.
  public final let multicast: MulticastProxy<Interface>

  /// A proxy without targets.
  public init(table: SelectorTable, options: MulticastOptions) {
    multicast = MulticastProxy(table: table, options: options)
  }

  /// Who gets a message that begins now.
  public final func visit(_ selector: MessageSelector) -> MessageVisit { multicast.visit(selector) }
}

/// The proxy of a class on the actor of a protocol that the attribute does not see, which the compiler finds out at run time.
public struct HeldProxy<Interface>: @unchecked Sendable {  // given out on its actor only
  private let proxy: MulticastProxy<Interface>

  /// Wraps a proxy that nobody else has.
  public init(_ proxy: MulticastProxy<Interface>) { self.proxy = proxy }

  /// The proxy, for a caller on the class's actor; others trap.
  ///
  /// - Parameter place: a function of the class with its isolation. Not called.
  public func proxy(for place: @isolated(any) () -> Void) -> MulticastProxy<Interface> {
    place.isolation?.preconditionIsolated("the proxy belongs to the actor of its protocol")
    return proxy
  }
}

extension HeldProxy where Interface: Sendable {
  /// The proxy, for any caller.
  public func proxy(for place: @isolated(any) () -> Void) -> MulticastProxy<Interface> { proxy }
}

/// The actor of a function, which is not called.
public func actor(of place: @isolated(any) () -> Void) -> (any Actor)? { place.isolation }

extension MulticastFacade {
  /// Sends on the class's actor for an extension of a protocol that is on none: see ``actorOfClass``. Unchecked, since what is sent
  /// comes from the caller, who waits.
  nonisolated(nonsending) public func onActorOfClass<T, E: Error>(
    _ send: nonisolated(nonsending) @escaping () async throws(E) -> T
  ) async throws(E) -> T { try await run(UncheckedSendable(send), on: Self.actorOfClass).value }
}

private func run<T, E: Error>(
  _ send: UncheckedSendable<nonisolated(nonsending) () async throws(E) -> T>, on actor: isolated (any Actor)?
) async throws(E) -> UncheckedSendable<T> { UncheckedSendable(try await send.value()) }

/// A row apart from its table, since what it calls is deprecated.
public protocol WrittenRow {
  /// The type of the targets.
  associatedtype Target

  /// Makes the row.
  func row() -> Responds<Target>
}

/// Moves the class in a namespace of ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)`` into an extension, where the optimizer
/// sees its conformances. For written text only.
@attached(extension, names: arbitrary)
public macro Counted() = #externalMacro(module: "ForwardcastMacros", type: "Counted")
