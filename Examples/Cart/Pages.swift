// Pages.swift: pages that show one cart and know nothing of one another, and the small objects behind a table.
// Example: Cart.

import Forwardcast

/// The number on the shop's front page.
final class Badge: CartDelegate {
  func cartDidChange(_ cart: Cart) { print("  badge: \(cart.items.count)") }
}

/// The page on which one pays.
final class Checkout: CartDelegate {
  func cartDidChange(_ cart: Cart) { print("  to pay: \(cart.cents) cents") }
}

/// The page that lists the cart in a table. Its helpers do the work: they stand below.
final class ListPage: CartDelegate {
  let table = Table()
  /// The table has one delegate, and this one stands for several. The table does not keep it, this page does.
  private let taps = CartTableDelegateProxy()
  private let rows: CartRows
  let counter = TapCounter()

  init(_ cart: Cart) {
    rows = CartRows(cart)
    taps.add(counter)
    // Takes the tapped row out of the cart, which then tells every page, this one among them.
    taps.on(CartTableDelegateProxy.Messages.table) { _, row in cart.takeOut(at: row) }
    table.dataSource = rows
    table.delegate = taps
  }

  func cartDidChange(_ cart: Cart) { table.reload() }
}

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
