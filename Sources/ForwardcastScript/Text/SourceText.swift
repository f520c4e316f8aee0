// SourceText.swift: the text of a script, with its lines and columns.

import Forwardcast

/// The text of one script. Positions are byte offsets; lines and columns are computed on demand.
final class SourceText: Sendable {
  /// The source of errors that have no position yet.
  static let nowhere = SourceText("", name: "")

  let name: String
  let bytes: [UInt8]
  /// The number of the first line. More than 1 for a later part of a longer text.
  private let firstLine: Int
  private let lineStarts: [Int32]
  private let isASCII: Bool
  /// The columns of some bytes in long lines that are not ASCII, so a search for a column is short.
  private let columns: [(offset: Int32, column: Int32)]
  private static let columnStride = 4096

  /// - Parameter text: cut one byte after ``ScriptLimits/text``, so that the lexer reports the cut.
  init(_ text: String, name: String, firstLine: Int = 1) {
    (self.name, self.firstLine) = (name, min(firstLine, .max / 2))  // line numbers cannot overflow
    let marked = firstLine == 1 && text.utf8.starts(with: [0xEF, 0xBB, 0xBF])  // a byte order mark
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

  /// A selector's name, checked against the grammar and not interned.
  func checkedSelector(_ name: String, at offset: Int) throws -> String {
    do {
      _ = try MessageSelector.numberOfArguments(inName: name)
    } catch {
      throw ScriptError(error).placed(at: offset, of: self)
    }
    return name
  }

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

  func line(at offset: Int) -> String { text(lineBounds(at: offset)) }

  func excerpt(at offset: Int) -> CaretExcerpt { CaretExcerpt(bytes, line: lineBounds(at: offset), at: offset) }

  private func lineBounds(at offset: Int) -> Range<Int> {
    let index = lineIndex(of: offset)
    var end = index + 1 < lineStarts.count ? Int(lineStarts[index + 1]) : bytes.count
    let start = Int(lineStarts[index])
    while end > start, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return start..<end
  }

  private func lineIndex(of offset: Int) -> Int { SourceText.last(in: lineStarts) { $0 <= offset } ?? 0 }

  /// Binary search for the last element for which `holds` is true. The condition must also hold for
  /// all elements before that element.
  private static func last<Element>(in elements: [Element], where holds: (Element) -> Bool) -> Int? {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(elements[middle]) { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : low - 1
  }
}
