// RoomTests.swift: senders that wait for capacity in a buffer behind hooks or proxies.

import Dispatch
@testable import Forwardcast
import TestSupport
import Testing

/// A proxy that can be nested.
typealias Rooms = MulticastProxy<any MessageReceiver & Sendable>

@Suite("Capacity of buffers behind hooks", .timeLimit(.minutes(10)))
struct RoomTests {
  let journal = Journal()

  /// What surrounds the messages of a proxy without changing them.
  enum Surrounding: CaseIterable {
    case before, waitingAround, stream, trace

    func install(on proxy: Rooms) throws -> any Sendable {
      switch self {
      case .before: try proxy.before(.quote) { _ in }
      case .waitingAround: try proxy.around(.quote, waiting: { try await $0.proceed() })
      case .stream: proxy.messages(for: .quote)
      case .trace: proxy.trace { _ in }
      }
    }
  }

  /// The position of the proxy with the buffer.
  enum Place: CaseIterable { case alone, nested, nestedOnQueue }

  @Test("a waiting sender gets an answer for each message, however small the buffer is", arguments: [1, 8])
  func allAnswer(room: Int) async throws {
    for surrounding in Surrounding.allCases {
      for place in Place.allCases {
        let inner = Rooms()
        let outer = Rooms()
        let desk = Desk("a", worth: 1, journal)
        let queue = DispatchQueue(label: "desk")
        inner.add(desk, delivery: .queue(queue), ownership: .strong, buffer: .suspendSender(room))
        switch place {
        case .alone: break
        case .nested: outer.add(inner, ownership: .strong)
        case .nestedOnQueue:
          outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")), ownership: .strong)
        }
        let proxy = place == .alone ? inner : outer
        let kept = try surrounding.install(on: inner)
        let (answers, reports, broadcasts) = try await (
          answers(from: proxy) { try await proxy.collectAndWait(.quote, $0, returning: .sum) },
          answers(from: proxy) {
            let report = try await proxy.forwardAndWait(Invocation("quote:", arguments: [.init($0)]))
            return report.result?.value as? Int ?? 0
          },
          answers(from: proxy) { try await proxy.broadcastWhenReady(.quote, $0).queued }
        )
        expect(answers, equals: (2...51).reduce(0, +))
        expect(reports, equals: (2...51).reduce(0, +))
        expect(broadcasts, equals: 50)
        try await proxy.drain()
        expect(journal.all.count, equals: 150)
        journal.take()
        withExtendedLifetime(kept) {}
      }
    }
  }

