// TypeText.swift: a type as written, and what its text shows.

/// A type as text. The macro cannot look up its names.
struct TypeText {
  let positions: Range<Int>
  let text: String
  /// The type as a key has it: ownership words are removed, `some P` becomes `any P`, `T!` becomes
  /// `T?`.
  let keyed: String
  /// The words before the type: `inout`, `some`, `borrowing`.
  var specifiers: Set<String> = []
  var isNonescapingFunction = false
  /// True if `some` occurs within the type, not only before it.
  var hasInnerSome = false
  var isOptional = false
  var isFunction = false

  var isVoid: Bool {
    ["Void", "()", "Swift.Void", "(Void)", "(())", "(Swift.Void)"].contains(text.filter { $0 != " " })
  }
  var isSome: Bool { specifiers.contains("some") }
  /// True if the name suggests an alias of a closure type, which would need `@escaping`.
  var mayBeClosure: Bool {
    positions.count == 1
      && ["Completion", "Handler", "Callback", "Closure", "Block", "Action"].contains { text.hasSuffix($0) }
  }
  /// True if `any P` conforms to `P`. Swift 5 does not open such an existential for `some P`.
  var isSelfConforming: Bool {
    keyed.dropFirst(4).split(separator: "&").allSatisfy {
      ["Any", "AnyObject", "Sendable", "Error"].contains(
        $0.split(separator: ".").last.map { String($0.trimmingBlanks) })
    }
  }
}

extension SourceText {
  func typeText(_ positions: Range<Int>) -> TypeText {
    let behindPrefix = endOfTypePrefix(positions.lowerBound, before: positions.upperBound)
    let prefix = positions.lowerBound..<behindPrefix
    let specifiers = Set(prefix.filter { self[$0].kind == .word }.map { text($0) })
    let isEscaping = prefix.contains { isMark($0, "@") && isWord($0 + 1, "escaping") }
    let last = positions.upperBound - 1
    let isFunction = function(behindPrefix..<positions.upperBound)
    let isImplicit = isMark(last, "!") && !isFunction
    return TypeText(
      positions: positions, text: line(positions), keyed: keyed(positions, isImplicit: isImplicit),
      specifiers: specifiers, isNonescapingFunction: isFunction && !isEscaping,
      hasInnerSome: (behindPrefix..<positions.upperBound).contains { isWord($0, "some") },
      isOptional: !isFunction
        && (isMark(last, "?") || isImplicit || optionalIsNamed(behindPrefix..<positions.upperBound)),
      isFunction: isFunction)
  }

  /// `some P` for the tokens of `P`; `some Any` if there are no tokens.
  func opaqueType(_ constraint: Range<Int>) -> TypeText {
    let text = constraint.isEmpty ? "Any" : line(constraint)
    return TypeText(positions: constraint, text: "some \(text)", keyed: "any \(text)", specifiers: ["some"])
  }

  /// The default type of a literal; `nil` for any other expression.
  func literalType(_ positions: Range<Int>) -> TypeText? {
    let isSigned = isMark(positions.lowerBound, "-") && positions.count == 2
    guard positions.count == (isSigned ? 2 : 1), let last = positions.last else { return nil }
    let text = text(last)
    let isHexadecimal = text.hasPrefix("0x")
    let name: String
    switch self[last].kind {
    case .number: name = text.contains { isHexadecimal ? "pP".contains($0) : ".eE".contains($0) } ? "Double" : "Int"
    case .string where !isSigned: name = "String"
    case .word where !isSigned && ["true", "false"].contains(text): name = "Bool"
    default: return nil
    }
    return TypeText(positions: positions, text: name, keyed: name)
  }

  /// True if a member's type may need conformances of its generic arguments, as a set does.
  func mayNeedConformances(_ member: Member) -> Bool {
    (member.parameters.map(\.type) + [member.type].compactMap(\.self)).contains(where: mayNeedConformances)
  }

  private func mayNeedConformances(_ type: TypeText) -> Bool {
    type.positions.contains { position in
      var end = position
      if isMark(position, "[") {
        guard let colon = colon(in: position) else { return false }
        end = colon
      } else if isMark(position, "<"), !["Array", "Optional"].contains(text(position - 1)) {
        end = endOfGenericArguments(position, before: type.positions.upperBound)
      }
      return (position..<min(end, position + Self.maximumGenericArguments)).contains {
        self[$0].isWord && !CarriedNames.universal.contains(text($0))
      }
    }
  }

  private func function(_ positions: Range<Int>) -> Bool {
    var (start, end) = (positions.lowerBound, positions.upperBound)
    while true {
      guard isMark(start, "("), let closing = closing(start) else { return false }
      if arrow(closing + 1, before: end) != nil { return true }
      guard closing == end - 1 else { return false }
      end = closing
      start = endOfTypePrefix(start + 1, before: end)
    }
  }

  private func optionalIsNamed(_ positions: Range<Int>) -> Bool {
    var start = positions.lowerBound
    if isWord(start, "Swift"), isMark(start + 1, ".") { start += 2 }
    guard isWord(start, "Optional"), isMark(start + 1, "<") else { return false }
    return endOfGenericArguments(start + 1, before: positions.upperBound) == positions.upperBound
  }

  private func keyed(_ positions: Range<Int>, isImplicit: Bool) -> String {
    let ownership = ["borrowing", "consuming", "__owned", "__shared"]
    return line(positions.filter { self[$0].kind != .word || !ownership.contains(text($0)) }) { position in
      if isWord(position, "some") { return "any" }
      return isImplicit && position == positions.upperBound - 1 ? "?" : text(position)
    }
  }
}

extension String {
  /// The type as an optional, in parentheses if it is more than a name.
  var asOptional: String { contains(" ") && !hasPrefix("[") && !hasPrefix("(") ? "(\(self))?" : "\(self)?" }
}
