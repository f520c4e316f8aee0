// WrittenText.swift: declarations called by generated code.

extension Responds {
  /// Changes a target of a protocol that values may adopt: an object itself, or a copy of a value.
  @inlinable
  public static func change(_ target: Target, _ body: (inout Target) -> Void) {
    var copy = target
    body(&copy)
  }

  /// A row of the generated class's function, on its actor. Captures nothing, which Swift 5 cannot
  /// see.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    function: @escaping @isolated(any) (Target, repeat each A) throws -> R
  ) {
    self.init(message, IsolatedRow<Target, R, repeat each A>(call: function))
  }

  /// A row of an asynchronous function.
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
  /// A table for a protocol that refines others. Inherits the first of `parents` with its later
  /// changes, and copies the others' current methods.
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

  /// Adds Swift names that selectors do not reveal, for failures of test doubles: `price(of:)
  /// title`. A differing key is prefixed with `=`.
  public func named(_ names: String) -> SelectorTable {
    storage.name(names)
    return self
  }

  /// The Swift names of all requirements, including inherited ones.
  package var swiftNames: String { storage.swiftNames }
}

extension MulticastProxy {
  /// Traps because an answer is missing, see ``SilentAnswers/emptyValuesOrTrap``.
  public func endProcess(unanswered selector: MessageSelector) -> Never {
    fatalError("nobody answers \(selector.name) of \(core.name)")
  }
}

/// The superclass of generated classes without another one and without an actor. Generated members
/// send through it instead of `multicast`, which saves a retain per message.
open class WrittenFacade<Interface>: MulticastFacade {
  /// The proxy with the targets.
  public final let multicast: MulticastProxy<Interface>

  /// A proxy without targets.
  public init(table: SelectorTable, options: MulticastOptions) {
    multicast = MulticastProxy(table: table, options: options)
  }

  /// The receivers of a message that begins now.
  public final func visit(_ selector: MessageSelector) -> MessageVisit { multicast.visit(selector) }
}

/// The proxy of a class whose actor the attribute cannot see, so the compiler determines it.
public struct HeldProxy<Interface>: @unchecked Sendable {  // given out on its actor only
  private let proxy: MulticastProxy<Interface>

  /// Wraps a proxy without other references.
  public init(_ proxy: MulticastProxy<Interface>) { self.proxy = proxy }

  /// The proxy, for a caller on the class's actor. Traps for others.
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

/// The actor of a function that is not called.
public func actor(of place: @isolated(any) () -> Void) -> (any Actor)? { place.isolation }

extension MulticastFacade {
  /// Sends on the class's actor for a protocol extension without isolation, see ``actorOfClass``.
  /// Unchecked, since the values belong to the waiting caller.
  nonisolated(nonsending) public func onActorOfClass<T, E: Error>(
    _ send: nonisolated(nonsending) @escaping () async throws(E) -> T
  ) async throws(E) -> T { try await run(UncheckedSendable(send), on: Self.actorOfClass).value }
}

private func run<T, E: Error>(
  _ send: UncheckedSendable<nonisolated(nonsending) () async throws(E) -> T>, on actor: isolated (any Actor)?
) async throws(E) -> UncheckedSendable<T> { UncheckedSendable(try await send.value()) }

/// A row in a type of its own, since it calls a deprecated requirement.
public protocol WrittenRow {
  /// The type of the targets.
  associatedtype Target

  /// Makes the row.
  func row() -> Responds<Target>
}

/// Moves a namespaced class into an extension, where the optimizer sees its conformances. For
/// generated code only.
@attached(extension, names: arbitrary)
public macro Counted() = #externalMacro(module: "ForwardcastMacros", type: "Counted")
