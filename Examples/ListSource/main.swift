// main.swift: a data source in parts: each object is added for some of its messages, and the list asks which there are.
// Example: ListSource. Run it with `swift run list-source`.

import Forwardcast

/// What a list asks and tells. For what nobody answers there is an empty value.
@Forwarded(otherwise: .emptyValues)
protocol ListSource: AnyObject {
  func numberOfRows() -> Int
  func text(ofRow row: Int) -> String
  func height(ofRow row: Int) -> Int
  func selected(_ row: Int)
}

// Swift has optional methods only for Objective-C: elsewhere an extension has bodies, so that a class writes what it has.
extension ListSource {
  func numberOfRows() -> Int { 0 }
  func text(ofRow row: Int) -> String { "" }
  func height(ofRow row: Int) -> Int { 0 }
  func selected(_ row: Int) {}
}

typealias Messages = ListSourceProxy.Messages

/// Has rows, which are all of one height.
final class Names: ListSource {
  func numberOfRows() -> Int { 3 }
  func text(ofRow row: Int) -> String { ["ann", "bo", "chu"][row] }
}

/// Knows nothing of rows but which were tapped.
final class Taps: ListSource {
  func selected(_ row: Int) { print("  tapped \(row)") }
}

/// Makes the chosen row larger.
final class Magnifier: ListSource {
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
list.source.add(names, only: [Messages.numberOfRows.selector, Messages.text.selector])
list.source.add(taps, only: Messages.selected)
list.show()
list.source.add(magnifier, only: [Messages.height.selector, Messages.selected.selector])
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
