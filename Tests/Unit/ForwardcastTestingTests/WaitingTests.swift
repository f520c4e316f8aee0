// WaitingTests.swift: doubles of async requirements, on many threads, and the test clock.

import Dispatch
import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

private typealias Says = ServerProxy.Messages

@Suite("Doubles that wait")
struct WaitingTests {
  private let failures = FailureList()
  private let server: TestDouble<ServerProxy>

  init() { server = TestDouble(ServerProxy(), reporter: failures.reporter) }

  @Test("an async requirement is stubbed like any other")
  func suspending() async throws {
    server.stub(Says.fetch, "/a").fails(Busy()).answers([1, 2])
    server.stub(Says.unread).answers(3)
    await #expect(throws: Busy.self) { try await server.proxy.fetch("/a") }
    try await expect(server.proxy.fetch("/a"), equals: [1, 2])
    await expect(server.proxy.unread(), equals: 3)
    await #expect(throws: MessageError.self) { try await server.proxy.fetch("/b") }
    await server.proxy.ping(1)
    expect(server.calls.count == 5 && failures.failures.isEmpty)
  }

  @Test("an error of a stub that an async caller cannot receive is a failure")
  func lostErrors() async {
    server.stub(Says.ping, 1).fails(Busy())
    server.stub(Says.unread).fails(Busy())
    await server.proxy.ping(1)
    await expect(server.proxy.unread(), equals: 0)
    expect(
      failures.failures.map { $0.text.prefix { $0 != "," } },
      equals: [
        "Server: ping(1) is stubbed with the error Busy()", "Server: unread() is stubbed with the error Busy()",
      ])
  }

  @Test("an async call without a stub awaits the real object")
  func partial() async throws {
    server.fallsBack(to: RealServer())
    server.stub(Says.fetch, "/stubbed").answers([])
    try await expect(server.proxy.fetch("A"), equals: [65])
    try await expect(server.proxy.fetch("/stubbed"), equals: [])
    await expect(server.proxy.unread(), equals: 7)
    try expect(server.proxy.status(of: "x"), equals: 200)
  }

  @Test("a delayed answer arrives when the clock has advanced, and not before")
  func delays() async throws {
    let clock = TestClock()
    server.stub(Says.fetch, .any).delayed(by: .seconds(3), on: clock).answers([1]).fails(Busy())
    let proxy = server.proxy
    let fetching = Task { try await proxy.fetch("/a") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(2))
    expect(clock.sleeperCount, equals: 1)
    expect(server.recording.description, equals: "[Server fetch: \"/a\"] has not ended")
    clock.advance(by: .seconds(1))
    try await expect(fetching.value, equals: [1])
    // The delay applies to all following outcomes.
    let failing = Task { try await proxy.fetch("/a") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(3))
    await #expect(throws: Busy.self) { try await failing.value }
  }

  @Test("canceling a delayed call throws CancellationError")
  func cancelledDelay() async throws {
    let clock = TestClock()
    server.stub(Says.fetch, .any).delayed(by: .seconds(3), on: clock).answers([1])
    let proxy = server.proxy
    let fetching = Task { try await proxy.fetch("/a") }
    await clock.waitForSleepers()
    fetching.cancel()
    await #expect(throws: CancellationError.self) { try await fetching.value }
    expect(clock.sleeperCount, equals: 0)
  }

  @Test("a delay for a synchronous requirement is a failure at the line that created the double")
  func delayWithoutSuspension() throws {
    let server = TestDouble(ServerProxy(), reporter: failures.reporter)
    let line = #line - 1
    server.stub(Says.status, .any).delayed(by: .seconds(3), on: TestClock()).answers(1)
    try expect(server.proxy.status(of: "a"), equals: 1)
    expect(failures.failures.map(\.place.line), equals: [UInt(line)])
    expect(
      failures.failures.first?.text,
      equals: "Server: status(of: \"a\") is stubbed with a delay, but a synchronous caller cannot wait; "
        + "make the requirement async")
  }

  @Test("a wait for calls ends once there are enough, from any thread or task")
  func waits() async {
    let proxy = server.proxy
    proxy.tell("before")
    expect(await server.call(Says.tell, "before").wait())
    DispatchQueue.global().async { for index in 0..<10 { proxy.tell("\(index)") } }
    expect(await server.call(Says.tell, .where("a digit") { $0.count == 1 }).wait(times: 10))
    Task { await proxy.ping(4) }
    expect(await server.call(Says.ping, .where { $0 > 3 }).wait())
    expect(failures.failures.isEmpty && server.verifyNoOtherCalls())
  }

