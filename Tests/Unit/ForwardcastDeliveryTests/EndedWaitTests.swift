// EndedWaitTests.swift: waits that end early, and what becomes of their targets and errors.

import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Waits that end early")
struct EndedWaitTests {
  /// A proxy that may be nested.
  typealias Outer = MulticastProxy<any MessageReceiver & Sendable>

  let journal = Journal()
  let proxy = MulticastProxy<any Member>()

  enum Form: Int, CaseIterable {
    case collect, forward, canceled
  }

  @Test("an error that a target throws after the sender's timeout goes to onError", arguments: Form.allCases)
  func lateErrors(form: Form) async throws {
    let number = 4750 + form.rawValue
    let (doer, turnstile) = (Doer(), Turnstile.shut(number))
    let timeout = Duration.milliseconds(form == .canceled ? 600_000 : 20)
    proxy.add(doer, ownership: .strong)
    proxy.onError = { [journal] in journal.write("\($0.error)") }
    doer.does { number in
      await Turnstile.passing(number)  // ignores cancellation
      throw TargetError(name: "late")
    }
    let task = Task { [proxy] in
      if form == .forward {
        let message = Invocation("slow:", arguments: [ArgumentBox(number)])
        _ = try await proxy.forwardAndWait(message, timeout: timeout)
      } else {
        _ = try await proxy.collectAndWait(.slow, number, returning: .sum, timeout: timeout)
      }
    }
    await turnstile.arrived(1)
    if form == .canceled { task.cancel() }
    let error = await #expect(throws: (any Error).self) { try await task.value }
    expect(error is CancellationError, equals: form == .canceled)
    expect(journal.all, equals: [])
    turnstile.open()
    await until(!journal.all.isEmpty)
    expect(journal.all, equals: ["refused by late"], "\(form)")
  }

