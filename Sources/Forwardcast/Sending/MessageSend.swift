// MessageSend.swift: the steps of a send to one receiver.

@usableFromInline
enum Resolution {
  /// A method of a table answers. The object is the receiver or a forwarding target.
  case method(Method, AnyObject)
  /// The receiver forwards the message, as an invocation of these types.
  case forward(any MessageForwarding, MethodSignature)
}

/// The maximum number of forwarding targets per message. Without the limit, each target could
/// create another target without end.
let maximumHops = 4096

/// Finds how `receiver` answers `selector`, or throws the error of `doesNotRecognize`.
@usableFromInline
func resolve(_ selector: MessageSelector, for receiver: any MessageReceiver, past hooked: AnyObject? = nil) throws
  -> Resolution
{
  let (resolution, last) = try follow(selector, from: receiver, past: hooked)
  if let resolution { return resolution }
  // 5. Nothing answers. Steps 1 to 4 are in `follow`.
  throw (last as? any MessageForwarding)?.doesNotRecognize(selector) ?? MessageError.unrecognized(selector, by: last)
}

/// The steps of every send, in order.
///
/// - Parameter hooked: a proxy whose hooks are already running.
/// - Returns: how the message is answered (`nil` if nothing answers), and the last receiver.
/// - Throws: `proxyCycle` for a cycle of forwarding targets; `typeMismatch` for a table of another
///   class; `tooDeep` if the stack is exhausted or there are too many forwarding targets.
func follow(_ selector: MessageSelector, from first: any MessageReceiver, past hooked: AnyObject?) throws
  -> (resolution: Resolution?, last: any MessageReceiver)
{
  guard StackGuard.hasRoom else { throw StackGuard.tooDeep(selector, receiver: first) }
  var receiver = first
  // Retains receivers. Otherwise a new receiver at the address of a deallocated one would look like
  // a cycle.
  var passed: [any MessageReceiver] = []
  while true {
    // 1. The tables of the object, its class and its superclasses. 2. The resolver hook.
    if let method = try tableMethod(of: receiver, for: selector) { return (.method(method, receiver), receiver) }
    guard let forwarding = receiver as? any MessageForwarding else { return (nil, receiver) }
    // A proxy's hooks surround all messages that the proxy forwards.
    if let around = ForwardingHooks.around(selector, of: forwarding, past: hooked) {
      return (.forward(around, .objects(arguments: selector.numberOfArguments)), receiver)
    }
    // 3. A forwarding target.
    if let other = forwarding.forwardingTarget(for: selector), other !== receiver {
      try ProxyQuestion.charge(.proxy)
      passed.append(receiver)
      if passed.contains(where: { $0 === other }) {
        throw MessageError(
          .proxyCycle, of: other, selector,
          "the message has already passed through this receiver; forward it to one that does not lead back here")
      }
      guard passed.count < maximumHops else {
        throw MessageError(
          .tooDeep, of: first, selector,
          "the message was forwarded more than \(maximumHops) times; shorten the chain of forwarding targets")
      }
      receiver = other
      continue
    }
    // 4. Forwarding, if the receiver knows the message's signature.
    return (forwarding.methodSignature(for: selector).map { .forward(forwarding, $0) }, receiver)
  }
}

/// Steps 1 and 2: the method for `selector` in the receiver's tables, or `nil`. Throws the error of
/// an invalid method, of a table of another class, or of the resolver hook.
@usableFromInline
func tableMethod(of receiver: any MessageReceiver, for selector: MessageSelector) throws -> Method? {
  let type = Swift.type(of: receiver)
  let shared = type.selectorTable.storage
  let own = ownTable(of: receiver, classTable: shared)
  func find() throws -> Method? {
    if let own, let method = try own.method(for: selector, on: receiver) { return method }
    return try shared.method(for: selector, on: receiver)
  }
  if let method = try find() { return method }
  if shared.resolvesNothing.contains(ObjectIdentifier(type)) { return nil }
  let answer = try ResolverHook.ask(type, selector) {
    // An invalid method throws its error when it is looked up again below.
    do { return try find() != nil } catch { return true }
  }
  if answer == .nothing { return nil }
  if let method = try find() { return method }
  if answer == .added { return nil }
  throw MessageError(
    .resolverAddedNothing, of: receiver, selector,
    "resolveMethod(for:) returned true, but no table has the method")
}

/// The object's own table, by ``MessageReceiver/objectTable`` or by ``ObjectTableOwning``.
func ownTable(of receiver: any MessageReceiver, classTable: TableStorage) -> TableStorage? {
  if let table = receiver.objectTable { return table.storage }
  let type = ObjectIdentifier(type(of: receiver))
  if classTable.ownsNoTables.contains(type) { return nil }
  if let owner = receiver as? any ObjectTableOwning { return owner.objectTable?.storage }
  classTable.ownsNoTables.note(type)
  return nil
}

extension Invocation {
  /// Runs `body`, which stores an answer. Converts arguments and answer to the stated types. If an
  /// error is thrown, the answer is `nil`.
  mutating func answer(from receiver: AnyObject, _ body: (inout Invocation) throws -> Void) throws {
    result = nil
    do {
      try fitStatedTypes(receiver: receiver)
      try body(&self)
      try fitStatedReturn(receiver: receiver)
    } catch {
      result = nil
      throw error
    }
  }
}

