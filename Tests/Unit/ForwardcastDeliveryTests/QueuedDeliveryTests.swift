// QueuedDeliveryTests.swift: order, batches, copies, removal and errors of queued deliveries.

import CoreTestSupport
import Dispatch
import Forwardcast
import Synchronization
import TestSupport
import Testing

extension Message<() -> String> { fileprivate static var named: Self { .init("named") } }

@Suite("Queued delivery")
struct QueuedDeliveryTests {
  let journal = Journal()
  let context = StepContext("steps")
  let proxy = MulticastProxy<any Member>()

  private func clerk(_ name: String) -> Clerk { Clerk(name, journal) }

  @Test("a queued target runs on its queue, in order, and not before its queue does")
  func runsOnItsQueue() throws {
    let queue = DispatchQueue(label: "box")
    let target = clerk("a")
    defer { withExtendedLifetime(target) {} }
    target.onNote { _ in dispatchPrecondition(condition: .onQueue(queue)) }
    proxy.add(target, delivery: .queue(queue))
    queue.suspend()
    let summary = proxy.broadcast(.note, 1)
    proxy.broadcast(.note, 2)
    expect(summary.queued == 1 && summary.delivered == 0)
    expect(journal.all.isEmpty)
    queue.resume()
    try proxy.drainBlocking(timeout: .seconds(600))
    expect(journal.all, equals: ["a 1", "a 2"])
    try expect(proxy.drainBlocking(timeout: .seconds(600)), equals: 0)
  }

  @Test("a summary does not count a queued target that was removed before its message", arguments: [false, true])
  func removedBefore(isMixed: Bool) {
    let targets = (0..<4).map { clerk("\($0)") }
    defer { withExtendedLifetime(targets) {} }
    for target in targets { proxy.add(target, delivery: .on(context)) }
    if isMixed { proxy.on(.note) { _ in } }
    func send() -> BroadcastSummary { proxy.broadcast(.note, 1) }
    expect(send(), equals: BroadcastSummary(delivered: isMixed ? 1 : 0, queued: 4))
    proxy.remove(targets[1])
    expect(send(), equals: BroadcastSummary(delivered: isMixed ? 1 : 0, queued: 3))
    proxy.mute(targets[2])
    expect(send(), equals: BroadcastSummary(delivered: isMixed ? 1 : 0, queued: 2, skipped: 1))
    context.run()
    expect(journal.all, equals: ["0 1", "2 1", "3 1", "0 1", "2 1", "3 1", "0 1", "3 1"].filter { $0 != "2 1" })
  }

  @Test("messages that wait for a replaced target still reach it, also if only the proxy retains it")
  func replaced() {
    for ownership in [Ownership.weak, .strong] {
      let (proxy, context, journal) = (MulticastProxy<any Member>(), StepContext("steps"), Journal())
      var old: Clerk? = Clerk("old", journal)
      let new = Clerk("new", journal)
      proxy.add(old!, delivery: .on(context), ownership: ownership)
      proxy.broadcast(.note, 1)
      expect(proxy.replace(old!, with: new), equals: 1)
      proxy.broadcast(.note, 2)
      if ownership == .strong { old = nil }
      context.run()
      expect(journal.all, equals: ["old 1", "new 2"])
      withExtendedLifetime((old, new)) {}
    }
  }

  @Test("messages that wait for a replaced strong target reach it, until its handle is canceled")
  func replacedByTarget() {
    for cancels in [false, true] {
      let (proxy, context, journal, counter) = (
        MulticastProxy<any Member>(), StepContext("steps"), Journal(), LeakCounter()
      )
      let new = Clerk("new", journal)
      proxy.add(new, delivery: .on(context))
      var handle: Registration?
      do {
        let old = Clerk("old", journal, counter)
        handle = proxy.add(old, delivery: .on(context), ownership: .strong)
        proxy.broadcast(.note, 1)
        expect(proxy.replace(old, with: new), equals: 1)
      }
      if cancels { handle?.cancel() }
      context.run()
      expect(journal.all, equals: cancels ? ["new 1"] : ["new 1", "old 1"])
      if !cancels { handle?.cancel() }
      expect(counter.alive, equals: 0)
    }
  }

