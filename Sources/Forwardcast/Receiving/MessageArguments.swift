// MessageArguments.swift: the arguments of one message, typed or boxed.

import Synchronization

/// The arguments of one message, in one object shared by all targets and contexts.
@usableFromInline
class MessageArguments: @unchecked Sendable {  // immutable; crosses contexts only if the arguments may
  /// The function type of the methods for ``call(_:_:keepsAnswer:)``; `nil` for boxed arguments.
  @usableFromInline final let functionType: ObjectIdentifier?
  /// True if an argument may need to be copied for each target on another context.
  @usableFromInline final let mayCopy: Bool
  @usableFromInline final let crosses: Bool
  /// Calls methods of ``functionType`` for the next targets of `delivery`. The function is
  /// specialized in the sender's module; `nil` if there is none.
  final let loop: Loop?
  @usableFromInline typealias Loop = (_ arguments: MessageArguments, _ delivery: AnyObject) -> Void

  private let rendered = AtomicLazyReference<RenderedText>()

  @usableFromInline
  init(functionType: ObjectIdentifier?, mayCopy: Bool, crosses: Bool, loop: Loop? = nil) {
    (self.functionType, self.mayCopy, self.crosses, self.loop) = (functionType, mayCopy, crosses, loop)
  }

  /// Calls a method of ``functionType``. Returns the boxed answer if `keepsAnswer` is true.
  func call(_ method: Method, _ target: AnyObject, keepsAnswer: Bool) throws -> ArgumentBox? { nil }

  func invocation(_ selector: MessageSelector) -> Invocation { Invocation(selector) }

  /// The message as text, which is rendered once.
  final func text(_ selector: MessageSelector) -> String {
    rendered.load()?.text ?? rendered.storeIfNil(RenderedText(text: invocation(selector).description(upTo: 1000))).text
  }

  /// The arguments for another target, with ``ArgumentCopying`` objects copied.
  func copied() -> MessageArguments { self }

  func replacing(_ boxes: [ArgumentBox], of selector: MessageSelector) -> MessageArguments {
    var message = invocation(selector)
    message.arguments = boxes
    return BoxedArguments(message)
  }

  /// The answer of a boxed message, converted to the sender's type. Throws `typeMismatch`, or
  /// `nobodyResponds` if a required answer is missing.
  func answer(of invocation: Invocation, from target: AnyObject) throws -> ArgumentBox? { invocation.result }
}

private final class RenderedText: Sendable {
  let text: String
  init(text: String) { self.text = text }
}

/// Arguments in the sender's types. `Values` is one type, not a pack. With a pack, the `deinit` of
/// the class would query the runtime for its field's type (case `typed` of `.ci/run cost`).
@usableFromInline
final class TypedArguments<R, Values: ArgumentValues>: MessageArguments, @unchecked Sendable {  // immutable
  @usableFromInline let values: Values

  /// - Parameter crosses: true if the compiler has checked that all arguments are `Sendable`.
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

/// What ``TypedArguments`` needs from ``Arguments``.
@usableFromInline
protocol ArgumentValues {
  var traits: (isEmpty: Bool, mayCopy: Bool) { get }
  var copiedForDelivery: Self { get }
  func call<R>(_ method: Method, _ target: AnyObject) throws -> R
  func boxes(crossing: Bool) -> [ArgumentBox]
}

final class BoxedArguments: MessageArguments, @unchecked Sendable {  // immutable
  private let message: Invocation

  init(_ message: Invocation) {
    self.message = message
    super.init(
      functionType: nil, mayCopy: message.arguments.contains(where: \.mayCopy),
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
  /// The arguments in the types of a key. If the sender used other types, the arguments are boxed,
  /// then unboxed. Throws `wrongArgumentCount`, or `typeMismatch` with the argument's index.
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

  /// Arguments that replace these arguments. The new arguments are typed if the old ones are.
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
  @export(implementation) @inline(__always)
  func shared<R>(returning: R.Type, crosses: Bool, loop: MessageArguments.Loop? = nil) -> TypedArguments<R, Self> {
    TypedArguments(self, as: ObjectIdentifier(((repeat each A) -> R).self), crosses: crosses, loop: loop)
  }

  @usableFromInline
  func call<R>(_ method: Method, _ target: AnyObject) throws -> R {
    try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(target, self)
  }

  @usableFromInline var traits: (isEmpty: Bool, mayCopy: Bool) {
    @export(implementation) @inline(__always) get {
      ((repeat each A).self == Void.self, _isPOD(Arguments.self) ? false : holdsWhatMayCopy)
    }
  }

  @usableFromInline var holdsWhatMayCopy: Bool {
    for type in repeat (each A).self { if mayCopy(type) { return true } }
    return false
  }

  @inlinable
  var copiedForDelivery: Arguments { Arguments(values: (repeat copied(each values))) }

  @usableFromInline
  func boxes(crossing crosses: Bool) -> [ArgumentBox] {
    var boxes: [ArgumentBox] = []
    for value in repeat each values { boxes.append(ArgumentBox(storage: value, isSendable: crosses)) }
    return boxes
  }
}

/// True if a value of `type` may be an ``ArgumentCopying`` object, perhaps in an optional.
@export(implementation) @inline(__always)
func mayCopy<T>(_ type: T.Type) -> Bool {
  _isPOD(T.self) ? false : mayBeObject(T.self)
}

/// True unless the type is a struct or an enum other than `Optional`. Cheaper than a cast.
@usableFromInline
func mayBeObject(_ type: Any.Type) -> Bool {
  // In Swift's stable ABI, 0x200 is a struct and 0x201 an enum.
  let kind = unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee
  return kind != 0x200 && kind != 0x201
}

@inlinable
func copied<T>(_ argument: T) -> T {
  guard mayCopy(T.self), let object = argument as? any ArgumentCopying, let copy = object.argumentCopy() as? T else {
    return argument
  }
  return copy
}
