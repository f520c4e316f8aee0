// SourceText.swift: one script's text, and where in it something stands.
// Layer: Script, Text. See DESIGN.md, "The script".

/// The text of one script. Everything later refers to it by byte offset; lines and columns are counted when asked for.
final class SourceText: Sendable {
  /// The largest text that is read.
  static let byteLimit = 16 << 20
  /// The same, which a test lowers for the texts of its own task.
  @TaskLocal static var limit = byteLimit

  /// What positions call the text: a file's name as the user gave it.
  let name: String
  let bytes: [UInt8]
  /// The number of the first line: more than 1 where a text is a later part of a conversation.
  private let firstLine: Int
  private let lineStarts: [Int32]

  /// - Parameter text: at most ``limit`` bytes; a longer one is cut there, and the lexer says so.
  init(_ text: String, name: String, firstLine: Int = 1) {
    self.name = name
    self.firstLine = firstLine
    let marked = text.utf8.starts(with: [0xEF, 0xBB, 0xBF])  // a byte order mark
    bytes = Array(text.utf8.dropFirst(marked ? 3 : 0).prefix(SourceText.limit + 1))
    var starts: [Int32] = [0]
    for (offset, byte) in bytes.enumerated() where SourceText.endsLine(byte, bytes, offset) {
      starts.append(Int32(offset + 1))
    }
    lineStarts = starts
  }

  /// A line ends after `\n`, after `\r\n`, and after a `\r` that stands alone.
  private static func endsLine(_ byte: UInt8, _ bytes: [UInt8], _ offset: Int) -> Bool {
    if byte == UInt8(ascii: "\n") { return true }
    return byte == UInt8(ascii: "\r") && !(offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "\n"))
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// File, line and column of a byte; lines and columns count from 1, columns in characters.
  func position(at offset: Int) -> ScriptPosition {
    let line = lineIndex(of: offset)
    let start = Int(lineStarts[line])
    let column = text(start..<min(max(offset, start), bytes.count)).count + 1
    return ScriptPosition(file: name, line: line + firstLine, column: column)
  }

  /// The line that holds a byte, without its end.
  func line(at offset: Int) -> String {
    let index = lineIndex(of: offset)
    var end = index + 1 < lineStarts.count ? Int(lineStarts[index + 1]) : bytes.count
    let start = Int(lineStarts[index])
    while end > start, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return text(start..<end)
  }

  /// How many bytes ``position(at:)`` and ``line(at:)`` will look at.
  func costOfPosition(at offset: Int) -> Int {
    let index = lineIndex(of: offset)
    let end = index + 1 < lineStarts.count ? Int(lineStarts[index + 1]) : bytes.count
    return end - Int(lineStarts[index])
  }

  /// Index of the last line that starts at or before `offset`.
  private func lineIndex(of offset: Int) -> Int {
    var (low, high) = (0, lineStarts.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if Int(lineStarts[middle]) <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }
}