@inline(never) func finish(_ resolution: Resolution, _ invocation: inout Invocation) throws {
  switch resolution {
  case .method(let method, let target): try method.invoke(target, &invocation)
  case .forward(let hooks, let types): try forward(&invocation, by: hooks, types)
  }
}

/// Step 4 of a send. Checks number and types first, so `hooks` can unbox arguments unchecked.
@inline(never) func forward(_ invocation: inout Invocation, by hooks: any MessageForwarding, _ types: MethodSignature)
  throws
{
  let stated = try invocation.prepare(for: hooks, types)
  defer { invocation.statedSignature = stated }
  let report = try hooks.forward(&invocation)
  try invocation.take(report, from: hooks, types)
}

nonisolated(nonsending) func forwardWaiting(
  _ invocation: inout Invocation, by hooks: any MessageForwarding, _ types: MethodSignature
) async throws {
  let stated = try invocation.prepare(for: hooks, types)
  defer { invocation.statedSignature = stated }
  let report = try await hooks.forwardAndWait(invocation)
  invocation.result = report.result
  try invocation.take(report, from: hooks, types)
}

extension Invocation {
  /// Converts the message to `types`. Returns the previously stated signature.
  @inline(never) fileprivate mutating func prepare(for hooks: any MessageForwarding, _ types: MethodSignature) throws
    -> MethodSignature?
  {
    let stated = statedSignature
    try checkCount(receiver: hooks)
    // Each target of a multicast checks the types itself.
    if !(hooks is any ForwardingToMany) { try fit(hookTypes: types, receiver: hooks) }
    return stated
  }

  /// Converts the answer to `types`. Throws the first failure of the report.
  fileprivate mutating func take(_ report: DeliveryReport, from hooks: any MessageForwarding, _ types: MethodSignature)
    throws
  {
    if let failure = report.failures.first {
      // Only one error can be thrown; a multicast reports the other errors.
      if let many = hooks as? any ForwardingToMany { many.tell(report.failures.dropFirst(), of: selector) }
      throw failure.error
    }
    if !(hooks is any ForwardingToMany) { try fitReturn(types.returnType, receiver: hooks) }
  }
}

extension MessageReceiver {
  /// Sends a message to this receiver and returns its answer.
  ///
  /// A method with exactly the key's types is called unboxed. Otherwise arguments and result are
  /// converted, see ``ArgumentBox/unbox(as:)``.
  ///
  /// - Throws: the method's error; ``MessageError`` if nothing answers, the arguments do not fit,
  ///   or the caller is outside the method's isolation.
  @export(implementation)
  @discardableResult
  public func send<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A) throws -> R {
    switch try resolve(message.selector, for: self) {
    case .method(let method, let target) where method.functionType == ObjectIdentifier(((repeat each A) -> R).self):
      return try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(
        target, Arguments(values: (repeat each arguments)))
    case let resolution:
      var boxes: [ArgumentBox] = []
      for argument in repeat each arguments { boxes.append(ArgumentBox(storage: argument, isSendable: false)) }
      return try sendBoxed(message.selector, boxes, resolution, to: self)
    }
  }

  /// Unavailable: a selector alone has no types.
  @available(
    *, unavailable, message: "state the types: send(Message<(Int) -> Bool>(\"heat:\"), 1), or write dynamic.heat(1)"
  )
  @_disfavoredOverload
  public func send(_ selector: MessageSelector, _ arguments: Any...) throws {}

  /// Unavailable: a selector alone has no types.
  @available(
    *, unavailable, message: "state the types: send(Message<(Int) -> Bool>(\"heat:\"), 1), or write dynamic.heat(1)"
  )
  @_disfavoredOverload
  public func send<R>(_ selector: MessageSelector, _ arguments: Any...) throws -> R { fatalError() }

  /// Sends a boxed message to this receiver and stores the answer in ``Invocation/result``. Throws
  /// as `send(_:_:)`; after an error, the result is `nil`.
  public func perform(_ invocation: inout Invocation) throws {
    try invocation.answer(from: self) { try finish(try resolve($0.selector, for: self), &$0) }
  }
}

/// Completes a typed send that cannot call a method unboxed. The arguments are boxed.
@usableFromInline
func sendBoxed<R>(
  _ selector: MessageSelector, _ boxes: [ArgumentBox], _ resolution: Resolution, to receiver: any MessageReceiver
) throws -> R {
  var invocation = Invocation(selector, arguments: boxes)
  try finish(resolution, &invocation)
  return try typedResult(of: invocation, from: receiver)
}

/// An invocation's result as `R`. A missing result is `()` for `Void` and `nil` for an optional
/// `R`.
@usableFromInline
func typedResult<R>(of invocation: Invocation, from receiver: AnyObject) throws(MessageError) -> R {
  if R.self == Void.self, let nothing = () as? R { return nothing }
  guard let box = invocation.result else {
    if let none = absent(R.self) { return none }
    throw MessageError(
      .nobodyResponds, of: receiver, invocation.selector,
      "wanted an answer of type \(R.self), found none; return an answer from the method, or send with a key "
        + "whose result type is optional")
  }
  do { return try box.unbox(as: R.self) } catch {
    throw .result(invocation.selector, receiver: typeName(of: receiver), error)
  }
}

extension MessageError {
  package static func cycle(_ selector: MessageSelector, through proxy: AnyObject) -> MessageError {
    MessageError(
      .proxyCycle, of: proxy, selector,
      "the message has already passed through this proxy; end the cycle by removing one proxy from another's targets")
  }
}