  @Test("many messages to many targets of one context schedule it once")
  func oneHop() {
    let targets = (0..<10).map { clerk("\($0)") }
    defer { withExtendedLifetime(targets) {} }
    for target in targets { proxy.add(target, delivery: .on(context)) }
    for number in 0..<5 { expect(proxy.broadcast(.note, number).queued, equals: 10) }
    expect(context.waiting, equals: 1)
    context.run()
    expect(journal.all, equals: (0..<5).flatMap { number in (0..<10).map { "\($0) \(number)" } })
    expect(context.waiting, equals: 0)
    proxy.broadcast(.note, 9)
    expect(context.waiting, equals: 1, "an empty mailbox wakes its context again")
  }

  @Test("other work on the same queue runs between the messages of a flood")
  func fairness() throws {
    let queue = DispatchQueue(label: "shared")
    let target = clerk("a")
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .queue(queue))
    let seen = Locked<Int?>(nil)
    queue.suspend()
    for number in 0..<5000 { proxy.broadcast(.note, number) }
    queue.async { [journal] in seen.withLock { $0 = journal.all.count } }
    queue.resume()
    try proxy.drainBlocking(timeout: .seconds(600))
    queue.sync {}
    let count = try #require(seen.withLock { $0 })
    expect(count > 0 && count < 5000)
    expect(journal.all.count, equals: 5000)
  }

  @Test("targets on a concurrent queue run one at a time")
  func concurrentQueue() throws {
    let queue = DispatchQueue(label: "many", attributes: .concurrent)
    let inside = Atomic<Int>(0)
    let targets = (0..<4).map { clerk("\($0)") }
    defer { withExtendedLifetime(targets) {} }
    for target in targets {
      target.onNote { _ in
        expect(inside.add(1, ordering: .sequentiallyConsistent).newValue, equals: 1)
        inside.subtract(1, ordering: .sequentiallyConsistent)
      }
      proxy.add(target, delivery: .queue(queue))
    }
    for number in 0..<500 { proxy.broadcast(.note, number) }
    try proxy.drainBlocking(timeout: .seconds(600))
    expect(journal.all.count, equals: 2000)
    expect(journal.all.filter { $0.hasPrefix("2 ") }, equals: (0..<500).map { "2 \($0)" })
  }

  @Test("a policy that needs every answer posts queued messages before direct targets run")
  func policiesThatWantAll() throws {
    for policy in [ReturnPolicy<String, String>.joined, .joined(separator: ", ")] {
      let proxy = MulticastProxy<any Member>()
      proxy.on(.named, priority: 1) { [proxy] in
        proxy.broadcast(.note, 2)
        return "direct"
      }
      proxy.on(.named, delivery: .on(context)) { [journal] in
        journal.write("named")
        return "queued"
      }
      proxy.on(.note, delivery: .on(context)) { [journal] in journal.write("note \($0)") }
      try expect(proxy.collect(.named, returning: policy), equals: "direct")
      context.run()
      expect(journal.take(), equals: ["named", "note 2"])
      proxy.removeAll()
    }
  }

  @Test(
    "a message waits until a running method of its target ends, even if another registration delivers it",
    arguments: [4731: false, 4732: true])
  func twoRegistrations(number: Int, isAddedAnew: Bool) async {
    let (target, turnstile) = (clerk("a"), Turnstile.shut(number))
    let first = proxy.add(target, delivery: .on(context), only: [Message.slow.selector])
    proxy.broadcast(.slow, number)
    context.run()
    await turnstile.arrived(1)
    if isAddedAnew { first.cancel() }
    proxy.add(target, delivery: .on(context), only: [Message.note.selector])
    proxy.broadcast(.note, 2)
    context.run()
    expect(journal.all, equals: ["a begins \(number)"])
    turnstile.open()
    await until(context.waiting > 0)
    context.run()
    expect(journal.all, equals: ["a begins \(number)", "a ends \(number)", "a 2"])
    withExtendedLifetime(target) {}
  }

  @Test("a message that a direct target sends is queued behind the current one")
  func reentrantOrder() {
    let (direct, queued) = (clerk("direct"), clerk("queued"))
    direct.onNote { [proxy] number in if number == 1 { proxy.broadcast(.note, 2) } }
    proxy.add(direct)
    proxy.add(queued, delivery: .on(context))
    proxy.broadcast(.note, 1)
    context.run()
    expect(journal.all, equals: ["direct 1", "direct 2", "queued 1", "queued 2"])
  }

  @Test(
    "a removed, muted or dead target receives none of its queued messages",
    arguments: ["remove", "mute", "die", "cancel", "all"])
  func dropped(how: String) {
    var target: Clerk? = clerk("a")
    let other = clerk("b")
    defer { withExtendedLifetime(other) {} }
    let registration = proxy.add(target.unsafelyUnwrapped, delivery: .on(context))
    proxy.add(other, delivery: .on(context))
    proxy.broadcast(.note, 1)
    proxy.broadcast(.note, 2)
    context.step()
    switch how {
    case "remove": proxy.remove(target.unsafelyUnwrapped)
    case "mute": registration.mute()
    case "die": target = nil
    case "cancel": registration.cancel()
    default: proxy.removeAll(on: .on(context))
    }
    context.run()
    withExtendedLifetime(target) {}
    expect(journal.all, equals: ["a 1", "b 1"] + (how == "all" ? [] : ["b 2"]))
    expect(registration.dropped, equals: 1)
  }

  @Test("a target that an earlier target in the same envelope removes receives nothing")
  func removedInEnvelope() {
    let (first, second) = (clerk("1"), clerk("2"))
    proxy.add(first, delivery: .on(context))
    let registration = proxy.add(second, delivery: .on(context))
    first.onNote { _ in registration.cancel() }
    proxy.broadcast(.note, 7)
    context.run()
    expect(journal.all, equals: ["1 7"])
  }

  @Test("a registration with deliverPending delivers queued messages after removal and keeps its target alive")
  func deliverPending() {
    let counter = LeakCounter()
    var target: Clerk? = Clerk("a", journal, counter)
    let registration = proxy.add(target.unsafelyUnwrapped, delivery: .on(context), whenRemoved: .deliverPending)
    proxy.broadcast(.note, 1)
    proxy.broadcast(.note, 2)
    registration.cancel()
    expect(proxy.broadcast(.note, 3).queued, equals: 0)
    target = nil
    expect(counter.alive, equals: 1)
    context.run()
    expect(journal.all, equals: ["a 1", "a 2"])
    expect(counter.alive == 0 && registration.dropped == 0)
  }

  @Test("a muted target receives no queued messages, even with deliverPending")
  func deliverPendingMuted() {
    let target = clerk("a")
    defer { withExtendedLifetime(target) {} }
    let registration = proxy.add(target, delivery: .on(context), whenRemoved: .deliverPending)
    proxy.broadcast(.note, 1)
    registration.mute()
    context.run()
    expect(journal.all.isEmpty && registration.dropped == 1)
  }

  @Test("queued messages of a released proxy are delivered, and then all its memory is released")
  func droppedProxy() {
    let counter = LeakCounter()
    let target = clerk("a")
    defer { withExtendedLifetime(target) {} }
    var short: MulticastProxy<any Member>? = MulticastProxy()
    short?.add(target, delivery: .on(context))
    let witness = Witness(counter)
    short?.on(.note, delivery: .on(context)) { [journal] number in
      withExtendedLifetime(witness) { journal.write("closure \(number)") }
    }
    short?.broadcast(.note, 1)
    short = nil
    context.run()
    expect(journal.all, equals: ["a 1", "closure 1"])
    expect(context.waiting, equals: 0)
  }

  @Test("a target has one registration for each delivery")
  func duplicates() {
    let target = clerk("a")
    let first = proxy.add(target, delivery: .on(context))
    expect(proxy.add(target, delivery: .on(context)) === first)
    expect(proxy.add(target) !== first)
    expect(proxy.count, equals: 2)
    expect(proxy.remove(target, delivery: .direct), equals: 1)
    expect(proxy.registrations, equals: [first])
    expect(Delivery.queue() == .queue(.main) && Delivery.queue() != .automatic() && Delivery.direct == .direct)
    expect(Delivery.mainActor == .mainActor && Delivery.mainActor != .queue())
  }

  @Test("an error on a queue is reported to onError with its registration")
  func errors() {
    let target = clerk("a")
    defer { withExtendedLifetime(target) {} }
    target.onNote { _ in throw TargetError(name: "a") }
    let registration = proxy.add(target, delivery: .on(context))
    let failures = Locked<[MulticastFailure]>([])
    proxy.onError = { failure in failures.withLock { $0.append(failure) } }
    expect(proxy.broadcast(.note, 1).failed, equals: 0)
    context.run()
    expect(failures.withLock { $0.map(\.registration) }, equals: [registration])
    expect(failures.withLock { $0.first?.error as? TargetError } == TargetError(name: "a"))
  }

  @Test("a queued target refuses an argument that is not Sendable, and a direct target receives it")
  func notSendable() {
    final class Thing {}
    let message = Message<(Thing) -> Void>("take:")
    let direct = proxy.on(message) { [journal] _ in journal.write("direct") }
    proxy.on(message, delivery: .on(context)) { [journal] _ in journal.write("queued") }
    let failures = Locked<[String]>([])
    proxy.onError = { failure in failures.withLock { $0.append("\(failure.error)") } }
    let summary = proxy.broadcast(message, Thing())
    expect(summary.delivered == 1 && summary.failed == 1 && summary.queued == 0)
    context.run()
    expect(journal.take(), equals: ["direct"])
    expect(failures.withLock { $0 }.allSatisfy { $0.hasPrefix("isolation mismatch in 'take:'") })
    direct.cancel()
    expect(proxy.broadcast(Invocation("take:", arguments: [ArgumentBox(Thing())])).failed, equals: 1)
    expect(proxy.broadcast(Invocation("take:", arguments: [ArgumentBox(uncheckedSendable: Thing())])).queued, equals: 1)
    context.run()
    expect(journal.all, equals: ["queued"])
    let vouched = Message<(UncheckedSendable<Thing>) -> Void>("vouch:")
    proxy.on(vouched, delivery: .on(context)) { [journal] _ in journal.write("vouched") }
    expect(proxy.broadcast(vouched, UncheckedSendable(Thing())).queued, equals: 1)
    context.run()
    expect(journal.all, equals: ["queued", "vouched"])
  }

  @Test("each queued target receives its own copy of an argument that provides copies", arguments: [true, false])
  func copies(typed: Bool) {
    let message = Message<(Page) -> Void>("page:")
    let pages = Locked<[Page]>([])
    for _ in 0..<2 { proxy.on(message, delivery: .on(context)) { page in pages.withLock { $0.append(page) } } }
    proxy.on(message) { page in pages.withLock { $0.append(page) } }
    let original = Page()
    if typed {
      proxy.broadcast(message, original)
    } else {
      proxy.broadcast(Invocation("page:", arguments: [ArgumentBox(original)]))
    }
    context.run()
    let seen = pages.withLock { $0 }
    expect(seen.count == 3 && Set(seen.map(ObjectIdentifier.init)).count == 3)
    expect(seen.first === original, "a direct target shares the sender's object")
  }

  final class Page: ArgumentCopying, Sendable {
    func argumentCopy() -> Page { Page() }
  }

  @Test("a boxed message is queued, reported, and converted on its context")
  func boxes() throws {
    let (direct, queued, muted) = (clerk("d"), clerk("q"), clerk("m"))
    proxy.add(direct)
    proxy.add(queued, delivery: .on(context))
    proxy.add(muted, delivery: .on(context)).mute()
    var call = Invocation("note:", arguments: [ArgumentBox(Int8(3))])
    let report = try proxy.forward(&call)
    expect(report.answers.map { ObjectIdentifier($0.target) }, equals: [ObjectIdentifier(direct)])
    expect(report.queued.map(ObjectIdentifier.init), equals: [ObjectIdentifier(queued)])
    expect(report.skipped.map(\.reason), equals: [.muted])
    context.run()
    expect(journal.all, equals: ["d 3", "q 3"])
    #expect(throws: MessageError.self) {
      var wrong = Invocation("note:", arguments: [ArgumentBox("text")])
      try proxy.forward(&wrong)
    }
  }

  @Test("a cycle of queued proxies ends with an error instead of endless messages")
  func ring() {
    let loop = MulticastProxy<any MessageReceiver & Sendable>()
    let other = MulticastProxy<any MessageReceiver & Sendable>()
    loop.add(other, delivery: .on(context))
    other.add(loop, delivery: .on(context))
    let target = clerk("a")
    defer { withExtendedLifetime(target) {} }
    loop.add(target)
    let errors = Locked<[String]>([])
    for proxy in [loop, other] {
      proxy.onError = { failure in errors.withLock { $0.append("\(failure.error)") } }
    }
    loop.broadcast(.note, 1)
    for _ in 0..<10 { context.step() }
    expect(context.waiting, equals: 0)
    expect(journal.all, equals: ["a 1"])
    expect(errors.withLock { $0.count }, equals: 1)
    expect(errors.withLock { $0.first }?.hasPrefix("proxy cycle") ?? false)
  }

  @Test("an automatic delivery is direct on its queue unless messages wait there")
  func automatic() throws {
    let queue = DispatchQueue(label: "auto")
    let target = clerk("a")
    defer { withExtendedLifetime(target) {} }
    proxy.add(target, delivery: .automatic(queue))
    expect(proxy.broadcast(.note, 1).queued, equals: 1)
    try proxy.drainBlocking(timeout: .seconds(600))
    let here = queue.sync { proxy.broadcast(.note, 2) }
    expect(here.delivered == 1 && here.queued == 0)
    let late = Locked<BroadcastSummary?>(nil)
    queue.sync {
      // On the queue, but a message from another thread is waiting.
      let done = DispatchSemaphore(value: 0)
      DispatchQueue.global().async { [proxy] in
        proxy.broadcast(.note, 3)
        done.signal()
      }
      done.wait()
      late.withLock { $0 = proxy.broadcast(.note, 4) }
    }
    expect(late.withLock { $0?.queued }, equals: 1)
    try proxy.drainBlocking(timeout: .seconds(600))
    expect(journal.all, equals: ["a 1", "a 2", "a 3", "a 4"])
  }

  @Test("a proxy that stops at the first error keeps the order of delivery and queues nothing after the error")
  func stopping() {
    let stopping = MulticastProxy<any Member>(options: MulticastOptions(errors: .stopAtFirst))
    let (before, failing, after) = (clerk("before"), clerk("failing"), clerk("after"))
    failing.onNote { _ in throw TargetError(name: "failing") }
    stopping.onError = { _ in }
    stopping.add(before, delivery: .on(context))
    stopping.add(failing)
    stopping.add(after, delivery: .on(context))
    let summary = stopping.broadcast(.note, 1)
    expect(summary.queued == 1 && summary.failed == 1)
    context.run()
    expect(journal.all, equals: ["failing 1", "before 1"])
  }

  @Test("a report lists a dead queued target as dead and a muted one as muted")
  func unreachedInReport() throws {
    let report = try withTablesUnchanged {
      let (proxy, context) = (MulticastProxy<any Member>(), StepContext("report"))
      let clerk = Clerk("a")
      proxy.add(clerk, delivery: .on(context)).mute()
      do {
        let gone = Clerk("b")
        proxy.add(gone, delivery: .on(context))
        expect(proxy.broadcast(.note, 1).queued, equals: 1)
        context.run()
        withExtendedLifetime(gone) {}
      }
      var call = Invocation("note:", arguments: [.init(2)])
      return try withExtendedLifetime(clerk) { try proxy.forward(&call) }
    }
    expect(report.skipped.map(\.reason), equals: [.muted, .dead])
    expect(report.queued.count, equals: 0)
  }

  @Test("a proxy whose queued targets are all dead does not respond")
  func allDead() {
    let silent = Locked(0)
    let proxy = MulticastProxy<any Member>(
      options: MulticastOptions(noResponder: .handle { _ in silent.withLock { $0 += 1 } }))
    var target: Clerk? = clerk("a")
    proxy.add(target.unsafelyUnwrapped, delivery: .on(context))
    proxy.broadcast(.note, 1)
    expect(silent.withLock { $0 }, equals: 0)
    target = nil
    expect(proxy.broadcast(.note, 2).nobodyResponded)
    expect(silent.withLock { $0 }, equals: 1)
    context.run()
    expect(proxy.registrations.isEmpty)
  }
}
