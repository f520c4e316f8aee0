// main.swift: an asynchronous service behind a proxy that logs, tries again, and keeps what it was told.
// Example: Retry. Run it with `swift run retry`.

import Forwardcast

struct Offline: Error {}

/// The service. It fails now and then, as things behind a network do, and knows nothing of what stands before it.
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

/// Answers that are kept, for the time that they are worth something.
actor Cache {
  private var prices: [String: Int] = [:]
  func price(of item: String) -> Int? { prices[item] }
  func keep(_ price: Int?, of item: String) { prices[item] = price }
}

extension Message<(String) -> Int> { static var price: Self { .init("priceOf:") } }

// Nothing is started before the first message that needs it.
let prices = LazyProxy { PriceService() }
let cache = Cache()

// Each hook stands outside of those before it: what the cache knows is not tried again, and everything is logged.
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

// A sender that does not wait cannot have the answer of something asynchronous.
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
// isolation mismatch 'priceOf:' of LazyProxy: a hook is async; use an async form, such as sendAndWait
