// ExplanationTests.swift: explains which targets would receive a message, and why.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

@Forwarded private protocol Gauge: AnyObject, Sendable {
  func read(_ level: Int)
  func reset()
}

private typealias Keys = GaugeProxy.Messages

private final class Dial: Gauge {
  let journal = Locked<[String]>([])
  func read(_ level: Int) { journal.withLock { $0.append("read") } }
  func reset() { journal.withLock { $0.append("reset") } }
}

private final class Needle: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Needle.self) {
    Responds(to: Message<() -> Void>("reset")) { (_: Needle) in }
  }
}

@Suite("Explanations")
struct ExplanationTests {
  private let gauges = GaugeProxy()

  @Test("the targets of a muted nested proxy are no receivers")
  func mutedNested() {
    let (inner, dial) = (GaugeProxy(), Dial())
    inner.add(dial)
    let registration = gauges.add(inner)
    expect(gauges.explain(Keys.read).receivers.map(\.target), equals: ["Dial"])
    registration.mute()
    expect(gauges.explain(Keys.read).receivers.map(\.target), equals: [])
  }

  @Test("an explanation states that the proxy has no table if a table might let a target answer")
  func noTable() {
    let (bare, dial, needle) = (MulticastProxy<any Sendable & AnyObject>(), Dial(), Needle())
    bare.add(needle)
    bare.on(Keys.reset) {}
    #expect(!bare.explain(Keys.read).description.contains("no selector table"))
    bare.add(dial)
    #expect(bare.explain(Keys.read).description.contains("\nno selector table\n"))
    gauges.add(dial)
    #expect(!gauges.explain("none").description.contains("no selector table"))
  }

  @Test("an explanation names ready-made hooks")
  func readyMade() throws {
    try gauges.before(Keys.read) { _ in }
    try gauges.around(Keys.read, .retrying(2))
    try gauges.around(nil, .logging { _ in })
    expect(gauges.explain(Keys.read).hooks, equals: ["logging every message", "retrying read:", "before read:"])
  }

  @Test("an explanation lists every registration in delivery order, with its row, its context or the reason to skip it")
  func listed() throws {
    let (dial, muted, other, queued) = (Dial(), Dial(), Dial(), Dial())
    gauges.add(dial)
    gauges.add(muted).mute()
    gauges.add(other, only: Keys.reset)
    gauges.add(queued, delivery: .queue(DispatchQueue(label: "gauge")), priority: 1)
    gauges.on(Keys.read) { _ in }
    gauges.on(Keys.reset) {}
    gauges.on(Keys.read, onMainActor: { _ in })
    try gauges.before(Keys.read) { _ in }
    try gauges.around { try $0.proceed() }
    let found = gauges.explain("read:")
    expect(
      "\(found)",
      equals: """
        read: of MulticastProxy<Gauge>, 4 of 7 registrations
        hooks: around every message, before read:
        target               receives  row or reason      context
        Dial                 yes       the proxy's table  queue gauge
        Dial                 yes       the proxy's table  direct
        Dial                 no        muted              direct
        Dial                 no        out of scope       direct
        closure for 'read:'  yes       closure            direct
        closure for 'reset'  no        does not respond   direct
        closure for 'read:'  yes       closure            automatic main queue, on the main actor
        """)
    expect(found.entries.map(\.registration), equals: gauges.registrations)
    for dial in [dial, muted, other, queued] { expect(dial.journal.withLock { $0 }, equals: []) }
    expect(gauges.explain(Keys.read).description, equals: "\(found)")
  }

  @Test("an explanation agrees with the report of the message")
  func agrees() throws {
    let (dial, gone) = (Dial(), Locked<Dial?>(Dial()))
    gauges.add(dial, only: Keys.reset)
    gauges.add(dial, only: Keys.reset, Keys.read)
    if let last = gone.withLock({ $0 }) { gauges.add(last) }
    gone.withLock { $0 = nil }
    let found = gauges.explain("read:")
    expect(found.receivers.count, equals: 1)
    expect(found.entries.last?.reason, equals: .dead)
    expect(gauges.explain("reset").receivers.count, equals: 1)
    var call = Invocation("read:", arguments: [ArgumentBox(1)])
    try expect(gauges.forward(&call).delivered, equals: 1)
  }

