// OwnerShapes.swift: closures that end with their owner or after one message.

import Dispatch
import Forwardcast
import Synchronization
import TestSupport
import Testing

private typealias Shared = SharedListenerProxy.Messages
private typealias Local = LocalListenerProxy.Messages

@MainActor private final class Label {
  var sum = 0
  func listen(to listeners: SharedListenerProxy) {
    listeners.on(Shared.heard, owner: self) { label, n in
      MainActor.assertIsolated()
      label.sum += n
    }
  }
  func listen(to listeners: LocalListenerProxy) {
    listeners.on(Local.heard, owner: self) { label, n in label.sum += n }
  }
}

nonisolated private final class Tally: Sendable {
  let sum = Atomic(0)
}

/// A target that is also the owner of closures.
nonisolated private final class Leaf: LocalListener {
  var sum = 0
  func heard(_ n: Int) { sum += n }
  func ended() {}
}

/// An object that is counted while it is alive.
nonisolated private final class Counted: Sendable {
  let count: Tally
  init(_ count: Tally) {
    self.count = count
    count.sum.add(1, ordering: .relaxed)
  }
  deinit { count.sum.subtract(1, ordering: .relaxed) }
}

@Suite("Closures with an owner, and one-time closures")
struct OwnerShapes {
  @Test("a closure receives its owner and ends with it")
  nonisolated func owner() {
    let listeners = LocalListenerProxy()
    var page: Leaf? = Leaf()
    let registration = listeners.on(Local.heard, owner: page!) { page, n in page.sum += n }
    listeners.heard(2)
    expect(page?.sum, equals: 2)
    expect(listeners.count, equals: 1)
    expect(listeners.targets.isEmpty, "a closure is no target of the protocol")
    page = nil
    expect(listeners.count, equals: 0)
    expect(registration.isLive, equals: false)
    listeners.heard(3)
    expect(listeners.responds(to: "heard:"), equals: false)
  }

  @Test("a main-actor closure runs there with its owner")
  @MainActor func onMainActor() async throws {
    let (listeners, label) = (SharedListenerProxy(), Label())
    label.listen(to: listeners)
    listeners.heard(1)
    expect(label.sum, equals: 1)
    await Task.detached { listeners.heard(2) }.value
    try await listeners.drain()
    expect(label.sum, equals: 3)
    let (pages, other) = (LocalListenerProxy(), Label())
    other.listen(to: pages)
    pages.heard(1)
    expect(other.sum, equals: 1)
  }

  @Test("deallocated owners leave at most a few closures behind")
  nonisolated func thousand() {
    let (listeners, left) = (SharedListenerProxy(), Tally())
    for _ in 0..<1_000 {
      let (owner, captured) = (Tally(), Counted(left))
      listeners.on(Shared.heard, owner: owner) { _, _ in _ = captured }
    }
    expect(left.sum.load(ordering: .relaxed) < 20)
  }

  @Test("each closure of an owner receives the message, and so does the owner if it is a target")
  nonisolated func several() {
    let (listeners, page) = (LocalListenerProxy(), Leaf())
    listeners.add(page)
    listeners.on(Local.heard, owner: page) { page, n in page.sum += n * 10 }
    let third = listeners.on(Local.heard, owner: page) { page, n in page.sum += n * 100 }
    listeners.heard(1)
    expect(page.sum, equals: 111)
    listeners.remove(page)
    third.cancel()
    listeners.heard(1)
    expect(page.sum, equals: 121)
  }

  @Test("removing an owner removes its closures, but neither the owner as a target nor other closures")
  nonisolated func removed() {
    let (listeners, page, other) = (LocalListenerProxy(), Leaf(), Leaf())
    listeners.add(page)
    let first = listeners.on(Local.heard, owner: page) { page, n in page.sum += n * 10 }
    listeners.on(Local.heard, owner: page) { page, n in page.sum += n * 100 }
    listeners.on(Local.heard, owner: other) { other, n in other.sum += n }
    expect(listeners.remove(owner: page), equals: 2)
    expect(first.isCancelled)
    listeners.heard(1)
    expect([page.sum, other.sum], equals: [1, 1])
    expect(listeners.remove(owner: page), equals: 0)
  }

  @Test("a closure with an owner runs on its delivery")
  nonisolated func delivery() async throws {
    let (listeners, log, queue) = (SharedListenerProxy(), Tally(), DispatchQueue(label: "owner"))
    listeners.on(Shared.heard, owner: log, delivery: .queue(queue)) { log, n in
      dispatchPrecondition(condition: .onQueue(queue))
      log.sum.add(n, ordering: .relaxed)
    }
    listeners.heard(1)
    try await listeners.drain()
    expect(log.sum.load(ordering: .relaxed), equals: 1)
  }

  @Test("a queued message whose owner is deallocated meanwhile is dropped")
  nonisolated func deadInQueue() async throws {
    let (listeners, queue) = (SharedListenerProxy(), DispatchQueue(label: "owner"))
    let calls = Tally()
    var owner: Tally? = Tally()
    listeners.on(Shared.heard, owner: owner!, delivery: .queue(queue)) { _, _ in
      calls.sum.add(1, ordering: .relaxed)
    }
    queue.suspend()
    listeners.heard(1)
    owner = nil
    queue.resume()
    try await listeners.drain()
    expect(calls.sum.load(ordering: .relaxed), equals: 0)
  }

  @Test("a one-time closure ends with its message, even if it sends again")
  nonisolated func once() {
    let (listeners, page) = (LocalListenerProxy(), Leaf())
    let registration = listeners.on(Local.heard, once: true) { n in
      page.sum += n
      listeners.heard(10)
    }
    listeners.on(Local.heard, owner: page, once: true) { page, n in page.sum += n }
    listeners.heard(1)
    expect(registration.isCancelled)
    listeners.heard(1)
    expect(page.sum, equals: 11)
    expect(listeners.count, equals: 0)
  }

  @Test("a one-time closure runs once, however many threads send")
  nonisolated func onceFromThreads() async throws {
    let (listeners, log) = (SharedListenerProxy(), Tally())
    listeners.on(Shared.heard, once: true) { _ in log.sum.add(1, ordering: .relaxed) }
    let queued = Tally()
    listeners.on(Shared.heard, delivery: .queue(DispatchQueue(label: "once")), once: true) { _ in
      queued.sum.add(1, ordering: .relaxed)
    }
    await withTaskGroup(of: Void.self) { group in for _ in 0..<8 { group.addTask { listeners.heard(1) } } }
    try await listeners.drain()
    expect(log.sum.load(ordering: .relaxed), equals: 1)
    expect(queued.sum.load(ordering: .relaxed), equals: 1)
  }

  @Test("registrations stored in a set end when the set releases them")
  nonisolated func stored() {
    let (listeners, page) = (LocalListenerProxy(), Leaf())
    var handles: Set<ScopedRegistration> = []
    listeners.on(Local.heard) { page.sum += $0 }.store(in: &handles)
    listeners.on(Local.ended) { page.sum += 1 }.store(in: &handles)
    expect(handles.count, equals: 2)
    listeners.heard(1)
    handles.removeAll()
    listeners.heard(1)
    expect(page.sum, equals: 1)
  }
}
