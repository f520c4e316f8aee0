// MulticastAnswerTests.swift: answers, errors, unanswered messages and reports of a multicast.

import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

@Suite("Answers of many targets")
struct MulticastAnswerTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>

  private func listeners(_ answers: [Int], _ journal: Journal, on proxy: Proxy) -> [Listener] {
    answers.enumerated().map { index, answer in
      let listener = Listener("\(index)", journal)
      listener.answer = answer
      listener.agrees = answer > 0
      proxy.add(listener)
      return listener
    }
  }

  @Test("each policy makes its result of the answers in order, and only some ask everybody")
  func policies() throws {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = listeners([3, 0, 5], journal, on: proxy)
    defer { withExtendedLifetime(targets) {} }
    func asked() -> Int { journal.take().count }
    try expect(proxy.collect(.value, returning: .last), equals: 5)
    expect(asked(), equals: 3)
    try expect(proxy.collect(.value, returning: .first), equals: 3)
    expect(asked(), equals: 1)
    try expect(proxy.collect(.value, returning: .all), equals: [3, 0, 5])
    try expect(proxy.collect(.value, returning: .sum), equals: 8)
    try expect(proxy.collect(.value, returning: .reduce("") { $0 + "\($1)" }), equals: "305")
    _ = asked()
    expect(try proxy.collect(.agrees, returning: .any) == true)
    expect(asked(), equals: 1)
    expect(try proxy.collect(.agrees, returning: .every) == false)
    expect(asked(), equals: 2)
    let untilNothing = ReturnPolicy<Int, [Int]>(from: []) { state, answer in
      state.append(answer)
      return answer != 0
    } finish: {
      $0
    }
    try expect(proxy.collect(.value, returning: untilNothing), equals: [3, 0])
    expect(asked(), equals: 2)
    try expect(proxy.collect(.value, returning: .ifAnswered(untilNothing)), equals: [3, 0])
    expect(asked(), equals: 2)
    proxy.removeAll()
    try expect(proxy.collect(.value, returning: .ifAnswered(untilNothing)), equals: nil)
    try expect(proxy.collect(.value, returning: .ifAnswered(.sum)), equals: nil)
    withExtendedLifetime(targets) {}
  }

  @Test("summaries compare equal by their counts")
  func summary() {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = listeners([3, 0], journal, on: proxy)
    proxy.mute(targets[1])
    expect(proxy.broadcast(.value), equals: BroadcastSummary(delivered: 1, skipped: 1))
    expect(BroadcastSummary(dropped: 1).description, equals: "delivered 0, queued 0, failed 0, skipped 0, dropped 1")
    withExtendedLifetime(targets) {}
  }

  @Test("a summary does not count a target that was removed before its message", arguments: Surroundings.allCases)
  func removedBefore(_ surroundings: Surroundings) throws {
    let (proxy, inner, journal) = (Proxy(), Proxy(), Journal())
    let targets = listeners([1, 2, 3, 4], journal, on: surroundings == .nested ? inner : proxy)
    var died: Listener? = Listener("died", journal)
    (surroundings == .nested ? inner : proxy).add(died!)
    defer { withExtendedLifetime(targets) {} }
    switch surroundings {
    case .none, .pinned: break
    case .before: try proxy.before(.note) { _ in }
    case .around: try proxy.around(.note) { try $0.proceed() }
    case .nested: proxy.add(inner)
    }
    func send(_ number: Int, boxed: Bool) -> BroadcastSummary {
      let message = Invocation("note:", arguments: [.init(number)])
      if surroundings == .pinned {
        return proxy.pinned { boxed ? $0.broadcast(message) : $0.broadcast(.note, number) }
      }
      return boxed ? proxy.broadcast(message) : proxy.broadcast(.note, number)
    }
    let owner = surroundings == .nested ? inner : proxy
    for boxed in [false, true] {
      let context = "boxed \(boxed)"
      if !boxed {
        expect(send(1, boxed: boxed), equals: BroadcastSummary(delivered: 5))
        died = nil
        // None if tables of other tests change now: then the message makes a route without it.
        #expect(send(1, boxed: boxed).skipped <= (surroundings == .pinned ? 0 : 1), "it is found dead")
      }
      expect(send(2, boxed: boxed).skipped, equals: 0, "\(context)")
      owner.remove(targets[boxed ? 2 : 1])
      expect(send(3, boxed: boxed).skipped, equals: 0, "\(context)")
      owner.add(targets[boxed ? 2 : 1])
      targets[0].onNote = { _, _ in owner.remove(targets[boxed ? 2 : 1]) }
      expect(send(4, boxed: boxed).skipped, equals: 1, "removed during the message, \(context)")
      expect(send(5, boxed: boxed).skipped, equals: 0, "\(context)")
      targets[0].onNote = nil
      owner.add(targets[boxed ? 2 : 1])
    }
    withExtendedLifetime(died) {}
  }

  enum Surroundings: CaseIterable {
    case none, before, around, nested, pinned
  }

  @Test("the policies also combine answers of message values")
  func boxedPolicies() throws {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = listeners([3, 0, 5], journal, on: proxy)
    defer { withExtendedLifetime(targets) {} }
    let call = Invocation("value")
    try expect(proxy.collect(call, returning: .last)?.unbox(as: Int.self), equals: 5)
    try expect(proxy.collect(call, returning: .first)?.unbox(as: Int.self), equals: 3)
    expect(journal.take().count, equals: 4)
    try expect(proxy.collect(call, returning: .all).map { try $0.unbox(as: Int.self) }, equals: [3, 0, 5])
    withExtendedLifetime(targets) {}
  }

  @Test("if nobody responds, every policy returns its empty value")
  func emptyValues() throws {
    let proxy = Proxy()
    let deaf = BareReceiver {}
    proxy.add(deaf)
    expect(try proxy.collect(.value, returning: .last) == nil)
    expect(try proxy.collect(.value, returning: .first) == nil)
    try expect(proxy.collect(.value, returning: .all), equals: [])
    try expect(proxy.collect(.value, returning: .sum), equals: 0)
    expect(try proxy.collect(.agrees, returning: .any) == false)
    expect(try proxy.collect(.agrees, returning: .every) == true)
    try expect(proxy.collect(.value, returning: .reduce(7) { $0 + $1 }), equals: 7)
    let summary = proxy.broadcast(.value)
    expect(summary.nobodyResponded)
    var call = Invocation("value")
    let report = try proxy.forward(&call)
    expect(report.nobodyResponded)
    expect(report.skipped.map(\.reason), equals: [.doesNotRespond])
    expect(call.result == nil)
  }

  @Test("if nobody responds, the proxy throws, or calls its handler, as its options say")
  func silence() throws {
    let strict = Proxy(options: .init(noResponder: .throw))
    let errors = Journal()
    strict.onError = { errors.write("\($0)") }
    var call = Invocation("value")
    for attempt in [
      { _ = try strict.collect(.value, returning: .last) }, { _ = try strict.forward(&call) },
      { _ = try strict.collect(Invocation("value"), returning: .last) }, { _ = try strict.send(.value) },
      { try strict.perform(&call) },
    ] {
      let error = #expect(throws: MessageError.self) { try attempt() }
      expect(error?.code, equals: .nobodyResponds)
      expect(error?.selector, equals: "value")
    }
    expect(errors.all.isEmpty)
    expect(strict.broadcast(.value).nobodyResponded)
    expect(strict.broadcast(Invocation("value")).nobodyResponded)
    expect(errors.take().count, equals: 2)
    let target = Listener("a")
    defer { withExtendedLifetime(target) {} }
    strict.add(target).mute()
    #expect(throws: MessageError.self) { try strict.collect(.value, returning: .last) }
    strict.unmute(target)
    try expect(strict.collect(.value, returning: .last), equals: 0)

    let handled = Journal()
    let mild = Proxy(options: .init(noResponder: .handle { handled.write($0.name) }))
    mild.broadcast(.note, 1)
    try expect(mild.collect(.value, returning: .sum), equals: 0)
    _ = try mild.forward(&call)
    expect(handled.all, equals: ["note:", "value", "value"])
  }

  @Test("an error of one target is reported with its target, and the others are still called")
  func collectedErrors() throws {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = listeners([1, 2, 3], journal, on: proxy)
    defer { withExtendedLifetime(targets) {} }
    for index in [0, 1] { targets[index].onNote = { listener, _ in throw TargetError(name: listener.name) } }
    let errors = Journal()
    proxy.onError = { errors.write("\($0.receiver) \($0.selector) \($0.error)") }
    let summary = proxy.broadcast(.note, 1)
    expect(summary.delivered == 1 && summary.failed == 2 && summary.skipped == 0)
    expect(errors.take(), equals: ["Listener note: refused by 0", "Listener note: refused by 1"])
    var call = Invocation("note:", arguments: [.init(2)])
    let report = try proxy.forward(&call)
    expect(report.failures.map { "\($0.error)" }, equals: ["refused by 0", "refused by 1"])
    expect(report.failures.map { ($0.target as? Listener)?.name }, equals: ["0", "1"])
    expect(report.answers.count, equals: 1)
    expect(errors.all.isEmpty)
    #expect(throws: TargetError(name: "0")) { try proxy.collect(.note, 3, returning: .all) }
    expect(journal.all.filter { $0.hasSuffix("3") }.count, equals: 3)
    #expect(throws: TargetError(name: "0")) { try proxy.perform(&call) }
    expect(call.result == nil)
  }

  @Test("a proxy that stops at the first error calls no target behind it")
  func stopping() throws {
    let proxy = Proxy(options: .init(errors: .stopAtFirst))
    let journal = Journal()
    let targets = listeners([1, 2, 3], journal, on: proxy)
    defer { withExtendedLifetime(targets) {} }
    targets[1].onNote = { listener, _ in throw TargetError(name: listener.name) }
    proxy.onError = { _ in }
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    expect(proxy.broadcast(Invocation("note:", arguments: [.init(1)])).delivered, equals: 1)
    #expect(throws: TargetError(name: "1")) { try proxy.collect(.note, 1, returning: .all) }
    expect(journal.take(), equals: ["0 1", "1 1", "0 1", "1 1", "0 1", "1 1"])
    var call = Invocation("note:", arguments: [.init(2)])
    let report = try proxy.forward(&call)
    expect(report.failures.count, equals: 1)
    expect(report.skipped.map(\.reason), equals: [.stopped])
    expect((report.skipped[0].target as? Listener)?.name, equals: "2")
    // A target muted before the error is listed as muted.
    let last = targets[2]
    targets[1].onNote = { listener, _ in
      proxy.mute(last)
      throw TargetError(name: listener.name)
    }
    try expect(proxy.forward(&call).skipped.map(\.reason), equals: [.muted])
  }

  @Test("a report lists each live target exactly once, with the reason if it was skipped")
  func report() throws {
    let (proxy, journal) = (Proxy(), Journal())
    let names = ["answers", "fails", "muted", "removed", "scoped", "deaf"]
    let targets = names.map { Listener($0, journal) }
    defer { withExtendedLifetime(targets) {} }
    var late: Listener?
    for target in targets.prefix(5) { proxy.add(target, only: target.name == "scoped" ? ["value"] : nil) }
    let deaf = BareReceiver {}
    proxy.add(deaf)
    proxy.add(Listener("dead"))
    targets[0].onNote = { _, _ in
      proxy.remove(targets[3])
      let new = Listener("late", journal)
      proxy.add(new)
      late = new
    }
    targets[1].onNote = { listener, _ in throw TargetError(name: listener.name) }
    proxy.mute(targets[2])
    var call = Invocation("note:", arguments: [.init(1)])
    let report = try proxy.forward(&call)
    expect(report.answers.map { ($0.target as? Listener)?.name }, equals: ["answers"])
    expect(report.failures.map { ($0.target as? Listener)?.name }, equals: ["fails"])
    expect(report.queued.isEmpty)
    let skipped = report.skipped.filter { $0.target != nil }
      .map { "\(($0.target as? Listener)?.name ?? "deaf") \($0.reason)" }.sorted()
    expect(skipped, equals: ["deaf does not respond", "muted muted", "removed removed", "scoped out of scope"])
    expect(report.description.hasPrefix("delivered 1, queued 0, failed 1 (Listener: refused by fails), skipped "))
    expect(late != nil)
    var next = Invocation("note:", arguments: [.init(2)])
    targets[0].onNote = nil
    try expect(proxy.forward(&next).answers.count, equals: 2)
  }

  @Test(
    "arguments that do not fit the first responder stop delivery; those that do not fit a later one fail only there")
  func checkedFirst() throws {
    let proxy = Proxy()
    let journal = Journal()
    let number = BareReceiver { Responds(to: "take:") { (_: BareReceiver, x: Int) in journal.write("int \(x)") } }
    defer { withExtendedLifetime(number) {} }
    let text = BareReceiver { Responds(to: "take:") { (_: BareReceiver, x: String) in journal.write("text \(x)") } }
    proxy.add(number)
    proxy.add(text)
    proxy.onError = { journal.write("error \(($0.error as? MessageError)?.code.description ?? "")") }
    var wrong = Invocation("take:", arguments: [.init("x")])
    let error = #expect(throws: MessageError.self) { try proxy.forward(&wrong) }
    expect(error?.code, equals: .typeMismatch)
    expect(error?.argumentIndex, equals: 0)
    expect(journal.all.isEmpty)
    var right = Invocation("take:", arguments: [.init(1)])
    let report = try proxy.forward(&right)
    expect(report.answers.count == 1 && report.failures.count == 1)
    expect(journal.take(), equals: ["int 1"])
    var none = Invocation("take:")
    #expect(throws: MessageError.self) { try proxy.forward(&none) }
    expect(proxy.broadcast(Message<(String) -> Void>("take:"), "y").delivered, equals: 1)
    expect(journal.take(), equals: ["error type mismatch", "text y"])
  }

  @Test("a dynamic call by name and labels reaches the same targets as the selector, and errors are reported")
  func dynamic() {
    let (proxy, journal) = (Proxy(), Journal())
    let target = LoudListener("a", journal)
    defer { withExtendedLifetime(target) {} }
    target.answer = 9
    proxy.add(target)
    proxy.onError = { journal.write("error \($0.error)") }
    proxy.dynamic.note(4)
    proxy.dynamic.say("x")
    expect(proxy.dynamic.value() as? Int == 9)
    expect(journal.take(), equals: ["a 4", "a: x", "a value"])
    expect(proxy.dynamic.unheardOf(1, two: 2) == nil)
    expect(journal.take().isEmpty)
    proxy.dynamic.note("text")
    let mismatch = journal.take().first ?? ""
    expect(mismatch.hasPrefix("error type mismatch in 'note:' of LoudListener: argument 0"), "\(mismatch)")
    _ = proxy.dynamic[dynamicMember: "not a name"]()
    expect(journal.take().count, equals: 1)
  }
}
