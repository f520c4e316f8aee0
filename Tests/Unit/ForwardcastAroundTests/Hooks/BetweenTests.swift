// BetweenTests.swift: proxies, hooks and queues between a sender and its targets, combined.

import Dispatch
import Forwardcast
import TestSupport
import Testing

@Suite("Between a sender and its targets", .timeLimit(.minutes(10)))
struct BetweenTests {
  let journal = Journal()

  /// Forwards every message to a proxy.
  private final class Lead: ForwardingProxy, @unchecked Sendable {  // immutable
    private let rooms: Rooms
    init(_ rooms: Rooms) {
      self.rooms = rooms
      super.init()
    }
    override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { rooms }
  }

  private func desk(_ name: String, worth: Int, in proxy: Rooms, on queue: String? = nil) -> Desk {
    let desk = Desk(name, worth: worth, journal)
    let delivery: Delivery = queue.map { .queue(DispatchQueue(label: $0)) } ?? .direct
    proxy.add(desk, delivery: delivery, ownership: .strong)
    return desk
  }

  private var quote: Invocation { Invocation("quote:", arguments: [.init(1)]) }

  @Test("a synchronous hook refuses an awaited send to a queued target behind a forwarding object, and nothing runs")
  func plainAroundBeforeLead() async throws {
    let (outer, inner) = (Rooms(), Rooms())
    _ = desk("bo", worth: 2, in: inner, on: "bo")
    outer.add(Lead(inner), ownership: .strong)
    let hook = try outer.around(.quote) { try $0.proceed() }
    let error = await #expect(throws: MessageError.self) { try await outer.collectAndWait(.quote, 1, returning: .all) }
    expect(error?.code, equals: .isolationMismatch)
    let boxed = await #expect(throws: MessageError.self) { try await outer.collectAndWait(quote, returning: .all) }
    expect(boxed?.code, equals: .isolationMismatch)
    try await expect(outer.forwardAndWait(quote).failures.count, equals: 1)
    expect(journal.all, equals: [])
    hook.cancel()
    try await expect(outer.collectAndWait(.quote, 1, returning: .all), equals: [3])
  }

  @Test("a queued proxy whose hooks remove every answer has none, and somebody has responded")
  func answersRemovedOnQueue() async throws {
    let (outer, inner) = (Rooms(options: MulticastOptions(noResponder: .throw)), Rooms())
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")), ownership: .strong)
    _ = desk("bo", worth: 2, in: inner)
    try inner.around("quote:") { call in
      _ = try call.proceed()
      return []
    }
    try await expect(outer.collectAndWait(.quote, 1, returning: .all), equals: [])
    try await expect(outer.collectAndWait(.quote, 1, returning: .firstSuccess), equals: nil)
    try await expect(outer.forwardAndWait(quote).answers.count, equals: 1)
    expect(journal.all.count, equals: 3)
  }

  @Test("hooks of a queued proxy see the answers of its queued targets, however the sender waits")
  func hooksOnQueue() async throws {
    let (outer, inner) = (Rooms(), Rooms())
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")), ownership: .strong)
    _ = desk("bo", worth: 2, in: inner, on: "bo")
    _ = desk("cy", worth: 3, in: inner)
    try inner.after(.quote) { journal.write("after \($1): \($0)") }
    let exchanges = inner.exchanges(for: .quote)
    func afterwards() -> [String] {
      return journal.take().filter { $0.hasPrefix("after") }
    }
    try await expect(outer.collectAndWait(.quote, 1, returning: .all), equals: [4])
    expect(afterwards(), equals: ["after 1: [3, 4]"])
    let boxes = try await outer.collectAndWait(quote, returning: .all)
    try expect(boxes.map { try $0.unbox(as: Int.self) }, equals: [4])
    expect(afterwards(), equals: ["after 1: [3, 4]"])
    expect(try synchronously { try outer.forwardBlocking(quote, timeout: .seconds(600)) }.answers.count, equals: 1)
    expect(afterwards(), equals: ["after 1: [3, 4]"])
    try expect(
      synchronously { try outer.collectBlocking(.quote, 1, returning: .all, timeout: .seconds(600)) }, equals: [4])
    expect(afterwards(), equals: ["after 1: [3, 4]"])
    try await expect(outer.forwardAndWait(quote).answers.count, equals: 1)
    expect(afterwards(), equals: ["after 1: [3, 4]"])
    var heard: [[Int]] = []
    for await exchange in exchanges {
      heard.append(exchange.answers)
      if heard.count == 5 { break }
    }
    expect(heard, equals: Array(repeating: [3, 4], count: 5))
  }

