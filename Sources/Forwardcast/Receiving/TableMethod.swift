// TableMethod.swift: a method of a table as a value, to be called regardless of tables.

/// A method that a table has or had: for example what a new row replaced, or what it inherits.
///
///     try table.replace("title:") { original in
///       Responds(to: "title:") { (window: Window, text: String) in
///         try original?.call(on: window, "[" + text + "]")
///       }
///     }
///
/// It keeps the row's closure and does not change with the table.
public struct TableMethod: Sendable {
  let method: Method
  let owner: TableStorage

  /// The selector under which it stood in its table.
  public var selector: MessageSelector { method.selector }

  /// The method's types.
  public var signature: MethodSignature { method.signature }

  /// Calls the method on `target` synchronously, regardless of the target's tables. Arguments and result are converted as with
  /// `send(_:_:)`.
  ///
  /// - Throws: what the method throws; ``MessageError`` for a target that the method's table is not for, arguments or a
  ///   result that do not fit, or an isolation that the caller is not in.
  @discardableResult
  public func call<R, each A>(on target: AnyObject, _ arguments: repeat each A) throws -> R {
    try owner.checkAccepts(target, selector)
    if method.functionType == ObjectIdentifier(((repeat each A) -> R).self) {
      return try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(
        target, Arguments(values: (repeat each arguments)))
    }
    var invocation = Invocation(selector, arguments: Arguments(values: (repeat each arguments)).boxes(crossing: false))
    try method.invoke(target, &invocation)
    return try typedResult(of: invocation, from: target)
  }

  /// Calls the method on `target` with boxes and leaves the answer in ``Invocation/result``. The invocation's selector is ignored.
  ///
  /// - Throws: as ``call(on:_:)``; the result is then `nil`.
  public func perform(_ invocation: inout Invocation, on target: AnyObject) throws {
    invocation.result = nil
    try owner.checkAccepts(target, selector)
    try invocation.answer(from: target) { try method.invoke(target, &$0) }
  }
}

extension SelectorTable {
  /// The method that this table has or inherits, without this table's hooks; `nil` when there is none.
  public func method(for selector: MessageSelector) -> TableMethod? {
    if let own = storage.ownMethod(for: selector) { return TableMethod(method: own, owner: storage) }
    // A refused row hides the inherited one.
    if storage.hasRefused(selector) { return nil }
    return inheritedMethod(for: selector)
  }

  /// The method that this table would have for `selector` without its own row.
  public func inheritedMethod(for selector: MessageSelector) -> TableMethod? {
    storage.parent?.find(selector)
  }

  /// Replaces the method that this table has or inherits, by a row made from that method.
  ///
  /// - Parameters:
  ///   - selector: the message.
  ///   - row: makes the row, which should be for `selector`; called again when another thread has changed the method meanwhile.
  /// - Throws: as ``replace(_:)``, and what `row` throws. The table is then unchanged.
  public func replace<Target>(_ selector: MessageSelector, with row: (TableMethod?) throws -> Responds<Target>) throws {
    var entered = false
    while !entered {
      let own = storage.ownMethod(for: selector)
      let row = try row(method(for: selector))
      try storage.checkTarget(Target.self, row.selector)
      entered = try storage.enter(row.method) { $0 === own } != nil
    }
    TableEpoch.advance()
  }
}

extension MessageReceiver {
  /// Sends a message to the method that `table` inherits, as `super` does.
  ///
  ///     Responds(to: .title) { letter, text in
  ///       try letter.sendSuper(.title, from: letterTable, "Dear " + text)
  ///     }
  ///
  /// The forwarding hooks are not asked.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - table: the table of the row that calls this.
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