  @Test("a canceled wait is a failure that lists the calls that arrived")
  func cancelledWait() async {
    let (server, failures) = (server, failures)
    server.proxy.tell("other")
    let waiting = Task { await server.call(Says.tell, "wanted").wait(times: 2) }
    let line = #line - 1
    waiting.cancel()
    expect(await !waiting.value)
    expect(failures.failures.map(\.place.line), equals: [UInt(line)])
    expect(
      failures.failures.first?.text,
      equals: """
        Server: waited for at least 2 calls of tell("wanted"), found 0 when the test was canceled
          expected                         | actual
          at least 2 calls: tell("wanted") | ✗ tell("other")
                                           |     argument 0 is "other", expected "wanted"
        """)
  }

  @Test("a wait with a limit ends at the limit, and a satisfied one captures its calls")
  func limitedWait() async {
    expect(await !server.call(Says.tell, "wanted").wait(within: .milliseconds(1)))
    let line = #line - 1
    expect(failures.failures.map(\.place.line), equals: [UInt(line)])
    expect(failures.failures.first?.text.contains("found 0 within 0.001 seconds\n") == true)
    let told = Capture<String>()
    let proxy = server.proxy
    DispatchQueue.global().async { proxy.tell("a") }
    expect(await server.call(Says.tell, .captured(by: told)).wait(within: .seconds(600)))
    expect(told.values == ["a"] && failures.failures.count == 1)
  }

  @Test("a call is recorded once its stub has captured the arguments")
  func capturedBeforeRecorded() {
    let (isApplied, mayGoOn, isOver) = (Latch(), Latch(), Latch())
    let told = Capture<String>()
    let slow = Match<String>.where("held") { _ in
      isApplied.open()
      mayGoOn.pass()
      return true
    }
    server.stub(Says.tell, .captured(by: told, slow))
    let proxy = server.proxy
    DispatchQueue(label: "caller").async {
      proxy.tell("a")
      isOver.open()
    }
    isApplied.pass()
    expect(server.call(Says.tell, "a").count, equals: 0)
    mayGoOn.open()
    isOver.pass()
    expect(server.call(Says.tell, "a").count == 1 && told.values == ["a"])
  }

  @Test("a missing call is reported once the clock has reached the limit, not before")
  func doesNotCome() async {
    let (clock, server) = (TestClock(), server)
    let waiting = Task { await server.call(Says.tell, "late").doesNotCome(within: .seconds(5), on: clock) }
    await clock.waitForSleepers()
    server.proxy.tell("other")
    clock.advance(by: .seconds(4))
    expect(clock.sleeperCount, equals: 1)
    clock.advance(by: .seconds(1))
    expect(await waiting.value)
    expect(await server.call(Says.tell, "late").doesNotCome(within: .milliseconds(1)))
    expect(failures.failures.isEmpty)
  }

  @Test("an unwanted call ends doesNotCome with a failure, whether it arrives during or before the wait")
  func comesAfterAll() async {
    let (clock, server) = (TestClock(), server)
    let waiting = Task { await server.call(Says.tell, "late").doesNotCome(within: .seconds(5), on: clock) }
    let line = #line - 1
    await clock.waitForSleepers()
    server.proxy.tell("late")
    expect(await !waiting.value)
    expect(await !server.call(Says.tell, "late").doesNotCome(within: .seconds(5), on: clock))
    let second = #line - 1
    expect(failures.failures.map(\.place.line), equals: [UInt(line), UInt(second)])
    expect(
      failures.failures.first?.text,
      equals: """
        Server: expected no call of tell("late"), found 1
          expected              | actual
          no call: tell("late") | ✗ tell("late")
        """)
    expect(clock.sleeperCount == 0 && server.verifyNoOtherCalls())
  }

  @Test("a canceled doesNotCome is a failure")
  func cancelledAbsence() async {
    let (clock, server) = (TestClock(), server)
    let waiting = Task { await server.call(Says.tell, "late").doesNotCome(within: .seconds(5), on: clock) }
    await clock.waitForSleepers()
    waiting.cancel()
    expect(await !waiting.value)
    expect(failures.failures.map { $0.text.contains("the test was canceled") }, equals: [true])
  }

