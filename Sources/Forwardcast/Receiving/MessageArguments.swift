// MessageArguments.swift: the arguments of one message, shared by all who get it.

/// The arguments of one message, with the types that its sender knew, or as an invocation.
///
/// One object for all targets and all contexts that a message goes to.
@usableFromInline
class MessageArguments: @unchecked Sendable {  // immutable; crosses contexts only where the arguments may
  /// The function type of the methods that ``call(_:_:keepsAnswer:)`` takes; `nil` when there is none.
  @usableFromInline final let functionType: ObjectIdentifier?
  /// Whether an argument may want a copy for each target of another context.
  @usableFromInline final let mayCopy: Bool
  /// Whether the arguments are known to be `Sendable`.
  @usableFromInline final let crosses: Bool
  /// Gives the message to the steps that a walk is at, of methods of ``functionType``: a function of the module that sent it, where
  /// the types are known. `nil` where there is none.
  final let loop: Loop?
  @usableFromInline typealias Loop = (_ arguments: MessageArguments, _ walk: AnyObject) -> Void

  @usableFromInline
  init(functionType: ObjectIdentifier?, mayCopy: Bool, crosses: Bool, loop: Loop? = nil) {
    (self.functionType, self.mayCopy, self.crosses, self.loop) = (functionType, mayCopy, crosses, loop)
  }

  /// Calls a method whose function type is ``functionType``. The answer is boxed only where it is wanted.
  func call(_ method: Method, _ target: AnyObject, keepsAnswer: Bool) throws -> ArgumentBox? { nil }

  /// The message by boxes.
  func invocation(_ selector: MessageSelector) -> Invocation { Invocation(selector) }

  /// The arguments as one more target may own them.
  func copied() -> MessageArguments { self }

  /// The same message with other arguments.
  func replacing(_ boxes: [ArgumentBox], of selector: MessageSelector) -> MessageArguments {
    var message = invocation(selector)
    message.arguments = boxes
    return BoxedArguments(message)
  }

  /// The answer of a message by boxes as its sender wants it.
  ///
  /// - Throws: `typeMismatch` when it is of another type; `nobodyResponds` when there is none and one is wanted.
  func answer(of invocation: Invocation, from target: AnyObject) throws -> ArgumentBox? { invocation.result }
}

/// Arguments whose types the sender knew, and sends as they are.
///
/// Generic over all of them as one type: the end of an object whose class names a pack asks the runtime for the types of its
/// fields, some 390 instructions a message.
@usableFromInline
final class TypedArguments<R, Values: ArgumentValues>: MessageArguments, @unchecked Sendable {  // immutable
  @usableFromInline let values: Values

  /// - Parameters:
  ///   - crosses: whether the compiler has seen that all of them are `Sendable`.
  ///   - loop: serves many steps; see ``MessageArguments/loop``.
  @export(implementation) @inline(never)
  init(_ values: Values, as type: ObjectIdentifier, crosses: Bool, loop: Loop? = nil) {
    self.values = values
    let traits = values.traits
    super.init(functionType: type, mayCopy: traits.mayCopy, crosses: crosses || traits.isEmpty, loop: loop)
  }

  override func call(_ method: Method, _ target: AnyObject, keepsAnswer: Bool) throws -> ArgumentBox? {
    let result: R = try values.call(method, target)
    return keepsAnswer ? ArgumentBox(storage: result, isSendable: method.resultCrosses) : nil
  }

  override func invocation(_ selector: MessageSelector) -> Invocation {
    Invocation(selector, arguments: values.boxes(crossing: crosses))
  }

  override func answer(of invocation: Invocation, from target: AnyObject) throws -> ArgumentBox? {
    let answer: R = try typedResult(of: invocation, from: target)
    return ArgumentBox(storage: answer, isSendable: invocation.result?.isSendable ?? true)
  }

  override func copied() -> MessageArguments {
    guard let functionType else { return self }
    return TypedArguments(values.copiedForDelivery, as: functionType, crosses: crosses, loop: loop)
  }
}

/// What ``TypedArguments`` needs of its ``Arguments``.
@usableFromInline
protocol ArgumentValues {
  var traits: (isEmpty: Bool, mayCopy: Bool) { get }
  var copiedForDelivery: Self { get }
  func call<R>(_ method: Method, _ target: AnyObject) throws -> R
  func boxes(crossing: Bool) -> [ArgumentBox]
}

/// Arguments that came in boxes.
final class BoxedArguments: MessageArguments, @unchecked Sendable {  // immutable
  private let message: Invocation

