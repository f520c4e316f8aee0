// GettingStarted.swift: the code of the page "Getting Started".

// snippet: start-protocol
import Forwardcast
// end
import TestSupport
import Testing

// snippet: start-protocol
@Forwarded
protocol CartDelegate: AnyObject {
  func cart(didAdd item: String, price: Int)
  @Answer(.sum) func pagesShown() -> Int
}
// end

// snippet: start-target
final class CartPage: CartDelegate {
  var total = 0
  func cart(didAdd item: String, price: Int) { total += price }
  func pagesShown() -> Int { 1 }
}
// end

// snippet: start-sender
final class Cart {
  let pages = CartDelegateProxy()
  func add(_ item: String, price: Int) {
    pages.cart(didAdd: item, price: price)
  }
}
// end

// snippet: start-receiver
@Receiver
final class Kettle {
  var degrees = 20
  @Message func heat(to degrees: Int) -> String {
    self.degrees = degrees
    return "heating"
  }
}
// end

@Suite("Getting Started")
struct GettingStarted {
  @Test("each call reaches the pages that are still alive")
  func pages() throws {
    // snippet: start-use
    let cart = Cart()
    let badge = CartPage()
    var checkout: CartPage? = CartPage()
    cart.pages.add(badge)
    if let checkout { cart.pages.add(checkout) }

    cart.add("tea", price: 450)  // calls both pages
    checkout = nil  // deallocated; no removal is needed
    cart.add("cups", price: 1200)  // calls the badge
    // end
    #expect(checkout == nil && badge.total == 1650 && cart.pages.count == 1)
    // snippet: start-answers
    let shown = cart.pages.pagesShown()  // 1: the sum; only the badge is left
    let each = try cart.pages.pagesShown(returning: .all)  // [1]
    // end
    expect(shown, equals: 1)
    expect(each, equals: [1])
    // snippet: start-closure
    var total = 0
    let token = cart.pages.on(CartDelegateProxy.Messages.cart) { item, price in
      total += price
    }
    cart.add("sugar", price: 99)
    token.cancel()
    // end
    cart.add("salt", price: 99)
    expect(total, equals: 99)
    withExtendedLifetime(badge) {}
  }

  @Test("an object receives messages by name")
  func receiver() throws {
    // snippet: start-send
    let kettle = Kettle()
    let answer: String = try kettle.dynamic.heat(to: 80)  // sends "heatTo:"
    var message = Invocation("heatTo:", arguments: [ArgumentBox(90)])
    try kettle.perform(&message)
    // end
    #expect(answer == "heating" && kettle.degrees == 90)
    try expect(message.result?.unbox(as: String.self), equals: "heating")
  }
}
