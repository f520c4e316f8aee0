// AttributeOptions.swift: the arguments of @Forwarded and @Receiver.

struct AttributeOptions {
  /// The arguments of `inheriting:`: a superclass, or refined protocols. A protocol is written as
  /// `any Name` or as its generated class.
  var inherited: [String] = []
  /// The protocol that the class conforms to, as `any Name`; `nil` for the annotated protocol.
  var interface: String?
  var base: String?
  var actor: String?
  /// The answer if no target responds, for requirements without `@Answer(otherwise:)`.
  var silence = SilentAnswers.refused
  var takesAll = false

  var classes: [String] { inherited.map(Self.className) }

  /// The name of the generated class for `any Name` or `any Name<…>`. A class name is unchanged.
  static func className(of type: String) -> String {
    type.hasPrefix("any ") ? String(type.dropFirst(4).prefix { $0 != "<" }).continued("Proxy") : type
  }

  static func namespace(of className: String) -> String { className.continued("Namespace") }
}

extension ExpansionRequest {
  func options(_ expansion: inout Expansion) -> AttributeOptions {
    var options = AttributeOptions()
    for (label, value) in arguments {
      let word = attribute.text(value.upperBound - 1)
      func refuse(_ message: String) { expansion.refuse(message, attribute: attribute.offsets(value)) }
      switch label {
      case "otherwise":
        if let silence = SilentAnswers(rawValue: word) {
          options.silence = silence
        } else {
          refuse("this value is not known; write '.emptyValues' or '.emptyValuesOrTrap'")
        }
      case "" where macro == "Receiver":
        options.takesAll = word == "allMembers"
        if !options.takesAll, word != "markedMembers" {
          refuse("this value is not known; write '.markedMembers' or '.allMembers'")
        }
      default:
        let isProtocol = label == "as" || label == "inheriting" && macro == "Forwarded"
        let example = "\(label): \(isProtocol ? "(any Name)" : "Name")"
        guard let name = typeName(value) else {
          refuse("this is not a type; write it as in '\(example).self'")
          continue
        }
        let parent = name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
        switch label {
        case "inheriting" where macro == "Forwarded" && StandardProtocol(parent) != nil:
          refuse("'\(parent)' is a protocol of the standard library, which needs no 'inheriting:'; remove it")
        case "inheriting": options.inherited.append(name)
        case "as": options.interface = name
        case "base": options.base = name
        case "isolatedTo": options.actor = name
        default: break
        }
      }
    }
    return options
  }

  /// The arguments of the attribute. An argument without a label gets the preceding label.
  private var arguments: [(label: String, value: Range<Int>)] {
    var (position, label) = (0, "")
    return (attribute.attributes(&position).first?.arguments ?? []).map {
      label = $0.label ?? label
      return (label, $0.value)
    }
  }

  /// The type's name in an argument `Name.self`, without parentheses; `nil` for other arguments.
  private func typeName(_ value: Range<Int>) -> String? {
    var (start, end) = (value.lowerBound, value.upperBound - 2)
    guard value.count > 2, attribute.isWord(end + 1, "self"), attribute.isMark(end, ".") else { return nil }
    while attribute.isMark(start, "("), attribute.closing(start) == end - 1 { (start, end) = (start + 1, end - 1) }
    return attribute.endOfType(start, before: end) == end ? attribute.line(start..<end) : nil
  }
}

extension String {
  /// The name with a suffix, inside its backticks if it has any.
  func continued(_ letters: String) -> String { hasSuffix("`") ? dropLast() + letters + "`" : self + letters }
}