  @Test("calls from many threads are all recorded, and each stub outcome is used once")
  func threads() {
    let proxy = server.proxy
    server.stub(Says.status, .any).answers(0, Array(1...999))
    let answers = Capture<Int>()
    server.stub(Says.tell, .any)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for index in 0..<250 { proxy.tell("\((try? proxy.status(of: "\(thread) \(index)")) ?? -1)") }
    }
    let told = server.arguments(of: Says.tell).compactMap(Int.init)
    expect(told.sorted(), equals: Array(0...999))
    expect(server.verify(Says.status, .any, times: 1000) && answers.values.isEmpty)
  }

  @Test("a stub's closure on a Sendable double runs on the calling thread")
  func closures() {
    let (proxy, told) = (server.proxy, Locked<Set<String>>([]))
    server.stub(Says.tell, .any).runs { text in told.withLock { _ = $0.insert(text) } }
    DispatchQueue.concurrentPerform(iterations: 100) { proxy.tell("\($0)") }
    expect(told.withLock { $0.count }, equals: 100)
  }

  @Test("doubles of concurrent tests do not interfere", arguments: 0..<20)
  func parallel(index: Int) async throws {
    server.stub(Says.fetch, .any).answers([UInt8(index)])
    let proxy = server.proxy
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { _ = try await proxy.fetch("/\(index)") } }
      try await group.waitForAll()
    }
    server.verify(Says.fetch, .equal("/\(index)"), times: 10)
    expect(server.verifyNoOtherCalls() && failures.failures.isEmpty)
  }

  @MainActor
  @Test("a main-actor protocol has a double on the main actor")
  func mainActor() async throws {
    let screen = TestDouble(ScreenProxy(), .strict, reporter: failures.reporter)
    let clock = TestClock()
    screen.stub(ScreenProxy.Messages.show, "a")
    screen.stub(ScreenProxy.Messages.ask, .any).answers(true)
    screen.stub(ScreenProxy.Messages.wait).delayed(by: .seconds(1), on: clock).answers("done")
    let proxy: any Screen = screen.proxy
    proxy.show("a")
    expect(try proxy.ask("?"))
    let waiting = Task { try await proxy.wait() }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    expect(try await waiting.value == "done" && failures.failures.isEmpty)
  }
}

extension Stubbing {
  /// Answers with the given values in order.
  fileprivate func answers(_ first: R, _ others: [R]) { _ = others.reduce(answers(first)) { $0.answers($1) } }
}

/// Runs the jobs of its tasks one at a time, in order.
private final class Lane: TaskExecutor {
  private let queue = DispatchQueue(label: "lane")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Waits until all pending jobs have run.
  func rest() { queue.sync {} }
}

@Suite("Test clock")
struct TestClockTests {
  @Test("a sleeper is due once its deadline has passed")
  func due() async throws {
    let clock = TestClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    expect(clock.sleeperCount, equals: 0)
    clock.advance(by: .seconds(1))
    try await task.value
  }

  @Test("sleepers wake in the order of their deadlines, and not before")
  func order() async throws {
    let clock = TestClock()
    let log = TestDouble(SharedLogProxy())
    let tasks = [3, 1, 2].map { seconds in
      Task {
        try await clock.sleep(for: .seconds(seconds))
        log.proxy.note("\(seconds)")
      }
    }
    await clock.waitForSleepers(3)
    for seconds in 1...3 {
      clock.advance(by: .seconds(1))
      await log.call(SharedLogProxy.Messages.note, .equal("\(seconds)")).wait()
      expect(log.calls.count, equals: seconds)
    }
    for task in tasks { try await task.value }
    expect(clock.now.offset, equals: .seconds(3))
  }

  @Test("one advance wakes all due sleepers by deadline, and equal ones in the order in which they slept")
  func several() async throws {
    let (clock, lane, woken) = (TestClock(), Lane(), Locked<[String]>([]))
    let start = clock.now
    let tasks = ["3", "1 first", "2", "1 second", "1 third"].map { name in
      Task(executorPreference: lane) {
        try await clock.sleep(until: start.advanced(by: .seconds(Int(name.prefix(1)) ?? 0)))
        woken.withLock { $0.append(name) }
      }
    }
    await clock.waitForSleepers(5)
    // The last task counts as a sleeper before its job ends, and would continue within it.
    lane.rest()
    clock.advance(by: .seconds(3))
    for task in tasks { try await task.value }
    expect(woken.withLock { $0 }, equals: ["1 first", "1 second", "1 third", "2", "3"])
  }

  @Test("sleeping until a past deadline returns at once, and a canceled task does not sleep")
  func noSleep() async throws {
    let clock = TestClock()
    clock.advance(by: .seconds(5))
    try await clock.sleep(until: clock.now)
    try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)))
    let lane = Lane()
    let task = Task(executorPreference: lane) {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(1))
    }
    lane.rest()
    expect(clock.sleeperCount, equals: 0)
    clock.advance(by: .seconds(1))
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("a task that waits for sleepers continues when canceled")
  func cancelledWatcher() {
    let (clock, lane, goesOn) = (TestClock(), Lane(), Locked(false))
    let watching = Task(executorPreference: lane) {
      await clock.waitForSleepers(2)
      goesOn.withLock { $0 = true }
    }
    lane.rest()
    watching.cancel()
    lane.rest()
    expect(goesOn.withLock { $0 })
  }
}
