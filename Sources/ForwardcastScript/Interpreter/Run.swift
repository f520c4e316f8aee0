// Run.swift: what one run of a script has used, and the bounds on it.

import Forwardcast
import Synchronization

/// One run: its counters and its first passed limit. Shared by every thread that works for it; all of it is atomic or
/// under a lock.
final class Run: Sendable {
  static let sendLimit = 64
  /// Units of ``Work`` that one run may take for each of its steps.
  static let workPerStep = 1024
  /// Units that a run may take however few its steps are.
  static let leastWork = 1 << 24
  /// Units after which a step looks again whether it was cancelled: some milliseconds.
  static let workBetweenLooks = 1 << 22
  /// Failed expectations that are kept as values; further ones are reported and counted.
  static let keptFailures = 1000

  private let world: World
  private let workLimit: Int
  private let steps = Atomic<Int>(0)
  private let work = Atomic<Int>(0)
  private let limit = Mutex<ScriptError?>(nil)
  private let hasPassedLimit = Atomic<Bool>(false)
  private let failed = Mutex<(count: Int, kept: [ScriptError])>((0, []))
  private let unawaited = Atomic<Int>(0)
  private let eventSteps = Atomic<Int>(0)
  /// For each queue: the statement whose message is served there.
  private let places = Mutex<[ObjectIdentifier: (offset: Int, source: SourceText)]>([:])

  init(_ world: World) { (self.world, workLimit) = (world, ScriptSession.workLimit(forSteps: world.stepLimit)) }

  /// Counts a statement or a send.
  /// - Throws: `limit exceeded` when there were too many, here or elsewhere in the run.
  func step(at offset: Int, of source: SourceText) throws {
    try check()
    let count = steps.wrappingAdd(1, ordering: .relaxed).newValue
    do { try checkCancelled() } catch { throw pass(error, offset, source) }
    let most = world.stepLimit
    if count > most { throw pass(ScriptFault(.limitExceeded, "more than \(most) steps"), offset, source) }
    if count & 0x3FF == 0 {
      world.handlers.progress?(ScriptProgress(steps: count, stepLimit: most, source: source, offset: offset))
    }
  }

  /// Counts work that is not a statement and not a send, in units of ``Work``. A step of much work may be cancelled in its
  /// midst.
  /// - Throws: `limit exceeded` when there was too much, here or elsewhere in the run.
  func charge(_ units: Int) throws {
    let (before, done) = work.wrappingAdd(units, ordering: .relaxed)
    if done > workLimit {
      throw ScriptFault(.limitExceeded, "messages, values and output of over \(workLimit) units of work")
    }
    if before / Run.workBetweenLooks != done / Run.workBetweenLooks { try checkCancelled() }
  }

  private func checkCancelled() throws(ScriptFault) {
    if world.handlers.isCancelled?() ?? false { throw ScriptFault(.limitExceeded, "the run was cancelled") }
  }

  /// Shows an error that does not end the run, and charges that.
  /// - Throws: `limit exceeded`, which is remembered: it may have nobody to be thrown to.
  private func show(_ error: ScriptError) throws {
    do { try charge(8 * Work.make) } catch let fault { throw located(fault, at: error.offset, of: error.source) }
    world.handlers.diagnostics(error)
  }

  var workDone: Int { work.load(ordering: .relaxed) }

  /// Throws the limit that was passed, if one was: whoever caught it in between.
  func check() throws {
    guard hasPassedLimit.load(ordering: .relaxed) else { return }
    if let error = limit.withLock({ $0 }) { throw error }
  }

  /// Gives an error its place. A passed limit is remembered, so that the run ends whatever catches the error.
  func located(_ error: any Error, at offset: Int, of source: SourceText) -> ScriptError {
    if let error = error as? ScriptError { return error }
    let fault = ScriptFault(error)
    return fault.code == .limitExceeded ? pass(fault, offset, source) : ScriptError(fault, at: offset, of: source)
  }

  private func pass(_ fault: ScriptFault, _ offset: Int, _ source: SourceText) -> ScriptError {
    let error = ScriptError(fault, at: offset, of: source)
    let first = limit.withLock { limit in
      if limit == nil { limit = error }
      return limit ?? error
    }
    hasPassedLimit.store(true, ordering: .releasing)
    return first
  }

  // MARK: Messages