  /// The sum of the answers of fifty concurrent sends.
  private func answers(
    from proxy: Rooms, _ send: @escaping @Sendable (Int) async throws -> Int
  ) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...50 { group.addTask { try await send(number) } }
      return try await group.reduce(0, +)
    }
  }

  @Test("an automatic target on a concurrent queue drops no message of senders that wait for capacity")
  func automaticOnConcurrentQueue() async throws {
    let (proxy, desk) = (Rooms(), Desk("a", worth: 1, journal))
    let registration = proxy.add(desk, delivery: .automatic(.global()), ownership: .strong, buffer: .suspendSender(1))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<6 {
        group.addTask {
          var dropped = 0
          for _ in 0..<200 { dropped += try await proxy.broadcastWhenReady(.quote, 1).dropped }
          return dropped
        }
      }
      for try await dropped in group { expect(dropped, equals: 0) }
    }
    try await proxy.drain()
    expect(registration.dropped, equals: 0)
    expect(journal.all.count, equals: 1200)
  }

  @Test("canceling a sender at a full buffer reports how many targets already have the message")
  func cancelledAtFullBuffer() async throws {
    let proxy = Rooms()
    let (first, second) = (Desk("first", worth: 1, journal), Desk("second", worth: 2, journal))
    let (free, held) = (DispatchQueue(label: "free"), DispatchQueue(label: "held"))
    held.suspend()
    proxy.add(first, delivery: .queue(free), ownership: .strong)
    let full = proxy.add(second, delivery: .queue(held), ownership: .strong, buffer: .suspendSender(1))
    proxy.broadcast(.quote, 1)
    let sender = Task { try await proxy.broadcastWhenReady(.quote, 2) }
    await until(full.queued?.line?.waitingSenders == 1)
    sender.cancel()
    let error = await #expect(throws: MessageError.self) { try await sender.value }
    expect(error?.code, equals: .cancelled)
    expect(error.map { "\($0)".contains("1 target has already received the message") } ?? false)
    held.resume()
    try await proxy.drain()
    expect(journal.all.sorted(), equals: ["first quotes 1", "first quotes 2", "second quotes 1"])
  }

  @Test("a target whose full buffer refused the message does not have it when the sender is canceled")
  func cancelledAfterRefusal() async throws {
    let proxy = Rooms()
    let (first, second) = (Desk("first", worth: 1, journal), Desk("second", worth: 2, journal))
    let held = DispatchQueue(label: "held")
    held.suspend()
    proxy.add(first, delivery: .queue(held), ownership: .strong, buffer: .keepOldest(1))
    let full = proxy.add(second, delivery: .queue(held), ownership: .strong, buffer: .suspendSender(1))
    proxy.broadcast(.quote, 1)
    // A policy that may stop early asks in order, so the refusal is known before the sender waits.
    let sender = Task { try await proxy.collectAndWait(.quote, 2, returning: .first) }
    await until(full.queued?.line?.waitingSenders == 1)
    sender.cancel()
    await #expect(throws: CancellationError.self) { try await sender.value }
    held.resume()
    try await proxy.drain()
    expect(journal.all.sorted(), equals: ["first quotes 1", "second quotes 1"])
  }

  /// An object that forwards to a proxy.
  private final class Door: ForwardingProxy, @unchecked Sendable {}  // immutable

  /// A proxy behind a door, with one target whose buffer holds one message, which is full.
  private func behindDoor(_ queue: DispatchQueue) -> (outer: Rooms, inner: Rooms) {
    let (outer, inner) = (Rooms(), Rooms())
    let last = Desk("last", worth: 1, journal)
    inner.add(last, delivery: .queue(queue), ownership: .strong, buffer: .suspendSender(1))
    outer.add(Door(to: inner), ownership: .strong)
    return (outer, inner)
  }

  @Test("fifty senders wait for capacity behind a forwarding object", arguments: [false, true])
  func behindAsked(asks: Bool) async throws {
    let (outer, inner) = behindDoor(DispatchQueue(label: "last"))
    try await expectRoom(asks: asks) { asks in
      if asks { return try await outer.collectAndWait(.quote, 1, returning: .all).count }
      return try await outer.broadcastWhenReady(.quote, 1).queued
    }
    try await inner.drain()
    expect(journal.all.count, equals: 50)
  }

  @Test("fifty senders wait for capacity behind an automatic proxy that runs synchronously", arguments: [false, true])
  @MainActor func behindAutomatic(asks: Bool) async throws {
    let (outer, inner) = (Rooms(), Rooms())
    let last = Desk("last", worth: 1, journal)
    inner.add(last, delivery: .queue(DispatchQueue(label: "last")), buffer: .suspendSender(1))
    outer.add(inner, delivery: .automatic(.main))
    try await expectRoom(asks: asks) { @MainActor asks in
      if asks { return try await outer.collectAndWait(.quote, 1, returning: .all).count }
      return try await outer.broadcastWhenReady(.quote, 1).queued
    }
    try await inner.drain()
    expect(journal.all.count, equals: 50)
    withExtendedLifetime((last, inner)) {}
  }

  /// Expects that each of fifty concurrent sends reaches one target.
  private func expectRoom(asks: Bool, _ send: @escaping @Sendable (Bool) async throws -> Int) async throws {
    let reached = try await answers(from: Rooms()) { _ in try await send(asks) }
    expect(reached, equals: 50)
  }

  // MARK: A waiting sender holds no other slot

  /// Two targets in separate proxies with buffers of one message, and a sender that needs both.
  private final class Pair: Sendable {
    let leaves = [Rooms(), Rooms()]
    let both = Rooms()
    let registrations: [Registration]
    private let sender = Locked<Task<Int, any Error>?>(nil)

    init(_ journal: Journal) {
      registrations = leaves.map { [both] leaf in
        both.add(leaf, ownership: .strong)
        return leaf.add(
          Desk("desk", journal), delivery: .queue(DispatchQueue(label: "desk")), ownership: .strong,
          buffer: .suspendSender(1))
      }
    }

    /// Starts the sender, and waits until it waits for an occupied slot or has all its slots.
    func begin() async {
      let isReady = Locked(false)
      let task = Task { [both] in
        defer { isReady.withLock { $0 = true } }
        return try await both.broadcastWhenReady(.worth).queued
      }
      sender.withLock { $0 = task }
      await until(isReady.withLock { $0 } || self.registrations.contains { $0.queued?.line?.waitingSenders ?? 0 > 0 })
    }

    /// The number of targets that the sender reached.
    var reached: Int? { get async throws { try await sender.withLock { $0 }?.value } }
  }

  /// Each of the two buffers is the first one on the message's path once.
  @Test("a sender that waits for capacity behind a forwarding object blocks no other sender", arguments: [0, 1])
  func foundLate(first: Int) async throws {
    let (pair, outer) = (Pair(journal), Rooms())
    outer.add(Door(to: pair.leaves[first]), ownership: .strong)
    outer.add(pair.leaves[1 - first])
    try outer.around(
      .agrees,
      waiting: {
        await pair.begin()
        return try await $0.proceed()
      })
    try await expect(outer.collectAndWait(.agrees, returning: .any), equals: false)
    try await expect(pair.reached, equals: 2)
  }

  /// A target whose method waits for capacity.
  private final class Caller: MessageReceiver, Sendable {
    let rooms: Rooms
    init(_ rooms: Rooms) { self.rooms = rooms }
    static let selectorTable = SelectorTable(for: Caller.self) {
      Responds(to: .agrees, async: { try await $0.rooms.broadcastWhenReady(.worth).queued == 0 })
    }
  }

  @Test("a method may wait for capacity that its sender needs later", arguments: [false, true])
  func neededLater(isHooked: Bool) async throws {
    let (outer, inner, last) = (Rooms(), Rooms(), Rooms())
    last.add(
      Desk("last", journal), delivery: .queue(DispatchQueue(label: "last")), ownership: .strong,
      buffer: .suspendSender(1))
    if isHooked {
      inner.add(Caller(last), delivery: .queue(DispatchQueue(label: "caller")), ownership: .strong)
      try inner.around(.agrees, waiting: { try await $0.proceed() })
    } else {
      inner.add(Caller(last), ownership: .strong)
    }
    for proxy in [inner, last] { outer.add(proxy) }
    try await expect(outer.collectAndWait(.agrees, returning: .any), equals: false)
    expect(journal.take(), equals: ["last worth", "last agrees"])
    withExtendedLifetime(inner) {}
  }

  @Test(
    "a hook may fill the buffer that its message needs, and a hook that does not proceed waits for no capacity",
    arguments: [1, 2])
  func neededByHook(room: Int) async throws {
    let (outer, inner) = (Rooms(), Rooms())
    inner.add(
      Desk("desk", journal), delivery: .queue(DispatchQueue(label: "desk")), ownership: .strong,
      buffer: .suspendSender(room))
    outer.add(inner)
    try outer.around(
      .agrees,
      waiting: {
        for _ in 0..<4 { try await inner.broadcastWhenReady(.worth) }
        try await $0.proceed()
        try await inner.broadcastWhenReady(.worth)
        return try await $0.proceed()
      })
    try outer.around(.worth, waiting: { _ in [] })
    try await expect(outer.collectAndWait(.agrees, returning: .any), equals: false)
    try await inner.drain()
    let worth = Array(repeating: "desk worth", count: 4)
    expect(journal.take(), equals: worth + ["desk agrees", "desk worth", "desk agrees"])
    try await expect(outer.collectAndWait(.worth, returning: .sum), equals: 0)
    try await expect(inner.broadcastWhenReady(.worth).queued, equals: 1)
    try await inner.drain()
  }
}
