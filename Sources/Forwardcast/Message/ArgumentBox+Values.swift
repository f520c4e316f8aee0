// ArgumentBox+Values.swift: unboxing and conversion of numbers.

extension ArgumentBox {
  /// The value as `T`. The type `T` can be
  ///
  /// - the value's own type, its superclass or protocol, or a type that the platform bridges to;
  /// - a number type, including number types of other modules such as `CGFloat`. Integers must fit
  ///   exactly. A floating-point value is rounded to a narrower type if it is in that type's range.
  ///   Integers and floating-point values convert to each other only if the result is exact;
  /// - an optional of one of these types or, if the value is an optional, a type that suits the
  ///   wrapped value;
  /// - an array or dictionary with convertible elements; `String` for `Substring` or vice versa;
  /// - the value's function type without its `@Sendable`.
  ///
  /// `Bool` is not a number.
  ///
  /// - Throws: ``UnboxingError`` with the wanted and the found type.
  /// - Complexity: compares two pointers for the exact type, otherwise casts the value or elements.
  @inlinable
  public func unbox<T>(as wanted: T.Type = T.self) throws(UnboxingError) -> T {
    if holds(T.self) { return uncheckedExactly(T.self) }
    return try converted(wanted)
  }

  @usableFromInline
  func convertedForMany<T>(_ wanted: T.Type) throws(UnboxingError) -> T {
    if holdsNoReference {
      throw UnboxingError(wanted: "\(wanted)", found: "\(type)", evidence: "(a weak or unowned reference)")
    }
    return try converted(wanted)
  }

  @inlinable
  func holds<T>(_ wanted: T.Type) -> Bool {
    func open<V>(_ value: V) -> Bool { V.self == T.self }
    return _openExistential(storage, do: open)
  }

  /// The value, whose type must be `T`, see ``holds(_:)``.
  @inlinable
  func uncheckedExactly<T>(_ wanted: T.Type) -> T {
    func open<V>(_ value: V) -> T { unsafeBitCast(value, to: T.self) }
    return _openExistential(storage, do: open)
  }

  @usableFromInline
  func converted<T>(_ wanted: T.Type) throws(UnboxingError) -> T {
    let value = value
    // Here and below, optional results are unwrapped before the cast, because `nil as? T` succeeds
    // if `T` is an optional type.
    if let number = wideNumber(value), let made = makeNumber(wanted, fitting: number), let fitted = made as? T {
      return fitted
    }
    if isNone(value) {
      if let promised = (storage as? LooseArgument)?.promised {
        throw UnboxingError(wanted: "\(wanted)", found: "\(promised)", evidence: "(the object was deallocated)")
      }
      if let none = absent(T.self) { return none }
      if let same = value as? T, T.self == Any.self { return same }
      throw refusal("\(wanted)")
    }
    if let cast = value as? T { return cast }
    if let type = T.self as? any OptionalType.Type, let some = type.wrap(self), let some = some as? T { return some }
    if let type = T.self as? any ArrayType.Type, let elements = value as? any ArrayType {
      if let array = type.make(elements.boxes) as? T { return array }
    }
    if let type = T.self as? any DictionaryType.Type, let entries = value as? any DictionaryType {
      if let dictionary = type.make(entries.boxes) as? T { return dictionary }
    }
    let inner = unwrapped(value)
    if Swift.type(of: inner) != Swift.type(of: value) {
      return try ArgumentBox(storage: inner, isSendable: isSendable).unbox(as: wanted)
    }
    if let related = related(value, as: wanted) { return related }
    throw refusal("\(wanted)")
  }

  /// The value converted to a related type that `as?` does not cast to.
  private func related<T>(_ value: Any, as wanted: T.Type) -> T? {
    if let text = value as? Substring { return String(text) as? T }
    if let text = value as? String { return Substring(text) as? T }
    if isFunction(Swift.type(of: value), usableAs: wanted) {
      return ArgumentBox(storage: value, isSendable: false).uncheckedExactly(wanted)
    }
    return nil
  }

  func refusal(_ wanted: String) -> UnboxingError {
    UnboxingError(wanted: wanted, found: isNil ? "nil" : "\(type)", evidence: "(\(shortened(description(upTo: 240))))")
  }

  /// The description, for errors and traces. Cuts strings and objects' texts at `count` scalars.
  /// - Complexity: O(`count`) for a `String` or an object with a stored description.
  package func description(upTo count: Int) -> String {
    switch unwrapped(value) {
    case let text as String where text.utf8.count > count:
      let start = String(text.unicodeScalars.prefix(count))
      return start.debugDescription + (start.utf8.count < text.utf8.count ? "…" : "")
    case let object as any CustomStringConvertible where Swift.type(of: object) is AnyClass:
      return clipped(object.description, to: count)
    default: return description
    }
  }
}

extension [ArgumentBox] {
  /// The value of the box at `index` as `T`, shared by many targets. Throws if the box holds a weak
  /// or unowned reference, since each target must read the reference itself.
  @inlinable
  func opened<T>(_ index: Int, as wanted: T.Type) throws(UnboxingError) -> T {
    // Reads the box in place, since a copy costs more than the rest of this method.
    if self[index].holds(T.self) { return self[index].uncheckedExactly(T.self) }
    return try self[index].convertedForMany(wanted)
  }
}

/// True for numbers, strings and arrays of them. The static type of `value` is unknown.
func isKnownSendable(_ value: Any) -> Bool {
  let type = type(of: value)
  // An Objective-C object converts to a Swift string or array, but may be mutable.
  if type is AnyClass { return false }
  return type == String.self || TypeEncoding.Scalar.swiftTypes.contains { $0.type == type }
    || (value as? [Any])?.allSatisfy(isKnownSendable) ?? false
}

