// ReplacementTests.swift: targets that are replaced while messages are being delivered.

import CoreTestSupport
import Forwardcast
import Synchronization
import TestSupport
import Testing

@Suite("Replaced targets")
struct ReplacementTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>

  enum Form: CaseIterable {
    case typed, boxed, around, nested
  }

  @Test("messages that have begun reach the old target, and later ones its successor", arguments: Form.allCases)
  func underWay(form: Form) throws {
    for ownership in [Ownership.weak, .strong] {
      let (outer, inner, journal) = (Proxy(), Proxy(), Journal())
      let proxy = form == .nested ? inner : outer
      let targets = ["a", "old", "c"].map { Listener($0, journal) }
      let new = Listener("new", journal)
      defer { withExtendedLifetime((targets, new)) {} }
      let handles = targets.map { proxy.add($0, ownership: ownership) }
      if form == .nested { outer.add(inner) }
      if form == .around { try outer.around(.note) { try $0.proceed() } }
      targets[0].onNote = { _, number in if number == 1 { expect(proxy.replace(targets[1], with: new), equals: 1) } }
      defer { targets[0].onNote = nil }
      for number in 0..<3 {
        let summary =
          form == .boxed
          ? outer.broadcast(Invocation("note:", arguments: [.init(number)])) : outer.broadcast(.note, number)
        expect(summary, equals: BroadcastSummary(delivered: 3), "\(number)")
        expect(journal.take(), equals: ["a", number < 2 ? "old" : "new", "c"].map { "\($0) \(number)" })
      }
      expect(handles[1].isCancelled && !handles[1].isLive && handles[1].target == nil)
      expect(proxy.registrations.map { ($0.target as? Listener)?.name }, equals: ["a", "new", "c"])
      expect(proxy.registrations[1].isStrong, equals: ownership == .strong)
      expect(proxy.count, equals: 3)
    }
  }

  @Test("a target that is replaced during a typed call still gets the call", arguments: [Ownership.weak, .strong])
  func typedCall(ownership: Ownership) {
    let (proxy, journal) = (Proxy(), Journal())
    let (first, old, new) = (Listener("first", journal), Listener("old", journal), Listener("new", journal))
    proxy.add(first, ownership: ownership)
    proxy.add(old, ownership: ownership)
    for names in [["first", "old"], ["first", "new"]] {
      let summary = proxy.broadcast { target in
        guard let target = target as? Listener else { return }
        journal.write(target.name)
        if target === first { proxy.replace(old, with: new) }
      }
      expect(journal.take(), equals: names)
      expect(summary, equals: BroadcastSummary(delivered: 2))
    }
    withExtendedLifetime((first, old, new)) {}
  }

  @Test("a successor that no message can reach is reported")
  func unreachable() {
    final class Plain {}
    let (proxy, journal) = (MulticastProxy<AnyObject>(), Journal())
    let (old, new) = (Listener("old", journal), Plain())
    proxy.add(old)
    proxy.onError = { failure in journal.write("\((failure.error as? MessageError)?.code.description ?? "other")") }
    expect(proxy.replace(old, with: new), equals: 1)
    expect(journal.all, equals: [MessageError.Code.noSelectorTable.description])
    withExtendedLifetime((old, new)) {}
  }

  @Test("the successor takes over priority, selectors and muting, and the old target may come back")
  func terms() {
    let (proxy, journal) = (Proxy(), Journal())
    let (old, new, other) = (LoudListener("old", journal), LoudListener("new", journal), Listener("other", journal))
    defer { withExtendedLifetime((old, new, other)) {} }
    proxy.add(other)
    proxy.add(old, priority: 3, only: ["note:"]).mute()
    expect(proxy.replace(old, with: new), equals: 1)
    let registration = proxy.registrations[0]
    expect(registration.priority == 3 && registration.isMuted && registration.selectors == ["note:"])
    expect(proxy.replace(old, with: other), equals: 0, "it is no target any more")
    proxy.unmute(new)
    proxy.add(old)
    proxy.broadcast(.note, 1)
    expect(journal.take(), equals: ["new 1", "other 1", "old 1"])
    expect(proxy.replace(old, with: new), equals: 1, "the successor is a target already")
    proxy.broadcast(.note, 2)
    expect(journal.take(), equals: ["new 2", "other 2"])
  }

  @Test("a replaced strong target is released when no message needs it")
  func released() {
    let (proxy, counter) = (Proxy(), LeakCounter())
    do {
      let old = Listener("old", Journal(), counter)
      let handle = proxy.add(old, ownership: .strong)
      proxy.broadcast(.note, 1)
      proxy.replace(old, with: Listener("new", Journal(), counter))
      withExtendedLifetime(handle) {}
    }
    expect(counter.alive, equals: 1)
    expect(proxy.broadcast(.note, 2).delivered, equals: 1)
  }

  @Test("a target that replaces itself stays")
  func itself() {
    let (proxy, target) = (Proxy(), Listener("a"))
    proxy.add(target)
    expect(proxy.replace(target, with: target), equals: 0)
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
  }

  private protocol Shape { func draw() }
  private final class Circle: Shape { func draw() {} }
  private struct Dot: Shape {
    let drawn: Locked<Int>
    func draw() { drawn.withLock { $0 += 1 } }
  }

  @Test("a value that replaces a weak object is retained")
  func value() {
    let (proxy, circle, drawn) = (MulticastProxy<any Shape>(), Circle(), Locked(0))
    proxy.add(circle)
    expect(proxy.replace(circle, with: Dot(drawn: drawn)), equals: 1)
    proxy.broadcast { $0.draw() }
    expect(drawn.withLock { $0 }, equals: 1)
  }

  @Test(
    "a removed strong target is released at once, although a route of other targets stays", arguments: [false, true])
  func removed(isReplaced: Bool) {
    let (proxy, counter) = (Proxy(), LeakCounter())
    let others = (0..<6).map { Listener("\($0)") }
    for other in others { proxy.add(other, ownership: .strong) }
    do {
      let target = Listener("target", Journal(), counter)
      proxy.add(target, ownership: .strong)
      proxy.broadcast(.note, 1)
      if isReplaced { proxy.replace(target, with: others[0]) } else { proxy.remove(target) }
    }
    expect(counter.alive, equals: 0)
    expect(proxy.broadcast(.note, 2), equals: BroadcastSummary(delivered: 6))
  }

  @Test("each of many calls gets one answer while another thread replaces the only target")
  func noCallIsLost() {
    final class Service: MessageReceiver, Sendable {
      let number: Int
      init(_ number: Int) { self.number = number }
      static let selectorTable = SelectorTable(for: Service.self) {
        Responds(to: Message<() -> Int>("number")) { (service: Service) in service.number }
      }
    }
    let proxy = MulticastProxy<any MessageReceiver & Sendable>()
    let isOver = Atomic(false)
    let lost = Atomic(0)
    proxy.add(Service(0), ownership: .strong)
    let ended = onThreads(3) { thread in
      if thread == 0 {
        for number in 1...bound(2_000, full: 20_000) {
          let old = proxy.targets[0]
          if proxy.replace(old, with: Service(number)) != 1 { lost.wrappingAdd(1, ordering: .relaxed) }
        }
        isOver.store(true, ordering: .relaxed)
        return
      }
      while !isOver.load(ordering: .relaxed) {
        let answers = try? proxy.collect(Message<() -> Int>("number"), returning: .all)
        if answers?.count != 1 { lost.wrappingAdd(1, ordering: .relaxed) }
      }
    }
    expect(ended)
    expect(lost.load(ordering: .relaxed), equals: 0)
  }
}
