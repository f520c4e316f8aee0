// Pages.swift: pages that show one cart independently, and the helpers of a table.
// Example: Cart.

import Forwardcast

/// The number of items on the shop's front page.
final class Badge: CartDelegate {
  func cartDidChange(_ cart: Cart) { print("  badge: \(cart.items.count)") }
}

/// The page for the payment.
final class Checkout: CartDelegate {
  func cartDidChange(_ cart: Cart) { print("  to pay: \(cart.cents) cents") }
}

/// The page that lists the cart in a table, with the helpers below.
final class ListPage: CartDelegate {
  let table = Table()
  /// The single delegate of the table, which holds it weakly: a proxy with several targets.
  private let taps = CartTableDelegateProxy()
  private let rows: CartRows
  let counter = TapCounter()

  init(_ cart: Cart) {
    rows = CartRows(cart)
    taps.add(counter)
    // Removes the tapped row from the cart, which then notifies every page, including this one.
    taps.on(CartTableDelegateProxy.Messages.table) { _, row in cart.takeOut(at: row) }
    table.dataSource = rows
    table.delegate = taps
  }

  func cartDidChange(_ cart: Cart) { table.reload() }
}

/// A copy of the toolkit's delegate. The generated proxy conforms to `TableDelegate`.
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

/// Counts taps for the shop's statistics.
final class TapCounter: TableDelegate {
  private(set) var taps = 0

  func table(_ table: Table, didSelectRow row: Int) { taps += 1 }
}
