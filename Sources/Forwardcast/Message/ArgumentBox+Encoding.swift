// ArgumentBox+Encoding.swift: a box made to fit an encoded type, or refused.

extension ArgumentBox {
  /// The box as a method whose signature says `type` receives it.
  ///
  /// `@` holds any value. Integers fit exactly or are refused; floating point is rounded to the nearest value of a
  /// narrower type and refused out of its range; integers become floating point when exact. `Bool` is no number. Other
  /// types take the Swift values that are encoded so: `*` and `@"String"` a `String`, `:` a selector, `#` a metatype,
  /// `{Name}` a struct of that name, `{Optional<Int>}` an `Int`, `nil` or a number that fits, and so on; `nil` fits
  /// everything that is a reference.
  ///
  /// - Throws: ``UnboxingError`` with the encoding that was wanted and the type that was found.
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
      // What C calls a double; the method's own type takes it from there.
      if record.name == "CGFloat", let number = wideNumber(value), let double = Double(fitting: number) {
        return ArgumentBox(storage: double, isSendable: true)
      }
      return try accepted(type)
    default: return try accepted(type)
    }
  }

  /// The box for an optional of the Swift type of that name: `nil`, a value of the type, a number that fits, or any of
  /// these in an optional.
  private func optional(of name: Substring, _ type: TypeEncoding) throws(UnboxingError) -> ArgumentBox {
    if isNil { return self }
    let value = unwrapped(value)
    if "\(Swift.type(of: value))" == name { return self }
    guard let numeric = Self.numberTypes.first(where: { $0.name == name })?.type, let number = wideNumber(value),
      let fitted = makeNumber(numeric, fitting: number)
    else { throw refusal(type) }
    return ArgumentBox(storage: fitted, isSendable: true)
  }

  /// The standard number types by name: an encoding of an optional says no more.
  private static let numberTypes: [(name: String, type: any Any.Type)] =
    TypeEncoding.Scalar.swiftTypes.map { ("\($0.type)", $0.type) }

  /// The box as it is, if the type takes it so.
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

  private func refusal(_ type: TypeEncoding) -> UnboxingError {
    UnboxingError(
      wanted: "\(type.meaning) (\(type))", found: isNil ? "nil" : "\(Swift.type(of: value))",
      evidence: "(\(shortened(description)))")
  }
}

extension TypeEncoding.Record {
  /// Of a record that stands for a Swift optional, `Optional<Int>`, the name of the innermost type.
  package var optionalName: Substring? {
    var (name, isOptional) = (Substring(name), false)
    while name.hasPrefix("Optional<"), name.hasSuffix(">") {
      (name, isOptional) = (name.dropFirst("Optional<".count).dropLast(), true)
    }
    return isOptional ? name : nil
  }
}

extension TypeEncoding {
  /// Whether `nil` is a value of the type.
  fileprivate var isReference: Bool {
    switch kind {
    case .object, .block, .classObject, .cString, .pointer, .selector: true
    default: false
    }
  }

  /// Whether a Swift value that is encoded as `found` may stand where this type is wanted.
  package func accepts(_ found: TypeEncoding) -> Bool {
    switch (kind, found.kind) {
    case (.object(name: nil), _), (.unknown, _): true
    case (.scalar(let wanted), .scalar(let given)): wanted == given || wanted.isLong(as: given)
    case (.object("String"?), .object("String"?)), (.object("NSString"?), .object("String"?)): true
    case (.object("String"?), _), (.object("NSString"?), _): false
    case (.object, .object(name: let name)): name == nil
    case (.cString, .object("String"?)): true
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
  /// Whether this is C's `long` of a machine on which the Swift type `given` is as long: `Int` is encoded `q`.
  fileprivate func isLong(as given: Self) -> Bool {
    switch (self, given) {
    case (.long, .longLong), (.unsignedLong, .unsignedLongLong): MemoryLayout<Int>.size == 8
    case (.long, .int), (.unsignedLong, .unsignedInt): MemoryLayout<Int>.size == 4
    default: false
    }
  }
}
