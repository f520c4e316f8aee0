// StreamDeliveryTests.swift: consecutive messages to another context that share envelopes.

import AllocationCounter
import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

/// A context whose drains make a few deliveries each, run one by one by the test.
private final class TurnContext: DeliveryContext {
  private let woken = Locked<[Mailbox]>([])
  let name = "turns"
  let turn: Int
  init(turn: Int = 512) { self.turn = turn }

  var identity: ObjectIdentifier { ObjectIdentifier(self) }
  var isCurrent: Bool { isHeld }
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { woken.withLock { $0.append(mailbox) } }

  /// Runs one drain. Returns `false` if none is scheduled.
  func runTurn() -> Bool {
    guard let mailbox = woken.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    mailbox.drain()
    return true
  }

  func run() { while runTurn() {} }
}

private final class Cargo: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

extension Message<(Cargo) -> Void> { fileprivate static var load: Self { .init("streamLoad:") } }
extension Message<(Double) -> Void> { fileprivate static var noteDouble: Self { .init("note:") } }

/// A target that runs a test's closure for each argument.
private final class Carrier: Member, MessageReceiver {
  let action: @Sendable (Int) -> Void
  init(_ action: @escaping @Sendable (Int) -> Void) { self.action = action }
  static let selectorTable = SelectorTable(for: Carrier.self) {
    Responds(to: .load) { carrier, cargo in carrier.action(cargo.number) }
  }
}

/// Adds up the messages of many targets, on the one thread that runs the context.
private final class Adder: Member, MessageReceiver, @unchecked Sendable {  // only the test's thread uses it
  var sum = 0
  static let selectorTable = SelectorTable(for: Adder.self) {
    Responds(to: .note) { adder, number in adder.sum += number }
  }
}

@Suite("Streams to other contexts")
struct StreamDeliveryTests {
  private let proxy = MulticastProxy<any Member>()
  private let journal = Journal()
  private let context = TurnContext()

  private func lines(_ name: String, _ numbers: some Sequence<Int>) -> [String] { numbers.map { "\(name) \($0)" } }

  @Test("a thousand messages arrive in order, at one target and at several", arguments: [1, 3])
  func order(targets: Int) {
    let clerks = (0..<targets).map { Clerk("\($0)", journal) }
    for clerk in clerks { proxy.add(clerk, delivery: .on(context)) }
    for number in 0..<1_000 { expect(proxy.broadcast(.note, number).queued, equals: targets) }
    context.run()
    // The last drain found nothing and put the mailbox to sleep, so none is scheduled.
    expect(proxy.registrations[0].queued?.mailbox.isAsleep == true)
    expect(!context.runTurn())
    expect(journal.all, equals: (0..<1_000).flatMap { number in (0..<targets).map { "\($0) \(number)" } })
    withExtendedLifetime(clerks) {}
  }

  @Test("a context without messages ends its drain and runs nothing", arguments: [1, 100])
  func idle(messages: Int) throws {
    let adder = Adder()
    let mailbox = try #require(proxy.add(adder, delivery: .on(context)).queued?.mailbox)
    for number in 0..<messages { proxy.broadcast(.note, number) }
    expect(!mailbox.isAsleep)
    expect(context.runTurn())
    // The drain ended by itself, and no sender schedules another one.
    expect(mailbox.isAsleep)
    expect(!context.runTurn())
    expect(adder.sum, equals: messages * (messages - 1) / 2)
    withExtendedLifetime(adder) {}
  }

