// Cart.swift: the model that several pages show.
// Example: Cart.

import Forwardcast

struct Item: Sendable {
  let name: String
  let cents: Int
}

/// A page of the shop, which is notified synchronously of every change.
@Forwarded
protocol CartDelegate: AnyObject {
  func cartDidChange(_ cart: Cart)
}

final class Cart {
  /// The pages that show this cart, held weakly.
  let pages = CartDelegateProxy()

  private(set) var items: [Item] = [] {
    didSet { pages.cartDidChange(self) }
  }

  var cents: Int { items.reduce(0) { $0 + $1.cents } }

  func put(_ item: Item) {
    print("put \(item.name)")
    items.append(item)
  }

  func takeOut(at index: Int) {
    print("take out \(items[index].name)")
    items.remove(at: index)
  }
}
