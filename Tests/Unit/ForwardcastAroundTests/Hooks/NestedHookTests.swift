// NestedHookTests.swift: hooks of nested proxies.

import Dispatch
import Forwardcast
import TestSupport
import Testing

@Suite("Hooks of nested proxies")
struct NestedHookTests {
  let journal = Journal()

  private func pair() -> (outer: Desks, inner: Desks) {
    let inner = Desks.of(Desk("bo", worth: 2, journal), Desk("cy", worth: 3, journal))
    let outer = Desks.of(Desk("ann", worth: 1, journal))
    outer.add(inner, ownership: .strong)
    outer.add(Desk("di", worth: 4, journal), ownership: .strong)
    return (outer, inner)
  }

  /// The same with one target each; the outer proxy stops at the first error.
  private func stoppingPair() -> (outer: Desks, inner: Desks) {
    let inner = Desks.of(Desk("bo", journal))
    let outer = Desks(options: MulticastOptions(errors: .stopAtFirst))
    outer.add(inner, ownership: .strong)
    outer.add(Desk("di", worth: 4, journal), ownership: .strong)
    return (outer, inner)
  }

  @Test("hooks of an inner proxy run when delivery reaches it, around its own targets only")
  func turn() throws {
    let (outer, inner) = pair()
    try inner.before(.quote) { journal.write("inner before \($0)") }
    try inner.after(.quote) { journal.write("inner after \($1): \($0)") }
    try outer.before(.quote) { journal.write("outer before \($0)") }
    try expect(outer.collect(.quote, 1, returning: .all), equals: [2, 3, 4, 5])
    expect(
      journal.all,
      equals: [
        "outer before 1", "ann quotes 1", "inner before 1", "bo quotes 1", "cy quotes 1", "inner after 1: [3, 4]",
        "di quotes 1",
      ])
  }

  @Test("arguments and answers that an inner proxy's hook changes apply to its own targets only")
  func changes() throws {
    let (outer, inner) = pair()
    try inner.around(.quote) { call in try call.proceed(with: 10).map { $0 * 100 } }
    try expect(outer.collect(.quote, 1, returning: .all), equals: [2, 1200, 1300, 5])
    var call = Invocation("quote:", arguments: [ArgumentBox(1)])
    let report = try outer.forward(&call)
    try expect(report.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [2, 1200, 1300, 5])
    // If a hook returns as many answers as there were, they stay with their targets.
    expect(report.answers.map { ($0.target as? Desk)?.name ?? "proxy" }, equals: ["ann", "bo", "cy", "di"])
  }

  @Test(
    "if a hook returns another number of answers, the report lists them for the inner proxy and none for its targets")
  func ownAnswers() throws {
    let (outer, inner) = pair()
    try inner.around(.worth) { call in
      _ = try call.proceed()
      return [100]
    }
    var call = Invocation("worth")
    let report = try outer.forward(&call)
    try expect(report.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [1, 100, 4])
    expect(report.answers.map { ($0.target as? Desk)?.name ?? "proxy" }, equals: ["ann", "bo", "cy", "proxy", "di"])
    let own = ObjectIdentifier(report.answers[3].target)
    expect(own, equals: ObjectIdentifier(inner))
    expect(outer.broadcast(.worth).delivered, equals: 4)
  }

  @Test("a hook that does not proceed skips the inner proxy's targets, and the outer targets still run")
  func withheld() throws {
    let (outer, inner) = pair()
    try inner.around("quote:") { _ in [] }
    var call = Invocation("quote:", arguments: [ArgumentBox(1)])
    let report = try outer.forward(&call)
    expect(report.skipped.map(\.reason), equals: [.withheld, .withheld])
    expect(report.skipped.map { ($0.target as? Desk)?.name }, equals: ["bo", "cy"])
    expect(journal.all, equals: ["ann quotes 1", "di quotes 1"])
    expect(outer.broadcast(.quote, 1).delivered, equals: 2)
  }

