// AsyncMethod.swift: methods that suspend, or that run in an isolation of their own.
// Layer: Sending. See DESIGN.md, "Delivery".

extension Method {
  /// Whether the method can run on `target` here and now, without a suspension.
  @usableFromInline
  final func canRun(on target: AnyObject) -> Bool {
    switch isolation {
    case .sender: true
    case .mainActor: HeldContext.isMain
    case .target: (target as? any Actor).map { HeldContext.isOn($0) } ?? false
    case .actor(let actor): HeldContext.isOn(actor)
    case .async: false
    }
  }

  /// The error for a sender that cannot reach the method from where it is.
  final func unreachable(_ target: AnyObject) -> MessageError {
    MessageError(
      .isolationMismatch, receiver: typeName(of: target), selector: selector.name, evidence: isolation.evidence)
  }

  /// Runs the method with boxes where it belongs, waits for it, and gives the invocation with its answer.
  ///
  /// Whoever calls this has made sure that arguments may cross; that the answer may is for the caller to check.
  ///
  /// - Parameter mayStart: asked where the method runs, right before it starts.
  /// - Returns: `nil` when the method was not to start any more.
  nonisolated(nonsending) final func invokeAndWait(
    _ target: AnyObject, _ invocation: UncheckedSendable<Invocation>,
    mayStart: @escaping @Sendable () -> Bool = { true }
  ) async throws -> UncheckedSendable<Invocation>? {
    // Only the method's own isolation touches the target from here on: the caller waits.
    nonisolated(unsafe) let target = target
    @Sendable func run() throws -> UncheckedSendable<Invocation>? {
      guard mayStart() else { return nil }
      var copy = invocation.value
      try invoke(target, &copy)
      return UncheckedSendable(copy)
    }
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

/// Runs `body` on `actor`, and marks that it does.
private func onActor<T: Sendable>(_ actor: isolated any Actor, _ body: @Sendable () throws -> T) async throws -> T {
  try HeldContext.hold(ObjectIdentifier(actor), body)
}

/// A method that suspends. It has only the boxed door: a suspension costs more than boxes do.
@usableFromInline
final class AsyncMethod<R, each A>: Method, @unchecked Sendable {  // immutable after init
  private let body: @Sendable (AnyObject, repeat each A) async throws -> R
  private let resultCrosses: Bool
  /// The actor that the body goes to; `nil` for one that runs on none.
  private let actor: (any Actor)?
  /// Whether targets may go where the body runs, when that is not where the sender is.
  private let targetCrosses: Bool

  @usableFromInline
  init(
    _ selector: MessageSelector, resultCrosses: Bool, on actor: (any Actor)? = nil, targetCrosses: Bool = true,
    body: @escaping @Sendable (AnyObject, repeat each A) async throws -> R
  ) {
    (self.body, self.resultCrosses, self.actor, self.targetCrosses) = (body, resultCrosses, actor, targetCrosses)
    super.init(selector, functionType: nil, isolation: .async)
  }

  override var signature: MethodSignature { MethodSignature(returning: R.self, taking: repeat (each A).self) }
  override var numberOfParameters: Int { packCount(repeat (each A).self) }

  override func renamed(_ selector: MessageSelector) -> Method {
    AsyncMethod(selector, resultCrosses: resultCrosses, on: actor, targetCrosses: targetCrosses, body: body)
  }

  /// What a body on no actor makes of `Sendable` values nobody else has; what an actor gives stays there.
  override func answers(to sender: (any Actor)?) -> Bool { actor == nil || actor === sender }

  nonisolated(nonsending) override func invokeSuspending(_ target: AnyObject, _ invocation: Invocation) async throws
    -> Invocation
  {
    let receiver = typeName(of: target)
    try checkCount(invocation.arguments, receiver: receiver)
    // Only a sender that is where the body runs may give it what is not known to be `Sendable`.
    if #isolation !== actor {
      try invocation.checkCrossing(receiver: target)
      if !targetCrosses { throw unreachable(target) }
    }
    var index = 0
    let arguments = invocation.arguments
    func next<T>(_ type: T.Type) throws(MessageError) -> T {
      defer { index += 1 }
      do { return try arguments[index].unbox(as: type) } catch {
        throw .argument(index, selector, receiver: receiver, error)
      }
    }
    // The method takes both over while the caller waits, which has made sure that the arguments may cross.
    nonisolated(unsafe) let opened = (repeat try next((each A).self))
    nonisolated(unsafe) let target = target
    var answered = invocation
    let result = try await UncheckedSendable(calling: { try await self.body(target, repeat each opened) })
    answered.result = ArgumentBox(storage: result.value, isSendable: resultCrosses)
    return answered
  }

  override func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    try checkTypes(repeat (each A).self, of: arguments, receiver: receiver())
  }
}

extension UncheckedSendable {
  /// What `make` gives, taken across isolations: nobody else has it yet.
  fileprivate init(calling make: @Sendable () async throws -> Value) async rethrows {
    self.init(try await make())
  }
}
