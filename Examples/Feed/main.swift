// main.swift: a `for await` loop over the messages of a feed, and a sender that waits for the slowest reader.

import Dispatch
import Forwardcast

@Forwarded
protocol Feed: AnyObject, Sendable {
  func price(_ cents: Int)
}

var feed: FeedProxy? = FeedProxy()

// A reader on a queue of its own. Two prices may wait for it; then whoever sends with `broadcastWhenReady` waits too.
let ledger = DispatchQueue(label: "ledger")
feed?.multicast.on(FeedProxy.Messages.price, delivery: .queue(ledger), buffer: .suspendSender(2)) { cents in
  print("ledger \(cents)")
}

// A loop over the same messages. It takes at its leisure; what its buffer cannot hold is lost to it, and counted.
guard let prices = feed?.messages(for: FeedProxy.Messages.price, buffering: .bufferingNewest(3)) else { fatalError() }

// Nothing overtakes: each price leaves when the ledger has room.
for cents in 100..<110 {
  try await feed?.multicast.broadcastWhenReady(FeedProxy.Messages.price, cents)
}
try await feed?.multicast.drain()

// The loop ends with the feed, after what its buffer holds.
feed = nil
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
