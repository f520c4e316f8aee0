// WaitingSenderTests.swift: several senders that wait for capacity of one buffer.

import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Senders that wait for capacity")
struct WaitingSenderTests {
  @Test(
    "a canceled sender's place goes to the next waiting sender",
    arguments: [[0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]])
  func order(canceled: Set<Int>) async throws {
    let (journal, context, proxy) = (Journal(), StepContext("steps"), MulticastProxy<any Member>())
    let target = Clerk("a", journal)
    let line = try #require(proxy.add(target, delivery: .on(context), buffer: .suspendSender(1)).queued?.line)
    proxy.broadcast(.note, 9)
    var senders: [Task<Void, any Error>] = []
    for number in 0..<3 {
      senders.append(Task { try await proxy.broadcastWhenReady(.note, number) })
      await until(line.waitingSenders == number + 1)
    }
    for number in canceled { senders[number].cancel() }
    for number in canceled {
      await #expect(throws: CancellationError.self) { try await senders[number].value }
    }
    expect(line.waitingSenders, equals: 3 - canceled.count)
    let others = (0..<3).filter { !canceled.contains($0) }
    for number in others {
      context.run()
      try await senders[number].value
    }
    context.run()
    expect(journal.all, equals: (["9"] + others.map { "\($0)" }).map { "a \($0)" })
    expect(line.reserveAtOnce())
    withExtendedLifetime(target) {}
  }

  @Test(
    "no place is lost if senders are canceled while places become free", arguments: [1, 2, 5], [2, 3, 40])
  func flood(capacity: Int, count: Int) async throws {
    for round in 0..<bound(10, full: 400) {
      let (proxy, target, queue) = (MulticastProxy<any Member>(), Tally(ordered: false), DispatchQueue(label: "flood"))
      let registration = proxy.add(target, delivery: .queue(queue), buffer: .suspendSender(capacity))
      let senders = (0..<count).map { number in
        Task {
          if number % 3 == 2 {
            _ = try await proxy.collectAndWait(.note, number, returning: .all)
          } else {
            try await proxy.broadcastWhenReady(.note, number)
          }
        }
      }
      for number in senders.indices where (number + round) % 2 == 0 {
        if round % 3 == 0 { await Task.yield() }
        senders[number].cancel()
      }
      var sent = 0
      for sender in senders { if case .success = await sender.result { sent += 1 } }
      try await proxy.drain()
      // A `collect` that was canceled while it waited for its answer has sent its message.
      expect(sent <= target.count && target.count <= count, "round \(round): \(target.count) of \(sent)")
      expectEmpty(registration, capacity, "round \(round)")
      withExtendedLifetime(target) {}
    }
  }

  @Test(
    "every waiting sender resumes if the target is removed or muted, or gets another buffer",
    arguments: ["cancel", "mute", "unmute", "buffer"])
  func changes(how: String) async throws {
    for round in 0..<bound(14, full: 600) {
      let (proxy, target, queue) = (MulticastProxy<any Member>(), Tally(ordered: false), DispatchQueue(label: "flood"))
      let registration = proxy.add(target, delivery: .queue(queue), buffer: .suspendSender(1))
      if round % 2 == 0 { queue.suspend() }
      let senders = (0..<6).map { number in
        Task {
          if number % 2 == 0 {
            try await proxy.broadcastWhenReady(.note, number)
          } else {
            _ = try await proxy.collectAndWait(.note, number, returning: .all)
          }
        }
      }
      for _ in 0..<round % 7 { await Task.yield() }
      switch how {
      case "cancel": registration.cancel()
      case "buffer": proxy.add(target, delivery: .queue(queue), buffer: .suspendSender(3))
      default: registration.mute()
      }
      if how == "unmute" { registration.unmute() }
      if round % 2 == 0 { queue.resume() }
      for sender in senders { try await sender.value }
      try await proxy.drain()
      expectEmpty(registration, how == "buffer" ? 3 : 1, "round \(round)")
      withExtendedLifetime(target) {}
    }
  }

  @Test("a proxy that stops at the first error queues nothing for a sender that learns of it while waiting for room")
  func stopsAtFirst() async throws {
    let (journal, context, queue) = (Journal(), StepContext("steps"), DispatchQueue(label: "full"))
    let proxy = MulticastProxy<any Member>(options: MulticastOptions(errors: .stopAtFirst))
    let (bad, good) = (Clerk("bad", journal), Clerk("good", journal))
    bad.onNote { _ in throw TargetError(name: "bad") }
    queue.suspend()
    let registration = proxy.add(good, delivery: .queue(queue), buffer: .suspendSender(1))
    proxy.broadcast(.say, "before")
    proxy.add(bad, delivery: .on(context), priority: 1)
    let sender = Task { try await proxy.forwardAndWait(Invocation("note:", arguments: [ArgumentBox(1)])).description }
    await until(registration.queued?.line?.waitingSenders == 1)
    context.run()
    queue.resume()
    let text = try await sender.value
    expect(text.contains("failed 1 (Clerk: refused by bad), skipped 1 (Clerk: stopped)"), "\(text)")
    expect(journal.all, equals: ["bad 1", "good: before"])
    expectEmpty(registration, 1, "")
    withExtendedLifetime((bad, good)) {}
  }

  /// Expects that nothing waits, and that the buffer has all of its places.
  private func expectEmpty(_ registration: Registration, _ capacity: Int, _ text: String) {
    guard let line = registration.queued?.line else { return expect(false, "a bounded buffer has a line") }
    expect(line.waitingSenders == 0 && line.count == 0, "\(text)")
    for _ in 0..<capacity { expect(line.reserveAtOnce(), "\(text): a place is lost") }
    expect(!line.reserveAtOnce(), "\(text): a place too many")
  }
}
