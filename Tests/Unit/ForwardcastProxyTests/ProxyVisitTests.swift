// ProxyVisitTests.swift: the state machine of one proxy's delivery, without proxies and threads.

import CoreTestSupport
import TestSupport
import Testing

@testable import Forwardcast

@Suite("Visits of proxies")
struct ProxyVisitTests {
  typealias Next = ProxyVisit.Next
  private let type = ObjectIdentifier((() -> Int).self)

  /// Five steps: a loop over two, a single step, a loop over two.
  private func visit(stopsAtFirst: Bool = false, stop: DeliveryReport.SkipReason? = nil) -> ProxyVisit {
    ProxyVisit(
      count: 5,
      segments: [StepSegment(end: 2, type: type), StepSegment(end: 3, type: nil), StepSegment(end: 5, type: type)],
      stopsAtFirst: stopsAtFirst, stop: stop)
  }

  /// All actions until the visit has finished, with loops that deliver all their steps.
  private func all(
    _ visit: inout ProxyVisit, isEnough: Bool = false, mayLoop: Bool = true, noting outcomes: [StepOutcome] = []
  ) -> [Next] {
    var (all, outcomes) = ([Next](), outcomes[...])
    while true {
      let next = visit.next(isEnough: isEnough, mayLoop: mayLoop)
      all.append(next)
      if case .loop(_, let end) = next { visit.advance(to: end) }
      if case .finished = next { return all }
      if let outcome = outcomes.popFirst() { visit.note(outcome) }
    }
  }

  @Test("neighboring steps of one type form a loop, and other steps are delivered one by one, in delivery order")
  func order() {
    var visit = visit()
    expect(all(&visit), equals: [.loop(type, end: 2), .step(2), .loop(type, end: 5), .finished])
  }

  @Test("a route whose methods have one type forms one loop")
  func wholeRoute() {
    var visit = ProxyVisit(count: 3, segments: nil, wholeType: type, stopsAtFirst: false)
    expect(all(&visit), equals: [.loop(type, end: 3), .finished])
  }

  @Test("a message that does not fit a loop is delivered step by step up to the segment's end")
  func singly() {
    var visit = visit()
    expect(visit.next(isEnough: false, mayLoop: true), equals: .loop(type, end: 2))
    visit.serveSingly(to: 2)
    expect(all(&visit), equals: [.step(0), .step(1), .step(2), .loop(type, end: 5), .finished])
    var traced = self.visit()
    expect(all(&traced, mayLoop: false), equals: (0..<5).map { .step($0) } + [.finished])
  }

  @Test("once the sender has enough answers, the remaining steps are skipped as stopped")
  func enough() {
    var visit = visit()
    expect(visit.next(isEnough: false, mayLoop: true), equals: .loop(type, end: 2))
    visit.advance(to: 2)
    expect(all(&visit, isEnough: true), equals: (2..<5).map { .skip($0, .stopped) } + [.finished])
    expect(visit.notes.stop, equals: .stopped)
  }

  @Test("a failure stops only a proxy that stops at the first error", arguments: [false, true])
  func failure(stopsAtFirst: Bool) {
    var visit = visit(stopsAtFirst: stopsAtFirst)
    visit.note(.failed(TargetError(name: "a")))
    let rest: [Next] =
      stopsAtFirst ? (0..<5).map { .skip($0, .stopped) } : [.loop(type, end: 2), .step(2), .loop(type, end: 5)]
    expect(all(&visit), equals: rest + [.finished])
    expect(visit.notes.standing, equals: .failed)
  }

  @Test("a visit that only lists calls no target, and an earlier stop reason replaces its own")
  func listing() {
    var visit = visit(stop: .withheld)
    expect(visit.next(isEnough: false, mayLoop: true), equals: .skip(0, .withheld))
    visit.stop(for: .removed)
    expect(visit.next(isEnough: false, mayLoop: true), equals: .skip(1, .removed))
    visit.skipRest()
    expect(visit.next(isEnough: false, mayLoop: true), equals: .finished)
  }

