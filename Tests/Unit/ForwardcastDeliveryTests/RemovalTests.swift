// RemovalTests.swift: targets that are removed while messages wait.

import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

@Suite("Removal while messages wait")
struct RemovalTests {
  let journal = Journal()
  let context = StepContext("steps")
  let other = StepContext("other")
  let proxy = MulticastProxy<any MessageReceiver & Sendable>()
  let inner = MulticastProxy<any MessageReceiver & Sendable>()

  enum Removal: CaseIterable, Sendable { case target, registration, all, delivery, nestedProxy, weaker }

  enum Verb: CaseIterable, Sendable { case typed, boxed, report, waiting, reportWaiting, blocking }

  private func remove(_ registration: Registration, _ how: Removal) {
    switch how {
    case .target: if let target = registration.target as? Clerk { inner.remove(target) }
    case .registration: registration.cancel()
    case .all: inner.removeAll()
    case .delivery: inner.removeAll(on: .on(context))
    case .nestedProxy: proxy.remove(inner)
    case .weaker:
      if let target = registration.target as? Clerk { inner.add(target, delivery: .on(context), ownership: .weak) }
    }
  }

  /// Sends a message. The task returns the outcome at the first target.
  private func send(_ verb: Verb) -> Task<String, any Error> {
    @Sendable func note() -> Invocation { Invocation("note:", arguments: [ArgumentBox(1)]) }
    switch verb {
    case .typed: proxy.broadcast(.note, 1)
    case .boxed: proxy.broadcast(note())
    case .report:
      var message = note()
      _ = try? proxy.forward(&message)
    case .waiting:
      return Task { [proxy] in "\(try await proxy.collectAndWait(.note, 1, returning: .all).count) answers" }
    case .reportWaiting:
      return Task { [proxy] in "\(try await proxy.forwardAndWait(note()).skipped.map(\.reason))" }
    case .blocking:
      return Task { [proxy] in
        let report = Locked<String>("")
        await onThread {
          let found = try? proxy.forwardBlocking(note(), timeout: .seconds(600))
          report.withLock { $0 = "\(found?.skipped.map(\.reason) ?? [])" }
        }
        return report.withLock { $0 }
      }
    }
    return Task { "" }
  }

  @Test(
    "a sender does not wait for a removed target whose queue is suspended",
    arguments: [Verb.waiting, .reportWaiting, .blocking],
    [Removal.target, .registration, .all, .delivery, .nestedProxy])
  func waiting(verb: Verb, removal: Removal) async throws {
    let target = Clerk("a", journal)
    defer { withExtendedLifetime(target) {} }
    proxy.add(inner)
    let registration = inner.add(target, delivery: .on(context))
    let answer = send(verb)
    await until(context.waiting > 0)
    remove(registration, removal)
    // Ends although the context has not run.
    try await expect(answer.value, equals: verb == .waiting ? "0 answers" : "[removed]")
    context.run()
    expect(journal.all, equals: [])
    expect(registration.dropped, equals: 1)
  }

  @Test("a sender waits for a method that has started, even if its target was removed meanwhile")
  func started() async throws {
    let (target, turnstile) = (Clerk("a", journal), Turnstile.shut(5173))
    let registration = proxy.add(target, delivery: .on(context))
    let answer = Task { [proxy] in try await proxy.collectAndWait(.slow, 5173, returning: .all) }
    await until(context.waiting > 0)
    context.run()
    await turnstile.arrived(1)
    registration.cancel()
    turnstile.open()
    try await expect(answer.value, equals: [5173])
    context.run()
    withExtendedLifetime(target) {}
  }

  @Test("a sender waits for a removed target whose queued messages are still delivered")
  func deliverPending() async throws {
    let target = Clerk("a", journal)
    let registration = proxy.add(target, delivery: .on(context), whenRemoved: .deliverPending)
    let answer = Task { [proxy] in try await proxy.collectAndWait(.value, returning: .all) }
    await until(context.waiting > 0)
    registration.cancel()
    context.run()
    try await expect(answer.value, equals: [1])
    withExtendedLifetime(target) {}
  }

  @Test(
    "queued messages do not retain a strong target that is removed or becomes weak",
    arguments: Verb.allCases, Removal.allCases.filter { $0 != .nestedProxy })
  func released(verb: Verb, removal: Removal) async throws {
    let (counter, stays) = (LeakCounter(), Clerk("b", journal))
    proxy.add(inner)
    inner.add(stays, delivery: .on(other))
    let registration = inner.add(Clerk("a", journal, counter), delivery: .on(context), ownership: .strong)
    let answer = send(verb)
    await until(context.waiting > 0 && other.waiting > 0)
    expect(counter.alive, equals: 1)
    remove(registration, removal)
    expect(counter.alive, equals: 0)
    context.run()
    other.run()
    _ = try await answer.value
    expect(journal.all.filter { $0.hasPrefix("a") }, equals: [])
    withExtendedLifetime(stays) {}
  }

  @Test("a queued message does not retain a canceled closure", arguments: [true, false])
  func closure(isBoxed: Bool) {
    let (counter, shared) = (LeakCounter(), MulticastProxy<any Member>())
    let registration: Registration
    do {
      let witness = Witness(counter)
      registration = shared.on(.note, delivery: .on(context)) { [journal] number in
        journal.write("\(number)")
        withExtendedLifetime(witness) {}
      }
    }
    let boxed = Invocation("note:", arguments: [ArgumentBox(1)])
    if isBoxed { shared.broadcast(boxed) } else { shared.broadcast(.note, 1) }
    context.run()
    shared.broadcast(.note, 2)
    expect(counter.alive, equals: 1)
    registration.cancel()
    expect(counter.alive, equals: 0)
    context.run()
    expect(journal.all, equals: ["1"])
  }
}
