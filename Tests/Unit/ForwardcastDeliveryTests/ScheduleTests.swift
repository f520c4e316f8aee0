// ScheduleTests.swift: random schedules, many threads and a flood, all accounted for.

import CoreTestSupport
import Dispatch
import Forwardcast
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

#if canImport(Glibc) && arch(x86_64)
  /// The number of allocated bytes: `uordblks` of `mallinfo2`, which the C module lacks. On this
  /// processor a function gets the address of a large result as its first argument.
  private func liveBytes() -> Int {
    typealias MallInfo = @convention(c) (UnsafeMutablePointer<Int>) -> Void
    guard let symbol = dlsym(nil, "mallinfo2") else { return 0 }
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: 10) { fields in
      fields.initialize(repeating: 0)
      if let start = fields.baseAddress { unsafeBitCast(symbol, to: MallInfo.self)(start) }
      return fields[7]
    }
  }
#endif

/// A target that counts messages and detects broken order.
final class Tally: Member, MessageReceiver {
  private let received = Atomic<Int>(0)
  private let last = Atomic<Int>(-1)
  private let broken = Atomic<Int>(0)
  private let isOrdered: Bool

  init(ordered: Bool = true) { isOrdered = ordered }
  var count: Int { received.load(ordering: .acquiring) }
  var disorder: Int { broken.load(ordering: .acquiring) }

  static let selectorTable = SelectorTable(for: Tally.self) {
    Responds(to: .note) { counter, number in
      counter.received.add(1, ordering: .acquiringAndReleasing)
      let before = counter.last.exchange(number, ordering: .acquiringAndReleasing)
      if counter.isOrdered, before >= number { counter.broken.add(1, ordering: .acquiringAndReleasing) }
    }
    Responds(
      to: .slow,
      async: { counter, number in
        counter.received.add(1, ordering: .acquiringAndReleasing)
        await Task.yield()
        return number
      })
  }
}

@Suite("Schedules of deliveries")
struct ScheduleTests {
  /// The totals of a schedule, which are the same for the same seed.
  private struct Sum: Equatable {
    var (ran, dropped, sent, skipped) = (0, 0, 0, 0)
  }

  /// `FORWARDCAST_SEED` repeats the schedule of a seed. Runs in a separate process, since table
  /// changes in other tests end the proxy's plans, and each end is a step of the contexts.
  @Test("random steps keep order and bounds, account for every message, and repeat with the same seed")
  func random() async {
    let seed: UInt64 = setting("FORWARDCAST_SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
    await #expect(processExitsWith: .success) { [seed = seed as UInt64] in
      let steps = bound(8_000, full: 120_000)
      let sum = Self.play(seed, steps)
      expect(sum.ran + sum.dropped + sum.skipped, equals: sum.sent, "seed \(seed)")
      expect(sum.ran > steps / 12 && sum.dropped > steps / 1_200, "seed \(seed)")
      let few = bound(2_000, full: 10_000)
      expect(Self.play(seed, few), equals: Self.play(seed, few), "seed \(seed)")
    }
  }

