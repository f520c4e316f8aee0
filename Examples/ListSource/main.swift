// main.swift: a data source in parts: each object behind it has some of its methods, and the list asks which there are.
// Example: ListSource. Run it with `swift run list-source`.

import Forwardcast

/// What a list asks and tells. Whoever is behind the proxy may leave methods out; those that answer have a value for nobody.
@Forwarded(otherwise: .emptyValues)
protocol ListSource: AnyObject {
  func numberOfRows() -> Int
  func text(ofRow row: Int) -> String
  func height(ofRow row: Int) -> Int
  func selected(_ row: Int)
}

// Swift has optional methods only for Objective-C: here the protocol has bodies, and a target says that it has none.
extension ListSource {
  func numberOfRows() -> Int { 0 }
  func text(ofRow row: Int) -> String { "" }
  func height(ofRow row: Int) -> Int { 0 }
  func selected(_ row: Int) {}
}

typealias Messages = ListSourceProxy.Messages

/// Has rows, which are all of one height.
final class Names: ListSource, PartialTarget {
  static let leftOut = [Messages.height.selector, Messages.selected.selector]
  func numberOfRows() -> Int { 3 }
  func text(ofRow row: Int) -> String { ["ann", "bo", "chu"][row] }
}

/// Knows nothing of rows but which were tapped.
final class Taps: ListSource, PartialTarget {
  static let leftOut = [Messages.numberOfRows.selector, Messages.text.selector, Messages.height.selector]
  func selected(_ row: Int) { print("  tapped \(row)") }
}

/// Makes the chosen row larger.
final class Magnifier: ListSource, PartialTarget {
  static let leftOut = [Messages.numberOfRows.selector, Messages.text.selector]
  private var row = 0
  func height(ofRow row: Int) -> Int { row == self.row ? 60 : 20 }
  func selected(_ row: Int) { self.row = row }
}

final class List {
  let source = ListSourceProxy()

  /// Rows are alike while nobody has heights: then nobody is asked for them, as a toolkit does it.
  func show() {
    let asks = source.responds(to: Messages.height.selector)
    let rows = (0..<source.numberOfRows()).map { "\(source.text(ofRow: $0)) \(asks ? source.height(ofRow: $0) : 20)" }
    print(rows.isEmpty ? "empty" : rows.joined(separator: " | "), asks ? "(asked)" : "(all alike)")
  }
}

let list = List()
list.show()
let (names, taps, magnifier) = (Names(), Taps(), Magnifier())
list.source.add(names)
list.source.add(taps)
list.show()
list.source.add(magnifier)
list.source.selected(1)
list.show()
list.source.remove(magnifier)
list.show()

// Prints:
// empty (all alike)
// ann 20 | bo 20 | chu 20 (all alike)
//   tapped 1
// ann 20 | bo 60 | chu 20 (asked)
// ann 20 | bo 20 | chu 20 (all alike)
