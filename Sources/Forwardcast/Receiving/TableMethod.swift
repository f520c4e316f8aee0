// TableMethod.swift: a table's method as a value.

/// A method that a table has or had, for example one that a row replaces.
///
///     try table.replace("title:") { original in
///       Responds(to: "title:") { (window: Window, text: String) in
///         try original?.call(on: window, "[" + text + "]")
///       }
///     }
///
/// The value retains the row's closure and does not change with the table.
public struct TableMethod: Sendable {
  let method: Method
  let owner: TableStorage
  /// The inheriting tables whose hooks surround the method.
  var hooked: [TableStorage] = []

  /// The selector in its table.
  public var selector: MessageSelector { method.selector }

  /// The method's types.
  public var signature: MethodSignature { method.signature }

  /// Calls this method on `target` synchronously, whichever method the target's own table has.
  /// Arguments and result are converted as by `send(_:_:)`.
  ///
  /// - Throws: the method's error; ``MessageError`` if this method's table rejects the target, the
  ///   arguments or result do not fit, or the caller is in another isolation.
  @discardableResult
  public func call<R, each A>(on target: AnyObject, _ arguments: repeat each A) throws -> R {
    try checkAccepts(target)
    if method.functionType == ObjectIdentifier(((repeat each A) -> R).self) {
      return try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(
        target, Arguments(values: (repeat each arguments)))
    }
    var invocation = Invocation(selector, arguments: Arguments(values: (repeat each arguments)).boxes(crossing: false))
    try method.invoke(target, &invocation)
    return try typedResult(of: invocation, from: target)
  }

  /// Calls the boxed method on `target` and stores the answer in ``Invocation/result``. Ignores the
  /// invocation's selector.
  ///
  /// - Throws: as ``call(on:_:)``. After an error, the result is `nil`.
  public func perform(_ invocation: inout Invocation, on target: AnyObject) throws {
    invocation.result = nil
    try checkAccepts(target)
    try invocation.answer(from: target) { try method.invoke(target, &$0) }
  }

  func checkAccepts(_ target: AnyObject) throws(MessageError) {
    try owner.checkAccepts(target, selector)
    for table in hooked { try table.checkAccepts(target, selector, hooksOnly: true) }
  }
}

extension SelectorTable {
  /// The table's own or inherited method, without the table's hooks; `nil` if there is none.
  public func method(for selector: MessageSelector) -> TableMethod? {
    if let own = storage.ownMethod(for: selector) { return TableMethod(method: own, owner: storage) }
    // A rejected row hides the inherited method.
    if storage.hasRefused(selector) { return nil }
    return inheritedMethod(for: selector)
  }

  /// The method that this table inherits for `selector`.
  public func inheritedMethod(for selector: MessageSelector) -> TableMethod? {
    storage.parent?.find(selector)
  }

  /// Makes a row from the own or inherited method, and adds the row in place of that method.
  ///
  /// - Parameters:
  ///   - selector: the message.
  ///   - row: makes the row. Called again if another thread changes the method.
  /// - Throws: as ``replace(_:)``; `typeMismatch` if the row is for another selector; the error of
  ///   `row`. After an error, the table is unchanged.
  public func replace<Target>(_ selector: MessageSelector, with row: (TableMethod?) throws -> Responds<Target>) throws {
    var entered = false
    while !entered {
      let own = storage.ownMethod(for: selector)
      let row = try row(method(for: selector))
      guard row.selector == selector else {
        throw MessageError(
          .typeMismatch, receiver: storage.targetName, selector: selector.name,
          evidence: "the new row is for '\(row.selector.name)'; write 'Responds(to: \"\(selector.name)\")'")
      }
      try storage.checkTarget(Target.self, row.selector)
      entered = try storage.enter(row.method) { $0 === own } != nil
    }
    TableEpoch.advance()
  }
}

extension MessageReceiver {
  /// Sends a message to the method that `table` inherits, like `super`. Calls no forwarding hooks.
  ///
  ///     Responds(to: .title) { letter, text in
  ///       try letter.sendSuper(.title, from: letterTable, "Dear " + text)
  ///     }
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - table: the table of the calling row.
  ///   - arguments: the message's arguments, in order.
  /// - Throws: as `send(_:_:)`; `unrecognizedSelector` if nothing is inherited.
  @discardableResult
  public func sendSuper<R, each A>(
    _ message: Message<(repeat each A) -> R>, from table: SelectorTable, _ arguments: repeat each A
  ) throws -> R {
    let selector = message.selector
    guard StackGuard.hasRoom else { throw StackGuard.tooDeep(selector, receiver: self) }
    if let method = table.inheritedMethod(for: selector) { return try method.call(on: self, repeat each arguments) }
    if let refusal = table.storage.parent?.refusal(for: selector) { throw refusal }
    throw MessageError(
      .unrecognizedSelector, of: self, selector, "none of the inherited tables has the method")
  }
}
