// SelectorTable+Hooks.swift: hooks around the methods of a table.
// Layer: Sending. See DESIGN.md, "Around a message".

extension SelectorTable {
  /// Runs `body` before each call of this table's method for a key.
  ///
  ///     try Screen.selectorTable.before(.onAddMsg, of: Screen.self) { screen, chat, data in log(chat) }
  ///
  /// **Hooks of a table** run once for each receiver, in the place where its method runs, whoever sends: one receiver or
  /// a proxy. They stand around the table's own rows, those that replace them later included; an inherited method has the
  /// hooks of the table that it stands in. One that is installed later stands outside of those that are there. A row with
  /// hooks stays typed: a sender with the row's types reaches it without a box.
  ///
  /// What `body` throws is the method's error, which then does not run.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - target: the type that the table is for.
  ///   - body: gets the receiver and the arguments. It runs in the isolation of the method.
  /// - Returns: a handle that cancels the hook; the hook stays when it is released.
  /// - Throws: `unrecognizedSelector` when the table has no such row of its own, `wrongArgumentCount` or `typeMismatch`
  ///   when the row's types are not the key's, or the table is for another type.
  @discardableResult
  public func before<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, of target: Target.Type,
    _ body: @escaping @Sendable (Target, repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let (type, cast) = (((repeat each A) -> R).self, TargetCast<Target>())
    return try install(
      message.selector, type, target,
      .before { message in
        let arguments = try message.arguments.values(as: type, message.selector, message.receiver)
        try body(cast.target(message.receiver), repeat each arguments.values)
      })
  }

  /// Runs `body` after each call of this table's method for a key that did not throw: see ``before(_:of:_:)``.
  ///
  /// - Parameter body: gets the receiver, the answer and the arguments. What it throws is the method's error.
  @discardableResult
  public func after<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, of target: Target.Type,
    _ body: @escaping @Sendable (Target, R, repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let (type, cast) = (((repeat each A) -> R).self, TargetCast<Target>())
    return try install(
      message.selector, type, target,
      .after { message, answers in
        let answer = try answers.single(as: R.self, message)
        let arguments = try message.arguments.values(as: type, message.selector, message.receiver)
        try body(cast.target(message.receiver), answer, repeat each arguments.values)
      })
  }

  /// Runs `body` in place of this table's method for a key: see ``before(_:of:_:)``.
  ///
  ///     try table.around(.title, of: Letter.self) { letter, call in "Dear " + (try call.proceed()) }
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - target: the type that the table is for.
  ///   - body: gets the receiver and the call, and gives the answer.
  ///   - waiting: the same for a method that suspends, which is refused with `isolationMismatch` without it.
  @discardableResult
  public func around<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, of target: Target.Type,
    _ body: @escaping @Sendable (Target, MethodCall<R, repeat each A>) throws -> R,
    waiting: (nonisolated(nonsending) @Sendable (Target, WaitingMethodCall<R, repeat each A>) async throws -> R)? = nil
  ) throws(MessageError) -> HookRegistration {
    try installAround(message, target, answersCross: false, body, waiting)
  }

  /// Runs `body` in place of this table's method for a key whose answers may cross to another isolation.
  @discardableResult
  public func around<Target, R: Sendable, each A>(
    _ message: Message<(repeat each A) -> R>, of target: Target.Type,
    _ body: @escaping @Sendable (Target, MethodCall<R, repeat each A>) throws -> R,
    waiting: (nonisolated(nonsending) @Sendable (Target, WaitingMethodCall<R, repeat each A>) async throws -> R)? = nil
  ) throws(MessageError) -> HookRegistration {
    try installAround(message, target, answersCross: true, body, waiting)
  }

  /// Runs `body` before each call of this table's method for a selector, or of every method of its own: see
  /// ``before(_:of:_:)``.
  ///
  /// - Parameters:
  ///   - selector: the message; `nil` or nothing for every row of the table, also for those that enter later.
  ///   - body: gets the receiver and the message by boxes.
  @discardableResult
  public func before(
    _ selector: MessageSelector? = nil, _ body: @escaping @Sendable (AnyObject, Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try install(selector, .before { try body($0.receiver, $0.invocation) })
  }

  /// Runs `body` after each call of this table's method for a selector, or of every method of its own, that did not throw.
  ///
  /// - Parameter body: gets the receiver and the message by boxes, with its ``Invocation/result``.
  @discardableResult
  public func after(
    _ selector: MessageSelector? = nil, _ body: @escaping @Sendable (AnyObject, Invocation) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    try install(selector, .after { try body($0.receiver, $0.answered($1)) })
  }

  /// Runs `body` in place of this table's method for a selector, or of every method of its own.
  ///
  /// - Parameters:
  ///   - selector: the message; `nil` or nothing for every row of the table, also for those that enter later.
  ///   - body: gets the receiver and the message by boxes, and gives the answer: a list of one, or an empty one for a
  ///     method that answers nothing.
  ///   - waiting: the same for methods that suspend.
  @discardableResult
  public func around(
    _ selector: MessageSelector? = nil,
    _ body: @escaping @Sendable (AnyObject, InvocationCall) throws -> [ArgumentBox],
    waiting: (nonisolated(nonsending) @Sendable (AnyObject, WaitingInvocationCall) async throws -> [ArgumentBox])? = nil
  ) throws(MessageError) -> HookRegistration {
    let form: Hook.AroundBody = { message, rest in
      try Hook.Body.around { try body(message.receiver, $0) }(message, rest)
    }
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting {
      waitingForm = { message, rest in
        let receiver = message.receiver
        return try await Hook.Body.waitingAround { try await waiting(receiver, $0) }(message, rest)
      }
    }
    return try install(selector, .around(form, waiting: waitingForm))
  }
}

