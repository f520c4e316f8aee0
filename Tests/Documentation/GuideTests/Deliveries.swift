// Deliveries.swift: the code of the page "Delivery, Ordering, and Backpressure".

// snippet: queues-protocol
import Dispatch
import Forwardcast
// end
import ForwardcastTesting
import TestSupport
import Testing

// snippet: queues-protocol
@Forwarded
nonisolated protocol HeartListener: AnyObject, Sendable {
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
  nonisolated func heart(rate: Int) {}  // never called: the row comes first
}
// end

/// Adds a target on `queue` that records each message.
private func heard(_ listeners: HeartListenerProxy, on queue: DispatchQueue) -> Heard {
  let heard = Heard()
  listeners.on(HeartListenerProxy.Messages.heart, delivery: .queue(queue)) { heard.note("\($0)") }
  return heard
}

// snippet: queues-async
@Forwarded
protocol Sensor: AnyObject, Sendable {
  @Answer(.sum) func sample() async -> Int
}

actor Probe: Sensor {
  let clock: any Clock<Duration>
  init(on clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }
  func sample() async -> Int {
    try? await clock.sleep(for: .milliseconds(100))
    return 1
  }
}

func sum(of probes: [Probe]) async -> Int {
  let sensors = SensorProxy()
  for probe in probes { sensors.add(probe, delivery: .actor(probe)) }
  return await sensors.sample()
}
// end

// snippet: queues-throttle
nonisolated(nonsending) func throttle(
  _ rates: MessageStream<Int>, on clock: some Clock<Duration>,
  show: (Int) -> Void
) async throws {
  for await rate in rates {
    show(rate)
    try await clock.sleep(for: .milliseconds(300))
  }
}
// end

// snippet: queues-debounce
func debounce(
  _ rates: MessageStream<Int>, on clock: some Clock<Duration>,
  show: @escaping @Sendable (Int) -> Void
) async {
  var waiting: Task<Void, any Error>?
  for await rate in rates {
    waiting?.cancel()
    waiting = Task {
      try await clock.sleep(for: .milliseconds(300))
      show(rate)
    }
  }
}
// end

// snippet: queues-last
actor Strap {
  private var rate = 0
  private let listeners = HeartListenerProxy()

  func measure(_ rate: Int) {
    self.rate = rate
    listeners.heart(rate: rate)
  }
  func join(_ listener: any HeartListener) {
    listeners.add(listener)
    listener.heart(rate: rate)
  }
}
// end

/// A listener that records each rate.
private final class LastRate: HeartListener {
  let rates = Heard()
  func heart(rate: Int) { rates.note("\(rate)") }
}

/// Compiled only, because a busy machine may exceed the timeout.
private func limited(_ listeners: HeartListenerProxy) async throws {
  // snippet: queues-timeout
  try await listeners.broadcastWhenReady(
    HeartListenerProxy.Messages.heart, 62, timeout: .milliseconds(100))
  // end
}

