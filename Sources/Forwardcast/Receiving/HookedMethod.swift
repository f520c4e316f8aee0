// HookedMethod.swift: a boxed or asynchronous method with hooks.

/// A method with hooks that is called boxed or asynchronously.
final class HookedMethod: Method, @unchecked Sendable {  // immutable after init
  private let inner: Method
  private let hooks: HookChain

  init(_ inner: Method, _ hooks: HookChain) {
    (self.inner, self.hooks) = (inner, hooks)
    super.init(inner.selector, functionType: nil, isolation: inner.isolation)
  }

  override var signature: MethodSignature { inner.signature }
  override func answers(to actor: (any Actor)?) -> Bool { inner.answers(to: actor) }
  override func runs(on sender: (any Actor)?) -> Bool { inner.runs(on: sender) }

  override func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    try inner.check(arguments, receiver: receiver())
  }

  override func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws {
    guard canRun(on: target) else { throw unreachable(target) }
    let answers = try hooks.run(message(invocation, target)) { [inner, selector] other in
      var copy = other.invocation(selector)
      try inner.invoke(target, &copy)
      return TypedAnswers(of: copy)
    }
    invocation.result = answers.boxes.last
  }

  nonisolated(nonsending) override func invokeSuspending(_ target: AnyObject, _ invocation: Invocation) async throws
    -> Invocation
  {
    let rest: Hook.WaitingRest = { [inner, selector] other in
      let answered = try await inner.invokeSuspending(target, other.invocation(selector))
      return TypedAnswers(of: answered)
    }
    let answers = try await hooks.runAndWait(message(invocation, target), rest) { [selector] _ in
      throw MessageError(
        .isolationMismatch, of: target, selector,
        "the method is async, but an around hook of its table is not; pass the hook's async form as 'waiting:'")
    }
    var answered = invocation
    answered.result = answers.boxes.last
    return answered
  }

  private func message(_ invocation: Invocation, _ target: AnyObject) -> HookedMessage {
    HookedMessage(selector: selector, receiver: target, arguments: BoxedArguments(invocation))
  }
}
