// SwiftText.swift: the code of a Swift file without comments and strings, and its names.

/// A simple parser for declared, used and imported names.
struct SwiftText {
  private let characters: [Character]
  private var index = 0
  private(set) var code = ""
  /// The words and punctuation of the code, each with the number of open braces.
  private var words: [(text: String, depth: Int)] = []

  init(_ text: String) {
    characters = Array(text)
    readCode(untilParenthesis: false)
    readWords()
  }

  /// Names in the code, including string interpolations.
  var names: Set<String> { Set(words.map(\.text)) }

  /// Types, aliases and protocols at the top level. Nested types cannot be named without them.
  var declaredTypes: Set<String> {
    let keywords: Set = ["class", "struct", "enum", "protocol", "actor", "typealias"]
    var found: Set<String> = []
    for (keyword, name) in zip(words, words.dropFirst())
    where keyword.depth == 0 && keywords.contains(keyword.text) && name.text.first?.isUppercase == true {
      found.insert(name.text)
    }
    return found
  }

  /// Functions, properties and cases at any depth.
  var declaredMembers: Set<String> { Set(members.map(\.name)) }

  /// Members of extensions at the top level, each with the extended type.
  var extensionMembers: [(type: String, name: String)] {
    members.compactMap { member in member.type.map { ($0, member.name) } }
  }

  /// Names after a dot.
  var usedMembers: Set<String> { Set(zip(words, words.dropFirst()).filter { $0.0.text == "." }.map(\.1.text)) }

  private var members: [(type: String?, name: String)] {
    let (kinds, types): (Set<String>, Set<String>) = (
      ["func", "var", "let", "case"], ["class", "struct", "enum", "protocol", "actor"]
    )
    var found: [(type: String?, name: String)] = []
    var extended: String?
    for (word, next) in zip(words, words.dropFirst()) {
      if word.depth == 0, word.text == "extension" { extended = next.text }
      if word.depth == 0, types.contains(word.text) { extended = nil }
      guard kinds.contains(word.text), next.text.first.map({ $0.isLetter || $0 == "_" }) ?? false else { continue }
      found.append((word.depth == 1 ? extended : nil, next.text))
    }
    return found
  }

  /// Imported modules, without submodules.
  var imports: Set<String> {
    let kinds: Set = ["class", "struct", "enum", "protocol", "actor", "typealias", "func", "var", "let"]
    var found: Set<String> = []
    for line in code.split(separator: "\n") {
      let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
      guard let keyword = words.firstIndex(of: "import") else { continue }
      let rest = words[(keyword + 1)...].drop { kinds.contains(String($0)) }
      if let module = rest.first?.split(separator: ".").first { found.insert(String(module)) }
    }
    return found
  }

  private mutating func readWords() {
    var word = ""
    var depth = 0
    for character in code + " " {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
        continue
      }
      if !word.isEmpty { words.append((word, depth)) }
      word = ""
      // Punctuation separates words: `actor: T` declares nothing.
      if !character.isWhitespace { words.append((String(character), depth)) }
      if character == "{" { depth += 1 }
      if character == "}" { depth -= 1 }
    }
  }

  private func isNext(_ text: String) -> Bool {
    index + text.count <= characters.count && characters[index..<index + text.count].elementsEqual(text)
  }

  private mutating func readCode(untilParenthesis: Bool) {
    var open = 0
    while index < characters.count {
      if isNext("//") {
        while index < characters.count, !characters[index].isNewline { index += 1 }
      } else if isNext("/*") {
        skipBlockComment()
      } else if let pounds = poundsBeforeQuote() {
        skipText(pounds: pounds)
      } else {
        let character = characters[index]
        if character == "(" { open += 1 }
        if character == ")" { open -= 1 }
        index += 1
        if untilParenthesis && open < 0 { return }
        code.append(character)
      }
    }
  }

  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if isNext("/*") {
        depth += 1
        index += 2
      } else if isNext("*/") {
        depth -= 1
        index += 2
      } else {
        index += 1
      }
    } while depth > 0 && index < characters.count
    code.append(" ")
  }

  /// The number of `#` before the quote that starts here, or `nil` if no string starts here.
  private func poundsBeforeQuote() -> Int? {
    var end = index
    while end < characters.count, characters[end] == "#" { end += 1 }
    return end < characters.count && characters[end] == "\"" ? end - index : nil
  }

  private mutating func skipText(pounds: Int) {
    index += pounds
    let quote = isNext("\"\"\"") ? "\"\"\"" : "\""
    index += quote.count
    let marks = String(repeating: "#", count: pounds)
    code.append(" ")
    while index < characters.count, !isNext(quote + marks) {
      if isNext("\\" + marks + "(") {
        index += pounds + 2
        readCode(untilParenthesis: true)
        code.append(" ")
      } else if isNext("\\" + marks) {
        index += pounds + 2
      } else {
        index += 1
      }
    }
    index += quote.count + pounds
  }
}
