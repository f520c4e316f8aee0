// SequenceDiagram+SVG.swift: the diagram as SVG.

import Forwardcast

extension SequenceDiagram {
  /// The diagram as an SVG document, without scripts or references.
  public var svg: String {
    let names = participants
    let column = Layout.columnWidth
    let places = Dictionary(names.enumerated().map { ($1, column / 2 + $0 * column) }) { first, _ in first }
    let (marks, omitted) = (marks, omitted)
    let rows = marks.count + (omitted > 0 ? 1 : 0)
    let width = max(names.count, 1) * column
    let height = Layout.top + rows * Layout.rowHeight + Layout.bottom
    var parts = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
        + "viewBox=\"0 0 \(width) \(height)\" font-family=\"sans-serif\" font-size=\"12\">",
      "<rect width=\"\(width)\" height=\"\(height)\" fill=\"white\"/>",
    ]
    for name in names {
      let x = places[name, default: 0]
      parts.append(line(x, 40, x, height - Layout.bottom / 2, "stroke=\"#999\""))
      parts.append(
        "<rect x=\"\(x - column / 2 + 8)\" y=\"12\" width=\"\(column - 16)\" height=\"28\" fill=\"#eef\" stroke=\"#446\"/>"
      )
      parts.append(label(name, x, 30))
    }
    for (index, mark) in marks.enumerated() {
      let y = Layout.top + index * Layout.rowHeight
      guard let start = places[mark.from], let end = places[mark.to] else { continue }
      if mark.kind == .note {
        parts.append(
          "<rect x=\"\(start - column / 2 + 4)\" y=\"\(y - 16)\" width=\"\(column - 8)\" height=\"20\" fill=\"#ffd\" stroke=\"#aa8\"/>"
        )
        parts.append(label(mark.text, start, y - 2))
      } else {
        parts += arrow(mark.kind, start, end, y)
        parts.append(label(mark.text, start == end ? start + 30 : (start + end) / 2, y - 4))
      }
    }
    if omitted > 0 { parts.append(label("and \(omitted) more", width / 2, height - Layout.bottom)) }
    return parts.joined(separator: "\n") + "\n</svg>\n"
  }

  private enum Layout {
    static let columnWidth = 200
    static let rowHeight = 32
    static let top = 72
    static let bottom = 24
  }

  private func line(_ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int, _ style: String) -> String {
    "<line x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\" \(style)/>"
  }

  private func arrow(_ kind: Mark.Kind, _ start: Int, _ end: Int, _ y: Int) -> [String] {
    let color = kind == .failure ? "#b00" : "black"
    let style = "stroke=\"\(color)\"" + (kind == .call ? "" : " stroke-dasharray=\"4 3\"")
    if start == end {
      return [
        "<path d=\"M \(start) \(y) h 24 v 10 h -24\" fill=\"none\" \(style)/>", head(start, y + 10, pointsLeft: true),
      ]
    }
    let tip = kind == .failure ? cross(end, y) : head(end, y, pointsLeft: end < start)
    return [line(start, y, end, y, style), tip]
  }

  private func head(_ x: Int, _ y: Int, pointsLeft: Bool) -> String {
    let back = pointsLeft ? x + 8 : x - 8
    return "<path d=\"M \(x) \(y) L \(back) \(y - 4) L \(back) \(y + 4) Z\"/>"
  }

  private func cross(_ x: Int, _ y: Int) -> String {
    "<path d=\"M \(x - 5) \(y - 5) l 10 10 m 0 -10 l -10 10\" stroke=\"#b00\" stroke-width=\"2\"/>"
  }

  private func label(_ text: String, _ x: Int, _ y: Int) -> String {
    "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"middle\">\(SequenceDiagram.xmlText(text))</text>"
  }

  /// Shortens text, escapes markup, and replaces characters that XML does not allow.
  static func xmlText(_ text: String) -> String {
    escaped(shortened(text, to: 30)) { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case _ where scalar == "\t" || Character(scalar).isNewline: " "
      case _ where isHidden(scalar): "\u{FFFD}"
      default: nil
      }
    }
  }
}
