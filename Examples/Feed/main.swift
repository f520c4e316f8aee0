// main.swift: a `for await` loop over messages, and a sender that waits for a slow reader.
// Example: Feed. Run it with `swift run feed`.

import Dispatch
import Forwardcast

@Forwarded
protocol Feed: AnyObject, Sendable {
  func price(_ cents: Int)
}

/// Sends ten prices and returns a stream of them, which ends when the feed is released.
func sendPrices() async throws -> MessageStream<Int> {
  let feed = FeedProxy()

  // A reader on its own queue. At most two prices wait for it; then `broadcastWhenReady` suspends.
  let ledger = DispatchQueue(label: "ledger")
  feed.on(FeedProxy.Messages.price, delivery: .queue(ledger), buffer: .suspendSender(2)) { print("ledger \($0)") }

  // A stream for a slow loop. It drops the messages that its buffer cannot hold, and counts them.
  let prices = feed.messages(for: FeedProxy.Messages.price, buffering: .bufferingNewest(3))
  for cents in 100..<110 { try await feed.broadcastWhenReady(FeedProxy.Messages.price, cents) }
  try await feed.drain()
  return prices
}

let prices = try await sendPrices()
for await cents in prices { print("loop \(cents)") }
print("the loop has missed \(prices.dropped), the ledger nothing")

// Prints:
// ledger 100
// ledger 101
// ledger 102
// ledger 103
// ledger 104
// ledger 105
// ledger 106
// ledger 107
// ledger 108
// ledger 109
// loop 107
// loop 108
// loop 109
// the loop has missed 7, the ledger nothing