extension SelectorTable {
  private func installAround<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, _ target: Target.Type, answersCross: Bool,
    _ body: @escaping @Sendable (Target, MethodCall<R, repeat each A>) throws -> R,
    _ waiting: (nonisolated(nonsending) @Sendable (Target, WaitingMethodCall<R, repeat each A>) async throws -> R)?
  ) throws(MessageError) -> HookRegistration {
    let type = ((repeat each A) -> R).self
    let form = Hook.Body.aroundMethod(type, target, answersCross, body)
    var waitingForm: Hook.WaitingAroundBody?
    if let waiting { waitingForm = Hook.Body.waitingAroundMethod(type, target, answersCross, waiting) }
    return try install(message.selector, type, target, .around(form, waiting: waitingForm))
  }

  private func install<Target, R, each A>(
    _ selector: MessageSelector, _ type: ((repeat each A) -> R).Type, _ target: Target.Type, _ body: Hook.Body
  ) throws(MessageError) -> HookRegistration {
    try storage.checkTarget(Target.self, selector)
    let found = packCount(repeat (each A).self)
    guard found == selector.numberOfArguments else {
      throw .argumentCount(selector, receiver: storage.targetName, wanted: selector.numberOfArguments, found: found)
    }
    if let method = storage.ownMethod(for: selector), method.functionType != ObjectIdentifier(type) {
      try method.signature.check(
        MethodSignature(returning: R.self, taking: repeat (each A).self), selector, receiver: storage.targetName)
    }
    return try install(selector, body)
  }

  private func install(_ selector: MessageSelector?, _ body: Hook.Body) throws(MessageError) -> HookRegistration {
    if let selector, storage.ownMethod(for: selector) == nil {
      throw MessageError(
        .unrecognizedSelector, receiver: storage.targetName, selector: selector.name,
        evidence: "the table has no such method of its own")
    }
    let hook = Hook(selector, body)
    _ = storage.changeHooks { $0.append(hook) }
    return HookRegistration(hook) { [weak storage] hook in
      _ = storage?.changeHooks { hooks in hooks.removeAll { $0 === hook } }
    }
  }
}

extension Hook.Body {
  fileprivate static func aroundMethod<Target, R, each A>(
    _ type: ((repeat each A) -> R).Type, _ target: Target.Type, _ crosses: Bool,
    _ body: @escaping @Sendable (Target, MethodCall<R, repeat each A>) throws -> R
  ) -> Hook.AroundBody {
    let cast = TargetCast<Target>()
    return { message, rest in
      let target = cast.target(message.receiver)
      return try around(type, crosses: false, answersCross: crosses) { call in
        [try body(target, MethodCall(call, message))]
      }(message, rest)
    }
  }

  fileprivate static func waitingAroundMethod<Target, R, each A>(
    _ type: ((repeat each A) -> R).Type, _ target: Target.Type, _ crosses: Bool,
    _ body: nonisolated(nonsending) @escaping @Sendable (Target, WaitingMethodCall<R, repeat each A>) async throws -> R
  ) -> Hook.WaitingAroundBody {
    let cast = TargetCast<Target>()
    return { message, rest in
      let target = cast.target(message.receiver)
      let form = waitingAround(type, crosses: false, answersCross: crosses) { call in
        [try await body(target, WaitingMethodCall(call, message))]
      }
      return try await form(message, rest)
    }
  }
}

extension MethodSignature {
  /// Whether a hook of the types `stated` can be one for methods of these.
  ///
  /// - Throws: `typeMismatch` when a value of one can never become one of the other.
  func check(_ stated: MethodSignature, _ selector: MessageSelector, receiver: String) throws(MessageError) {
    guard argumentTypes.count == stated.argumentTypes.count else { return }
    func fit(_ wanted: TypeEncoding, _ found: TypeEncoding, _ what: String, _ index: Int?) throws(MessageError) {
      if wanted.mayBecome(found) || found.mayBecome(wanted) { return }
      throw MessageError(
        .typeMismatch, receiver: receiver, selector: selector.name,
        evidence: "\(what): the method has \(wanted.meaning) (\(wanted)), the hook \(found.meaning) (\(found))",
        argumentIndex: index)
    }
    for index in 2..<argumentTypes.count {
      try fit(argumentTypes[index], stated.argumentTypes[index], "argument \(index - 2)", index - 2)
    }
    try fit(returnType, stated.returnType, "result", nil)
  }
}

extension TypeEncoding {
  /// Whether some value of this type can be given where `other` is wanted.
  fileprivate func mayBecome(_ other: TypeEncoding) -> Bool {
    if other.accepts(self) { return true }
    switch (kind, other.kind) {
    case (.scalar, .scalar), (.void, _): return true
    case (.structure(let record), _): return record.name.hasPrefix("Optional<")
    default: return false
    }
  }
}