  /// Who pays for the messages of a statement, and knows its place wherever they go.
  func budget(at offset: Int, of source: SourceText) -> MessageBudget {
    let way = MessageWay(world.limits)
    return MessageBudget { [self] item, count in
      try check()
      let count = item == .passed ? count * world.weightOfTable : count
      do {
        try checkCancelled()
        try charge(Work.price(of: item) * count)
        try way.pass(item, count)
      } catch let fault {
        throw located(fault, at: offset, of: source)
      }
      // Whatever the target throws in its turn on a queue is of this statement.
      if item == .target, let mark = ScriptQueue.current {
        places.withLock { $0[ObjectIdentifier(mark)] = (offset, source) }
      }
    }
  }

  /// Gives an error of the running turn its place: its own, or that of the statement whose message is served.
  private func located(_ error: any Error) -> ScriptError {
    let place = ScriptQueue.current.flatMap { mark in places.withLock { $0[ObjectIdentifier(mark)] } }
    return located(error, at: place?.offset ?? 0, of: place?.source ?? SourceText("", name: "queue"))
  }

  /// Counts and shows an error of a queued delivery that nobody waited for. A passed limit ends the run, which reports it.
  func note(unawaited failure: any Error) {
    let error = located(failure)
    if error.code == .limitExceeded { return }
    unawaited.wrappingAdd(1, ordering: .relaxed)
    try? show(error)
  }
  var unawaitedErrors: Int { unawaited.load(ordering: .relaxed) }

  /// A number for the events of one turn, which nothing else has: those of the library are above 0.
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

/// The proxies, questions and hooks of one message or question, and the registrations that it passes by: a step ends in time,
/// whatever it leads to. Targets are steps of their own.
final class MessageWay: Sendable {
  private let limits: ScriptLimits
  private let proxies = Atomic<Int>(0)
  private let registrations = Atomic<Int>(0)

  init(_ limits: ScriptLimits) { self.limits = limits }

  func pass(_ item: MessageBudget.Item, _ count: Int) throws(ScriptFault) {
    switch item {
    case .target, .queued, .step: return
    case .passed:
      if registrations.wrappingAdd(count, ordering: .relaxed).newValue > limits.registrations {
        throw ScriptFault(.limitExceeded, "one message passes more than \(limits.registrations) registrations")
      }
    case .proxy, .question, .hook:
      if proxies.wrappingAdd(count, ordering: .relaxed).newValue > limits.proxies {
        throw ScriptFault(.limitExceeded, "one message passes more than \(limits.proxies) proxies")
      }
    }
  }
}

/// The number under which a proxy has told of the turn that begins, for the row that runs in it.
final class ToldTurn: Sendable {
  private let number = Atomic<Int>(0)

  func begin(_ step: Int) { number.store(step, ordering: .relaxed) }
  /// The number, once; `nil` where no proxy has told.
  func take() -> Int? {
    let step = number.exchange(0, ordering: .relaxed)
    return step == 0 ? nil : step
  }
}

/// A message that a script has sent and that has not been answered yet.
///
/// It travels with the message as a task-local value: through the library's tables and proxies to the row that runs,
/// which learns from it how deep it is and whose budget it uses. A delivery on a queue starts without it, on a stack of
/// its own, and uses the budget of the run in progress.
final class SendInProgress: Sendable {
  @TaskLocal static var current: SendInProgress?

  let run: Run
  /// How many sends are in progress, this one included.
  let depth: Int
  /// Whether it is part of the making of a service, which others may be waiting for.
  let isMaking: Bool
  /// What the sender makes of the answers; `nil` takes the last.
  let policy: CollectPolicy?
  /// Whether it is part of a `collect`, which throws the first error of its targets; `errors` gives them all.
  let isCollecting: Bool
  /// To whom it was sent; `nil` for what the session itself makes.
  let receiver: ScriptReference?
  private let rows = Atomic<Int>(0)
  let turn = ToldTurn()

  init(run: Run, depth: Int, isMaking: Bool = false, policy: CollectPolicy? = nil, receiver: ScriptReference? = nil) {
    (self.run, self.depth, self.policy, self.receiver) = (run, depth, policy, receiver)
    self.isMaking = isMaking || SendInProgress.current?.isMaking ?? false
    isCollecting = policy != nil || SendInProgress.current?.isCollecting ?? false
  }

  /// Counts a row that begins, and gives its number in the order of delivery, from 1.
  func beginRow() -> Int { rows.wrappingAdd(1, ordering: .relaxed).newValue }
}
