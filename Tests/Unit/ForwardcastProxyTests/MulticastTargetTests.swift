// MulticastTargetTests.swift: adds, retains, removes, counts and lists targets.

import CoreTestSupport
@testable import Forwardcast
import Dispatch
import TestSupport
import Testing

private final class Leaving: MessageReceiver {
  static let selectorTable = SelectorTable(for: Leaving.self) { Responds(to: .ping) { (_: Leaving) in } }
  let proxy: MulticastProxy<any MessageReceiver>
  let journal: Journal
  init(_ proxy: MulticastProxy<any MessageReceiver>, _ journal: Journal) {
    (self.proxy, self.journal) = (proxy, journal)
  }
  deinit { journal.write("removed \(proxy.remove(self))") }
}
private final class Keyed: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Keyed.self) {
    Responds(to: .note) { (_: Keyed, _: Int) in }
    Responds(to: .ping) { (_: Keyed) in }
  }
}
private struct Point: MessageSource { var x = 0 }
private protocol MessageSource {}

@Suite("Targets of a multicast proxy")
struct MulticastTargetTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>

  @Test("adding a target again gives the registration that it has, with the new priority")
  func duplicatesRefused() {
    let (proxy, target) = (Proxy(), Listener("a"))
    let first = proxy.add(target)
    let second = proxy.add(target, priority: 5)
    expect(first, equals: second)
    expect(first.priority, equals: 5)
    proxy.broadcast(.note, 1)
    expect(target.journal.all, equals: ["a 1"])
    expect(proxy.count, equals: 1)
    first.cancel()
    expect(proxy.add(target) != first)
    expect(proxy.count, equals: 1)
  }

  @Test("with duplicates allowed, a target is called once for each registration, and removal removes all")
  func duplicatesAllowed() {
    let (proxy, target, other) = (Proxy(options: .init(duplicates: .allowed)), Listener("a"), Listener("b"))
    let first = proxy.add(target)
    proxy.add(other)
    proxy.add(target, priority: 1)
    let last = proxy.add(target)
    expect(proxy.broadcast(.note, 1).delivered, equals: 4)
    expect(target.journal.take(), equals: ["a 1", "a 1", "a 1"])
    first.cancel()
    expect(proxy.count, equals: 3)
    last.mute()
    proxy.broadcast(.note, 2)
    expect(target.journal.take(), equals: ["a 2"])
    expect(proxy.remove(target), equals: 2)
    expect(proxy.remove(target), equals: 0)
    expect(proxy.targets.count, equals: 1)
    expect(last.isCancelled)
  }

  @Test("thousands of registrations of one target are released without deep recursion")
  func manyDuplicates() async {
    await onThread {
      let proxy = Proxy(options: .init(duplicates: .allowed))
      let target = Listener("a")
      defer { withExtendedLifetime(target) {} }
      for _ in 0..<20_000 { proxy.add(target) }
      expect(proxy.count, equals: 20_000)
    }
  }

  @Test("a weak target is not retained; a strong one and a closure are, until their registration ends")
  func ownership() {
    let counter = LeakCounter()
    let proxy = Proxy()
    proxy.add(Listener("weak", Journal(), counter))
    expect(counter.alive, equals: 0)
    let strong = proxy.add(Listener("strong", Journal(), counter), ownership: .strong)
    expect(counter.alive, equals: 1)
    let witness = { Witness(counter) }()
    let token = { proxy.on(.note) { [witness] _ in withExtendedLifetime(witness) {} } }()
    expect(proxy.count, equals: 2)
    expect(proxy.targets.count, equals: 1)
    proxy.broadcast(.note, 1)
    strong.cancel()
    expect(counter.alive, equals: 1)
    token.cancel()
    expect(proxy.count, equals: 0)
    _ = witness
  }

  @Test("the captures of a canceled closure are released immediately, or after the current broadcast")
  func closureRelease() {
    let counter = LeakCounter()
    let proxy = Proxy()
    func register() -> Registration {
      let witness = Witness(counter)
      return proxy.on(.note) { _ in withExtendedLifetime(witness) {} }
    }
    let first = register()
    proxy.broadcast(.note, 1)
    expect(counter.alive, equals: 1)
    first.cancel()
    expect(counter.alive, equals: 0)
    var tokens: [Registration] = []
    let canceller = proxy.on(.note) { _ in for token in tokens { token.cancel() } }
    tokens = [register(), register()]
    expect(proxy.broadcast(.note, 2).delivered, equals: 1)
    expect(counter.alive, equals: 0)
    canceller.cancel()
  }

  @Test("a registration that outlives its proxy retains no target")
  func outlivingHandle() {
    let counter = LeakCounter()
    var handles: [Registration] = []
    do {
      let proxy = Proxy()
      handles.append(proxy.add(Listener("a", Journal(), counter), ownership: .strong))
      let witness = Witness(counter)
      handles.append(proxy.on(.note) { _ in withExtendedLifetime(witness) {} })
      proxy.broadcast(.note, 1)
    }
    expect(counter.alive, equals: 0)
    for handle in handles {
      handle.mute()
      handle.unmute()
      handle.cancel()
    }
  }

  @Test("a handle of a replaced target that outlives its proxy releases the target when canceled")
  func outlivingReplacedHandle() {
    weak var left: Clerk?
    let handle: Registration
    do {
      let (proxy, old) = (MulticastProxy<any Member>(), Clerk("old", Journal()))
      left = old
      handle = proxy.add(old, delivery: .queue(DispatchQueue(label: "old")), ownership: .strong)
      proxy.replace(old, with: Clerk("new", Journal()))
    }
    expect(left != nil)
    handle.cancel()
    expect(left == nil)
  }

  @Test("a dead target is not called, counted or listed, and does not respond")
  func dead() {
    let (proxy, journal) = (Proxy(), Journal())
    var targets: [Listener?] = ["a", "b"].map { Listener($0, journal) }
    for case let target? in targets { proxy.add(target) }
    expect(proxy.responds(to: "note:"))
    targets[0] = nil
    expect(proxy.count, equals: 1)
    expect(proxy.count(for: "note:"), equals: 1)
    expect(proxy.targets.count, equals: 1)
    expect(proxy.registrations.count, equals: 1)
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    expect(journal.all, equals: ["b 1"])
    targets[1] = nil
    expect(!proxy.responds(to: "note:"))
    expect(proxy.broadcast(.note, 2).nobodyResponded)
    expect(proxy.count, equals: 0)
  }

  @Test("slots of dead targets are reclaimed even if nothing is sent", arguments: [1, 7, 1000, 20_000])
  func reclaiming(priorities: Int) {
    let proxy = Proxy()
    let kept = (0..<10).map { Listener("\($0)") }
    defer { withExtendedLifetime(kept) {} }
    for (index, target) in kept.enumerated() { proxy.add(target, priority: index % 3) }
    var (batch, others, most): ([Listener], [Listener], Int) = ([], [], 0)
    for round in 0..<bound(4_000, full: 20_000) {
      let target = Listener("gone")
      proxy.add(target, priority: round % priorities)
      batch.append(target)
      most = max(most, proxy.core.slotCount)
      if batch.count == 50 {
        batch = []
        // They reuse the addresses of dead targets, so later targets do not find the dead slots.
        for _ in 0..<50 { others.append(Listener("other")) }
      }
    }
    withExtendedLifetime(others) {}
    expect(proxy.count, equals: 10)
    // Sixty targets are alive at a time. The addresses determine which slots are reclaimed.
    expect(most < 1000, "\(most) slots")
    expect(proxy.broadcast(.note, 1).delivered, equals: 10)
  }

  @Test("a new target at the address of a dead one is a separate target")
  func reusedAddresses() {
    let (proxy, journal) = (Proxy(), Journal())
    for round in 0..<2_000 {
      let target = Listener("x", journal)
      proxy.add(target)
      if round % 3 == 0 { proxy.broadcast(.note, round) }
      expect(proxy.count, equals: 1)
      if round % 5 == 0 { proxy.remove(target) }
    }
    expect(journal.all.count, equals: 667)
  }

  @Test("a report lists a new target at the address of a dead one")
  func reportAtReusedAddress() throws {
    final class Deaf: MessageReceiver { static let selectorTable = SelectorTable(for: Deaf.self) {} }
    final class Hearing: MessageReceiver {
      static let selectorTable = SelectorTable(for: Hearing.self) { Responds(to: .ping) { (_: Hearing) in } }
    }
    for _ in 0..<100 {
      let proxy = Proxy()
      var hearing: Hearing? = Hearing()
      let address = hearing.map { ObjectIdentifier($0) }
      proxy.add(hearing.unsafelyUnwrapped)
      proxy.broadcast(.ping)
      hearing = nil
      let deaf = Deaf()
      proxy.add(deaf)
      guard ObjectIdentifier(deaf) == address else { continue }
      var call = Invocation("ping")
      expect(try proxy.forward(&call).skipped.contains { $0.target === deaf && $0.reason == .doesNotRespond })
    }
  }

  @Test("a target removed before the message is in no list of its report, on every path", arguments: [false, true])
  func removedAndDead(walks: Bool) throws {
    let reasons = try withTablesUnchanged {
      let (proxy, stays) = (Proxy(), ["a", "b", "c"].map { Listener($0) })
      for target in stays { proxy.add(target) }
      var goes: Listener? = Listener("goes")
      let registration = proxy.add(goes.unsafelyUnwrapped)
      let trace = walks ? proxy.trace { _ in } : nil
      defer { withExtendedLifetime((stays, trace)) {} }
      var call = Invocation("value")
      _ = try proxy.forward(&call)
      registration.cancel()
      goes = nil
      return try proxy.forward(&call).skipped.map(\.reason)
    }
    expect(reasons, equals: [])
  }

  @Test("a removed target receives no further message, and removing it again or an unknown object does nothing")
  func removal() {
    let (proxy, journal) = (Proxy(), Journal())
    let (a, b) = (Listener("a", journal), LoudListener("b", journal))
    proxy.add(a)
    let second = proxy.add(b)
    expect(proxy.remove(Listener("stranger")), equals: 0)
    expect(proxy.remove(a), equals: 1)
    expect(proxy.remove(a), equals: 0)
    proxy.remove(second)
    proxy.remove(second)
    expect(second.isCancelled)
    proxy.broadcast(.note, 1)
    expect(journal.all.isEmpty)
    proxy.add(a)
    proxy.add(b)
    proxy.removeAll(of: LoudListener.self)
    proxy.broadcast(.note, 2)
    expect(journal.take(), equals: ["a 2"])
    proxy.add(b)
    proxy.removeAll(of: Listener.self)
    expect(proxy.count, equals: 0)
    proxy.add(a)
    proxy.removeAll()
    proxy.broadcast(.note, 3)
    expect(journal.all.isEmpty)
  }

  @Test("a target may remove itself in its deinit, even during the release of the proxy")
  func removalFromDeinit() {
    let (proxy, journal) = (Proxy(), Journal())
    do { proxy.add(Leaving(proxy, journal)) }
    expect(journal.take().count, equals: 1)
    expect(proxy.count, equals: 0)
    let token = proxy.add(Leaving(proxy, journal), ownership: .strong)
    proxy.broadcast(.ping)
    expect(journal.all.isEmpty)
    token.cancel()
    expect(journal.all.count, equals: 1)
    expect(proxy.count, equals: 0)
  }

  @Test("a muted target is skipped but still registered, and receives messages again once unmuted")
  func muting() {
    let (proxy, target) = (Proxy(), Listener("a"))
    let token = proxy.add(target)
    proxy.mute(target)
    expect(token.isMuted)
    expect(proxy.broadcast(.note, 1).skipped, equals: 1)
    expect(!proxy.responds(to: "note:"))
    expect(proxy.count, equals: 1)
    expect(proxy.count(for: "note:"), equals: 0)
    expect(proxy.targets.count, equals: 1)
    token.mute()
    proxy.unmute(target)
    expect(proxy.responds(to: "note:"))
    proxy.broadcast(.note, 2)
    expect(target.journal.all, equals: ["a 2"])
    token.cancel()
    token.unmute()
    expect(proxy.broadcast(.note, 3).nobodyResponded)
  }

  @Test("a registration with a scope receives only the selectors in it")
  func scope() {
    let (proxy, target) = (Proxy(), LoudListener("a"))
    let token = proxy.add(target, only: ["say:"])
    expect(token.selectors, equals: ["say:"])
    expect(proxy.broadcast(.note, 1).nobodyResponded)
    proxy.broadcast(.say, "x")
    expect(target.journal.all, equals: ["a: x"])
    expect(!proxy.responds(to: "note:"))
    expect(proxy.responds(to: "say:"))
    expect(proxy.count(for: "note:"), equals: 0)
    expect(proxy.count, equals: 1)
    token.cancel()
    proxy.add(target, only: [])
    expect(!proxy.responds(to: "say:"))
  }

  @Test("queries and registrations accept keys, also with a delivery")
  func keys() {
    let members = MulticastProxy<any MessageReceiver & Sendable>()
    let target = Keyed()
    let token = members.add(target, delivery: .mainActor, only: .note, .value)
    expect(token.selectors, equals: ["note:", "value"])
    expect(members.responds(to: .note) && !members.responds(to: .ping))
    expect(target.responds(to: .ping) && !target.responds(to: .say))
  }

  @Test("counts and lists distinguish classes and selectors, and list no closures as targets")
  func counting() {
    let proxy = MulticastProxy<AnyObject>()
    let (a, b) = (Listener("a"), LoudListener("b"))
    proxy.add(a)
    proxy.add(b)
    proxy.on(.note) { _ in }
    expect(proxy.count, equals: 3)
    expect(proxy.count(of: Listener.self), equals: 2)
    expect(proxy.count(of: LoudListener.self), equals: 1)
    expect(proxy.count(for: "note:"), equals: 3)
    expect(proxy.count(for: "say:"), equals: 1)
    expect(proxy.count(for: "unheardOf"), equals: 0)
    expect(proxy.targets.count, equals: 2)
    expect(proxy.registrations.count, equals: 3)
  }

  @Test("a target that is not an object is retained by its registration")
  func values() {
    let table = SelectorTable(for: (any MessageSource).self) {
      Responds(to: .value) { source in (source as? Point)?.x ?? 0 }
    }
    let proxy = MulticastProxy<any MessageSource>(table: table)
    let token = proxy.add(Point(x: 3))
    proxy.add(Point(x: 4))
    expect(try? proxy.collect(.value, returning: .all), equals: [3, 4])
    token.cancel()
    expect(try? proxy.collect(.value, returning: .all), equals: [4])
  }

  @Test("a registration describes itself")
  func descriptions() {
    let (proxy, target) = (Proxy(), Listener("a"))
    let token = proxy.add(target, priority: 2, only: ["note:"])
    token.mute()
    expect(token.description, equals: "registration of Listener, priority 2, only note:, muted")
    expect(proxy.description.hasPrefix("multicast of MessageReceiver, 1 target\n"))
  }
}
