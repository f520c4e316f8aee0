// TableMethod.swift: a method of a table as a value, to call it past the tables.

/// A method that a table has or had, as a value: what a new row replaced, or what it inherits.
///
///     try table.replace("title:") { original in
///       Responds(to: "title:") { (window: Window, text: String) in
///         try original?.call(on: window, "[" + text + "]")
///       }
///     }
///
/// It keeps the row's closure, and stays what it is when the table changes.
public struct TableMethod: Sendable {
  let method: Method
  let owner: TableStorage

  /// The name under which it stood in its table.
  public var selector: MessageSelector { method.selector }

  public var signature: MethodSignature { method.signature }

  /// Calls the method on `target` in the caller's turn, whatever the target's own tables say.
  ///
  /// Arguments and result of other types than the method's are converted, as with `send(_:_:)`.
  ///
  /// - Parameters:
  ///   - target: an object of the class that the table is for.
  ///   - arguments: the message's, in order.
  /// - Throws: what the method throws; ``MessageError`` for a target that the method's table is not for, arguments or a
  ///   result that do not fit, or an isolation that the caller is not in.
  @discardableResult
  public func call<R, each A>(on target: AnyObject, _ arguments: repeat each A) throws -> R {
    try owner.checkAccepts(target, selector)
    if method.functionType == ObjectIdentifier(((repeat each A) -> R).self) {
      return try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(
        target, Arguments(values: (repeat each arguments)))
    }
    var boxes: [ArgumentBox] = []
    for argument in repeat each arguments { boxes.append(ArgumentBox(storage: argument, isSendable: false)) }
    var invocation = Invocation(selector, arguments: boxes)
    try method.invoke(target, &invocation)
    return try typedResult(of: invocation, from: target)
  }

  /// Calls the method on `target` with boxes and leaves the answer in ``Invocation/result``. The selector of the
  /// invocation does not count.
  ///
  /// - Throws: as ``call(on:_:)``; the result is then `nil`.
  public func perform(_ invocation: inout Invocation, on target: AnyObject) throws {
    invocation.result = nil
    do {
      try owner.checkAccepts(target, selector)
      try invocation.fitStatedTypes(receiver: target)
      try method.invoke(target, &invocation)
      try invocation.fitStatedReturn(receiver: target)
    } catch {
      invocation.result = nil
      throw error
    }
  }
}

extension SelectorTable {
  /// The method for `selector` that this table or one that it inherits has; `nil` where there is none. One of this
  /// table's own comes without the hooks around it.
  public func method(for selector: MessageSelector) -> TableMethod? {
    if let own = storage.ownMethod(for: selector) { return TableMethod(method: own, owner: storage) }
    return storage.find(selector).map { TableMethod(method: $0.method, owner: $0.owner) }
  }

  /// The method for `selector` that this table would inherit if it had none of its own.
  public func inheritedMethod(for selector: MessageSelector) -> TableMethod? {
    storage.parent?.find(selector).map { TableMethod(method: $0.method, owner: $0.owner) }
  }

  /// Puts a row in the place of the method that this table has or inherits, made with that method at hand.
  ///
  /// - Parameters:
  ///   - selector: the message.
  ///   - row: makes the row; called again when another thread has changed the method meanwhile. Its selector is `selector`,
  ///     or the method that it was given is not replaced.
  /// - Throws: as ``replace(_:)``, and what `row` throws. The table is then as it was.
  public func replace<Target>(_ selector: MessageSelector, with row: (TableMethod?) throws -> Responds<Target>) throws {
    var entered = false
    while !entered {
      let own = storage.ownMethod(for: selector)
      let row = try row(method(for: selector))
      try storage.checkTarget(Target.self, row.selector)
      entered = try storage.enter(row.method, inPlaceOf: own, for: selector)
    }
    TableEpoch.advance()
  }

  /// Exchanges two methods of this table's own: each answers the other's messages from now on.
  ///
  /// - Parameters:
  ///   - first: a selector of a row of this table.
  ///   - second: another one, with as many colons.
  /// - Throws: ``MessageError`` `unrecognizedSelector` where the table has no method of its own for one of them, and
  ///   `wrongArgumentCount` when one has more colons. The table is then as it was.
  public func exchange(_ first: MessageSelector, _ second: MessageSelector) throws(MessageError) {
    try storage.exchange(first, second)
    TableEpoch.advance()
  }
}

extension MessageReceiver {
  /// Sends a message past `table` to what it inherits: the method that its row overrides, as `super` does.
  ///
  ///     Responds(to: .title) { letter, text in
  ///       try letter.sendSuper(.title, from: letterTable, "Dear " + text)
  ///     }
  ///
  /// The hooks are not asked.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - table: the table past which it goes: that of the row that says `super`.
  ///   - arguments: the message's, in order.
  /// - Throws: as `send(_:_:)`; `unrecognizedSelector` when nothing is inherited.
  @discardableResult
  public func sendSuper<R, each A>(
    _ message: Message<(repeat each A) -> R>, from table: SelectorTable, _ arguments: repeat each A
  ) throws -> R {
    let selector = message.selector
    guard StackGuard.hasRoom else { throw StackGuard.tooDeep(selector, receiver: self) }
    if let method = table.inheritedMethod(for: selector) { return try method.call(on: self, repeat each arguments) }
    if let refusal = table.storage.parent?.refusal(for: selector) { throw refusal }
    throw MessageError(
      .unrecognizedSelector, of: self, selector, "the table that sends it further inherits no such method")
  }
}