@Suite("Delivery, Ordering, and Backpressure")
struct Queues {
  @Test("each target receives its messages on its own context")
  func contexts() async throws {
    // snippet: queues-add
    let (log, alarm) = (Monitor("log"), Monitor("alarm"))
    let listeners = HeartListenerProxy()
    listeners.add(log, delivery: .queue(DispatchQueue(label: "log")))
    listeners.add(alarm)  // .direct: runs synchronously

    for rate in 60...62 { listeners.heart(rate: rate) }
    try await listeners.drain()  // waits for all queued messages
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

  @Test("a buffer limits the messages that wait for one target")
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

  @Test("a stream iterates over the messages of a proxy")
  func streams() async throws {
    // snippet: queues-stream
    var strap: HeartListenerProxy? = HeartListenerProxy()
    let rates = strap?.messages(for: HeartListenerProxy.Messages.heart)
    strap?.heart(rate: 60)
    strap?.heart(rate: 64)
    strap = nil  // the sequence ends with its proxy

    var highest = 0
    if let rates { for await rate in rates { highest = max(highest, rate) } }
    // end
    expect(highest, equals: 64)
  }

  @Test("targets with a delivery run an async requirement concurrently, others one after another")
  func asyncRequirements() async {
    let clock = TestClock()
    let probes = (1...5).map { _ in Probe(on: clock) }
    async let concurrent = sum(of: probes)
    await clock.waitForSleepers(5)
    clock.advance(by: .milliseconds(100))
    await expect(concurrent, equals: 5)

    let sensors = SensorProxy()
    for probe in probes { sensors.add(probe) }
    async let successive = sensors.sample()
    for _ in 1...5 {
      await clock.waitForSleepers()
      expect(clock.sleeperCount, equals: 1)
      clock.advance(by: .milliseconds(100))
    }
    await expect(successive, equals: 5)
  }

  @Test("a throttled loop handles the newest message of each interval")
  func throttling() async throws {
    let (listeners, clock, heard) = (HeartListenerProxy(), TestClock(), Heard())
    let rates = listeners.messages(for: HeartListenerProxy.Messages.heart, buffering: .bufferingNewest(1))
    listeners.heart(rate: 1)
    let loop = Task { try await throttle(rates, on: clock) { heard.note("\($0)") } }
    await clock.waitForSleepers()
    for rate in 2...4 { listeners.heart(rate: rate) }
    clock.advance(by: .milliseconds(300))
    await clock.waitForSleepers()
    expect(heard.lines, equals: ["1", "4"])
    loop.cancel()
    _ = await loop.result
  }

  @Test("a throttled loop may run on the main actor")
  @MainActor func throttlingOnMainActor() async throws {
    var listeners: HeartListenerProxy? = HeartListenerProxy()
    let rates = try #require(listeners).messages(for: HeartListenerProxy.Messages.heart)
    listeners?.heart(rate: 1)
    listeners = nil
    let clock = TestClock()
    var shown: [Int] = []
    let waker = Task.detached {
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(300))
    }
    try await throttle(rates, on: clock) { shown.append($0) }
    await waker.value
    expect(shown, equals: [1])
  }

  @Test("a debounced loop handles a message that no other follows")
  func debouncing() async throws {
    let (clock, heard) = (TestClock(), Heard())
    var listeners: HeartListenerProxy? = HeartListenerProxy()
    let rates = try #require(listeners).messages(for: HeartListenerProxy.Messages.heart)
    for rate in 1...3 { listeners?.heart(rate: rate) }
    listeners = nil
    await debounce(rates, on: clock) { heard.note("\($0)") }
    // All messages are consumed, so earlier tasks are canceled. The last may not sleep yet.
    func advanced() -> Bool {
      clock.advance(by: .milliseconds(300))
      return !heard.lines.isEmpty
    }
    await until(advanced())
    expect(heard.lines, equals: ["3"])
  }

  @Test("a new listener receives the last value")
  func joining() async {
    let (strap, listener) = (Strap(), LastRate())
    await strap.measure(61)
    await strap.join(listener)
    expect(listener.rates.lines, equals: ["61"])
    await strap.measure(62)
    expect(listener.rates.lines, equals: ["61", "62"])
  }

  @Test("a listener that joins in a proxy of its own receives the last value before later messages")
  func joiningOnQueue() async throws {
    let (screen, queue) = (LastRate(), DispatchQueue(label: "screen"))
    queue.suspend()
    // snippet: queues-join
    let (belt, display) = (Strap(), HeartListenerProxy())
    display.add(screen, delivery: .queue(queue))
    await belt.join(display)  // `display` is held weakly
    // end
    await belt.measure(62)
    queue.resume()
    try await display.drain()
    expect(screen.rates.lines, equals: ["0", "62"])
    withExtendedLifetime((belt, screen, display)) {}
  }
}
