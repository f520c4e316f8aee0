// SuspendingMethod.swift: asynchronous and isolated methods.

extension MethodIsolation {
  /// True if the caller is in the isolation of a method of `target`.
  @inline(never) func isHeld(of target: AnyObject) -> Bool {
    switch self {
    case .sender: true
    case .mainActor: HeldContext.isMain
    case .target: (target as? any Actor).map { HeldContext.isOn($0) } ?? false
    case .actor(let actor): HeldContext.isOn(actor)
    case .async: false
    }
  }
}

extension Method {
  @usableFromInline
  final func canRun(on target: AnyObject) -> Bool { isolation.isHeld(of: target) }

  final func runsElsewhere(on target: AnyObject) -> Bool { !isolation.isSender && !canRun(on: target) }

  final func unreachable(_ target: AnyObject) -> MessageError {
    MessageError(.isolationMismatch, of: target, selector, isolation.evidence)
  }

  /// Runs the boxed method in its isolation and awaits it. Calls `mayStart` directly before the
  /// method. Returns `nil` if `mayStart` returns false. The caller checks arguments and answer.
  @inline(never)
  nonisolated(nonsending) final func invokeAndWait(
    _ target: AnyObject, _ invocation: UncheckedSendable<Invocation>,
    mayStart: @escaping @Sendable () -> Bool = { true }
  ) async throws -> UncheckedSendable<Invocation>? {
    // Only the method's isolation accesses the target while the caller waits.
    nonisolated(unsafe) let target = target
    @Sendable func run() throws -> UncheckedSendable<Invocation>? {
      guard mayStart() else { return nil }
      var copy = invocation.value
      try invoke(target, &copy)
      return UncheckedSendable(copy)
    }
    let number = TimedWait.current.map { wait in
      let name = typeName(of: target)
      return wait.begin { [name] }
    }
    defer { if let number { TimedWait.current?.end(number) } }
    switch isolation {
    case .async:
      guard mayStart() else { return nil }
      return UncheckedSendable(try await invokeSuspending(target, invocation.value))
    case .mainActor where !HeldContext.isMain:
      return try await MainActor.run { try run() }
    case .target:
      guard let actor = target as? any Actor else { return try run() }
      return try await onActor(actor) { try run() }
    case .actor(let actor):
      return try await onActor(actor) { try run() }
    case .sender, .mainActor:
      return try run()
    }
  }
}

private func onActor<T: Sendable>(_ actor: isolated any Actor, _ body: @Sendable () throws -> T) async throws -> T {
  try HeldContext.hold(ObjectIdentifier(actor), body)
}

enum SuspendingPlace: Sendable {
  /// In the sender's isolation, so the answer does not cross isolations.
  case inTurn
  /// On an actor (`nil` for none). `targetCrosses` is true if targets may be passed to it.
  case onActor((any Actor)?, targetCrosses: Bool)
}

/// An asynchronous method. It has only the boxed form, since a suspension costs more than boxing.
final class SuspendingMethod<R, each A>: Method, @unchecked Sendable {  // immutable after init
  typealias Body = nonisolated(nonsending) @Sendable (AnyObject, Arguments<repeat each A>) async throws -> R
  private let body: Body
  private let place: SuspendingPlace

  /// - Parameter body: starts in its caller's isolation and hops to its own isolation.
  init(_ message: Message<(repeat each A) -> R>, _ place: SuspendingPlace, body: @escaping Body) {
    (self.body, self.place) = (body, place)
    let crosses = if case .inTurn = place { false } else { message.answerCrosses }
    super.init(message.selector, functionType: nil, isolation: .async, resultCrosses: crosses)
  }

  override var signature: MethodSignature { MethodSignature(returning: R.self, taking: repeat (each A).self) }
  override var numberOfParameters: Int { packCount(repeat (each A).self) }

  override func copy() -> Method {
    SuspendingMethod(Message(selector, answerCrosses: resultCrosses), place, body: body).replacing(self)
  }

  /// A body without isolation creates its answer from `Sendable` values, so any sender may get it.
  /// An actor's answer remains on that actor.
  override func answers(to sender: (any Actor)?) -> Bool {
    if case .onActor(let actor?, _) = place { actor === sender } else { true }
  }

  override func runs(on sender: (any Actor)?) -> Bool {
    if case .onActor(let actor, _) = place { actor === sender } else { true }
  }

  /// Checks that all crossing values are `Sendable`, unless the sender is in the body's isolation.
  /// A separate function, since a pattern with an optional existential in an `async` function with
  /// packs is miscompiled (Swift 6.3, optimized).
  private func checkCrossing(_ invocation: Invocation, _ target: AnyObject, from sender: (any Actor)?) throws {
    guard case .onActor(let actor, let targetCrosses) = place, sender !== actor else { return }
    guard targetCrosses else {
      throw MessageError(
        .isolationMismatch, of: target, selector,
        "the method runs asynchronously outside of the sender's actor, and its receiver is not known to be Sendable; "
          + "declare the method nonisolated(nonsending), or make the receiver's class Sendable")
    }
    try invocation.checkCrossing(receiver: target)
  }

  nonisolated(nonsending) override func invokeSuspending(_ target: AnyObject, _ invocation: Invocation) async throws
    -> Invocation
  {
    try checkCrossing(invocation, target, from: #isolation)
    let arguments = try Arguments<repeat each A>(
      unboxing: invocation.arguments, of: selector, for: typeName(of: target))
    var answered = invocation
    let result = try await body(target, arguments)
    answered.result = ArgumentBox(storage: result, isSendable: resultCrosses)
    return answered
  }

  override func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    _ = try Arguments<repeat each A>(unboxing: arguments, of: selector, for: receiver())
  }
}
