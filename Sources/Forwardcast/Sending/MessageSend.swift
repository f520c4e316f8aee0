// MessageSend.swift: every step of one send, in order, in one function.

/// How a message will be answered.
@usableFromInline
enum Resolution {
  /// By a method of a table, run on that receiver: the first, or one that a forwarding target led to.
  case method(Method, AnyObject)
  /// By the hooks of that receiver, as an invocation of the types that its
  /// ``MessageForwarding/methodSignature(for:)`` gave.
  case forward(any MessageForwarding, MethodSignature)
}

/// How many forwarding targets one message may be led through, each of them another: objects that make a new one for each
/// question would lead it on for ever.
let maximumHops = 4096

/// Finds who answers `selector` when it is sent to `receiver`.
///
/// - Throws: what the receiver's `doesNotRecognize` gives, and as ``follow(_:from:past:)``.
@usableFromInline
func resolve(_ selector: MessageSelector, for receiver: any MessageReceiver, past hooked: AnyObject? = nil) throws
  -> Resolution
{
  let (resolution, last) = try follow(selector, from: receiver, past: hooked)
  if let resolution { return resolution }
  // 5. Nobody.
  throw (last as? any MessageForwarding)?.doesNotRecognize(selector) ?? MessageError.unrecognized(selector, by: last)
}

/// The steps of every send, in their order.
///
/// - Parameter hooked: a proxy whose hooks the message is inside of.
/// - Returns: how the message will be answered, `nil` for not at all, and whom it came to last.
/// - Throws: `proxyCycle` when forwarding targets lead in a ring; `typeMismatch` when a table was made for another class;
///   `tooDeep` when the stack has no room for another message, or too many targets lead to one another.
func follow(_ selector: MessageSelector, from first: any MessageReceiver, past hooked: AnyObject?) throws
  -> (resolution: Resolution?, last: any MessageReceiver)
{
  guard StackGuard.hasRoom else { throw StackGuard.tooDeep(selector, receiver: first) }
  var receiver = first
  // The receivers that were passed are kept: a new one at the address of one that died would look like a ring.
  var passed: [any MessageReceiver] = []
  while true {
    // 1. Its own table, its class's, and those of the superclasses.
    // 2. The resolver hook, once for each class and selector: it may add a method.
    if let method = try tableMethod(of: receiver, for: selector) { return (.method(method, receiver), receiver) }
    guard let forwarding = receiver as? any MessageForwarding else { return (nil, receiver) }
    // Hooks stand around all that the receiver forwards.
    if let around = ForwardingHooks.around(selector, of: forwarding, past: hooked) {
      return (.forward(around, .objects(arguments: selector.numberOfArguments)), receiver)
    }
    // 3. Somebody else who is to get the message as it is.
    if let other = forwarding.forwardingTarget(for: selector), other !== receiver {
      try ProxyQuestion.charge(.proxy)
      passed.append(receiver)
      if passed.contains(where: { $0 === other }) { throw MessageError.cycle(selector, through: other) }
      guard passed.count < maximumHops else {
        throw MessageError(
          .tooDeep, of: first, selector, "more than \(maximumHops) objects lead the message on to one another")
      }
      receiver = other
      continue
    }
    // 4. Forwarding, when the receiver knows the message's types.
    return (forwarding.methodSignature(for: selector).map { .forward(forwarding, $0) }, receiver)
  }
}

/// Steps 1 and 2: the method that the receiver's tables have for `selector`, or `nil`.
///
/// - Throws: why a row of that selector was refused when its table was made; `typeMismatch` for a table that belongs to
///   another class; `resolverAddedNothing` for a resolver hook that did not do what it said; `wouldDeadlock` for one that
///   needs what the calling thread is at.
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
    // A row that was refused says so when it is looked for again.
    do { return try find() != nil } catch { return true }
  }
  if answer == .nothing { return nil }
  if let method = try find() { return method }
  if answer == .added { return nil }
  throw MessageError(
    .resolverAddedNothing, of: receiver, selector,
    "resolveMethod(for:) said that it had added a method, and no table has one")
}

/// The table of the object itself, as its class declares it or, where that is below one that left it to the default, as
/// the class says in its own name.
func ownTable(of receiver: any MessageReceiver, classTable: TableStorage) -> TableStorage? {
  if let table = receiver.objectTable { return table.storage }
  let type = ObjectIdentifier(type(of: receiver))
  if classTable.ownsNoTables.contains(type) { return nil }
  if let owner = receiver as? any ObjectTableOwning { return owner.objectTable?.storage }
  classTable.ownsNoTables.note(type)
  return nil
}

