// SourceText.swift: one script's text, and where in it something stands.

import Forwardcast

/// The text of one script. Everything later refers to it by byte offset; lines and columns are counted when asked for.
final class SourceText: Sendable {
  /// What positions call the text: a file's name as the user gave it.
  let name: String
  let bytes: [UInt8]
  /// The number of the first line: more than 1 where a text is a later part of a conversation.
  private let firstLine: Int
  private let lineStarts: [Int32]
  /// Whether every character is one byte.
  private let isASCII: Bool
  /// In long lines that are not ASCII: a byte every few thousand, with its column from 0. So a column is found in the
  /// same time wherever it is.
  private let columns: [(offset: Int32, column: Int32)]
  private static let columnStride = 4096

  /// - Parameter text: at most ``ScriptLimits/text`` bytes; a longer one is cut there, and the lexer says so.
  init(_ text: String, name: String, firstLine: Int = 1) {
    (self.name, self.firstLine) = (name, min(firstLine, .max / 2))  // so that any line has a number
    let marked = text.utf8.starts(with: [0xEF, 0xBB, 0xBF])  // a byte order mark
    let bytes = Array(text.utf8.dropFirst(marked ? 3 : 0).prefix(ScriptLimits.current.text + 1))
    var starts: [Int32] = [0]
    var bits: UInt8 = 0
    for (offset, byte) in bytes.enumerated() {
      bits |= byte
      // A line ends after `\n`, after `\r\n`, and after a `\r` that stands alone.
      let next = offset + 1
      guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
      if byte == UInt8(ascii: "\n") || next == bytes.count || bytes[next] != UInt8(ascii: "\n") {
        starts.append(Int32(next))
      }
    }
    (self.bytes, lineStarts, isASCII) = (bytes, starts, bits < 0x80)
    columns = isASCII ? [] : SourceText.columns(of: bytes, starts)
  }

  private static func columns(of bytes: [UInt8], _ starts: [Int32]) -> [(Int32, Int32)] {
    var columns: [(Int32, Int32)] = []
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? Int(starts[index + 1]) : bytes.count
      guard end - Int(start) > columnStride else { continue }
      var (offset, column, last) = (Int(start), 0, Int(start))
      for character in String(decoding: bytes[offset..<end], as: UTF8.self) {
        if offset - last >= columnStride {
          columns.append((Int32(offset), Int32(column)))
          last = offset
        }
        offset += character.utf8.count
        column += 1
      }
    }
    return columns
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The name of a selector, checked and not interned.
  func checkedSelector(_ name: String, at offset: Int) throws -> String {
    do {
      _ = try MessageSelector.numberOfArguments(inName: name)
    } catch {
      throw ScriptError(ScriptFault(.invalidSelector, "\(error)"), at: offset, of: self)
    }
    return name
  }

  /// File, line and column of a byte; lines and columns count from 1, columns in characters.
  func position(at offset: Int) -> ScriptPosition {
    let line = lineIndex(of: offset)
    let start = Int(lineStarts[line])
    let offset = min(max(offset, start), bytes.count)
    return ScriptPosition(file: name, line: line + firstLine, column: column(of: offset, from: start) + 1)
  }

  private func column(of offset: Int, from start: Int) -> Int {
    if isASCII { return offset - start }
    let index = SourceText.last(in: columns, where: { $0.offset <= offset })
    guard let index, columns[index].offset >= start else { return text(start..<offset).count }
    return Int(columns[index].column) + text(Int(columns[index].offset)..<offset).count
  }

  /// The line that holds a byte, without its end.
  func line(at offset: Int) -> String { text(lineBounds(at: offset)) }

  /// The part of the line around a byte, and a caret under it.
  func excerpt(at offset: Int) -> CaretExcerpt { CaretExcerpt(bytes, line: lineBounds(at: offset), at: offset) }

  private func lineBounds(at offset: Int) -> Range<Int> {
    let index = lineIndex(of: offset)
    var end = index + 1 < lineStarts.count ? Int(lineStarts[index + 1]) : bytes.count
    let start = Int(lineStarts[index])
    while end > start, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return start..<end
  }

  private func lineIndex(of offset: Int) -> Int { SourceText.last(in: lineStarts) { $0 <= offset } ?? 0 }

  /// Index of the last element for which `holds` is true, as it is for all before it.
  private static func last<Element>(in elements: [Element], where holds: (Element) -> Bool) -> Int? {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(elements[middle]) { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : low - 1
  }
}