  @Test("answers that a hook adds or removes do not change the number of deliveries", arguments: [false, true])
  func counts(isNested: Bool) throws {
    let (outer, inner) = (Rooms(), Rooms())
    _ = desk("bo", worth: 2, in: inner)
    if isNested { outer.add(inner) }
    let proxy = isNested ? outer : inner
    let many = try inner.around(.quote) {
      _ = try $0.proceed(); return [7, 8, 9]
    }
    expect(proxy.broadcast(.quote, 1).delivered, equals: 1)
    expect(proxy.broadcast(quote).delivered, equals: 1)
    try expect(proxy.collect(.quote, 1, returning: .all), equals: [7, 8, 9])
    many.cancel()
    try inner.around(.quote) {
      _ = try $0.proceed(); return []
    }
    expect(proxy.broadcast(.quote, 1).delivered, equals: 1)
    var call = quote
    let report = try proxy.forward(&call)
    expect(report.answers.compactMap { ($0.target as? Desk)?.name }, equals: ["bo"])
    expect(report.answers.allSatisfy { $0.result == nil } && !report.nobodyResponded)
    try expect(proxy.collect(.quote, 1, returning: .all), equals: [])
  }

  @Test("collect returns an empty list if a hook discards all errors and answers")
  func askedBehindHook() throws {
    let rooms = Rooms()
    _ = desk("bo", worth: 2, in: rooms, on: "bo")
    _ = desk("cy", worth: 3, in: rooms)
    try rooms.around(.quote) { call in
      _ = try? call.proceed()
      return []
    }
    try expect(rooms.collect(.quote, -1, returning: .all), equals: [])
    try expect(rooms.collect(.quote, 1, returning: .all), equals: [])
  }

  @Test("an error for a missing responder that a hook handles counts as no answer and stops no other target")
  func handledSilence() throws {
    let handled = Locked(0)
    let silent = Rooms(options: MulticastOptions(noResponder: .throw))
    try silent.around(.quote) { call in
      do { return try call.proceed() } catch { return [] }
    }
    let outer = Rooms(
      options: MulticastOptions(noResponder: .handle { _ in handled.withLock { $0 += 1 } }, errors: .stopAtFirst))
    outer.add(silent)
    var call = quote
    let alone = try outer.forward(&call)
    expect(alone.nobodyResponded && alone.delivered == 0)
    expect(alone.skipped.map(\.reason), equals: [.doesNotRespond])
    expect(handled.withLock { $0 }, equals: 1)
    let bo = desk("bo", worth: 2, in: outer)
    let report = try outer.forward(&call)
    expect(report.answers.map { $0.target === bo }, equals: [true])
    expect(report.skipped.map(\.reason), equals: [.doesNotRespond])
  }

  @Test("a report behind a hook that handles an error lists targets in delivery order", arguments: [false, true])
  func handledErrorsInOrder(isNested: Bool) throws {
    let (outer, inner) = (Rooms(), Rooms())
    if isNested { outer.add(inner) }
    let proxy = isNested ? outer : inner
    let refusing: @Sendable (BareReceiver, Int) throws -> Int = { _, _ in throw Refusal(name: "refused") }
    let accepting: @Sendable (BareReceiver, Int) throws -> Int = { _, amount in amount }
    let targets = [accepting, refusing, accepting, refusing].map { body in
      BareReceiver { Responds(to: .quote, body) }
    }
    for target in targets { inner.add(target) }
    try inner.around(.quote) { call in
      do { return try call.proceed() } catch { return [] }
    }
    var call = quote
    let report = try proxy.forward(&call)
    expect(report.answers.map { answer in targets.firstIndex { $0 === answer.target } }, equals: [0, 1, 2, 3])
    expect(report.failures.count, equals: 0)
  }

  @Test("a boxed message without a result needs no answers, wherever its targets run")
  func nothingToAnswer() throws {
    let (outer, inner) = (Rooms(), Rooms())
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    _ = desk("bo", worth: 2, in: inner)
    _ = desk("cy", worth: 3, in: outer, on: "cy")
    let say = Invocation("say:", arguments: [.init("x")])
    try expect(outer.collect(say, returning: .all).count, equals: 0)
    let error = #expect(throws: MessageError.self) { try outer.collect(quote, returning: .all) }
    expect(error?.code, equals: .notAwaited)
  }

  @Test("a hook that proceeds twice sends twice to a queued proxy and to the queued targets inside it")
  func twiceThroughQueues() throws {
    let (outer, inner) = (Rooms(), Rooms())
    let (first, second) = (DispatchQueue(label: "inner"), DispatchQueue(label: "bo"))
    outer.add(inner, delivery: .queue(first))
    let bo = Desk("bo", worth: 2, journal)
    inner.add(bo, delivery: .queue(second))
    try outer.around(.quote) { call in
      _ = try call.proceed()
      return try call.proceed(with: 2)
    }
    expect(outer.broadcast(.quote, 1).queued, equals: 1)
    first.sync {}
    second.sync {}
    expect(journal.all, equals: ["bo quotes 1", "bo quotes 2"])
  }

