// MulticastOrderTests.swift: order of delivery, and every change at every point of a broadcast.

import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

/// A change that a target makes to another one during a broadcast.
private enum Action: CaseIterable {
  case removeTarget, cancel, mute, drop, removeAndAdd, addNew, removeAll
}

@Suite("Order of delivery")
struct MulticastOrderTests {
  typealias Proxy = MulticastProxy<any MessageReceiver>

  @Test("targets are called in the order in which they were added")
  func registrationOrder() {
    for order in permutations(["a", "b", "c"]) {
      let (proxy, journal) = (Proxy(), Journal())
      let targets = order.map { Listener($0, journal) }
      defer { withExtendedLifetime(targets) {} }
      for target in targets { proxy.add(target) }
      expect(proxy.broadcast(.note, 1).delivered, equals: 3)
      expect(journal.all, equals: order.map { "\($0) 1" })
      expect(proxy.targets.map { ($0 as? Listener)?.name }, equals: order)
    }
  }

  @Test("targets of higher priority are called first, and targets of equal priority in registration order")
  func priorities() {
    let names = ["a", "b", "c", "d"]
    for order in permutations(names) {
      for pattern in 0..<81 {
        let priorities = [pattern % 3 - 1, pattern / 3 % 3 - 1, pattern / 9 % 3 - 1, pattern / 27 - 1]
        let (proxy, journal) = (Proxy(), Journal())
        let targets = order.map { Listener($0, journal) }
        defer { withExtendedLifetime(targets) {} }
        for (target, priority) in zip(targets, priorities) { proxy.add(target, priority: priority) }
        proxy.broadcast(.note, 1)
        let expected = zip(order, priorities).enumerated()
          .sorted { ($0.element.1, -$0.offset) > ($1.element.1, -$1.offset) }.map { "\($0.element.0) 1" }
        expect(journal.take(), equals: expected)
        // An existing route is extended or rebuilt when targets are added.
        let late = Listener("late", journal)
        proxy.add(late, priority: 0)
        proxy.broadcast(.note, 2)
        let middle = zip(order, priorities).filter { $0.1 >= 0 }.count
        let names = expected.map { String($0.prefix(1)) }
        let heard: [String] = Array(names.prefix(middle)) + ["late"] + Array(names.dropFirst(middle))
        expect(journal.take(), equals: heard.map { "\($0) 2" })
      }
    }
  }

  @Test("a target that is removed and added again moves to the end of its priority")
  func readded() {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = ["a", "b", "c"].map { Listener($0, journal) }
    defer { withExtendedLifetime(targets) {} }
    for target in targets { proxy.add(target) }
    proxy.broadcast(.note, 0)
    proxy.remove(targets[0])
    proxy.add(targets[0])
    _ = journal.take()
    proxy.broadcast(.note, 1)
    expect(journal.all, equals: ["b 1", "c 1", "a 1"])
  }

  @Test("a report does not list a target that joins while the message looks for responders")
  func joinsDuringQuery() throws {
    final class Inviting: ForwardingProxy {
      var whenAsked: (() -> Void)?
      override func responds(to selector: MessageSelector) -> Bool {
        whenAsked?()
        return false
      }
    }
    let (proxy, inviting) = (Proxy(), Inviting())
    let (first, loud, late) = (Listener("first"), LoudListener("loud"), Listener("late"))
    proxy.add(inviting)
    proxy.add(first)
    proxy.add(loud, only: ["say:"])
    inviting.whenAsked = { proxy.add(late) }
    defer { inviting.whenAsked = nil }
    var call = Invocation("note:", arguments: [.init(1)])
    let report = try proxy.forward(&call)
    expect(report.answers.map { $0.target === first }, equals: [true])
    expect(report.skipped.map { $0.target === inviting || $0.target === loud }, equals: [true, true])
    try expect(proxy.forward(&call).answers.count, equals: 2)
    withExtendedLifetime((first, loud, late)) {}
  }

