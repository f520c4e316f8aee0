// TypesCommand.swift: `forwardcast types`.

import Forwardcast
import ForwardcastScript

struct TypesCommand {
  let encoding: String

  func run() -> Status {
    do throws(TypeEncodingError) {
      Stream.output.write(try table())
      return .success
    } catch {
      let bytes = Array(encoding.utf8)
      let excerpt = CaretExcerpt(bytes, line: bytes.indices, at: error.byteOffset)
      let style = Style(.error)
      let text = "invalid type encoding: \(ShownText.shown("\(error)", limit: 160))"
      Stream.error.write("\(style.red("error:")) \(text)\n\(excerpt.line)\n\(style.green(excerpt.caret))\n")
      return .usage
    }
  }

  private func table() throws(TypeEncodingError) -> String {
    let signature: MethodSignature
    do throws(TypeEncodingError) {
      signature = try MethodSignature(encoding)
    } catch {
      // The text might be a single type instead of a method. If it is not a type either, the error
      // for the method is thrown.
      guard let type = try? TypeEncoding(encoding) else { throw error }
      return Self.text([Self.heading, row("type", type, type.layout, offset: nil)])
    }
    var rows = [Self.heading, row("return", signature.returnType, signature.returnType.layout, offset: nil)]
    let places = zip(signature.argumentLayouts, signature.argumentOffsets)
    for (index, (type, (layout, offset))) in zip(signature.argumentTypes, places).enumerated() {
      rows.append(row("\(index)", type, layout, offset: offset))
    }
    let frame = signature.frameLength.map { "frame: \($0) bytes\n" } ?? "frame: no size\n"
    return Self.text(rows) + frame
  }

  private static let heading = ["index", "type", "meaning", "size", "alignment", "offset"]

  private func row(_ index: String, _ type: TypeEncoding, _ layout: TypeLayout?, offset: Int?) -> [String] {
    let numbers = [layout?.size, layout?.alignment, offset]
    let words = [type.description, type.meaning].map { ShownText.shown($0, limit: 160) }
    return [index] + words + numbers.map { $0.map(String.init) ?? "-" }
  }

  /// Aligns the rows in columns, with numbers to the right.
  private static func text(_ rows: [[String]]) -> String {
    let widths = heading.indices.map { column in rows.map { ShownText.width($0[column]) }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - ShownText.width(cell))
        return column < 3 ? cell + padding : padding + cell
      }
      return cells.joined(separator: "  ") + "\n"
    }.joined()
  }
}
