// Invocation+Checks.swift: validates a message's values against stated types.

extension Invocation {
  /// Converts the arguments to the types stated by the sender, if any.
  mutating func fitStatedTypes(receiver: AnyObject) throws(MessageError) {
    guard let stated = statedSignature else { return }
    try checkColons(of: stated, receiver, "the stated signature \(stated) takes")
    try checkCount(receiver: receiver)
    try fit(stated.argumentTypes, typeName(of: receiver))
  }

  /// Converts the answer to the return type stated by the sender, if any; for `v` (void), to `()`.
  @inline(never) mutating func fitStatedReturn(receiver: AnyObject) throws(MessageError) {
    guard let stated = statedSignature else { return }
    try fitReturn(stated.returnType, receiver: receiver)
  }

  /// Converts the arguments to the types stated by a receiver's hooks.
  mutating func fit(hookTypes types: MethodSignature, receiver: AnyObject) throws(MessageError) {
    try checkColons(of: types, receiver, "methodSignature(for:) returned \(types), which takes")
    try fit(types.argumentTypes, typeName(of: receiver))
    statedSignature = types
  }

  /// Throws unless `receiver` responds and its own method, if any, accepts the arguments.
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

  func checkCount(receiver: AnyObject) throws(MessageError) {
    guard arguments.count == selector.numberOfArguments else {
      throw .argumentCount(selector, receiver: typeName(of: receiver), found: arguments.count)
    }
  }

  /// Converts the answer to `type`. If that is impossible, drops the answer and throws.
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

  func checkCrossing(receiver: AnyObject) throws(MessageError) {
    guard let (index, evidence) = arguments.staying("leave the sender's context") else { return }
    throw MessageError(.isolationMismatch, of: receiver, selector, evidence, argument: index)
  }

  func checkAnswerCrossing(receiver: AnyObject) throws(MessageError) {
    guard let answer = result, !answer.isSendable else { return }
    throw MessageError(
      .isolationMismatch, of: receiver, selector,
      "its result is not known to be Sendable and may not leave the method's context; make '\(answer.type)' Sendable")
  }

  @inline(never) private func checkColons(
    of types: MethodSignature, _ receiver: AnyObject, _ whose: @autoclosure () -> String
  ) throws(MessageError) {
    let count = types.argumentTypes.count - 2
    guard count != selector.numberOfArguments else { return }
    throw MessageError(
      .wrongArgumentCount, of: receiver, selector,
      "\(whose()) \(count), but the selector takes \(selector.numberOfArguments)")
  }

  mutating func fit(_ types: [TypeEncoding], _ receiver: @autoclosure () -> String) throws(MessageError) {
    var fitted = arguments
    for index in fitted.indices where types[index + 2].kind != .object(name: nil) {
      do { fitted[index] = try fitted[index].converted(to: types[index + 2]) } catch {
        throw .argument(index, selector, receiver: receiver(), error)
      }
    }
    arguments = fitted
  }
}

extension [ArgumentBox] {
  /// The first argument that may not `move`, and the reason. `nil` if all arguments may. The index
  /// is `nil` if several arguments could be the cause.
  ///
  /// The boxes of a typed message are all marked as `Sendable`, or none is. So an argument whose
  /// type is certainly `Sendable` is named only if it is the only argument.
  @inline(never) func staying(_ move: String) -> (index: Int?, evidence: String)? {
    let unmarked = indices.filter { !self[$0].isSendable }
    guard let first = unmarked.first else { return nil }
    let suspect = unmarked.first { !isKnownSendable(self[$0].value) }
    if let suspect {
      let type = self[suspect].type
      return (suspect, "argument \(suspect) is not known to be Sendable and may not \(move); make '\(type)' Sendable")
    }
    let reason = "may not \(move), since its static type is not known to be Sendable; pass"
    if unmarked.count == 1 { return (first, "argument \(first) \(reason) it as '\(self[first].type)'") }
    return (nil, "an argument \(reason) each argument as its concrete type")
  }
}
