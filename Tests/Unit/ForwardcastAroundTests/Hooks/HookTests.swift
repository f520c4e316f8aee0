// HookTests.swift: hooks before, after and around the messages of a proxy.

import Forwardcast
import TestSupport
import Testing

@Suite("Hooks of a proxy")
struct HookTests {
  let journal = Journal()

  private func desks() -> Desks {
    .of(Desk("ann", worth: 20, journal), Desk("bo", worth: 45, journal))
  }

  @Test("before runs before every target and after runs after all of them, once per message, with its arguments")
  func beforeAndAfter() throws {
    let proxy = desks()
    try proxy.before(.quote) { journal.write("before \($0)") }
    try proxy.after(.quote) { answers, amount in journal.write("after \(amount): \(answers)") }
    try expect(proxy.collect(.quote, 1, returning: .sum), equals: 67)
    expect(journal.all, equals: ["before 1", "ann quotes 1", "bo quotes 1", "after 1: [21, 46]"])
  }

  @Test("a hook for one selector does not see messages with another")
  func otherSelectors() throws {
    let proxy = desks()
    try proxy.before(.quote) { _ in journal.write("typed") }
    try proxy.before("quote:") { _ in journal.write("boxed") }
    proxy.broadcast(.say, "hello")
    expect(journal.all, equals: ["ann hello", "bo hello"])
  }

  @Test("a hook that is installed later is outermost, whatever the kinds")
  func order() throws {
    let proxy = desks()
    try proxy.before(.worth) { journal.write("before 1") }
    try proxy.after(.worth) { _ in journal.write("after 1") }
    try proxy.around { call in
      journal.write("in 2")
      defer { journal.write("out 2") }
      return try call.proceed()
    }
    try proxy.before("worth") { _ in journal.write("before 3") }
    try proxy.after { _, _ in journal.write("after 3") }
    _ = try proxy.collect(.worth, returning: .last)
    expect(
      journal.all,
      equals: [
        "before 3", "in 2", "before 1", "ann worth", "bo worth", "after 1", "out 2", "after 3",
      ])
  }

  @Test("an around hook may change the arguments that the targets receive")
  func otherArguments() throws {
    let proxy = desks()
    try proxy.around(.say) { call in try call.proceed(with: call.arguments.uppercased()) }
    try proxy.around("quote:") { call in
      expect(call.invocation.description, equals: "quote: 1")
      return try call.proceed(with: [ArgumentBox(7)])
    }
    proxy.broadcast(.say, "hello")
    try expect(proxy.collect(.quote, 1, returning: .all), equals: [27, 52])
    expect(journal.all, equals: ["ann HELLO", "bo HELLO", "ann quotes 7", "bo quotes 7"])
  }

  @Test("an around hook may change the answers, and the policy combines the changed ones")
  func otherAnswers() throws {
    let proxy = desks()
    let hook = try proxy.around(.worth) { call in try call.proceed().map { $0 * 2 } }
    try expect(proxy.collect(.worth, returning: .sum), equals: 130)
    try expect(proxy.collect(.worth, returning: .all), equals: [40, 90])
    try expect(proxy.send(.worth), equals: 90)
    hook.cancel()
    try proxy.around("worth") { _ in [ArgumentBox(1), ArgumentBox(Int8(2)), ArgumentBox(3)] }
    try expect(proxy.collect(.worth, returning: .sum), equals: 6)
    try expect(proxy.collect(.worth, returning: .first), equals: 1)
  }

  @Test("a report lists each target with its answer after all nested hooks")
  func answersOfReports() throws {
    let proxy = desks()
    let cy = Desk("cy", worth: 1, journal)
    proxy.add(cy)
    try proxy.around(.worth) { call in try call.proceed().map { $0 * 2 } }
    try proxy.around("worth") { call in try call.proceed() }
    func listed() throws -> [String] {
      var call = Invocation("worth")
      return try proxy.forward(&call).answers.map { answer in
        "\((answer.target as? Desk)?.name ?? "the proxy") \(try answer.result?.unbox(as: Int.self) ?? 0)"
      }
    }
    try expect(listed(), equals: ["ann 40", "bo 90", "cy 2"])
    let muting = try proxy.before(.worth) { proxy.remove(cy) }
    try expect(listed(), equals: ["ann 40", "bo 90"])
    muting.cancel()
    let fewer = try proxy.around(.worth) { call in try Array(call.proceed().dropFirst()) }
    try proxy.around("worth") { call in try call.proceed() + [ArgumentBox(5), ArgumentBox(6)] }
    try expect(listed(), equals: ["ann 0", "bo 0", "the proxy 90", "the proxy 5", "the proxy 6"])
    fewer.cancel()
    try expect(listed(), equals: ["ann 0", "bo 0", "the proxy 40", "the proxy 90", "the proxy 5", "the proxy 6"])
  }

