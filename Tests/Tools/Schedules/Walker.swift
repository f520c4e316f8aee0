// Walker.swift: every order of the steps of a few threads, each once.
//
// Stateless search over executions of the real code with partial-order reduction: source sets and sleep sets as in
// Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014). Two executions that differ
// only in the order of steps that do not conflict count as one schedule.

import Dispatch
import Foundation

@testable import Forwardcast

/// Dispatch's own: the library's name of it is the one that stops.
private typealias Signal = Dispatch.DispatchSemaphore

/// What a schedule did wrong, and how to see it again.
struct Violation: Error, CustomStringConvertible {
  let text: String
  let schedule: [String]
  var description: String { text + "\n" + schedule.map { "    " + $0 }.joined(separator: "\n") }
}

/// What was walked.
struct Walk {
  /// Schedules that were run to their end.
  var schedules = 0
  /// Executions that turned out to be a schedule that was known.
  var redundant = 0
  var longest = 0
  /// Whether there are more, which were not run.
  var isCut = false
}

/// Runs threads one step at a time, in every order that can matter.
final class Walker: StepScheduler, @unchecked Sendable {  // only the thread whose step it is touches it
  private final class Strand: @unchecked Sendable {  // only the thread whose step it is touches it
    let number: Int
    let name: String
    var pending: Step
    /// The last event of each strand that came before its next step.
    var clock: [Int]
    let turn = Signal(value: 0)
    var hasEnded = false
    /// How many critical sections it is in that are no steps.
    var sectionsOutside = 0

    init(_ number: Int, _ name: String, _ pending: Step, _ clock: [Int]) {
      (self.number, self.name, self.pending, self.clock) = (number, name, pending, clock)
    }
  }

  private struct Event {
    let strand: Int
    let step: Step
    /// What a test looked at or changed in the same step.
    var touched: Step?
    /// How many events of its strand there are with it.
    let index: Int
    var clock: [Int]
    /// What came before the end of the critical section, once it has ended.
    var release: [Int]?

    func conflicts(with other: Step) -> Bool {
      step.conflicts(with: other) || touched?.conflicts(with: other) ?? false
    }
  }

  /// A choice that has been made, and those that are left.
  private struct Node {
    /// The next steps of the strands that could go on.
    let ready: [Int: Step]
    /// All next steps.
    let pending: [Int: Step]
    var chosen: Int
    var planned: Set<Int>
    var done: Set<Int> = []
    /// Strands whose next step was explored from an earlier state, and has met nothing since that conflicts with it.
    let asleep: [Int: Step]
  }