  @Test("an error of an inner hook is a failure of the inner proxy and goes to its onError, or else to the outer one's")
  func errors() throws {
    let (outer, inner) = pair()
    let (outerErrors, innerErrors) = (Journal(), Journal())
    outer.onError = { outerErrors.write("\($0.error)") }
    try inner.before(.quote) { _ in throw Refusal(name: "guard") }
    expect(outer.broadcast(.quote, 1).failed, equals: 1)
    inner.onError = { innerErrors.write("\($0.error)") }
    expect(outer.broadcast(.quote, 1).delivered, equals: 2)
    expect(outerErrors.all == ["refused by guard"] && innerErrors.all == ["refused by guard"])
    #expect(throws: Refusal(name: "guard")) { try outer.collect(.quote, 1, returning: .sum) }
  }

  @Test("a proxy that stops at the first error stops at an inner hook's error")
  func stopping() throws {
    let (outer, inner) = stoppingPair()
    try inner.before(.quote) { _ in throw Refusal(name: "guard") }
    #expect(throws: Refusal(name: "guard")) { try outer.collect(.quote, 1, returning: .sum) }
    expect(journal.all, equals: [])
  }

  @Test("a proxy that stops at the first error stops at the error of a target behind an inner hook")
  func stoppingBehindHook() throws {
    let (outer, inner) = stoppingPair()
    outer.onError = { _ in }
    try inner.after(.quote) { _, _ in }
    let summary = outer.broadcast(.quote, -1)
    expect(summary.failed == 1 && summary.delivered == 0)
    expect(journal.all, equals: ["bo quotes -1"])
  }

  @Test("a proxy that stops at the first error continues if an inner hook catches it, also for a report")
  func goingOnBehindHook() throws {
    let (outer, inner) = stoppingPair()
    try inner.around(.quote) { call in (try? call.proceed(with: -1)) ?? [0] }
    try expect(outer.collect(.quote, 1, returning: .all), equals: [0, 5])
    var call = Invocation("quote:", arguments: [ArgumentBox(1)])
    let report = try outer.forward(&call)
    expect(report.failures.count, equals: 0)
    expect(report.answers.last.flatMap { ($0.target as? Desk)?.name }, equals: "di")
  }

  @Test("an error of an inner hook replaces the answers of its targets")
  func errorInPlaceOfAnswers() throws {
    let (outer, inner) = pair()
    try inner.after(.quote) { _, _ in throw Refusal(name: "guard") }
    #expect(throws: Refusal(name: "guard")) { try outer.collect(.quote, 1, returning: .all) }
    outer.targets.compactMap { $0 as? Desk }.filter { $0.name == "ann" }.forEach { outer.remove($0) }
    try expect(outer.collect(.quote, 1, returning: .firstSuccess), equals: 5)
    var call = Invocation("quote:", arguments: [ArgumentBox(1)])
    let report = try outer.forward(&call)
    expect(report.answers.map { ($0.target as? Desk)?.name }, equals: ["bo", "cy", "di"])
    expect(report.failures.count, equals: 1)
  }

  @Test("a report lists a failed target as called if an inner hook catches its error")
  func takenErrorIsListed() throws {
    let (outer, inner) = pair()
    try inner.around(.quote) { call in (try? call.proceed(with: -1)) ?? [] }
    var call = Invocation("quote:", arguments: [ArgumentBox(1)])
    let report = try outer.forward(&call)
    expect(report.failures.count, equals: 0)
    expect(report.answers.map { ($0.target as? Desk)?.name }, equals: ["ann", "bo", "cy", "di"])
  }

  @Test("failures of a hook's first attempt go to onError, and those of its last are the message's")
  func retry() throws {
    let (outer, inner) = pair()
    let told = Journal()
    inner.onError = { told.write("\($0.error)") }
    try inner.around(.quote) { call in
      _ = try call.proceed()
      return try call.proceed(with: 1)
    }
    outer.onError = { _ in }
    let summary = outer.broadcast(.quote, -1)
    expect(summary.delivered == 2 && summary.failed == 2)
    expect(told.all, equals: ["refused by bo", "refused by cy"])
  }

