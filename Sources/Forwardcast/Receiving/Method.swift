// Method.swift: one implementation in a table, with a typed door and a boxed one.

/// An implementation of one selector, without its types.
///
/// Methods are immutable and shared between threads. A sender that knows the function type compares it with
/// ``functionType`` and, when equal, goes through ``TypedMethod/body``: no box is made. Everybody else goes
/// through ``invoke(_:_:)``, where boxes are opened and numbers converted.
@usableFromInline
class Method: @unchecked Sendable {  // immutable once in a table, but for the signature, which a lock in it guards
  /// The name under which the method stands in its table.
  @usableFromInline final let selector: MessageSelector
  /// The Swift function type `(arguments) -> result` that the typed door takes; `nil` for a method of boxes only, or
  /// for one that cannot be called in the sender's turn.
  @usableFromInline final let functionType: ObjectIdentifier?
  /// `nil` for a method that runs in its sender's turn, of whatever target, and states nothing of its types.
  private final var rare: Rare?

  /// What few methods have, but for ``crossing``.
  private final class Rare: Sendable {
    typealias Values = (crosses: Bool, isolation: MethodIsolation, signature: MethodSignature?, isPresent: Presence?)
    let values: Values
    /// Of all methods of which nothing else is to be said than that.
    static let crossing = Rare((true, .sender, nil, nil))
    init(_ values: Values) { self.values = values }
  }

  @usableFromInline
  init(
    _ selector: MessageSelector, functionType: ObjectIdentifier?, isolation: MethodIsolation,
    resultCrosses: Bool = false, signature: MethodSignature? = nil
  ) {
    (self.selector, self.functionType) = (selector, functionType)
    let isPlain = isolation.isSender && signature == nil
    rare = isPlain ? resultCrosses ? .crossing : nil : Rare((resultCrosses, isolation, signature, nil))
  }

  /// Whether the answers' type is known to be `Sendable`.
  @usableFromInline final var resultCrosses: Bool { rare?.values.crosses ?? false }

  /// Whether targets of a class have the method; `nil` where all do. Set before the method enters a table.
  final var isPresent: Presence? {
    get { rare?.values.isPresent }
    set { if let newValue { rare = Rare((resultCrosses, isolation, statedSignature, newValue)) } }
  }

  /// Where the method may run.
  final var isolation: MethodIsolation { rare?.values.isolation ?? .sender }

  /// The types that were stated for the method.
  final var statedSignature: MethodSignature? { rare?.values.signature }

  var signature: MethodSignature { .objects(arguments: selector.numberOfArguments) }

  /// Whether a sender on `actor`, or on none, may have the answer although nobody knows that it is `Sendable`: of a method
  /// that suspends where the sender is, or whose answers nobody else has.
  func answers(to actor: (any Actor)?) -> Bool { false }

  /// Whether a method that suspends stays on its sender's actor, or with a sender on none.
  func runs(on sender: (any Actor)?) -> Bool { false }

  /// Whether the method stands for a row that its table refused.
  var isRefusal: Bool { false }

  /// How many arguments the body takes.
  var numberOfParameters: Int { selector.numberOfArguments }

  /// Runs the method with boxes in the caller's turn and leaves the answer in `invocation.result`.
  func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws { throw unreachable(target) }

  /// Runs a method that suspends. Every other runs in the caller's turn.
  nonisolated(nonsending) func invokeSuspending(_ target: AnyObject, _ invocation: Invocation) async throws
    -> Invocation
  {
    var copy = invocation
    try invoke(target, &copy)
    return copy
  }

