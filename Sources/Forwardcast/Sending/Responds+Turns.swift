// Responds+Turns.swift: rows that suspend in the isolation of their sender.
// Layer: Sending. See DESIGN.md, "The attributes".

// The label `key:` keeps these forms, which take packs, from being meant by a trailing closure after `to:`: a pack loses that a
// parameter is `inout`.
extension Responds {
  /// A row that may suspend and does not leave its sender's isolation by itself.
  ///
  /// For targets that are not `Sendable`: their methods run where the sender is, unless they go elsewhere themselves.
  /// Only the forms that wait can reach it.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    inTurn body: nonisolated(nonsending) @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    let cast = TargetCast<Target>()
    self.init(
      method: TurnMethod<R, repeat each A>(message.selector) {
        (target: AnyObject, arguments: repeat each A) async throws -> R in
        try await body(cast.target(target), repeat each arguments)
      })
  }

  /// A row that suspends and runs on no actor, for targets that are not `Sendable`.
  ///
  /// Only forms that wait reach it, of senders that are on no actor either: for others it fails with `isolationMismatch`.
  public init<R, each A>(
    key message: Message<(repeat each A) -> R>,
    concurrent body: @escaping @Sendable (Target, repeat each A) async throws -> R
  ) {
    self.init(suspending: message.selector, resultCrosses: false, targetCrosses: false, body)
  }
}

/// A method that suspends in the isolation of its sender. It has only the boxed door.
private final class TurnMethod<R, each A>: Method, @unchecked Sendable {  // immutable after init
  private let body: nonisolated(nonsending) @Sendable (AnyObject, repeat each A) async throws -> R

  init(
    _ selector: MessageSelector,
    body: nonisolated(nonsending) @escaping @Sendable (AnyObject, repeat each A) async throws -> R
  ) {
    self.body = body
    super.init(selector, functionType: nil, isolation: .async)
  }

  override var signature: MethodSignature { MethodSignature(returning: R.self, taking: repeat (each A).self) }
  override var numberOfParameters: Int { packCount(repeat (each A).self) }
  override func answers(to actor: (any Actor)?) -> Bool { true }

  override func renamed(_ selector: MessageSelector) -> Method { TurnMethod(selector, body: body) }

  nonisolated(nonsending) override func invokeSuspending(
    _ target: AnyObject, _ invocation: Invocation
  ) async throws -> Invocation {
    let receiver = typeName(of: target)
    try checkCount(invocation.arguments, receiver: receiver)
    var index = 0
    let arguments = invocation.arguments
    func next<T>(_ type: T.Type) throws(MessageError) -> T {
      defer { index += 1 }
      do { return try arguments[index].unbox(as: type) } catch {
        throw .argument(index, selector, receiver: receiver, error)
      }
    }
    let opened = (repeat try next((each A).self))
    var answered = invocation
    answered.result = ArgumentBox(storage: try await body(target, repeat each opened), isSendable: false)
    return answered
  }

  override func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    try checkTypes(repeat (each A).self, of: arguments, receiver: receiver())
  }
}
