// Responds+Isolation.swift: isolated and asynchronous rows.

extension Responds {
  @inline(never)
  init<R, each A>(
    suspending message: Message<(repeat each A) -> R>, on actor: (any Actor)? = nil, targetCrosses: Bool = true,
    _ body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: SuspendingMethod<R, repeat each A>(message, .onActor(actor, targetCrosses: targetCrosses)) {
        (target: AnyObject, arguments: Arguments<repeat each A>) async throws -> R in
        // Sound, since `body` uses target and arguments only while its caller waits. The caller has
        // checked that the arguments may cross isolations.
        let (target, arguments) = (UncheckedSendable(cast.target(target)), UncheckedSendable(arguments))
        return try await UncheckedSendable(calling: {
          try await body(target.value, repeat each arguments.value.values)
        }).value
      })
  }

  init<R, each A>(
    isolated isolation: MethodIsolation, _ message: Message<(repeat each A) -> R>,
    _ body: @escaping @Sendable (Target, Arguments<repeat each A>) throws -> R
  ) {
    let cast = TargetCast<Target>()
    let selector = message.selector
    self.init(
      method: TypedMethod<R, repeat each A>(message, isolation: isolation) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        guard isolation.isHeld(of: target) else {
          throw MessageError(.isolationMismatch, of: target, selector, isolation.evidence)
        }
        return try cast(target) { try body($0, arguments) }
      })
  }
}

extension Responds where Target: Actor {
  @inline(never)
  init<R, each A>(
    onTarget message: Message<(repeat each A) -> R>,
    _ body: @escaping @Sendable (isolated Target, repeat each A) throws -> R
  ) {
    self.init(isolated: .target, message) { (target: Target, arguments: Arguments<repeat each A>) throws -> R in
      // The row has checked that it is on the actor, so no value crosses isolations.
      let arguments = UncheckedSendable(arguments)
      return try uncheckedOnActor(target) { UncheckedSendable(try body($0, repeat each arguments.value.values)) }.value
    }
  }
}

// Labeled `key:`, so `Responds(to: …) { … }` finds the forms without a pack, which detect `inout`.
extension Responds {
  /// A row that runs on its closure's global actor; an ordinary row if the closure has no
  /// isolation.
  ///
  ///     Responds(
  ///       key: .store,
  ///       onGlobalActor: { @StoreActor archive, page in archive.store(page) })
  ///
  /// The row runs synchronously in deliveries on that actor, and for senders on the actor inside
  /// ``withHeldActor(isolation:_:)``. Waiting sends hop to the actor. Other sends throw
  /// ``MessageError`` `isolationMismatch`.
  @inline(never)
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    onGlobalActor body: @escaping @isolated(any) @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(message, IsolatedRow<Target, R, repeat each A>(call: body))
  }

  init<R, each A>(_ message: Message<(repeat each A) -> R>, _ row: IsolatedRow<Target, R, repeat each A>) {
    let isolation = MethodIsolation(row.call.isolation)
    let unchecked = row.unchecked
    self.init(isolated: isolation, message) { (target: Target, arguments: Arguments<repeat each A>) throws -> R in
      // The row has checked that it is on the actor.
      try unchecked.call(target, repeat each arguments.values)
    }
  }

  /// An asynchronous row on its closure's actor, for targets that remain on that actor.
  ///
  /// The compiler does not check that target, arguments and answer may cross isolations. They do
  /// not cross isolations if the sender is on the same actor, for example if the proxy's protocol
  /// is isolated to that actor.
  ///
  /// If the closure has no isolation, pass `sharing: false` unless the targets are `Sendable`.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    asyncOnActor body: @escaping @isolated(any) @Sendable (Target, repeat each A) async throws -> R,
    sharing: Bool = true
  ) {
    self.init(message, IsolatedSuspendingRow<Target, R, repeat each A>(call: body), sharing: sharing)
  }

  init<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ row: IsolatedSuspendingRow<Target, R, repeat each A>, sharing: Bool
  ) {
    let isolation = row.call.isolation
    self.init(
      suspending: message, on: isolation, targetCrosses: sharing || isolation != nil,
      unsafeBitCast(row, to: SuspendingRow<Target, R, repeat each A>.self).call)
  }

  /// An asynchronous row in its sender's isolation, for targets that are not `Sendable`. Only
  /// waiting sends call it.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    inTurn body: nonisolated(nonsending) @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: SuspendingMethod<R, repeat each A>(message, .inTurn) {
        (target: AnyObject, arguments: Arguments<repeat each A>) async throws -> R in
        try await body(cast.target(target), repeat each arguments.values)
      })
  }

  /// An asynchronous row without isolation, for targets that are not `Sendable`. Only waiting sends
  /// from code without isolation call it; other senders get `isolationMismatch`.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    concurrent body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    self.init(suspending: message, targetCrosses: false, body)
  }
}

// A function type over a pack cannot be passed on, so isolated closures are wrapped in structs. The
// bit casts are sound: an isolation in a closure's type does not change how the closure is called.

/// An isolated closure of a row or owner. `@unchecked Sendable` is sound, since the closure is
/// `@Sendable`, captures nothing, or stays in its isolation.
@frozen @usableFromInline
struct IsolatedRow<Target, R, each A>: @unchecked Sendable {
  @usableFromInline let call: @isolated(any) (Target, repeat each A) throws -> R

  @export(implementation) @inline(__always)
  init(call: @escaping @isolated(any) (Target, repeat each A) throws -> R) { self.call = call }

  /// The closure for callers that guarantee its isolation.
  @export(implementation) @inline(__always)
  var unchecked: UncheckedRow<Target, R, repeat each A> {
    unsafeBitCast(self, to: UncheckedRow<Target, R, repeat each A>.self)
  }
}

@frozen @usableFromInline
struct UncheckedRow<Target, R, each A>: Sendable {
  @usableFromInline let call: @Sendable (Target, repeat each A) throws -> R
}

struct IsolatedSuspendingRow<Target, R, each A>: @unchecked Sendable {
  let call: @isolated(any) (Target, repeat each A) async throws -> R
}

/// The closure without its isolation in the type. Calling it still hops to its actor.
private struct SuspendingRow<Target, R, each A>: Sendable {
  let call: @Sendable (Target, repeat each A) async throws -> R
}

extension UncheckedSendable {
  /// The result of `make`, which may cross isolations since no other reference to it exists.
  fileprivate init(calling make: @Sendable () async throws -> Value) async rethrows {
    self.init(try await make())
  }
}

/// Runs `body`. The caller must be on `actor`.
private func uncheckedOnActor<T: Actor, R>(_ actor: T, _ body: (isolated T) throws -> R) rethrows -> R {
  try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: ((T) throws -> R).self)(actor) }
}

/// Marks `body` as running on the caller's actor, so that rows of that actor run synchronously.
///
/// Not needed on the main actor and in deliveries, which the library detects.
@discardableResult
public func withHeldActor<T, E: Error>(
  isolation: isolated (any Actor)? = #isolation, _ body: () throws(E) -> T
) throws(E) -> T {
  guard let isolation else { return try body() }
  return try HeldContext.hold(ObjectIdentifier(isolation), body)
}