  /// Whether the boxes could be taken, without running anything.
  func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    try checkCount(arguments, receiver: receiver())
  }

  /// Opens boxes once for many targets, and gives `body` ways to call methods of this method's ``functionType`` with what
  /// was in them.
  ///
  /// - Returns: `false`, and nothing done, where each target has to open the boxes itself: they do not fit, one of them
  ///   keeps no reference of its own, or the method takes the invocation whole.
  func withOpened(_ arguments: [ArgumentBox], _ body: (_ run: OpenedRun, _ ask: OpenedAsk) -> Void) -> Bool { false }

  /// Calls a method on a target.
  @usableFromInline
  typealias OpenedRun = (_ method: Method, _ target: AnyObject) throws -> Void
  /// Calls a method on a target, and gives its answer.
  @usableFromInline
  typealias OpenedAsk = (_ method: Method, _ target: AnyObject) throws -> ArgumentBox
  /// Opens boxes for one function type: see ``withOpened(_:_:)``.
  @usableFromInline
  typealias Opener = @Sendable (_ boxes: [ArgumentBox], _ body: (_ run: OpenedRun, _ ask: OpenedAsk) -> Void) -> Bool

  /// Whether the method's own types are those of the encoding that was stated for it.
  func checkEncoding(receiver: String) throws(MessageError) {}

  /// The same implementation under another name, which takes as many arguments.
  func renamed(_ selector: MessageSelector) -> Method { self }

  /// The method with hooks around it. One whose types are known keeps its typed door.
  func hooked(by hooks: HookChain) -> Method { HookedMethod(self, hooks) }

  final func checkCount(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    guard arguments.count == numberOfParameters else {
      throw .argumentCount(selector, receiver: receiver(), wanted: numberOfParameters, found: arguments.count)
    }
  }
}

// A closure that is a target stands in a proxy as its method.
extension Method: NamedReceiver {
  @usableFromInline var receiverName: String { "closure for \(selector)" }
}

/// Tells whether a target has a method.
final class Presence: Sendable {
  private let of: @Sendable (AnyObject) -> Bool
  init(_ of: @escaping @Sendable (AnyObject) -> Bool) { self.of = of }
  func callAsFunction(_ target: AnyObject) -> Bool { of(target) }
}

/// Where a method may run.
@usableFromInline
enum MethodIsolation: Sendable {
  /// In its sender's turn, on whatever thread that is.
  case sender
  /// On the main actor.
  case mainActor
  /// On the actor that is its target.
  case target
  /// On a global actor other than the main one.
  indirect case actor(any Actor)
  /// Anywhere, with suspensions.
  case async

  var isSender: Bool { if case .sender = self { true } else { false } }

  /// Why a sender that is elsewhere does not reach the method.
  var evidence: String {
    if case .async = self { return "the method is async: wait for it with an asynchronous form" }
    return "the method runs \(place), the sender does not"
  }

  var place: String {
    switch self {
    case .sender: "in its sender's turn"
    case .mainActor: "on the main actor"
    case .target: "on its actor"
    case .actor(let actor): "on \(type(of: actor))"
    case .async: "anywhere"
    }
  }
}

/// The arguments of one message, in memory that every target reads in turn.
///
/// A pack is passed on element by element, each copied for each call; a struct is passed by its address.
@frozen @usableFromInline
struct Arguments<each A> {
  @usableFromInline let values: (repeat each A)

  @export(implementation) @inline(__always)
  init(values: (repeat each A)) { self.values = values }

  /// The arguments that are in boxes, each as its type.
  ///
  /// - Throws: `wrongArgumentCount`; `typeMismatch`, with the index of the argument that is not of its type.
  init(unboxing boxes: [ArgumentBox], of selector: MessageSelector, for receiver: @autoclosure () -> String)
    throws(MessageError)
  {
    let wanted = packCount(repeat (each A).self)
    guard boxes.count == wanted else {
      throw .argumentCount(selector, receiver: receiver(), wanted: wanted, found: boxes.count)
    }
    var index = 0
    func next<T>(_ type: T.Type) throws(MessageError) -> T {
      defer { index += 1 }
      do { return try boxes[index].unbox(as: type) } catch {
        throw .argument(index, selector, receiver: receiver(), error)
      }
    }
    self.init(values: (repeat try next((each A).self)))
  }
}