  @Test("an inner hook may answer for a failed target, whose error then does not fail the message")
  func rescue() throws {
    let (outer, inner) = pair()
    let told = Journal()
    inner.onError = { told.write("\($0.error)") }
    try inner.around(.quote) { call in
      do { return try call.proceed(with: -1) } catch { return [0] }
    }
    try expect(outer.collect(.quote, 1, returning: .all), equals: [2, 0, 5])
    expect(told.all, equals: ["refused by cy"])
  }

  @Test("a target whose error an inner hook handles has responded, also for a proxy between")
  func handledBetween() throws {
    let inner = Desks.of(Desk("bo", journal))
    let between = Desks(options: MulticastOptions(noResponder: .throw))
    let outer = Desks.of(Desk("ann", worth: 1, journal))
    outer.add(between, ownership: .strong)
    between.add(inner, ownership: .strong)
    try inner.around(.quote) { call in (try? call.proceed(with: -1)) ?? [] }
    try expect(outer.collect(.quote, 1, returning: .all), equals: [2])
  }

  @Test("hooks of an inner proxy run even if none of its targets responds")
  func silence() throws {
    let inner = Desks(options: MulticastOptions(noResponder: .throw))
    let outer = Desks.of(Desk("ann", worth: 1, journal))
    outer.add(inner, ownership: .strong)
    try inner.before(.worth) { journal.write("inner") }
    #expect(throws: MessageError.self) { try outer.collect(.worth, returning: .sum) }
    expect(journal.all, equals: ["ann worth", "inner"])
  }

  @Test("awaited sends run the asynchronous forms of inner hooks")
  func waiting() async throws {
    let (outer, inner) = pair()
    try inner.around(.worth) { _ in
      []
    } waiting: { call in
      await Task.yield()
      return try await call.proceed().map { $0 * 10 }
    }
    try await expect(outer.collectAndWait(.worth, returning: .all), equals: [1, 20, 30, 4])
    try expect(outer.collect(.worth, returning: .all), equals: [1, 4])
  }

  @Test("hooks of a queued inner proxy run on its queue, and the waiting sender gets their answers")
  func queued() async throws {
    let inner = SharedDesks()
    inner.add(Desk("bo", worth: 2, journal), delivery: .direct, ownership: .strong)
    let outer = MulticastProxy<any MessageReceiver & Sendable>()
    let queue = DispatchQueue(label: "inner")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    outer.add(inner, delivery: .queue(queue), ownership: .strong)
    try inner.around(.worth) { call in
      journal.write("on queue \(DispatchQueue.getSpecific(key: key) ?? false)")
      return try call.proceed().map { $0 + 40 }
    }
    try await expect(outer.collectAndWait(.worth, returning: .all), equals: [42])
    expect(journal.all, equals: ["on queue true", "bo worth"])
    try inner.before(.worth) { throw Refusal(name: "guard") }
    await #expect(throws: Refusal(name: "guard")) { try await outer.collectAndWait(.worth, returning: .all) }
  }

  @Test("hooks at three levels run from the outside in, and cycles of proxies are still found")
  func depth() throws {
    let proxies = (0..<3).map { _ in Desks() }
    for (level, proxy) in proxies.enumerated() {
      try proxy.before(.say) { _ in journal.write("level \(level)") }
      if level > 0 { proxies[level - 1].add(proxy, ownership: .strong) }
    }
    proxies[2].add(Desk("ann", journal), ownership: .strong)
    proxies[0].broadcast(.say, "hello")
    expect(journal.all, equals: ["level 0", "level 1", "level 2", "ann hello"])
    proxies[2].add(proxies[0])
    let found = Journal()
    for proxy in proxies { proxy.onError = { found.write("\(($0.error as? MessageError)?.code.description ?? "")") } }
    proxies[0].broadcast(.say, "again")
    expect(found.all, equals: ["proxy cycle"])
  }

  @Test("two hundred nested proxies with a hook each deliver or throw, and never crash")
  func manyLevels() throws {
    let proxies = (0..<200).map { _ in Desks() }
    for (level, proxy) in proxies.enumerated() {
      try proxy.around(.worth) { try $0.proceed() }
      if level > 0 { proxies[level - 1].add(proxy, ownership: .strong) }
    }
    proxies[199].add(Desk("ann", worth: 9, journal), ownership: .strong)
    do { try expect(proxies[0].collect(.worth, returning: .sum), equals: 9) } catch let error as MessageError {
      expect(error.code, equals: .tooDeep)
    }
  }

