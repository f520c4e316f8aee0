// LineEditor.swift: edits one line on a terminal.

import ForwardcastScript

final class LineEditor {
  enum Input: Equatable {
    case text(String)
    /// Control-C: the line is dropped.
    case abandoned
  }

  private static let historyLimit = 1000

  /// The file of the history: `FORWARDCAST_HISTORY`, else one in the home folder.
  private let historyPath: String?
  private var history: [String] = []
  private var line = EditedLine()

  init() {
    let path = environment("FORWARDCAST_HISTORY") ?? environment("HOME").map { $0 + "/.forwardcast_history" }
    historyPath = path?.isEmpty ?? true ? nil : path
    guard let historyPath, let bytes = try? readFile(historyPath, limit: 1 << 20) else { return }
    history = String(decoding: bytes, as: UTF8.self).split(separator: "\n").suffix(Self.historyLimit).map(String.init)
  }

  /// The next line; `nil` at the end of the input, or for control-D on an empty line.
  func read(prompt: String, completions: () -> [String]) -> Input? {
    guard var terminal = RawTerminal() else { return nil }
    let input = edit(prompt, &terminal, completions)
    terminal.restore()
    Stream.output.write(input == .abandoned ? "^C\n" : "\n")
    return input
  }

  private func edit(_ prompt: String, _ terminal: inout RawTerminal, _ completions: () -> [String]) -> Input? {
    line = EditedLine()
    var place = history.count
    var unfinished = ""
    show(prompt)
    while let key = terminal.readKey() {
      switch key {
      case .enter:
        remember(line.text)
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
      case .tab: complete(completions())
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

  /// Extends the word before the cursor to the common prefix of the candidates, or else lists these.
  private func complete(_ candidates: [String]) {
    let word = line.wordBeforeCursor
    let fitting = Set(candidates).filter { $0.hasPrefix(word) && $0 != word }.sorted()
    guard !word.isEmpty, var common = fitting.first else { return }
    for other in fitting { while !other.hasPrefix(common) { common.removeLast() } }
    if common.count > word.count {
      line.insert(String(common.dropFirst(word.count)))
    } else {
      Stream.output.write("\n" + ShownText.shown(fitting.prefix(40).joined(separator: "  ")) + "\n")
    }
  }

  private func remember(_ text: String) {
    guard !text.trimmed.isEmpty, text != history.last else { return }
    history.append(text)
    if history.count > Self.historyLimit { history.removeFirst() }
    // Failing to write the history is not worth an error for each line.
    if let historyPath { try? writeFile(historyPath, history.joined(separator: "\n") + "\n", onlyForOwner: true) }
  }
}

/// A line that is being edited, with the position of the cursor.
struct EditedLine {
  private(set) var characters: [Character]
  private(set) var cursor: Int

  init(_ text: String = "") {
    characters = Array(text)
    cursor = characters.count
  }

  var text: String { String(characters) }

  /// The part of the line around the cursor that fits, and the columns before the cursor. Control characters are escaped.
  func window(of room: Int) -> (text: String, columnsBefore: Int) {
    // Of a long line only what is near: it is drawn anew for each key.
    func drawn(_ index: Int) -> String { ShownText.shown(String(characters[index])) }
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

  /// The part of a name or selector before the cursor.
  var wordBeforeCursor: String {
    let before = characters[..<cursor]
    let start = before.lastIndex { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }.map { $0 + 1 } ?? 0
    return String(before[start...])
  }

  mutating func insert(_ text: String) {
    // A combining mark joins the character before it. The rest of a long line is not looked at for each key.
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

  /// Applies an editing key; ignores others.
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
    default: break
    }
  }
}
