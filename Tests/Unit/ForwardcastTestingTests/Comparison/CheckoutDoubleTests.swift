// CheckoutDoubleTests.swift: the checkout, tested with doubles.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

@Suite("Checkout, with doubles")
struct CheckoutDoubleTests {
  let payment = TestDouble(PaymentProxy())
  let stock = TestDouble(StockProxy())
  let mail = TestDouble(MailProxy())
  let clock = TestClock()

  let charge = PaymentProxy.Messages.charge
  let reserve = StockProxy.Messages.reserve
  let release = StockProxy.Messages.release
  let send = MailProxy.Messages.send

  var checkout: Checkout<TestClock> {
    Checkout(payment: payment.proxy, stock: stock.proxy, mail: mail.proxy, clock: clock)
  }

  @Test("stock is reserved, the card charged and the mail sent, in this order")
  func order() async throws {
    payment.stub(charge, 500, "1234").answers("r1")
    try await expect(checkout.buy(Order()), equals: "r1")
    verifyOrder(
      stock.call(reserve, "tea", 2), payment.call(charge, 500, "1234"), mail.call(send, "paid r1", "ann@example.org"))
    stock.verify(release, .any, .any, times: .never)
  }

  @Test("nothing is charged when nothing can be reserved")
  func soldOut() async {
    stock.stub(reserve, .any, .any).fails(SoldOut())
    await #expect(throws: SoldOut.self) { try await checkout.buy(Order()) }
    payment.verify(charge, .any, .any, times: .never)
  }

  @Test("a declined card releases the reserved stock, and no mail is sent afterwards")
  func declined() async {
    payment.stub(charge, .any, .any).fails(Declined())
    await #expect(throws: Declined.self) { try await checkout.buy(Order()) }
    stock.verify(release, "tea", 2, times: .once)
    verifyNever(mail.call(send, .any, .any), after: payment.call(charge, .any, .any))
  }

  @Test("a busy payment is tried once more")
  func busy() async throws {
    payment.stub(charge, .any, .any).fails(Busy()).answers("r2")
    try await expect(checkout.buy(Order()), equals: "r2")
    payment.verify(charge, 500, "1234", times: 2)
  }

  @Test("a payment that takes over ten seconds times out")
  func slow() async {
    payment.stub(charge, .any, .any).delayed(by: .seconds(30), on: clock).answers("late")
    let buying = Task { [checkout] in try await checkout.buy(Order()) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    await #expect(throws: TooSlow.self) { try await buying.value }
    stock.verify(release, "tea", 2)
  }

  @Test("an order is paid even if its mail cannot be sent")
  func mailFails() async throws {
    payment.stub(charge, .any, .any).answers("r3")
    mail.stub(send, .any, .any).fails(Busy())
    try await expect(checkout.buy(Order()), equals: "r3")
    mail.verify(send, .where("names the receipt") { $0.contains("r3") }, .any, times: .once)
  }
}