  @Test("paths through nested proxies are counted across hooks, so their number is limited", .oneAtATime)
  func ways() throws {
    // Two proxies per level, each in both of the level above: 2^18 paths to the last level.
    var level = [Desks(), Desks()]
    let root = Desks()
    for proxy in level { root.add(proxy, ownership: .strong) }
    for _ in 0..<17 {
      let next = [Desks(), Desks()]
      for proxy in level {
        try proxy.before(.say) { _ in }
        for inner in next { proxy.add(inner, ownership: .strong) }
      }
      level = next
    }
    for proxy in level { proxy.add(Desk("x", journal), ownership: .strong) }
    let found = Journal()
    root.onError = { found.write("\(($0.error as? MessageError)?.code.description ?? "")") }
    root.broadcast(.say, "hello")
    expect(found.all.contains("too many proxies"))
    expect(journal.all.count < 70_000)
  }

  /// `outer` with `ann` (direct), and `inner` with `bo` (direct) and `cy` (on a queue).
  private func waitedPair() -> (outer: SharedMixed, inner: SharedMixed) {
    let (outer, inner) = (SharedMixed(), SharedMixed())
    inner.add(Desk("bo", worth: 2, journal), delivery: .direct, ownership: .strong)
    inner.add(Desk("cy", worth: 3, journal), delivery: .queue(DispatchQueue(label: "cy")), ownership: .strong)
    outer.add(Desk("ann", worth: 1, journal), delivery: .direct, ownership: .strong)
    outer.add(inner, delivery: .direct, ownership: .strong)
    return (outer, inner)
  }

  @Test("an asynchronous inner hook sees the answers of queued targets and may replace them")
  func waitedAnswers() async throws {
    let (outer, inner) = waitedPair()
    let hook = try inner.around(
      .worth,
      waiting: { call in
        journal.write("\(try await call.proceed())")
        return [7]
      })
    try await expect(outer.collectAndWait(.worth, returning: .all), equals: [1, 7])
    expect(journal.all.last, equals: "[2, 3]")
    hook.cancel()
    try inner.after(.worth) { answers in journal.write("after \(answers)") }
    try await expect(outer.collectAndWait(.worth, returning: .all), equals: [1, 2, 3])
    expect(journal.all.last, equals: "after [2, 3]")
    try expect(
      synchronously { try outer.collectBlocking(.worth, returning: .all, timeout: .seconds(600)) }, equals: [1, 2, 3])
    expect(journal.all.last, equals: "after [2, 3]")
  }

  @Test("a queued answer of the outer proxy that arrives while an inner hook waits ends the message early")
  func answeredMeanwhile() async throws {
    let (outer, inner, queue) = (SharedMixed(), SharedMixed(), DispatchQueue(label: "ann"))
    outer.add(Desk("ann", worth: 1, journal), delivery: .queue(queue), ownership: .strong)
    outer.add(inner, delivery: .direct, ownership: .strong)
    outer.add(Desk("cy", worth: 3, journal), delivery: .direct, ownership: .strong)
    inner.add(Desk("bo", worth: 2, journal), delivery: .queue(DispatchQueue(label: "bo")), ownership: .strong)
    try outer.after(.worth) { answers in journal.write("after \(answers)") }
    try inner.after(.worth) { _ in
      // `ann` answers only now, and has answered when the hook ends.
      queue.resume()
      queue.sync {}
      journal.write("inner")
    }
    queue.suspend()
    try await expect(outer.collectAndWait(.worth, returning: .first), equals: 1)
    expect(journal.all, equals: ["bo worth", "ann worth", "inner", "after [1]"])
  }

