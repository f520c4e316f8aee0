// LineEditor.swift: edits one entry on a terminal.

import ForwardcastScript

final class LineEditor {
  enum Input: Equatable {
    case text(String)
    /// Control-C, which discards the line.
    case abandoned
  }

  private static let historyLimit = 1000
  private static let historyBytes = 1 << 20

  /// The history file: `FORWARDCAST_HISTORY`, or a file in the home folder.
  private let historyPath: String?
  private var history: [String] = []
  private var line = EditedLine()

  init() {
    let path = environment("FORWARDCAST_HISTORY") ?? environment("HOME").map { $0 + "/.forwardcast_history" }
    historyPath = path?.isEmpty ?? true ? nil : path
    guard let historyPath, let bytes = try? readFile(historyPath, limit: Self.historyBytes, fromEnd: true) else {
      return
    }
    // The first entry of a longer file is cut.
    let entries = bytes.split(separator: UInt8(ascii: "\n")).dropFirst(bytes.count > Self.historyBytes ? 1 : 0)
    history = entries.suffix(Self.historyLimit).map { entry in
      String(decoding: entry, as: UTF8.self).replacing("\r", with: "\n")
    }
  }

  /// The completions at the end of a text, and the part of the text that they replace.
  typealias Completions = (_ text: String) -> (part: String, candidates: [String])

  /// Reads one line, or several pasted or recalled lines; `nil` at the end of the input, or for
  /// control-D on an empty line. With `continues`, the input extends the last entry of the history.
  func read(continues: Bool, completions: Completions) -> Input? {
    guard var terminal = RawTerminal() else { return nil }
    let input = edit(continues, &terminal, completions)
    terminal.restore()
    Stream.output.write(input == .abandoned ? "^C\n" : "\n")
    return input
  }

  private func edit(_ continues: Bool, _ terminal: inout RawTerminal, _ completions: Completions) -> Input? {
    let prompt = continues ? "… " : "> "
    line = EditedLine()
    var place = history.count
    var unfinished = ""
    show(prompt)
    while let key = terminal.readKey() {
      switch key {
      case .enter:
        remember(line.text, continues)
        return .text(line.text + "\n")
      case .control("c"): return .abandoned
      case .control("d"):
        if line.text.isEmpty { return nil }
        line.take(.delete)
      case .control("p"), .control("n"):
        let next = place + (key == .control("p") ? -1 : 1)
        guard (0...history.count).contains(next) else { break }
        if place == history.count { unfinished = line.text }
        place = next
        line = EditedLine(place == history.count ? unfinished : history[place])
      case .tab:
        let (word, candidates) = completions(line.textBeforeCursor)
        complete(word, candidates)
      case .control("l"): Stream.output.write("\u{1B}[H\u{1B}[2J")
      default: line.take(key)
      }
      show(prompt)
    }
    return nil
  }

  private func show(_ prompt: String) {
    let room = max(terminalWidth(Stream.output) - prompt.count - 1, 8)
    let (shown, before) = line.window(of: room)
    let column = prompt.count + before
    Stream.output.write("\r\u{1B}[K\(prompt)\(shown)\r" + (column > 0 ? "\u{1B}[\(column)C" : ""))
  }

  /// Extends `word` to the common prefix of its completions. Lists them if `word` is that prefix.
  private func complete(_ word: String, _ candidates: [String]) {
    let fitting = Set(candidates).filter { $0.hasPrefix(word) && $0 != word }.sorted()
    guard var common = fitting.first else { return }
    for other in fitting { while !other.hasPrefix(common) { common.removeLast() } }
    if common.count > word.count {
      line.insert(String(common.dropFirst(word.count)))
    } else {
      let folder = word.lastIndex(of: "/").map { word[...$0].count } ?? 0
      let names = fitting.prefix(40).map { $0.dropFirst(folder) }
      Stream.output.write("\n" + ShownText.shown(names.joined(separator: "  ")) + "\n")
    }
  }

