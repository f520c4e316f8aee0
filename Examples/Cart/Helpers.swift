// Helpers.swift: one proxy is data source and delegate of a table; small objects behind it each do one thing.
// Example: Cart.

import Forwardcast

/// An object behind the table's proxy: it has rows for those messages that it cares about.
protocol TableHelper: MessageReceiver {}

extension Message<(Table) -> Int> { static var rowCount: Self { .init("numberOfRowsInTable:") } }
extension Message<(Table, Int) -> String> { static var text: Self { .init("table:textForRow:") } }
extension Message<(Table, Int) -> Void> { static var didSelect: Self { .init("table:didSelectRow:") } }

extension MulticastProxy: TableDataSource where Interface == any TableHelper {
  // A view's question cannot throw; the helpers do not, and without one that answers the table is empty.
  func numberOfRows(in table: Table) -> Int { (try? collect(.rowCount, table, returning: .first)) ?? 0 }
  func table(_ table: Table, textForRow row: Int) -> String {
    (try? collect(.text, table, row, returning: .first)) ?? ""
  }
}

extension MulticastProxy: TableDelegate where Interface == any TableHelper {
  func table(_ table: Table, didSelectRow row: Int) { broadcast(.didSelect, table, row) }
}

/// Turns the cart into rows of text.
final class CartRows: TableHelper {
  private let cart: Cart
  init(_ cart: Cart) { self.cart = cart }

  static let selectorTable = SelectorTable(for: CartRows.self) {
    Responds(to: .rowCount) { helper, _ in helper.cart.items.count }
    Responds(to: .text) { helper, _, row in helper.cart.items[row].name }
  }
}

/// Counts taps, for the shop's statistics.
final class TapCounter: TableHelper {
  private(set) var taps = 0

  static let selectorTable = SelectorTable(for: TapCounter.self) {
    Responds(to: .didSelect) { counter, _, _ in counter.taps += 1 }
  }
}

/// Takes the tapped row out of the cart. The cart then tells every page, this table's among them.
final class RowRemover: TableHelper {
  private let cart: Cart
  init(_ cart: Cart) { self.cart = cart }

  static let selectorTable = SelectorTable(for: RowRemover.self) {
    Responds(to: .didSelect) { remover, _, row in remover.cart.takeOut(at: row) }
  }
}
