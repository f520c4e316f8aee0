// HookWaitingTests.swift: hooks around awaited messages, and around queued targets.

import Dispatch
import Forwardcast
import TestSupport
import Testing

@Suite("Hooks and waiting")
struct HookWaitingTests {
  let journal = Journal()

  private func desks() -> SharedDesks {
    let proxy = SharedDesks()
    proxy.add(Desk("ann", worth: 20, journal), delivery: .direct, ownership: .strong)
    proxy.add(Desk("bo", worth: 45, journal), delivery: .queue(DispatchQueue(label: "bo")), ownership: .strong)
    return proxy
  }

  @Test("before and after run around an awaited message, and after sees every answer")
  func plainForms() async throws {
    let proxy = desks()
    try proxy.before(.quote) { journal.write("before \($0)") }
    try proxy.after(.quote) { journal.write("after \($1): \($0)") }
    try await expect(proxy.collectAndWait(.quote, 1, returning: .sum), equals: 67)
    expect(journal.all.first == "before 1" && journal.all.last == "after 1: [21, 46]")
  }

  @Test("an around hook may have one form for awaited sends and one for synchronous sends")
  func twoForms() async throws {
    let proxy = desks()
    try proxy.around(.quote) { call in
      journal.write("in turn")
      return try call.proceed(with: call.arguments + 1)
    } waiting: { call in
      journal.write("waiting")
      await Task.yield()
      return try await call.proceed(with: call.arguments + 2).map { $0 * 10 }
    }
    try await expect(proxy.collectAndWait(.quote, 1, returning: .all), equals: [230, 480])
    try expect(proxy.collect(.quote, 1, returning: .all), equals: [22])
    try expect(
      synchronously { try proxy.collectBlocking(.quote, 1, returning: .all, timeout: .seconds(600)) }, equals: [22, 47])
    proxy.removeAll()
    expect(journal.all.filter { !$0.contains("quotes") }, equals: ["waiting", "in turn", "in turn"])
  }

