// PlainDeliveryTests.swift: many typed messages to other contexts, with exceptions among them.

import CoreTestSupport
import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

/// A context whose drains deliver several envelopes, run by the test.
private final class BatchContext: DeliveryContext {
  private let woken = Locked<[Mailbox]>([])
  let name = "batches"
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
  var turn: Int { 4 }
  var isCurrent: Bool { isHeld }
  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) { woken.withLock { $0.append(mailbox) } }
  var waiting: Int { woken.withLock { $0.count } }

  func run() {
    while let mailbox = woken.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { mailbox.drain() }
  }
}

/// Waits at a gate, and may find its target busy again when the gate opens.
private final class Visitor: Envelope, @unchecked Sendable {  // used on one thread
  private let (name, gate, journal): (String, SerialGate, Journal)
  var findsItBusy = false

  init(_ name: String, at gate: SerialGate, _ journal: Journal) {
    (self.name, self.gate, self.journal) = (name, gate, journal)
  }

  override func resume(_ index: Int, in mailbox: Mailbox) {
    guard findsItBusy else { return journal.write(name) }
    findsItBusy = false
    mailbox.close(gate, before: self, index)
  }
}

@Suite("Plain deliveries to other contexts")
struct PlainDeliveryTests {
  private let proxy = MulticastProxy<any Member>()
  private let journal = Journal()
  private let context = BatchContext()

  @Test("an empty mailbox is asleep after its drain, and is not woken before the next message")
  func sleepsWhenEmpty() {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .on(context))
    for number in 0..<10 { proxy.broadcast(.note, number) }
    expect(context.waiting, equals: 1)
    context.run()
    expect(journal.all, equals: (0..<10).map { "a \($0)" })
    expect(context.waiting, equals: 0)
    expect(proxy.registrations[0].queued?.mailbox.isAsleep == true)
    context.run()
    expect(proxy.registrations[0].queued?.mailbox.delivered, equals: 10)
    proxy.broadcast(.note, 10)
    expect(context.waiting, equals: 1)
    context.run()
    withExtendedLifetime(clerk) {}
  }

  @Test("muted, removed and dead targets on the same context receive nothing, and are counted")
  func outOfTheOrdinary() {
    let (a, b, c) = (Clerk("a", journal), Clerk("b", journal), Clerk("c", journal))
    var d: Clerk? = Clerk("d", journal)
    for clerk in [a, b, c] { proxy.add(clerk, delivery: .on(context)) }
    let last = d.map { proxy.add($0, delivery: .on(context)) }
    let registrations = proxy.registrations
    proxy.broadcast(.note, 1)
    proxy.mute(a)
    registrations[1].cancel()
    d = nil
    context.run()
    expect(journal.all, equals: ["c 1"])
    expect(registrations.map(\.dropped), equals: [1, 1, 0, 1])
    expect(proxy.count, equals: 2)
    proxy.unmute(a)
    proxy.broadcast(.note, 2)
    context.run()
    expect(journal.all, equals: ["c 1", "a 2", "c 2"])
    withExtendedLifetime((a, b, c, last)) {}
  }

  @Test("converting, asynchronous and throwing methods receive messages among plain ones")
  func otherMethods() async throws {
    final class Odd: Member, MessageReceiver {
      let journal: Journal
      init(_ journal: Journal) { self.journal = journal }
      static let selectorTable = SelectorTable(for: Odd.self) {
        Responds(to: "note:") { (odd: Odd, number: Double) in odd.journal.write("odd \(number)") }
      }
    }
    struct Refusal: Error {}
    let told = Journal()
    proxy.onError = { told.write("\($0.selector) \($0.error)") }
    let (plain, odd) = (Clerk("a", journal), Odd(journal))
    plain.onNote { if $0 == 2 { throw Refusal() } }
    let queue = DispatchQueue(label: "odd")
    proxy.add(plain, delivery: .queue(queue))
    proxy.add(odd, delivery: .queue(queue))
    for number in 1...3 { proxy.broadcast(.note, number) }
    try await proxy.drain()
    expect(journal.all, equals: ["a 1", "odd 1.0", "a 2", "odd 2.0", "a 3", "odd 3.0"])
    expect(told.all, equals: ["note: Refusal()"])
    withExtendedLifetime((plain, odd)) {}
  }

  @Test("a message behind a suspended method waits for it, also in a flood")
  func behindSuspended() async throws {
    let clerk = Clerk("a", journal)
    proxy.add(clerk, delivery: .queue(DispatchQueue(label: "flood")))
    let turnstile = Turnstile.shut(4730)
    proxy.broadcast(.slow, 4730)
    for number in 1...3 { proxy.broadcast(.note, number) }
    await turnstile.arrived(1)
    expect(journal.all, equals: ["a begins 4730"])
    turnstile.open()
    try await proxy.drain()
    expect(journal.all, equals: ["a begins 4730", "a ends 4730", "a 1", "a 2", "a 3"])
    withExtendedLifetime(clerk) {}
  }

  @Test("a message that finds its target busy again stays first in line, and an open gate keeps no message")
  func placesAtGate() {
    let (mailbox, gate) = (Mailbox(context), SerialGate())
    let visitors = ["first", "second"].map { Visitor($0, at: gate, journal) }
    mailbox.close(gate)
    for visitor in visitors { expect(mailbox.park(visitor, 0, at: gate)) }
    visitors[0].findsItBusy = true
    mailbox.reopen(gate)
    context.run()
    expect(journal.all, equals: [])
    expect(mailbox.hasClosedGates)
    mailbox.reopen(gate)
    context.run()
    expect(journal.all, equals: ["first", "second"])
    expect(!mailbox.hasClosedGates)
  }

  @Test("a mailbox still knows its other closed gates when one opens, in any order")
  func severalGates() {
    let (mailbox, gates) = (Mailbox(context), (0..<3).map { _ in SerialGate() })
    for gate in gates { mailbox.close(gate) }
    for (index, left) in [(0, [2, 1]), (2, [1]), (1, [])] {
      mailbox.reopen(gates[index])
      context.run()
      expect(mailbox.closedGates.map(ObjectIdentifier.init), equals: left.map { ObjectIdentifier(gates[$0]) })
    }
  }

  @Test("messages that wait when the proxy is released reach the targets or are dropped, without a leak")
  func proxyEnds() {
    final class Argument: Sendable {}
    let clerk = Clerk("a", journal)
    weak var argument: Argument?
    do {
      let proxy = MulticastProxy<any Member>()
      proxy.add(clerk, delivery: .on(context))
      proxy.broadcast(.note, 1)
      let made = Argument()
      argument = made
      proxy.broadcast(Message<(Argument) -> Void>("unknown:"), made)
    }
    context.run()
    expect(argument == nil)
    withExtendedLifetime(clerk) {}
  }
}