  @Test("where a sender has not written yet, the turn ends, and that sender begins the next one", arguments: [1, 2])
  func awaitedSender(targets: Int) throws {
    let clerks = (0..<targets).map { Clerk("\($0)", journal) }
    for clerk in clerks { proxy.add(clerk, delivery: .on(context)) }
    for number in 0..<3 { proxy.broadcast(.note, number) }
    // A sender reserves the next slot and is interrupted; two other messages follow.
    let plan = try #require(proxy.core.begin("note:").plan)
    let group = plan.list[0].takeUnretainedValue()
    let type = ObjectIdentifier(((Int) -> Void).self)
    guard case .behind(let batch, let place) = group.enter(type) else {
      Issue.record("no place in a batch")
      return
    }
    proxy.broadcast(.note, 4)
    proxy.broadcast(.say, "behind")
    let expected = (0..<3).flatMap { number in (0..<targets).map { "\($0) \(number)" } }
    expect(context.runTurn())
    expect(journal.all, equals: expected)
    // Nothing runs, and no other message wakes the context.
    expect(!context.runTurn())
    proxy.broadcast(.note, 5)
    expect(!context.runTurn())
    batch._withUnsafeGuaranteedRef { batch in
      let slots = unsafeDowncast(batch, to: TypedBatch<Void, Int>.self).slots
      (slots + (place - batch.first)).initialize(to: Arguments(values: 3))
    }
    group.wrote(batch, place)
    context.run()
    let rest = (3...4).flatMap { number in (0..<targets).map { "\($0) \(number)" } }
    let behind = (0..<targets).map { "\($0): behind" } + (0..<targets).map { "\($0) 5" }
    expect(journal.all, equals: expected + rest + behind)
    expect(!context.runTurn())
    withExtendedLifetime(clerks) {}
  }

  @Test("a context that waited for a sender is scheduled once, however many messages arrive before the sender's")
  func awaitedOnce() throws {
    let adder = Adder()
    proxy.add(adder, delivery: .on(context))
    for number in 0..<3 { proxy.broadcast(.note, number) }
    let group = try #require(proxy.core.begin("note:").plan).list[0].takeUnretainedValue()
    guard case .behind(let batch, let place) = group.enter(ObjectIdentifier(((Int) -> Void).self)) else {
      Issue.record("no place in a batch")
      return
    }
    expect(context.runTurn())
    batch._withUnsafeGuaranteedRef { batch in
      let slots = unsafeDowncast(batch, to: TypedBatch<Void, Int>.self).slots
      (slots + (place - batch.first)).initialize(to: Arguments(values: 3))
    }
    group.wrote(batch, place)
    for number in 4..<8 { proxy.broadcast(.note, number) }
    expect(context.runTurn())
    // On a parallel context a second drain would run beside the first.
    expect(!context.runTurn())
    expect(adder.sum, equals: 28)
    withExtendedLifetime(adder) {}
  }

  @Test("a drain may end in the middle of a batch, and the next drain continues there", arguments: [1, 2])
  func turnEnds(targets: Int) {
    let context = TurnContext(turn: 4)
    let clerks = (0..<targets).map { Clerk("\($0)", journal) }
    for clerk in clerks { proxy.add(clerk, delivery: .on(context)) }
    for number in 0..<30 { proxy.broadcast(.note, number) }
    var before = 0
    while context.runTurn() {
      expect(journal.all.count - before <= 4)
      before = journal.all.count
    }
    expect(journal.all, equals: (0..<30).flatMap { number in (0..<targets).map { "\($0) \(number)" } })
    withExtendedLifetime(clerks) {}
  }