  @Test("an awaited send is refused if an around hook has only a synchronous form")
  func noWaitingForm() async throws {
    let proxy = desks()
    try proxy.around(.quote) { try $0.proceed() }
    let error = await #expect(throws: MessageError.self) {
      try await proxy.collectAndWait(.quote, 1, returning: .sum)
    }
    expect(error?.code, equals: .isolationMismatch)
    expect(journal.all, equals: [])
  }

  @Test("an awaited send through a synchronous hook to an actor's method is refused, unless the target is muted")
  func isolatedBehindPlainHook() async throws {
    actor Clerk: MessageReceiver {
      let worth = 5
      static let selectorTable = SelectorTable(for: Clerk.self) {
        Responds(to: .worth, isolated: { clerk in clerk.worth })
      }
    }
    let proxy = MulticastProxy<any MessageReceiver & Sendable>()
    let registration = proxy.add(Clerk(), ownership: .strong)
    try await expect(proxy.collectAndWait(.worth, returning: .all), equals: [5])
    try proxy.around(.worth) { try $0.proceed() }
    let error = await #expect(throws: MessageError.self) { try await proxy.collectAndWait(.worth, returning: .all) }
    expect(error?.code, equals: .isolationMismatch)
    expect(error?.evidence.hasPrefix("the method of Clerk, which runs on its actor, must be awaited") ?? false)
    registration.mute()
    try await expect(proxy.collectAndWait(.worth, returning: .all), equals: [])
  }

  @Test("a synchronous send is refused if a hook is asynchronous", arguments: ["around", "around all"])
  func suspendingHook(kind: String) async throws {
    let proxy = desks()
    let hook =
      switch kind {
      case "around": try proxy.around(.quote, waiting: { try await $0.proceed() })
      default: try proxy.around(waiting: { try await $0.proceed() })
      }
    for send in [
      { try proxy.collect(.quote, 1, returning: .sum) },
      { try synchronously { try proxy.collectBlocking(.quote, 1, returning: .sum, timeout: .seconds(600)) } },
      { try proxy.send(.quote, 1) },
    ] {
      let error = try #require(throws: MessageError.self) { _ = try send() }
      expect(error.code, equals: .isolationMismatch)
    }
    expect(journal.all, equals: [])
    try await expect(proxy.collectAndWait(.quote, 1, returning: .sum), equals: 67)
    hook.cancel()
    try expect(
      synchronously { try proxy.collectBlocking(.quote, 1, returning: .sum, timeout: .seconds(600)) }, equals: 67)
  }

  @Test("asynchronous hooks run in order, with arguments and answers")
  func suspendingOrder() async throws {
    let proxy = desks()
    try proxy.around(
      .worth,
      waiting: { call in
        await Task.yield()
        journal.write("before")
        let answers = try await call.proceed()
        await Task.yield()
        journal.write("after \(answers)")
        return answers
      })
    try proxy.around(
      "worth",
      waiting: { call in
        journal.write("in \(call.invocation)")
        let answers = try await call.proceed()
        journal.write("out \(answers)")
        return Array(answers.dropFirst())
      })
    try await expect(proxy.collectAndWait(.worth, returning: .all), equals: [45])
    let hooks = journal.all.filter { !["ann worth", "bo worth"].contains($0) }
    expect(hooks, equals: ["in worth", "before", "after [20, 45]", "out [20, 45]"])
  }

  @Test("all ways to send a message value, synchronous or awaited, run the hooks")
  func verbs() async throws {
    let proxy = desks()
    try proxy.around { call in
      journal.write("turn")
      return try call.proceed()
    } waiting: { call in
      journal.write("wait")
      return try await call.proceed()
    }
    var call = Invocation("worth")
    _ = try proxy.forward(&call)
    _ = try synchronously { try proxy.forwardBlocking(call, timeout: .seconds(600)) }
    _ = try synchronously { try proxy.collectBlocking(call, returning: .last, timeout: .seconds(600)) }
    let report = try await proxy.forwardAndWait(call)
    try expect(report.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [20, 45])
    _ = try await proxy.collectAndWait(call, returning: .last)
    _ = try await proxy.broadcastWhenReady(.say, "hello")
    proxy.broadcast(call)
    proxy.removeAll()
    let hooks = journal.all.filter { $0 == "turn" || $0 == "wait" }
    expect(hooks, equals: ["turn", "turn", "turn", "wait", "wait", "wait", "turn"])
  }

  @Test("a hook runs where the message is sent, and its changes reach queued targets")
  func senderSide() async throws {
    let proxy = SharedDesks()
    let queue = DispatchQueue(label: "desk")
    let (inside, outside) = (DispatchSpecificKey<Bool>(), Journal())
    queue.setSpecific(key: inside, value: true)
    proxy.add(Desk("bo", journal), delivery: .queue(queue), ownership: .strong)
    try proxy.around(.say) { call in
      outside.write("\(DispatchQueue.getSpecific(key: inside) ?? false)")
      return try call.proceed(with: call.arguments.uppercased())
    }
    expect(proxy.broadcast(.say, "hello").queued, equals: 1)
    try await proxy.drain()
    expect(journal.all, equals: ["bo HELLO"])
    expect(outside.all, equals: ["false"])
  }

  @Test("boxed arguments that a hook replaces reach queued targets only if they are known to be Sendable")
  func crossing() async throws {
    final class Local {}
    let proxy = SharedDesks()
    let failures = Journal()
    proxy.onError = { failures.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    proxy.add(Desk("bo", journal), delivery: .queue(DispatchQueue(label: "bo")), ownership: .strong)
    let hook = try proxy.around("say:") { try $0.proceed(with: [ArgumentBox("boxed")]) }
    expect(proxy.broadcast(.say, "hello").queued, equals: 1)
    hook.cancel()
    try proxy.around("say:") { try $0.proceed(with: [ArgumentBox(Local())]) }
    expect(proxy.broadcast(.say, "hello").queued, equals: 0)
    try await proxy.drain()
    expect(journal.all, equals: ["bo boxed"])
    expect(failures.all, equals: ["isolation mismatch"])
  }

  @Test("canceling the sender's task ends the wait behind a hook")
  func cancellation() async throws {
    let proxy = desks()
    try proxy.before(.quote) { _ in }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await proxy.collectAndWait(.quote, 1, returning: .sum)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let waiting = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await proxy.broadcastWhenReady(.quote, 1)
    }
    _ = try? await waiting.value
    try await proxy.drain()
  }

  @Test("hooks of an isolated proxy stay in its isolation")
  @MainActor func oneIsolation() async throws {
    final class Count { var value = 0 }
    let (proxy, count) = (Desks.of(Desk("ann", worth: 1, journal)), Count())
    try proxy.around(
      .worth,
      waiting: { call in
        count.value += 1
        return try await call.proceed()
      })
    try proxy.around(.worth) { call in
      count.value += 10
      return try call.proceed()
    } waiting: { call in
      count.value += 100
      return try await call.proceed()
    }
    try await expect(proxy.collectAndWait(.worth, returning: .sum), equals: 1)
    expect(count.value, equals: 101)
  }

  @Test("an around hook needs no asynchronous form if all targets inside it answer synchronously")
  func plainAround() async throws {
    let proxy = SharedDesks()
    proxy.add(Desk("ann", worth: 20, journal), delivery: .direct, ownership: .strong)
    try proxy.around(.quote) { call in try call.proceed(with: call.arguments + 1).map { $0 * 10 } }
    try await expect(proxy.collectAndWait(.quote, 1, returning: .all), equals: [220])
    proxy.add(Desk("bo", journal), delivery: .queue(DispatchQueue(label: "bo")), ownership: .strong)
    let error = await #expect(throws: MessageError.self) {
      try await proxy.collectAndWait(.quote, 1, returning: .all)
    }
    expect(error?.evidence.contains("Desk on queue") ?? false && error?.evidence.contains("waiting:") ?? false)
    expect(journal.all, equals: ["ann quotes 2"])
  }

  @Test("errors before and after a timeout go to onError")
  func errorsOfAbandonedWaits() async throws {
    let proxy = SharedDesks()
    let told = Journal()
    proxy.onError = { told.write("\($0.error)") }
    let queue = DispatchQueue(label: "held")
    queue.suspend()
    proxy.add(Desk("ann", journal), delivery: .direct, ownership: .strong)
    proxy.add(Desk("bo", journal), delivery: .queue(queue), ownership: .strong)
    proxy.add(Desk("cy", journal), delivery: .direct, ownership: .strong)
    let error = #expect(throws: MessageError.self) {
      try synchronously { try proxy.collectBlocking(.quote, -1, returning: .all, timeout: .zero) }
    }
    expect(error?.code, equals: .timedOut)
    expect(Set(told.all), equals: ["refused by ann", "refused by cy"])
    let call = Invocation("quote:", arguments: [ArgumentBox(-2)])
    #expect(throws: MessageError.self) { try synchronously { try proxy.forwardBlocking(call, timeout: .zero) } }
    expect(told.all.count, equals: 4)
    queue.resume()
    try await proxy.drain()
    expect(told.all.count == 6 && told.all.suffix(2) == ["refused by bo", "refused by bo"])
  }

  @Test(
    "a synchronous hook allows an awaited send if no target has to be awaited", arguments: ["mute", "remove", "die"])
  func nobodyElsewhere(how: String) async throws {
    let (outer, inner, ann) = (Rooms(), Rooms(), Desk("ann", worth: 20, journal))
    var bo: Desk? = Desk("bo", worth: 45, journal)
    inner.add(ann)
    let registration = inner.add(bo.unsafelyUnwrapped, delivery: .queue(DispatchQueue(label: "bo")))
    outer.add(inner)
    try outer.around(.worth) { try $0.proceed() }
    try inner.after(.worth) { _ in }
    await #expect(throws: MessageError.self) { try await outer.collectAndWait(.worth, returning: .all) }
    switch how {
    case "mute": registration.mute()
    case "remove": registration.cancel()
    default: bo = nil
    }
    try await expect(outer.collectAndWait(.worth, returning: .all), equals: [20])
    withExtendedLifetime((ann, bo, inner)) {}
  }

  /// Two direct desks that fail for negative amounts, and one whose queue is suspended.
  private func heldDesks(_ told: Journal) -> (proxy: SharedDesks, queue: DispatchQueue) {
    let (proxy, queue) = (SharedDesks(), DispatchQueue(label: "held"))
    queue.suspend()
    proxy.onError = { told.write("\($0.error)") }
    proxy.add(Desk("ann", worth: 1, journal), delivery: .direct, ownership: .strong)
    proxy.add(Desk("bo", worth: 2, journal), delivery: .queue(queue), ownership: .strong)
    proxy.add(Desk("cy", worth: 3, journal), delivery: .direct, ownership: .strong)
    return (proxy, queue)
  }

  @Test("a timeout is thrown to the hook once, and errors of targets go to onError once each")
  func lateInside() async throws {
    let told = Journal()
    let (proxy, queue) = heldDesks(told)
    try proxy.around(.quote) { call in
      do { return try call.proceed() } catch {
        journal.write("\((error as? MessageError)?.code == .timedOut)")
        throw error
      }
    }
    let error = #expect(throws: MessageError.self) {
      try synchronously { try proxy.collectBlocking(.quote, -1, returning: .all, timeout: .zero) }
    }
    expect(error?.code, equals: .timedOut)
    expect(journal.take(), equals: ["ann quotes -1", "cy quotes -1", "true"])
    expect(told.all, equals: ["refused by ann", "refused by cy"])
    queue.resume()
    try await proxy.drain()
    expect(told.all, equals: ["refused by ann", "refused by cy", "refused by bo"])
  }

  @Test("a hook that answers after a timeout ends the message, and its report lists the late target as queued")
  func answeredInside() async throws {
    let told = Journal()
    let (proxy, queue) = heldDesks(told)
    try proxy.around(.quote) { call in
      do { return try call.proceed() } catch { return [7, 8] }
    }
    try expect(synchronously { try proxy.collectBlocking(.quote, 1, returning: .all, timeout: .zero) }, equals: [7, 8])
    let report = try synchronously {
      try proxy.forwardBlocking(Invocation("quote:", arguments: [ArgumentBox(1)]), timeout: .zero)
    }
    try expect(report.answers.compactMap { try $0.result?.unbox(as: Int.self) }, equals: [7, 8])
    expect(report.queued.compactMap { ($0 as? Desk)?.name }, equals: ["bo"])
    queue.resume()
    try await proxy.drain()
    expect(journal.all.filter { $0.hasPrefix("bo") }.count, equals: 2)
    expect(told.all, equals: [])
  }

  @Test("canceling the sender ends a wait inside a hook, and a retry does not wait either")
  func cancelledInside() async throws {
    let told = Journal()
    let (proxy, queue) = heldDesks(told)
    try proxy.around(waiting: { call in
      for _ in 0..<2 {
        do { return try await call.proceed() } catch is CancellationError { journal.write("cancelled") }
      }
      return []
    })
    let sender = Task { try await proxy.collectAndWait(.worth, returning: .all) }
    await until(journal.all.contains("cy worth"))
    sender.cancel()
    try await expect(sender.value, equals: [])
    expect(journal.take(), equals: ["ann worth", "cy worth", "cancelled", "ann worth", "cy worth", "cancelled"])
    queue.resume()
    try await proxy.drain()
    expect(journal.all, equals: ["bo worth", "bo worth"])
    expect(told.all, equals: [])
  }

  @Test("an error that arrives after a sufficient answer goes to onError, with or without hooks")
  func surplusError() async throws {
    let (told, key, queue) = (Journal(), Message<() -> Int>("turn"), DispatchQueue(label: "desks"))
    let table = SelectorTable(for: Desk.self) {
      Responds(to: key) { (desk: Desk) in
        if desk.name == "bo" { throw Refusal(name: desk.name) }
        if desk.name == "cy" { desk.journal.write("cy") }
        return 1
      }
    }
    let proxy = SharedDesks(table: table)
    proxy.onError = { told.write("\($0.error)") }
    for name in ["ann", "bo"] { proxy.add(Desk(name, journal), delivery: .queue(queue), ownership: .strong) }
    proxy.add(Desk("cy", journal), delivery: .direct, ownership: .strong)
    let hook = try proxy.around(key, waiting: { try await $0.proceed() })
    for round in 1...2 {
      queue.suspend()
      let first = Task { try await proxy.collectAndWait(key, returning: .first) }
      await until(journal.all.count == round)
      queue.resume()
      try await expect(first.value, equals: 1)
      expect(told.all.count, equals: round)
      hook.cancel()
    }
  }
}
