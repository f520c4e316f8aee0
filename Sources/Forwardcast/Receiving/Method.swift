// Method.swift: a method of a table, with a typed and a boxed form.

/// An implementation of one selector, with its types erased. A sender whose function type equals
/// ``functionType`` calls ``TypedMethod/body`` unboxed. Other senders use ``invoke(_:_:)``, which
/// unboxes and converts.
@usableFromInline
class Method: @unchecked Sendable {  // immutable once in a table
  @usableFromInline final let selector: MessageSelector
  /// The type `(arguments) -> result` of the typed form; `nil` if there is only the boxed form.
  @usableFromInline final let functionType: ObjectIdentifier?
  /// Rarely used properties; `nil` if all have their default values.
  private final var rare: Rare?

  private final class Rare: Sendable {
    struct Values: Sendable {
      var crosses = false
      var isolation = MethodIsolation.sender
      var signature: MethodSignature?
      var isPresent: Presence?
      var rule: BoxedPolicy?
      var isClosure = false
    }
    let values: Values
    // Shared by all methods without other properties.
    static let crossing = Rare(Values(crosses: true))
    static let closure = Rare(Values(isClosure: true))
    static let crossingClosure = Rare(Values(crosses: true, isClosure: true))
    init(_ values: Values) { self.values = values }
  }

  @usableFromInline
  init(
    _ selector: MessageSelector, functionType: ObjectIdentifier?, isolation: MethodIsolation,
    resultCrosses: Bool = false, signature: MethodSignature? = nil, isClosure: Bool = false
  ) {
    (self.selector, self.functionType) = (selector, functionType)
    if isClosure {
      rare = resultCrosses ? .crossingClosure : .closure
    } else if isolation.isSender && signature == nil {
      rare = resultCrosses ? .crossing : nil
    } else {
      rare = Rare(Rare.Values(crosses: resultCrosses, isolation: isolation, signature: signature))
    }
  }

  /// True if the method is a closure that serves as a target.
  final var isClosure: Bool { rare?.values.isClosure ?? false }

  @usableFromInline final var resultCrosses: Bool { rare?.values.crosses ?? false }

  typealias Presence = @Sendable (AnyObject) -> Bool
  typealias BoxedPolicy = ReturnPolicy<ArgumentBox, ArgumentBox?>

  /// Tests whether a target has the method; `nil` if all targets have it.
  final var isPresent: Presence? {
    get { rare?.values.isPresent }
    set { change { $0.isPresent = newValue } }
  }

  /// The rule by which a multicast combines answers into one; `nil` to use the last answer.
  final var rule: BoxedPolicy? {
    get { rare?.values.rule }
    set { change { $0.rule = newValue } }
  }

  private func change(_ body: (inout Rare.Values) -> Void) {
    var values = rare?.values ?? Rare.Values()
    body(&values)
    rare = Rare(values)
  }

  /// Copies ``isPresent`` and ``rule`` of `other`, which this method replaces. Returns `self`.
  final func replacing(_ other: Method) -> Method {
    if self !== other, other.isPresent != nil || other.rule != nil {
      change { ($0.isPresent, $0.rule) = (other.isPresent, other.rule) }
    }
    return self
  }

  /// A copy, so that a row made from another one leaves that row unchanged.
  func copy() -> Method { preconditionFailure("only the methods of rows are copied") }

  final var isolation: MethodIsolation { rare?.values.isolation ?? .sender }

  final var statedSignature: MethodSignature? { rare?.values.signature }

  var signature: MethodSignature { statedSignature ?? .objects(arguments: selector.numberOfArguments) }

  /// True if a non-`Sendable` result may be returned to a sender isolated to `actor` (`nil` for
  /// none), since the method runs on that actor or the result is newly created.
  func answers(to actor: (any Actor)?) -> Bool { false }

  /// True if the method is asynchronous and runs in the isolation of `sender` (`nil` for none).
  func runs(on sender: (any Actor)?) -> Bool { false }

  var isRefusal: Bool { false }

  var numberOfParameters: Int { selector.numberOfArguments }

  /// Runs the boxed method synchronously and stores the answer in `invocation.result`.
  func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws { throw unreachable(target) }

