// main.swift: a cart notifies its pages in order; one of them shows it in a table.
// Example: Cart. Run it with `swift run cart`.

let cart = Cart()
let badge = Badge()
let list = ListPage(cart)
var checkout: Checkout? = Checkout()

cart.pages.add(badge)
cart.pages.add(list)
if let checkout { cart.pages.add(checkout) }

// When `put` returns, every page shows the change.
cart.put(Item(name: "tea", cents: 450))
cart.put(Item(name: "cups", cents: 1200))

// A page that was released receives no further calls and need not be removed.
checkout = nil
cart.put(Item(name: "biscuits", cents: 299))

// The table calls the proxy, whose closure changes the cart, which notifies all pages.
list.table.tap(row: 1)
print("\(list.counter.taps) tap, \(cart.pages.count) pages")

// Prints:
// put tea
//   badge: 1
//   table: tea
//   to pay: 450 cents
// put cups
//   badge: 2
//   table: tea | cups
//   to pay: 1650 cents
// put biscuits
//   badge: 3
//   table: tea | cups | biscuits
// take out cups
//   badge: 2
//   table: tea | biscuits
// 1 tap, 2 pages
