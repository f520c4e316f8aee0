// Queues.swift: the code of the page "Queues, order and floods".

// snippet: queues-protocol
import Dispatch
import Forwardcast
// end
import TestSupport
import Testing

// snippet: queues-protocol
@Forwarded
protocol HeartListener: AnyObject, Sendable {
  func heart(rate: Int)
}

final class Monitor: HeartListener {
  let name: String
  init(_ name: String) { self.name = name }
  func heart(rate: Int) { print(name, rate) }
}
// end

// snippet: queues-targets
actor Chart: HeartListener, MessageReceiver {
  static let selectorTable = SelectorTable(for: Chart.self) {
    Responds(
      to: HeartListenerProxy.Messages.heart,
      isolated: { (chart: isolated Chart, rate) in chart.points.append(rate) })
  }
  var points: [Int] = []
  nonisolated func heart(rate: Int) {}  // never called: the row is taken first
}
// end

/// Notes what a proxy sends, as its last target does.
private func heard(_ listeners: HeartListenerProxy, on queue: DispatchQueue) -> Heard {
  let heard = Heard()
  listeners.on(HeartListenerProxy.Messages.heart, delivery: .queue(queue)) { heard.note("\($0)") }
  return heard
}

@Suite("Queues, order and floods")
struct Queues {
  @Test("each target has its own context, its messages in order")
  func contexts() async throws {
    // snippet: queues-add
    let (log, alarm) = (Monitor("log"), Monitor("alarm"))
    let listeners = HeartListenerProxy()
    listeners.add(log, delivery: .queue(DispatchQueue(label: "log")))
    listeners.add(alarm)  // .direct: in the sender's turn

    for rate in 60...62 { listeners.heart(rate: rate) }
    try await listeners.drain()  // every queued delivery has run
    // end
    // snippet: queues-actor
    let chart = Chart()
    listeners.add(chart, delivery: .actor(chart))
    listeners.heart(rate: 63)
    try await listeners.drain()
    print(await chart.points)  // [63]
    // end
    await expect(chart.points, equals: [63])
    expect(listeners.count, equals: 3)
    withExtendedLifetime((log, alarm)) {}
  }

  @Test("a buffer bounds what waits for one target")
  func floods() async throws {
    let listeners = HeartListenerProxy()
    // snippet: queues-buffer
    let screen = Monitor("screen")
    let queue = DispatchQueue(label: "screen")
    let registration = listeners.add(
      screen, delivery: .queue(queue), buffer: .latestPerSelector)
    // end
    queue.suspend()
    let heard = heard(listeners, on: queue)
    for rate in 1...100 { listeners.heart(rate: rate) }
    queue.resume()
    try await listeners.drain()
    #expect(heard.lines.count == 100 && registration.dropped == 99)
    registration.cancel()
    // snippet: queues-suspend
    listeners.on(
      HeartListenerProxy.Messages.heart, delivery: .queue(queue),
      buffer: .suspendSender(8)
    ) { rate in print("stored \(rate)") }
    try await listeners.broadcastWhenReady(HeartListenerProxy.Messages.heart, 61)
    // end
    try await listeners.drain()
    expect(heard.lines.count, equals: 101)
  }

  @Test("a stream is a loop over the messages of a proxy")
  func streams() async throws {
    // snippet: queues-stream
    var strap: HeartListenerProxy? = HeartListenerProxy()
    let rates = strap?.messages(for: HeartListenerProxy.Messages.heart)
    strap?.heart(rate: 60)
    strap?.heart(rate: 64)
    strap = nil  // the stream ends with its proxy

    var highest = 0
    if let rates { for await rate in rates { highest = max(highest, rate) } }
    // end
    expect(highest, equals: 64)
  }
}
