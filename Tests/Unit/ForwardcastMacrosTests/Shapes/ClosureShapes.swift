// ClosureShapes.swift: the isolation of closures registered with proxies and hooks.

import Dispatch
import Forwardcast
import Synchronization
import TestSupport
import Testing

@Forwarded nonisolated protocol SharedListener: AnyObject, Sendable {
  func heard(_ n: Int)
  func ended()
  func moved(_ x: Int, _ y: Int) throws
  @Answer(.sum) func counted(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Int
}

@Forwarded nonisolated protocol LocalListener: AnyObject {
  func heard(_ n: Int)
  func ended()
}

private typealias Shared = SharedListenerProxy.Messages
private typealias Local = LocalListenerProxy.Messages

/// A property that main-actor closures change.
@MainActor private final class Screen {
  var sum = 0

  func listen(to listeners: SharedListenerProxy) {
    listeners.on(Shared.heard) { [weak self] n in
      MainActor.assertIsolated()
      self?.sum += n
    }
    listeners.on(Shared.ended) { [self] in
      MainActor.assertIsolated()
      sum += 100
    }
    listeners.on(Shared.moved) { [weak self] x, y in
      MainActor.assertIsolated()
      if x < 0 { throw LoadError.gone }
      self?.sum += x + y
    }
    listeners.on(Shared.counted) { [weak self] a, b, c, d in
      MainActor.assertIsolated()
      self?.sum += a + b + c + d
      return self?.sum ?? 0
    }
  }

  func listen(to listeners: MulticastProxy<any SharedListener>) {
    listeners.on(Shared.heard) { [weak self] n in
      MainActor.assertIsolated()
      self?.sum += n
    }
  }

  func listen(to listeners: LocalListenerProxy) {
    listeners.on(Local.heard) { [weak self] n in
      MainActor.assertIsolated()
      self?.sum += n
    }
  }

  /// Generic code does not know that the interface is `Sendable`.
  func listen<Interface>(toAny listeners: MulticastProxy<Interface>) {
    listeners.on(Shared.heard) { [weak self] n in
      MainActor.assertIsolated()
      self?.sum += n
    }
  }

  func show(_ n: Int) {
    MainActor.assertIsolated()
    sum += n
  }
}

private actor Counter {
  private(set) var sum = 0

  func listen(to listeners: SharedListenerProxy) {
    listeners.on(Shared.heard) { n in
      self.assertIsolated()
      self.sum += n
    }
    listeners.on(Shared.ended) {
      self.assertIsolated()
      self.sum += 100
    }
  }

  /// Everything stays on the actor.
  func listenAndSend(_ n: Int) {
    let listeners = LocalListenerProxy()
    listeners.on(Local.heard) { n in
      self.assertIsolated()
      self.sum += n
    }
    listeners.heard(n)
  }
}

@StoreActor private final class Shelf {
  var sum = 0
  nonisolated init() {}
  func listen(to listeners: SharedListenerProxy) {
    listeners.on(Shared.heard) { [weak self] n in
      StoreActor.shared.assertIsolated()
      self?.sum += n
    }
  }
}

@MainActor private var shown = 0
@MainActor private func show(_ n: Int) {
  MainActor.assertIsolated()
  shown += n
}

@Suite("Closures run in the isolation where they are written")
struct ClosureShapes {
  @Test("a closure written on the main actor runs there, whichever thread sends")
  @MainActor func onMainActor() async throws {
    let (listeners, screen) = (SharedListenerProxy(), Screen())
    screen.listen(to: listeners)
    await Task.detached {
      listeners.heard(1)
      listeners.ended()
      try? listeners.moved(2, 3)
    }.value
    try await listeners.drain()
    expect(screen.sum, equals: 106)
    let answer = try await listeners.collectAndWait(Shared.counted, 1, 1, 1, 1, returning: .sum)
    expect(answer, equals: 110)
  }

  @Test("a closure written on the main actor runs synchronously if its sender is there and nothing waits")
  @MainActor func atOnce() throws {
    let (listeners, screen) = (SharedListenerProxy(), Screen())
    screen.listen(to: listeners)
    listeners.heard(1)
    expect(screen.sum, equals: 1)
    expect(listeners.counted(1, 1, 1, 1), equals: 5)
    #expect(throws: LoadError.gone) { try listeners.moved(-1, 0) }
  }

  @Test("a closure registered with a MulticastProxy runs in its isolation too")
  @MainActor func withPlainProxy() async throws {
    let (listeners, screen) = (MulticastProxy<any SharedListener>(), Screen())
    screen.listen(to: listeners)
    listeners.broadcast(Shared.heard, 1)
    expect(screen.sum, equals: 1)
    await Task.detached { _ = listeners.broadcast(Shared.heard, 2) }.value
    try await listeners.drain()
    expect(screen.sum, equals: 3)
  }

  @Test("a closure written in an actor runs in that actor")
  func onActor() async throws {
    let (listeners, counter) = (SharedListenerProxy(), Counter())
    await counter.listen(to: listeners)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { for _ in 0..<100 { listeners.heard(1) } } }
    }
    listeners.ended()
    try await listeners.drain()
    await expect(counter.sum, equals: 500)
  }

  @Test("a closure written on another global actor runs on that actor")
  func onGlobalActor() async throws {
    let listeners = SharedListenerProxy()
    let page = Shelf()
    await page.listen(to: listeners)
    listeners.heard(1)
    try await listeners.drain()
    await expect(page.sum, equals: 1)
  }

  @Test("concurrent tasks lose no updates in a main-actor closure")
  @MainActor func updates() async throws {
    let (listeners, screen) = (SharedListenerProxy(), Screen())
    screen.listen(to: listeners)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { for _ in 0..<250 { listeners.heard(1) } } }
    }
    try await listeners.drain()
    expect(screen.sum, equals: 1_000)
  }

  @Test("a nonisolated closure runs on the sender's thread")
  nonisolated func onSender() async throws {
    let listeners = SharedListenerProxy()
    let queue = DispatchQueue(label: "sender")
    let sum = Atomic(0)
    listeners.on(Shared.heard) { n in
      dispatchPrecondition(condition: .onQueue(queue))
      sum.add(n, ordering: .relaxed)
    }
    listeners.on(Shared.ended) { dispatchPrecondition(condition: .onQueue(queue)) }
    await withCheckedContinuation { continuation in
      queue.async {
        listeners.heard(1)
        listeners.ended()
        expect(sum.load(ordering: .relaxed), equals: 1)
        continuation.resume()
      }
    }
  }

  @Test("a closure with an explicit delivery runs there")
  nonisolated func stated() async throws {
    let listeners = SharedListenerProxy()
    let queue = DispatchQueue(label: "stated")
    let log = Log()
    listeners.on(Shared.heard, delivery: .queue(queue)) { n in
      dispatchPrecondition(condition: .onQueue(queue))
      log.note("\(n)")
    }
    listeners.on(
      Shared.heard,
      onMainActor: { n in
        MainActor.assertIsolated()
        log.note("\(n)")
      })
    listeners.on(Shared.heard) { @MainActor n in
      MainActor.assertIsolated()
      log.note("\(n)")
    }
    listeners.heard(1)
    try await listeners.drain()
    expect(log.lines, equals: ["1", "1", "1"])
  }

  #if swift(>=6)
    @Test("a main-actor function passed as a closure runs on the main actor")
    @MainActor func functions() async throws {
      let (listeners, screen) = (SharedListenerProxy(), Screen())
      listeners.on(Shared.heard, show)
      listeners.on(Shared.heard, screen.show)
      await Task.detached { listeners.heard(1) }.value
      try await listeners.drain()
      expect(shown, equals: 1)
      expect(screen.sum, equals: 1)
    }
  #endif

  @Test("a closure of a proxy that is not Sendable runs in the sender's isolation")
  @MainActor func local() async {
    let (listeners, screen) = (LocalListenerProxy(), Screen())
    screen.listen(to: listeners)
    listeners.heard(1)
    expect(screen.sum, equals: 1)
    let counter = Counter()
    await counter.listenAndSend(2)
    await expect(counter.sum, equals: 2)
  }

  @Test("a main-actor closure registered by generic code throws isolationMismatch elsewhere instead of running")
  @MainActor func generic() async throws {
    let (listeners, screen) = (MulticastProxy<any SharedListener>(), Screen())
    screen.listen(toAny: listeners)
    listeners.broadcast(Shared.heard, 1)
    expect(screen.sum, equals: 1)
    let failures = Failures()
    listeners.onError = { failures.note($0) }
    await Task.detached { _ = listeners.broadcast(Shared.heard, 1) }.value
    expect(failures.errors.map { ($0 as? MessageError)?.code }, equals: [.isolationMismatch])
    expect(screen.sum, equals: 1)
  }

  @Test("hooks run on the sender's thread")
  nonisolated func hooks() async throws {
    let listeners = SharedListenerProxy()
    let queue = DispatchQueue(label: "sender")
    let count = Atomic(0)
    let note: @Sendable () -> Void = {
      dispatchPrecondition(condition: .onQueue(queue))
      count.add(1, ordering: .relaxed)
    }
    try listeners.before(Shared.heard) { _ in note() }
    try listeners.after(Shared.heard) { _, _ in note() }
    try listeners.around(Shared.heard) { call in
      note()
      return try call.proceed()
    }
    try listeners.before { _ in note() }
    try listeners.after { _, _ in note() }
    try listeners.around("heard:") { call in
      note()
      return try call.proceed()
    }
    await withCheckedContinuation { continuation in
      queue.async {
        listeners.heard(1)
        continuation.resume()
      }
    }
    expect(count.load(ordering: .relaxed), equals: 6)
  }
}
