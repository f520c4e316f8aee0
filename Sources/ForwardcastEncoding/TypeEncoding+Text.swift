// TypeEncoding+Text.swift: type encodings as text and in words.

extension TypeEncoding: CustomStringConvertible {
  /// The text that the encoding was read from, byte for byte.
  public var description: String { qualifiers.map { letter($0.rawValue) }.joined() + kind.text }

  /// The type in words: `pointer to struct Point`. Records are named without their members.
  public var meaning: String {
    var words = qualifiers.map(\.meaning)
    words.append(kind.meaning)
    return words.joined(separator: " ")
  }
}

extension TypeEncoding.Record {
  fileprivate var text: String {
    guard let members else { return name }
    return name + "=" + members.map { ($0.name.map { "\"\($0)\"" } ?? "") + $0.type.description }.joined()
  }

  fileprivate func meaning(_ word: String) -> String {
    name.isEmpty || name == "?" ? "unnamed \(word)" : "\(word) \(name)"
  }
}

extension TypeEncoding.BitField {
  fileprivate var text: String {
    guard let position, let container else { return "b\(width)" }
    return "b\(position)\(letter(container.rawValue))\(width)"
  }

  fileprivate var meaning: String {
    let bits = width == 1 ? "1 bit" : "\(width) bits"
    return container.map { "\(bits) of \($0.meaning)" } ?? bits
  }
}

extension TypeEncoding.Kind {
  fileprivate var text: String {
    switch self {
    case .void: "v"
    case .scalar(let scalar): letter(scalar.rawValue)
    case .cString: "*"
    case .object(let name): name.map { "@\"\($0)\"" } ?? "@"
    case .block(let signature): signature.map { "@?<" + $0.map(\.description).joined() + ">" } ?? "@?"
    case .classObject: "#"
    case .selector: ":"
    case .unknown: "?"
    case .pointer(let pointee): "^\(pointee)"
    case .array(let count, let element): "[\(count)\(element)]"
    case .structure(let record): "{\(record.text)}"
    case .union(let record): "(\(record.text))"
    case .complex(let part): "j" + letter(part.rawValue)
    case .bitField(let field): field.text
    }
  }

  fileprivate var meaning: String {
    switch self {
    case .void: "void"
    case .scalar(let scalar): scalar.meaning
    case .cString: "C string"
    case .object(let name): name.map { "object \($0)" } ?? "object"
    case .block(let signature): signature.map(blockMeaning) ?? "block"
    case .classObject: "class"
    case .selector: "selector"
    case .unknown: "unknown type"
    case .pointer(let pointee): pointee == .unknown ? "function pointer" : "pointer to \(pointee.meaning)"
    case .array(let count, let element): "array of \(count) \(element.meaning)"
    case .structure(let record): record.meaning("struct")
    case .union(let record): record.meaning("union")
    case .complex(let part): "complex \(part.meaning)"
    case .bitField(let field): field.meaning
    }
  }

  private func blockMeaning(_ signature: [TypeEncoding]) -> String {
    let taken = signature.dropFirst(2).map(\.meaning).joined(separator: ", ")
    return "block (\(taken)) returning \(signature.first?.meaning ?? "void")"
  }
}

private func letter(_ byte: UInt8) -> String { String(Unicode.Scalar(byte)) }
