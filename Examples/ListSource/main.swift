// main.swift: a data source whose parts each implement some of its messages.
// Example: ListSource. Run it with `swift run list-source`.

import Forwardcast

/// The data source of a list. Without a target that responds, a call returns an empty value.
@Forwarded(otherwise: .emptyValues)
protocol ListSource: AnyObject {
  func numberOfRows() -> Int
  func text(ofRow row: Int) -> String
  func height(ofRow row: Int) -> Int
  func selected(_ row: Int)
}

// Default bodies take the place of optional methods, so that a class implements only what it needs.
extension ListSource {
  func numberOfRows() -> Int { 0 }
  func text(ofRow row: Int) -> String { "" }
  func height(ofRow row: Int) -> Int { 0 }
  func selected(_ row: Int) {}
}

typealias Messages = ListSourceProxy.Messages

/// Provides the rows, which have one height.
final class Names: ListSource {
  func numberOfRows() -> Int { 3 }
  func text(ofRow row: Int) -> String { ["ann", "bo", "chu"][row] }
}

/// Only observes which rows are tapped.
final class Taps: ListSource {
  func selected(_ row: Int) { print("  tapped \(row)") }
}

/// Makes the selected row larger.
final class Magnifier: ListSource {
  private var row = 0
  func height(ofRow row: Int) -> Int { row == self.row ? 60 : 20 }
  func selected(_ row: Int) { self.row = row }
}

final class List {
  let source = ListSourceProxy()

  /// Queries heights only if a target provides them, as toolkits do.
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
