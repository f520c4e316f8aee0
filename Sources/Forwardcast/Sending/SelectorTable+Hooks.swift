// SelectorTable+Hooks.swift: hooks around a table's methods.

extension SelectorTable: MessageHooking {
  /// The table's hooks, around the methods of this table.
  public var hookPlace: HookPlace { HookPlace(holder: storage) }

  /// Runs `body` before each call of this table's method for a key.
  ///
  ///     try Screen.selectorTable.before(.onAddMsg, of: Screen.self) {
  ///       screen, chat, data in log(chat)
  ///     }
  ///
  /// **Hooks of a table** run once per receiver, on the context of its method, for all senders. A
  /// hook for all methods surrounds the table's own methods and their replacements. A hook for a
  /// selector also surrounds an inherited method that is called through this table, and the hooks
  /// of the table that the method comes from. If the receiver is not of the table's type, the call
  /// throws `typeMismatch`.
  ///
  /// To hook all methods, or a selector without a key, use the methods of ``MessageHooking``. Their
  /// `around` hooks find the receiver in ``InvocationCall/target``.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - target: the table's type.
  ///   - body: called with receiver and arguments, in the method's isolation. If it throws, the
  ///     method does not run and fails with that error.
  /// - Returns: a handle that cancels the hook. Releasing the handle does not cancel the hook.
  /// - Throws: `unrecognizedSelector` if the table neither has nor inherits the method;
  ///   `wrongArgumentCount` or `typeMismatch` if key, target and table disagree.
  @discardableResult
  public func before<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, of target: Target.Type,
    _ body: @escaping @Sendable (Target, repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let cast = TargetCast<Target>()
    return try install(message, target) { () -> Hook.Body in
      .before { sent in
        let arguments = try sent.values(of: message)
        try body(cast.target(sent.receiver), repeat each arguments.values)
      }
    }
  }

  /// Runs `body` after each successful call of this table's method for a key, see
  /// ``before(_:of:_:)``. `body` gets receiver, answer and arguments. If `body` throws, the method
  /// fails with that error.
  @discardableResult
  public func after<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, of target: Target.Type,
    _ body: @escaping @Sendable (Target, R, repeat each A) throws -> Void
  ) throws(MessageError) -> HookRegistration {
    let cast = TargetCast<Target>()
    return try install(message, target) { () -> Hook.Body in
      .after { sent, answers in
        let answer = try answers.single(as: R.self, sent)
        let arguments = try sent.values(of: message)
        try body(cast.target(sent.receiver), answer, repeat each arguments.values)
      }
    }
  }

  /// Runs `body` instead of this table's method for a key, see ``before(_:of:_:)``.
  ///
  ///     try table.around(.title, of: Letter.self) { letter, call in
  ///       "Dear " + (try call.proceed())
  ///     }
  ///
  /// `body` gets the receiver and the call, and returns the answer. A synchronous method needs
  /// `body`; without it, this call throws `isolationMismatch`. An asynchronous method needs
  /// `waiting`; without it, the method throws `isolationMismatch`.
  @discardableResult
  public func around<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, of target: Target.Type,
    _ body: (@Sendable (Target, MethodCall<R, repeat each A>) throws -> R)? = nil,
    waiting: (nonisolated(nonsending) @Sendable (Target, WaitingMethodCall<R, repeat each A>) async throws -> R)? = nil
  ) throws(MessageError) -> HookRegistration {
    let cast = TargetCast<Target>()
    return try install(message, target) { () -> Hook.Body in
      var form: ((MessageCall<R, repeat each A>) throws -> [R])?
      if let body { form = { [try body(cast.target($0.turn.message.receiver), MethodCall($0))] } }
      var waitingForm: (nonisolated(nonsending) (WaitingMessageCall<R, repeat each A>) async throws -> [R])?
      if let waiting {
        waitingForm = { [try await waiting(cast.target($0.turn.message.receiver), WaitingMethodCall($0))] }
      }
      let crosses = message.answerCrosses
      return .around(
        aroundBody(form, crosses: crosses), waiting: Hook.Body.waitingBody(waitingForm, crosses: crosses))
    }
  }

  private func install<Target, R, each A>(
    _ message: Message<(repeat each A) -> R>, _ target: Target.Type, _ body: () -> Hook.Body
  ) throws(MessageError) -> HookRegistration {
    try storage.checkTarget(Target.self, message.selector)
    return try hookPlace.install(message, body())
  }
}

extension TableStorage: HookHolder {
  var receiverName: String { targetName }

  func firstMethod(for selector: MessageSelector) -> Method? {
    ownMethod(for: selector) ?? parent?.method(for: selector)
  }

  func install(_ hook: Hook) throws(MessageError) -> HookRegistration {
    if let selector = hook.selector {
      guard let method = firstMethod(for: selector) else {
        throw MessageError(
          .unrecognizedSelector, of: self, selector, "neither the table nor a table that it inherits has the method")
      }
      if case .around(nil, waiting: _?, name: _) = hook.body, !method.isolation.isAsync {
        throw MessageError(
          .isolationMismatch, of: self, selector,
          "the method is not async, so 'waiting:' would never run; pass a synchronous closure")
      }
    }
    changeHooks { hook.number = $0.append(hook) }
    return HookRegistration(hook) { [weak self] hook in self?.changeHooks { _ = $0.remove(hook.number) } }
  }
}

extension HookHolder {
  func check<R, each A>(_ message: Message<(repeat each A) -> R>) throws(MessageError) {
    let (selector, found) = (message.selector, packCount(repeat (each A).self))
    guard found == selector.numberOfArguments else {
      throw .parameterCount(selector, receiver: receiverName, "the key's type", found: found)
    }
    guard let method = firstMethod(for: selector), method.functionType != ObjectIdentifier(((repeat each A) -> R).self)
    else { return }
    try method.signature.check(
      MethodSignature(returning: R.self, taking: repeat (each A).self), selector, receiver: receiverName)
  }
}

extension MethodSignature {
  /// - Throws: `typeMismatch` if one of these types and the hook's `stated` type convert in neither
  ///   direction.
  func check(_ stated: MethodSignature, _ selector: MessageSelector, receiver: String) throws(MessageError) {
    guard argumentTypes.count == stated.argumentTypes.count else { return }
    try compare(with: stated, selector, receiver: receiver) { wanted, found in
      wanted.mayBecome(found) || found.mayBecome(wanted)
        ? nil : "the method has \(wanted.swiftName), but the hook has \(found.swiftName)"
    }
  }
}

extension TypeEncoding {
  /// True if some value of this type can be converted to `other`. `Void` fits every type.
  fileprivate func mayBecome(_ other: TypeEncoding) -> Bool {
    if other.accepts(self) { return true }
    switch (kind, other.kind) {
    case (.scalar, .scalar), (.void, _): return true
    case (.structure(let record), _): return record.name.hasPrefix("Optional<")
    default: return false
    }
  }
}
