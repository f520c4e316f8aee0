// ArgumentBox+Encoding.swift: converts a box to an encoded type.

extension ArgumentBox {
  /// The box converted to `type`: what a method receives if its signature has that type.
  ///
  /// `@` accepts any value. Integers must fit exactly. A floating-point value is rounded to a
  /// narrower type if it is in that type's range. Integers and floating-point values convert to
  /// each other only if the result is exact. `Bool` is not a number. Other types accept the Swift
  /// values that have their encoding. For example, `*` and `@"String"` accept a `String`, `:` a
  /// selector, `#` a metatype, and `{Name}` a struct of that name. `{Optional<Int>}` accepts an
  /// `Int`, `nil` or a number that fits. Reference types also accept `nil`.
  ///
  /// - Throws: ``UnboxingError`` with the wanted encoding and the found type.
  public func converted(to type: TypeEncoding) throws(UnboxingError) -> ArgumentBox {
    switch type.kind {
    case .object(name: nil), .unknown: return self
    case .scalar(let scalar): return try number(scalar, type)
    case .object(name: "String"?), .object(name: "NSString"?), .cString:
      if let text = unwrapped(value) as? Substring { return ArgumentBox(storage: String(text), isSendable: true) }
      return try accepted(type)
    case .void:
      guard value is Void || isNil else { throw refusal(type) }
      return self
    case .structure(let record):
      if let name = record.optionalName { return try optional(of: name, type) }
      // The box for a `CGFloat` holds a `Double`, which the method converts when it unboxes.
      if record.name == "CGFloat", let number = wideNumber(value), let double = Double(fitting: number) {
        return ArgumentBox(storage: double, isSendable: true)
      }
      return try accepted(type)
    default: return try accepted(type)
    }
  }

  /// The box for an optional of the type `name`: `nil`, a value of that type, or a number that
  /// fits.
  private func optional(of name: Substring, _ type: TypeEncoding) throws(UnboxingError) -> ArgumentBox {
    if isNil { return self }
    let value = unwrapped(value)
    if "\(Swift.type(of: value))" == name { return self }
    let wanted = name == "CGFloat" ? "Double" : name  // the method converts the `Double` when it unboxes
    guard let numeric = Self.numberTypes.first(where: { $0.name == wanted })?.type, let number = wideNumber(value),
      let fitted = makeNumber(numeric, fitting: number)
    else { throw refusal(type) }
    return ArgumentBox(storage: fitted, isSendable: true)
  }

  /// The number types by name, because the encoding of an optional has only the name of the wrapped
  /// type.
  private static let numberTypes: [(name: String, type: any Any.Type)] =
    TypeEncoding.Scalar.swiftTypes.map { ("\($0.type)", $0.type) }

  private func accepted(_ type: TypeEncoding) throws(UnboxingError) -> ArgumentBox {
    if isNil, type.isReference { return self }
    let found = TypeEncoding(of: Swift.type(of: unwrapped(value)))
    guard type.accepts(found) else { throw refusal(type) }
    return self
  }

  private func number(_ scalar: TypeEncoding.Scalar, _ type: TypeEncoding) throws(UnboxingError) -> ArgumentBox {
    if TypeEncoding(of: Swift.type(of: storage)).kind == type.kind { return self }
    let value = unwrapped(value)
    if TypeEncoding(of: Swift.type(of: value)).kind == type.kind { return self }
    guard let number = wideNumber(value),
      let wanted = TypeEncoding.Scalar.swiftTypes.last(where: { $0.scalar == scalar }),
      let fitted = makeNumber(wanted.type, fitting: number)
    else { throw refusal(type) }
    return ArgumentBox(storage: fitted, isSendable: true)
  }

  private func refusal(_ type: TypeEncoding) -> UnboxingError { refusal(type.swiftName) }
}

extension TypeEncoding.Record {
  /// The innermost type's name if this is a Swift optional, such as `Int` for `Optional<Int>`.
  package var optionalName: Substring? {
    var (name, isOptional) = (Substring(name), false)
    while name.hasPrefix("Optional<"), name.hasSuffix(">") {
      (name, isOptional) = (name.dropFirst("Optional<".count).dropLast(), true)
    }
    return isOptional ? name : nil
  }
}

extension TypeEncoding {
  fileprivate var isReference: Bool {
    switch kind {
    case .object, .block, .classObject, .cString, .pointer, .selector: true
    default: false
    }
  }

  /// True if this type accepts a Swift value encoded as `found`.
  package func accepts(_ found: TypeEncoding) -> Bool {
    switch (kind, found.kind) {
    case (.object(name: nil), _), (.unknown, _): true
    case (.scalar(let wanted), .scalar(let given)): wanted == given || wanted.isLong(as: given)
    case (.object("String"?), .object("String"?)), (.object("NSString"?), .object("String"?)): true
    case (.object("String"?), _): false
    case (.object, .object(name: let name)): name == nil
    case (.cString, .object("String"?)): true
    // Objective-C encodes `CGFloat` as `double` or, if pointers have 32 bits, as `float`.
    case (.scalar(let wanted), .structure(let given)):
      given.name == "CGFloat" && wanted == (MemoryLayout<Int>.size == 8 ? .double : .float)
    case (.pointer(let wanted), .pointer(let given)):
      wanted.kind == .void || given.kind == .void || wanted.matchesLeniently(given)
    case (.structure(let wanted), .structure(let given)), (.union(let wanted), .structure(let given)):
      wanted.name == given.name || wanted.name == "?"
    case (.array, .pointer), (.complex, .structure): true
    default: matchesLeniently(found)
    }
  }
}

extension TypeEncoding.Scalar {
  /// True if this type is C's `long` and `given` encodes a Swift integer of the same size.
  fileprivate func isLong(as given: Self) -> Bool {
    switch (self, given) {
    case (.long, .longLong), (.unsignedLong, .unsignedLongLong): MemoryLayout<Int>.size == 8
    case (.long, .int), (.unsignedLong, .unsignedInt): MemoryLayout<Int>.size == 4
    default: false
    }
  }
}
