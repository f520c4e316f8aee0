// Responds+Isolation.swift: rows that are isolated or suspend.

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
        // The method gets both while its caller waits, who has checked that the arguments may cross.
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
      // The row has checked that it is on the actor: nothing crosses.
      let arguments = UncheckedSendable(arguments)
      return try uncheckedOnActor(target) { UncheckedSendable(try body($0, repeat each arguments.value.values)) }.value
    }
  }
}

// The label `key:` keeps a trailing closure after `to:` from choosing these forms: a pack loses that a parameter is `inout`.
extension Responds {
  /// A row that runs on the global actor that its closure is isolated to; without an isolation, an ordinary row.
  ///
  ///     Responds(
  ///       key: .store,
  ///       onGlobalActor: { @StoreActor archive, page in archive.store(page) })
  ///
  /// Deliveries on that actor, and senders inside ``withHeldActor(isolation:_:)`` on it, run it synchronously; waiting forms
  /// hop to it. Any other synchronous send throws ``MessageError`` `isolationMismatch`.
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

  /// A row that suspends on the actor that its closure is isolated to, for targets that stay on that actor.
  ///
  /// The compiler does not check that target, arguments and answer may cross: they do not when the sender is on the
  /// actor too, as is one that has the proxy of a protocol of that actor.
  ///
  /// `sharing` says whether targets are `Sendable`, for a closure that is on no actor.
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

  /// A row that may suspend and stays in its sender's isolation unless its body leaves it: for targets that are not `Sendable`.
  /// Only waiting forms reach it.
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

  /// A row that suspends and runs on no actor, for targets that are not `Sendable`.
  ///
  /// Only waiting forms from senders on no actor reach it; for others it throws `isolationMismatch`.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    concurrent body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    self.init(suspending: message, targetCrosses: false, body)
  }
}

// A function type over a pack cannot be passed on as it is, so isolated closures are wrapped in structs. The bit casts below are
// sound because a closure is called alike whether or not its type says that it may be isolated.

/// An isolated closure of a row or an owner. It is `Sendable`, captures nothing, or stays where it
/// is.
@frozen @usableFromInline
struct IsolatedRow<Target, R, each A>: @unchecked Sendable {
  @usableFromInline let call: @isolated(any) (Target, repeat each A) throws -> R

  @export(implementation) @inline(__always)
  init(call: @escaping @isolated(any) (Target, repeat each A) throws -> R) { self.call = call }

  /// The same closure for callers that make sure that they are in its isolation.
  @export(implementation) @inline(__always)
  var unchecked: UncheckedRow<Target, R, repeat each A> {
    unsafeBitCast(self, to: UncheckedRow<Target, R, repeat each A>.self)
  }
}

/// The same closure without its isolation.
@frozen @usableFromInline
struct UncheckedRow<Target, R, each A>: Sendable {
  @usableFromInline let call: @Sendable (Target, repeat each A) throws -> R
}

/// The same of one that suspends.
struct IsolatedSuspendingRow<Target, R, each A>: @unchecked Sendable {
  let call: @isolated(any) (Target, repeat each A) async throws -> R
}

/// The same closure; it hops to its actor itself.
private struct SuspendingRow<Target, R, each A>: Sendable {
  let call: @Sendable (Target, repeat each A) async throws -> R
}

extension UncheckedSendable {
  /// The result of `make`, taken across isolations: nobody else has it yet.
  fileprivate init(calling make: @Sendable () async throws -> Value) async rethrows {
    self.init(try await make())
  }
}

/// Runs `body`; the caller has checked that it is on `actor`.
private func uncheckedOnActor<T: Actor, R>(_ actor: T, _ body: (isolated T) throws -> R) rethrows -> R {
  try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: ((T) throws -> R).self)(actor) }
}

/// Marks `body` as running on the actor that its caller is isolated to, so that rows of that actor can be called synchronously.
///
/// Needed for your own global actors only; the library detects the main actor itself.
@discardableResult
public func withHeldActor<T, E: Error>(
  isolation: isolated (any Actor)? = #isolation, _ body: () throws(E) -> T
) throws(E) -> T {
  guard let isolation else { return try body() }
  return try HeldContext.hold(ObjectIdentifier(isolation), body)
}
