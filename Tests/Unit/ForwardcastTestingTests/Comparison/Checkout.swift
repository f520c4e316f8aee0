// Checkout.swift: a small program that is tested with hand-made mocks and with doubles.

import Forwardcast

@Forwarded
protocol Payment: AnyObject, Sendable {
  func charge(_ cents: Int, to card: String) async throws -> String
}

@Forwarded
protocol Stock: AnyObject, Sendable {
  func reserve(_ item: String, count: Int) throws
  func release(_ item: String, count: Int)
}

@Forwarded
protocol Mail: AnyObject, Sendable {
  func send(_ text: String, to address: String) throws
}

struct Declined: Error, Equatable {}
struct SoldOut: Error, Equatable {}
struct TooSlow: Error, Equatable {}

struct Order: Sendable {
  var item = "tea"
  var count = 2
  var cents = 500
  var card = "1234"
  var address = "ann@example.org"
}

/// Reserves, charges and sends a mail. A busy payment is tried once more, a slow one canceled.
struct Checkout<C: Clock>: Sendable where C.Duration == Duration {
  let payment: any Payment
  let stock: any Stock
  let mail: any Mail
  let clock: C

  func buy(_ order: Order) async throws -> String {
    try stock.reserve(order.item, count: order.count)
    do {
      let receipt = try await charge(order)
      try? mail.send("paid \(receipt)", to: order.address)
      return receipt
    } catch {
      stock.release(order.item, count: order.count)
      throw error
    }
  }

  private func charge(_ order: Order) async throws -> String {
    do { return try await chargeInTime(order) } catch is Busy { return try await chargeInTime(order) }
  }

  private func chargeInTime(_ order: Order) async throws -> String {
    try await withThrowingTaskGroup(of: String.self) { group in
      group.addTask { try await payment.charge(order.cents, to: order.card) }
      group.addTask {
        try await clock.sleep(for: .seconds(10))
        throw TooSlow()
      }
      defer { group.cancelAll() }
      guard let receipt = try await group.next() else { throw TooSlow() }
      return receipt
    }
  }
}