  private func remember(_ text: String, _ continues: Bool) {
    let text = text.contains("\n") ? text.trimmed : text
    if continues, let begun = history.popLast() {
      history.append(begun + "\n" + text)
    } else {
      guard !text.trimmed.isEmpty, text != history.last else { return }
      history.append(text)
    }
    if history.count > Self.historyLimit { history.removeFirst() }
    guard let historyPath else { return }
    // Each entry is one line of the file. The lines of an entry are separated by `\r`.
    let entries = history.map { $0.replacing("\n", with: "\r") + "\n" }
    // A failure is ignored, because it would be reported after each line.
    try? writeFile(historyPath, entries.joined(), onlyForOwner: true)
  }
}

/// One or more lines with the position of the cursor.
struct EditedLine {
  private(set) var characters: [Character]
  private(set) var cursor: Int

  init(_ text: String = "") {
    characters = Array(text)
    cursor = characters.count
  }

  var text: String { String(characters) }

  /// The part of the line around the cursor that fits into `room`, and the columns before the
  /// cursor. Control characters are shown as escapes, and line breaks as arrows.
  func window(of room: Int) -> (text: String, columnsBefore: Int) {
    // Measures only characters near the cursor, because each key redraws the line.
    func drawn(_ index: Int) -> String {
      characters[index] == "\n" ? "↵" : ShownText.shown(String(characters[index]))
    }
    func width(of index: Int) -> Int { ShownText.width(drawn(index)) }
    var (first, last, before) = (cursor, cursor, 0)
    while first > 0, before + width(of: first - 1) <= room {
      first -= 1
      before += width(of: first)
    }
    var columns = before
    while last < characters.count, columns + width(of: last) <= room {
      columns += width(of: last)
      last += 1
    }
    return ((first..<last).map(drawn).joined(), before)
  }

  var textBeforeCursor: String { String(characters[..<cursor]) }

  private static func isOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

  /// The start of the word that the cursor is in or after.
  private var wordStart: Int {
    let end = characters[..<cursor].lastIndex(where: Self.isOfWord) ?? 0
    return characters[..<end].lastIndex { !Self.isOfWord($0) }.map { $0 + 1 } ?? 0
  }

  private var wordEnd: Int {
    let start = characters[cursor...].firstIndex(where: Self.isOfWord) ?? characters.count
    return characters[start...].firstIndex { !Self.isOfWord($0) } ?? characters.count
  }

  mutating func insert(_ text: String) {
    // Joins the text with its neighbors: a combining mark merges with the character before it.
    let near = max(0, cursor - 1)..<min(characters.count, cursor + 1)
    let left = String(characters[near.lowerBound..<cursor])
    let joined = Array(left + text + String(characters[cursor..<near.upperBound]))
    characters.replaceSubrange(near, with: joined)
    cursor += joined.count - near.count
  }

  private mutating func remove(_ range: Range<Int>) {
    characters.removeSubrange(range)
    cursor = range.lowerBound
  }

  mutating func take(_ key: Key) {
    switch key {
    case .text(let text): insert(text)
    case .backspace where cursor > 0: remove(cursor - 1..<cursor)
    case .delete where cursor < characters.count: remove(cursor..<cursor + 1)
    case .control("b"): cursor = max(0, cursor - 1)
    case .control("f"): cursor = min(characters.count, cursor + 1)
    case .control("a"): cursor = 0
    case .control("e"): cursor = characters.count
    case .control("k"): remove(cursor..<characters.count)
    case .control("u"): remove(0..<cursor)
    case .control("w"):
      var start = cursor
      while start > 0, characters[start - 1] == " " { start -= 1 }
      while start > 0, characters[start - 1] != " " { start -= 1 }
      remove(start..<cursor)
    case .alt("b"): cursor = wordStart
    case .alt("f"): cursor = wordEnd
    case .alt("d"): remove(cursor..<wordEnd)
    case .alt("\u{7F}"): remove(wordStart..<cursor)
    default: break
    }
  }
}
