// ScheduleTests.swift: what can be part of a schedule, what cannot, and the texts of failures.

import Dispatch
import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

extension Message<(Int) -> Void> { fileprivate static var note: Self { .init("note:") } }
extension Message<(Int) -> Int> { fileprivate static var ask: Self { .init("ask:") } }
extension Message<() -> Void> { fileprivate static var other: Self { .init("other") } }

private typealias Proxy = MulticastProxy<any Sendable>

/// A target with an async method.
private final class Slow: MessageReceiver, Sendable {
  let schedule: Schedule
  let log = Locked<[String]>([])
  init(_ schedule: Schedule) { self.schedule = schedule }

  static let selectorTable = SelectorTable(for: Slow.self) {
    Responds(
      to: .ask,
      async: { slow, number in
        slow.log.withLock { $0.append("begins \(number)") }
        await Task.yield()
        slow.log.withLock { $0.append("ends \(number)") }
        return number * 2
      })
  }
}

@Suite("Schedules")
struct ScheduleTests {
  private let failures = FailureList()

  private func run(
    _ search: ScheduleSearch = .every, upTo limit: Int = 10_000, line: UInt = #line,
    _ body: @escaping @Sendable (Schedule) async throws -> Void
  ) async -> ScheduleSummary {
    await everySchedule(search, upTo: limit, reporter: failures.reporter, line: line, body)
  }

  @Test("threads outside the schedule may call expect and use shared values")
  func otherThreads() async {
    let summary = await run { schedule in
      let sum = schedule.shared(0)
      DispatchQueue.concurrentPerform(iterations: 500) { number in
        for _ in 0..<100 where number > 0 {
          sum.withLock { $0 += 1 }
          schedule.expect(false, "reached")
        }
      }
      schedule.expect(sum.value == 0)
    }
    expect(summary.failure?.reason, equals: "reached")
  }

  @Test("a failure shows its reason, its turns, the line that replays the order, and a diagram")
  func text() async {
    let line = #line + 8
    let summary = await run { schedule in
      let (proxy, seen) = (Proxy(), Locked<[Int]>([]))
      for queue in ["log", "index"] {
        proxy.on(.note, delivery: schedule.queue(queue)) { _ in seen.withLock { $0.append(queue.count) } }
      }
      proxy.broadcast(.note, 1)
      try await proxy.drain()
      schedule.expect(seen.withLock { $0 } == [3, 5], "seen in the order \(seen.withLock { $0 })")
    }
    expect(
      summary.failure?.description,
      equals: """
        seen in the order [5, 3]
          in this order of turns:
            1. body
            2. body goes on
            3. body goes on
            4. queue index: note:, sent by body
            5. queue log: note:, sent by body
            6. body
          to run only this order: everySchedule(.replaying("a3dca"))
          sequenceDiagram
            participant p1 as queue log
            participant p2 as queue index
            participant p3 as body
            Note over p1: note: waits on its turn
            Note over p2: note: waits on its turn
            p3->>p2: note: (its turn)
            p3->>p1: note: (its turn)
        """)
    expect(failures.failures.map(\.place.line), equals: [UInt(line)])
    expect(!summary.isComplete)
  }