  @Test("an answer of a wrong type is refused with an error that names both types")
  func wrongAnswer() throws {
    let proxy = desks()
    try proxy.around("worth") { _ in [ArgumentBox("much")] }
    let error = try #require(throws: MessageError.self) { try proxy.collect(.worth, returning: .sum) }
    expect(error.code == .typeMismatch && error.selector == "worth")
  }

  @Test("without proceed no target receives the message, and the policy returns its empty value")
  func skipped() throws {
    let proxy = desks()
    try proxy.around(.worth) { _ in [] }
    try proxy.around(.say) { _ in [] }
    try expect(proxy.collect(.worth, returning: .sum), equals: 0)
    expect(try proxy.collect(.worth, returning: .last) == nil)
    expect(proxy.broadcast(.say, "hello").nobodyResponded)
    expect(journal.all, equals: [])
  }

  @Test("proceeding twice sends twice, and the last outcome counts")
  func twice() throws {
    let proxy = desks()
    try proxy.around(.quote) { call in
      _ = try call.proceed(with: 1)
      return try call.proceed(with: 2)
    }
    try expect(proxy.collect(.quote, 0, returning: .all), equals: [22, 47])
    expect(journal.all, equals: ["ann quotes 1", "bo quotes 1", "ann quotes 2", "bo quotes 2"])
    expect(proxy.broadcast(.quote, 0).delivered, equals: 2)
  }

  @Test("proceeding again while the message is being delivered is refused, and the delivery continues")
  func goingOnInside() throws {
    let (proxy, journal) = (desks(), journal)
    nonisolated(unsafe) var again: () throws -> Void = {}
    let listener = proxy.on(.quote) { _ in
      #expect(throws: MessageError.self) { try again() }
      journal.write("refused")
      return 0
    }
    try proxy.around(.quote) { call in
      again = { _ = try call.proceed() }
      return try call.proceed()
    }
    try expect(proxy.collect(.quote, 1, returning: .all), equals: [21, 46, 0])
    expect(journal.all, equals: ["ann quotes 1", "bo quotes 1", "refused"])
    listener.cancel()
  }

  @Test("an error thrown by a before hook is thrown to the sender, and no target receives the message")
  func veto() throws {
    let proxy = desks()
    try proxy.before(.quote) { _ in journal.write("inner hook") }
    try proxy.before { _ in throw Refusal(name: "guard") }
    #expect(throws: Refusal(name: "guard")) { try proxy.collect(.quote, 1, returning: .sum) }
    #expect(throws: Refusal(name: "guard")) { try proxy.send(.quote, 1) }
    var call = Invocation("quote:", arguments: [ArgumentBox(1)])
    #expect(throws: Refusal(name: "guard")) { try proxy.forward(&call) }
    #expect(throws: Refusal(name: "guard")) { try proxy.collect(call, returning: .last) }
    expect(journal.all, equals: [])
  }

  @Test("a broadcast passes a hook's error to onError and counts it as one failure of the proxy")
  func vetoOfBroadcast() throws {
    let proxy = desks()
    proxy.onError = { [journal] in journal.write("\($0)") }
    try proxy.before(.say) { _ in throw Refusal(name: "guard") }
    expect(proxy.broadcast(.say, "hello").failed, equals: 1)
    expect(proxy.broadcast(Invocation("say:", arguments: [ArgumentBox("hello")])).failed, equals: 1)
    let line = "'say:' failed in MulticastProxy<MessageReceiver>: refused by guard"
    expect(journal.all, equals: [line, line])
  }

  @Test("the summary counts the delivered targets and the error of an after hook")
  func errorAfter() throws {
    let proxy = desks()
    proxy.onError = { [journal] in journal.write("\($0.error)") }
    try proxy.after(.say) { _, _ in throw Refusal(name: "after") }
    let summary = proxy.broadcast(.say, "hello")
    expect(summary.delivered == 2 && summary.failed == 1)
    expect(journal.all, equals: ["ann hello", "bo hello", "refused by after"])
  }

  @Test("after does not run if the message throws")
  func noAfter() throws {
    let proxy = desks()
    try proxy.after(.quote) { _, _ in journal.write("after") }
    #expect(throws: Refusal(name: "ann")) { try proxy.collect(.quote, -1, returning: .sum) }
    expect(journal.all, equals: ["ann quotes -1", "bo quotes -1"])
  }

  @Test("an around hook may catch an error and return an answer instead")
  func errorTaken() throws {
    let proxy = desks()
    proxy.onError = { [journal] in journal.write("\($0.error)") }
    try proxy.around(.quote) { call in
      do { return try call.proceed() } catch let refusal as Refusal {
        journal.write("caught \(refusal.name)")
        return [0]
      }
    }
    try expect(proxy.collect(.quote, -1, returning: .sum), equals: 0)
    // The first error is thrown to the hook, and the other one is reported to onError.
    expect(journal.all, equals: ["ann quotes -1", "bo quotes -1", "refused by bo", "caught ann"])
  }

