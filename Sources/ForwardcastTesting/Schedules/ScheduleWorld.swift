// ScheduleWorld.swift: one run of a program, turn by turn.

import Dispatch
import Forwardcast

/// One run of a program, in which one turn runs at a time and the explorer chooses the next.
///
/// A turn is a job of a task, the delivery of a message, or an advance of the clock. Each turn has
/// its own thread, so it can be interrupted in a synchronous function. An interrupted turn signals
/// the thread of the next turn, and waits.
final class ScheduleWorld: TaskExecutor, @unchecked Sendable {  // used by the turn in control; other state has locks
  /// Jobs and posts that came from threads outside of the schedule.
  private struct Outside {
    var jobs: [UnownedJob] = []
    var posted: [String] = []
    /// Called at the end of the run, and `nil` afterward.
    var end: (@Sendable () -> Void)?
  }

  /// A posted message, for the report of a deadlock.
  private struct Sent {
    /// Becomes `nil` when the message's targets have ended.
    weak var envelope: Envelope?
    let sender: ScheduleLane
    let note: ScheduleNote
    var hasBegun = false
  }

  let explorer: ScheduleExplorer
  let clock = TestClock()
  /// Forwardcast calls the controller where threads of the run may be interrupted.
  private(set) var controller: ThreadController?
  private var lanes: [ScheduleLane] = []
  private var tasks: [UInt64: ScheduleLane] = [:]
  private var contexts: [String: ScheduleContext] = [:]
  private let outside = Guarded(Outside())
  private let cameFromOutside = DispatchSemaphore(value: 0)
  /// The lanes in the order of their steps; `notes` says what the lanes did.
  private(set) var order: [Int] = []
  /// False once a replayed order did not fit the program.
  private(set) var fits = true
  private(set) var notes: [ScheduleNote] = []
  private var sent: [Sent] = []
  /// The first failure; any thread may report one.
  let problem = Guarded<TestFailure?>(nil)
  /// The error of the body, which may be the consequence of another failure.
  var thrown: TestFailure?

  private let place: SourcePlace
  private var isBodyOver = false
  /// The turns of the clock since the last turn of the body. A repeating timer takes endless turns.
  private var advances = 0
  /// True if a turn may still be running after the end.
  private(set) var isGivenUp = false
  /// The number of steps. If it stops growing, a turn hangs.
  let progress = Guarded(0)

  private let patience = Schedule.patience.outside

  init(_ explorer: ScheduleExplorer, at place: SourcePlace) {
    (self.explorer, self.place) = (explorer, place)
    controller = ThreadController(
      meet: { [unowned self] in meet($0) }, reach: { [unowned self] in step() },
      wait: { [unowned self] in block(until: $0, $1) })
  }

  func fail(_ text: String, at place: SourcePlace? = nil) {
    problem.withLock { $0 = $0 ?? TestFailure(place: place ?? self.place, text: text) }
  }

  /// Reports a failure. The rest of the run may follow any order.
  private func abandon(_ text: String) {
    fail(text)
    explorer.isFree = true
  }

  // MARK: Beginning and end

  func start(_ body: @escaping @Sendable () async -> Void, end: @escaping @Sendable () -> Void) {
    _ = OutsideTasks.areTaken
    explorer.begin()
    outside.withLock { $0.end = end }
    lanes = [ScheduleLane(.task, "body", number: 0), ScheduleLane(.clock, "clock", number: 1)]
    Task(executorPreference: self) { [self] in
      await body()
      isBodyOver = true
    }
    TurnThread.run { [self] in goOn() }
  }

  private func finish() {
    for context in contexts.values.sorted(by: { $0.number < $1.number }) { context.end() }
    (contexts, lanes) = ([:], [])
    takeEnd()?()
  }

  /// Reports a turn that does not end, and ends the run.
  func giveUp(_ text: String) {
    guard let end = takeEnd() else { return }
    fail(text)
    isGivenUp = true
    end()
  }

  private func takeEnd() -> (@Sendable () -> Void)? {
    OutsideTasks.forget(self)
    return outside.withLock { $0.end.take() }
  }

  // MARK: Choosing

  /// Runs turns on this thread until an interrupted turn continues on its own thread.
  private func goOn() {
    while let lane = choose(nil) {
      if let turn = lane.turn { return turn.goOn() }
      run(lane)
    }
    finish()
  }

