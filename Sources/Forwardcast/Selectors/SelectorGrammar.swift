// SelectorGrammar.swift: which texts are selectors, and how many colons they have.

/// The grammar: `identifier`, or one or more times `identifier? ":"`.
enum SelectorGrammar {
  /// The number of colons of `name`.
  ///
  /// - Throws: at the first byte that no continuation could repair; a last word without its colon is reported where it begins.
  static func arity(of name: String) throws(MessageSelectorError) -> Int {
    let length = name.utf8.count
    if length == 0 { throw MessageSelectorError(.empty, in: name, at: 0) }
    if length > MessageSelector.maximumLength {
      throw MessageSelectorError(.tooLong, in: name, at: MessageSelector.maximumLength)
    }
    var arity = 0
    var offset = 0
    var partStart = 0
    for scalar in name.unicodeScalars {
      if scalar == ":" {
        arity += 1
        partStart = offset + 1
      } else if !(offset == partStart ? scalar.beginsIdentifier : scalar.continuesIdentifier) {
        throw MessageSelectorError(.unexpectedCharacter, in: name, at: offset)
      }
      offset += UTF8.width(scalar)
    }
    if arity > 0, partStart < offset { throw MessageSelectorError(.textAfterLastColon, in: name, at: partStart) }
    return arity
  }
}
