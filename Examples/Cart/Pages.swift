// Pages.swift: pages that show one cart and know nothing of one another.
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

/// The page that lists the cart in a table. Its helpers do the work: see Helpers.swift.
final class ListPage: CartDelegate {
  let table = Table()
  /// Delegate and data source of the table, both in one. The table does not keep it, this page does.
  private let helpers = MulticastProxy<any TableHelper>()
  private let rows: CartRows
  private let remover: RowRemover
  private let counter = TapCounter()

  init(_ cart: Cart) {
    rows = CartRows(cart)
    remover = RowRemover(cart)
    for helper: any TableHelper in [rows, counter, remover] { helpers.add(helper) }
    table.dataSource = helpers
    table.delegate = helpers
  }

  var taps: Int { counter.taps }

  func cartDidChange(_ cart: Cart) { table.reload() }
}