extension Arguments {
  /// Gives `body` ways to call methods of this function type, good until it returns.
  @export(implementation) @inline(__always)
  func withCalls<R>(returning: R.Type, _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void) {
    body(
      { _ = try unsafeDowncast($0, to: TypedMethod<R, repeat each A>.self).call($1, self) },
      { method, target in
        let answer = try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(target, self)
        return ArgumentBox(storage: answer, isSendable: method.resultCrosses)
      })
  }
}

/// A closure that gets messages, in a form in which every module calls it alike.
///
/// A proxy that is not `Sendable` stays in one isolation, and its closures with it. For a proxy that is, closures written in
/// place take the `@Sendable` form; a function value whose type is not takes the other one without a diagnostic, since Swift can
/// neither keep that form from such proxies nor prefer one that warns.
@frozen @usableFromInline
struct MessageClosure<R, each A> {
  @usableFromInline let call: (repeat each A) throws -> R

  @export(implementation) @inline(__always)
  init(call: @escaping (repeat each A) throws -> R) { self.call = call }
}

/// A method whose Swift types are known.
@usableFromInline
final class TypedMethod<R, each A>: Method, @unchecked Sendable {  // immutable after init
  @usableFromInline let body: @Sendable (AnyObject, Arguments<repeat each A>) throws -> R
  /// Opens boxes for the types of the method: a function of the module that wrote the row, where they are known.
  /// `nil` for that of the class.
  private let opener: Opener?
  /// The closure that is a target, which is this method then.
  @usableFromInline let closure: MessageClosure<R, repeat each A>?

  @usableFromInline
  init(
    _ message: Message<(repeat each A) -> R>, signature: MethodSignature? = nil, isolation: MethodIsolation = .sender,
    opener: Opener?, closure: MessageClosure<R, repeat each A>? = nil,
    body: @escaping @Sendable (AnyObject, Arguments<repeat each A>) throws -> R
  ) {
    (self.body, self.opener, self.closure) = (body, opener, closure)
    super.init(
      message.selector, functionType: ObjectIdentifier(((repeat each A) -> R).self), isolation: isolation,
      resultCrosses: message.answerCrosses, signature: signature)
  }

  @inlinable
  convenience init(
    _ message: Message<(repeat each A) -> R>, signature: MethodSignature? = nil, isolation: MethodIsolation = .sender,
    body: @escaping @Sendable (AnyObject, Arguments<repeat each A>) throws -> R
  ) {
    self.init(
      message, signature: signature, isolation: isolation, opener: { TypedMethod.open($0, $1) }, body: body)
  }