  private static func play(_ seed: UInt64, _ steps: Int) -> Sum {
    var random = SeededGenerator(seed: seed)
    let contexts = (0..<3).map { StepContext("\($0)") }
    let proxy = MulticastProxy<any Member>()
    struct Place {
      let target: Tally
      let registration: Registration
    }
    let buffers: [DeliveryBuffer] = [
      .unbounded, .unbounded, .keepNewest(3), .keepOldest(2), .latestPerSelector, .suspendSender(2),
    ]
    var living: [Place] = []
    var (sum, number) = (Sum(), 0)
    func retire(_ place: Place) {
      for context in contexts { context.run() }
      sum.ran += place.target.count
      sum.dropped += place.registration.dropped
      if place.target.disorder > 0 { Issue.record("seed \(seed): order broken") }
    }
    for step in 0..<steps {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<3 where living.count < 8:
        let target = Tally()
        let delivery: Delivery = step % 5 == 0 ? .direct : .on(contexts.randomElement(using: &random)!)
        let pending: PendingDeliveries = Bool.random(using: &random) ? .dropPending : .deliverPending
        living.append(
          Place(
            target: target,
            registration: proxy.add(
              target, delivery: delivery, priority: Int.random(in: 0...2, using: &random),
              buffer: buffers.randomElement(using: &random)!, whenRemoved: pending)))
      case 3..<5 where !living.isEmpty:
        let place = living.remove(at: Int.random(in: living.indices, using: &random))
        if Bool.random(using: &random) { place.registration.cancel() } else { proxy.remove(place.target) }
        retire(place)
      case 5..<9:
        living.randomElement(using: &random)?.registration.mute()
      case 9..<18:
        living.randomElement(using: &random)?.registration.unmute()
      case 18..<60:
        number += 1
        let there = living.count
        let summary = proxy.broadcast(.note, number)
        sum.sent += there
        // Muted targets are counted as skipped, or not at all once the route omits them.
        sum.skipped += living.count { $0.registration.isMuted }
        if summary.failed > 0 { Issue.record("seed \(seed): \(summary)") }
      default:
        contexts.randomElement(using: &random)!.step()
      }
    }
    for place in living { retire(place) }
    return sum
  }

  /// A million deliveries with full bounds.
  @Test("every delivery to 100 targets on 4 queues is accounted for")
  func million() throws {
    let proxy = MulticastProxy<any Member>()
    let queues = (0..<4).map { DispatchQueue(label: "queue \($0)") }
    let targets = (0..<100).map { _ in Tally() }
    let registrations = targets.enumerated().map { proxy.add($1, delivery: .queue(queues[$0 % 4])) }
    var (sent, queued, skipped) = (0, 0, 0)
    let rounds = bound(500, full: 10_000)
    for number in 0..<rounds {
      if number % 100 == 50 { registrations[number / 100].mute() }
      if number % 100 == 75 { registrations[number / 100].unmute() }
      let summary = proxy.broadcast(.note, number)
      sent += 100
      queued += summary.queued
      skipped += 100 - summary.queued
    }
    try proxy.drainBlocking(timeout: .seconds(600))
    let delivered = targets.reduce(0) { $0 + $1.count }
    let dropped = registrations.reduce(0) { $0 + $1.dropped }
    expect(sent == rounds * 100 && delivered + dropped + skipped == sent)
    expect(skipped >= rounds / 4 && queued == delivered + dropped)
    expect(targets.allSatisfy { $0.disorder == 0 })
  }

  @Test("eight threads send, add, remove, mute and wait with every kind of delivery", .oneAtATime)
  func threads() async throws {
    let proxy = MulticastProxy<any Member>()
    proxy.onError = { failure in
      if (failure.error as? MessageError)?.code != .isolationMismatch { Issue.record("\(failure)") }
    }
    actor Home {}
    let (queue, other, home) = (
      DispatchQueue(label: "one"), DispatchQueue(label: "many", attributes: .concurrent), Home()
    )
    let deliveries: [Delivery] = [
      .direct, .queue(queue), .queue(other), .automatic(queue), .actor(home), .mainActor, .queue(), .queue(queue),
    ]
    let buffers: [DeliveryBuffer] = [.unbounded, .keepNewest(4), .keepOldest(4), .latestPerSelector, .suspendSender(4)]
    let (steady, rounds) = (deliveries.map { _ in Tally(ordered: false) }, bound(30, full: 60))
    for (target, delivery) in zip(steady, deliveries) { proxy.add(target, delivery: delivery) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for round in 0..<rounds {
            var guest: Tally? = Tally(ordered: false)
            let registration = proxy.add(
              guest.unsafelyUnwrapped, delivery: deliveries[(thread + round) % deliveries.count],
              buffer: buffers[round % buffers.count],
              whenRemoved: round % 3 == 0 ? .deliverPending : .dropPending)
            proxy.broadcast(.note, round)
            _ = proxy.broadcast(Invocation("note:", arguments: [ArgumentBox(round)]))
            proxy.broadcast(.slow, round)
            if round % 4 == 0 { registration.mute() }
            if round % 10 == thread { _ = try await proxy.collectAndWait(.slow, round, returning: .all) }
            try await proxy.broadcastWhenReady(.note, round)
            registration.unmute()
            _ = proxy.responds(to: "note:")
            if round % 2 == 0 {
              registration.cancel()
            } else if round % 3 == 0 {
              guest = nil
            } else {
              proxy.remove(guest.unsafelyUnwrapped)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await proxy.drain()
    // All steady targets but the direct one, which async rows cannot reach, received every message.
    let sent = 8 * rounds * 3
    expect(steady.dropFirst().allSatisfy { $0.count >= sent })
    expect(Set(steady.dropFirst().map(\.count)).count, equals: 1)
  }

  #if canImport(Glibc) && arch(x86_64)
    @Test(
      "memory returns to its level after a flood, and a bounded buffer never exceeds its bound", .oneAtATime,
      .enabled(
        if: dlsym(nil, "__tsan_init") == nil && dlsym(nil, "__asan_init") == nil, "sanitizers have a heap of their own")
    )
    func memory() async {
      _ = await #expect(processExitsWith: .success) {
        let queue = DispatchQueue(label: "flood")
        let proxy = MulticastProxy<any Member>()
        let (free, bounded) = (Tally(), Tally())
        proxy.add(free, delivery: .queue(queue))
        let registration = proxy.add(bounded, delivery: .queue(queue), buffer: .keepNewest(10))
        var number = 0
        func flood(_ count: Int) throws -> Int {
          queue.suspend()
          for _ in 0..<count {
            number += 1
            proxy.broadcast(.note, number)
          }
          let high = liveBytes()
          queue.resume()
          try proxy.drainBlocking(timeout: .seconds(600))
          queue.sync {}
          return high
        }
        // The first flood creates what remains: threads and the heap's own data.
        let size = bound(10_000, full: 200_000)
        _ = try flood(size)
        // A busy machine may create a thread at any time. A real leak shows in every flood.
        var (floods, left, high) = (1, [Int](), 0)
        repeat {
          let before = liveBytes()
          high = try flood(size) - before
          precondition(high > size * 32, "the flood was no flood: \(high)")
          floods += 1
          left.append((liveBytes() - before) * 100 / before)
        } while left.last != 0 && floods < 5
        precondition(left.contains(0), "percents of live bytes that each flood left: \(left)")
        precondition(free.count == floods * size && bounded.count == floods * 10, "\(free.count) \(bounded.count)")
        precondition(bounded.count + registration.dropped == floods * size)
      }
    }
  #endif
}
