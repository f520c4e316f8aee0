// ActorLifetimeTests.swift: who retains an actor that runs messages.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

private actor Desk: Member, MessageReceiver {
  let journal: Journal?
  init(_ journal: Journal? = nil) { self.journal = journal }

  static let selectorTable = SelectorTable(for: Desk.self) {
    Responds(to: .ping, isolated: { desk in desk.journal?.write("ping") })
  }
}

private final class Loop: Member, MessageReceiver, SerialExecutor {
  private let queue = DispatchQueue(label: "loop")
  private let journal: Journal
  private let witness: Witness
  init(_ journal: Journal, _ counter: LeakCounter) { (self.journal, witness) = (journal, Witness(counter)) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  static let selectorTable = SelectorTable(for: Loop.self) { Responds(to: .ping) { $0.journal.write("ping") } }
}

@Suite("Lifetime of actors that run messages")
struct ActorLifetimeTests {
  private let proxy = MulticastProxy<any Member & Sendable>()

  @Test("an actor that runs its own messages is a weak target like any other")
  func weakTarget() async throws {
    weak var released: Desk?
    do {
      let desk = Desk()
      released = desk
      proxy.add(desk, delivery: .actor(desk))
      proxy.broadcast(.ping)
      try await proxy.drain()
    }
    // The task that ran the message may end a little later.
    await until(released == nil)
    expect(proxy.count, equals: 0)
  }

  @Test("a removed actor is not retained by its registration, nor by the proxy")
  func removed() async throws {
    weak var released: Desk?
    let stays = Desk()
    proxy.add(stays, delivery: .actor(stays))
    let registration: Registration
    do {
      let desk = Desk()
      released = desk
      registration = proxy.add(desk, delivery: .actor(desk))
      proxy.broadcast(.ping)
      try await proxy.drain()
      proxy.remove(desk)
    }
    await until(released == nil)
    expect("\(registration.delivery)", equals: "actor Desk")
  }

  @Test("a closure that runs on its owner does not retain it")
  func owner() async throws {
    let journal = Journal()
    weak var released: Desk?
    let registration: Registration
    do {
      let desk = Desk()
      released = desk
      registration = proxy.on(.ping, owner: desk, delivery: .actor(desk)) { desk in
        desk.assumeIsolated { _ in journal.write("ping") }
      }
      proxy.broadcast(.ping)
      try await proxy.drain()
    }
    await until(released == nil)
    expect(journal.all, equals: ["ping"])
    expect(registration.target == nil)
  }

  @Test("an executor that runs its own messages is a weak target like any other")
  func weakExecutor() async throws {
    let (journal, counter) = (Journal(), LeakCounter())
    do {
      let loop = Loop(journal, counter)
      proxy.add(loop, delivery: .executor(loop))
      proxy.broadcast(.ping)
      try await proxy.drain()
      withExtendedLifetime(loop) {}
    }
    await until(counter.alive == 0)
    expect(journal.all, equals: ["ping"])
    expect(proxy.count, equals: 0)
  }

  @Test("another target's registration retains the executor on which it runs")
  func otherTargetOfExecutor() async throws {
    let (journal, counter, clerk) = (Journal(), LeakCounter(), Clerk("a", Journal()))
    let registration: Registration
    do {
      let loop = Loop(journal, counter)
      proxy.add(loop, delivery: .executor(loop))
      registration = proxy.add(clerk, delivery: .executor(loop))
      expect(proxy.registrations.map(\.delivery), equals: [.executor(loop), .executor(loop)])
    }
    proxy.broadcast(.ping)
    proxy.broadcast(.note, 1)
    try await proxy.drain()
    expect(journal.all + clerk.journal.all, equals: ["ping", "a 1"])
    expect(counter.alive, equals: 1)
    withExtendedLifetime((registration, clerk)) {}
  }

  @Test("messages for a deallocated actor are dropped, and nothing waits for them")
  func dropped() async throws {
    let journal = Journal()
    var desk: Desk? = Desk(journal)
    let registration = try proxy.add(#require(desk), delivery: .actor(#require(desk)))
    proxy.broadcast(.ping)
    try await proxy.drain()
    desk = nil
    // 0 if a table has changed meanwhile, so the message found its targets anew.
    let queued = proxy.broadcast(.ping).queued
    try await proxy.drain()
    expect(journal.all.count + registration.dropped, equals: 1 + queued)
  }

  @Test("another target's registration retains the actor on which it runs, until it ends")
  func otherTarget() async throws {
    let (journal, clerk) = (Journal(), Clerk("a", Journal()))
    weak var released: Desk?
    let registration: Registration
    do {
      let desk = Desk(journal)
      released = desk
      proxy.add(desk, delivery: .actor(desk))
      registration = proxy.add(clerk, delivery: .actor(desk))
    }
    proxy.broadcast(.ping)
    try await proxy.drain()
    expect(released != nil)
    expect(journal.all, equals: ["ping"])
    withExtendedLifetime((registration, clerk)) {}
  }

  @Test("an actor that takes the address of a deallocated one gets its messages on itself")
  func reusedAddress() async throws {
    for _ in 0..<200 {
      let journal = Journal()
      let desk = Desk(journal)
      proxy.add(desk, delivery: .actor(desk))
      proxy.broadcast(.ping)
      try await proxy.drain()
      expect(journal.all, equals: ["ping"])
    }
  }
}
