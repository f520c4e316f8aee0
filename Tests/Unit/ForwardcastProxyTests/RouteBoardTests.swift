// RouteBoardTests.swift: how long running messages retain replaced boards.

import CoreTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Boards of routes")
struct RouteBoardTests {
  private func proxy(_ counter: LeakCounter, strong names: String...) -> MulticastProxy<any MessageReceiver> {
    let proxy = MulticastProxy<any MessageReceiver>()
    for name in names { proxy.add(Listener(name, Journal(), counter), ownership: .strong) }
    return proxy
  }

  @Test("a strong target that is removed goes at once when no message is on its way")
  func removedAtRest() {
    let counter = LeakCounter()
    let proxy = proxy(counter, strong: "one", "two")
    for _ in 0..<3 { expect(proxy.broadcast(.note, 1).delivered, equals: 2) }
    expect(proxy.broadcast(Invocation("value", arguments: [])).delivered, equals: 2)
    expect(proxy.responds(to: "note:"))
    proxy.core.registrations[0].cancel()
    expect(counter.alive, equals: 1)
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    proxy.removeAll()
    expect(counter.alive, equals: 0)
  }

  @Test("a strong target that is removed during messages is released with the last of them")
  func removedOnTheWay() {
    let (counter, journal) = (LeakCounter(), Journal())
    let proxy = MulticastProxy<any MessageReceiver>()
    let first = Listener("first", journal)
    proxy.add(first)
    let second = proxy.add(Listener("second", journal, counter), ownership: .strong)
    var depth = 0
    first.onNote = { _, number in
      depth += 1
      defer { depth -= 1 }
      if depth < 3 {
        proxy.broadcast(.note, number + 1)
      } else {
        second.cancel()
        proxy.broadcast(.value)
      }
      expect(counter.alive, equals: 1)
    }
    expect(proxy.broadcast(.note, 1), equals: BroadcastSummary(delivered: 1, skipped: 1))
    expect(counter.alive, equals: 0)
    expect(journal.all, equals: ["first 1", "first 2", "first 3", "first value"])
  }

  @Test("a route whose steps have all ended has no loop, although no change has removed them yet")
  func endedSteps() {
    /// Has a table, but does not respond to `note:`.
    final class Other: MessageReceiver {
      static let selectorTable = SelectorTable(for: Other.self) { Responds(to: "ping") { (_: Other) in } }
    }
    let (proxy, other) = (MulticastProxy<any MessageReceiver>(), Other())
    let token = proxy.on(.note) { _ in }
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
    // The first half of `cancel()`: another thread adds a target before the second half.
    token.markCancelled()
    proxy.add(other)
    expect(proxy.broadcast(.note, 2), equals: BroadcastSummary())
    expect(proxy.broadcast(Invocation("note:", arguments: [.init(3)])), equals: BroadcastSummary())
    token.cancel()
    expect(proxy.broadcast(.note, 4), equals: BroadcastSummary())
  }

  @Test("a message that takes long keeps its own board and no later one")
  func oldBoard() {
    let counter = LeakCounter()
    let proxy = MulticastProxy<any MessageReceiver>()
    let first = Listener("first")
    proxy.add(first)
    first.onNote = { _, _ in
      for _ in 0..<100 {
        let guest = proxy.add(Listener("guest", Journal(), counter), ownership: .strong)
        expect(proxy.broadcast(.value).delivered, equals: 2)
        guest.cancel()
        expect(counter.alive, equals: 0)
      }
    }
    expect(proxy.broadcast(.note, 1).delivered, equals: 1)
  }

  @Test("nested messages each keep their own board, and the next message uses the latest")
  func manyBoards() {
    let (counter, depth) = (LeakCounter(), 6)
    var found: [Bool] = []
    let proxy = MulticastProxy<any MessageReceiver>()
    let first = Listener("first")
    proxy.add(first)
    first.onNote = { _, number in
      guard number < depth else { return }
      // A new priority, so that no earlier route can be extended.
      let guest = proxy.add(Listener("guest", Journal(), counter), priority: -1 - number, ownership: .strong)
      expect(proxy.broadcast(.value).delivered, equals: number + 2)
      // The first message after a change retains its route itself; later ones use the board.
      proxy.broadcast(.note, depth)
      found.append(proxy.core.visitBoard("note:") != nil)
      expect(proxy.broadcast(.note, number + 1).delivered, equals: number + 2)
      guest.cancel()
    }
    withTablesUnchanged {
      found = []
      for _ in 0..<2 {
        proxy.broadcast(.note, 0)
        expect(counter.alive, equals: 0)
      }
    }
    expect(found, equals: Array(repeating: true, count: 2 * depth))
  }

