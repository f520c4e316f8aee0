// WrittenText.swift: what text written by the attributes calls.

extension Responds {
  /// Changes a target of a protocol that values may adopt as well: an instance of a class itself, of a value the copy.
  @inlinable
  public static func change(_ target: Target, _ body: (inout Target) -> Void) {
    var copy = target
    body(&copy)
  }

  /// The row of a function of the written class, on the actor of that class. It captures nothing, which Swift 5 does not see.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    function: @escaping @isolated(any) (Target, repeat each A) throws -> R
  ) {
    self.init(message, IsolatedRow<Target, R, repeat each A>(call: function))
  }

  /// The row of such a function that suspends.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    asyncFunction function: @escaping @isolated(any) (Target, repeat each A) async throws -> R, sharing: Bool
  ) {
    self.init(message, IsolatedSuspendingRow<Target, R, repeat each A>(call: function), sharing: sharing)
  }

  /// The row of a type that was written for it.
  public init<Row: WrittenRow>(writtenBy type: Row) where Row.Target == Target { self = type.row() }
}

extension SelectorTable {
  /// A table for a protocol that refines others, which have tables of their own.
  ///
  /// The first of `parents` is inherited: what is added to it later is found here too. Of the others the methods are
  /// taken over as they are now.
  /// - Parameters:
  ///   - type: the protocol.
  ///   - parents: the tables of those that it refines.
  ///   - rows: the requirements that it adds.
  public init<Target>(
    for type: Target.Type, inheritingAll parents: [SelectorTable],
    @SelectorTableBuilder<Target> _ rows: () -> [Responds<Target>]
  ) {
    self.init(for: type, inheriting: parents.first, rows)
    for parent in parents.dropFirst() {
      for selector in parent.selectors where storage.method(for: selector) == nil {
        if let method = parent.storage.method(for: selector) { storage.enterOrRefuse(method) }
      }
      storage.name(parent.swiftNames)
    }
  }

  /// Keeps the names in Swift of those requirements whose selectors do not tell them, as failures of test doubles write calls:
  /// `price(of:) title`. Where its key is called otherwise, a name has the key and `=` before it.
  public func named(_ names: String) -> SelectorTable {
    storage.name(names)
    return self
  }

  /// The names of all requirements, inherited ones included.
  package var swiftNames: String { storage.swiftNames }
}

extension MulticastProxy {
  /// Ends the process, since a message that must be answered was not: see ``SilentAnswers/emptyValuesOrTrap``.
  public func endProcess(unanswered selector: MessageSelector) -> Never {
    fatalError("nobody answers \(selector.name) of \(core.name)")
  }
}

/// What a written class inherits that has no other superclass and is on no actor: the proxy, and conformances once for all.
/// Written members send by it and not by `multicast`, since a class reached from elsewhere is retained for each message.
open class WrittenFacade<Interface>: MulticastFacade {
  /// Has the targets and sends the messages.
  public final let multicast: MulticastProxy<Interface>

  /// A proxy without targets.
  public init(table: SelectorTable, options: MulticastOptions) {
    multicast = MulticastProxy(table: table, options: options)
  }

  /// Who gets a message that begins now, for as long as it takes.
  public final func visit(_ selector: MessageSelector) -> MessageVisit { multicast.visit(selector) }
}

/// The proxy of a class whose actor is that of a protocol which the attribute does not see: the compiler tells when it runs.
public struct HeldProxy<Interface>: @unchecked Sendable {  // given out on its actor alone
  private let proxy: MulticastProxy<Interface>

  /// Keeps a proxy that nobody else has.
  public init(_ proxy: MulticastProxy<Interface>) { self.proxy = proxy }

  /// The proxy, for a caller who is where the class is; others end the process.
  ///
  /// - Parameter place: a function of the class, with the class's isolation. It is not called.
  public func proxy(for place: @isolated(any) () -> Void) -> MulticastProxy<Interface> {
    place.isolation?.preconditionIsolated("the proxy belongs to the actor of its protocol")
    return proxy
  }
}

extension HeldProxy where Interface: Sendable {
  /// The proxy, for any caller.
  public func proxy(for place: @isolated(any) () -> Void) -> MulticastProxy<Interface> { proxy }
}

/// The actor that a function is on, which is not called.
public func actor(of place: @isolated(any) () -> Void) -> (any Actor)? { place.isolation }

extension MulticastFacade {
  /// Sends on the class's actor what an extension of a protocol begins on none: see ``actorOfClass``. What it sends is unchecked:
  /// it comes from the caller, who waits.
  nonisolated(nonsending) public func onActorOfClass<T, E: Error>(
    _ send: nonisolated(nonsending) @escaping () async throws(E) -> T
  ) async throws(E) -> T { try await run(UncheckedSendable(send), on: Self.actorOfClass).value }
}

private func run<T, E: Error>(
  _ send: UncheckedSendable<nonisolated(nonsending) () async throws(E) -> T>, on actor: isolated (any Actor)?
) async throws(E) -> UncheckedSendable<T> { UncheckedSendable(try await send.value()) }

/// A row that stands apart from its table, since what it calls is deprecated.
public protocol WrittenRow {
  /// The type of the targets.
  associatedtype Target

  /// Makes the row.
  func row() -> Responds<Target>
}

/// Writes the class that stands in a namespace of ``Forwarded(inheriting:as:base:isolatedTo:otherwise:)`` into an extension of
/// it, where the optimizer sees what the class conforms to. Stands only in written text.
@attached(extension, names: arbitrary)
public macro Counted() = #externalMacro(module: "ForwardcastMacros", type: "Counted")
