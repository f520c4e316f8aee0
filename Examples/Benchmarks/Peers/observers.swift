// observers.swift: one message to many observers with notifications and with streams.
// Prints: peer,case,N,median ns per delivery.

import Foundation

struct Tick: NotificationCenter.MainActorMessage {
  typealias Subject = Source
  static var name: Notification.Name { Notification.Name("typed tick") }
  let step: Int
}

final class Source: Sendable {}

/// The sum of all deliveries, so that none is optimized away. On the main actor.
var sum = 0

/// The median of 15 batches of about 5 ms, divided by deliveries.
@MainActor func median(_ deliveries: Int, _ send: (Int) async -> Void) async -> Double {
  let clock = ContinuousClock()
  var messages = 1
  while await clock.measure({ await send(messages) }) < .milliseconds(5) { messages *= 2 }
  var times: [Double] = []
  for _ in 0..<15 {
    let time = await clock.measure { await send(messages) }
    times.append(time / .nanoseconds(messages * deliveries))
  }
  return times.sorted()[7]
}

for count in [1, 10, 100, 1000] {
  let center = NotificationCenter()
  let name = Notification.Name("tick")
  let blocks = (0..<count).map { _ in
    center.addObserver(forName: name, object: nil, queue: nil) { note in
      let step = note.userInfo?["step"] as? Int ?? 0
      MainActor.assumeIsolated { sum &+= step }
    }
  }
  let block = await median(count) { messages in
    for step in 0..<messages { center.post(name: name, object: nil, userInfo: ["step": step]) }
  }
  print("NotificationCenter,block,\(count),\(block)")
  withExtendedLifetime(blocks) {}

  let source = Source()
  let tokens = (0..<count).map { _ in center.addObserver(of: source, for: Tick.self) { sum &+= $0.step } }
  let typed = await median(count) { messages in
    for step in 0..<messages { center.post(Tick(step: step), subject: source) }
  }
  print("NotificationCenter,typed,\(count),\(typed)")
  withExtendedLifetime(tokens) {}

  // A stream and a reading task for each observer. A batch ends when every observer has read it.
  let streams = (0..<count).map { _ in AsyncStream<Int>.makeStream() }
  let (acknowledged, acknowledge) = AsyncStream<Void>.makeStream()
  let readers = streams.map { stream in
    Task { @MainActor in
      for await step in stream.stream { if step < 0 { acknowledge.yield() } else { sum &+= step } }
    }
  }
  nonisolated(unsafe) var acknowledgements = acknowledged.makeAsyncIterator()  // used only by this task
  let stream = await median(count) { messages in
    for step in 0..<messages { for stream in streams { stream.continuation.yield(step) } }
    for stream in streams { stream.continuation.yield(-1) }
    for _ in streams { _ = await acknowledgements.next(isolation: #isolation) }
  }
  print("AsyncStream,each,\(count),\(stream)")
  for stream in streams { stream.continuation.finish() }
  for reader in readers { await reader.value }
}
