// TypeEncoding+Text.swift: type encodings as text and in words.

extension TypeEncoding: CustomStringConvertible {
  /// The text that the encoding was read from, byte for byte.
  public var description: String {
    var text = ""
    write(to: &text)
    return text
  }

  func write(to text: inout String) {
    for qualifier in qualifiers { text.append(letter: qualifier.rawValue) }
    switch kind {
    case .void: text += "v"
    case .scalar(let scalar): text.append(letter: scalar.rawValue)
    case .cString: text += "*"
    case .object(let name): text += name.map { "@\"\($0)\"" } ?? "@"
    case .block(let signature):
      text += "@?"
      guard let signature else { return }
      text += "<"
      for type in signature { type.write(to: &text) }
      text += ">"
    case .classObject: text += "#"
    case .selector: text += ":"
    case .unknown: text += "?"
    case .pointer(let pointee):
      text += "^"
      pointee.write(to: &text)
    case .array(let count, let element):
      text += "[\(count)"
      element.write(to: &text)
      text += "]"
    case .structure(let record): record.write(to: &text, "{", "}")
    case .union(let record): record.write(to: &text, "(", ")")
    case .complex(let part):
      text += "j"
      text.append(letter: part.rawValue)
    case .bitField(let field): field.write(to: &text)
    }
  }

  /// The type in words of C and Objective-C: `pointer to struct Point`. A record is named, not spelled out.
  public var meaning: String {
    var words = qualifiers.map(\.meaning)
    words.append(kind.meaning)
    return words.joined(separator: " ")
  }
}

extension TypeEncoding.Record {
  fileprivate func write(to text: inout String, _ open: String, _ close: String) {
    text += open
    text += name
    if let members {
      text += "="
      for member in members {
        if let name = member.name { text += "\"\(name)\"" }
        member.type.write(to: &text)
      }
    }
    text += close
  }

  fileprivate func meaning(_ word: String) -> String {
    name.isEmpty || name == "?" ? "unnamed \(word)" : "\(word) \(name)"
  }
}

extension TypeEncoding.BitField {
  fileprivate func write(to text: inout String) {
    text += "b"
    if let position, let container {
      text += "\(position)"
      text.append(letter: container.rawValue)
    }
    text += "\(width)"
  }

  fileprivate var meaning: String {
    let bits = width == 1 ? "1 bit" : "\(width) bits"
    return container.map { "\(bits) of \($0.meaning)" } ?? bits
  }
}

extension TypeEncoding.Kind {
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

extension String { fileprivate mutating func append(letter: UInt8) { unicodeScalars.append(Unicode.Scalar(letter)) } }