  init(_ message: Invocation) {
    self.message = message
    super.init(
      functionType: nil, mayCopy: message.arguments.contains { $0.value is any ArgumentCopying },
      crosses: message.arguments.allSatisfy(\.isSendable))
  }

  override func invocation(_ selector: MessageSelector) -> Invocation { message }

  override func answer(of invocation: Invocation, from target: AnyObject) throws -> ArgumentBox? {
    var answered = message
    answered.result = invocation.result
    try answered.fitStatedReturn(receiver: target)
    return answered.result
  }

  override func copied() -> MessageArguments {
    var copy = message
    copy.arguments = message.arguments.map { $0.copiedForDelivery() }
    return BoxedArguments(copy)
  }
}

extension MessageArguments {
  /// The arguments as the types of a key: as they are when the sender used a key of these types, else out of boxes.
  ///
  /// - Throws: `wrongArgumentCount`; `typeMismatch`, with the index of the argument that is not of its type.
  @export(implementation) @inline(__always)
  final func values<R, each A>(
    as type: ((repeat each A) -> R).Type, _ selector: MessageSelector, _ receiver: AnyObject
  ) throws -> Arguments<repeat each A> {
    if functionType == ObjectIdentifier(type) {
      return unsafeDowncast(self, to: TypedArguments<R, Arguments<repeat each A>>.self).values
    }
    return try unboxed(selector, receiver)
  }

  @usableFromInline
  final func unboxed<each A>(_ selector: MessageSelector, _ receiver: AnyObject) throws -> Arguments<repeat each A> {
    try Arguments(unboxing: invocation(selector).arguments, of: selector, for: typeName(of: receiver))
  }

  /// The same message with other arguments, which stay typed when the message is.
  final func replacing<R, each A>(
    _ values: Arguments<repeat each A>, as type: ((repeat each A) -> R).Type, crosses: Bool,
    of selector: MessageSelector
  ) -> MessageArguments {
    if functionType == nil { return replacing(values.boxes(crossing: crosses), of: selector) }
    let sameLoop = functionType == ObjectIdentifier(type) ? loop : nil
    return values.shared(returning: R.self, crosses: crosses, loop: sameLoop)
  }
}

extension Arguments: ArgumentValues {
  /// The arguments as one object for all who get them.
  @export(implementation) @inline(__always)
  func shared<R>(returning: R.Type, crosses: Bool, loop: MessageArguments.Loop? = nil) -> TypedArguments<R, Self> {
    TypedArguments(self, as: ObjectIdentifier(((repeat each A) -> R).self), crosses: crosses, loop: loop)
  }

  /// Calls a method of this function type.
  @usableFromInline
  func call<R>(_ method: Method, _ target: AnyObject) throws -> R {
    try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(target, self)
  }

  /// Whether there are no arguments at all, and whether one may want a copy for each target.
  @usableFromInline var traits: (isEmpty: Bool, mayCopy: Bool) {
    @export(implementation) @inline(__always) get {
      ((repeat each A).self == Void.self, _isPOD(Arguments.self) ? false : holdsWhatMayCopy)
    }
  }

  @usableFromInline var holdsWhatMayCopy: Bool {
    for type in repeat (each A).self { if mayCopy(type) { return true } }
    return false
  }

  /// The arguments as one more target may own them.
  @inlinable
  var copiedForDelivery: Arguments { Arguments(values: (repeat copied(each values))) }

  /// Each argument in a box.
  @usableFromInline
  var boxes: [ArgumentBox] { boxes(crossing: false) }

  /// Each argument in a box.
  ///
  /// - Parameter crosses: whether all of them are known to be `Sendable`.
  @usableFromInline
  func boxes(crossing crosses: Bool) -> [ArgumentBox] {
    var boxes: [ArgumentBox] = []
    for value in repeat each values { boxes.append(ArgumentBox(storage: value, isSendable: crosses)) }
    return boxes
  }
}

/// Whether a value of that type may be, or hold, an object that wants to be copied for each target.
@export(implementation) @inline(__always)
func mayCopy<T>(_ type: T.Type) -> Bool {
  // Concrete structs and enums are no such object, and optionals, classes and existentials may be. The kinds are those
  // of the metadata that every Swift binary shares; one that is not known is looked into when it is sent.
  if _isPOD(T.self) { return false }
  let kind = unsafeBitCast(T.self as Any.Type, to: UnsafePointer<UInt>.self).pointee
  return kind != 0x200 && kind != 0x201
}

/// One argument as one more target may own it.
@inlinable
func copied<T>(_ argument: T) -> T {
  guard mayCopy(T.self), let object = argument as? any ArgumentCopying, let copy = object.argumentCopy() as? T else {
    return argument
  }
  return copy
}
