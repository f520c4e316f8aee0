// Helpers.swift: small objects behind a table, each of which does one thing. They know the table and nothing else.
// Example: Cart.

import Forwardcast

/// A copy of the toolkit's delegate, which cannot be marked itself: what the attribute writes here is a `TableDelegate`.
@Forwarded(as: (any TableDelegate).self)
protocol CartTableDelegate: AnyObject {
  func table(_ table: Table, didSelectRow row: Int)
}

/// Turns the cart into rows of text.
final class CartRows: TableDataSource {
  private let cart: Cart
  init(_ cart: Cart) { self.cart = cart }

  func numberOfRows(in table: Table) -> Int { cart.items.count }
  func table(_ table: Table, textForRow row: Int) -> String { cart.items[row].name }
}

/// Counts taps, for the shop's statistics.
final class TapCounter: TableDelegate {
  private(set) var taps = 0

  func table(_ table: Table, didSelectRow row: Int) { taps += 1 }
}

/// Takes the tapped row out of the cart. The cart then tells every page, this table's among them.
final class RowRemover: TableDelegate {
  private let cart: Cart
  init(_ cart: Cart) { self.cart = cart }

  func table(_ table: Table, didSelectRow row: Int) { cart.takeOut(at: row) }
}
