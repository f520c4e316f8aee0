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
  /// The table has one delegate, and this one stands for several. The table does not keep it, this page does.
  private let taps = CartTableDelegateProxy()
  private let rows: CartRows
  private let remover: RowRemover
  private let counter = TapCounter()

  init(_ cart: Cart) {
    rows = CartRows(cart)
    remover = RowRemover(cart)
    taps.add(counter)
    taps.add(remover)
    table.dataSource = rows
    table.delegate = taps
  }

  var tapCount: Int { counter.taps }

  func cartDidChange(_ cart: Cart) { table.reload() }
}