  @Test("an explanation includes nested and queued proxies, and ends at a cycle")
  func nested() throws {
    let (inner, queued) = (GaugeProxy(), GaugeProxy())
    let dial = Dial()
    inner.add(dial)
    try inner.before(Keys.read) { _ in }
    queued.on(Keys.reset) {}
    gauges.add(inner)
    gauges.add(queued, delivery: .queue(DispatchQueue(label: "gauge")))
    inner.add(gauges)
    let found = gauges.explain("read:")
    expect(
      "\(found)",
      equals: """
        read: of MulticastProxy<Gauge>, 1 of 2 registrations
        hooks: before read: of MulticastProxy<Gauge>
        target                 receives  row or reason      context
        GaugeProxy             yes       its targets        direct
          Dial                 yes       the proxy's table  direct
          GaugeProxy           no        a cycle            direct
        GaugeProxy             no        does not respond   queue gauge
          closure for 'reset'  no        does not respond   direct
        """)
    expect(found.receivers.map(\.target), equals: ["Dial"])
  }

  @Test("the targets of a nested proxy do not receive a message that the proxy does not get")
  func obstacles() {
    let (muted, unwanted, dial) = (GaugeProxy(), GaugeProxy(), Dial())
    defer { withExtendedLifetime((muted, unwanted, dial)) {} }
    for inner in [muted, unwanted] { inner.add(dial) }
    gauges.add(muted).mute()
    gauges.add(unwanted, only: ["reset"])
    let found = gauges.explain("read:")
    expect(found.entries.compactMap { $0.nested?.entries.first?.reason }, equals: [.muted, .outOfScope])
    expect(found.receivers.isEmpty)
  }

  @Test("an explanation ends, and agrees with the message, where too many proxies are nested")
  func limits() {
    let dial = Dial()
    let chain = (0..<300).map { _ in GaugeProxy() }
    defer { withExtendedLifetime((dial, chain)) {} }
    for (outer, inner) in zip(chain, chain.dropFirst()) { outer.add(inner) }
    chain[299].add(dial)
    expect(chain[0].explain("read:").receivers.isEmpty)
    expect(chain[100].explain("read:").receivers.count, equals: 1)
    // Each level twice: 2 to the power of 60 paths.
    let options = MulticastOptions(duplicates: .allowed)
    let doubled = (0..<60).map { _ in GaugeProxy(options: options) }
    defer { withExtendedLifetime(doubled) {} }
    for (outer, inner) in zip(doubled, doubled.dropFirst()) { for _ in 0..<2 { outer.add(inner) } }
    expect(doubled[0].explain("read:").receivers.isEmpty)
  }

  @Test("an explanation creates no lazy target and queries forwarding objects")
  func forwarding() {
    let proxy = MulticastProxy<any MessageReceiver>()
    let made = Locked(0)
    let lazy = LazyProxy {
      made.withLock { $0 += 1 }
      return Needle()
    }
    let (behind, plain, needle) = (ForwardingProxy(to: lazy), ForwardingProxy(to: Needle()), Needle())
    proxy.add(lazy)
    proxy.add(behind)
    proxy.add(plain)
    proxy.add(needle)
    let found = proxy.explain("reset")
    expect(made.withLock { $0 }, equals: 0)
    expect(
      found.entries.map(\.row),
      equals: ["its target, created first", "its target, created first", "forwards it", "table of Needle"])
    expect(proxy.explain("read:").entries.suffix(2).map(\.reason), equals: [.doesNotRespond, .doesNotRespond])
  }

  @Test("an explanation of an unanswered message suggests similar selectors")
  func similar() {
    let resume = gauges.on(Message<() -> Void>("resume")) {}
    let found = gauges.explain("resat")
    expect(found.similarNames, equals: ["reset"])
    expect("\(found)".contains(#"did you mean "reset"?"#), "\(found)")
    expect(gauges.explain("reset:").similarNames.first, equals: "reset")
    expect(gauges.explain("resume").similarNames, equals: [])
    // Its target is only muted, so another selector is no advice.
    resume.mute()
    expect(gauges.explain("resume").similarNames, equals: [])
  }

  @Test("an unanswered report refers to the explanation")
  func report() throws {
    var call = Invocation("read:", arguments: [ArgumentBox(1)])
    let report = try gauges.forward(&call)
    expect("\(report)", equals: "delivered 0, queued 0, failed 0, skipped 0; the proxy's explain(_:) says why")
  }
}