  private func choose(_ staying: ScheduleLane?) -> ScheduleLane? {
    takeFromOutside()
    var ready = lanes.filter(isReady)
    if ready.isEmpty, !isBodyOver || lanes.contains(where: { $0.turn != nil }) {
      // Waits for a job or message from a thread outside the schedule, to report it as the failure.
      if cameFromOutside.wait(timeout: .now() + patience) == .success {
        takeFromOutside()
        ready = lanes.filter(isReady)
      }
      if ready.isEmpty {
        abandon(waitingText)
        return nil
      }
    }
    if ready.isEmpty { return nil }
    // After 1000 turns of the clock, other turns come first, so a timer does not delay them.
    if advances >= 1000 { ready.removeAll { $0 === lanes[1] } }
    if ready.isEmpty {
      abandon(
        "schedule.clock has advanced \(advances) times since the body \(isBodyOver ? "ended" : "began to wait"); "
          + "cancel repeating timers before the body ends")
      return nil
    }
    let isStaying = staying.map { lane in ready.contains { $0 === lane } } ?? false
    var number = explorer.choose(ready.map(\.number), staying: isStaying ? staying?.number : nil)
    if number == nil {
      fits = !explorer.isReplay
      abandon(
        (explorer.isReplay
          ? "the replayed order does not fit the program, which may have changed since"
          : "the program behaved differently in the same order of turns")
          + ": at turn \(order.count + 1), these are ready: " + ready.map(\.name).joined(separator: ", ")
          + (explorer.isReplay ? "" : "; use no random numbers, real time or hash orders in the body"))
      number = ready[0].number
    }
    guard let lane = ready.first(where: { $0.number == number }) else { return nil }
    order.append(lane.number)
    if lane === lanes[0] { advances = 0 }
    progress.withLock { $0 += 1 }
    if lane.turn != nil { notes.append(ScheduleNote(kind: .goesOn, lane: lane.name)) }
    return lane
  }

  private func isReady(_ lane: ScheduleLane) -> Bool {
    if let turn = lane.turn { return turn.isReady() }
    return switch lane.kind {
    case .task: lane.job != nil
    case .mailbox(let context, _): context.isReady(lane)
    case .clock: nextTime != nil
    }
  }

  private func run(_ lane: ScheduleLane) {
    let turn = Turn(lane, self)
    lane.turn = turn
    turn.run {
      switch lane.kind {
      case .task:
        notes.append(ScheduleNote(kind: .turn, lane: lane.name))
        guard let job = lane.job else { return }
        lane.job = nil
        job.runSynchronously(on: asUnownedTaskExecutor())
      case .mailbox(let context, let mailbox):
        let entry = lane.entries.removeFirst()
        context.begin(turn)
        sent[entry.number].hasBegun = true
        var note = sent[entry.number].note
        note.kind = .delivery
        notes.append(note)
        lane.delivery = note
        context.run {
          context.within { mailbox.open(entry.envelope) }
          // Opens the envelopes that run no code of the program.
          while let entry = lane.entries.first, entry.envelope.isSilent {
            lane.entries.removeFirst()
            mailbox.open(entry.envelope)
          }
        }
        context.holder = nil
      case .clock:
        guard let next = nextTime else { return }
        notes.append(ScheduleNote(kind: .turn, lane: "clock: \(next.offset)"))
        clock.advance(by: clock.now.duration(to: next))
        advances += 1
      }
    }
    lane.turn = nil
  }

  // MARK: Steps of turns

  /// A point at which other lanes may continue.
  func step() {
    guard let turn = Turn.running, turn.world === self, let lane = choose(turn.lane), lane !== turn.lane else { return }
    if let other = lane.turn {
      other.goOn()
    } else {
      TurnThread.run { [self] in
        run(lane)
        goOn()
      }
    }
    turn.pause()
  }

  func posted(_ mailbox: Mailbox, on context: ScheduleContext) {
    guard let turn = Turn.running, turn.world === self else { return noteOutside { $0.posted.append(context.name) } }
    let lane = context.lane(mailbox) ?? makeLane(.mailbox(context, mailbox), context.name)
    var isPoint = false
    for envelope in mailbox.takePosted() {
      if envelope.isSilent, lane.entries.isEmpty, context.holder == nil {
        mailbox.open(envelope)
        continue
      }
      let group = envelope.keptGroup
      lane.entries.append(
        ScheduleLane.Entry(envelope: envelope, kept: group, number: sent.count))
      let note = ScheduleNote(kind: .posted, lane: context.name, message: group?.selector, sender: turn.lane.name)
      sent.append(Sent(envelope: envelope, sender: turn.lane, note: note))
      if envelope.isSilent { continue }
      context.noteWoken(lane)
      if note.message != nil { notes.append(note) }
      isPoint = true
    }
    if isPoint { step() }
  }

