// GrowthTests.swift: costs that are constant, by counting, and costs that grow linearly.

import AllocationCounter
import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Growth", .enabled(if: AllocationCounter.isAvailable))
struct GrowthTests {
  @Test("adding mailboxes checks each about once, whatever their number")
  func mailboxLooks() {
    let context = StepContext("many")
    let targets = (0..<5_000).map { _ in Clerk("a") }
    var (table, looks, mailboxes) = (MailboxTable(), 0, [Mailbox]())
    for target in targets {
      let key = MailboxKey(context: context.identity, target: ObjectIdentifier(target))
      let (mailbox, seen) = table.enter(Mailbox(context), for: key)
      mailboxes.append(mailbox)
      looks += seen.count
    }
    expect(table.all.count, equals: 5_000)
    expect(looks <= 2 * 5_000)
    withExtendedLifetime((targets, mailboxes)) {}
  }

  @Test("mailboxes of deallocated targets are removed")
  func goneMailboxes() {
    let proxy = MulticastProxy<any Member>()
    let delivery = Delivery.concurrentQueue(DispatchQueue(label: "many", attributes: .concurrent))
    for _ in 0..<5_000 {
      let target = Clerk("a")
      proxy.add(target, delivery: delivery).cancel()
    }
    expect(proxy.core.state.withLock { $0.rest?.mailboxes.count ?? .max } < 100)
  }

  @Test("storing an answer does not copy the earlier ones")
  func answers() throws {
    func blocks<R, Output>(_ policy: ReturnPolicy<R, Output>, _ answer: R) throws -> Int {
      let collector = policy.makeCollector()
      return try #require(
        AllocationCounter.count(.thisThread) { for _ in 0..<2_000 { _ = try? collector.take(answer) } })
    }
    expect(try blocks(.all, 1) < 100)
    expect(try blocks(.ifAnswered(.all), 1) < 100)
    expect(try blocks(.joined, "ab") < 100)
    expect(try blocks(.joined(separator: ", "), "ab") < 100)
  }

  @Test("looking up a queue costs the same however many queues are known")
  func knownQueues() throws {
    func blocks(_ count: Int) throws -> Int {
      let queue = DispatchQueue(label: "one")
      let identity = QueueIdentity.of(queue, isConcurrent: false)
      queue.sync {}
      let others = (0..<count).map { DispatchQueue(label: "other \($0)") }
      for other in others { _ = QueueIdentity.of(other, isConcurrent: false) }
      let blocks = AllocationCounter.count(.thisThread) { queue.sync { identity.lookForNewTarget(of: queue) } }
      for other in others { other.sync {} }
      return try #require(blocks)
    }
    expect(try blocks(2_000) <= blocks(2))
  }
}

