// Queues.swift: the code of the page "Queues, order and floods".
// Layer: Tests.

import Dispatch
import Forwardcast
import TestSupport
import Testing

// snippet: queues-protocol
@Forwarded
protocol HeartListener: AnyObject, Sendable {
  func heart(rate: Int)
}
// end

// snippet: queues-targets
actor Chart: HeartListener, MessageReceiver {
  static let selectorTable = SelectorTable(for: Chart.self) {
    Responds(
      to: HeartListenerProxy.Messages.heart, isolated: { (chart: isolated Chart, rate) in chart.points.append(rate) })
  }
  var points: [Int] = []
  nonisolated func heart(rate: Int) {}  // the row above is taken first; it runs on the actor
}
// end

private final class Monitor: HeartListener {
  let heard = Heard()
  func heart(rate: Int) { heard.note("\(rate)") }
}

@Suite("Queues, order and floods")
struct Queues {
  @Test("each target has its own context, its messages in order")
  func contexts() async throws {
    let (log, alarm, chart) = (Monitor(), Monitor(), Chart())
    // snippet: queues-add
    let listeners = HeartListenerProxy()
    listeners.add(log, delivery: .queue(DispatchQueue(label: "log")))
    listeners.add(alarm)  // .direct: in the sender's turn
    listeners.add(chart, delivery: .actor(chart))

    for rate in 60...62 { listeners.heart(rate: rate) }
    try await listeners.drain()  // every queued delivery has run
    // end
    #expect(log.heard.lines == ["60", "61", "62"] && alarm.heard.lines == log.heard.lines)
    await expect(chart.points, equals: [60, 61, 62])
  }

  @Test("a buffer bounds what waits for one target")
  func floods() async throws {
    let screen = Monitor()
    let queue = DispatchQueue(label: "screen")
    let listeners = HeartListenerProxy()
    // snippet: queues-buffer
    let registration = listeners.add(screen, delivery: .queue(queue), buffer: .latestPerSelector)
    // end
    queue.suspend()
    for rate in 1...100 { listeners.heart(rate: rate) }
    queue.resume()
    try await listeners.drain()
    expect(screen.heard.lines.last, equals: "100")
    expect(screen.heard.lines.count + registration.dropped, equals: 100)
    #expect(screen.heard.lines.count < 100)
    registration.cancel()
    // snippet: queues-suspend
    listeners.on(HeartListenerProxy.Messages.heart, delivery: .queue(queue), buffer: .suspendSender(8)) { rate in
      print("stored \(rate)")
    }
    try await listeners.broadcastWhenReady(HeartListenerProxy.Messages.heart, 61)
    // end
    try await listeners.drain()
  }

  @Test("a stream is a loop over the messages of a proxy")
  func streams() async throws {
    // snippet: queues-stream
    var listeners: HeartListenerProxy? = HeartListenerProxy()
    let rates = listeners?.messages(for: HeartListenerProxy.Messages.heart)
    listeners?.heart(rate: 60)
    listeners?.heart(rate: 64)
    listeners = nil  // the stream ends with its proxy

    var highest = 0
    if let rates { for await rate in rates { highest = max(highest, rate) } }
    // end
    expect(highest, equals: 64)
  }
}
