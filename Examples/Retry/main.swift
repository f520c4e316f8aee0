// main.swift: hooks that log, retry and cache the calls of an asynchronous service.
// Example: Retry. Run it with `swift run retry`.

import Forwardcast

struct Offline: Error {}

/// The service, which fails sometimes, like a network service.
@Receiver
actor PriceService {
  private var asked = 0

  init() { print("  (service started)") }

  @Message func price(of item: String) async throws -> Int {
    asked += 1
    print("  service asked for \(item)")
    if asked == 1 { throw Offline() }
    return item.count * 100
  }
}

/// A cache of prices.
actor Cache {
  private var prices: [String: Int] = [:]
  func price(of item: String) -> Int? { prices[item] }
  func keep(_ price: Int?, of item: String) { prices[item] = price }
}

extension Message<(String) -> Int> { static var price: Self { .init("priceOf:") } }

// The service is created by the first message that reaches it.
let prices = LazyProxy { PriceService() }
let cache = Cache()

// Each hook is outside of earlier ones: cached prices are not retried, and all calls are logged.
try prices.around(
  .price,
  waiting: { call in
    for attempt in 1...3 {
      do { return try await call.proceed() } catch is Offline { print("  attempt \(attempt) failed") }
    }
    throw Offline()
  })
try prices.around(
  .price,
  waiting: { call in
    if let known = await cache.price(of: call.arguments) { return [known] }
    let answers = try await call.proceed()
    await cache.keep(answers.last, of: call.arguments)
    return answers
  })
try prices.after(.price) { answers, item in print("\(item): \(answers[0])") }

print("started: \(prices.isMade)")
for item in ["tea", "coffee", "tea"] { try await prices.sendAndWait(.price, item) }

// A synchronous send cannot return the result of an asynchronous hook.
do { try prices.send(.price, "milk") } catch { print(error) }

// Prints:
// started: false
//   (service started)
//   service asked for tea
//   attempt 1 failed
//   service asked for tea
// tea: 300
//   service asked for coffee
// coffee: 600
// tea: 300
// isolation mismatch in 'priceOf:' of LazyProxy: an around hook is async; use an async call, such as sendAndWait