  @Test("forward throws a target's failure to the hooks and lists it in the report if they rethrow it")
  func failuresOfForward() throws {
    let proxy = desks()
    let told = Journal()
    proxy.onError = { told.write("\($0.error)") }
    try proxy.after { _, _ in journal.write("after") }
    let passing = try proxy.around { call in
      do { return try call.proceed() } catch {
        journal.write("saw \(error)")
        throw error
      }
    }
    var call = Invocation("quote:", arguments: [ArgumentBox(-1)])
    let report = try proxy.forward(&call)
    expect(report.failures.map { "\($0.error)" }, equals: ["refused by ann", "refused by bo"])
    expect(journal.all == ["ann quotes -1", "bo quotes -1", "saw refused by ann"] && told.all == [])
    passing.cancel()
    let taking = try proxy.around { call in (try? call.proceed()) ?? [ArgumentBox(0)] }
    let mended = try proxy.forward(&call)
    // The report lists every target that ran. Errors that no hook saw are reported.
    expect(mended.failures.count, equals: 0)
    expect(mended.answers.map { ($0.target as? Desk)?.name }, equals: ["ann", "bo", nil])
    expect(told.take(), equals: ["refused by bo"])
    try expect(call.result?.unbox(as: Int.self), equals: 0)
    taking.cancel()
    try proxy.around { call in
      _ = try? call.proceed()
      throw Refusal(name: "hook")
    }
    #expect(throws: Refusal(name: "hook")) { try proxy.forward(&call) }
    expect(told.all, equals: ["refused by bo"])
  }

  @Test("hooks also run if nobody responds, and proceed then throws the error for that")
  func nobody() throws {
    let proxy = Desks(options: MulticastOptions(noResponder: .throw))
    try proxy.before(.worth) { journal.write("before") }
    #expect(throws: MessageError.self) { try proxy.collect(.worth, returning: .last) }
    expect(journal.all, equals: ["before"])
    try proxy.around(.worth) { call in (try? call.proceed()) ?? [8] }
    try expect(proxy.collect(.worth, returning: .last), equals: 8)
  }

  @Test("a policy that knows its result early queries no further target")
  func earlyEnd() throws {
    let proxy = desks()
    try proxy.after(.agrees) { answers in journal.write("\(answers)") }
    expect(try proxy.collect(.agrees, returning: .any))
    expect(journal.all, equals: ["ann agrees", "[true]"])
    journal.take()
    expect(try proxy.collect(.agrees, returning: .every))
    expect(journal.all, equals: ["ann agrees", "bo agrees", "[true, true]"])
  }

  @Test("a broadcast needs no answers, so its hooks see none")
  func broadcastAnswers() throws {
    let proxy = desks()
    try proxy.after(.worth) { answers in journal.write("\(answers)") }
    proxy.broadcast(.worth)
    expect(journal.all, equals: ["ann worth", "bo worth", "[]"])
  }

  @Test("typed hooks see converted boxed messages, and boxed hooks see typed ones")
  func bothDoors() throws {
    let proxy = desks()
    try proxy.around(.quote) { call in
      journal.write("typed \(call.arguments)")
      return try call.proceed()
    }
    try proxy.before("quote:") { journal.write("boxed \($0)") }
    let call = Invocation("quote:", arguments: [ArgumentBox(UInt8(5))])
    try expect(proxy.collect(call, returning: .last)?.unbox(as: Int.self), equals: 50)
    expect(proxy.dynamic.quote(6) as? Int == 51)
    expect(
      journal.all,
      equals: [
        "boxed quote: 5", "typed 5", "ann quotes 5", "bo quotes 5", "boxed quote: 6", "typed 6", "ann quotes 6",
        "bo quotes 6",
      ])
  }

  @Test("a boxed message that does not fit a typed hook is refused with the index of the argument")
  func misfit() throws {
    let proxy = desks()
    try proxy.before(.quote) { _ in journal.write("hook") }
    let call = Invocation("quote:", arguments: [ArgumentBox("five")])
    let error = try #require(throws: MessageError.self) { try proxy.collect(call, returning: .last) }
    expect(error.code == .typeMismatch && error.argumentIndex == 0)
    expect(journal.all, equals: [])
  }