  @Test("messages of other selectors, types and forms keep their place in the order")
  func mixed() {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .on(context))
    var expected: [String] = []
    for round in 0..<20 {
      for number in 0..<round { proxy.broadcast(.note, number) }
      expected += lines("a", 0..<round)
      if round.isMultiple(of: 2) {
        proxy.broadcast(.say, "\(round)")
        expected.append("a: \(round)")
      }
      if round.isMultiple(of: 3) {
        proxy.broadcast(.noteDouble, Double(1_000 + round))
        expected.append("a \(1_000 + round)")
      }
      if round.isMultiple(of: 5) {
        proxy.broadcast(Invocation("note:", arguments: [ArgumentBox(2_000 + round)]))
        expected.append("a \(2_000 + round)")
      }
      if round.isMultiple(of: 7) { context.run() }
    }
    context.run()
    expect(journal.all, equals: expected)
    withExtendedLifetime(clerk) {}
  }

  @Test("a message sent by a target during a batch runs after the messages posted before it")
  func sentFromInside() {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .on(context))
    clerk.onNote { [proxy] number in if number == 3 { proxy.broadcast(.note, 100) } }
    for number in 0..<5 { proxy.broadcast(.note, number) }
    proxy.broadcast(.say, "before")
    context.run()
    expect(journal.all, equals: lines("a", 0..<5) + ["a: before", "a 100"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a message sent by a target during a batch joins the batch unless another was sent in between")
  func joinedFromInside() {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .on(context))
    clerk.onNote { [proxy] number in
      guard number == 3 else { return }
      proxy.broadcast(.note, 100)
      proxy.broadcast(.say, "then")
      proxy.broadcast(.note, 101)
    }
    for number in 0..<4 { proxy.broadcast(.note, number) }
    context.run()
    expect(journal.all, equals: lines("a", 0..<4) + ["a 100", "a: then", "a 101"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a target that sends to itself for each message does not prolong its drain", arguments: [1, 2])
  func sendsToItself(targets: Int) {
    let context = TurnContext(turn: 8)
    let clerks = (0..<targets).map { Clerk("\($0)", journal) }
    for clerk in clerks { proxy.add(clerk, delivery: .on(context)) }
    clerks[0].onNote { [proxy] number in if number < 200 { proxy.broadcast(.note, number + 3) } }
    for number in 0..<3 { proxy.broadcast(.note, number) }
    var (turns, before) = (0, 0)
    while context.runTurn() {
      expect(journal.all.count - before <= 8)
      (turns, before) = (turns + 1, journal.all.count)
    }
    expect(turns >= 203 * targets / 8)
    expect(journal.all, equals: (0..<203).flatMap { number in (0..<targets).map { "\($0) \(number)" } })
    withExtendedLifetime(clerks) {}
  }

  @Test(
    "a target that its own method removes or mutes receives no further message", arguments: [true, false])
  func stops(removes: Bool) {
    let clerk = Clerk("a", journal)
    let registration = proxy.add(clerk, delivery: .on(context))
    for number in 0..<20 { proxy.broadcast(.note, number) }
    clerk.onNote { if $0 == 9 { removes ? registration.cancel() : registration.mute() } }
    context.run()
    expect(journal.all, equals: lines("a", 0..<10))
    expect(registration.dropped, equals: 10)
    withExtendedLifetime(clerk) {}
  }

  @Test("a target whose owner releases it during its method is deallocated then and receives no further message")
  func dies() {
    let owner = Locked<Clerk?>(Clerk("a", journal))
    let registration = owner.withLock { $0 }.map { proxy.add($0, delivery: .on(context)) }
    let neighbour = Clerk("b", journal)
    let told = MulticastProxy<any Member>()
    told.add(neighbour, delivery: .on(context))
    for number in 0..<20 { proxy.broadcast(.note, number) }
    owner.withLock { $0 }?.onNote { number in
      guard number == 9 else { return }
      owner.withLock { $0 = nil }
    }
    context.run()
    expect(journal.all, equals: lines("a", 0..<10))
    expect(registration?.dropped, equals: 10)
    expect(registration?.target == nil)
    expect(proxy.count, equals: 0)
    withExtendedLifetime(neighbour) {}
  }

  @Test("a drain does not retain its targets after it ends")
  func released() {
    weak var target: Clerk?
    do {
      let clerk = Clerk("a", journal)
      target = clerk
      proxy.add(clerk, delivery: .on(context))
      for number in 0..<10 { proxy.broadcast(.note, number) }
      context.run()
      withExtendedLifetime(clerk) {}
    }
    expect(journal.all.count, equals: 10)
    expect(target == nil)
  }

  @Test("an argument is released with its own message, not with later ones")
  func argumentsGo() {
    let cargo = Locked<[WeakCargo]>([])
    let alive = Locked<[Int]>([])
    let carrier = Carrier { number in
      let count = cargo.withLock { $0.filter { $0.cargo != nil }.count }
      alive.withLock { $0.append(count + number) }
    }
    proxy.add(carrier, delivery: .on(context))
    for number in 0..<20 {
      let made = Cargo(number)
      cargo.withLock { $0.append(WeakCargo(cargo: made)) }
      proxy.broadcast(.load, made)
    }
    context.run()
    // Each message's argument is released before the next message.
    expect(alive.withLock { $0 }, equals: Array(repeating: 20, count: 20))
    expect(cargo.withLock { $0.allSatisfy { $0.cargo == nil } })
    withExtendedLifetime(carrier) {}
  }

  @Test("a method that throws is reported, and the following messages still run")
  func throwing() {
    struct Refusal: Error {}
    let told = Journal()
    proxy.onError = { told.write("\($0.selector) \($0.error)") }
    let clerk = Clerk("a", journal)
    clerk.onNote { if $0 % 5 == 4 { throw Refusal() } }
    proxy.add(clerk, delivery: .on(context))
    for number in 0..<10 { proxy.broadcast(.note, number) }
    context.run()
    expect(journal.all, equals: lines("a", 0..<10))
    expect(told.all, equals: ["note: Refusal()", "note: Refusal()"])
    withExtendedLifetime(clerk) {}
  }

  @Test("messages that wait when the proxy is released still reach its targets")
  func proxyEnds() {
    let clerk = Clerk("a", journal)
    do {
      let proxy = MulticastProxy<any Member>()
      proxy.add(clerk, delivery: .on(context))
      for number in 0..<100 { proxy.broadcast(.note, number) }
    }
    context.run()
    expect(journal.all, equals: lines("a", 0..<100))
    withExtendedLifetime(clerk) {}
  }

  @Test("four concurrent senders lose no message, and each sender's messages stay in order", arguments: [1, 2])
  func senders(targets: Int) throws {
    let (queue, each) = (DispatchQueue(label: "stream"), 5_000)
    let clerks = (0..<targets).map { _ in Carrier.Log() }
    for clerk in clerks { proxy.add(clerk, delivery: .queue(queue)) }
    DispatchQueue.concurrentPerform(iterations: 4) { sender in
      for number in 0..<each { proxy.broadcast(.note, number * 4 + sender) }
    }
    try proxy.drainBlocking(timeout: .seconds(600))
    for clerk in clerks {
      expect(clerk.got.count, equals: 4 * each)
      for sender in 0..<4 {
        expect(clerk.got.filter { $0 % 4 == sender }, equals: (0..<each).map { $0 * 4 + sender })
      }
    }
    withExtendedLifetime(clerks) {}
  }

  @Test(
    "a stream allocates less than once in ten messages",
    .enabled(if: AllocationCounter.isAvailable))
  func allocations() throws {
    let adder = Adder()
    proxy.add(adder, delivery: .on(context))
    var streams = 0
    func stream() {
      for number in 0..<1_000 { proxy.broadcast(.note, number) }
      streams += 1
    }
    let blocks = try withTablesUnchanged {
      stream()
      context.run()
      defer { context.run() }
      return try #require(AllocationCounter.count(.thisThread) { stream() })
    }
    expect(blocks <= 100)
    expect(adder.sum, equals: streams * 499_500)
    withExtendedLifetime(adder) {}
  }
}

private struct WeakCargo: Sendable {
  weak let cargo: Cargo?
}

extension Carrier {
  /// The received messages in order. Used on its queue; read after a drain.
  fileprivate final class Log: Member, MessageReceiver, @unchecked Sendable {
    private(set) var got: [Int] = []
    static let selectorTable = SelectorTable(for: Log.self) {
      Responds(to: .note) { log, number in log.got.append(number) }
    }
  }
}