  /// Runs an asynchronous method and awaits it. Other methods run synchronously.
  nonisolated(nonsending) func invokeSuspending(_ target: AnyObject, _ invocation: Invocation) async throws
    -> Invocation
  {
    var copy = invocation
    try invoke(target, &copy)
    return copy
  }

  /// Checks that the method accepts the boxes, without running it.
  func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    try checkCount(arguments, receiver: receiver())
  }

  /// Unboxes the arguments once for many targets, and calls `body` with functions that call methods
  /// of ``functionType``. Returns false if each target must unbox the arguments instead.
  func withOpened(_ arguments: [ArgumentBox], _ body: (_ run: OpenedRun, _ ask: OpenedAsk) -> Void) -> Bool { false }

  @usableFromInline
  typealias OpenedRun = (_ method: Method, _ target: AnyObject) throws -> Void
  @usableFromInline
  typealias OpenedAsk = (_ method: Method, _ target: AnyObject) throws -> ArgumentBox
  @usableFromInline
  typealias Opener = @Sendable (_ boxes: [ArgumentBox], _ body: (_ run: OpenedRun, _ ask: OpenedAsk) -> Void) -> Bool

  func checkEncoding(receiver: String) throws(MessageError) {}

  /// The method with hooks. A typed method keeps its typed form.
  func hooked(by hooks: HookChain) -> Method { HookedMethod(self, hooks) }

  final func checkCount(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    guard arguments.count == numberOfParameters else {
      throw .argumentCount(selector, receiver: receiver(), wanted: numberOfParameters, found: arguments.count)
    }
  }
}

extension Method: Identified {
  var identity: UInt { selector.identity }
}

// A closure target is its own method.
extension Method: NamedReceiver {
  @usableFromInline var receiverName: String { "closure for '\(selector)'" }
}

@usableFromInline
enum MethodIsolation: Sendable {
  case sender
  case mainActor
  /// On the target, which is an actor.
  case target
  /// On a stated actor other than the main one.
  indirect case actor(any Actor)
  case async

  init(_ actor: (any Actor)?) {
    self = actor.map { $0 === MainActor.shared ? .mainActor : .actor($0) } ?? .sender
  }

  var isSender: Bool { if case .sender = self { true } else { false } }
  var isAsync: Bool { if case .async = self { true } else { false } }

  /// The reason why a sender in another isolation cannot call the method.
  var evidence: String {
    switch self {
    case .async: "the method is async; use a call that awaits answers, such as sendAndWait or collectAndWait"
    case .target, .actor:
      "the method runs \(place), but the sender is not known to run there; use an async call, or send from that actor "
        + "inside 'withHeldActor'"
    case .sender, .mainActor:
      "the method runs \(place), but the sender does not; use an async call, or send the message \(place)"
    }
  }

  /// The reason why a sender in another isolation cannot call a closure that stays in this one.
  var closureEvidence: String {
    if case .mainActor = self {
      return "the closure runs on the main actor, but the sender does not; send the message on the main actor"
    }
    return "the closure runs \(place), but the sender is not known to run there; send from that actor inside "
      + "'withHeldActor'"
  }

  var place: String {
    switch self {
    case .sender: "in its sender's context"
    case .mainActor: "on the main actor"
    case .target: "on its actor"
    case .actor(let actor): "on \(type(of: actor))"
    case .async: "asynchronously"
    }
  }
}

@frozen @usableFromInline
struct BoxOpening: Sendable {
  @usableFromInline let call: Method.Opener
}

@usableFromInline
final class TypedMethod<R, each A>: Method, @unchecked Sendable {  // immutable after init
  @usableFromInline let body: @Sendable (AnyObject, Arguments<repeat each A>) throws -> R
  /// Unboxes arguments, specialized in the row's module; `nil` to use the generic function. In a
  /// closure target, this field contains ``closure`` instead, since a second field would enlarge
  /// each row.
  @usableFromInline let opener: BoxOpening?