  @Test("messages beyond the counting range of a board retain their routes themselves", arguments: [false, true])
  func crowded(isPinned: Bool) {
    let counter = LeakCounter()
    /// Counts visits that use the board, visits that find the target, and how long it lives.
    func visitAll(_ first: Registration, _ visit: (MessageSelector) -> MessageVisit) -> [Int] {
      var visits = (0..<40_000).map { _ in Visiting(visit("note:")) }
      let found = [visits.count { $0.visit.visited != nil }, visits.count { $0.visit.count == 1 }]
      first.cancel()
      // Visits that start from here on use another board.
      let later = Visiting(visit("note:")).visit.count
      var kept = 0
      while visits.popLast() != nil { kept += counter.alive }
      return found + [later, kept]
    }
    let found = withTablesUnchanged {
      let proxy = proxy(counter, strong: "one")
      let first = proxy.core.registrations[0]
      proxy.broadcast(.note, 1)
      guard isPinned else { return visitAll(first) { proxy.visit($0) } }
      return proxy.pinned { burst in visitAll(first) { burst.visit($0) } }
    }
    // A pinned burst counts as one visitor of its board.
    expect(found, equals: [1 << 15 - (isPinned ? 1 : 0), 40_000, 0, 39_999])
    expect(counter.alive, equals: 0)
  }

  @Test("replaced boards are released, whatever replaced them")
  func givenBack() throws {
    struct Watched { weak var board: RouteBoard? }
    let proxy = MulticastProxy<any MessageReceiver>()
    let (first, second) = (Listener("first"), Listener("second"))
    proxy.add(first)
    var seen: [Watched] = []
    func look() {
      if let board = proxy.core.state.withLock({ $0.board }), seen.last?.board !== board {
        seen.append(Watched(board: board))
      }
    }
    for round in 0..<40 {
      proxy.broadcast(.note, round)
      look()
      // Another selector, a longer route, a changed table, a hook, a mostly emptied route.
      proxy.broadcast(.value)
      look()
      proxy.add(second)
      proxy.broadcast(.note, round)
      look()
      TableEpoch.advance()
      proxy.broadcast(.note, round)
      look()
      let hook = try proxy.before("note:") { _ in }
      proxy.broadcast(.note, round)
      look()
      hook.cancel()
      proxy.remove(second)
    }
    proxy.broadcast(.note, 40)
    look()
    expect(seen.count > 40)
    expect(seen.count { $0.board != nil }, equals: 1)
  }

  @Test("a route on a board shared by many selectors is found, and the board grows")
  func manySelectors() throws {
    let names = try (0..<100).map { try MessageSelector("board\($0)") }
    let proxy = MulticastProxy<any MessageReceiver>(
      table: SelectorTable(for: (any MessageReceiver).self, rows: names.map { Responds(to: $0) { _ in } }))
    let first = Listener("first")
    proxy.add(first)
    withTablesUnchanged {
      for name in names + names { expect(proxy.broadcast(Invocation(name, arguments: [])).delivered, equals: 1) }
    }
    let board = try #require(proxy.core.state.withLock { $0.board })
    expect(Set(board.all.map(\.selector)), equals: Set(names))
  }

  @Test("targets pinned before a change are released once the burst's messages have ended")
  func pinned() {
    let counter = LeakCounter()
    let proxy = MulticastProxy<any MessageReceiver>()
    let (first, third) = (Listener("first"), Listener("third"))
    proxy.add(first)
    var guest: Listener? = Listener("guest", Journal(), counter)
    guest.map { _ = proxy.add($0) }
    proxy.pinned { pinned in
      first.onNote = { _, number in
        guard number == 1, let known = guest else { return }
        guest = nil
        proxy.remove(known)
        proxy.add(third)
        expect(pinned.broadcast(.value).delivered, equals: 2)
        expect(counter.alive, equals: 1)
      }
      expect(pinned.broadcast(.note, 1), equals: BroadcastSummary(delivered: 1, skipped: 1))
      expect(counter.alive, equals: 0)
      expect(pinned.broadcast(.note, 2).delivered, equals: 2)
      first.onNote = nil
    }
  }

  @Test("the next query finds an unmuted target while other threads query too")
  func unmuted() {
    let proxy = MulticastProxy<any Asked>()
    let targets = (0..<4).map { _ in Answering() }
    let registrations = targets.map { proxy.add($0) }
    let isOver = Atomic(false)
    let ended = onThreads(3) { thread in
      if thread > 0 {
        while !isOver.load(ordering: .relaxed) { _ = proxy.responds(to: "boardAsks") }
        return
      }
      for round in 0..<bound(2_000, full: 20_000) {
        for registration in registrations { registration.mute() }
        expect(!proxy.responds(to: "boardAsks"))
        registrations[round % 4].unmute()
        expect(proxy.responds(to: "boardAsks"))
      }
      isOver.store(true, ordering: .relaxed)
    }
    expect(ended)
    withExtendedLifetime(targets) {}
  }

