// Responds+Isolation.swift: what rows of an isolation, and rows that suspend, are made of.
// Layer: Sending. See DESIGN.md, "Delivery".

extension Responds {
  @inline(never)
  init<R, each A>(
    onMainActor selector: MessageSelector, resultCrosses: Bool,
    _ body: @escaping @MainActor @Sendable (Target, repeat each A) throws -> R
  ) {
    self.init(isolated: .mainActor, selector, resultCrosses: resultCrosses) {
      (target: Target, arguments: Arguments<repeat each A>) throws -> R in
      // The row has found that it is on the main actor: nothing crosses.
      let (target, arguments) = (UncheckedSendable(target), UncheckedSendable(arguments))
      return try uncheckedOnMainActor { UncheckedSendable(try body(target.value, repeat each arguments.value.values)) }
        .value
    }
  }

  @inline(never)
  init<R, each A>(
    suspending selector: MessageSelector, resultCrosses: Bool, on actor: (any Actor)? = nil, targetCrosses: Bool = true,
    _ body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: AsyncMethod<R, repeat each A>(
        selector, resultCrosses: resultCrosses, on: actor, targetCrosses: targetCrosses
      ) {
        (target: AnyObject, arguments: repeat each A) async throws -> R in
        try await body(cast.target(target), repeat each arguments)
      })
  }

  init<R, each A>(
    isolated isolation: MethodIsolation, _ selector: MessageSelector, resultCrosses: Bool,
    _ body: @escaping @Sendable (Target, Arguments<repeat each A>) throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TypedMethod<R, repeat each A>(
        selector, signature: nil, isolation: isolation, resultCrosses: resultCrosses
      ) {
        (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
        let reachable =
          switch isolation {
          case .mainActor: HeldContext.isMain
          case .actor(let actor): HeldContext.isOn(actor)
          default: (target as? any Actor).map { HeldContext.isOn($0) } ?? false
          }
        guard reachable else {
          throw MessageError(
            .isolationMismatch, receiver: typeName(of: target), selector: selector.name, evidence: isolation.evidence)
        }
        return try cast(target) { try body($0, arguments) }
      })
  }
}

extension Responds where Target: Actor {
  @inline(never)
  init<R, each A>(
    onTarget selector: MessageSelector, resultCrosses: Bool,
    _ body: @escaping @Sendable (isolated Target, repeat each A) throws -> R
  ) {
    self.init(isolated: .target, selector, resultCrosses: resultCrosses) {
      (target: Target, arguments: Arguments<repeat each A>) throws -> R in
      // The row has found that it is on the actor: nothing crosses.
      let arguments = UncheckedSendable(arguments)
      return try uncheckedOnActor(target) { UncheckedSendable(try body($0, repeat each arguments.value.values)) }.value
    }
  }
}

/// Runs `body`, whose caller has found out that it is on the main actor.
private func uncheckedOnMainActor<R>(_ body: @MainActor () throws -> R) rethrows -> R {
  try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: (() throws -> R).self)() }
}

/// Runs `body`, whose caller has found out that it is on `actor`.
private func uncheckedOnActor<T: Actor, R>(_ actor: T, _ body: (isolated T) throws -> R) rethrows -> R {
  try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: ((T) throws -> R).self)(actor) }
}
