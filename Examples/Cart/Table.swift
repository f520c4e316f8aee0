// Table.swift: a toolkit's view with a single data source and a single delegate.
// Example: Cart.

protocol TableDataSource: AnyObject {
  func numberOfRows(in table: Table) -> Int
  func table(_ table: Table, textForRow row: Int) -> String
}

protocol TableDelegate: AnyObject {
  func table(_ table: Table, didSelectRow row: Int)
}

final class Table {
  weak var dataSource: (any TableDataSource)?
  weak var delegate: (any TableDelegate)?

  func reload() {
    guard let dataSource else { return }
    let rows = (0..<dataSource.numberOfRows(in: self)).map { dataSource.table(self, textForRow: $0) }
    print("  table: \(rows.isEmpty ? "empty" : rows.joined(separator: " | "))")
  }

  /// Called by the toolkit when the user taps a row.
  func tap(row: Int) { delegate?.table(self, didSelectRow: row) }
}
