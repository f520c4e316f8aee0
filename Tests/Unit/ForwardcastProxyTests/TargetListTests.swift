// TargetListTests.swift: compares the list of targets with an array.

import CoreTestSupport
import TestSupport
import Testing

@testable import Forwardcast

@Suite("The target list")
struct TargetListTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>

  @Test("targets added and removed in any order are found once each, in order", arguments: [1, 2, 3] as [UInt64])
  func anyOrder(seed: UInt64) {
    let proxy = Proxy()
    // The goals cover eight sizes of the table, also with small bounds.
    let scale = bound(5, full: 1)
    let all = (0..<2_500 / scale).map { Listener("\($0)") }
    var (there, numbers): ([Listener], SeededGenerator) = ([], SeededGenerator(seed: seed))
    // Grows, shrinks to nearly nothing and grows again, so that the table is rebuilt at all sizes.
    // One step in eight goes the other way.
    for goal in [2_000 / scale, 5, 700 / scale, 40, 1_500 / scale, 0] {
      while there.count != goal {
        let adds = (there.count < goal) != (Int.random(in: 0..<8, using: &numbers) == 0)
        if adds {
          guard let target = all.randomElement(using: &numbers) else { return }
          proxy.add(target)
          if !there.contains(where: { $0 === target }) { there.append(target) }
        } else if let place = there.indices.randomElement(using: &numbers) {
          let target = there.remove(at: place)
          expect(proxy.remove(target), equals: 1)
          expect(proxy.remove(target), equals: 0)
        }
      }
      expect(proxy.targets.map(ObjectIdentifier.init), equals: there.map(ObjectIdentifier.init))
    }
    withExtendedLifetime(all) {}
  }

  @Test("removing a target ends all its registrations, whatever their number")
  func severalOfOne() throws {
    let proxy = Proxy(options: MulticastOptions(duplicates: .allowed))
    let targets = (0..<50).map { Listener("\($0)") }
    for round in 0..<3 {
      for target in targets { proxy.add(target, priority: round) }
    }
    let odd = proxy.add(targets[7])
    odd.cancel()
    expect(proxy.count, equals: 150)
    for (index, target) in targets.enumerated() {
      expect(proxy.remove(target), equals: 3)
      expect(proxy.remove(target), equals: 0)
      expect(proxy.count, equals: 150 - 3 * (index + 1))
    }
    withExtendedLifetime(targets) {}
  }

  @Test("a target that removes itself in its deinit removes no other one at its address")
  func ending() {
    let proxy = Proxy()
    final class Leaving: MessageReceiver {
      static let selectorTable = SelectorTable(for: Leaving.self, rows: [])
      let proxy: Proxy
      nonisolated(unsafe) static var removed = 0  // used by this test alone, on its thread
      init(_ proxy: Proxy) { self.proxy = proxy }
      deinit { Leaving.removed += proxy.remove(self) }
    }
    for _ in 0..<100 { proxy.add(Leaving(proxy)) }
    expect(Leaving.removed, equals: 100)
    expect(proxy.core.slotCount, equals: 0)
    // The address of a dead target now belongs to an object that was never added.
    for _ in 0..<100 {
      let gone = Listener("gone")
      proxy.add(gone)
    }
    for _ in 0..<100 { expect(proxy.remove(Listener("new")), equals: 0) }
  }

  @Test("a target that had several registrations is not retained, whichever way they ended", arguments: 0..<3)
  func repeatsLeft(way: Int) {
    let (proxy, lasting) = (Proxy(options: MulticastOptions(duplicates: .allowed)), Listener("lasting"))
    // Another target keeps its registrations.
    proxy.add(lasting)
    proxy.add(lasting)
    weak var last: Registration?
    do {
      let target = Listener("target")
      let registrations = [proxy.add(target), proxy.add(target)]
      last = registrations[1]
      proxy.broadcast(.note, 1)
      switch way {
      case 0: for registration in registrations { registration.cancel() }
      case 1: expect(proxy.remove(target), equals: 2)
      default: break
      }
      withExtendedLifetime((target, registrations)) {}
    }
    // A message removes dead targets, and a target added before others patches the route.
    proxy.broadcast(.note, 2)
    proxy.add(lasting, priority: 1, only: ["note:"])
    proxy.broadcast(.note, 3)
    expect(last == nil)
    expect(proxy.core.registrations.count, equals: 3)
    withExtendedLifetime(lasting) {}
  }

  @Test("a target in a reserved slot receives the next message there, and so does its successor")
  func reservedPlace() {
    let (proxy, journal) = (Proxy(), Journal())
    let slot = proxy.core.reserveSlot(TargetOptions())
    let last = Listener("last", journal)
    proxy.add(last)
    proxy.broadcast(.note, 1)
    do {
      let first = Listener("first", journal)
      expect(proxy.core.fill(slot, with: first, version: nil) != nil)
      proxy.broadcast(.note, 2)
      withExtendedLifetime(first) {}
    }
    expect(journal.take(), equals: ["last 1", "first 2", "last 2"])
    // Enough targets to start the search for dead ones.
    let guests = (0..<100).map { _ in Listener("guest") }
    for guest in guests { proxy.add(guest) }
    let heir = Listener("heir", journal)
    expect(proxy.core.fill(slot, with: heir, version: nil) != nil)
    proxy.broadcast(.note, 3)
    expect(journal.take(), equals: ["heir 3", "last 3"])
    withExtendedLifetime((last, heir, guests)) {}
  }

  @Test("a wait that reacts when a slot is filled or given up may use the proxy")
  func waitsOnSlots() throws {
    let (core, target) = (MulticastCore(Any.self, table: nil, options: nil), Listener("a"))
    let slot = core.reserveSlot(TargetOptions())
    let seen = Locked(0)
    func watch() -> RoomWait {
      RoomWait(on: [core.registration(in: slot)]) { [core] _ in
        let count = core.registrationCount
        seen.withLock { $0 += 1 + count }
      }
    }
    let first = watch()
    expect(core.fill(slot, with: target, version: nil) != nil)
    first.end()
    expect(seen.withLock { $0 }, equals: 2)
    let second = watch()
    core.giveUp(slot)
    second.end()
    expect(seen.withLock { $0 }, equals: 3)
    withExtendedLifetime(target) {}
  }

  @Test("waits on one registration react in the order in which they began")
  func waitsInOrder() {
    let (proxy, target, journal) = (Proxy(), Listener("a"), Journal())
    let registration = proxy.add(target)
    let waits = (0..<20).map { number in RoomWait(on: [registration]) { _ in journal.write("\(number)") } }
    registration.mute()
    for wait in waits { wait.end() }
    expect(journal.all, equals: (0..<20).map { "\($0)" })
  }

  @Test("a queued closure that is replaced by a target of its queue still gets the messages that wait")
  func replacedClosure() throws {
    let (proxy, context, journal) = (MulticastProxy<any Member>(), StepContext("steps"), Journal())
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .on(context))
    let registration = proxy.on(.note, delivery: .on(context)) { journal.write("closure \($0)") }
    proxy.broadcast(.note, 1)
    expect(proxy.core.replace(try #require(registration.target), with: clerk, retains: false), equals: 1)
    proxy.broadcast(.note, 2)
    context.run()
    expect(journal.all, equals: ["a 1", "closure 1", "a 2"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a target that stands for an object ends with that object")
  func standsForObject() {
    let proxy = Proxy()
    var registration: Registration?
    do {
      let subject = Listener("subject")
      registration = proxy.core.add(Listener("stand"), TargetOptions(ownership: .strong), livingAs: subject)
      expect(registration?.isLive == true)
      withExtendedLifetime(subject) {}
    }
    expect(registration?.isLive == false && registration?.target == nil)
  }

  @Test("reusing the slots of a priority leaves nothing behind")
  func priorityOfSlots() throws {
    let core = MulticastCore(Any.self, table: nil, options: nil)
    let priority = 30_123
    for _ in 0..<3 {
      let slot = core.reserveSlot(TargetOptions(priority: priority))
      for name in ["a", "b", "c"] {
        let target = Listener(name)
        let registration = try #require(core.fill(slot, with: target, version: nil))
        expect(registration.priority, equals: priority)
      }
      core.giveUp(slot)
    }
    expect(core.slotCount, equals: 0)
  }

  @Test("a priority beyond 16 bits is clamped")
  func clampedPriorities() {
    let (proxy, journal) = (Proxy(), Journal())
    let listeners = ["low", "lowest", "high", "highest"].map { Listener($0, journal) }
    let priorities = zip(listeners, [-32_767, .min, 32_766, .max]).map { proxy.add($0, priority: $1).priority }
    expect(priorities, equals: [-32_767, -32_768, 32_766, 32_767])
    proxy.broadcast(.note, 1)
    expect(journal.all, equals: ["highest 1", "high 1", "low 1", "lowest 1"])
    withExtendedLifetime(listeners) {}
  }

  @Test("targets added in any order of priorities receive the next message in priority order")
  func joiningBetween() {
    let (proxy, journal) = (Proxy(), Journal())
    var numbers = SeededGenerator(seed: 3)
    var listeners: [(listener: Listener, priority: Int)] = []
    for round in 0..<60 {
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        let (listener, priority) = (Listener("\(listeners.count)", journal), Int.random(in: -3...3, using: &numbers))
        proxy.add(listener, priority: priority)
        let index = listeners.firstIndex { $0.priority < priority } ?? listeners.count
        listeners.insert((listener, priority), at: index)
      }
      if round % 3 == 0, let gone = listeners.indices.randomElement(using: &numbers) {
        proxy.remove(listeners.remove(at: gone).listener)
      }
      proxy.broadcast(.note, round)
      expect(journal.take(), equals: listeners.map { "\($0.listener.name) \(round)" })
    }
  }
}
