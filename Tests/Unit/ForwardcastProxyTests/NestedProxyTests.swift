// NestedProxyTests.swift: forwarding, lazy and nested proxies, and cycles of them.

import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

private final class HookedProxy: ForwardingProxy {
  var says: Bool?
  var target: (any MessageReceiver)?
  var types: MethodSignature?
  var kept: [Invocation] = []
  var table: SelectorTable?
  var next: MulticastProxy<any MessageReceiver>?
  var asked: ((HookedProxy, MessageSelector) -> Void)?

  override var objectTable: SelectorTable? { table }
  override func responds(to selector: MessageSelector) -> Bool {
    asked?(self, selector)
    return says ?? super.responds(to: selector)
  }
  override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    types ?? super.methodSignature(for: selector)
  }
  override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { target }
  override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    kept.append(invocation)
    if let next { return try next.forward(&invocation) }
    invocation.result = ArgumentBox(kept.count)
    return DeliveryReport()
  }
  override func doesNotRecognize(_ selector: MessageSelector) -> any Error { TargetError(name: selector.name) }

  /// A Swift method of the proxy with the name of a message.
  func value() -> Int { -1 }
}

@Suite("Forwarding, lazy and nested proxies")
struct NestedProxyTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>

  @Test("a forwarding proxy forwards every message, returns its target's answers, and retains it")
  func one() throws {
    let counter = LeakCounter()
    do {
      let proxy = ForwardingProxy(to: Listener("a", Journal(), counter))
      expect(counter.alive, equals: 1)
      try expect(proxy.send(.value), equals: 0)
      expect(proxy.responds(to: "note:"))
      expect(!proxy.responds(to: "say:"))
      expect(proxy.methodSignature(for: "note:")?.description, equals: "v@:q")
      let error = #expect(throws: MessageError.self) { try proxy.send(.say, "x") }
      expect(error?.code, equals: .unrecognizedSelector)
    }
    expect(counter.alive, equals: 0)
    let empty = ForwardingProxy()
    expect(!empty.responds(to: "value"))
    #expect(throws: MessageError.self) { try empty.send(.value) }
  }

  @Test("overridden hooks of a subclass are called, and its own Swift methods shadow no message")
  func hooks() throws {
    let proxy = HookedProxy()
    #expect(throws: TargetError(name: "value")) { try proxy.send(.value) }
    proxy.types = .sample("q@:")
    try expect(proxy.send(.value), equals: 1)
    expect(proxy.kept.map(\.description), equals: ["value"])
    let target = Listener("a")
    target.answer = 7
    proxy.target = target
    try expect(proxy.send(.value), equals: 7)
    proxy.table = SelectorTable(for: HookedProxy.self) { Responds(to: .value) { (_: HookedProxy) in 70 } }
    try expect(proxy.send(.value), equals: 70)
    let many = Proxy()
    many.add(proxy)
    try expect(many.collect(.value, returning: .all), equals: [70])
    proxy.says = false
    expect(!many.responds(to: "value"))
    try expect(many.collect(.value, returning: .all), equals: [])
    proxy.says = nil
    proxy.table = nil
    try expect(many.collect(.value, returning: .all), equals: [7])
    proxy.target = nil
    try expect(many.collect(.value, returning: .all), equals: [2])
    proxy.types = nil
    try expect(many.collect(.value, returning: .all), equals: [])
    proxy.types = .sample("q@:")
    proxy.says = true
    try expect(many.collect(.value, returning: .all), equals: [3])
  }

  @Test("a lazy proxy creates its target once, for the first message")
  func lazy() throws {
    let journal = Journal()
    let proxy = LazyProxy { () -> any MessageReceiver in
      journal.write("made")
      return Listener("a", journal)
    }
    expect(!proxy.isMade)
    try expect(proxy.send(.value), equals: 0)
    expect(proxy.responds(to: "note:"))
    expect(proxy.isMade)
    expect(journal.all, equals: ["made", "a value"])
  }

  @Test("if creation fails, the message throws the error, and the next message tries again")
  func lazyFailure() throws {
    var failing = true
    var made = 0
    let proxy = LazyProxy { () -> any MessageReceiver in
      made += 1
      if failing { throw TargetError(name: "maker") }
      return Listener("a")
    }
    #expect(throws: TargetError(name: "maker")) { try proxy.send(.value) }
    let many = Proxy()
    many.add(proxy)
    let errors = Journal()
    many.onError = { errors.write("\($0.error)") }
    expect(many.broadcast(.value).failed, equals: 1)
    expect(many.broadcast(Invocation("value")).failed, equals: 1)
    expect(errors.all, equals: ["refused by maker", "refused by maker"])
    #expect(throws: TargetError(name: "maker")) { try many.collect(.value, returning: .last) }
    failing = false
    try expect(many.collect(.value, returning: .last), equals: 0)
    try expect(proxy.send(.value), equals: 0)
    expect(made >= 5)
    expect(!proxy.responds(to: "unheardOf"))
    expect(many.broadcast(Message<() -> Void>("unheardOf")).nobodyResponded)
  }

  @Test("a closure that needs its own lazy proxy gets an error instead of recursing")
  func lazyRecursion() {
    weak var own: LazyProxy?
    let proxy = LazyProxy { () -> any MessageReceiver in
      _ = try own?.send(.value)
      return Listener("a")
    }
    own = proxy
    let error = #expect(throws: MessageError.self) { try proxy.send(.value) }
    expect(error?.code, equals: .proxyCycle)
    expect(!proxy.isMade)
  }

  @Test("a query that fails while the target is created is not cached")
  func lazyQuestion() throws {
    weak var own: LazyProxy?
    let proxy = LazyProxy { () -> any MessageReceiver in
      expect(own?.responds(to: "value") == false)
      return Listener("a")
    }
    own = proxy
    for _ in 1...2 { expect(proxy.methodSignature(for: "value") != nil) }
    expect((proxy.doesNotRecognize("unheardOf") as? MessageError)?.code, equals: .unrecognizedSelector)

    var failing = true
    let late = LazyProxy { () -> any MessageReceiver in
      if failing { throw TargetError(name: "maker") }
      return Listener("b")
    }
    for _ in 1...2 {
      expect(late.methodSignature(for: "value") == nil)
      expect(!late.responds(to: "value"))
    }
    failing = false
    expect(late.methodSignature(for: "value") != nil)
  }

  @Test("a nested multicast delivers in its slot, typed and boxed")
  func nested() throws {
    let (outer, inner, journal) = (Proxy(), Proxy(), Journal())
    let targets = ["a", "b", "c", "d"].map { Listener($0, journal) }
    defer { withExtendedLifetime(targets) {} }
    outer.add(targets[0])
    outer.add(inner)
    outer.add(targets[3])
    inner.add(targets[1])
    inner.add(targets[2])
    expect(outer.broadcast(.note, 1).delivered, equals: 4)
    expect(journal.take(), equals: ["a 1", "b 1", "c 1", "d 1"])
    var call = Invocation("note:", arguments: [.init(2)])
    try expect(outer.forward(&call).answers.count, equals: 4)
    expect(journal.take(), equals: ["a 2", "b 2", "c 2", "d 2"])
    targets[1].answer = 4
    targets[2].answer = 5
    try expect(outer.collect(.value, returning: .all), equals: [0, 4, 5, 0])
    targets[1].onNote = { listener, _ in throw TargetError(name: listener.name) }
    outer.onError = { journal.write("\($0.error)") }
    _ = journal.take()
    let summary = outer.broadcast(.note, 3)
    expect(summary.delivered == 3 && summary.failed == 1)
    expect(journal.all, equals: ["a 3", "b 3", "refused by b", "c 3", "d 3"])
  }

  @Test("a nested proxy is queried each time, so changes of its targets take effect at once")
  func nestedResponds() {
    let (outer, inner) = (Proxy(), Proxy())
    outer.add(inner)
    expect(!outer.responds(to: "note:"))
    var target: Listener? = Listener("a")
    if let target { inner.add(target) }
    expect(outer.responds(to: "note:"))
    expect(outer.count(for: "note:"), equals: 1)
    if let target { inner.mute(target) }
    expect(!outer.responds(to: "note:"))
    expect(outer.broadcast(.note, 1).nobodyResponded)
    if let target { inner.unmute(target) }
    expect(outer.responds(to: "note:"))
    target = nil
    expect(!outer.responds(to: "note:"))
    expect(outer.methodSignature(for: "note:")?.description, equals: "v@:@")
  }

  @Test("a cycle of proxies is an error for every way to send, whether or not a target in it responds")
  func rings() {
    for length in 1...4 {
      for answered in [false, true] {
        let (ring, journal) = ((0..<length).map { _ in Proxy() }, Journal())
        for (index, proxy) in ring.enumerated() {
          proxy.add(ring[(index + 1) % length])
          proxy.onError = { journal.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
        }
        let target = Listener("a")
        defer { withExtendedLifetime(target) {} }
        if answered { ring[length - 1].add(target) }
        let context = "\(length) proxies, answered: \(answered)"
        expect(ring[0].responds(to: "note:"), equals: answered, "\(context)")
        expect(ring[0].broadcast(.note, 1).failed, equals: 1, "\(context)")
        expect(ring[0].broadcast(Invocation("note:", arguments: [.init(1)])).failed, equals: 1, "\(context)")
        expect(journal.all.allSatisfy { $0 == "proxy cycle" } && journal.all.count == 2, "\(context) \(journal.all)")
        let error = #expect(throws: MessageError.self) { try ring[0].collect(.note, 1, returning: .all) }
        expect(error?.code, equals: .proxyCycle, "\(context)")
        var call = Invocation("note:", arguments: [.init(1)])
        let sent = #expect(throws: MessageError.self) { try ring[0].perform(&call) }
        expect(sent?.code, equals: .proxyCycle, "\(context)")
        expect(ring[0].count(for: "unheardOf"), equals: 0)
        expect(ring[0].count(for: "note:"), equals: answered ? 1 : 0, "\(context)")
        for proxy in ring { proxy.removeAll() }
      }
    }
  }

  @Test("a cycle over forwarding proxies is an error too, and queries in it end")
  func mixedRing() {
    let (many, one) = (Proxy(), HookedProxy())
    one.target = many
    many.add(one)
    expect(!many.responds(to: "note:"))
    expect(one.methodSignature(for: "note:") != nil)
    let journal = Journal()
    many.onError = { journal.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    expect(many.broadcast(.note, 1).failed, equals: 1)
    expect(journal.all, equals: ["proxy cycle"])
    let (a, b) = (HookedProxy(), HookedProxy())
    (a.target, b.target) = (b, a)
    expect(!a.responds(to: "note:"))
    expect(a.methodSignature(for: "note:") == nil)
    a.target = nil
    one.target = nil
  }

  @Test("a message that a target sends to an outer proxy does not return to the target")
  func sentOnAround() {
    let (many, around, relay, journal) = (Proxy(), Proxy(), HookedProxy(), Journal())
    let target = Listener("a", journal)
    (relay.says, relay.types, relay.next) = (true, .sample("v@:q"), around)
    around.add(many)
    many.add(relay)
    many.add(target)
    many.onError = { journal.write("\(($0.error as? MessageError)?.code.description ?? "other")") }
    many.broadcast(Invocation("note:", arguments: [.init(1)]))
    expect(journal.all, equals: ["proxy cycle", "a 1"])
    withExtendedLifetime(target) {}
  }

  @Test("two paths to one proxy are no cycle: it delivers twice")
  func diamond() {
    let (top, left, right, journal) = (Proxy(), Proxy(), Proxy(), Journal())
    let target = Listener("a", journal)
    defer { withExtendedLifetime(target) {} }
    top.add(left)
    top.add(right)
    left.add(target)
    right.add(target)
    expect(top.broadcast(.note, 1).delivered, equals: 2)
    expect(journal.all, equals: ["a 1", "a 1"])
  }

  @Test("an invocation that a target stored can be sent again through the same multicast")
  func keptInvocation() throws {
    let (many, recorder, journal) = (Proxy(), HookedProxy(), Journal())
    recorder.says = true
    recorder.types = .sample("v@:q")
    let target = Listener("a", journal)
    defer { withExtendedLifetime(target) {} }
    many.add(recorder)
    many.add(target)
    many.broadcast(Invocation("note:", arguments: [.init(1)]))
    var kept = try #require(recorder.kept.first)
    try many.perform(&kept)
    expect(journal.all, equals: ["a 1", "a 1"])
    expect(recorder.kept.count, equals: 2)
    many.broadcast(kept)
    expect(journal.all.count, equals: 3)
  }

  @Test("a target may send the retargeted message through the proxy that delivered it")
  func otherMessages() throws {
    let (many, journal) = (Proxy(), Journal())
    let target = LoudListener("a", journal)
    defer { withExtendedLifetime(target) {} }
    let relay = BareReceiver {
      Responds(to: "first:", signature: .sample("v@:@")) { (_: BareReceiver, call: inout Invocation) in
        try call.retarget(to: "say:")
        Relay.many?.broadcast(call)
      }
    }
    Relay.many = many
    defer { Relay.many = nil }
    many.add(relay)
    many.add(target)
    many.onError = { journal.write("\($0.error)") }
    many.broadcast(Invocation("first:", arguments: [.init("x")]))
    expect(journal.all, equals: ["a: x"])
  }

  @Test("a hook that is queried for one selector may query its proxy for another")
  func questionsWithin() {
    let many = Proxy()
    let (hook, target) = (HookedProxy(), Listener("a"))
    var answers: [Bool] = []
    hook.asked = { _, selector in
      if selector == "ping" { answers.append(many.responds(to: "note:")) }
    }
    many.add(hook)
    many.add(target)
    expect(!many.responds(to: "ping"))
    many.broadcast(.ping)
    expect(!answers.isEmpty && answers.allSatisfy { $0 })
    hook.asked = { _, _ in answers.append(many.responds(to: "unheardOf")) }
    answers = []
    many.broadcast(.ping)
    expect(!answers.isEmpty && !answers.contains(true))
    hook.asked = nil
  }

  @Test("a report lists a dead target of a nested proxy; a queued proxy is one entry", arguments: [false, true])
  func deadListed(isQueued: Bool) throws {
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (reasons, heard) = try withTablesUnchanged {
      let (outer, inner, context) = (Shared(), Shared(), StepContext("inner"))
      let kept = Clerk("kept")
      var gone: Clerk? = Clerk("gone")
      if let gone { inner.add(gone) }
      inner.add(kept)
      if isQueued { outer.add(inner, delivery: .on(context)) } else { outer.add(inner) }
      _ = outer.broadcast(.note, 1)
      context.run()
      gone = nil
      var call = Invocation("note:", arguments: [.init(2)])
      let reasons = try outer.forward(&call).skipped.map(\.reason)
      context.run()
      return withExtendedLifetime((kept, inner)) { (reasons, kept.journal.all.count) }
    }
    expect(reasons, equals: isQueued ? [] : [.dead])
    expect(heard, equals: 2)
  }
}

/// The proxy of the current test, which sets and clears it.
private enum Relay {
  nonisolated(unsafe) static var many: MulticastProxy<any MessageReceiver>?  // used by one test, on its own thread
}