/// Runs the jobs of its tasks on request.
private final class HandExecutor: TaskExecutor {
  private let jobs = Locked<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func run() {
    while let job = jobs.withLock({ $0.popLast() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// With full bounds only: unoptimized, they take a third of the time of all tests.
@Suite("Growth of time", .enabled(if: Bounds.areFull))
struct TimeGrowthTests {
  private static let keys = (0..<8_000).compactMap { number in
    (try? MessageSelector("growth\(number)")).map { Message<() -> Void>($0) }
  }

  private static let growing: [Growing] = [
    Growing("a target that is added for other selectors each time, and again for the same") { count in
      let (proxy, target) = (MulticastProxy<any Member>(), Clerk("a"))
      return {
        for _ in 0..<2 { for key in keys[..<count] { proxy.add(target, only: key) } }
        expect(proxy.registrations.map { $0.selectors?.count }, equals: [count])
      }
    },
    Growing("a target that is removed with all of its registrations") { count in
      let (proxy, target) = (MulticastProxy<any Member>(options: MulticastOptions(duplicates: .allowed)), Clerk("a"))
      for key in keys[..<count] { proxy.add(target, only: key) }
      return { expect(proxy.remove(target), equals: count) }
    },
    Growing("registrations of one target that are canceled in any order") { count in
      let (proxy, target) = (MulticastProxy<any Member>(options: MulticastOptions(duplicates: .allowed)), Clerk("a"))
      let rounds = (0..<3).map { round in (0..<count).map { _ in proxy.add(target) }.inThreeOrders[round] }
      return {
        for registrations in rounds { for registration in registrations { registration.cancel() } }
        expect(proxy.count, equals: 0)
        withExtendedLifetime(target) {}
      }
    },
    Growing("targets of priorities of their own that come, get a message and go") { count in
      let (proxy, targets) = (MulticastProxy<any Member>(), (0..<count).map { Clerk("\($0)") })
      return {
        for order in Array(zip(targets, 1...)).inThreeOrders {
          for (target, priority) in order { proxy.add(target, priority: priority) }
          expect(proxy.broadcast(.ping).delivered, equals: 0)
          for target in targets { proxy.remove(target) }
        }
        expect(proxy.core.slotCount, equals: 0)
      }
    },
    Growing("closures that come and go among others, with a message each time") { count in
      let (proxy, others) = (MulticastProxy<any Member>(), (0..<count).map { Clerk("\($0)") })
      for other in others { proxy.add(other, only: .note) }
      return {
        for _ in 0..<count {
          let closure = proxy.on(.ping) {}
          expect(proxy.broadcast(.ping).delivered, equals: 1)
          closure.cancel()
        }
        withExtendedLifetime(others) {}
      }
    },
    Growing("closures and strong targets that are canceled in any order after a message") { count in
      let proxy = MulticastProxy<any Member>()
      let rounds = (0..<3).map { round in
        (0..<count).map { number in
          number.isMultiple(of: 2) ? proxy.on(.note) { _ in } : proxy.add(Clerk("a"), ownership: .strong)
        }.inThreeOrders[round]
      }
      return {
        for registrations in rounds {
          proxy.broadcast(.note, 1)
          for registration in registrations { registration.cancel() }
        }
        expect(proxy.count, equals: 0)
      }
    },
    Growing("closures that end with their first message, beside a queued target") { count in
      let (proxy, target) = (MulticastProxy<any Member>(), Clerk("a"))
      proxy.add(target, delivery: .on(StepContext("steps")))
      for _ in 0..<count { proxy.on(.note, once: true) { _ in } }
      return {
        expect(proxy.broadcast(.note, 1).delivered, equals: count)
        expect(proxy.count, equals: 1)
        withExtendedLifetime(target) {}
      }
    },
    Growing("hooks that come and go among targets, with a message each time") { count in
      let (proxy, others) = (MulticastProxy<any Member>(), (0..<count).map { Clerk("\($0)") })
      for other in others { proxy.add(other, only: .note) }
      return {
        for _ in 0..<count {
          let hook = try proxy.before(.ping) {}
          proxy.broadcast(.ping)
          hook.cancel()
        }
        withExtendedLifetime(others) {}
      }
    },
    Growing("hooks that are installed and canceled between two messages") { count in
      let proxy = MulticastProxy<any Member>()
      proxy.on(.ping) {}
      proxy.broadcast(.ping)
      return {
        let hooks = try (0..<count).map { _ in try proxy.before(.ping) {} }
        for hook in hooks { hook.cancel() }
        expect(proxy.broadcast(.ping).delivered, equals: 1)
      }
    },
    Growing("hooks of a proxy that are canceled in any order") {
      try cancelHooks(of: MulticastProxy<any Member>(), $0)
    },
    Growing("hooks of a table that are canceled in any order") { count in
      try cancelHooks(of: SelectorTable(for: Clerk.self) { Responds(to: .ping) { (_: Clerk) in } }, count)
    },
    Growing("hooks before one object that are canceled in any order") {
      try cancelHooks(of: LazyProxy { Clerk("a") }, $0)
    },
    Growing("streams that end in any order") { count in
      let proxy = MulticastProxy<any Member>()
      let ends = (0..<3).map { round in
        (0..<count).map { _ in proxy.core.listen(nil, isShared: true, ofAnswers: false, { _, _ in }, finish: {}) }
          .inThreeOrders[round]
      }
      return {
        for ends in ends { for end in ends { end(()) } }
        expect(proxy.core.listenerCount, equals: 0)
      }
    },
    Growing("messages of many selectors, of each of which the latest waits") { count in
      let table = SelectorTable(for: (any Member).self, rows: keys[..<count].map { Responds(to: $0) { _ in } })
      let (proxy, target) = (MulticastProxy<any Member>(table: table), Clerk("a"))
      let registration = proxy.add(target, delivery: .on(StepContext("steps")), buffer: .latestPerSelector)
      for key in keys[..<count] { proxy.broadcast(key) }
      return {
        for key in keys[..<count] { proxy.broadcast(key) }
        expect(registration.dropped, equals: count)
        withExtendedLifetime(target) {}
      }
    },
    Growing("targets that have the message when a sender is canceled at a full buffer") { count in
      let (proxy, executor) = (MulticastProxy<any Member>(), HandExecutor())
      let targets = (0..<count).map { _ in Clerk("a") }
      for target in targets { proxy.add(target, delivery: .on(StepContext("steps")), buffer: .suspendSender(1)) }
      let lines = proxy.registrations.compactMap { $0.queued?.line }
      expect(lines.last?.reserveAtOnce() ?? false)
      let task = Task(executorPreference: executor) { _ = try? await proxy.broadcastWhenReady(.note, 1) }
      executor.run()
      return {
        task.cancel()
        executor.run()
        // The sender had no slot in the last buffer, and the others keep the message.
        expect(lines.count { $0.count == 1 }, equals: count - 1)
        withExtendedLifetime(targets) {}
      }
    },
    Growing("outcomes that are asked for again and again until all are known, and failures") { count in
      let (pending, core, aside) = (
        PendingAnswers(), MulticastProxy<any Member>().core, ProxyChain(MulticastProxy<any Member>().core)
      )
      func place() -> Forwardcast.StepContext { .init(selector: "ping", proxies: ProxyChain(core)) }
      let slots = (0..<count).map { _ in pending.open(place()) }
      return {
        for slot in slots {
          expect(pending.settled(slots[count - 1]) == nil && !pending.hasFailed(in: aside))
          pending.settle(slot, .failed(TargetError(name: "a")), from: nil)
        }
        expect(pending.settled(slots[count - 1]) != nil)
      }
    },
    Growing("targets of one context whose methods end in any order") { count in
      let context = StepContext("steps")
      let mailbox = Mailbox(context)
      let rounds = (0..<3).map { round in (0..<count).map { _ in SerialGate() }.inThreeOrders[round] }
      return {
        for gates in rounds {
          for gate in gates { mailbox.close(gate) }
          for gate in gates.inThreeOrders[2] { mailbox.reopen(gate) }
          context.run()
        }
        expect(!mailbox.hasClosedGates)
      }
    },
    Growing("who leaves a line before the turn, in any order") { count in
      return {
        for round in 0..<3 {
          var line = FirstInFirstOut<Int>()
          for number in (0..<count).map({ line.append($0) }).inThreeOrders[round] { _ = line.remove(number) }
          expect(line.isEmpty && line.next() == nil)
        }
      }
    },
  ]

  private static func cancelHooks(of place: some MessageHooking, _ count: Int) throws -> () -> Void {
    let hooks = try (0..<3).map { round in
      try (0..<count).map { _ in try place.before(.ping) {} }.inThreeOrders[round]
    }
    return {
      for hooks in hooks { for hook in hooks { hook.cancel() } }
      withExtendedLifetime(place) {}
    }
  }

  @Test("sixteen times the input takes about sixteen times as long", arguments: growing)
  func linear(growing: Growing) throws { try growing.expectLinear() }
}
