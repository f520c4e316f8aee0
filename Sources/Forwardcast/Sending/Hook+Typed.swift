// Hook+Typed.swift: bodies of hooks, made of closures that know their types.

// Bodies need not be Sendable here: those of a proxy that is shared between threads are, and the others stay with their
// proxy in one isolation. The compiler sees to that where a hook is installed.

extension Hook.Body {
  /// A body that runs before messages of a key.
  static func before<R, each A>(
    _ key: Message<(repeat each A) -> R>, _ body: @escaping (repeat each A) throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .before { message in
      let arguments = try message.values(of: key)
      try body(repeat each arguments.values)
    }
  }

  /// A body that runs after messages of a key that succeeded.
  static func after<R, each A>(
    _ key: Message<(repeat each A) -> R>, _ body: @escaping ([R], repeat each A) throws -> Void
  ) -> Hook.Body {
    nonisolated(unsafe) let body = body
    return .after { message, answers in
      let arguments = try message.values(of: key)
      try body(try answers.typed(as: R.self, message), repeat each arguments.values)
    }
  }

  /// A body that runs around messages of a key, with a form for senders that wait.
  static func around<R, each A>(
    _ key: Message<(repeat each A) -> R>, _ body: ((MessageCall<R, repeat each A>) throws -> [R])?,
    _ waiting: (nonisolated(nonsending) (WaitingMessageCall<R, repeat each A>) async throws -> [R])?
  ) -> Hook.Body {
    around(
      body, waiting, crosses: key.answerCrosses, { try MessageCall($0, $1, of: key) },
      { try WaitingMessageCall($0, $1, of: key) })
  }

  /// A body that runs around messages.
  ///
  /// - Parameters:
  ///   - call: makes what `body` gets, of a message and of what stands inside, which throws when the hook is over.
  ///   - waitingCall: makes what `waiting` gets.
  private static func around<Call, WaitingCall, R>(
    _ body: ((Call) throws -> [R])?, _ waiting: (nonisolated(nonsending) (WaitingCall) async throws -> [R])?,
    crosses: Bool, _ call: @escaping @Sendable (HookedMessage, @escaping Hook.Rest) throws -> Call,
    _ waitingCall: @escaping @Sendable (HookedMessage, @escaping Hook.WaitingRest) throws -> WaitingCall
  ) -> Hook.Body {
    var form: Hook.AroundBody?
    if let body {
      nonisolated(unsafe) let body = body
      form = { message, rest in
        let turn = HookTurn()
        defer { turn.end() }
        let call = try call(message) {
          try turn.check(message.selector)
          return try rest($0)
        }
        return TypedAnswers(try body(call), crosses: crosses)
      }
    }
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting {
      nonisolated(unsafe) let waiting = waiting
      waitingForm = { message, rest in
        let turn = HookTurn()
        defer { turn.end() }
        let call = try waitingCall(message) {
          try turn.check(message.selector)
          return try await rest($0)
        }
        return TypedAnswers(try await waiting(call), crosses: crosses)
      }
    }
    return .around(form, waiting: waitingForm)
  }
}

// Calls are made in initialisers: a closure that makes one with a closure in it crashes the compiler.

extension MessageCall {
  init(_ message: HookedMessage, _ rest: @escaping Hook.Rest, of key: Message<(repeat each A) -> R>) throws {
    // What throws comes first: releasing half of this value crashes the compiler.
    arguments = try message.values(of: key).values
    self.message = message
    self.rest = { other, crosses in
      try rest(message.arguments(with: other, of: key, crosses: crosses)).typed(as: R.self, message)
    }
  }
}

extension WaitingMessageCall {
  init(_ message: HookedMessage, _ rest: @escaping Hook.WaitingRest, of key: Message<(repeat each A) -> R>) throws {
    // What throws comes first: releasing half of this value crashes the compiler.
    arguments = try message.values(of: key).values
    self.message = message
    self.rest = { other, crosses in
      try await rest(message.arguments(with: other, of: key, crosses: crosses)).typed(as: R.self, message)
    }
  }
}

extension HookedMessage {
  /// The arguments as the types of a key.
  func values<R, each A>(of key: Message<(repeat each A) -> R>) throws -> Arguments<repeat each A> {
    try arguments.values(as: ((repeat each A) -> R).self, selector, receiver)
  }

  /// The arguments that a hook goes on with: other ones, or for `nil` those that it got.
  fileprivate func arguments<R, each A>(
    with other: Arguments<repeat each A>?, of key: Message<(repeat each A) -> R>, crosses: Bool
  ) -> MessageArguments {
    guard let other else { return arguments }
    return arguments.replacing(other, as: ((repeat each A) -> R).self, crosses: crosses, of: selector)
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
    return .after { message, answers in
      var invocation = message.invocation
      invocation.result = answers.boxes.last
      try body(answers.boxes, invocation)
    }
  }

  /// A body that runs around messages by boxes, with a form for senders that wait.
  static func around(
    _ body: ((InvocationCall) throws -> [ArgumentBox])?,
    _ waiting: (nonisolated(nonsending) (WaitingInvocationCall) async throws -> [ArgumentBox])?
  ) -> Hook.Body {
    around(body, waiting, crosses: false, InvocationCall.init, WaitingInvocationCall.init)
  }
}

extension InvocationCall {
  fileprivate init(_ message: HookedMessage, _ rest: @escaping Hook.Rest) {
    (target, invocation) = (message.target, message.invocation)
    self.rest = { try rest(message.arguments(with: $0)).boxes }
  }
}

extension WaitingInvocationCall {
  fileprivate init(_ message: HookedMessage, _ rest: @escaping Hook.WaitingRest) {
    (target, invocation) = (message.target, message.invocation)
    self.rest = { try await rest(message.arguments(with: $0)).boxes }
  }
}

extension HookedMessage {
  /// The message by boxes.
  var invocation: Invocation {
    var invocation = arguments.invocation(selector)
    invocation.result = nil
    return invocation
  }

  /// The receiver whose method is called; `nil` where the message goes through a proxy.
  fileprivate var target: AnyObject? { receiver is any HookHolder ? nil : receiver }

  fileprivate func arguments(with boxes: [ArgumentBox]?) -> MessageArguments {
    boxes.map { arguments.replacing($0, of: selector) } ?? arguments
  }
}
