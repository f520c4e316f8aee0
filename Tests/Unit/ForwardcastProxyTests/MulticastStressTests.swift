// MulticastStressTests.swift: eight threads send to one proxy while targets change.

import CoreTestSupport
import Dispatch
import Forwardcast
import Synchronization
import TestSupport
import Testing

private protocol Hearing: AnyObject, Sendable {}

/// Counts each message of each thread.
private final class Stayer: Hearing, MessageReceiver {
  static let selectorTable = SelectorTable(for: Stayer.self) {
    Responds(to: Message<(Int, Int) -> Void>("stress:number:")) { stayer, thread, number in
      stayer.heard[thread][number].add()
    }
    Responds(to: "stressCount") { (_: Stayer) in 1 }
  }
  /// By thread and number. Atomic, since the thread sanitizer does not understand `Mutex`.
  let heard: [[HeardCount]]
  init(threads: Int, messages: Int) {
    heard = (0..<threads).map { _ in (0..<messages).map { _ in HeardCount() } }
  }
}

private final class HeardCount: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .relaxed) }
  func add() { count.add(1, ordering: .relaxed) }
}

/// A target that is added and removed.
private final class Guest: Hearing, MessageReceiver {
  static let selectorTable = SelectorTable(for: Guest.self) {
    Responds(to: Message<(Int, Int) -> Void>("stress:number:")) { guest, thread, _ in
      if guest.watched.load(ordering: .acquiring) == UInt(thread) + 1 { guest.late.add(1, ordering: .relaxed) }
    }
  }
  /// The number of the thread, from 1, whose messages must not arrive anymore, or 0.
  let watched = Atomic<UInt>(0)
  let late = Atomic<Int>(0)
  private let witness: Witness
  init(_ counter: LeakCounter) { witness = Witness(counter) }
}

@Suite("Stress on one proxy")
struct MulticastStressTests {
  private static let threads = 8
  private static let rounds = 400
  private let message = Message<(Int, Int) -> Void>("stress:number:")