  /// The method of a closure, which its body finds in its target: so it takes no memory for what it captures.
  @export(implementation) @inline(never)
  convenience init(_ message: Message<(repeat each A) -> R>, closure: @escaping (repeat each A) throws -> R) {
    self.init(message, opener: nil, closure: MessageClosure(call: closure)) {
      (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
      try unsafeDowncast(target, to: TypedMethod<R, repeat each A>.self).closure.unsafelyUnwrapped.call(
        repeat each arguments.values)
    }
  }

  /// The typed door. The caller has compared ``functionType``, so the types are those of this class.
  @export(implementation) @inline(__always)
  func call(_ target: AnyObject, _ arguments: Arguments<repeat each A>) throws -> R {
    try body(target, arguments)
  }

  override var signature: MethodSignature {
    statedSignature ?? MethodSignature(returning: R.self, taking: repeat (each A).self)
  }

  override var numberOfParameters: Int { packCount(repeat (each A).self) }

  override func renamed(_ selector: MessageSelector) -> Method {
    TypedMethod(
      Message(selector, answerCrosses: resultCrosses), signature: statedSignature, isolation: isolation,
      opener: opener, body: body)
  }

  override func hooked(by hooks: HookChain) -> Method {
    let (selector, body) = (selector, body)
    return TypedMethod(
      Message(selector, answerCrosses: resultCrosses), signature: statedSignature, isolation: isolation, opener: opener
    ) { (target: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
      let message = HookedMessage(
        selector: selector, receiver: target,
        arguments: arguments.shared(returning: R.self, crosses: false))
      let answers = try hooks.run(message) { other in
        TypedAnswers([try body(target, other.values(as: ((repeat each A) -> R).self, selector, target))])
      }
      return try answers.single(as: R.self, message)
    }
  }

  override func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws {
    let arguments = try Arguments<repeat each A>(
      unboxing: invocation.arguments, of: selector, for: typeName(of: target))
    let result = try body(target, arguments)
    invocation.result = ArgumentBox(storage: result, isSendable: resultCrosses)
  }

  override func withOpened(_ boxes: [ArgumentBox], _ body: (_ run: OpenedRun, _ ask: OpenedAsk) -> Void) -> Bool {
    opener?(boxes, body) ?? TypedMethod.open(boxes, body)
  }

  /// Opens boxes, for rows of four arguments or more: see ``BoxOpener1``.
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

/// A method that takes the whole invocation.
final class RawMethod: Method, @unchecked Sendable {  // immutable after init
  private let body: @Sendable (AnyObject, inout Invocation) throws -> Void
  private let types: MethodSignature

  init(
    _ selector: MessageSelector, signature: MethodSignature,
    body: @escaping @Sendable (AnyObject, inout Invocation) throws -> Void
  ) {
    self.body = body
    self.types = signature
    super.init(selector, functionType: nil, isolation: .sender)
  }

  override func renamed(_ selector: MessageSelector) -> Method {
    RawMethod(selector, signature: types, body: body)
  }

  override var signature: MethodSignature { types }
  override var numberOfParameters: Int { types.argumentTypes.count - 2 }

  override func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws {
    let receiver = typeName(of: target)
    invocation.arguments = try converted(invocation.arguments, receiver: receiver)
    invocation.result = nil
    try body(target, &invocation)
    guard let result = invocation.result else { return }
    do { invocation.result = try result.converted(to: types.returnType) } catch {
      invocation.result = nil
      throw MessageError.result(selector, receiver: receiver, error)
    }
  }

  override func check(_ arguments: [ArgumentBox], receiver: @autoclosure () -> String) throws(MessageError) {
    _ = try converted(arguments, receiver: receiver())
  }

  private func converted(_ arguments: [ArgumentBox], receiver: String) throws(MessageError) -> [ArgumentBox] {
    try checkCount(arguments, receiver: receiver)
    var arguments = arguments
    for index in arguments.indices {
      do { arguments[index] = try arguments[index].converted(to: types.argumentTypes[index + 2]) } catch {
        throw .argument(index, selector, receiver: receiver, error)
      }
    }
    return arguments
  }
}

/// A row that its table refused: every message of its selector gets the reason.
final class RefusedMethod: Method, @unchecked Sendable {  // immutable after init
  private let reason: any Error

  init(_ selector: MessageSelector, _ reason: any Error) {
    self.reason = reason
    super.init(selector, functionType: nil, isolation: .sender)
  }

  override var isRefusal: Bool { true }
  override func invoke(_ target: AnyObject, _ invocation: inout Invocation) throws { throw reason }
}

extension MethodSignature {
  /// Whether a closure's types are those that were stated for it.
  @inline(never)
  fileprivate func check(closure own: MethodSignature, _ selector: MessageSelector, receiver: String)
    throws(MessageError)
  {
    guard numberOfArguments == own.numberOfArguments else {
      throw .argumentCount(
        selector, receiver: receiver, wanted: numberOfArguments - 2, found: own.numberOfArguments - 2)
    }
    try compare(with: own, selector, receiver: receiver) { wanted, found in
      wanted.accepts(found)
        ? nil : "wanted \(wanted.meaning) (\(wanted)), found \(found.meaning) (\(found)) in the closure"
    }
  }

  /// Compares the types of two signatures of as many arguments, one pair after another.
  ///
  /// - Parameter misfit: what is wrong with a pair; `nil` where nothing is.
  /// - Throws: `typeMismatch` for the first pair with which something is.
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

/// How many types a pack has.
@inlinable
func packCount<each T>(_ types: repeat (each T).Type) -> Int {
  var count = 0
  for _ in repeat each types { count += 1 }
  return count
}
