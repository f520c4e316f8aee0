// Responds+GlobalActors.swift: rows that run on a global actor of the user's.
// Layer: Sending. See DESIGN.md, "The attributes".

// The label `key:` keeps these forms, which take packs, from being meant by a trailing closure after `to:`: a pack loses that a
// parameter is `inout`.
extension Responds {
  /// A row that runs on the global actor that its closure is isolated to.
  ///
  ///     Responds(key: .store, onGlobalActor: { @StoreActor archive, page in archive.store(page) })
  ///
  /// A delivery on that actor, and a sender that says by ``withHeldActor(isolation:_:)`` that it is on it, run it in
  /// their turn. The forms that wait go over to it. Any other synchronous send throws ``MessageError``
  /// `isolationMismatch`. A closure without an isolation makes an ordinary row.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    onGlobalActor body: @escaping @isolated(any) @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(message.selector, resultCrosses: false, onGlobalActor: body)
  }

  /// A row that runs on the global actor that its closure is isolated to, and whose answer may cross in a box.
  public init<R: Sendable, each A>(
    key message: Message<(repeat each A) -> R>,
    onGlobalActor body: @escaping @isolated(any) @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(message.selector, resultCrosses: true, onGlobalActor: body)
  }

  private init<R, each A>(
    _ selector: MessageSelector, resultCrosses: Bool,
    onGlobalActor body: @escaping @isolated(any) @Sendable (Target, repeat each A) throws -> R
  ) {
    let isolation: MethodIsolation =
      switch body.isolation {
      case nil: .sender
      case let actor? where actor === MainActor.shared: .mainActor
      case let actor?: .actor(actor)
      }
    let unchecked = UncheckedRow<Target, R, repeat each A>(IsolatedRow(call: body))
    self.init(isolated: isolation, selector, resultCrosses: resultCrosses) {
      (target: Target, arguments: Arguments<repeat each A>) throws -> R in
      // The row has found that it is on the actor.
      try unchecked.call(target, repeat each arguments.values)
    }
  }
}

extension Responds {
  /// A row that suspends on the actor that its closure is isolated to, for targets that stay on that actor.
  ///
  /// The compiler does not check that target, arguments and answer may cross: they do not when the sender is on the
  /// actor too, as one is that has the proxy of a protocol of that actor.
  ///
  /// - Parameter sharing: whether targets are `Sendable`, for a closure that is on no actor.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    asyncOnActor body: @escaping @isolated(any) @Sendable (Target, repeat each A) async throws -> R,
    sharing: Bool = true
  ) {
    let row = SuspendingRow<Target, R, repeat each A>(IsolatedSuspendingRow(call: body))
    self.init(
      suspending: message.selector, resultCrosses: false, on: body.isolation,
      targetCrosses: sharing || body.isolation != nil, row.call)
  }

  /// A row that suspends on the actor that its closure is isolated to, and whose answer may cross in a box.
  public init<R: Sendable, each A>(
    key message: Message<(repeat each A) -> R>,
    asyncOnActor body: @escaping @isolated(any) @Sendable (Target, repeat each A) async throws -> R,
    sharing: Bool = true
  ) {
    let row = SuspendingRow<Target, R, repeat each A>(IsolatedSuspendingRow(call: body))
    self.init(
      suspending: message.selector, resultCrosses: true, on: body.isolation,
      targetCrosses: sharing || body.isolation != nil, row.call)
  }
}

/// A row's closure that suspends, with an isolation.
private struct IsolatedSuspendingRow<Target, R, each A>: Sendable {
  let call: @isolated(any) @Sendable (Target, repeat each A) async throws -> R
}

/// The same closure, which goes to its actor by itself.
private struct SuspendingRow<Target, R, each A>: Sendable {
  let call: @Sendable (Target, repeat each A) async throws -> R

  init(_ row: IsolatedSuspendingRow<Target, R, repeat each A>) {
    self = unsafeBitCast(row, to: SuspendingRow<Target, R, repeat each A>.self)
  }
}

/// A row's closure with an isolation.
private struct IsolatedRow<Target, R, each A>: Sendable {
  let call: @isolated(any) @Sendable (Target, repeat each A) throws -> R
}

/// The same closure for a row that has found that it is where the closure is to run.
private struct UncheckedRow<Target, R, each A>: Sendable {
  let call: @Sendable (Target, repeat each A) throws -> R

  init(_ row: IsolatedRow<Target, R, repeat each A>) {
    // A closure is called in the same way whether or not its type says that it may be isolated.
    self = unsafeBitCast(row, to: UncheckedRow<Target, R, repeat each A>.self)
  }
}

/// A closure with an isolation, in a structure, since a function type over a pack is not passed on as it is.
package struct IsolatedBody<R, each A>: Sendable {
  package let call: @isolated(any) @Sendable (repeat each A) throws -> R

  package init(call: @escaping @isolated(any) @Sendable (repeat each A) throws -> R) { self.call = call }
}

/// The same closure for callers who have found that they are where it is to run.
package struct UncheckedBody<R, each A>: Sendable {
  package let call: @Sendable (repeat each A) throws -> R

  /// A closure is called in the same way whether or not its type says that it may be isolated.
  package init(_ body: IsolatedBody<R, repeat each A>) {
    self = unsafeBitCast(body, to: UncheckedBody<R, repeat each A>.self)
  }
}

/// Runs `body` as something that is on the actor that its caller is isolated to: rows of that actor are then in reach.
///
/// Needed for global actors of one's own only: whether the main actor is held, the library sees by itself.
@discardableResult
public func withHeldActor<T, E: Error>(
  isolation: isolated (any Actor)? = #isolation, _ body: () throws(E) -> T
) throws(E) -> T {
  guard let isolation else { return try body() }
  return try HeldContext.hold(ObjectIdentifier(isolation), body)
}
