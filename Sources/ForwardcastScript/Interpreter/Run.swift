// Run.swift: one run of a script, with its counters and limits.

import Forwardcast
import ForwardcastCenters
import Synchronization

/// One run, with its counters and the first limit that it exceeded. All threads of a run share it.
final class Run: Sendable {
  static let sendLimit = 64
  /// The work limit has this many units of ``Work`` for each step of the step limit.
  static let workPerStep = 1024
  /// The units that every run's work limit has in addition to those for its steps.
  static let leastWork = 1 << 24
  /// A charge checks for cancellation after this many units, which take at most 42 milliseconds.
  static let workBetweenLooks = 1 << 22
  /// The number of failed expectations that are stored. Later failures are reported and counted.
  static let keptFailures = 1000

  private let world: World
  /// The thread of the session during this run. `nil` for a host's call outside of a run, which may
  /// come from any thread.
  private let thread: ThreadIdentity?
  private let workLimit: Int
  private let steps: Atomic<Int>
  private let work: Atomic<Int>
  private let workAtProgress = Atomic<Int>(0)
  private let limit = Mutex<ScriptError?>(nil)
  private let hasPassedLimit = Atomic<Bool>(false)
  private let failed = Mutex<(count: Int, kept: [ScriptError])>((0, []))
  private let unawaited = Atomic<Int>(0)
  private let eventSteps = Atomic<Int>(0)
  private let hasEnded = Atomic<Bool>(false)
  /// For each queue, the statement that sent the message which runs on the queue.
  private let places = Mutex<[ObjectIdentifier: (offset: Int, source: SourceText)]>([:])

  /// - Parameter earlier: a run whose counters this run continues.
  init(_ world: World, after earlier: Run? = nil, isShared: Bool = false) {
    thread = isShared ? nil : .current
    (self.world, workLimit) = (world, ScriptSession.workLimit(forSteps: world.stepLimit))
    steps = Atomic(earlier?.stepsTaken ?? 0)
    work = Atomic(earlier?.workDone ?? 0)
  }

  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  func end() { hasEnded.store(true, ordering: .releasing) }

  /// Whether the current thread is that of the session. It may also run deliveries on queues.
  var isOnThread: Bool { thread == .current }

  /// Counts a step, see ``ScriptOutcome/steps``.
  /// - Throws: `limit exceeded`, for this step or for a limit that the run exceeded before.
  func step(at offset: Int, of source: SourceText) throws {
    try check()
    let count = steps.wrappingAdd(1, ordering: .relaxed).newValue
    let most = world.stepLimit
    do { try checkCancelled() } catch { throw located(error, at: offset, of: source) }
    if count > most { throw located(ScriptError(.limitExceeded, "more than \(most) steps"), at: offset, of: source) }
    let done = work.load(ordering: .relaxed)
    if count & 0x3FF == 0 || done - workAtProgress.load(ordering: .relaxed) >= Run.workBetweenLooks {
      workAtProgress.store(done, ordering: .relaxed)
      world.handlers.progress?(ScriptProgress(steps: count, stepLimit: most, source: source, offset: offset))
    }
  }

  /// Counts work beyond steps, in units of ``Work``. Checks for cancellation at intervals.
  /// - Throws: `limit exceeded`.
  func charge(_ units: Int) throws {
    let (before, done) = work.wrappingAdd(units, ordering: .relaxed)
    try ScriptError.limit(done <= workLimit, "more than \(workLimit) units of work for messages, values and output")
    if before / Run.workBetweenLooks != done / Run.workBetweenLooks { try checkCancelled() }
  }

  private func checkCancelled() throws(ScriptError) {
    try ScriptError.limit(!(world.handlers.isCancelled?() ?? false), "the run was canceled")
  }

  /// Charges for an error that does not end the run, and reports the error. If the charge exceeds a
  /// limit, the run stores the limit, since the caller might be unable to throw.
  private func show(_ error: ScriptError) throws {
    do { try charge(8 * Work.make) } catch let limit { throw located(limit, at: error.offset, of: error.source) }
    world.handlers.diagnostics(error)
  }

  var workDone: Int { work.load(ordering: .relaxed) }

  /// - Throws: `limit exceeded` if a limit was exceeded, even if that error was caught.
  func check() throws {
    guard hasPassedLimit.load(ordering: .relaxed) else { return }
    if let error = limit.withLock({ $0 }) { throw error }
  }

  /// Gives an error its position. Stores an exceeded limit, so that it ends the run in any case.
  func located(_ error: any Error, at offset: Int, of source: SourceText) -> ScriptError {
    let found = ScriptError(error)
    let error = found.placed(at: offset, of: source)
    if found.isPlaced || error.code != .limitExceeded { return error }
    let first = limit.withLock { limit in
      if limit == nil { limit = error }
      return limit ?? error
    }
    hasPassedLimit.store(true, ordering: .releasing)
    return first
  }

