// Hook+Typed.swift: hook bodies from typed closures.

// `nonisolated(unsafe)` is safe here: where a hook is installed, the compiler checks that the
// hook's closure is `Sendable` or remains in the isolation of the proxy.

extension Hook.Body {
  static func before<R, each A>(
    _ key: Message<(repeat each A) -> R>, _ body: @escaping (repeat each A) throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .before { message in
      let arguments = try message.values(of: key)
      try body(repeat each arguments.values)
    }
  }

  static func after<R, each A>(
    _ key: Message<(repeat each A) -> R>, _ body: @escaping ([R], repeat each A) throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .after { message, answers in
      let arguments = try message.values(of: key)
      try body(try answers.typed(as: R.self, message), repeat each arguments.values)
    }
  }

  static func waitingBody<R, each A>(
    _ waiting: (nonisolated(nonsending) (WaitingMessageCall<R, repeat each A>) async throws -> [R])?, crosses: Bool
  ) -> Hook.WaitingAroundBody? {
    guard let waiting else { return nil }
    nonisolated(unsafe) let body = waiting
    return { TypedAnswers.list(try await body(try WaitingMessageCall($0)), crosses: crosses) }
  }
}

/// The synchronous form of an `around` hook, specialized in the installing module. `crosses` is
/// true if the answers are known to be `Sendable`.
@export(implementation)
func aroundBody<R, each A>(_ body: ((MessageCall<R, repeat each A>) throws -> [R])?, crosses: Bool) -> (
  @Sendable (HookTurn) throws -> MessageAnswers
)? {
  guard let body else { return nil }
  nonisolated(unsafe) let made = body
  return { $0.returned(try made(try MessageCall($0)), crosses: crosses) }
}

extension HookedMessage {
  func values<R, each A>(of key: Message<(repeat each A) -> R>) throws -> Arguments<repeat each A> {
    try arguments.values(as: ((repeat each A) -> R).self, selector, receiver)
  }
}

// MARK: - Boxed forms

extension Hook.Body {
  static func before(_ body: @escaping (Invocation) throws -> Void) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .before { try body($0.invocation) }
  }

  static func after(_ body: @escaping ([ArgumentBox], Invocation) throws -> Void) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .after { message, answers in
      var invocation = message.invocation
      invocation.result = answers.boxes.last
      try body(answers.boxes, invocation)
    }
  }

  static func around(
    _ body: ((InvocationCall) throws -> [ArgumentBox])?,
    _ waiting: (nonisolated(nonsending) (WaitingInvocationCall) async throws -> [ArgumentBox])?
  ) -> Hook.Body {
    var (form, waitingForm) = (Hook.AroundBody?.none, Hook.WaitingAroundBody?.none)
    if let body {
      nonisolated(unsafe) let body = body
      form = {
        TypedAnswers(try body(InvocationCall(target: $0.message.target, invocation: $0.message.invocation, turn: $0)))
      }
    }
    if let waiting {
      nonisolated(unsafe) let waiting = waiting
      waitingForm = {
        let call = WaitingInvocationCall(target: $0.message.target, invocation: $0.message.invocation, turn: $0)
        return TypedAnswers(try await waiting(call))
      }
    }
    return .around(form, waiting: waitingForm)
  }
}

extension HookedMessage {
  /// The receiver of the method; `nil` for a proxy's hook.
  fileprivate var target: AnyObject? { isOfProxy ? nil : receiver }
}