  @Test("targets after a pending answer still run; a queued proxy returns only its last answer")
  func pendingAnswer() async throws {
    for isQueued in [false, true] {
      let (outer, inner, held) = (Rooms(), Rooms(), DispatchQueue(label: "bo"))
      outer.add(inner, delivery: isQueued ? .queue(DispatchQueue(label: "inner")) : .direct)
      let bo = Desk("bo", worth: 2, journal)
      inner.add(bo, delivery: .queue(held), ownership: .strong)
      let kept = [desk("cy", worth: 3, in: inner), desk("di", worth: 4, in: inner)]
      held.suspend()
      async let answer = outer.collectAndWait(.quote, 1, returning: .first)
      await until(journal.all == ["cy quotes 1", "di quotes 1"])
      held.resume()
      try await expect(answer, equals: isQueued ? 5 : 3)
      journal.take()
      withExtendedLifetime(kept) {}
    }
  }

  @Test("a report lists a nested proxy that is registered for other selectors last, as out of scope")
  func otherSelectors() throws {
    let (outer, inner) = (Rooms(), Rooms())
    outer.add(inner, only: ["say:"])
    let bo = desk("bo", worth: 2, in: inner)
    let cy = desk("cy", worth: 3, in: outer)
    outer.mute(cy)
    var call = quote
    let report = try outer.forward(&call)
    expect(report.answers.count, equals: 0)
    expect(report.skipped.map { $0.target === inner }, equals: [false, true])
    expect(report.skipped.map(\.reason), equals: [.muted, .outOfScope])
    withExtendedLifetime((bo, cy)) {}
  }

  @Test("a report assigns answers that a hook makes up to the hook's proxy", arguments: [false, true])
  func ownAnswers(isNested: Bool) async throws {
    let (outer, inner) = (Rooms(), Rooms())
    _ = desk("bo", worth: 2, in: inner)
    if isNested { outer.add(inner) }
    let proxy = isNested ? outer : inner
    try inner.around(.quote) { _ in
      [7]
    } waiting: { _ in
      [7]
    }
    var call = quote
    for report in [
      try proxy.forward(&call), try await proxy.forwardAndWait(quote),
      try synchronously { try proxy.forwardBlocking(quote, timeout: .seconds(600)) },
    ] {
      expect(report.answers.count, equals: 1)
      expect(report.answers.first?.target === inner)
      expect(report.skipped.map(\.reason), equals: [.withheld])
    }
  }

  @Test("a target added to a nested proxy while hooks run receives only the next message")
  func joining() throws {
    let (outer, inner) = (Rooms(), Rooms())
    outer.add(inner)
    _ = desk("bo", worth: 2, in: inner)
    let late = Desk("late", worth: 9, journal)
    try outer.before(.quote) { _ in
      inner.add(late)
      try inner.before(.quote) { journal.write("hook \($0)") }
    }
    try expect(outer.collect(.quote, 1, returning: .all), equals: [3])
    expect(journal.all, equals: ["bo quotes 1"])
    journal.take()
    try expect(outer.collect(.quote, 2, returning: .all), equals: [4, 11])
    expect(journal.all, equals: ["hook 2", "bo quotes 2", "late quotes 2"])
  }

  @Test("a report behind hooks lists each target once and no dead target as queued", arguments: [false, true])
  func lists(hasHook: Bool) throws {
    let (outer, inner) = (Rooms(), Rooms())
    outer.add(inner)
    let bo = desk("bo", worth: 2, in: inner)
    inner.mute(bo)
    var gone: Desk? = Desk("gone", journal)
    let queue = DispatchQueue(label: "gone")
    if let gone { outer.add(gone, delivery: .queue(queue)) }
    var call = quote
    if hasHook { try outer.after(.quote) { _, _ in } }
    _ = outer.broadcast(.say, "so that there is a route")
    // A running delivery would keep it alive.
    queue.sync {}
    gone = nil
    let report = try outer.forward(&call)
    expect(report.queued.isEmpty && report.answers.isEmpty)
    expect(report.skipped.filter { $0.target === bo }.map(\.reason), equals: [.muted])
    expect(report.skipped.count { $0.reason == .dead } <= 1, equals: true)
  }

  @Test("a target behind a nested queued proxy counts as a responder")
  func somebodyElsewhere() throws {
    let outer = Rooms(options: MulticastOptions(noResponder: .throw))
    let inner = Rooms()
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    _ = desk("bo", worth: 2, in: inner, on: "bo")
    try outer.before(.quote) { _ in }
    var call = quote
    try expect(outer.forward(&call).nobodyResponded, equals: false)
    expect(outer.broadcast(.quote, 1).nobodyResponded, equals: false)
    let error = #expect(throws: MessageError.self) { try outer.collect(.quote, 1, returning: .all) }
    expect(error?.code, equals: .notAwaited)
  }
}
