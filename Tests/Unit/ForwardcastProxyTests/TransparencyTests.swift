// TransparencyTests.swift: multicast proxies nested at any depth.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

/// An object that sends through its proxy.
private final class Lobby: MulticastSending, MessageReceiver {
  static let selectorTable = SelectorTable(for: Lobby.self) {}
  typealias Interface = any MessageReceiver
  let multicast = MulticastProxy<any MessageReceiver>()
  /// The number of messages that have started.
  var begun = 0
  func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }
  func beginMessage(_ selector: MessageSelector) -> MessageRoute {
    begun += 1
    return multicast.route(for: selector)
  }
}

private final class SharedLobby: MulticastSending, MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: SharedLobby.self) {}
  typealias Interface = any MessageReceiver & Sendable
  let multicast = MulticastProxy<any MessageReceiver & Sendable>()
  let begun = Locked(0)
  func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }
  func beginMessage(_ selector: MessageSelector) -> MessageRoute {
    begun.withLock { $0 += 1 }
    return multicast.route(for: selector)
  }
}

@Suite("Proxies in one another")
struct TransparencyTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>
  typealias Shared = MulticastProxy<any MessageReceiver & Sendable>

  /// Nested proxies, the outermost first.
  private func chain(_ count: Int) -> [Proxy] {
    let proxies = (0..<count).map { _ in Proxy() }
    for (outer, inner) in zip(proxies, proxies.dropFirst()) { outer.add(inner) }
    return proxies
  }

  @Test("256 proxies in one another pass a message on; one more is an error that says so")
  func depth() throws {
    let (listener, errors) = (Listener("a"), Journal())
    listener.answer = 5
    for (count, isReached) in [(255, true), (256, true), (257, false)] {
      let proxies = chain(count)
      proxies.last?.add(listener)
      proxies[0].onError = { errors.write("\($0.error)") }
      expect(proxies[0].responds(to: "value"), equals: isReached)
      expect(proxies[0].count(for: "value"), equals: isReached ? 1 : 0)
      expect(proxies[0].broadcast(.note, count).delivered, equals: isReached ? 1 : 0)
      if isReached {
        try expect(proxies[0].collect(.value, returning: .all), equals: [5])
        expect(errors.all.isEmpty)
      } else {
        #expect(throws: MessageError.self) { try proxies[0].collect(.value, returning: .all) }
        expect(errors.take().first?.hasPrefix("too many proxies for 'note:'") == true)
      }
      withExtendedLifetime((proxies, listener)) {}
    }
  }

  @Test("a multicast among the targets starts each message once, for every way to send")
  func beginsOnce() throws {
    let (proxy, lobby, listener) = (Proxy(), Lobby(), Listener("a"))
    lobby.multicast.add(listener)
    proxy.add(lobby)
    var call = Invocation("value")
    _ = (proxy.broadcast(.value), try proxy.collect(.value, returning: .last), try proxy.forward(&call))
    expect(lobby.begun, equals: 3)
    withExtendedLifetime(listener) {}
  }

  @Test("a blocking message starts once in a multicast behind a queued proxy, and not at all if it would deadlock")
  func beginsOnceBehindQueue() throws {
    let (outer, inner, lobby) = (Shared(), Shared(), SharedLobby())
    let (queue, clerk) = (DispatchQueue(label: "inner"), Clerk("four"))
    lobby.multicast.add(clerk, delivery: .direct)
    inner.add(lobby, delivery: .direct)
    outer.add(inner, delivery: .queue(queue))
    try expect(outer.collectBlocking(.value, returning: .sum, timeout: .seconds(600)), equals: 4)
    expect(lobby.begun.withLock { $0 }, equals: 1)
    #expect(throws: MessageError.self) {
      try queue.sync { try outer.collectBlocking(.value, returning: .sum, timeout: .seconds(60)) }
    }
    expect(lobby.begun.withLock { $0 }, equals: 1)
    withExtendedLifetime((inner, lobby, clerk)) {}
  }

  @Test("failures of a report that is not returned go to the nearest onError, with their registrations")
  func failuresOfEndedReports() throws {
    let (outer, inner, journal) = (Shared(), Shared(), Journal())
    let (bad, never) = (Clerk("bad"), Clerk("never"))
    bad.onNote { _ in throw TargetError(name: "bad") }
    inner.add(bad)
    outer.add(inner)
    let last = outer.add(never, delivery: .on(StepContext("steps")))
    outer.onError = { journal.write("outer \($0.error)") }
    inner.onError = { journal.write("inner \($0.error) \($0.registration != nil)") }
    let call = Invocation("note:", arguments: [ArgumentBox(1)])
    #expect(throws: MessageError.self) { try outer.forwardBlocking(call, timeout: .zero) }
    last.mute()
    _ = outer.dynamic.note(2)
    expect(journal.all, equals: Array(repeating: "inner refused by bad true", count: 2))
    withExtendedLifetime((bad, never, inner)) {}
  }

  @Test(
    "proxies reachable on many paths are queried once, and a message ends with an error instead of hanging", .oneAtATime
  )
  func diamonds() throws {
    var level = [Proxy(), Proxy()]
    let (bottom, kept) = (level[0], Listener("a"))
    var all = level
    for _ in 0..<60 {
      let next = [Proxy(), Proxy()]
      for proxy in next { for inner in level { proxy.add(inner) } }
      level = next
      all += next
    }
    let top = level[0]
    top.onError = { _ in }
    expect(!top.responds(to: "value"))
    expect(top.methodSignature(for: "value")?.returnType, equals: .void)
    bottom.add(kept)
    expect(top.responds(to: "value"))
    let error = #expect(throws: MessageError.self) { try top.collect(.value, returning: .all) }
    expect(error?.code, equals: .tooManyProxies)
    withExtendedLifetime(all) {}
  }

  @Test("a typed message reaches targets of nested proxies without boxing")
  func typed() {
    struct Opaque { let number: Int }
    let message = Message<(Opaque) -> Void>("opaque:")
    let (outer, inner, journal) = (Proxy(), Proxy(), Journal())
    outer.add(inner)
    inner.on(message) { journal.write("\($0.number)") }
    outer.add(ForwardingProxy(to: inner), ownership: .strong)
    expect(outer.broadcast(message, Opaque(number: 3)).delivered, equals: 2)
    expect(journal.all, equals: ["3", "3"])
    withExtendedLifetime(inner) {}
  }

  @Test(
    "removing or muting a proxy drops its queued messages and the rest of the current one",
    arguments: [false, true])
  func endedWithin(isMuted: Bool) throws {
    let journal = Journal()
    func end(_ place: Registration?) { if isMuted { place?.mute() } else { place?.cancel() } }
    do {
      let (outer, inner, context) = (Shared(), Shared(), StepContext("inner"))
      let clerk = Clerk("late", journal)
      let waiting = inner.add(clerk, delivery: .on(context))
      let place = outer.add(inner, delivery: .direct)
      expect(outer.broadcast(.note, 1).queued, equals: 1)
      end(place)
      context.run()
      expect(journal.all, equals: [])
      expect(waiting.dropped, equals: 1)
      withExtendedLifetime(clerk) {}
    }
    // A loop calls targets of one type; others are called one by one.
    let others: [any MessageReceiver] = [
      Listener("second", journal),
      BareReceiver {
        Responds(to: Message<(Int64) -> Void>("note:")) { _, number in journal.write("second \(number)") }
      },
    ]
    for second in others {
      let (outer, inner, first) = (Proxy(), Proxy(), Listener("first", journal))
      inner.add(first)
      inner.add(second)
      var place: Registration?
      first.onNote = { _, _ in end(place) }
      place = outer.add(inner)
      let summary = outer.broadcast(.note, 1)
      expect([summary.delivered, summary.skipped], equals: [1, 1])
      outer.remove(inner)
      place = outer.add(inner)
      var call = Invocation("note:", arguments: [.init(2)])
      try expect(outer.forward(&call).skipped.map(\.reason), equals: [isMuted ? .muted : .removed])
      expect(journal.take(), equals: ["first 1", "first 2"])
      withExtendedLifetime((first, second)) {}
    }
  }

  @Test("a proxy registered with two scopes forwards a message once, also to queued targets")
  func scopesOfProxy() {
    let (outer, inner, context, journal) = (Shared(), Shared(), StepContext("inner"), Journal())
    let clerks = [Clerk("near", journal), Clerk("far", journal)]
    inner.add(clerks[0], delivery: .direct)
    inner.add(clerks[1], delivery: .on(context))
    for scope in [["note:"], ["note:", "say:"]] as [[MessageSelector]] {
      outer.add(inner, delivery: .direct, only: scope)
    }
    outer.broadcast(.note, 1)
    context.run()
    expect(journal.all, equals: ["near 1", "far 1"])
    withExtendedLifetime(clerks) {}
  }

  @Test("messages behind a removed proxy are delivered if its registration has deliverPending")
  func keptBehindRemoved() {
    let (outer, inner, journal) = (Shared(), Shared(), Journal())
    let (first, second, clerk) = (StepContext("first"), StepContext("second"), Clerk("a", journal))
    inner.add(clerk, delivery: .on(second))
    outer.add(inner, delivery: .on(first), whenRemoved: .deliverPending)
    outer.broadcast(.note, 1)
    first.run()
    outer.remove(inner)
    second.run()
    expect(journal.all, equals: ["a 1"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a report lists a skipped proxy only by its targets, however deeply nested")
  func stoppedInReport() throws {
    let outer = Proxy(options: MulticastOptions(errors: .stopAtFirst))
    let (middle, inner, failing, last) = (Proxy(), Proxy(), Listener("failing"), Listener("last"))
    failing.onNote = { _, _ in throw TargetError(name: "failing") }
    outer.add(failing)
    outer.add(middle)
    middle.add(inner)
    inner.add(last)
    var call = Invocation("note:", arguments: [.init(1)])
    let report = try outer.forward(&call)
    expect(report.failures.count, equals: 1)
    expect(report.skipped.map(\.reason), equals: [.stopped])
    expect(report.skipped.first?.target === last)
    withExtendedLifetime((middle, inner, failing, last)) {}
  }

  @Test("a proxy counts as unanswered only if no target below it received the message", arguments: [false, true])
  func silenceOfMiddle(isHooked: Bool) throws {
    let (silent, outer, inner, listener) = (Journal(), Proxy(), Proxy(), Listener("a"))
    let middle = Proxy(options: MulticastOptions(noResponder: .handle { silent.write($0.name) }))
    outer.add(middle)
    middle.add(inner)
    inner.add(listener)
    if isHooked { try inner.after(.note) { _, _ in } }
    outer.broadcast(.note, 1)
    try expect(outer.collect(.value, returning: .all), equals: [0])
    expect(silent.all, equals: [])
    inner.remove(listener)
    outer.broadcast(.note, 2)
    expect(silent.all, equals: ["note:"])
    withExtendedLifetime((middle, inner)) {}
  }

  @Test("a queued proxy sends the message to all its targets, even if the outer policy stops early")
  func queuedProxyAsksAll() async throws {
    let (outer, inner, journal) = (Shared(), Shared(), Journal())
    func voter(_ name: String) -> BareReceiver {
      BareReceiver {
        Responds(to: .agrees) { _ in
          journal.write(name)
          return true
        }
      }
    }
    for name in ["first", "second"] { inner.add(voter(name), delivery: .direct, ownership: .strong) }
    outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")))
    try await expect(outer.collectAndWait(.agrees, returning: .any), equals: true)
    expect(journal.all, equals: ["first", "second"])
  }

  @Test("an object that sends through a proxy is transparent as a target")
  func facade() throws {
    let (lobby, listener) = (Lobby(), Listener("a"))
    listener.answer = 4
    lobby.multicast.add(listener)
    let outer = MulticastProxy<AnyObject>()
    outer.add(lobby)
    expect(outer.responds(to: "value"))
    try expect(outer.collect(.value, returning: .all), equals: [4])
    try expect(lobby.collect(.value, returning: .sum), equals: 4)
    expect(lobby.broadcast(.note, 1).delivered, equals: 1)
    withExtendedLifetime(listener) {}
  }

  @Test("a target that is added to a nested proxy during a message receives the next one")
  func joining() {
    let (outer, inner, journal) = (Proxy(), Proxy(), Journal())
    let (first, late) = (Listener("first", journal), Listener("late", journal))
    first.onNote = { _, _ in inner.add(late) }
    outer.add(first)
    outer.add(inner)
    outer.broadcast(.note, 1)
    expect(journal.take(), equals: ["first 1"])
    outer.broadcast(.note, 2)
    expect(journal.take(), equals: ["first 2", "late 2"])
    withExtendedLifetime((inner, late)) {}
  }

  @Test("a sender waits for queued targets and asynchronous methods behind every kind of proxy")
  func waiting() async throws {
    let (outer, inner, journal) = (Shared(), Shared(), Journal())
    let queue = DispatchQueue(label: "inner")
    let (queued, direct) = (Clerk("queued", journal), Clerk("direct", journal))
    inner.add(queued, delivery: .queue(queue))
    inner.add(direct)
    outer.add(inner)
    try await expect(outer.collectAndWait(.slow, 90_001, returning: .all), equals: [90_001, 90_001])
    try await expect(outer.collectAndWait(.value, returning: .all), equals: [6, 6])
    let report = try await outer.forwardAndWait(Invocation("value"))
    expect(report.answers.count == 2 && report.queued.isEmpty)
    withExtendedLifetime((queued, direct)) {}
  }

  @Test("a queued proxy waits for its own targets and returns only the last answer")
  func queuedInner() async throws {
    let (outer, inner) = (Shared(), Shared())
    let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
    let clerks = ["a", "bb", "ccc"].map { Clerk($0) }
    inner.add(clerks[0], delivery: .queue(second))
    inner.add(clerks[1])
    outer.add(inner, delivery: .queue(first))
    outer.add(clerks[2])
    try await expect(outer.collectAndWait(.value, returning: .all), equals: [2, 3])
    try await expect(outer.collectAndWait(.slow, 90_002, returning: .all), equals: [90_002, 90_002])
    try expect(synchronously { try outer.collectBlocking(.value, returning: .sum, timeout: .seconds(600)) }, equals: 5)
    withExtendedLifetime(clerks) {}
  }

  @Test("an awaited send reaches an asynchronous method through a forwarding and a lazy proxy")
  func waitingSend() async throws {
    let (many, clerk) = (Shared(), Clerk("a"))
    many.add(clerk)
    try await expect(many.sendAndWait(.slow, 90_003), equals: 90_003)
    let outer = Proxy()
    outer.add(ForwardingProxy(to: many), ownership: .strong)
    outer.add(LazyProxy { many }, ownership: .strong)
    let report = try await outer.forwardAndWait(Invocation("slow:", arguments: [ArgumentBox(90_004)]))
    expect(report.answers.count, equals: 2, "\(report)")
    withExtendedLifetime(clerk) {}
  }
}

@Suite("Concurrent queues")
struct ConcurrentQueueTests {
  @Test("targets on a concurrent queue run concurrently, each in its own order", arguments: [false, true])
  func together(isGlobal: Bool) {
    let proxy = MulticastProxy<any MessageReceiver & Sendable>()
    let queue =
      isGlobal ? DispatchQueue.global() : DispatchQueue(label: "concurrent", attributes: .concurrent)
    let (met, journal) = (DispatchGroup(), Journal())
    let clerks = (0..<3).map { Clerk("\($0)", journal) }
    for clerk in clerks {
      met.enter()
      clerk.onNote { number in
        // Each waits until all have started. Run one at a time, they would wait forever.
        guard number == 1 else { return }
        met.leave()
        if met.wait(timeout: .now() + 600) == .timedOut { journal.write("alone") }
      }
      proxy.add(clerk, delivery: isGlobal ? .queue(queue) : .concurrentQueue(queue))
    }
    for number in 1...20 { expect(proxy.broadcast(.note, number).queued, equals: 3) }
    #expect(throws: Never.self) { try proxy.drainBlocking(timeout: .seconds(600)) }
    expect(!journal.all.contains("alone"))
    for clerk in clerks {
      let own = journal.all.filter { $0.hasPrefix("\(clerk.name) ") }
      expect(own, equals: (1...20).map { "\(clerk.name) \($0)" })
    }
  }
}