  @Test("a failed expectation of Swift Testing is one issue at its line, even in a target")
  func issues() async {
    let line = #line + 5
    await withKnownIssue {
      await everySchedule { schedule in
        let (proxy, seen) = (Proxy(), Locked(0))
        proxy.on(.note, delivery: schedule.queue("a")) { new in seen.withLock { $0 = new } }
        proxy.on(.other, delivery: schedule.actor("b")) { #expect(seen.withLock { $0 } == 1) }
        proxy.broadcast(.note, 1)
        proxy.broadcast(.other)
        try await proxy.drain()
      }
    } matching: { issue in
      issue.sourceLocation?.line == line
        && (issue.comments.first?.rawValue.contains("to run only this order: everySchedule(.replaying(") == true
          || issue.comments.isEmpty)
    }
  }

  @Test("an error thrown by the body is a failure at the line of the call")
  func thrown() async {
    struct Broken: Error {}
    let line = #line + 1
    let summary = await run { _ in throw Broken() }
    expect(summary.orders, equals: 1)
    expect(failures.failures.map(\.place.line), equals: [UInt(line)])
    expect(summary.failure?.reason == "the body throws Broken()")
  }

  @Test("a correct program runs in all orders, and nothing is reported")
  func nothing() async {
    let summary = await run { schedule in
      let (proxy, sum) = (Proxy(), schedule.shared(0))
      for queue in ["a", "b"] {
        proxy.on(.note, delivery: schedule.queue(queue)) { number in sum.withLock { $0 += number } }
      }
      proxy.broadcast(.note, 2)
      try await proxy.drain()
      schedule.expect(sum.value == 4)
    }
    expect(summary.isComplete && summary.failure == nil && summary.orders > 1 && failures.failures.isEmpty)
  }

  // MARK: What can be part of a schedule

  @Test("senders wait for asynchronous methods, nested proxies, asynchronous hooks and streams")
  func waiting() async {
    let summary = await run(upTo: 400) { schedule in
      let (outer, inner, slow) = (Proxy(), Proxy(), Slow(schedule))
      inner.add(slow, delivery: schedule.actor("slow"))
      outer.on(.ask, delivery: schedule.queue("quick")) { $0 }
      outer.add(inner)
      let hook = try outer.around(
        .ask,
        waiting: { call in
          await Task.yield()
          return try await call.proceed()
        })
      defer { hook.cancel() }
      var calls = outer.messages(for: .ask).makeAsyncIterator()
      async let second = outer.collectAndWait(.ask, 5, returning: .sum)
      let first = try await outer.collectAndWait(.ask, 7, returning: .sum)
      let both = try await [first, second]
      schedule.expect(both == [21, 15], "answered \(both)")
      let heard = await [calls.next(), calls.next()].compactMap { $0 }
      schedule.expect(Set(heard) == [5, 7], "heard \(heard)")
      let log = slow.log.withLock { $0 }
      schedule.expect(log == ["begins 5", "ends 5", "begins 7", "ends 7"] || log[0] == "begins 7", "\(log)")
    }
    expect(summary.failure == nil, "\(failures.failures)")
    expect(summary.orders > 10)
  }

  @Test("a sender that waits for capacity continues once there is some")
  func room() async {
    let summary = await run { schedule in
      let (proxy, seen) = (Proxy(), Locked<[Int]>([]))
      proxy.on(.note, delivery: schedule.queue("a"), buffer: .suspendSender(1)) { number in
        seen.withLock { $0.append(number) }
      }
      for number in 0..<4 { try await proxy.broadcastWhenReady(.note, number) }
      try await proxy.drain()
      schedule.expect(seen.withLock { $0 } == [0, 1, 2, 3])
    }
    expect(summary.isComplete && summary.failure == nil, "\(failures.failures)")
    expect(summary.orders > 1)
  }

  @Test("a keepNewest buffer is explored in all its states between two messages")
  func buffer() async {
    let seen = Locked<Set<[Int]>>([])
    let summary = await run { schedule in
      let (proxy, got) = (Proxy(), Locked<[Int]>([]))
      proxy.on(.note, delivery: schedule.queue("a"), buffer: .keepNewest(1)) { number in
        got.withLock { $0.append(number) }
      }
      for number in 1...3 { proxy.broadcast(.note, number) }
      try await proxy.drain()
      let found = got.withLock { $0 }
      seen.withLock { _ = $0.insert(found) }
    }
    expect(summary.isComplete)
    // Each of the first two messages either ran in time or was replaced.
    expect(seen.withLock { $0 }, equals: [[3], [1, 3], [2, 3], [1, 2, 3]])
  }

  @Test("a blocking send is a turn that waits, and its timeout uses the schedule's clock")
  func blocking() async {
    let answers = Locked<Set<String>>([])
    let summary = await run { schedule in
      let proxy = Proxy()
      proxy.on(.ask, delivery: schedule.queue("a")) { $0 + 1 }
      let text: String
      do {
        let last = try synchronously {
          try proxy.collectBlocking(.ask, 1, returning: .last, timeout: .seconds(3600))
        }
        text = "\(last ?? 0)"
      } catch let error as MessageError {
        text = "\(error.code)"
      }
      answers.withLock { _ = $0.insert(text) }
    }
    expect(summary.isComplete && summary.failure == nil, "\(failures.failures)")
    expect(answers.withLock { $0 }, equals: ["2", "\(MessageError.Code.timedOut)"])
  }

  @Test("the clock advances while a task sleeps, before and after every other step, and deadlines pass in order")
  func time() async {
    let seen = Locked<Set<[String]>>([])
    let summary = await run { schedule in
      let (proxy, log) = (Proxy(), Locked<[String]>([]))
      proxy.on(.note, delivery: schedule.queue("a")) { _ in log.withLock { $0.append("message") } }
      proxy.broadcast(.note, 1)
      async let long: Void = schedule.clock.sleep(for: .seconds(7200))
      try await schedule.clock.sleep(for: .seconds(3600))
      log.withLock { $0.append("hour") }
      try await long
      log.withLock { $0.append("hours") }
      try await proxy.drain()
      let found = log.withLock { $0 }
      seen.withLock { _ = $0.insert(found) }
    }
    expect(summary.isComplete && summary.failure == nil, "\(failures.failures)")
    expect(
      seen.withLock { $0 },
      equals: [["message", "hour", "hours"], ["hour", "message", "hours"], ["hour", "hours", "message"]])
  }

  @Test("main-actor methods run in the main actor's turns")
  func mainActor() async {
    let summary = await run { schedule in
      let (proxy, seen) = (Proxy(), Locked(0))
      proxy.on(.note, delivery: schedule.mainActor, onMainActor: { number in seen.withLock { $0 += number } })
      proxy.broadcast(.note, 2)
      try await proxy.drain()
      schedule.expect(seen.withLock { $0 } == 2)
    }
    expect(summary.isComplete && summary.failure == nil, "\(failures.failures)")
  }

  @Test("after a removal no turn of the target starts, in any order")
  func removal() async {
    let summary = await run { schedule in
      let (proxy, isRemoved) = (Proxy(), Locked(false))
      let registration = proxy.on(.note, delivery: schedule.queue("a")) { _ in
        schedule.expect(!isRemoved.withLock { $0 }, "begun after the removal")
      }
      for number in 0..<2 { proxy.broadcast(.note, number) }
      registration.cancel()
      isRemoved.withLock { $0 = true }
      try await proxy.drain()
    }
    expect(summary.isComplete && summary.failure == nil && summary.orders > 1, "\(failures.failures)")
  }

  @Test("messages of one proxy stay in order, and may overtake those of another on the same queue")
  func twoProxies() async {
    let seen = Locked<Set<[Int]>>([])
    let summary = await run { schedule in
      let (one, other, log) = (Proxy(), Proxy(), Locked<[Int]>([]))
      for proxy in [one, other] {
        proxy.on(.note, delivery: schedule.queue("a")) { number in log.withLock { $0.append(number) } }
      }
      one.broadcast(.note, 1)
      other.broadcast(.note, 2)
      one.broadcast(.note, 3)
      for proxy in [one, other] { try await proxy.drain() }
      let found = log.withLock { $0 }
      seen.withLock { _ = $0.insert(found) }
    }
    expect(summary.isComplete && summary.failure == nil, "\(failures.failures)")
    expect(seen.withLock { $0 }, equals: [[1, 2, 3], [1, 3, 2]])
  }

  // MARK: What cannot be part of a schedule

  @Test("a queue or an actor outside the schedule is reported at once, with its name")
  func foreign() async {
    for (delivery, name) in [
      (Delivery.queue(DispatchQueue(label: "disk")), "queue disk"), (.mainActor, "main actor"),
      (.actor(TestActor()), "actor TestActor"),
    ] {
      let summary = await run { _ in
        let proxy = Proxy()
        proxy.on(.note, delivery: delivery) { _ in }
      }
      expect(summary.failure?.reason.hasPrefix("\(name) does not belong to the schedule") == true)
    }
  }

  @Test("a real sleep in the program is an error instead of a wait")
  func realTime() async {
    let summary = await Schedule.$patience.withValue((.seconds(60), ContinuousClock())) {
      // A sleep that has already ended when its thread continues does not suspend.
      await run { _ in for _ in 0..<20 { try await Task.sleep(for: .milliseconds(1)) } }
    }
    expect(summary.failure?.reason.hasPrefix("body came from a thread outside the schedule") == true)
  }

  @Test("a call to the real main actor is an error")
  func hop() async {
    let summary = await Schedule.$patience.withValue((.seconds(60), ContinuousClock())) {
      await run { _ in await MainActor.run {} }
    }
    expect(summary.failure?.reason.hasPrefix("body came from a thread outside the schedule") == true)
  }

  @Test("a turn that does not end is reported after a timeout")
  func endless() async {
    let (clock, hold, isIn) = (TestClock(), DispatchSemaphore(value: 0), Locked(false))
    @Sendable func block() {
      isIn.withLock { $0 = true }
      hold.wait()
    }
    let summary = await Schedule.$patience.withValue((.milliseconds(500), clock)) {
      async let found = run { _ in block() }
      await until(isIn.withLock { $0 })
      // Once to measure its progress, and once to see that there is none.
      for _ in 1...2 {
        await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
      }
      return await found
    }
    hold.signal()
    expect(summary.orders, equals: 0)
    expect(
      summary.failure?.reason.hasPrefix("a turn has not ended in 10 seconds: it runs endlessly, or blocks") == true)
    expect(failures.failures.count, equals: 1)
  }

  @Test("an order in which every turn waits reports who waits for what")
  func stuck() async {
    let summary = await run { schedule in
      let proxy = Proxy()
      proxy.add(Endless(), delivery: schedule.actor("index"), ownership: .strong)
      _ = try await proxy.collectAndWait(.ask, 1, returning: .last)
    }
    expect(
      summary.failure?.reason,
      equals: """
        deadlock: no turn can continue, and the body has not ended:
          body waits for ask: on actor index
          ask: on actor index, sent by body, has not ended
        """)
  }

  @Test("only the waiting tasks are listed as waiting")
  func stuckTasks() async {
    let summary = await run { schedule in
      let (proxy, log) = (Proxy(), Proxy())
      proxy.add(Endless(), delivery: schedule.actor("index"), ownership: .strong)
      log.on(.note, delivery: schedule.queue("log")) { _ in }
      await withTaskGroup { group in
        group.addTask { _ = log.broadcast(.note, 1) }
        group.addTask { _ = try? await proxy.collectAndWait(.ask, 1, returning: .last) }
      }
    }
    expect(
      summary.failure?.reason,
      equals: """
        deadlock: no turn can continue, and the body has not ended:
          body waits for something other than a message that it sent
          task 2 waits for ask: on actor index
          ask: on actor index, sent by task 2, has not ended
        """)
  }

  @Test("an order in which turns block forever names them, and the last of them continues", arguments: [true, false])
  func stuckTurns(isAsked: Bool) async {
    let left = Locked<Set<String>>([])
    let summary = await run { schedule in
      let (proxy, first, second, ends) = (Proxy(), Proxy(), Proxy(), [Completion(), Completion()])
      for (number, (log, name)) in [(first, "first"), (second, "second")].enumerated() {
        ends[number].enter()
        log.on(.note, delivery: schedule.queue(name)) { _ in
          // The library does not know what this wait is for. It would refuse other waits of both turns.
          let hasEnded = ends[1 - number].wait(until: .never)
          left.withLock { _ = $0.insert("\(name) \(hasEnded)") }
          ends[number].leave()
        }
      }
      first.broadcast(.note, 1)
      second.broadcast(.note, 2)
      guard isAsked else { return }
      proxy.add(Endless(), delivery: schedule.actor("index"), ownership: .strong)
      _ = try synchronously { try proxy.collectBlocking(.ask, 3, returning: .last, timeout: .seconds(Int64.max)) }
    }
    expect(
      summary.failure?.reason,
      equals: """
        deadlock: no turn can continue, and the \(isAsked ? "body" : "turn of a target") has not ended:
        \(isAsked ? "  body waits for ask: on actor index\n" : "")\
          queue first blocks in its turn
          queue second blocks in its turn
          note: on queue first, sent by body, has not ended
          note: on queue second, sent by body, has not ended\
        \(isAsked ? "\n  ask: on actor index, sent by body, has not ended" : "")
        """)
    if !isAsked { expect(left.withLock { $0 }, equals: ["first true", "second false"]) }
  }

  @Test("a timer that repeats after the body has ended, or while it waits, is reported", arguments: [true, false])
  func repeatingTimer(waits: Bool) async {
    let summary = await run { schedule in
      let timer = Task { while !Task.isCancelled { try? await schedule.clock.sleep(for: .seconds(1)) } }
      if waits { await timer.value }
    }
    expect(
      summary.failure?.reason,
      equals: "schedule.clock has advanced 1000 times since the body \(waits ? "began to wait" : "ended"); "
        + "cancel repeating timers before the body ends")
    expect(summary.orders, equals: 1)
  }

  @Test("a timer that repeats while the body awaits a message is no failure")
  func repeatingTimerBeside() async {
    let summary = await run(upTo: 4) { schedule in
      let timer = Task { while !Task.isCancelled { try? await schedule.clock.sleep(for: .seconds(1)) } }
      let (proxy, seen) = (Proxy(), Locked(0))
      proxy.on(.note, delivery: schedule.queue("queue")) { _ in seen.withLock { $0 += 1 } }
      proxy.broadcast(.note, 1)
      try await proxy.drain()
      schedule.expect(seen.withLock { $0 } == 1)
      timer.cancel()
      await timer.value
    }
    expect(summary.failure == nil, "\(summary)")
    expect(summary.orders, equals: 4)
  }

  // MARK: Searches

  @Test("progress is reported after each thousand orders")
  func progress() async {
    let told = Locked<[Int]>([])
    let summary = await everySchedule(
      .random(seed: 1), upTo: 2001, reporter: failures.reporter,
      progress: { summary in told.withLock { $0.append(summary.orders) } }
    ) { _ in }
    expect(summary.orders == 2001 && told.withLock { $0 } == [1000, 2000])
  }

  @Test("an order of more turns than letters has a text, and a short text continues by itself")
  func manyTurns() async throws {
    let program: @Sendable (Schedule) async throws -> Void = { schedule in
      let (proxy, seen) = (Proxy(), Locked(0))
      for queue in 0..<60 { proxy.on(.note, delivery: schedule.queue("\(queue)")) { _ in seen.withLock { $0 += 1 } } }
      proxy.broadcast(.note, 1)
      try await proxy.drain()
      schedule.expect(seen.withLock { $0 } < 60)
    }
    let order = try #require(await run(upTo: 1, program).failure?.order)
    expect(order.contains("Z(52)(53)"), "\(order)")
    expect(await run(.replaying(order), program).failure?.order, equals: order)
    let beginning = String(order.prefix(20))
    expect(await run(.replaying(beginning), program).failure?.order.hasPrefix(beginning) == true)
  }

  @Test("limiting interruptions omits orders, and with enough of them every order runs")
  func changes() async {
    let program: @Sendable (Schedule) async throws -> Void = { schedule in
      let proxy = Proxy()
      for queue in ["a", "b", "c"] { proxy.on(.note, delivery: schedule.queue(queue)) { _ in } }
      proxy.broadcast(.note, 1)
    }
    var counts: [Int] = []
    for changes in 0...3 { counts.append(await run(.every(changes: changes), program).orders) }
    // Without interruptions the body ends first, which leaves 3! orders of three messages.
    expect(counts.first, equals: 6)
    expect(counts.sorted(), equals: counts)
    expect(await run(.every, program).orders, equals: 48)
    expect(counts.last, equals: 48)
  }

  @Test("the same seed gives the same random orders, as many as requested")
  func random() async {
    let program: @Sendable (Schedule) async throws -> Void = { schedule in
      let (proxy, seen) = (Proxy(), Locked<[Int]>([]))
      for queue in 0..<4 {
        proxy.on(.note, delivery: schedule.queue("\(queue)")) { _ in seen.withLock { $0.append(queue) } }
      }
      proxy.broadcast(.note, 1)
      try await proxy.drain()
      schedule.expect(seen.withLock { $0 } != [2, 1, 0, 3])
    }
    let (first, second) = (await run(.random(seed: 3), program), await run(.random(seed: 3), program))
    expect(first.orders == second.orders && first.failure?.order == second.failure?.order && first.failure != nil)
    expect(await run(.random(seed: 3), upTo: 2) { _ in }.orders, equals: 2)
  }

  @Test("if there are too many orders, half run in sequence and half at random, and the summary says so")
  func limit() async {
    let last = Locked<Set<Int>>([])
    let summary = await run(upTo: 40) { schedule in
      let (proxy, seen) = (Proxy(), Locked<[Int]>([]))
      for queue in 0..<6 {
        proxy.on(.note, delivery: schedule.queue("\(queue)")) { _ in seen.withLock { $0.append(queue) } }
      }
      proxy.broadcast(.note, 1)
      try await proxy.drain()
      if let first = seen.withLock({ $0.first }) { last.withLock { _ = $0.insert(first) } }
    }
    expect(!summary.isComplete && summary.orders == 40)
    // Depth first alone would keep the same first message for long.
    expect(last.withLock { $0.count } > 1)
  }

  @Test(
    "an order of another program is refused, and so is malformed text",
    arguments: ["z", "aab9", "", "a(", "a0", "é"])
  func replay(text: String) async {
    let summary = await run(.replaying(text)) { schedule in
      let proxy = Proxy()
      proxy.on(.note, delivery: schedule.queue("a")) { _ in }
      proxy.broadcast(.note, 1)
    }
    expect(summary.failure?.reason.contains("differently") ?? false, equals: false, "\(summary)")
    expect(failures.failures.count, equals: 1)
    // An order that does not fit is not recommended.
    if let failure = summary.failure, failure.reason.contains("does not fit") {
      expect(failure.order.isEmpty && !failure.description.contains("to run only this order"), "\(failure)")
    }
  }

  @Test("a program that differs from run to run is reported")
  func unsteady() async {
    let count = Locked(0)
    let summary = await run { schedule in
      let proxy = Proxy()
      let runs = count.withLock { count in
        count += 1
        return count
      }
      for queue in 0..<(runs % 2 + 1) { proxy.on(.note, delivery: schedule.queue("\(queue)")) { _ in } }
      proxy.broadcast(.note, 1)
    }
    expect(summary.failure?.reason.contains("the program behaved differently") == true)
  }

  @Test("test doubles work in schedules, and their failures are failures of the order")
  func doubles() async {
    let summary = await run { schedule in
      let (proxy, log) = (MulticastProxy<any SharedLog>(), TestDouble(SharedLogProxy()))
      let notes = log.proxy
      proxy.on(.note, delivery: schedule.queue("a")) { number in notes.note("\(number)") }
      proxy.on(.other, delivery: schedule.queue("b")) { notes.note("other") }
      proxy.broadcast(.note, 1)
      proxy.broadcast(.other)
      try await proxy.drain()
      verifyOrder(log.call(SharedLogProxy.Messages.note, "1"), log.call(SharedLogProxy.Messages.note, "other"))
    }
    expect(summary.failure?.reason.hasPrefix("expected SharedLog note(\"other\") after") == true)
  }
}

private actor TestActor {}

/// A target whose method does not end.
private final class Endless: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Endless.self) {
    Responds(
      to: .ask,
      async: { (_: Endless, _: Int) -> Int in
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
          Endless.kept.withLock { $0.append(continuation) }
        }
        return 0
      })
  }
  private static let kept = Locked<[CheckedContinuation<Void, Never>]>([])
}