extension Invocation {
  /// Runs `body`, which leaves an answer in the message, with the types that the sender stated. Where anything throws there is
  /// no answer.
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

/// Runs a method, or the hook of a receiver that forwards, and leaves the answer in the invocation.
@inline(never) func finish(_ resolution: Resolution, _ invocation: inout Invocation) throws {
  switch resolution {
  case .method(let method, let target): try method.invoke(target, &invocation)
  case .forward(let hooks, let types): try forward(&invocation, by: hooks, types)
  }
}

/// Step 4 of a send: gives the message to the forwarding hook, as one of the types that the hooks stated.
///
/// Count and types are checked before the hook runs, so that it may open the arguments that it has asked for.
@inline(never) func forward(_ invocation: inout Invocation, by hooks: any MessageForwarding, _ types: MethodSignature)
  throws
{
  let stated = try invocation.prepare(for: hooks, types)
  defer { invocation.statedSignature = stated }
  let report = try hooks.forward(&invocation)
  try invocation.take(report, from: hooks, types)
}

/// The same for a sender that waits.
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
  /// Makes the message one that a hook can take. Gives the signature that it had been stated with.
  @inline(never) fileprivate mutating func prepare(for hooks: any MessageForwarding, _ types: MethodSignature) throws
    -> MethodSignature?
  {
    let stated = statedSignature
    try checkCount(receiver: hooks)
    // Who forwards to many leaves the types to each of them.
    if !(hooks is any ForwardingToMany) { try fit(hookTypes: types, receiver: hooks) }
    return stated
  }

  /// Makes the answer one of the types that the hooks stated.
  ///
  /// - Throws: the first failure of the report.
  fileprivate mutating func take(_ report: DeliveryReport, from hooks: any MessageForwarding, _ types: MethodSignature)
    throws
  {
    if let failure = report.failures.first {
      // Only one can be thrown; a receiver that forwards to many gives the others to its handler of errors.
      if let many = hooks as? any ForwardingToMany { many.tell(report.failures.dropFirst(), of: selector) }
      throw failure.error
    }
    if !(hooks is any ForwardingToMany) { try fitReturn(types.returnType, receiver: hooks) }
  }
}

extension MessageReceiver {
  /// Sends a message to this receiver and gives its answer.
  ///
  /// A method of exactly the key's types is called without a box; for any other the arguments and the result are
  /// converted as ``ArgumentBox/unbox(as:)`` says.
  ///
  /// - Parameters:
  ///   - message: the key: selector and types.
  ///   - arguments: the message's, in order.
  /// - Throws: what the method throws; ``MessageError`` when nothing answers, an argument does not fit, or the method
  ///   runs in an isolation that the caller is not in.
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

  /// A name alone has no types.
  @available(
    *, unavailable, message: "say the types, send(Message<(Int) -> Bool>(\"heat:\"), 1), or write dynamic.heat(1)"
  )
  @_disfavoredOverload
  public func send(_ selector: MessageSelector, _ arguments: Any...) throws {}

  /// A name alone has no types, whatever the answer is to be.
  @available(
    *, unavailable, message: "say the types, send(Message<(Int) -> Bool>(\"heat:\"), 1), or write dynamic.heat(1)"
  )
  @_disfavoredOverload
  public func send<R>(_ selector: MessageSelector, _ arguments: Any...) throws -> R { fatalError() }

  /// Sends a message with boxes to this receiver and leaves the answer in ``Invocation/result``.
  ///
  /// - Parameter invocation: the message; its selector and arguments stay as they are.
  /// - Throws: as `send(_:_:)`; the result is then `nil`.
  public func perform(_ invocation: inout Invocation) throws {
    try invocation.answer(from: self) { try finish(try resolve($0.selector, for: self), &$0) }
  }
}

/// The rest of a typed send whose method has other types, or none.
@usableFromInline
func sendBoxed<R>(
  _ selector: MessageSelector, _ boxes: [ArgumentBox], _ resolution: Resolution, to receiver: any MessageReceiver
) throws -> R {
  var invocation = Invocation(selector, arguments: boxes)
  try finish(resolution, &invocation)
  return try typedResult(of: invocation, from: receiver)
}

/// The result of an invocation as the type that a sender expects; no answer at all is enough for `Void` and optionals.
@usableFromInline
func typedResult<R>(of invocation: Invocation, from receiver: AnyObject) throws(MessageError) -> R {
  if R.self == Void.self, let nothing = () as? R { return nothing }
  guard let box = invocation.result else {
    if let none = absent(R.self) { return none }
    throw MessageError(.nobodyResponds, of: receiver, invocation.selector, "wanted an answer of type \(R.self)")
  }
  do { return try box.unbox(as: R.self) } catch {
    throw .result(invocation.selector, receiver: typeName(of: receiver), error)
  }
}

extension MessageError {
  package static func cycle(_ selector: MessageSelector, through proxy: AnyObject) -> MessageError {
    MessageError(.proxyCycle, of: proxy, selector, "the message came through this proxy before")
  }
}