  @Test("a late error of a target of a nested proxy goes to the handler of that proxy")
  func lateNested() async throws {
    let (outer, inner) = (Outer(), Outer())
    let (doer, turnstile) = (Doer(), Turnstile.shut(4761))
    outer.add(inner)
    inner.add(doer)
    outer.onError = { [journal] in journal.write("outer: \($0.error)") }
    inner.onError = { [journal] in journal.write("\($0.receiver): \($0.error)") }
    doer.does { number in
      await Turnstile.passing(number)
      throw TargetError(name: "late")
    }
    await #expect(throws: MessageError.self) {
      try await outer.collectAndWait(.slow, 4761, returning: .sum, timeout: .milliseconds(20))
    }
    turnstile.open()
    await until(!journal.all.isEmpty)
    expect(journal.all, equals: ["Doer: refused by late"])
  }

  @Test("a broadcast that stops waiting for room at its timeout reports nothing else")
  func roomTimeout() async throws {
    let (full, free) = (DispatchQueue(label: "full"), DispatchQueue(label: "free"))
    full.suspend()
    let clerks = ["waiting", "queued"].map { Clerk($0) }
    proxy.onError = { [journal] in journal.write("\($0.error)") }
    proxy.add(clerks[1], delivery: .queue(free))
    proxy.add(clerks[0], delivery: .queue(full), buffer: .suspendSender(1))
    proxy.broadcast(.note, 0)
    let error = await #expect(throws: MessageError.self) {
      try await proxy.broadcastWhenReady(.note, 1, timeout: .milliseconds(20))
    }
    expect(error?.code, equals: .timedOut)
    full.resume()
    try await proxy.drain()
    expect(journal.all, equals: [])
    withExtendedLifetime(clerks) {}
  }

  @Test("a timeout names queued targets also while a direct target is awaited")
  func names() async throws {
    let (clerk, doer) = (Clerk("a", journal), Doer())
    let (queue, turnstile) = (DispatchQueue(label: "held"), Turnstile.shut(4760))
    queue.suspend()
    defer { queue.resume() }
    proxy.add(clerk, delivery: .queue(queue))
    proxy.add(doer)
    doer.does { number in
      await Turnstile.passing(4760)
      return number
    }
    let task = Task { [proxy] in
      try await proxy.collectAndWait(.slow, 1, returning: .sum, timeout: .milliseconds(20))
    }
    await turnstile.arrived(1)
    let error = await #expect(throws: MessageError.self) { try await task.value }
    let text = error?.description ?? ""
    expect(text.contains("Doer") && text.contains("Clerk on queue held"), "\(text)")
    turnstile.open()
    withExtendedLifetime((clerk, doer)) {}
  }

  @Test("a timeout that expires while targets answer names targets or none, not an empty list")
  func namesOnce() async throws {
    let (turnstile, count) = (Turnstile.shut(4762), Locked(0))
    let error = await #expect(throws: MessageError.self) {
      try await TimedWait.run(.milliseconds(1), nil, of: proxy, "value", isolation: nil) {
        _ = TimedWait.current?.begin {
          count.withLock { count in
            count += 1
            return count == 1 ? ["a"] : []
          }
        }
        await turnstile.pass()
      }
    }
    expect(error?.evidence.hasSuffix(" from ") == false, "\(error?.evidence ?? "")")
    turnstile.open()
  }

  @Test("an outer timeout names the targets that a message awaits inside a timeout hook")
  func namesInsideHooks() async throws {
    let clerk = Clerk("a", journal)
    let queue = DispatchQueue(label: "held")
    queue.suspend()
    defer { queue.resume() }
    proxy.add(clerk, delivery: .queue(queue))
    try proxy.around(.value, .timeout(.seconds(600)))
    var (text, timeout) = ("", Duration.milliseconds(20))
    // On a busy machine, the first timeouts may end before the message is posted.
    while !text.contains("Clerk on queue held"), timeout < .seconds(60) {
      do {
        _ = try await proxy.collectAndWait(.value, returning: .sum, timeout: timeout)
      } catch {
        text = "\(error)"
      }
      timeout *= 4
    }
    expect(text.contains("Clerk on queue held"), "\(text)")
    withExtendedLifetime(clerk) {}
  }

  @Test("the longest duration never times out, whatever clock measures it")
  func forever() async throws {
    let doer = Doer()
    proxy.add(doer, ownership: .strong)
    doer.does { number in
      await Task.yield()
      return number
    }
    for timeout in [Duration.seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 0)] {
      let answer = try await proxy.collectAndWait(
        .slow, 7, returning: .sum, timeout: timeout, clock: ContinuousClock())
      expect(answer, equals: 7)
    }
  }

  @Test("a blocking call fails at once if an automatic target must wait for the queue that the caller holds")
  func blocking() throws {
    let (queue, aside) = (DispatchQueue(label: "work"), DispatchQueue(label: "aside"))
    let second = Clerk("second", journal)
    proxy.on(.agrees, delivery: .direct) { [proxy] in
      // A message from elsewhere is queued, so the second target is no longer free.
      aside.sync { _ = proxy.broadcast(.note, 1) }
      return false
    }
    proxy.add(second, delivery: .automatic(queue))
    let error = #expect(throws: MessageError.self) {
      try queue.sync { try proxy.collectBlocking(.agrees, returning: .any, timeout: .seconds(60)) }
    }
    expect(error?.code, equals: .wouldDeadlock)
    withExtendedLifetime(second) {}
  }

  @Test("a sender that stops waiting for room learns how many targets have the message", arguments: [false, true])
  func counts(listens: Bool) async throws {
    let (outer, inner) = (Outer(), Outer())
    let (full, free) = (DispatchQueue(label: "full"), DispatchQueue(label: "free"))
    full.suspend()
    let clerks = ["direct", "waiting", "queued"].map { Clerk($0, journal) }
    inner.add(clerks[1], delivery: .queue(full), buffer: .suspendSender(1))
    inner.broadcast(.note, 0)
    outer.add(clerks[0])
    outer.add(inner)
    outer.add(clerks[2], delivery: .queue(free))
    // A hook lets direct targets run before the buffer is found full.
    if listens { try inner.before(.note) { _ in } }
    let task = Task { try await outer.broadcastWhenReady(.note, 1) }
    if listens { await until(journal.all.contains("direct 1")) }
    await until(inner.registrations[0].queued?.line?.waitingSenders == 1)
    task.cancel()
    let error = await #expect(throws: MessageError.self) { try await task.value }
    let count = listens ? "2 targets have" : "1 target has"
    expect(error?.code == .cancelled && error?.description.contains(count) == true, "\(error?.description ?? "")")
    full.resume()
    withExtendedLifetime(clerks) {}
  }

  @Test("a stream of a nested proxy does not change the order of its queued target")
  func order() {
    for listens in [false, true] {
      let (outer, inner) = (Outer(), Outer())
      let (direct, queued, queue) = (Clerk("direct", journal), Clerk("queued", journal), DispatchQueue(label: "q"))
      direct.onNote { number in if number == 1 { outer.broadcast(.note, 2) } }
      outer.add(direct)
      inner.add(queued, delivery: .queue(queue))
      outer.add(inner)
      let stream = listens ? inner.messages(for: .note) : nil
      outer.broadcast(.note, 1)
      queue.sync {}
      expect(journal.take().filter { $0.hasPrefix("queued") }, equals: ["queued 1", "queued 2"], "\(listens)")
      direct.onNote(nil)
      withExtendedLifetime((stream, direct, queued)) {}
    }
  }
}