  /// Blocks the running turn until `isDone`, or until a time on the schedule's clock.
  private func block(until deadline: Deadline, _ isDone: @escaping @Sendable () -> Bool) -> Bool {
    guard let turn = Turn.running else { return isDone() }
    if deadline != .never {
      // Rounded up to milliseconds, to ignore the real time since the deadline was created.
      let (seconds, attoseconds) = deadline.remaining.components
      let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
      turn.deadline = clock.now.advanced(by: .milliseconds(milliseconds))
    }
    turn.isReady = { [clock] in isDone() || turn.deadline.map { $0 <= clock.now } == true }
    while !turn.isReady() {
      step()
      if explorer.isFree, !turn.isReady() { break }
    }
    (turn.isReady, turn.deadline) = ({ true }, nil)
    return isDone()
  }

  /// The earliest time on the clock for which a turn or a task waits.
  private var nextTime: TestClock.Instant? {
    let now = clock.now
    let deadlines = lanes.compactMap { $0.turn?.deadline }.filter { $0 > now }
    return (deadlines + (clock.nextDeadline.map { [$0] } ?? [])).min()
  }

  func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  func enqueue(_ job: UnownedJob) {
    guard let turn = Turn.running, turn.world === self else {
      if order.isEmpty, !lanes.isEmpty, lanes[0].job == nil {
        lanes[0].job = job
        if let number = job.taskNumber { tasks[number] = lanes[0] }
        return
      }
      return noteOutside { $0.jobs.append(job) }
    }
    add(job, by: turn.lane)
  }

  private func add(_ job: UnownedJob, by maker: ScheduleLane) {
    let number = job.taskNumber
    let lane: ScheduleLane
    if let known = number.flatMap({ tasks[$0] }) {
      lane = known
    } else {
      let made = maker.delivery.map { " (\($0.name) on \($0.lane))" } ?? ""
      let name = number == nil ? "an actor" : "task \(tasks.count)" + made
      lane = makeLane(.task, name)
      if let number { tasks[number] = lane }
    }
    lane.job = job
  }

  private func makeLane(_ kind: ScheduleLane.Kind, _ name: String) -> ScheduleLane {
    let lane = ScheduleLane(kind, name, number: lanes.count)
    lanes.append(lane)
    if case .mailbox(let context, _) = kind { context.lanes.append(lane) }
    return lane
  }

  func context(_ name: String, isMain: Bool = false) -> ScheduleContext {
    if let context = contexts[name] { return context }
    let context = ScheduleContext(name, isMain: isMain, number: contexts.count, in: self)
    contexts[name] = context
    return context
  }

  private func meet(_ context: any DeliveryContext) {
    if context is ScheduleContext { return }
    fail(
      "\(context.name) does not belong to the schedule, so the schedule cannot order its turns; "
        + "use schedule.queue(_:), schedule.actor(_:) or schedule.mainActor in its place")
  }

  private func noteOutside(_ change: (inout Outside) -> Void) {
    let isOver = outside.withLock { outside in
      if outside.end != nil { change(&outside) }
      return outside.end == nil
    }
    if !isOver { cameFromOutside.signal() }
  }

  private func takeFromOutside() {
    let (jobs, posted) = outside.withLock { (exchange(&$0.jobs, with: []), exchange(&$0.posted, with: [])) }
    let tasks = jobs.map { $0.taskNumber.flatMap { self.tasks[$0]?.name } ?? "a task" }
    for name in tasks + posted.map({ "a message to \($0)" }) {
      abandon(
        "\(name) came from a thread outside the schedule: the program waits for real time, the main actor, an executor or a "
          + "queue; use schedule.clock and the schedule's deliveries instead")
    }
    for job in jobs { add(job, by: lanes[0]) }
  }

  /// Says which turn waits for which in a deadlock. Omits tasks whose wait only the runtime knows.
  private var waitingText: String {
    var lines = ["deadlock: no turn can continue, and the \(isBodyOver ? "turn of a target" : "body") has not ended:"]
    for lane in lanes {
      let awaited = sent.filter { $0.sender === lane && $0.envelope?.isAwaited == true }
      if !awaited.isEmpty {
        let messages = awaited.map { "\($0.note.name) on \($0.note.lane)" }
        lines.append("\(lane.name) waits for \(messages.joined(separator: ", "))")
      } else if lane.turn != nil {
        lines.append("\(lane.name) blocks in its turn")
      } else if lane === lanes[0], !isBodyOver {
        lines.append("\(lane.name) waits for something other than a message that it sent")
      }
    }
    for message in sent where message.note.message != nil && message.envelope != nil {
      let note = message.note
      lines.append(
        "\(note.name) on \(note.lane), sent by \(note.sender), has not \(message.hasBegun ? "ended" : "begun")")
    }
    return lines.joined(separator: "\n  ")
  }
}
