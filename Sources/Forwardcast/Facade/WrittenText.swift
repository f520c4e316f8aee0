// WrittenText.swift: declarations called by generated code.

extension Responds {
  /// Runs `body` on a mutable target, for setters. If the target is a value, only a copy changes.
  @inlinable
  public static func change(_ target: Target, _ body: (inout Target) -> Void) {
    var copy = target
    body(&copy)
  }

  /// A row that calls a function of the generated class, on that class's actor. The function must
  /// capture nothing, which Swift 5 mode cannot check.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    function: @escaping @isolated(any) (Target, repeat each A) throws -> R
  ) {
    self.init(message, IsolatedRow<Target, R, repeat each A>(call: function))
  }

  /// A row that calls an asynchronous function.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    asyncFunction function: @escaping @isolated(any) (Target, repeat each A) async throws -> R, sharing: Bool
  ) {
    self.init(message, IsolatedSuspendingRow<Target, R, repeat each A>(call: function), sharing: sharing)
  }

  /// The row that `type` makes, see ``WrittenRow``.
  public init<Row: WrittenRow>(writtenBy type: Row) where Row.Target == Target { self = type.row() }
}

extension SelectorTable {
  /// A table for a protocol that refines other protocols. Inherits the first of `parents`,
  /// including its later changes, and copies the present methods of the other parents.
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

  /// Adds Swift names that do not follow from selectors. Test doubles print these names. A name is
  /// `price(of:)`, or `key=name` if the key's name is not the base name.
  public func named(_ names: String) -> SelectorTable {
    storage.name(names)
    return self
  }

  package var swiftNames: String { storage.swiftNames }
}

extension MulticastProxy {
  /// Traps because an answer is missing, see ``SilentAnswers/emptyValuesOrTrap``.
  public func endProcess(unanswered selector: MessageSelector) -> Never {
    fatalError(
      "no target of \(core.name) answers '\(selector.name)'; add one, or give the requirement '@Answer(otherwise:)'")
  }
}

/// The superclass of generated classes that have no other superclass and no actor. Generated
/// members send through `self` instead of `multicast`, which saves a retain per message.
open class WrittenFacade<Interface>: MulticastFacade {
  /// The proxy with the targets.
  public final let multicast: MulticastProxy<Interface>

  /// A proxy without targets.
  public init(table: SelectorTable, options: MulticastOptions) {
    multicast = MulticastProxy(table: table, options: options)
  }

  /// The receivers of a message that is about to be sent.
  public final func visit(_ selector: MessageSelector) -> MessageVisit { multicast.visit(selector) }
}

/// Holds the proxy of a class whose actor the macro cannot see. The compiler determines that actor.
public struct HeldProxy<Interface>: @unchecked Sendable {  // handed out only on the class's actor
  private let proxy: MulticastProxy<Interface>

  /// Wraps a proxy that nothing else references.
  public init(_ proxy: MulticastProxy<Interface>) { self.proxy = proxy }

  /// Returns the proxy to a caller on the class's actor. Traps for other callers.
  ///
  /// - Parameter place: a function with the isolation of the class. It is not called.
  public func proxy(for place: @isolated(any) () -> Void) -> MulticastProxy<Interface> {
    place.isolation?.preconditionIsolated("the proxy belongs to the actor of its protocol")
    return proxy
  }
}

extension HeldProxy where Interface: Sendable {
  /// Returns the proxy to any caller.
  public func proxy(for place: @isolated(any) () -> Void) -> MulticastProxy<Interface> { proxy }
}

/// The actor to which a function is isolated. The function is not called.
public func actor(of place: @isolated(any) () -> Void) -> (any Actor)? { place.isolation }

extension MulticastFacade {
  /// Runs `send` on the class's actor, for protocol extensions without isolation, see
  /// ``actorOfClass``. The compiler does not check whether `send` and its result can change
  /// isolation. Sending them is safe, since the caller waits and owns both.
  nonisolated(nonsending) public func onActorOfClass<T, E: Error>(
    _ send: nonisolated(nonsending) @escaping () async throws(E) -> T
  ) async throws(E) -> T { try await run(UncheckedSendable(send), on: Self.actorOfClass).value }
}

private func run<T, E: Error>(
  _ send: UncheckedSendable<nonisolated(nonsending) () async throws(E) -> T>, on actor: isolated (any Actor)?
) async throws(E) -> UncheckedSendable<T> { UncheckedSendable(try await send.value()) }

/// Makes one row. If the conforming type is deprecated, its row can call deprecated requirements.
public protocol WrittenRow {
  /// The type of the targets.
  associatedtype Target

  /// Makes the row.
  func row() -> Responds<Target>
}

/// Moves a nested class into an extension, where the optimizer sees it. Used by generated code.
@attached(extension, names: arbitrary)
public macro Counted() = #externalMacro(module: "ForwardcastMacros", type: "Counted")