  @Test("lasting targets receive every message once while eight threads add, remove, mute and release others")
  func noLossNoDouble() {
    let proxy = MulticastProxy<any Hearing>()
    let stayers = (0..<6).map { _ in Stayer(threads: Self.threads, messages: Self.rounds) }
    defer { withExtendedLifetime(stayers) {} }
    let counter = LeakCounter()
    let closures = Atomic<Int>(0)
    let muted = Atomic<Int>(0)
    for stayer in stayers { proxy.add(stayer) }
    let mutedStayer = Stayer(threads: Self.threads, messages: Self.rounds)
    defer { withExtendedLifetime(mutedStayer) {} }
    let blinking = proxy.add(mutedStayer)
    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      var guests: [Guest] = []
      var tokens: [Registration] = []
      for round in 0..<Self.rounds {
        switch (round + thread) % 8 {
        case 0, 1:
          let guest = Guest(counter)
          guests.append(guest)
          tokens.append(proxy.add(guest, priority: round % 3 - 1, ownership: round % 5 == 0 ? .strong : .weak))
        case 2: tokens.last?.mute()
        case 3: if let token = tokens.popLast() { token.cancel() }
        case 4: if !guests.isEmpty { guests.removeFirst() }
        case 5:
          if let guest = guests.popLast() { proxy.remove(guest) }
          blinking.mute()
        case 6:
          blinking.unmute()
          let token = proxy.on(message) { _, _ in closures.add(1, ordering: .relaxed) }
          if round % 2 == 0 { token.cancel() } else { tokens.append(token) }
        default:
          _ = (proxy.count, proxy.responds(to: "stress:number:"), proxy.targets.count, proxy.count(for: "stressCount"))
          if round % 16 == 7 { proxy.removeAll(of: Guest.self) }
        }
        let summary: BroadcastSummary
        if round % 4 == 3 {
          summary = proxy.broadcast(Invocation(message.selector, arguments: [.init(thread), .init(round)]))
        } else {
          summary = proxy.broadcast(message, thread, round)
        }
        if summary.delivered < stayers.count || summary.failed > 0 { muted.add(1, ordering: .relaxed) }
        if round % 32 == 0 {
          let answered = try? proxy.collect(Message<() -> Int>("stressCount"), returning: .sum)
          if (answered ?? 0) < stayers.count { muted.add(1, ordering: .relaxed) }
        }
      }
      for token in tokens { token.cancel() }
    }
    for stayer in stayers {
      let wrong = stayer.heard.joined().count { $0.value != 1 }
      expect(wrong, equals: 0, "messages lost or doubled")
    }
    expect(mutedStayer.heard.joined().allSatisfy { $0.value <= 1 })
    expect(muted.load(ordering: .relaxed), equals: 0, "summaries that missed a stayer")
    proxy.removeAll(of: Guest.self)
    proxy.removeAll()
    expect(proxy.count, equals: 0)
    expect(counter.alive, equals: 0)
    expect(!proxy.responds(to: "stress:number:"))
  }

  /// Two threads change the steps of the same routes, mostly while no message uses them.
  @Test("closures and strong targets that come and go on two threads are each called and released")
  func comeAndGo() {
    let proxy = MulticastProxy<any Hearing>()
    let counter = LeakCounter()
    let heard = Atomic(0)
    let changes = bound(10_000, full: 200_000)
    let ended = onThreads(2) { thread in
      for number in 0..<changes {
        let closure = proxy.on(message) { sender, _ in if sender == thread { heard.wrappingAdd(1, ordering: .relaxed) }
        }
        proxy.broadcast(message, thread, number)
        let guest = proxy.add(Guest(counter), ownership: .strong)
        closure.cancel()
        proxy.broadcast(message, thread, number)
        guest.cancel()
      }
    }
    expect(ended)
    expect(heard.load(ordering: .relaxed) >= changes * 2)
    expect(counter.alive, equals: 0)
    expect(proxy.count, equals: 0)
  }

  @Test("a direct target that another thread mutes and unmutes is called or skipped")
  func blinking() {
    let isOver = Atomic(false)
    let wrong = Atomic(0)
    let proxy = MulticastProxy<any Hearing>()
    let stayer = Stayer(threads: 1, messages: 1)
    let registration = proxy.add(stayer)
    let ended = onThreads(2) { thread in
      if thread == 0 {
        while !isOver.load(ordering: .relaxed) {
          registration.mute()
          registration.unmute()
        }
        return
      }
      for _ in 0..<bound(20_000, full: 200_000) {
        let summary = proxy.broadcast(message, 0, 0)
        if summary.delivered + summary.skipped != 1 { wrong.wrappingAdd(1, ordering: .relaxed) }
      }
      isOver.store(true, ordering: .relaxed)
    }
    expect(ended)
    expect(wrong.load(ordering: .relaxed), equals: 0)
    withExtendedLifetime(stayer) {}
  }

  @Test("a broadcast that starts after removal has returned does not reach the target")
  func removalIsFinal() {
    let proxy = MulticastProxy<any Hearing>()
    let counter = LeakCounter()
    let late = Atomic<Int>(0)
    let current = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for round in 0..<Self.rounds {
        let guest = Guest(counter)
        proxy.add(guest)
        proxy.broadcast(message, thread, round)
        proxy.remove(guest)
        // Broadcasts of other threads that started before the removal may still reach the guest.
        // Those of this thread start now.
        guest.watched.store(UInt(thread) + 1, ordering: .releasing)
        proxy.broadcast(message, thread, round)
        guest.watched.store(0, ordering: .releasing)
        late.add(guest.late.load(ordering: .relaxed), ordering: .relaxed)
        current.add(1, ordering: .relaxed)
      }
    }
    expect(late.load(ordering: .relaxed), equals: 0)
    expect(current.load(ordering: .relaxed), equals: Self.threads * Self.rounds)
    expect(counter.alive, equals: 0)
  }

  @Test("tables change while eight threads send, and no sender sees half of a change")
  func changingTables() {
    let table = SelectorTable(for: (any Hearing).self) { Responds(to: "stressTable") { (_: any Hearing) in 1 } }
    let proxy = MulticastProxy<any Hearing>(table: table)
    let stayer = Stayer(threads: 1, messages: 1)
    defer { withExtendedLifetime(stayer) {} }
    proxy.add(stayer)
    let wrong = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      for round in 0..<Self.rounds {
        if thread == 0 {
          _ = try? table.replace(Responds(to: "stressTable") { (_: any Hearing) in round % 2 + 1 })
        } else if let answers = try? proxy.collect(Message<() -> Int>("stressTable"), returning: .all) {
          if answers != [1], answers != [2] { wrong.add(1, ordering: .relaxed) }
        } else {
          wrong.add(1, ordering: .relaxed)
        }
      }
    }
    expect(wrong.load(ordering: .relaxed), equals: 0)
  }
}
