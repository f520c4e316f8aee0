// Hook+Typed.swift: bodies of hooks, made of closures that know their types.
// Layer: Sending. See DESIGN.md, "Around a message".

// Bodies need not be Sendable here: those of a proxy that is shared between threads are, and the others stay with their
// proxy in one isolation. The compiler sees to that where a hook is installed.

extension Hook.Body {
  /// A body that runs before messages of a key.
  static func before<R, each A>(
    _ type: ((repeat each A) -> R).Type, _ body: @escaping (repeat each A) throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .before { message in
      let arguments = try message.arguments.values(as: type, message.selector, message.receiver)
      try body(repeat each arguments.values)
    }
  }

  /// A body that runs after messages of a key that succeeded.
  static func after<R, each A>(
    _ type: ((repeat each A) -> R).Type, _ body: @escaping ([R], repeat each A) throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .after { message, answers in
      let arguments = try message.arguments.values(as: type, message.selector, message.receiver)
      try body(try answers.typed(as: R.self, message), repeat each arguments.values)
    }
  }

  /// A body that runs before messages of a key whose sender waits.
  static func waitingBefore<R, each A>(
    _ type: ((repeat each A) -> R).Type,
    _ body: nonisolated(nonsending) @escaping (SentMessage<R, repeat each A>) async throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .waitingBefore { message in
      let sent = try SentMessage(message, as: type)
      try await body(sent)
    }
  }

  /// A body that runs after messages of a key that succeeded and whose sender waits.
  static func waitingAfter<R, each A>(
    _ type: ((repeat each A) -> R).Type,
    _ body: nonisolated(nonsending) @escaping (SentMessage<R, repeat each A>) async throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .waitingAfter { message, answers in
      let sent = try SentMessage(message, answers, as: type)
      try await body(sent)
    }
  }

  /// A body that runs around messages of a key.
  ///
  /// - Parameters:
  ///   - crosses: whether the compiler has seen that the arguments are `Sendable`.
  ///   - answersCross: the same of the answers.
  static func around<R, each A>(
    _ type: ((repeat each A) -> R).Type, crosses: Bool, answersCross: Bool = false,
    _ body: @escaping (MessageCall<R, repeat each A>) throws -> [R]
  ) -> Hook.AroundBody {
    nonisolated(unsafe) let body = body
    return { message, rest in
      let call = try MessageCall(message, rest, as: type, crosses: crosses)
      defer { call.turn.end() }
      return TypedAnswers(try body(call), crosses: answersCross)
    }
  }

  /// A body that runs around messages of a key whose sender waits.
  static func waitingAround<R, each A>(
    _ type: ((repeat each A) -> R).Type, crosses: Bool, answersCross: Bool = false,
    _ body: nonisolated(nonsending) @escaping (WaitingMessageCall<R, repeat each A>) async throws -> [R]
  ) -> Hook.WaitingAroundBody {
    nonisolated(unsafe) let body = body
    return { message, rest in
      let call = try WaitingMessageCall(message, rest, as: type, crosses: crosses)
      defer { call.turn.end() }
      let result = try await body(call)
      return TypedAnswers(result, crosses: answersCross)
    }
  }
}

extension SentMessage {
  fileprivate init(_ message: HookedMessage, _ answers: MessageAnswers = .none, as type: ((repeat each A) -> R).Type)
    throws
  {
    // All that throws comes first: letting go of half of this value crashes the compiler.
    let list = try answers.typed(as: R.self, message)
    arguments = try message.arguments.values(as: type, message.selector, message.receiver).values
    (selector, self.answers) = (message.selector, list)
  }
}

// Calls are made in initialisers: a closure that makes one with a closure in it crashes the compiler.

extension MessageCall {
  fileprivate init(
    _ message: HookedMessage, _ rest: @escaping Hook.Rest, as type: ((repeat each A) -> R).Type, crosses: Bool
  ) throws {
    selector = message.selector
    arguments = try message.arguments.values(as: type, message.selector, message.receiver).values
    turn = HookTurn()
    self.rest = { try rest(message.arguments(with: $0, as: type, crosses: crosses)).typed(as: R.self, message) }
  }
}

extension WaitingMessageCall {
  fileprivate init(
    _ message: HookedMessage, _ rest: @escaping Hook.WaitingRest, as type: ((repeat each A) -> R).Type, crosses: Bool
  ) throws {
    selector = message.selector
    arguments = try message.arguments.values(as: type, message.selector, message.receiver).values
    turn = HookTurn()
    self.rest = { try await rest(message.arguments(with: $0, as: type, crosses: crosses)).typed(as: R.self, message) }
  }
}

extension HookedMessage {
  /// The arguments that a hook goes on with: other ones, or for `nil` those that it got.
  fileprivate func arguments<R, each A>(
    with other: Arguments<repeat each A>?, as type: ((repeat each A) -> R).Type, crosses: Bool
  ) -> MessageArguments {
    other.map { arguments.replacing($0, as: type, crosses: crosses, of: selector) } ?? arguments
  }
}

// MARK: By boxes

extension Hook.Body {
  /// A body that runs before messages by boxes.
  static func before(_ body: @escaping (Invocation) throws -> Void) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .before { try body($0.invocation) }
  }

  /// A body that runs after messages by boxes that succeeded.
  static func after(_ body: @escaping ([ArgumentBox], Invocation) throws -> Void) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .after { message, answers in try body(answers.boxes, message.answered(answers)) }
  }

  /// A body that runs before messages by boxes whose sender waits.
  static func waitingBefore(_ body: nonisolated(nonsending) @escaping (Invocation) async throws -> Void) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .waitingBefore { try await body($0.invocation) }
  }

  /// A body that runs after messages by boxes that succeeded and whose sender waits.
  static func waitingAfter(
    _ body: nonisolated(nonsending) @escaping ([ArgumentBox], Invocation) async throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .waitingAfter { message, answers in try await body(answers.boxes, message.answered(answers)) }
  }

  /// A body that runs around messages by boxes.
  static func around(_ body: @escaping (InvocationCall) throws -> [ArgumentBox]) -> Hook.AroundBody {
    nonisolated(unsafe) let body = body
    return { message, rest in
      let turn = HookTurn()
      defer { turn.end() }
      let call = InvocationCall(invocation: message.invocation, turn: turn) {
        try rest(message.arguments(with: $0)).boxes
      }
      return TypedAnswers(try body(call))
    }
  }

  /// A body that runs around messages by boxes whose sender waits.
  static func waitingAround(
    _ body: nonisolated(nonsending) @escaping (WaitingInvocationCall) async throws -> [ArgumentBox]
  ) -> Hook.WaitingAroundBody {
    nonisolated(unsafe) let body = body
    return { message, rest in
      let turn = HookTurn()
      defer { turn.end() }
      let call = WaitingInvocationCall(invocation: message.invocation, turn: turn) {
        try await rest(message.arguments(with: $0)).boxes
      }
      return TypedAnswers(try await body(call))
    }
  }
}

extension HookedMessage {
  /// The message by boxes.
  var invocation: Invocation {
    var invocation = arguments.invocation(selector)
    invocation.result = nil
    return invocation
  }

  /// The message by boxes, with its last answer.
  func answered(_ answers: MessageAnswers) -> Invocation {
    var invocation = invocation
    invocation.result = answers.boxes.last
    return invocation
  }

  fileprivate func arguments(with boxes: [ArgumentBox]?) -> MessageArguments {
    boxes.map { arguments.replacing($0, of: selector) } ?? arguments
  }
}
