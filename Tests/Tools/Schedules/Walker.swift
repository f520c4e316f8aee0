// Walker.swift: runs threads one step at a time, in orders that an explorer chooses.

import Dispatch
import Foundation

@testable import Forwardcast

/// Dispatch's own semaphore: the library's name refers to the stepped one.
private typealias Signal = Dispatch.DispatchSemaphore

/// The failure of an order, and how to reproduce it.
struct Violation: Error, CustomStringConvertible {
  let text: String
  let order: [String]
  var description: String { text + "\n" + order.map { "    " + $0 }.joined(separator: "\n") }
}

/// Runs threads one step at a time.
final class Walker: StepScheduler, @unchecked Sendable {  // used only by the stepping thread
  private final class Strand: @unchecked Sendable {  // used only by the stepping thread
    let number: Int
    let name: String
    var pending: Step
    /// Released before the strand ends, so that its captures are released in a step of the strand.
    var body: (@Sendable () -> Void)?
    let turn = Signal(value: 0)
    var hasEnded = false
    /// The number of critical sections it is in that are not steps.
    var sectionsOutside = 0

    init(_ number: Int, _ name: String, _ pending: Step, _ body: @escaping @Sendable () -> Void) {
      (self.number, self.name, self.pending, self.body) = (number, name, pending, body)
    }
  }

  private var explorer = ScheduleExplorer(.every, limit: 1)
  private var strands: [Strand] = []
  private var taken: [(strand: Strand, step: Step)] = []
  /// Objects whose critical sections are occupied.
  private var owned: Set<UInt> = []
  private var failure: String?
  private let finished = Signal(value: 0)
  /// Objects created before the walk are process-wide caches; using them is no step.
  private var firstObject: UInt = 0
  private let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0)
    return key
  }()
  private let pool = ThreadPool()
  /// Called with the steps of the first order of a walk.
  var begun: (([String]) -> Void)?

  // MARK: The search

  /// Runs `scenario` in at most `limit` orders of a search.
  ///
  /// - Parameter scenario: creates the objects, starts the strands, and returns the final check.
  func walk(
    _ scenario: (Walker) -> () -> String?, _ search: ScheduleSearch, upTo limit: Int
  ) throws -> ScheduleSummary {
    explorer = ScheduleExplorer(.every, limit: 1)
    explorer.isFree = true
    // The first runs fill caches.
    for _ in 0..<3 {
      firstObject = Steps.newObject()
      _ = execute(scenario)
    }
    firstObject = Steps.newObject()
    explorer = ScheduleExplorer(search, limit: limit)
    repeat {
      explorer.begin()
      if let text = execute(scenario) { throw Violation(text: text, order: lines) }
      if explorer.summary.orders == 0 { begun?(lines) }
    } while explorer.end()
    return explorer.summary
  }

  private func execute(_ scenario: (Walker) -> () -> String?) -> String? {
    (taken, strands, owned, failure) = ([], [], [], nil)
    Steps.restart(from: firstObject)
    Steps.scheduler = self
    let check = scenario(self)
    goOn(nil)
    finished.wait()
    Steps.scheduler = nil
    return failure ?? check()
  }

  /// The order in words: each strand and its step.
  private var lines: [String] { taken.map { "\($0.strand.name)  \($0.step)" } }

  // MARK: Strands

  private var current: Strand? {
    guard let pointer = pthread_getspecific(key) else { return nil }
    return Unmanaged<Strand>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Adds a strand that starts once the strand `after` has ended. Returns its number.
  @discardableResult
  func start(_ name: String, after predecessor: Int? = nil, _ body: @escaping @Sendable () -> Void) -> Int {
    let before = predecessor.map { strands[$0] }
    let strand = Strand(strands.count, name, Step("begins") { before?.hasEnded ?? true }, body)
    strands.append(strand)
    pool.run { [self] in
      pthread_setspecific(key, Unmanaged.passUnretained(strand).toOpaque())
      strand.turn.wait()
      strand.body?()
      strand.body = nil
      strand.hasEnded = true
      pthread_setspecific(key, nil)
      goOn(nil)
    }
    return strand.number
  }

  /// True if the calling thread is a strand of the walk.
  var isInside: Bool { current != nil }

  /// Runs `body` as one step. It takes locks without further steps, so no strand may hold one.
  func step(_ name: StaticString, _ body: () -> Void) {
    reach(Step(name) { [unowned self] in owned.isEmpty })
    current?.sectionsOutside += 1
    body()
    current?.sectionsOutside -= 1
  }

  func reach(_ step: Step) {
    guard let strand = current else { return }
    if step.object != 0, step.object < firstObject {
      if step.isLock { strand.sectionsOutside += 1 }
      return
    }
    if strand.sectionsOutside > 0 { return }
    strand.pending = step
    goOn(strand)
  }

  func left(_ object: UInt) {
    guard let strand = current else { return }
    if object < firstObject { strand.sectionsOutside -= 1 } else { owned.remove(object) }
  }

  private func isReady(_ step: Step) -> Bool { step.isLock ? !owned.contains(step.object) : step.isReady() }

  /// Chooses the strand of the next step and resumes it. Returns when the caller may take its own.
  private func goOn(_ caller: Strand?) {
    let waiting = strands.filter { !$0.hasEnded }
    let ready = waiting.filter { isReady($0.pending) }
    guard !ready.isEmpty else {
      if !waiting.isEmpty {
        stop("nothing goes on, waiting: " + waiting.map { "\($0.name) at \($0.pending)" }.joined(separator: ", "))
      }
      finished.signal()
      return
    }
    let staying = ready.first { $0 === caller }
    guard let number = explorer.choose(ready.map(\.number), staying: staying?.number) else {
      stop(
        "the same choices led elsewhere: ready are "
          + ready.map { "\($0.name) at \($0.pending)" }.joined(separator: ", "))
    }
    let chosen = strands[number]
    if chosen.pending.isLock { owned.insert(chosen.pending.object) }
    taken.append((chosen, chosen.pending))
    if chosen === caller { return }
    chosen.turn.signal()
    caller?.turn.wait()
  }

  /// Threads that wait forever cannot be reused.
  private func stop(_ text: String) -> Never {
    print(Violation(text: text, order: lines))
    exit(1)
  }
}

/// Reuses threads: starting one costs more than a schedule.
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
        new.body.take()?()
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
