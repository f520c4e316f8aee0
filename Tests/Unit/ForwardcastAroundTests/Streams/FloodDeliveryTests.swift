// FloodDeliveryTests.swift: many messages from several threads to targets with every buffer.

import Dispatch
import Forwardcast
import TestSupport
import Testing

private protocol Numbered: AnyObject, Sendable {}
extension Message<(Int) -> Void> { fileprivate static var note: Self { .init("note:") } }

@Suite("Floods")
struct FloodDeliveryTests {
  /// A target that counts messages and checks the order of each sender's.
  private final class Counter: Numbered, MessageReceiver, @unchecked Sendable {  // on its queue; read after a drain
    private(set) var count = 0
    private(set) var disorder = 0
    private var last = [Int](repeating: 0, count: 4)

    func take(_ number: Int) {
      count += 1
      if number / 4 <= last[number % 4] { disorder += 1 }
      last[number % 4] = number / 4
    }

    static let selectorTable = SelectorTable(for: Counter.self) {
      Responds(to: .note) { counter, number in counter.take(number) }
    }
  }

  // FORWARDCAST_FLOOD_MESSAGES=250000 sends a million messages, also with sanitizers.
  static let each = bound(500, full: 2_500, named: "FORWARDCAST_FLOOD_MESSAGES")

  @Test("each of many messages from four threads runs once in its sender's order, or is counted as dropped")
  func accounted() throws {
    let buffers: [DeliveryBuffer] = [
      .unbounded, .keepNewest(64), .keepOldest(64), .latestPerSelector, .suspendSender(64), .unbounded,
    ]
    let counters = buffers.map { _ in Counter() }
    let guest = Counter()
    let (proxy, visited) = (MulticastProxy<any Numbered>(), MulticastProxy<any Numbered>())
    let queues = (0..<3).map { DispatchQueue(label: "flood \($0)") }
    let registrations = zip(counters, buffers).enumerated().map { index, member in
      proxy.add(member.0, delivery: .queue(queues[index % 3]), buffer: member.1)
    }
    let (queued, visits) = (Locked(0), Locked<[Registration]>([]))
    let failures = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 5) { thread in
      do {
        if thread == 4 {
          // Adds, mutes, unmutes and removes a target while messages are being sent.
          for turn in 0..<Self.each / 50 {
            let visit = visited.add(guest, delivery: .queue(queues[turn % 3]))
            visits.withLock { $0.append(visit) }
            visit.mute()
            visit.unmute()
            try visited.drainBlocking(timeout: .seconds(600))
            visit.cancel()
            queues[turn % 3].sync {}
          }
          return
        }
        var sum = 0
        for number in 1...Self.each {
          if number.isMultiple(of: 2) {
            proxy.broadcast(.note, number * 4 + thread)
          } else {
            proxy.broadcast(Invocation("note:", arguments: [ArgumentBox(number * 4 + thread)]))
          }
          sum += visited.broadcast(.note, number * 4 + thread).queued
          if number.isMultiple(of: 2_000) { try proxy.drainBlocking(timeout: .seconds(600)) }
        }
        queued.withLock { [sum] in $0 += sum }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    try proxy.drainBlocking(timeout: .seconds(600))
    for queue in queues { queue.sync {} }
    expect(failures.withLock { $0 }, equals: [])
    for (counter, registration) in zip(counters, registrations) {
      expect(counter.count + registration.dropped, equals: 4 * Self.each, "\(registration)")
      expect(counter.disorder, equals: 0, "\(registration)")
    }
    for index in [0, 5] { expect(registrations[index].dropped, equals: 0) }
    let dropped = visits.withLock { $0.reduce(0) { $0 + $1.dropped } }
    expect(guest.count + dropped, equals: queued.withLock { $0 })
    withExtendedLifetime((counters, guest)) {}
  }
}