  @usableFromInline
  init(
    _ message: Message<(repeat each A) -> R>, signature: MethodSignature? = nil, isolation: MethodIsolation = .sender,
    opener: Opener?, closure: BoxOpening? = nil,
    body: @escaping @Sendable (AnyObject, Arguments<repeat each A>) throws -> R
  ) {
    (self.body, self.opener) = (body, closure ?? opener.map { BoxOpening(call: $0) })
    super.init(
      message.selector, functionType: ObjectIdentifier(((repeat each A) -> R).self), isolation: isolation,
      resultCrosses: message.answerCrosses, signature: signature, isClosure: closure != nil)
  }

  @inlinable
  convenience init(
    _ message: Message<(repeat each A) -> R>, signature: MethodSignature? = nil, isolation: MethodIsolation = .sender,
    body: @escaping @Sendable (AnyObject, Arguments<repeat each A>) throws -> R
  ) {
    self.init(
      message, signature: signature, isolation: isolation, opener: { TypedMethod.open($0, $1) }, body: body)
  }

  /// The method of a closure target. Its body reads the closure from the target.
  @export(implementation) @inline(never)
  convenience init(_ message: Message<(repeat each A) -> R>, closure: MessageClosure<R, repeat each A>) {
    self.init(message, opener: nil, closure: unsafeBitCast(closure, to: BoxOpening.self)) {
      (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
      try unsafeDowncast(target, to: TypedMethod<R, repeat each A>.self).closure.call(repeat each arguments.values)
    }
  }

  /// The method of a closure that receives its owner, which is the target.
  @export(implementation) @inline(never)
  convenience init<Owner: AnyObject>(
    _ message: Message<(repeat each A) -> R>, owned closure: UncheckedRow<Owner, R, repeat each A>,
    _ limits: ClosureLimits?
  ) {
    self.init(message) { (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
      if let limits, try !limits.begin() { return try limits.nothing() }
      return try closure.call(unsafeDowncast(target, to: Owner.self), repeat each arguments.values)
    }
  }

  @export(implementation) @inline(__always)
  var closure: MessageClosure<R, repeat each A> {
    unsafeBitCast(opener.unsafelyUnwrapped, to: MessageClosure<R, repeat each A>.self)
  }

  /// Calls the typed form. The caller has compared ``functionType``.
  @export(implementation) @inline(__always)
  func call(_ target: AnyObject, _ arguments: Arguments<repeat each A>) throws -> R {
    try body(target, arguments)
  }

  override var signature: MethodSignature {
    statedSignature ?? MethodSignature(returning: R.self, taking: repeat (each A).self)
  }

  override var numberOfParameters: Int { packCount(repeat (each A).self) }

  override func hooked(by hooks: HookChain) -> Method {
    TypedMethod(
      Message(selector, answerCrosses: resultCrosses), signature: statedSignature, isolation: isolation,
      opener: opener?.call
    ) { [self] (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
      // If the caller is not in the method's isolation, the hooks do not run either.
      guard canRun(on: target) else { throw unreachable(target) }
      let message = HookedMessage(
        selector: selector, receiver: target,
        arguments: arguments.shared(returning: R.self, crosses: false))
      let answers = try hooks.run(message) { [self] other in
        TypedAnswers(
          [try body(target, other.values(as: ((repeat each A) -> R).self, selector, target))], crosses: resultCrosses)
      }
      return try answers.single(as: R.self, message)
    }
  }

  override func copy() -> Method {
    TypedMethod(
      Message(selector, answerCrosses: resultCrosses), signature: statedSignature, isolation: isolation,
      opener: opener?.call, body: body
    ).replacing(self)
  }

  override func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws {
    let arguments = try Arguments<repeat each A>(
      unboxing: invocation.arguments, of: selector, for: typeName(of: target))
    let result = try body(target, arguments)
    invocation.result = ArgumentBox(storage: result, isSendable: resultCrosses)
  }

  override func withOpened(_ boxes: [ArgumentBox], _ body: (_ run: OpenedRun, _ ask: OpenedAsk) -> Void) -> Bool {
    (isClosure ? nil : opener)?.call(boxes, body) ?? TypedMethod.open(boxes, body)
  }

  /// Unboxes generically, for rows without a specialized function such as ``BoxOpener1``.
  @export(implementation) @inline(never)
  static func open(_ boxes: [ArgumentBox], _ body: (_ run: OpenedRun, _ ask: OpenedAsk) -> Void) -> Bool {
    guard boxes.count == packCount(repeat (each A).self) else { return false }
    var index = 0
    func next<T>(_ type: T.Type) throws(UnboxingError) -> T {
      defer { index &+= 1 }
      return try boxes.opened(index, as: type)
    }
    let opened: Arguments<repeat each A>
    do { opened = Arguments(values: (repeat try next((each A).self))) } catch { return false }
    opened.withCalls(returning: R.self, body)
    return true
  }

  override func checkEncoding(receiver: String) throws(MessageError) {
    try statedSignature?.check(
      closure: MethodSignature(returning: R.self, taking: repeat (each A).self), selector, receiver: receiver)
  }

  override func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    _ = try Arguments<repeat each A>(unboxing: arguments, of: selector, for: receiver())
  }
}

/// A method that takes the invocation itself.
final class RawMethod: Method, @unchecked Sendable {  // immutable after init
  private let body: @Sendable (AnyObject, inout Invocation) throws -> Void

  init(
    _ selector: MessageSelector, signature: MethodSignature,
    body: @escaping @Sendable (AnyObject, inout Invocation) throws -> Void
  ) {
    self.body = body
    super.init(selector, functionType: nil, isolation: .sender, signature: signature)
  }

  override var numberOfParameters: Int { signature.argumentTypes.count - 2 }

  override func copy() -> Method { RawMethod(selector, signature: signature, body: body).replacing(self) }

  override func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws {
    try checkCount(invocation.arguments, receiver: typeName(of: target))
    try invocation.fit(signature.argumentTypes, typeName(of: target))
    invocation.result = nil
    try body(target, &invocation)
    guard let result = invocation.result else { return }
    do { invocation.result = try result.converted(to: signature.returnType) } catch {
      invocation.result = nil
      throw MessageError.result(selector, receiver: typeName(of: target), error)
    }
  }

  override func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    try checkCount(arguments, receiver: receiver())
    var message = Invocation(selector, arguments: arguments)
    try message.fit(signature.argumentTypes, receiver())
  }
}

/// A refused row or closure, or a failed lookup. Each message of its selector throws the reason.
final class RefusedMethod: Method, @unchecked Sendable {  // immutable after init
  let reason: any Error

