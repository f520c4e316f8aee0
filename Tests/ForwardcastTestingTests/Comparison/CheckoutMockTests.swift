// CheckoutMockTests.swift: the checkout, tested with mocks that are made by hand.
// Layer: Tests.

import Forwardcast
import ForwardcastTesting
import Synchronization
import Testing

/// What happened, to all mocks of one test.
private final class Events: Sendable {
  private let list = Mutex<[String]>([])
  var all: [String] { list.withLock { $0 } }
  func add(_ event: String) { list.withLock { $0.append(event) } }
}

private final class MockPayment: Payment {
  struct Charge: Equatable {
    let cents: Int
    let card: String
  }
  private struct State {
    var charges: [Charge] = []
    var results: [Result<String, any Error>] = []
    var delay: Duration?
  }
  private let state = Mutex(State())
  private let events: Events
  private let clock: TestClock

  init(_ events: Events, _ clock: TestClock) { (self.events, self.clock) = (events, clock) }

  var charges: [Charge] { state.withLock { $0.charges } }
  func answer(_ results: Result<String, any Error>..., after delay: Duration? = nil) {
    state.withLock { ($0.results, $0.delay) = (results, delay) }
  }

  func charge(_ cents: Int, to card: String) async throws -> String {
    events.add("charge \(cents) \(card)")
    let (result, delay) = state.withLock { state in
      state.charges.append(Charge(cents: cents, card: card))
      let result = state.results.count > 1 ? state.results.removeFirst() : state.results.first
      return (result, state.delay)
    }
    if let delay { try await clock.sleep(for: delay) }
    guard let result else { throw Unstubbed() }
    return try result.get()
  }
}

private final class MockStock: Stock {
  struct Entry: Equatable {
    let item: String
    let count: Int
  }
  private struct State {
    var reserved: [Entry] = []
    var released: [Entry] = []
    var error: (any Error)?
  }
  private let state = Mutex(State())
  private let events: Events

  init(_ events: Events) { self.events = events }

  var reserved: [Entry] { state.withLock { $0.reserved } }
  var released: [Entry] { state.withLock { $0.released } }
  func fail(_ error: any Error) { state.withLock { $0.error = error } }

  func reserve(_ item: String, count: Int) throws {
    events.add("reserve \(item) \(count)")
    let error = state.withLock { state in
      state.reserved.append(Entry(item: item, count: count))
      return state.error
    }
    if let error { throw error }
  }

  func release(_ item: String, count: Int) {
    events.add("release \(item) \(count)")
    state.withLock { $0.released.append(Entry(item: item, count: count)) }
  }
}

private final class MockMail: Mail {
  struct Letter: Equatable {
    let text: String
    let address: String
  }
  private let state = Mutex<(letters: [Letter], error: (any Error)?)>(([], nil))
  private let events: Events

  init(_ events: Events) { self.events = events }

  var letters: [Letter] { state.withLock { $0.letters } }
  func fail(_ error: any Error) { state.withLock { $0.error = error } }

  func send(_ text: String, to address: String) throws {
    events.add("send \(text) \(address)")
    let error = state.withLock { state in
      state.letters.append(Letter(text: text, address: address))
      return state.error
    }
    if let error { throw error }
  }
}

private struct Unstubbed: Error {}

@Suite("Checkout, with mocks made by hand")
struct CheckoutMockTests {
  private let events = Events()
  private let clock = TestClock()
  private let payment: MockPayment
  private let stock: MockStock
  private let mail: MockMail

  init() {
    payment = MockPayment(events, clock)
    stock = MockStock(events)
    mail = MockMail(events)
  }

  private var checkout: Checkout<TestClock> { Checkout(payment: payment, stock: stock, mail: mail, clock: clock) }

  @Test("an order is reserved, charged and confirmed, in this order")
  func order() async throws {
    payment.answer(.success("r1"))
    #expect(try await checkout.buy(Order()) == "r1")
    #expect(events.all == ["reserve tea 2", "charge 500 1234", "send paid r1 ann@example.org"])
    #expect(stock.released.isEmpty)
  }

  @Test("nothing is charged when nothing can be reserved")
  func soldOut() async {
    stock.fail(SoldOut())
    await #expect(throws: SoldOut.self) { try await checkout.buy(Order()) }
    #expect(payment.charges.isEmpty)
  }

  @Test("a declined card releases what was reserved, and nobody gets a mail after it")
  func declined() async {
    payment.answer(.failure(Declined()))
    await #expect(throws: Declined.self) { try await checkout.buy(Order()) }
    #expect(stock.released == [.init(item: "tea", count: 2)])
    #expect(payment.charges.count == 1 && mail.letters.isEmpty)
  }

  @Test("a busy payment is tried once more")
  func busy() async throws {
    payment.answer(.failure(Busy()), .success("r2"))
    #expect(try await checkout.buy(Order()) == "r2")
    #expect(payment.charges == [.init(cents: 500, card: "1234"), .init(cents: 500, card: "1234")])
  }

  @Test("a payment that takes over ten seconds is given up")
  func slow() async {
    payment.answer(.success("late"), after: .seconds(30))
    let buying = Task { [checkout] in try await checkout.buy(Order()) }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    await #expect(throws: TooSlow.self) { try await buying.value }
    #expect(stock.released == [.init(item: "tea", count: 2)])
  }

  @Test("an order is paid although its mail cannot be sent")
  func mailFails() async throws {
    payment.answer(.success("r3"))
    mail.fail(Busy())
    #expect(try await checkout.buy(Order()) == "r3")
    #expect(mail.letters.count == 1 && mail.letters.first?.text.contains("r3") == true)
  }
}