  /// A budget that charges a statement's messages to this run, and locates errors at the statement.
  func budget(at offset: Int, of source: SourceText) -> MessageBudget {
    let way = MessageWay(world.limits)
    return MessageBudget { [self] item, count in
      // A task of the host can outlive the run. So can messages on queues, which are still charged.
      if isOver, ScriptQueue.current == nil { return }
      try check()
      let count = item == .passed ? count * world.weightOfTable : count
      do {
        try checkCancelled()
        try charge(Work.price(of: item) * count)
        try way.pass(item, count)
      } catch {
        throw located(error, at: offset, of: source)
      }
      // If the target on the queue throws, its error belongs to this statement.
      if item == .target, let mark = ScriptQueue.current {
        places.withLock { $0[ObjectIdentifier(mark)] = (offset, source) }
      }
    }
  }

  /// Locates an error without a position at the statement whose message runs on the queue.
  private func located(_ error: any Error) -> ScriptError {
    let place = ScriptQueue.current.flatMap { mark in places.withLock { $0[ObjectIdentifier(mark)] } }
    return located(error, at: place?.offset ?? 0, of: place?.source ?? SourceText("", name: "queue"))
  }

  /// Counts and reports an error of a queued delivery that no sender waited for. The run itself
  /// reports an exceeded limit when it ends.
  func note(unawaited failure: any Error) {
    let error = located(failure)
    if error.code == .limitExceeded { return }
    unawaited.wrappingAdd(1, ordering: .relaxed)
    try? show(error)
  }
  var unawaitedErrors: Int { unawaited.load(ordering: .relaxed) }

  /// A unique number for the events of one execution. It is negative, unlike the library's numbers.
  func nextEventStep() -> Int { eventSteps.wrappingSubtract(1, ordering: .relaxed).newValue }

  func fail(_ failure: ScriptError) throws {
    failed.withLock {
      $0.count += 1
      if $0.kept.count < Run.keptFailures { $0.kept.append(failure) }
    }
    try show(failure)
  }

  var failures: (count: Int, kept: [ScriptError]) { failed.withLock { $0 } }
  var stepsTaken: Int { min(steps.load(ordering: .relaxed), world.stepLimit) }
}

/// Counts proxies, queries, hooks and registrations of a message, to limit the time of a step.
final class MessageWay: Sendable {
  private let limits: ScriptLimits
  private let proxies = Atomic<Int>(0)
  private let registrations = Atomic<Int>(0)

  init(_ limits: ScriptLimits) { self.limits = limits }

  func pass(_ item: MessageBudget.Item, _ count: Int) throws(ScriptError) {
    switch item {
    case .target, .queued, .step: return
    case .passed:
      let passed = registrations.wrappingAdd(count, ordering: .relaxed).newValue
      let most = limits.registrations
      try ScriptError.limit(passed <= most, "one message visits more than \(most) registrations")
    case .proxy, .question, .hook:
      let passed = proxies.wrappingAdd(count, ordering: .relaxed).newValue
      let most = limits.proxies
      try ScriptError.limit(passed <= most, "one message visits more than \(most) proxies and hooks")
    }
  }
}

/// Passes the number that a method's events share, `MessageEvent.step`, from proxy to method.
final class ToldTurn: Sendable {
  private let number = Atomic<Int>(0)

  func begin(_ step: Int) { number.store(step, ordering: .relaxed) }
  func take() -> Int? {
    let step = number.exchange(0, ordering: .relaxed)
    return step == 0 ? nil : step
  }
}

/// A message that a script has sent and that has no answer yet.
///
/// A task-local value passes this object, with its depth and its run, to the method that runs. A
/// delivery on a queue has no such value, so it belongs to the innermost run.
final class SendInProgress: Sendable {
  @TaskLocal static var ofTask: SendInProgress?

  /// The caller's message. `nil` if its run is over, since a task of the host can outlive the run.
  static var current: SendInProgress? { ofTask.flatMap { $0.run.isOver ? nil : $0 } }

  let run: Run
  let depth: Int
  /// The centers of the services that are being created. Queued methods may wait for the services.
  let making: [ServiceCenter]
  /// The policy of a `collect`; `nil` for other sends, whose result is the last answer.
  let policy: CollectPolicy?
  let receiver: ScriptReference?
  private let rows = Atomic<Int>(0)
  let turn = ToldTurn()

  init(
    run: Run, depth: Int, making: ServiceCenter? = nil, policy: CollectPolicy? = nil, receiver: ScriptReference? = nil
  ) {
    (self.run, self.depth, self.policy, self.receiver) = (run, depth, policy, receiver)
    self.making = (SendInProgress.current?.making ?? []) + (making.map { [$0] } ?? [])
  }

  func beginRow() -> Int { rows.wrappingAdd(1, ordering: .relaxed).newValue }
}