  @Test("an inner hook may catch the error of a queued target, and a rethrown error is reported once")
  func waitedErrors() async throws {
    let (outer, inner) = waitedPair()
    let told = Journal()
    inner.onError = { told.write("\($0.error)") }
    let catching = try inner.around(.quote) { _ in
      []
    } waiting: { call in
      do { return try await call.proceed(with: -1) } catch { return [0] }
    }
    try await expect(outer.collectAndWait(.quote, 1, returning: .all), equals: [2, 0])
    expect(told.all, equals: ["refused by cy"])
    catching.cancel()
    told.take()
    try inner.around(.quote) { _ in
      []
    } waiting: { call in
      _ = try? await call.proceed(with: -1)
      return try await call.proceed()
    }
    try await expect(outer.collectAndWait(.quote, 1, returning: .all), equals: [2, 3, 4])
    expect(told.all, equals: ["refused by cy"])
  }

  @Test("an error that an inner hook catches by type and rethrows is the target's own and reported once")
  func rethrown() throws {
    let (outer, inner) = pair()
    let told = Journal()
    inner.onError = { told.write("\($0.error)") }
    try inner.around(.quote) { call in
      do { return try call.proceed(with: -1) } catch let error as Refusal { throw error }
    }
    #expect(throws: Refusal(name: "bo")) { try outer.collect(.quote, 1, returning: .all) }
    expect(outer.answer(.quote, 1, returning: .all).answered(), equals: [2, 5])
    // A caller that does not throw the first error has it reported to onError too.
    expect(told.all, equals: ["refused by cy", "refused by cy", "refused by bo"])
  }

  @Test("if an outer hook catches an inner hook's error, the report has its answer and no failure")
  func innerErrorTaken() throws {
    let (outer, inner) = pair()
    try inner.before(.quote) { _ in throw Refusal(name: "inner") }
    try outer.around(.quote) { call in
      do { return try call.proceed() } catch {
        journal.write("\(error)")
        return [9]
      }
    }
    var call = Invocation("quote:", arguments: [ArgumentBox(1)])
    let report = try outer.forward(&call)
    expect(journal.all, equals: ["ann quotes 1", "di quotes 1", "refused by inner"])
    expect(report.failures.isEmpty)
    try expect(report.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [9])
    expect(report.delivered, equals: 2)
    expect(report.skipped.map { ($0.target as? Desk)?.name }, equals: ["bo", "cy"])
  }

  @Test(
    "queued targets before, inside of and behind a surrounded proxy answer in delivery order, whoever waits",
    arguments: [false, true], [1, 2])
  func crosswise(isOuterHooked: Bool, tries: Int) async throws {
    let (outer, inner) = (SharedMixed(), SharedMixed())
    func add(_ name: String, worth: Int, to proxy: SharedMixed, isQueued: Bool = true) {
      let delivery = isQueued ? Delivery.queue(DispatchQueue(label: name)) : .direct
      proxy.add(Desk(name, worth: worth, journal), delivery: delivery, ownership: .strong)
    }
    add("ann", worth: 1, to: outer)
    outer.add(inner, delivery: .direct, ownership: .strong)
    add("di", worth: 4, to: outer)
    add("bo", worth: 2, to: inner)
    add("cy", worth: 3, to: inner, isQueued: false)
    try inner.around(.worth) { call in
      for _ in 1..<tries { try call.proceed() }
      return try call.proceed().map { $0 * 10 }
    } waiting: { call in
      for _ in 1..<tries { try await call.proceed() }
      return try await call.proceed().map { $0 * 10 }
    }
    if isOuterHooked {
      try outer.around(.worth) { call in
        try call.proceed() + [100]
      } waiting: { call in
        try await call.proceed() + [100]
      }
    }
    let own = isOuterHooked ? [100] : []
    try await expect(outer.collectAndWait(.worth, returning: .all), equals: [1, 20, 30, 4] + own)
    try expect(
      synchronously { try outer.collectBlocking(.worth, returning: .all, timeout: .seconds(600)) },
      equals: [1, 20, 30, 4] + own)
    try expect(outer.collect(.worth, returning: .all), equals: [30] + own)
    let report = try await outer.forwardAndWait(Invocation("worth"))
    try expect(report.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [1, 20, 30, 4] + own)
    expect(report.delivered, equals: 4)
    try await outer.drain()
  }
}

/// A proxy for desks and for proxies of desks.
private typealias SharedMixed = MulticastProxy<any MessageReceiver & Sendable>