  private var nodes: [Node] = []
  private var events: [Event] = []
  private var strands: [Strand] = []
  private var owners: [UInt: Int] = [:]
  private var sections: [UInt: Int] = [:]
  private var isRedundant = false
  private var failure: String?
  private let finished = Signal(value: 0)
  /// Objects from before the walk are the process's caches: they are no steps.
  private var firstObject: UInt = 0
  private let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0)
    return key
  }()
  private let pool = ThreadPool()
  /// Is given the steps of the first schedule of a walk.
  var begun: (([String]) -> Void)?

  // MARK: The search

  /// Runs `scenario` once for each schedule.
  ///
  /// - Parameters:
  ///   - scenario: makes the objects, starts strands with ``start(_:after:_:)``, and gives what looks at the result.
  ///   - limit: after how many executions it ends, whether or not there are more.
  func walk(_ scenario: (Walker) -> () -> String?, upTo limit: Int) throws -> Walk {
    nodes = []
    var walk = Walk()
    // The first runs fill caches.
    for _ in 0..<3 {
      firstObject = Steps.newObject()
      _ = execute(scenario, explores: false)
    }
    firstObject = Steps.newObject()
    repeat {
      if let text = execute(scenario, explores: true) { throw Violation(text: text, schedule: lines) }
      if isRedundant { walk.redundant += 1 } else { walk.schedules += 1 }
      walk.longest = max(walk.longest, events.count)
      if walk.schedules == 1 { begun?(lines) }
      if walk.schedules + walk.redundant >= limit {
        walk.isCut = next()
        break
      }
    } while next()
    return walk
  }

  /// Goes back to the last choice that has an alternative, and takes it.
  private func next() -> Bool {
    while var node = nodes.popLast() {
      node.done.insert(node.chosen)
      let left = node.planned.subtracting(node.done).subtracting(node.asleep.keys)
      if let chosen = left.min() {
        node.chosen = chosen
        nodes.append(node)
        return true
      }
    }
    return false
  }

  private func execute(_ scenario: (Walker) -> () -> String?, explores: Bool) -> String? {
    (events, strands, owners, sections, isRedundant, failure) = ([], [], [:], [:], !explores, nil)
    Steps.restart(from: firstObject)
    Steps.scheduler = self
    let check = scenario(self)
    goOn(nil)
    finished.wait()
    Steps.scheduler = nil
    return failure ?? check()
  }

  /// The schedule in words: who did what.
  private var lines: [String] {
    events.map { "\(strands[$0.strand].name)  \($0.step.kind) \($0.step.place)" }
  }

  // MARK: Strands

  private var current: Strand? {
    guard let pointer = pthread_getspecific(key) else { return nil }
    return Unmanaged<Strand>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// A new strand, which the running one starts, if any does. Gives its number.
  ///
  /// - Parameter predecessor: a strand that has to end before.
  @discardableResult
  func start(_ name: String, after predecessor: Int? = nil, _ body: @escaping @Sendable () -> Void) -> Int {
    let before = predecessor.map { strands[$0] }
    let begin = Step(.begin, 0, "") { before?.hasEnded ?? true }
    let strand = Strand(strands.count, name, begin, current?.clock ?? [])
    strands.append(strand)
    pool.run { [self] in
      pthread_setspecific(key, Unmanaged.passUnretained(strand).toOpaque())
      strand.turn.wait()
      if let before { strand.clock.join(before.clock) }
      body()
      strand.hasEnded = true
      pthread_setspecific(key, nil)
      goOn(nil)
    }
    return strand.number
  }

  /// Whether the calling thread is one of the walk.
  var isInside: Bool { current != nil }

  /// Runs `body` as one step, which conflicts with every other. It takes locks without further steps, so nobody may be in one.
  func step(_ name: StaticString, _ body: () -> Void) {
    reach(Step(.everything, 0, Place(name, 0)) { [unowned self] in owners.isEmpty })
    current?.sectionsOutside += 1
    body()
    current?.sectionsOutside -= 1
  }

  func reach(_ step: Step) {
    guard let strand = current else { return }
    if step.object != 0, step.object < firstObject {
      if step.kind == .lock { strand.sectionsOutside += 1 }
      return
    }
    if strand.sectionsOutside > 0 { return }
    strand.pending =
      step.kind == .lock
      ? Step(.lock, step.object, step.place) { [unowned self] in owners[step.object] == nil } : step
    goOn(strand)
  }

  /// Says that the running strand's last step also looks at an object of the test, or changes it.
  func touch(_ kind: Step.Kind, _ object: UInt) {
    guard let strand = current, let mine = events.indices.last, events[mine].strand == strand.number else { return }
    let step = Step(kind, object, "test")
    for place in events[..<mine].indices.reversed() {
      let event = events[place]
      guard event.strand != strand.number, event.conflicts(with: step) else { continue }
      if isNew(mine), strand.clock.at(event.strand) < event.index { plan(place, strand, step) }
      strand.clock.join(event.release ?? event.clock)
    }
    (events[mine].touched, events[mine].clock) = (step, strand.clock)
  }

  func left(_ object: UInt) {
    guard let strand = current else { return }
    if object < firstObject {
      strand.sectionsOutside -= 1
    } else if let section = sections.removeValue(forKey: object) {
      owners[object] = nil
      events[section].release = strand.clock
    }
  }

  /// Chooses who takes the next step and lets it; returns when the caller is to take its own.
  private func goOn(_ caller: Strand?) {
    let waiting = strands.filter { !$0.hasEnded }
    let ready = waiting.filter { $0.pending.isReady() }
    guard !ready.isEmpty else {
      if !waiting.isEmpty {
        failure =
          "nothing goes on, waiting: " + waiting.map { "\($0.name) at \($0.pending.place)" }.joined(separator: ", ")
        print(Violation(text: failure ?? "", schedule: lines))
        exit(1)  // Threads that wait for ever cannot be used again.
      }
      finished.signal()
      return
    }
    let chosen = strands[choose(ready, waiting, caller)]
    take(chosen)
    if chosen === caller { return }
    chosen.turn.signal()
    caller?.turn.wait()
  }

  private func choose(_ ready: [Strand], _ waiting: [Strand], _ caller: Strand?) -> Int {
    if isRedundant { return (ready.first { $0 === caller } ?? ready[0]).number }
    let depth = events.count
    if depth < nodes.count {
      let chosen = nodes[depth].chosen
      precondition(
        ready.contains { $0.number == chosen }, "the same choices led elsewhere: strand \(chosen) cannot go on")
      return chosen
    }
    let steps = { (list: [Strand]) in Dictionary(uniqueKeysWithValues: list.map { ($0.number, $0.pending) }) }
    var asleep: [Int: Step] = [:]
    if let parent = nodes.last, let last = events.last {
      asleep = parent.asleep
      for strand in parent.done { asleep[strand] = parent.pending[strand] }
      // Which steps will look at what a test has changed is not known before.
      if last.touched?.kind == .write { asleep = [:] }
      asleep = asleep.filter { $0.key != last.strand && !last.conflicts(with: $0.value) }
    }
    let awake = ready.filter { asleep[$0.number] == nil }
    guard let chosen = awake.first(where: { $0 === caller }) ?? awake.first else {
      isRedundant = true
      return (ready.first { $0 === caller } ?? ready[0]).number
    }
    nodes.append(
      Node(
        ready: steps(ready), pending: steps(waiting), chosen: chosen.number, planned: [chosen.number], asleep: asleep))
    return chosen.number
  }

  // MARK: Events

  /// Whether the event at a place was not there the last time: races among earlier ones were seen then.
  private func isNew(_ place: Int) -> Bool { !isRedundant && place + 1 >= nodes.count }

  /// Notes that a strand takes its next step, and plans the other order of each pair of steps that race.
  private func take(_ strand: Strand) {
    let step = strand.pending.now
    var clock = strand.clock
    for place in events.indices.reversed() {
      let event = events[place]
      guard event.strand != strand.number, event.conflicts(with: step) else { continue }
      if isNew(events.count), clock.at(event.strand) < event.index { plan(place, strand, step) }
      clock.join(event.release ?? event.clock)
    }
    let index = strand.clock.at(strand.number) + 1
    clock.set(strand.number, index)
    strand.clock = clock
    if step.kind == .lock {
      owners[step.object] = strand.number
      sections[step.object] = events.count
    }
    events.append(Event(strand: strand.number, step: step, index: index, clock: clock))
  }

  /// Sees to it that some execution has the step before the event that it races with.
  private func plan(_ place: Int, _ strand: Strand, _ step: Step) {
    let event = events[place]
    // A step that could not have been taken then does not race: the event is what let it go on.
    if let then = nodes[place].pending[strand.number], nodes[place].ready[strand.number] == nil,
      then.kind == step.kind, then.object == step.object
    {
      return
    }
    // What can come first without the event: the first of each strand that nothing else has to precede.
    var initials: [Int] = []
    var others: [Event] = []
    for other in events[(place + 1)...] where other.clock.at(event.strand) < event.index {
      if !others.contains(where: { other.clock.at($0.strand) >= $0.index }) { initials.append(other.strand) }
      others.append(other)
    }
    if !others.contains(where: { strand.clock.at($0.strand) >= $0.index || $0.conflicts(with: step) }) {
      initials.append(strand.number)
    }
    let node = nodes[place]
    if initials.contains(where: node.planned.contains) { return }
    if let first = initials.first(where: { node.ready[$0] != nil }) {
      nodes[place].planned.insert(first)
    } else {
      nodes[place].planned.formUnion(node.ready.keys)
    }
  }
}

extension [Int] {
  fileprivate func at(_ index: Int) -> Int { index < count ? self[index] : 0 }

  fileprivate mutating func set(_ index: Int, _ value: Int) {
    while count <= index { append(0) }
    self[index] = value
  }

  fileprivate mutating func join(_ other: [Int]) {
    for index in other.indices where other[index] > at(index) { set(index, other[index]) }
  }
}

/// Threads that are used again: starting one costs more than a schedule.
private final class ThreadPool: @unchecked Sendable {  // `idle` has a lock
  private final class Worker: @unchecked Sendable {  // handed over by the semaphore
    let work = Signal(value: 0)
    var body: (@Sendable () -> Void)?
  }

  private let lock = NSLock()
  private var idle: [Worker] = []

  func run(_ body: @escaping @Sendable () -> Void) {
    lock.lock()
    let worker = idle.popLast()
    lock.unlock()
    if let worker {
      worker.body = body
      worker.work.signal()
      return
    }
    let new = Worker()
    new.body = body
    let thread = Thread { [self] in
      while true {
        let body = new.body
        new.body = nil
        body?()
        lock.lock()
        idle.append(new)
        lock.unlock()
        new.work.wait()
      }
    }
    thread.stackSize = 4 << 20
    thread.start()
  }
}
