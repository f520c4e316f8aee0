// Invocation+Checks.swift: whether a message's values are those of the types that were stated for it.

extension Invocation {
  /// Makes the arguments those of the signature that the sender stated, if it stated one.
  mutating func fitStatedTypes(receiver: AnyObject) throws(MessageError) {
    guard let stated = statedSignature else { return }
    try checkColons(of: stated, receiver, "the stated signature \(stated) takes")
    try checkCount(receiver: receiver)
    try fit(stated.argumentTypes, receiver)
  }

  /// Makes the answer one of the return type that the sender stated, if it stated one.
  ///
  /// Where that is `v` the sender does not look at the answer: any is dropped.
  @inline(never) mutating func fitStatedReturn(receiver: AnyObject) throws(MessageError) {
    guard let stated = statedSignature else { return }
    try fitReturn(stated.returnType, receiver: receiver)
  }

  /// Makes the message one of the types that a receiver's hooks gave for it.
  mutating func fit(hookTypes types: MethodSignature, receiver: AnyObject) throws(MessageError) {
    try checkColons(of: types, receiver, "methodSignature(for:) gave \(types), which takes")
    try fit(types.argumentTypes, receiver)
    statedSignature = types
  }

  /// Whether `receiver` answers the message and takes its arguments, without sending it.
  ///
  /// - Throws: what the send would throw before anything runs.
  package func check(for receiver: any MessageReceiver) throws {
    var checked = self
    try checked.fitStatedTypes(receiver: receiver)
    if let method = try tableMethod(of: receiver, for: selector) {
      try method.check(arguments, receiver: typeName(of: receiver))
    } else {
      guard answers(receiver, selector) else {
        throw (receiver as? any MessageForwarding)?.doesNotRecognize(selector)
          ?? MessageError.unrecognized(selector, by: receiver)
      }
      try checkCount(receiver: receiver)
    }
  }

  /// Whether there are as many arguments as the selector has colons.
  func checkCount(receiver: AnyObject) throws(MessageError) {
    guard arguments.count == selector.numberOfArguments else {
      throw .argumentCount(selector, receiver: typeName(of: receiver), found: arguments.count)
    }
  }

  /// Makes the answer one of `type`, or forgets it and throws.
  mutating func fitReturn(_ type: TypeEncoding, receiver: AnyObject) throws(MessageError) {
    guard let answer = result else { return }
    if type.kind == .void {
      result = ArgumentBox(())
      return
    }
    do { result = try answer.converted(to: type) } catch {
      result = nil
      throw .result(selector, receiver: typeName(of: receiver), error)
    }
  }

  /// Whether every argument is known to be `Sendable`.
  func checkCrossing(receiver: AnyObject) throws(MessageError) {
    guard let index = arguments.firstIndex(where: { !$0.isSendable }) else { return }
    throw MessageError(
      .isolationMismatch, of: receiver, selector,
      "argument \(index) of type \(arguments[index].type) is not known to be Sendable and may not cross",
      argument: index)
  }

  /// Whether the answer is known to be `Sendable`.
  func checkAnswerCrossing(receiver: AnyObject) throws(MessageError) {
    guard let answer = result, !answer.isSendable else { return }
    throw MessageError(
      .isolationMismatch, of: receiver, selector,
      "its answer of type \(answer.type) is not known to be Sendable and may not cross")
  }

  @inline(never) private func checkColons(
    of types: MethodSignature, _ receiver: AnyObject, _ whose: @autoclosure () -> String
  ) throws(MessageError) {
    let count = types.argumentTypes.count - 2
    guard count != selector.numberOfArguments else { return }
    throw MessageError(
      .wrongArgumentCount, of: receiver, selector, "\(whose()) \(count), the selector \(selector.numberOfArguments)")
  }

  mutating func fit(_ types: [TypeEncoding], _ receiver: AnyObject) throws(MessageError) {
    for index in arguments.indices where types[index + 2].kind != .object(name: nil) {
      do { arguments[index] = try arguments[index].converted(to: types[index + 2]) } catch {
        throw .argument(index, selector, receiver: typeName(of: receiver), error)
      }
    }
  }
}