  @Test("strong targets that are added and removed under concurrent messages are called while registered, and released")
  func stress() {
    let counter = LeakCounter()
    let proxy = MulticastProxy<any Asked>()
    let rounds = bound(2_000, full: 20_000)
    let calls = Atomic(0)
    let ended = onThreads(4) { thread in
      for round in 0..<rounds {
        if thread < 2 {
          let registration = proxy.add(Answering(counter), ownership: .strong)
          if round.isMultiple(of: 3) { proxy.broadcast(Answering.asks) }
          registration.cancel()
        } else {
          let answers = (try? proxy.collect(Answering.asks, returning: .all)) ?? []
          calls.wrappingAdd(answers.count { $0 != Answering.alive }, ordering: .relaxed)
          if round.isMultiple(of: 16) { proxy.pinned { _ = $0.broadcast(Answering.asks) } }
        }
      }
    }
    expect(ended)
    expect(calls.load(ordering: .relaxed), equals: 0)
    expect(counter.alive, equals: 0)
  }

  @Test("closures and hooks come and go under concurrent messages, each of which reaches the lasting targets in order")
  func comeAndGo() {
    let proxy = MulticastProxy<any Asked>()
    let key = Message<(Int) -> Int>("boardAdds:")
    for place in 1...8 { proxy.on(key, priority: place < 5 ? 1 : 0) { $0 * 100 + place } }
    let wrong = Atomic(0)
    let ended = onThreads(4) { thread in
      for round in 0..<bound(1_000, full: 10_000) {
        switch thread {
        case 0:
          let guest = Answering()
          let closure = proxy.on(key, priority: round % 3) { _ in guest.state.load(ordering: .relaxed) }
          if round.isMultiple(of: 3) { proxy.broadcast(key, 0) }
          closure.cancel()
        case 1:
          let hook = try? proxy.before(key) { _ in }
          if round.isMultiple(of: 3) { proxy.broadcast(key, 0) }
          hook?.cancel()
        default:
          let answers = (try? proxy.collect(key, round, returning: .all)) ?? []
          let lasting = answers.filter { $0 != Answering.alive }
          if lasting != (1...8).map({ round * 100 + $0 }) { wrong.wrappingAdd(1, ordering: .relaxed) }
        }
      }
    }
    expect(ended)
    expect(wrong.load(ordering: .relaxed), equals: 0)
  }

  @Test("a route gives back the memory of removed closures")
  func shrinking() throws {
    let (proxy, key) = (MulticastProxy<any MessageReceiver>(), Message<(Int) -> Void>("boardShrinks:"))
    let closures = (0..<1_000).map { _ in proxy.on(key) { _ in } }
    proxy.broadcast(key, 1)
    for closure in closures.dropFirst(10) { closure.cancel() }
    let summary = proxy.broadcast(key, 1)
    expect(summary.delivered, equals: 10)
    expect(proxy.core.begin(key.selector).route.capacity < 100)
  }

  @Test("changes between messages move the steps of a route, and keep the order of the others")
  func changes() throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    let (key, counter) = (Message<(Int) -> Void>("boardTakes:"), LeakCounter())
    var (order, expected): ([Int], [Int]) = ([], [])
    var handles: [Int: Registration] = [:]
    func on(_ name: Int, priority: Int = 0) {
      let witness = Witness(counter)
      handles[name] = proxy.on(key, priority: priority) { [witness] _ in
        order.append(name)
        _ = witness
      }
    }
    func send() {
      order = []
      proxy.broadcast(key, 1)
      expect(order, equals: expected)
    }
    for name in 1...4 { on(name) }
    expected = [1, 2, 3, 4]
    send()
    // The first, one in the middle, the last, two at once.
    for (name, left) in [(1, [2, 3, 4]), (3, [2, 4]), (4, [2])] {
      handles[name]?.cancel()
      expect(counter.alive, equals: left.count)
      expected = left
      send()
    }
    on(5)
    on(6, priority: 1)
    expected = [6, 2, 5]
    send()
    let hook = try proxy.before(key) { _ in order.append(0) }
    expected = [0, 6, 2, 5]
    send()
    hook.cancel()
    on(7)
    expected = [6, 2, 5, 7]
    send()
    for handle in handles.values { handle.cancel() }
    expect(counter.alive, equals: 0)
    expected = []
    send()
    on(8)
    expected = [8]
    send()
  }
}

/// A visit that does not end with its scope.
private final class Visiting {
  let visit: MessageVisit
  init(_ visit: consuming MessageVisit) { self.visit = visit }
}

private protocol Asked: AnyObject, Sendable {}

/// Answers only while it is alive. A wrong answer shows a call after its end.
private final class Answering: Asked, MessageReceiver {
  static let alive = 0x5A5A
  static let asks = Message<() -> Int>("boardAsks")
  static let selectorTable = SelectorTable(for: Answering.self) {
    Responds(to: asks) { $0.state.load(ordering: .relaxed) }
  }
  let state = Atomic(alive)
  private let witness: Witness?
  init(_ counter: LeakCounter? = nil) { witness = counter.map(Witness.init) }
  deinit { state.store(0, ordering: .relaxed) }
}
