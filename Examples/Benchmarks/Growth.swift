// Growth.swift: a drawing of the cost against the number of targets.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Curves of the cost per delivery against N, on logarithmic axes. Counterparts are dashed.
struct Growth {
  private struct Curve {
    let name: String
    let color: String
    let ours: [(n: Int, cost: Double)]
    let reference: [(n: Int, cost: Double)]
  }

  private let curves: [Curve]
  private let width = 960.0
  private let height = 560.0
  private let left = 70.0
  private let right = 320.0
  private let top = 50.0
  private let bottom = 60.0
  private static let colors = ["#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#117a65", "#5d6d7e", "#ad1457"]

  /// Uses every line that has a cost per delivery at two sizes or more.
  init(_ figures: [Figure]) {
    var names: [String] = []
    for figure in figures where figure.unit == "ns/delivery" {
      let name = "\(figure.row): \(figure.name)"
      if !names.contains(name) { names.append(name) }
    }
    curves = names.enumerated().compactMap { index, name in
      let own = figures.filter { "\($0.row): \($0.name)" == name && $0.unit == "ns/delivery" }.sorted { $0.n < $1.n }
      guard own.count > 1 else { return nil }
      return Curve(
        name: name, color: Growth.colors[index % Growth.colors.count], ours: own.map { ($0.n, $0.ours) },
        reference: own.compactMap { figure in figure.reference.map { (figure.n, $0) } })
    }
  }

  /// The drawing as an SVG file; `nil` if there is nothing to draw.
  var svg: String? {
    let points = curves.flatMap { $0.ours + $0.reference }.filter { $0.cost > 0 }
    guard let low = points.map(\.cost).min(), let high = points.map(\.cost).max(), let widest = points.map(\.n).max(),
      let narrowest = points.map(\.n).min(), widest > narrowest
    else { return nil }
    let (floor, ceiling) = (decade(below: low), decade(above: high))
    let span = (log(Double(narrowest)), log(Double(widest)))
    func x(_ n: Int) -> Double { left + (log(Double(n)) - span.0) / (span.1 - span.0) * (width - left - right) }
    func y(_ cost: Double) -> Double {
      height - bottom - (log(cost) - log(floor)) / (log(ceiling) - log(floor)) * (height - top - bottom)
    }
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Int(width))\" height=\"\(Int(height))\" "
        + "viewBox=\"0 0 \(Int(width)) \(Int(height))\" font-family=\"sans-serif\" font-size=\"13\">",
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
      text("Cost of one delivery against the number of targets", x: left, y: 28, size: 16),
    ]
    for tick in ticks(floor, ceiling) {
      lines.append(line((left, y(tick)), (width - right, y(tick)), "#dddddd"))
      lines.append(text(tick < 1 ? tick.text(1) : tick.text(0), x: left - 8, y: y(tick) + 4, anchor: "end"))
    }
    for n in Set(points.map(\.n)).sorted() {
      lines.append(line((x(n), top), (x(n), height - bottom), "#dddddd"))
      lines.append(text("\(n)", x: x(n), y: height - bottom + 20, anchor: "middle"))
    }
    lines.append(text("targets (N)", x: (left + width - right) / 2, y: height - 16, anchor: "middle"))
    lines.append(
      "<text transform=\"translate(20 \(((top + height - bottom) / 2).text(1))) rotate(-90)\" text-anchor=\"middle\">"
        + "ns per delivery</text>")
    for (index, curve) in curves.enumerated() {
      for (list, dash) in [(curve.ours, ""), (curve.reference, " stroke-dasharray=\"5 4\" stroke-opacity=\"0.7\"")] {
        let path = list.filter { $0.cost > 0 }.map { "\(x($0.n).text(1)),\(y($0.cost).text(1))" }
        lines.append(
          "<polyline points=\"\(path.joined(separator: " "))\" fill=\"none\" stroke=\"\(curve.color)\" "
            + "stroke-width=\"2\"\(dash)/>")
      }
      for point in curve.ours where point.cost > 0 {
        lines.append(
          "<circle cx=\"\(x(point.n).text(1))\" cy=\"\(y(point.cost).text(1))\" r=\"3.5\" fill=\"\(curve.color)\"/>")
      }
      let row = top + 14 + Double(index) * 22
      lines.append(line((width - right + 24, row - 4), (width - right + 52, row - 4), curve.color, width: 3))
      lines.append(text(curve.name, x: width - right + 60, y: row))
    }
    let note = top + 24 + Double(curves.count) * 22
    lines.append(text("solid: Forwardcast", x: width - right + 24, y: note))
    lines.append(text("dashed, same color: written by hand", x: width - right + 24, y: note + 20))
    return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  private func line(_ from: (Double, Double), _ to: (Double, Double), _ color: String, width: Int = 1) -> String {
    "<line x1=\"\(from.0.text(1))\" y1=\"\(from.1.text(1))\" x2=\"\(to.0.text(1))\" y2=\"\(to.1.text(1))\" "
      + "stroke=\"\(color)\" stroke-width=\"\(width)\"/>"
  }

  private func text(_ text: String, x: Double, y: Double, anchor: String = "start", size: Int = 13) -> String {
    let escaped = text.map { ["<": "&lt;", ">": "&gt;", "&": "&amp;"][$0] ?? String($0) }.joined()
    return
      "<text x=\"\(x.text(1))\" y=\"\(y.text(1))\" text-anchor=\"\(anchor)\" font-size=\"\(size)\">\(escaped)</text>"
  }

  private func decade(below value: Double) -> Double {
    var decade = 1.0
    while decade > value { decade /= 10 }
    while decade * 10 <= value { decade *= 10 }
    return decade
  }

  private func decade(above value: Double) -> Double { decade(below: value) * 10 }

  private func ticks(_ floor: Double, _ ceiling: Double) -> [Double] {
    sequence(first: floor) { $0 * 10 }.prefix { $0 <= ceiling * 1.01 }.map { $0 }
  }
}