  @Test("an outcome says whether the proxy was reached, listed or has failed")
  func standing() {
    let cases: [(StepOutcome, ProxyVisit.Standing)] = [
      (.answered(nil), .reached), (.queued(slot: -1), .reached), (.failed(TargetError(name: "a")), .failed),
      (.skipped(.muted), .listed), (.skipped(.bufferFull), .reached), (.skipped(.doesNotRespond), .listed),
    ]
    for (outcome, standing) in cases {
      var visit = visit()
      expect(visit.notes.standing, equals: .silent)
      visit.note(outcome)
      expect(visit.notes.standing, equals: standing)
      visit.note(.skipped(.muted))
      expect(visit.notes.standing, equals: standing)
    }
  }

  @Test("dead targets are counted apart from other skipped ones")
  func counts() {
    var visit = visit()
    for reason in [DeliveryReport.SkipReason.dead, .muted, .dead, .removed] { visit.note(.skipped(reason)) }
    expect([visit.notes.dead, visit.notes.skipped], equals: [2, 2])
  }

  @Test("steps behind a nested proxy with a trace are served in loops", arguments: [false, true])
  func afterTrace(isAtEnd: Bool) throws {
    let (outer, inner) = (MulticastProxy<any MessageReceiver>(), MulticastProxy<any MessageReceiver>())
    let (events, observed) = (Locked(0), Locked<[Bool]>([]))
    let held = Locked<UncheckedSendable<MessageDelivery>?>(nil)
    func add() {
      outer.on(.note) { _ in
        let isObserved = held.withLock { $0?.value.observer != nil }
        observed.withLock { $0.append(isObserved) }
      }
    }
    if isAtEnd { add() }
    outer.add(inner)
    if !isAtEnd { add() }
    inner.on(.note) { _ in }
    inner.trace { _ in events.withLock { $0 += 1 } }
    let message = try OutgoingMessage(
      Invocation("note:", arguments: [.init(1)]), asks: false, along: outer.beginMessage("note:"))
    let (delivery, _) = message.delivery(
      along: outer.beginMessage("note:"), in: nil, into: SummarySink(), waiting: .none)
    held.withLock { $0 = UncheckedSendable(delivery) }
    expect(delivery.deliver() == nil && delivery.outcomes.counts.summary.delivered == 2)
    held.withLock { $0 = nil }
    expect(events.withLock { $0 } > 0)
    expect(observed.withLock { $0 }, equals: [false])
    expect(delivery.observer == nil)
  }
}

@Suite("Outcomes on their way to the result")
struct OutcomeQueueTests {
  /// A queue that records the outcomes it passes on.
  private final class Written: OutcomeQueue {
    var texts: [String] = []
    var enough = Int.max

    override func accept(_ outcome: StepOutcome, at context: Forwardcast.StepContext) -> Bool {
      texts.append(text(outcome))
      return texts.count < enough
    }
  }

  private let place = Forwardcast.StepContext(
    selector: "ping", proxies: ProxyChain(MulticastProxy<any MessageReceiver>().core))
  private func answer(_ number: Int) -> StepOutcome { .answered(ArgumentBox(number)) }
  private func queue(_ request: DeliveryRequest = DeliveryRequest(result: .answers)) -> Written {
    Written(nil, takesPlain: false, request, hasHooks: true)
  }

  @Test("outcomes behind a pending one are held back, and pass on in delivery order")
  func pending() {
    let (queue, pending) = (queue(), PendingAnswers())
    let slots = [pending.open(place), pending.open(place)]
    queue.add(answer(1), at: place, pending)
    for slot in slots { queue.add(.queued(slot: slot), at: place, pending) }
    queue.add(answer(4), at: place, pending)
    expect(queue.texts, equals: ["1"])
    pending.settle(slots[1], answer(3), from: nil)
    queue.flush(pending)
    expect(queue.texts, equals: ["1"])
    pending.settle(slots[0], answer(2), from: nil)
    queue.flush(pending)
    expect(queue.texts, equals: ["1", "2", "3", "4"])
    expect(queue.counts.reached, equals: 4)
  }