  @Test("a hook receives several arguments, or none, with the types of its key")
  func arities() throws {
    let proxy = desks()
    try proxy.around(.join) { call in
      let (number, text) = call.arguments
      return try call.proceed(with: number + 1, text + "!")
    }
    try proxy.after(.join) { answers, number, text in journal.write("\(answers) \(number) \(text)") }
    try expect(proxy.collect(.join, 1, "a", returning: .last), equals: "bo 2 a!")
    expect(journal.all, equals: [#"["ann 2 a!", "bo 2 a!"] 1 a"#])
  }

  @Test("a call that outlives its hook cannot be used to send")
  func keptCall() throws {
    let proxy = desks()
    var kept: MessageCall<Int>?
    try proxy.around(.worth) { call in
      kept = call
      return []
    }
    _ = try proxy.collect(.worth, returning: .last)
    let call = try #require(kept)
    let error = try #require(throws: MessageError.self) { try call.proceed() }
    expect(error.code, equals: .hookEnded)
    expect(journal.all, equals: [])
  }

  @Test("hooks run around messages of a burst with pinned targets")
  func pinned() throws {
    let proxy = desks()
    try proxy.before(.say) { journal.write("before \($0)") }
    proxy.pinned { _ = $0.broadcast(.say, "hello") }
    expect(journal.all, equals: ["before hello", "ann hello", "bo hello"])
  }

  @Test("forward names the targets that a hook withheld the message from")
  func withheldTargets() throws {
    let proxy = desks()
    let refusing = try proxy.around { _ in [] }
    var call = Invocation("worth")
    let report = try proxy.forward(&call)
    expect(report.skipped.map(\.reason), equals: [.withheld, .withheld])
    expect(report.skipped.map { ($0.target as? Desk)?.name }, equals: ["ann", "bo"])
    expect(report.answers.isEmpty && journal.all == [])
    refusing.cancel()
    try proxy.around("worth") { _ in [ArgumentBox(7)] }
    let answered = try proxy.forward(&call)
    expect(answered.skipped.map(\.reason), equals: [.withheld, .withheld])
    try expect(answered.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [7])
  }

  @Test("an error that a hook catches by type and rethrows counts as the target's, and the other answers are kept")
  func rethrownByType() throws {
    let proxy = Desks.of(Desk("ann", worth: 1, journal))
    proxy.add(Weighing(), ownership: .strong)
    let told = Journal()
    proxy.onError = { told.write("\($0.error)") }
    try proxy.around(.worth) { call in
      do { return try call.proceed() } catch let error as Refusal { throw error }
    }
    expect(proxy.answer(.worth, returning: .all).answered(), equals: [1])
    expect(told.all, equals: ["refused by the scales"])
  }

  @Test("a rethrown error counts as the target's if it is the same object or has the same type and text")
  func sameError() throws {
    final class Held: Error {}
    struct Said: Error { var text: String }
    func proxy(failing error: any Error, _ hook: @escaping @Sendable (any Error) -> any Error) throws -> Desks {
      let proxy = Desks()
      proxy.on(.worth) { throw error }
      try proxy.around(.worth) { call in do { return try call.proceed() } catch { throw hook(error) } }
      return proxy
    }
    var call = Invocation("worth")
    for error: any Error in [Held(), Said(text: "a")] {
      let same = try proxy(failing: error) { error in
        // Boxes the error again.
        if let error = error as? Held { error } else if let error = error as? Said { error } else { error }
      }
      try expect(same.forward(&call).failures.count, equals: 1)
    }
    for other: any Error in [Held(), Said(text: "b"), Refusal(name: "hook")] {
      for error: any Error in [Held(), Said(text: "a")] {
        let replaced = try proxy(failing: error) { _ in other }
        #expect(throws: (any Error).self) { try replaced.forward(&call) }
      }
    }
  }

  @Test("an unanswered broadcast is reported to onError once, with typed hooks, boxed hooks or none")
  func silentBroadcast() throws {
    let told = Journal()
    let proxy = Desks.of(Desk("ann", journal), options: MulticastOptions(noResponder: .throw))
    proxy.onError = { told.write("\(($0.error as? MessageError)?.code == .nobodyResponds)") }
    proxy.registrations.first?.mute()
    proxy.broadcast(.say, "a")
    proxy.broadcast(Invocation("say:", arguments: [ArgumentBox("b")]))
    expect(told.take(), equals: ["true", "true"])
    let hook = try proxy.around(.say) { try $0.proceed() }
    proxy.broadcast(.say, "c")
    expect(told.take(), equals: ["true"])
    hook.cancel()
    try proxy.before(.say) { _ in }
    proxy.broadcast(.say, "d")
    expect(told.take(), equals: ["true"])
    expect(journal.all, equals: [])
  }
}

/// Responds to the desks' messages with an error.
private final class Weighing: MessageReceiver {
  static let selectorTable = SelectorTable(for: Weighing.self) {
    Responds(to: .worth) { (_: Weighing) -> Int in throw Refusal(name: "the scales") }
  }
}
