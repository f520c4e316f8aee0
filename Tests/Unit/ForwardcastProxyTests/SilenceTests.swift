// SilenceTests.swift: every failure is reported.

import CoreTestSupport
import Dispatch
import Forwardcast
import Foundation
import TestSupport
import Testing

private protocol Shape { func area() -> Double }
extension Int: Shape { func area() -> Double { Double(self) } }
extension String: Shape { func area() -> Double { Double(count) } }
extension [Int]: Shape { func area() -> Double { Double(count) } }
private struct Square: Shape { func area() -> Double { 9 } }
private final class Circle: Shape { func area() -> Double { 3 } }
private final class Mute {}

extension Message<() -> Double> { fileprivate static var area: Self { .init("silenceArea") } }

@Suite("Nothing is silent")
struct SilenceTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>
  typealias Shared = MulticastProxy<any MessageReceiver & Sendable>

  @Test("a row that the proxy's table refused is the error of each message with its selector")
  func refusedRowOfTheProxy() throws {
    let table = SelectorTable(for: (any Shape).self) {
      Responds(to: "silenceArea") { (shape: any Shape) in shape.area() }
      Responds(to: "silenceArea") { (shape: any Shape) in shape.area() + 1 }
      Responds(to: "forgotten") { (shape: any Shape, factor: Double) in shape.area() * factor }
    }
    let (proxy, errors, circle) = (MulticastProxy<any Shape>(table: table), Journal(), Circle())
    proxy.onError = { errors.write("\($0.error)") }
    proxy.add(circle)
    expect(proxy.broadcast(.area).failed, equals: 1)
    #expect(throws: MessageError.self) { try proxy.collect(.area, returning: .all) }
    var call = Invocation("forgotten")
    try expect(proxy.forward(&call).failures.count, equals: 1)
    expect(errors.all.first?.hasPrefix("already in table: 'silenceArea") == true, "\(errors.all)")
    withExtendedLifetime(circle) {}
  }

  @Test("an object that no message can reach is reported to onError when it is added, or with the next message")
  func objectWithoutTable() {
    let (proxy, errors) = (MulticastProxy<AnyObject>(), Journal())
    let mutes = [Mute(), Mute()]
    proxy.add(mutes[0])
    proxy.onError = { errors.write("\($0.error)") }
    expect(errors.all.isEmpty)
    proxy.broadcast(.ping)
    expect(errors.all.count, equals: 1)
    proxy.add(mutes[1])
    expect(errors.all.count, equals: 2)
    expect(errors.all.allSatisfy { $0.hasPrefix("no selector table of Mute") }, "\(errors.all)")
    proxy.broadcast(.ping)
    expect(errors.all.count, equals: 2)
    withExtendedLifetime(mutes) {}
  }

  @Test("values of every type can be targets, even those that Foundation bridges to objects")
  func bridgeableValues() throws {
    let table = SelectorTable(for: (any Shape).self) { Responds(to: .area) { (shape: any Shape) in shape.area() } }
    let proxy = MulticastProxy<any Shape>(table: table)
    let circle = Circle()
    let shapes: [any Shape] = [5, "four", [1, 2], Square(), circle]
    for shape in shapes { proxy.add(shape) }
    try expect(proxy.collect(.area, returning: .all), equals: [5, 4, 2, 9, 3])
    expect(proxy.targets.map { $0.area() }, equals: [5, 4, 2, 9, 3])
    expect(proxy.remove(5), equals: 0)
    expect(proxy.remove(circle), equals: 1)
    expect(proxy.count, equals: 4)
  }

  @Test("an object at the address of a dead target is not mistaken for it")
  func reusedAddress() {
    // Creates objects until one has the address of a dead one, soon if memory is reused.
    var met = false
    for _ in 0..<200 where !met {
      let proxy = Proxy()
      var dead: Listener? = Listener("dead")
      let address = dead.map { ObjectIdentifier($0) }
      if let dead { proxy.add(dead) }
      dead = nil
      var kept: [Listener] = []
      for index in 0..<40 where !met {
        let stranger = Listener("stranger \(index)")
        kept.append(stranger)
        guard ObjectIdentifier(stranger) == address else { continue }
        met = true
        expect(proxy.remove(stranger), equals: 0)
      }
      withExtendedLifetime(kept) {}
    }
    expect(met)
  }

  @Test("remove counts a target that removes itself in its own deinit")
  func removalInDeinit() {
    let (proxy, removed) = (Proxy(), Journal())
    do {
      let listener = Listener("a")
      listener.onDeinit = { removed.write("\(proxy.remove($0))") }
      proxy.add(listener)
    }
    expect(removed.all, equals: ["1"])
  }

  @Test("errors behind a nested proxy go to its onError, or else to that of the outer proxy")
  func nestedErrors() throws {
    let (outer, inner, errors) = (Proxy(), Proxy(), Journal())
    let targets = [Listener("a"), Listener("b")]
    for target in targets {
      target.onNote = { listener, _ in throw TargetError(name: listener.name) }
      inner.add(target)
    }
    outer.add(inner)
    outer.onError = { errors.write("outer: \($0.error)") }
    expect(outer.broadcast(.note, 1).failed, equals: 2)
    expect(errors.take(), equals: ["outer: refused by a", "outer: refused by b"])
    inner.onError = { errors.write("inner: \($0.error)") }
    outer.broadcast(.note, 2)
    outer.broadcast(Invocation("note:", arguments: [.init(3)]))
    expect(
      errors.take(), equals: Array(repeating: ["inner: refused by a", "inner: refused by b"], count: 2).flatMap { $0 })
    var call = Invocation("note:", arguments: [.init(4)])
    try expect(outer.forward(&call).failures.map { "\($0.error)" }, equals: ["refused by a", "refused by b"])
    expect(errors.all.isEmpty)
    withExtendedLifetime((inner, targets)) {}
  }

  @Test("collect throws the first of several errors and reports the others to onError")
  func furtherErrors() {
    let (proxy, errors) = (Proxy(), Journal())
    let targets = ["a", "b", "c"].map { Listener($0) }
    for target in targets {
      target.onNote = { listener, _ in throw TargetError(name: listener.name) }
      proxy.add(target)
    }
    proxy.onError = { errors.write("\($0.error)") }
    #expect(throws: TargetError(name: "a")) { try proxy.collect(.note, 1, returning: .all) }
    expect(errors.take(), equals: ["refused by b", "refused by c"])
    let boxed = Invocation("note:", arguments: [.init(2)])
    #expect(throws: TargetError(name: "a")) { try proxy.collect(boxed, returning: .all) }
    expect(errors.take(), equals: ["refused by b", "refused by c"])
    withExtendedLifetime(targets) {}
  }

  @Test("with firstSuccess, errors before the first success go to onError, and are thrown if there is none")
  func firstSuccess() throws {
    let (proxy, errors) = (Proxy(), Journal())
    let table = SelectorTable(for: Listener.self) {
      Responds(to: "fetch") { (listener: Listener) throws -> Int in
        if listener.answer < 0 { throw TargetError(name: listener.name) }
        return listener.answer
      }
    }
    let sources = MulticastProxy<Listener>(table: table)
    sources.onError = { errors.write("\($0.error)") }
    let targets = [-1, -2, 7, 8].map { answer in
      let listener = Listener("\(answer)")
      listener.answer = answer
      return listener
    }
    for target in targets { sources.add(target) }
    let fetch = Message<() -> Int>("fetch")
    try expect(sources.collect(fetch, returning: .firstSuccess), equals: 7)
    expect(errors.take(), equals: ["refused by -1", "refused by -2"])
    sources.remove(targets[2])
    sources.remove(targets[3])
    #expect(throws: TargetError(name: "-1")) { try sources.collect(fetch, returning: .firstSuccess) }
    expect(errors.take(), equals: ["refused by -2"])
    expect(try proxy.collect(fetch, returning: .firstSuccess) == nil)
    withExtendedLifetime(targets) {}
  }

  @Test(
    "a collect whose targets are all queued throws instead of returning an empty result, unless the message has none")
  func elsewhere() throws {
    let (proxy, errors) = (MulticastProxy<any Member>(), Journal())
    let (context, clerk) = (StepContext("elsewhere"), Clerk("yes"))
    proxy.add(clerk, delivery: .on(context))
    proxy.onError = { errors.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    let error = #expect(throws: MessageError.self) { try proxy.collect(.agrees, returning: .every) }
    expect(error?.code, equals: .notAwaited)
    let boxed = #expect(throws: MessageError.self) { try proxy.collect(Invocation("agrees"), returning: .all) }
    expect(boxed?.code, equals: .notAwaited)
    expect(errors.all.isEmpty)
    expect(proxy.answer(.agrees, returning: .every).answered(), equals: false)
    expect(proxy.answer(.agrees, returning: .any).answered(), equals: false)
    expect(proxy.answer(.value, returning: .sum).answered(), equals: 0)
    expect(errors.take(), equals: Array(repeating: "answers not waited for", count: 3))
    try expect(proxy.collect(.note, 1, returning: .all).count, equals: 0)
    expect(errors.all.isEmpty)
    context.run()
    expect(clerk.journal.take(), equals: ["yes 1"])
    // A direct target is queried.
    let here = Clerk("yes")
    proxy.add(here, delivery: .direct)
    try expect(proxy.collect(.agrees, returning: .every), equals: true)
    withExtendedLifetime((clerk, here)) {}
  }

  @Test("a proxy whose targets are all dead does not respond, whatever their deliveries", arguments: [false, true])
  func silentOfDead(isQueued: Bool) {
    let (summary, silent) = withTablesUnchanged {
      let silent = Journal()
      let proxy = MulticastProxy<any Member>(options: MulticastOptions(noResponder: .handle { silent.write($0.name) }))
      do {
        let clerk = Clerk("a")
        proxy.add(clerk, delivery: isQueued ? .on(StepContext("silent")) : .direct)
        expect(!proxy.broadcast(.note, 1).nobodyResponded)
        withExtendedLifetime(clerk) {}
      }
      return (proxy.broadcast(.note, 2), silent.all)
    }
    expect([summary.delivered, summary.queued, summary.skipped], equals: [0, 0, 1])
    expect(silent, equals: ["note:"])
  }

  @Test("a queued closure that runs once, before the broadcast ends, counts as queued")
  func endedMeanwhile() throws {
    let (context, silent, ran) = (StepContext("ended"), Journal(), Journal())
    let proxy = MulticastProxy<any Member>(options: MulticastOptions(noResponder: .handle { silent.write($0.name) }))
    proxy.on(.note, delivery: .on(context), once: true) { ran.write("\($0)") }
    try proxy.around(.note) {
      defer { context.run() }
      return try $0.proceed()
    }
    let summary = proxy.broadcast(.note, 1)
    expect(ran.all, equals: ["1"])
    expect([summary.queued, summary.skipped], equals: [1, 0])
    expect(silent.all, equals: [])
  }

  @Test("targets whose answers a hook removes have responded", arguments: [false, true])
  func removedAnswers(isQueued: Bool) async throws {
    let (outer, inner) = (Shared(options: MulticastOptions(noResponder: .throw)), Shared())
    let clerks = [Clerk("a"), Clerk("b")]
    for clerk in clerks { inner.add(clerk) }
    try inner.around(.value) {
      _ = try $0.proceed()
      return []
    }
    outer.add(inner, delivery: isQueued ? .queue(DispatchQueue(label: "inner")) : .direct)
    if isQueued {
      try await expect(outer.forwardAndWait(Invocation("value")).nobodyResponded, equals: false)
    } else {
      var call = Invocation("value")
      try expect(outer.forward(&call).delivered, equals: 2)
      try expect(outer.collect(.value, returning: .all), equals: [])
      try outer.around(.value) { try $0.proceed() }
      try expect(outer.collect(.value, returning: .all), equals: [])
    }
    withExtendedLifetime(clerks) {}
  }

  @Test("a proxy between others reports that its queued targets are dead")
  func silenceBetween() {
    let silent = withTablesUnchanged {
      let (outer, inner, silent) = (Shared(), Shared(), Journal())
      let middle = Shared(options: MulticastOptions(noResponder: .handle { silent.write($0.name) }))
      outer.add(middle)
      middle.add(inner)
      do {
        let clerk = Clerk("a")
        inner.add(clerk, delivery: .on(StepContext("between")))
        expect(outer.broadcast(.note, 1).queued, equals: 1)
        withExtendedLifetime(clerk) {}
      }
      outer.broadcast(.note, 2)
      return withExtendedLifetime((middle, inner)) { silent.all }
    }
    expect(silent, equals: ["note:"])
  }

  @Test("a report lists a nested proxy only if it lists none of its targets, and muted targets as muted")
  func nestedEntries() throws {
    let (outer, inner, empty) = (Proxy(), Proxy(), Proxy())
    let (listener, stranger) = (Listener("a"), BareReceiver {})
    for nested in [inner, empty] { outer.add(nested) }
    inner.add(listener)
    inner.add(stranger)
    inner.mute(stranger)
    func skipped() throws -> [String] {
      var call = Invocation("note:", arguments: [.init(1)])
      return try outer.forward(&call).skipped.map { skip in
        let name =
          skip.target === empty
          ? "empty" : skip.target === inner ? "inner" : skip.target === stranger ? "stranger" : "a"
        return "\(name) \(skip.reason)"
      }
    }
    try expect(skipped(), equals: ["empty does not respond", "stranger muted"])
    inner.mute(listener)
    try expect(skipped(), equals: ["a muted", "empty does not respond", "stranger muted"])
    outer.mute(empty)
    try expect(skipped(), equals: ["a muted", "empty muted", "stranger muted"])
    inner.remove(stranger)
    inner.remove(listener)
    outer.remove(empty)
    try expect(skipped().filter { $0.hasPrefix("inner") }, equals: ["inner does not respond"])
  }

  @Test("a failing closure of a lazy proxy is called once for each message")
  func failingMaker() {
    var asked = 0
    let lazy = LazyProxy {
      asked += 1
      throw TargetError(name: "maker")
    }
    #expect(throws: TargetError(name: "maker")) { try lazy.send(.value) }
    expect(asked, equals: 1)
    let proxy = Proxy()
    proxy.onError = { _ in }
    proxy.add(lazy)
    expect(proxy.broadcast(.value).failed, equals: 1)
    expect(asked, equals: 2)
    #expect(throws: TargetError(name: "maker")) { try proxy.collect(.value, returning: .last) }
    expect(asked, equals: 3)
  }

  @Test("a custom receiver may fill a report, and its answer is the message's result")
  func ownReport() throws {
    final class Splitter: ForwardingProxy {
      override func methodSignature(for selector: MessageSelector) -> MethodSignature? { try? MethodSignature("q@:") }
      override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
        var report = DeliveryReport()
        report.answers = [.init(target: self, result: ArgumentBox(7))]
        report.skipped = [.init(target: nil, reason: .init("asleep"))]
        invocation.result = report.result
        return report
      }
    }
    let splitter = Splitter()
    var call = Invocation("value")
    try expect(splitter.forward(&call).skipped.map(\.reason.description), equals: ["asleep"])
    try expect(splitter.send(.value), equals: 7)
    let proxy = Proxy()
    proxy.add(splitter)
    try expect(proxy.collect(.value, returning: .all), equals: [7])
    withExtendedLifetime(splitter) {}
  }

  @Test("a message to dead queued targets is unanswered, and one to a full buffer is not awaited")
  func deadOrFullElsewhere() throws {
    let context = StepContext("elsewhere")
    for silence in [MulticastOptions.NoResponder.ignore, .throw] {
      let proxy = MulticastProxy<any Member>(options: MulticastOptions(noResponder: silence))
      var gone: Clerk? = Clerk("yes")
      proxy.add(gone.unsafelyUnwrapped, delivery: .on(context))
      _ = (proxy.broadcast(.value), proxy.broadcast(.agrees))
      context.run()
      gone = nil
      if case .ignore = silence {
        try expect(proxy.collect(.value, returning: .sum), equals: 0)
        try expect(proxy.collect(.agrees, returning: .every), equals: true)
        try expect(proxy.collect(Invocation("value"), returning: .all).count, equals: 0)
      } else {
        let error = #expect(throws: MessageError.self) { try proxy.collect(.value, returning: .sum) }
        expect(error?.code, equals: .nobodyResponds)
      }
    }
    let (proxy, clerk) = (MulticastProxy<any Member>(), Clerk("yes"))
    proxy.add(clerk, delivery: .on(context), buffer: .keepOldest(1))
    for _ in 0..<2 {
      let error = #expect(throws: MessageError.self) { try proxy.collect(.agrees, returning: .every) }
      expect(error?.code, equals: .notAwaited)
    }
    withExtendedLifetime(clerk) {}
  }

  @Test("an awaited vote throws if full buffers refused it to all targets, unless another target answers")
  func refusedByBuffers() async throws {
    let (proxy, context, errors) = (MulticastProxy<any Member>(), StepContext("full"), Journal())
    let (full, clerk) = (Clerk("full"), Clerk("yes"))
    proxy.onError = { errors.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    proxy.add(full, delivery: .on(context), buffer: .keepOldest(1))
    proxy.broadcast(.value)
    let vote = await #expect(throws: MessageError.self) { try await proxy.collectAndWait(.agrees, returning: .every) }
    expect(vote?.code, equals: .notAwaited)
    expect(
      vote?.evidence,
      equals: "the buffer of 1 target was full, and no other target responded; send again later, or add the targets "
        + "with a larger buffer")
    let value = await #expect(throws: MessageError.self) { try await proxy.collectAndWait(.value, returning: .sum) }
    expect(value?.code, equals: .notAwaited)
    expect(errors.all.isEmpty)
    await expect(proxy.answerAndWait(.agrees, returning: .every).answered(), equals: false)
    await expect(proxy.answerAndWait(.value, returning: .all).answered(), equals: [])
    expect(errors.take(), equals: Array(repeating: "answers not waited for", count: 2))
    // A message without a result needs no answer. One answer is enough, but not to be unanimous.
    _ = try await proxy.collectAndWait(.note, 1, returning: .all)
    proxy.add(clerk)
    try await expect(proxy.collectAndWait(.agrees, returning: .every), equals: false)
    try await expect(proxy.collectAndWait(.value, returning: .sum), equals: 3)
    context.run()
    withExtendedLifetime((full, clerk)) {}
  }

  @Test("a queued proxy that lacks a vote answers no")
  func missingVotesOnQueue() async throws {
    let table = SelectorTable(for: (any Member).self) {
      Responds<any Member>(to: .agrees) { _ in true }.answering(.agrees, by: .every)
    }
    let outer = MulticastProxy<any MessageReceiver & Sendable>()
    let inner = MulticastProxy<any Member>(table: table)
    let (full, clerk, context) = (Clerk("full"), Clerk("yes"), StepContext("full"))
    inner.add(full, delivery: .on(context), buffer: .keepOldest(1))
    inner.add(clerk)
    inner.broadcast(.value)
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    try await expect(outer.collectAndWait(.agrees, returning: .every), equals: false)
    inner.removeAll(on: .on(context))
    try await expect(outer.collectAndWait(.agrees, returning: .every), equals: true)
    context.run()
    withExtendedLifetime((inner, full, clerk)) {}
  }

  @Test("removing all targets on a context counts only the live ones")
  func removesLiveTargets() {
    let (proxy, context, kept) = (MulticastProxy<any Member>(), StepContext("removed"), Clerk("kept"))
    proxy.add(kept, delivery: .on(context))
    proxy.add(Clerk("gone"), delivery: .on(context))
    expect(proxy.removeAll(on: .on(context)), equals: 1)
    withExtendedLifetime(kept) {}
  }

  private struct Refusal: Error {}

  @Test("a vote is no yes if a hook refuses it, a voter fails, or the sender is canceled or waits too long")
  func missingVotes() async throws {
    let (proxy, context, clerk, errors) = (MulticastProxy<any Member>(), StepContext("votes"), Clerk("yes"), Journal())
    proxy.onError = { errors.write("\($0.error)") }
    proxy.add(clerk)
    expect(proxy.answer(.agrees, returning: .every).answered(), equals: true)
    let hook = try proxy.before(.agrees) { throw Refusal() }
    expect(proxy.answer(.agrees, returning: .every).answered(), equals: false)
    await expect(proxy.answerAndWait(.agrees, returning: .every).answered(), equals: false)
    hook.cancel()
    let fails = proxy.on(.agrees) { throw Refusal() }
    expect(proxy.answer(.agrees, returning: .every).answered(), equals: false)
    await expect(proxy.answerAndWait(.agrees, returning: .every).answered(), equals: false)
    expect(errors.take(), equals: Array(repeating: "Refusal()", count: 4))
    expect(proxy.answer(.agrees, returning: .ifAnswered(.every)).answered(), equals: false)
    fails.cancel()
    let late = Clerk("yes")
    proxy.add(late, delivery: .on(context))
    let unasked = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await proxy.answerAndWait(.agrees, returning: .every).answered()
    }.value
    expect(unasked, equals: false)
    let limit = try proxy.around(.agrees, .timeout(.milliseconds(1)))
    await expect(proxy.answerAndWait(.agrees, returning: .every).answered(), equals: false)
    limit.cancel()
    context.run()
    withExtendedLifetime((clerk, late)) {}
  }
}
