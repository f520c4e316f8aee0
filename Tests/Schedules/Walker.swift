// Walker.swift: every order of the steps of a few threads, each once.
//
// Stateless search over executions of the real code. `ScheduleExplorer` and `TurnThread` of ForwardcastTesting are compiled
// beside this file: the one chooses, the other lends threads. Two executions that differ only in the order of steps that do not
// conflict count as one schedule.

import Dispatch
import Foundation
import Synchronization

@testable import Forwardcast

/// Dispatch's own: the library's name of it is the one that stops.
private typealias Signal = Dispatch.DispatchSemaphore

/// For `TurnThread`, whose threads are none of the walk's: a lock that does not stop. Others say `Forwardcast.Guarded`.
struct Guarded<Value>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  init(_ value: sending Value) { mutex = Mutex(value) }
  borrowing func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
    mutex.withLock(body)
  }
}

/// What a schedule did wrong, and how to see it again.
struct Violation: Error, CustomStringConvertible {
  let text: String
  let schedule: [String]
  var description: String { text + "\n" + schedule.map { "    " + $0 }.joined(separator: "\n") }
}

/// Runs threads one step at a time, in every order that can matter.
final class Walker: StepScheduler, @unchecked Sendable {  // only the thread whose step it is touches it
  private final class Strand: @unchecked Sendable {  // only the thread whose step it is touches it
    let number: Int
    let name: String
    var pending: Step
    /// The steps that come before its next one for another reason than what they do.
    var causes: [Int]
    let turn = Signal(value: 0)
    var lastStep: Int?
    var hasEnded = false
    /// How many critical sections it is in that are no steps.
    var sectionsOutside = 0

    init(_ number: Int, _ name: String, _ pending: Step, _ causes: [Int]) {
      (self.number, self.name, self.pending, self.causes) = (number, name, pending, causes)
    }
  }

  private var explorer = Walker.newExplorer()
  private static func newExplorer() -> ScheduleExplorer { ScheduleExplorer(.every, limit: .max, .messages) }
  private var strands: [Strand] = []
  private var taken: [(strand: Strand, step: Step)] = []
  private var owners: [UInt: Strand] = [:]
  /// The steps with which critical sections began that have not ended.
  private var sections: [UInt: Int] = [:]
  private var failure: String?
  private let finished = Signal(value: 0)
  /// Objects from before the walk are the process's caches: they are no steps.
  private var firstObject: UInt = 0
  private let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0)
    return key
  }()
  /// Is given the steps of the first schedule of a walk.
  var begun: (([String]) -> Void)?

  // MARK: The search

  /// Runs `scenario` once for each schedule. Gives who chose.
  ///
  /// - Parameters:
  ///   - scenario: makes the objects, starts strands with ``start(_:after:_:)``, and gives what looks at the result.
  ///   - limit: after how many executions it ends, whether or not there are more.
  func walk(_ scenario: (Walker) -> () -> String?, upTo limit: Int) throws -> ScheduleExplorer {
    // The first runs fill caches.
    for _ in 0..<3 {
      firstObject = Steps.newObject()
      explorer = Walker.newExplorer()
      explorer.free()
      _ = execute(scenario)
    }
    firstObject = Steps.newObject()
    explorer = Walker.newExplorer()
    var isOver = false
    while !isOver {
      explorer.begin()
      if let text = execute(scenario) { throw Violation(text: text, schedule: lines) }
      if explorer.orders == 0 { begun?(lines) }
      isOver = !explorer.end() || explorer.orders + explorer.repeated >= limit
    }
    return explorer
  }

  private func execute(_ scenario: (Walker) -> () -> String?) -> String? {
    (strands, taken, owners, sections, failure) = ([], [], [:], [:], nil)
    Steps.restart(from: firstObject)
    Steps.scheduler = self
    let check = scenario(self)
    goOn(nil)
    finished.wait()
    Steps.scheduler = nil
    return failure ?? check()
  }

  /// The schedule in words: who did what.
  private var lines: [String] { taken.map { "\($0.strand.name)  \($0.step.kind) \($0.step.place)" } }

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
    let strand = Strand(strands.count, name, begin, current == nil ? [] : [explorer.currentStep])
    strands.append(strand)
    TurnThread.run { [self] in
      pthread_setspecific(key, Unmanaged.passUnretained(strand).toOpaque())
      strand.turn.wait()
      if let last = before?.lastStep { strand.causes.append(last) }
      body()
      strand.hasEnded = true
      pthread_setspecific(key, nil)
      goOn(nil)
    }
    return strand.number
  }

  /// Whether the calling thread is one of the walk.
  var isInside: Bool { current != nil }

  /// Runs `body` as one step, which conflicts with every other.
  func step(_ name: StaticString, _ body: () -> Void) {
    reach(Step(.everything, 0, Place(name, 0)))
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
    if current?.lastStep == explorer.currentStep { use(kind, object) }
  }

  private func use(_ kind: Step.Kind, _ object: UInt) {
    switch kind {
    case .begin: break
    case .everything: explorer.use(.everything)
    case .read, .write, .lock, .wait: explorer.use(StepAccess(object: Int(object), writes: kind != .read))
    }
  }

  func left(_ object: UInt) {
    guard let strand = current else { return }
    if object < firstObject {
      strand.sectionsOutside -= 1
    } else if let section = sections.removeValue(forKey: object) {
      owners[object] = nil
      explorer.release(section)
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
    let blocked = waiting.map(\.number).filter { number in !ready.contains { $0.number == number } }
    guard
      let number = explorer.choose(
        ready.map { ($0.number, $0.number) }, blocked: blocked,
        staying: ready.contains { $0 === caller } ? caller?.number : nil)
    else { preconditionFailure("the same choices led elsewhere: \(lines)") }
    let chosen = strands[number]
    take(chosen)
    if chosen === caller { return }
    chosen.turn.signal()
    caller?.turn.wait()
  }

  /// A strand takes its next step.
  private func take(_ strand: Strand) {
    let step = strand.pending.now
    explorer.beginStep(strand.number, after: strand.causes)
    (strand.causes, strand.lastStep) = ([], explorer.currentStep)
    use(step.kind, step.object)
    if step.kind == .lock {
      owners[step.object] = strand
      sections[step.object] = explorer.currentStep
    }
    taken.append((strand, step))
  }
}