  /// Every change by each of three targets to each of three, for a new and for a used route.
  @Test("changes by a target during a broadcast take effect immediately, and a new target joins the next")
  func everyActionAtEveryPoint() {
    let names = ["a", "b", "c"]
    for action in Action.allCases {
      for actor in 0..<3 {
        for object in 0..<3 {
          for (used, strong, boxed) in [
            (false, false, false), (true, false, false), (true, true, false), (true, false, true),
          ] {
            let (proxy, journal) = (Proxy(), Journal())
            var targets: [Listener?] = names.map { Listener($0, journal) }
            let registrations = targets.compactMap { target in
              target.map { proxy.add($0, ownership: strong ? .strong : .weak) }
            }
            if used {
              proxy.broadcast(.note, 0)
              _ = journal.take()
            }
            var late: Listener?
            targets[actor]?.onNote = { _, number in
              guard number == 1 else { return }
              switch action {
              case .removeTarget: if let target = targets[object] { proxy.remove(target) }
              case .cancel: registrations[object].cancel()
              case .mute: registrations[object].mute()
              case .drop:
                targets[object] = nil
                if strong { registrations[object].cancel() }
              case .removeAndAdd:
                if let target = targets[object] {
                  proxy.remove(target)
                  proxy.add(target)
                }
              case .addNew:
                let new = Listener("new", journal)
                late = new
                proxy.add(new)
              case .removeAll: proxy.removeAll()
              }
            }
            func send(_ number: Int) -> BroadcastSummary {
              boxed
                ? proxy.broadcast(Invocation("note:", arguments: [.init(number)])) : proxy.broadcast(.note, number)
            }
            let summary = send(1)
            let context =
              "\(action) of \(names[object]) by \(names[actor]), used \(used), strong \(strong), boxed \(boxed)"
            var expected = names
            switch action {
            case .addNew: break
            case .removeAll: expected = Array(names.prefix(actor + 1))
            default: if object > actor { expected.remove(at: object) }
            }
            expect(journal.take(), equals: expected.map { "\($0) 1" }, "\(context)")
            expect(summary.delivered, equals: expected.count, "\(context)")
            expect(summary.skipped, equals: 3 - expected.count, "\(context)")
            var next = names
            switch action {
            case .addNew: next.append("new")
            case .removeAll: next = []
            case .removeAndAdd: next.append(next.remove(at: object))
            default: next.remove(at: object)
            }
            // The second message finds a target dead that was dropped after its call.
            let isSkipped = action == .mute || action == .drop && !strong && object <= actor
            expect(send(2).skipped, equals: isSkipped ? 1 : 0, "\(context)")
            expect(journal.take(), equals: next.map { "\($0) 2" }, "\(context)")
            expect(proxy.count, equals: action == .mute ? 3 : next.count, "\(context)")
            withExtendedLifetime((targets, late)) {}
            for target in targets { target?.onNote = nil }
          }
        }
      }
    }
  }

  @Test("a nested broadcast finishes first, and both reach every target")
  func recursion() {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = ["a", "b", "c"].map { Listener($0, journal) }
    defer { withExtendedLifetime(targets) {} }
    for target in targets { proxy.add(target) }
    targets[1].onNote = { _, number in if number < 3 { proxy.broadcast(.note, number + 1) } }
    expect(proxy.broadcast(.note, 1).delivered, equals: 3)
    expect(journal.all, equals: ["a 1", "b 1", "a 2", "b 2", "a 3", "b 3", "c 3", "c 2", "c 1"])
  }

  @Test("a target removed during a nested broadcast does not receive the outer one")
  func removalAcrossRecursion() {
    let (proxy, journal) = (Proxy(), Journal())
    let targets = ["a", "b", "c"].map { Listener($0, journal) }
    defer { withExtendedLifetime(targets) {} }
    for target in targets { proxy.add(target) }
    targets[0].onNote = { _, number in if number == 1 { proxy.broadcast(.note, 2) } }
    targets[1].onNote = { _, number in if number == 2 { proxy.remove(targets[2]) } }
    defer { for target in targets { target.onNote = nil } }
    expect(proxy.broadcast(.note, 1).skipped, equals: 1)
    expect(journal.all, equals: ["a 1", "a 2", "b 2", "b 1"])
  }

  @Test("a proxy that is released during a broadcast still calls all targets")
  func droppedProxy() {
    let journal = Journal()
    var proxy: Proxy? = Proxy()
    let targets = ["a", "b"].map { Listener($0, journal) }
    defer { withExtendedLifetime(targets) {} }
    for target in targets { proxy?.add(target) }
    targets[0].onNote = { _, _ in proxy = nil }
    proxy?.broadcast(.note, 1)
    expect(journal.all, equals: ["a 1", "b 1"])
    expect(proxy == nil)
  }
}