  init(_ selector: MessageSelector, _ reason: any Error) {
    self.reason = reason
    super.init(selector, functionType: nil, isolation: .sender)
  }

  override var isRefusal: Bool { true }
  override func copy() -> Method { RefusedMethod(selector, reason).replacing(self) }
  override func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws { throw reason }
}

extension MethodSignature {
  @inline(never)
  fileprivate func check(closure own: MethodSignature, _ selector: MessageSelector, receiver: String)
    throws(MessageError)
  {
    guard numberOfArguments == own.numberOfArguments else {
      throw MessageError(
        .wrongArgumentCount, receiver: receiver, selector: selector.name,
        evidence: "the row's signature takes \(numberOfArguments - 2), but its closure takes "
          + "\(own.numberOfArguments - 2)")
    }
    try compare(with: own, selector, receiver: receiver) { wanted, found in
      wanted.accepts(found)
        ? nil : "wanted \(wanted.swiftName), found \(found.swiftName) in the closure"
    }
  }

  /// Compares two signatures with the same number of arguments. Throws `typeMismatch` for the first
  /// pair of types for which `misfit` returns a reason.
  func compare(
    with other: MethodSignature, _ selector: MessageSelector, receiver: String,
    misfit: (TypeEncoding, TypeEncoding) -> String?
  ) throws(MessageError) {
    for index in 2...argumentTypes.count {
      let isResult = index == argumentTypes.count
      let one = isResult ? returnType : argumentTypes[index]
      let two = isResult ? other.returnType : other.argumentTypes[index]
      guard let reason = misfit(one, two) else { continue }
      throw MessageError(
        .typeMismatch, receiver: receiver, selector: selector.name,
        evidence: (isResult ? "result: " : "argument \(index - 2): ") + reason,
        argumentIndex: isResult ? nil : index - 2)
    }
  }
}