/// At most 60 characters and 240 scalars of `text`, as evidence in errors.
package func shortened(_ text: String) -> String {
  let start = String(text.unicodeScalars.prefix(240))
  return start.utf8.count < text.utf8.count || start.count > 60 ? start.prefix(57) + "…" : text
}

/// The first `count` scalars of `text`, for traces.
package func clipped(_ text: String, to count: Int = 240) -> String {
  let start = String(text.unicodeScalars.prefix(count))
  return start.utf8.count < text.utf8.count ? start + "…" : text
}

/// The `nil` of `T` if `T` is an optional type; otherwise no value.
func absent<T>(_ type: T.Type) -> T? {
  guard let optional = T.self as? any OptionalType.Type else { return nil }
  return optional.nothing(as: T.self)
}

private protocol ArrayType {
  var boxes: [ArgumentBox] { get }
  static func make(_ boxes: [ArgumentBox]) -> Any?
}

extension Array: ArrayType {
  fileprivate var boxes: [ArgumentBox] { map { ArgumentBox(storage: $0, isSendable: false) } }
  fileprivate static func make(_ boxes: [ArgumentBox]) -> Any? { try? boxes.map { try $0.unbox(as: Element.self) } }
}

private protocol DictionaryType {
  var boxes: [(key: ArgumentBox, value: ArgumentBox)] { get }
  static func make(_ boxes: [(key: ArgumentBox, value: ArgumentBox)]) -> Any?
}

extension Dictionary: DictionaryType {
  fileprivate var boxes: [(key: ArgumentBox, value: ArgumentBox)] {
    map { (ArgumentBox(storage: $0.key, isSendable: false), ArgumentBox(storage: $0.value, isSendable: false)) }
  }
  fileprivate static func make(_ boxes: [(key: ArgumentBox, value: ArgumentBox)]) -> Any? {
    let entries = try? boxes.map { (try $0.key.unbox(as: Key.self), try $0.value.unbox(as: Value.self)) }
    return entries.map { [Key: Value]($0) { _, last in last } }
  }
}

#if arch(x86_64) && !os(Windows) && !os(Android)
  typealias WideFloat = Float80
#else
  typealias WideFloat = Double
#endif

enum WideNumber {
  case integer(Int128)
  case large(UInt128)  // above Int128.max
  case floating(WideFloat)
}

/// `value` as a wide number; `nil` if its type is neither a fixed-width integer nor floating-point.
func wideNumber(_ value: Any) -> WideNumber? {
  if let integer = value as? any FixedWidthInteger { return widened(integer) }
  if let float = value as? WideFloat { return .floating(float) }
  if let float = value as? any BinaryFloatingPoint { return .floating(WideFloat(Double(float))) }
  return nil
}

/// `number` as a value of `type`, if `type` is a number type that can represent it.
func makeNumber(_ type: any Any.Type, fitting number: WideNumber) -> Any? {
  if let integer = type as? any FixedWidthInteger.Type { return narrowed(number, integer) }
  if let standard = type as? any StandardFloat.Type { return standard.init(fitting: number) }
  guard let floating = type as? any BinaryFloatingPoint.Type else { return nil }
  // Converts through `Double`, since some types lack the generic initializers.
  func make<F: BinaryFloatingPoint>(_: F.Type) -> F? {
    guard let double = Double(fitting: number) else { return nil }
    let made = F(double)
    if made.isInfinite && double.isFinite { return nil }
    if case .floating = number { return made }
    return Double(made) == double ? made : nil
  }
  return make(floating)
}

// Not specialized, because specialization would compile the conversions for each type.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
private func widened<I: FixedWidthInteger>(_ integer: I) -> WideNumber? {
  if I.bitWidth <= 64 {
    let signed = Int64(truncatingIfNeeded: integer)
    return .integer(I.isSigned ? Int128(signed) : Int128(UInt64(bitPattern: signed)))
  }
  if let small = Int128(exactly: integer) { return .integer(small) }
  return UInt128(exactly: integer).map { .large($0) }
}

// Uses the low bits, since the standard library's unspecialized `exactly` is slow.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
private func narrowed<I: FixedWidthInteger>(_ number: WideNumber, _ type: I.Type) -> I? {
  switch number {
  case .integer(let value):
    let made = I(truncatingIfNeeded: value)
    if case .integer(value) = widened(made) { return made }
  case .large(let value):
    let made = I(truncatingIfNeeded: value)
    if case .large(value) = widened(made) { return made }
  case .floating(let value):
    if let small = Int128(exactly: value) { return narrowed(.integer(small), type) }
    if let large = UInt128(exactly: value) { return narrowed(.large(large), type) }
  }
  return nil
}

protocol StandardFloat {
  init?(fitting number: WideNumber)
}

extension StandardFloat where Self: BinaryFloatingPoint {
  init?(fitting number: WideNumber) {
    switch number {
    case .integer(let value): self.init(exactly: value)
    case .large(let value): self.init(exactly: value)
    case .floating(let value):
      self.init(value)
      if isInfinite && value.isFinite { return nil }
    }
  }
}

extension Float: StandardFloat {}
extension Double: StandardFloat {}
#if arch(x86_64) && !os(Windows) && !os(Android)
  extension Float80: StandardFloat {}
#endif
#if !(os(macOS) && arch(x86_64))
  extension Float16: StandardFloat {}
#endif