  @Test("a hook call holds outcomes back until it ends, and may replace them")
  func hookCall() {
    let queue = queue()
    queue.add(answer(1), at: place, nil)
    let start = queue.beginHookCall(true, from: 0, nil)
    queue.add(answer(2), at: place, nil)
    queue.add(.failed(TargetError(name: "a")), at: place, nil)
    expect(queue.texts, equals: ["1"])
    queue.replaceHeld(from: start, with: [Outcome(answer(7), place)])
    queue.endHookCall(true, from: 0, nil)
    expect(queue.texts, equals: ["1", "7"])
    expect(queue.held.count, equals: 0)
  }

  @Test("an inner hook call does not change the outcomes that the outer one holds")
  func nestedCalls() {
    let queue = queue()
    let outer = queue.beginHookCall(true, from: 0, nil)
    queue.add(answer(1), at: place, nil)
    let inner = queue.beginHookCall(true, from: outer, nil)
    queue.add(answer(2), at: place, nil)
    queue.replaceHeld(from: inner, with: [])
    queue.endHookCall(true, from: outer, nil)
    queue.add(answer(3), at: place, nil)
    expect(queue.texts, equals: [])
    queue.endHookCall(true, from: 0, nil)
    expect(queue.texts, equals: ["1", "3"])
  }

  /// A sender that needs answers until their sum is 5.
  private var untilFive: DeliveryRequest {
    var request = DeliveryRequest(result: .answers)
    request.makeProbe = {
      var sum = 0
      return { box in
        sum += (try? box.unbox(as: Int.self)) ?? 0
        return sum >= 5
      }
    }
    return request
  }

  @Test("the sender has enough answers when its probe says so, in order, and not behind a pending outcome")
  func probe() {
    let (queue, pending) = (queue(untilFive), PendingAnswers())
    queue.add(answer(1), at: place, pending)
    let start = queue.beginHookCall(true, from: 0, pending)
    queue.add(answer(2), at: place, pending)
    expect(!queue.isEnough)
    let slot = pending.open(place)
    queue.add(.queued(slot: slot), at: place, pending)
    queue.add(answer(9), at: place, pending)
    expect(!queue.isEnough)
    pending.settle(slot, answer(2), from: nil)
    queue.continueProbe()
    expect(queue.isEnough)
    queue.dropUnneeded(from: start)
    expect(queue.held.count, equals: 2)
    queue.endHookCall(true, from: 0, pending)
  }

  @Test("an outcome that has arrived counts when the next one is added")
  func arrived() {
    let (queue, pending) = (queue(untilFive), PendingAnswers())
    _ = queue.beginHookCall(true, from: 0, pending)
    let slot = pending.open(place)
    queue.add(.queued(slot: slot), at: place, pending)
    queue.add(answer(3), at: place, pending)
    pending.settle(slot, .skipped(.removed), from: nil)
    queue.add(answer(1), at: place, pending)
    expect(!queue.isEnough)
    queue.add(answer(1), at: place, pending)
    expect(queue.isEnough)
    queue.endHookCall(true, from: 0, pending)
  }

  @Test("a complete result accepts no further outcomes")
  func complete() {
    let queue = queue()
    queue.enough = 2
    for number in 1...4 { queue.add(answer(number), at: place, nil) }
    expect(queue.texts, equals: ["1", "2"])
    expect(queue.isEnough)
  }
}

private func text(_ outcome: StepOutcome) -> String {
  switch outcome {
  case .answered(let box): box.flatMap { try? $0.unbox(as: Int.self) }.map { "\($0)" } ?? "nil"
  case .failed(let error): "\(error)"
  case .answeredAll, .queued, .skipped: "\(outcome)"
  }
}
