// ScheduleWorld.swift: one run of a program, turn by turn.
// Layer: Testing, Schedules. See the article "How schedules work".

import Dispatch
import Forwardcast
import ForwardcastRecording

/// One run of a program in which one turn runs at a time, and the explorer chooses whose is next.
///
/// A turn is a job of a task or the delivery of a message. It runs on a thread of its own, so it can be interrupted within a
/// function that does not suspend: where a message is posted. Whoever runs chooses who is next, hands over, and waits.
final class ScheduleWorld: TaskExecutor, @unchecked Sendable {
  // All but `outside` is touched by the one turn that runs, or by who hands over; hand-overs go by semaphores.

  /// What came from threads that are not the schedule's.
  private struct Outside {
    var jobs: [UnownedJob] = []
    var isOver = false
    var places: [String] = []
    var end: (@Sendable () -> Void)?
  }

  let explorer: ScheduleExplorer
  let clock = TestClock()
  private(set) var controller: ThreadController?
  private var lanes: [ScheduleLane] = []
  private var tasks: [UInt64: ScheduleLane] = [:]
  private var contexts: [String: ScheduleContext] = [:]
  private let outside = Guarded(Outside())
  private let cameFromOutside = DispatchSemaphore(value: 0)
  /// The lanes that had a turn, in order, and what it was.
  private(set) var order: [Int] = []
  private var notes: [ScheduleNote] = []
  private(set) var problems: [TestFailure] = []
  /// What the body has thrown, which may be because of another failure.
  var thrown: TestFailure?
  /// The turns in words, and the messages as a picture.
  var turns: [String] { notes.turns }
  var diagram: SequenceDiagram { notes.diagram }

  /// Where problems are reported that belong to no line of their own.
  private let place: SourcePlace
  private var isBodyOver = false
  /// How many steps there have been, for who looks whether anything still happens.
  let progress = Guarded(0)

  init(_ explorer: ScheduleExplorer, at place: SourcePlace) {
    (self.explorer, self.place) = (explorer, place)
    controller = ThreadController(
      met: { [unowned self] in meet($0) }, reached: { [unowned self] in step() },
      waited: { [unowned self] in block(until: $0, $1) })
  }

  /// What went wrong, at a line of its own or that of the call.
  func fail(_ text: String, at place: SourcePlace? = nil) {
    problems.append(TestFailure(place: place ?? self.place, text: text))
  }

  /// The same for what makes the run another than it was to be.
  private func abandon(_ text: String) {
    fail(text)
    explorer.free()
  }

  // MARK: Beginning and end

  /// Runs `body` and everything that it starts; calls `end` when nothing is left to do.
  func start(_ body: @escaping @Sendable () async -> Void, end: @escaping @Sendable () -> Void) {
    _ = OutsideTasks.areTaken
    explorer.begin()
    outside.withLock { $0.end = end }
    lanes = [
      ScheduleLane(.task, "body", key: explorer.number(.init(parent: -1, ordinal: 0)), number: 0),
      ScheduleLane(.clock, "clock", key: explorer.number(.init(parent: -1, ordinal: 1)), number: 1),
    ]
    Task(executorPreference: self) { [self] in
      await body()
      isBodyOver = true
    }
    TurnThread.run { [self] in goOn() }
  }

  private func finish() {
    for context in contexts.values.sorted(by: { $0.number < $1.number }) { context.end() }
    (contexts, lanes) = ([:], [])
    OutsideTasks.forget(self)
    let end = outside.withLock { outside in
      outside.isOver = true
      defer { outside.end = nil }
      return outside.end
    }
    end?()
  }

  /// Says that a turn does not end, and gives up on it.
  func giveUp(_ text: String) {
    let end = outside.withLock { outside in
      defer { outside.end = nil }
      return outside.end
    }
    if end == nil { return }
    fail(text)
    OutsideTasks.forget(self)
    end?()
  }

  // MARK: Choosing

  /// Has turns run on this thread until one that was interrupted goes on elsewhere.
  private func goOn() {
    while let lane = choose(nil) {
      if let turn = lane.turn { return turn.goOn() }
      run(lane)
    }
    finish()
  }

  /// The lane that has the next step; `nil` when none can go on.
  private func choose(_ staying: ScheduleLane?) -> ScheduleLane? {
    takeFromOutside()
    var ready = lanes.filter(isReady)
    if ready.isEmpty, !isBodyOver || !lanes.allSatisfy({ $0.turn == nil }) {
      // Something that is not the schedule's may be about to come back, which is to be named.
      if cameFromOutside.wait(timeout: .now() + .milliseconds(500)) == .success {
        takeFromOutside()
        ready = lanes.filter(isReady)
      }
      if ready.isEmpty {
        abandon(waitingText)
        return nil
      }
    }
    if ready.isEmpty { return nil }
    let isStaying = staying.map { lane in ready.contains { $0 === lane } } ?? false
    var key = explorer.choose(ready.map { ($0.key, $0.number) }, staying: isStaying ? staying?.key : nil)
    if key == nil {
      abandon(
        "the program did something else than before in the same order of turns: at turn \(order.count + 1) ready are "
          + ready.map(\.name).joined(separator: ", ") + " — does it use random numbers, the time, or a hash order?")
      key = ready[0].key
    }
    guard let lane = ready.first(where: { $0.key == key }) else { return nil }
    explorer.beginStep(lane.key, after: lane.turn == nil ? lane.entries.first?.cause ?? lane.cause : nil)
    order.append(lane.number)
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

  /// Runs the next turn of a lane, which has not begun.
  private func run(_ lane: ScheduleLane) {
    let turn = Turn(lane, self)
    lane.turn = turn
    lane.sent = []
    let first = explorer.currentStep
    turn.run {
      switch lane.kind {
      case .task:
        notes.append(ScheduleNote(kind: .turn, lane: lane.name))
        guard let job = lane.job else { return }
        lane.job = nil
        job.runSynchronously(on: asUnownedTaskExecutor())
      case .mailbox(let context, let mailbox):
        guard !lane.entries.isEmpty else { return }
        let entry = lane.entries.removeFirst()
        context.begin(turn)
        explorer.touch(number(of: context, "turns"))
        if context.lanes.count > 1 { explorer.touch(number(of: context, "line")) }
        let note = ScheduleNote(
          kind: .delivery, lane: context.name, message: entry.envelope.selector, sender: entry.sender)
        notes.append(note)
        context.run { [self] in
          context.within { mailbox.open(entry.envelope) }
          openSilent(lane)
        }
        context.holder = nil
        explorer.release(first)
        opened.append(Opened(envelope: entry.envelope, note: note))
      case .clock:
        guard let next = nextTime else { return }
        notes.append(ScheduleNote(kind: .turn, lane: "clock: \(next.offset)"))
        clock.advance(by: clock.now.duration(to: next))
      }
    }
    lane.turn = nil
  }

  /// Opens what runs nobody's code and has nothing before it.
  private func openSilent(_ lane: ScheduleLane) {
    guard case .mailbox(_, let mailbox) = lane.kind else { return }
    while let entry = lane.entries.first, entry.envelope.isSilent {
      lane.entries.removeFirst()
      mailbox.open(entry.envelope)
    }
  }

  // MARK: What turns do

  /// A point at which others may go on.
  func step() {
    guard let turn = Turn.current, turn.world === self else { return }
    guard let lane = choose(turn.lane) else { return }
    if lane === turn.lane { return }
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

  /// Takes over what was posted to a context.
  func posted(_ mailbox: Mailbox, on context: ScheduleContext) {
    guard let turn = Turn.current, turn.world === self else {
      let isOver = outside.withLock { $0.isOver }
      if !isOver { noteOutside("a message to \(context.name)", nil) }
      return
    }
    let lane =
      context.lane(mailbox)
      ?? makeLane(.mailbox(context, mailbox), context.name, by: turn.lane, joins: context)
    var isPoint = false
    for envelope in mailbox.takePosted() {
      if envelope.isSilent, lane.entries.isEmpty, context.holder == nil {
        mailbox.open(envelope)
        continue
      }
      lane.entries.append(
        ScheduleContext.Entry(
          envelope: envelope, mailbox: mailbox, kept: envelope.keptElsewhere, cause: explorer.currentStep,
          sender: turn.lane.name))
      if envelope.isSilent { continue }
      context.noteWoken(lane)
      explorer.touch(number(of: context, "line"))
      if let message = envelope.selector {
        turn.lane.sent.append((message, context.name))
        notes.append(ScheduleNote(kind: .posted, lane: context.name, message: message, sender: turn.lane.name))
      }
      isPoint = true
    }
    if isPoint { step() }
  }

  /// Blocks the running turn until `isDone`, or until the time has come on the schedule's clock.
  private func block(until deadline: Deadline, _ isDone: @escaping @Sendable () -> Bool) -> Bool {
    guard let turn = Turn.current else { return isDone() }
    if deadline != .never {
      // Whole milliseconds: what has passed since the deadline was made is no time of this world.
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

  /// When the clock is to be moved to next.
  private var nextTime: TestClock.Instant? {
    let blocked = lanes.compactMap(\.turn?.deadline).filter { $0 > clock.now }
    return (blocked + [clock.nextDeadline].compactMap { $0 }).min()
  }

  func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  func enqueue(_ job: UnownedJob) {
    guard let turn = Turn.current, turn.world === self else {
      if order.isEmpty, !lanes.isEmpty, lanes[0].job == nil {
        lanes[0].job = job
        if let number = job.taskNumber { tasks[number] = lanes[0] }
        return
      }
      return noteOutside("", job)
    }
    add(job, by: turn.lane)
  }

  private func add(_ job: UnownedJob, by maker: ScheduleLane) {
    let number = job.taskNumber
    let lane: ScheduleLane
    if let known = number.flatMap({ tasks[$0] }) {
      lane = known
    } else {
      let name = number == nil ? "an actor" : "task \(tasks.count)" + purpose(of: maker)
      lane = makeLane(.task, name, by: maker)
      if let number { tasks[number] = lane }
    }
    lane.job = job
    lane.cause = explorer.currentStep
  }

  /// What a task is for that was made by a target's turn.
  private func purpose(of maker: ScheduleLane) -> String {
    guard case .mailbox = maker.kind, let turn = notes.last(where: { $0.kind == .delivery }) else { return "" }
    return " (\(turn.name) on \(turn.lane))"
  }

  private func makeLane(
    _ kind: ScheduleLane.Kind, _ name: String, by maker: ScheduleLane, joins context: ScheduleContext? = nil
  ) -> ScheduleLane {
    let lane = ScheduleLane(kind, name, key: newObject(by: maker), number: lanes.count)
    lanes.append(lane)
    context?.add(lane)
    return lane
  }

  private func newObject(by maker: ScheduleLane) -> Int {
    maker.children += 1
    return explorer.number(.init(parent: maker.key, ordinal: maker.children))
  }

  /// A number for something that turns share; `nil` outside of the schedule.
  func newObject() -> Int? { Turn.current.map { newObject(by: $0.lane) } }

  private func number(of context: ScheduleContext, _ part: String) -> Int {
    explorer.number(.init(parent: -2, ordinal: 0, name: "\(context.name) \(part)"))
  }

  // MARK: Contexts

  func context(_ name: String, isQueue: Bool, isMain: Bool = false) -> ScheduleContext {
    if let context = contexts[name] { return context }
    let context = ScheduleContext(name, isQueue: isQueue, isMain: isMain, number: contexts.count, in: self)
    contexts[name] = context
    return context
  }

  private func meet(_ context: any DeliveryContext) {
    if context is ScheduleContext { return }
    fail(
      "\(context.name) is not the schedule's, and its turns would come when they like: "
        + "give schedule.queue(_:), schedule.actor(_:) or schedule.mainActor in its place")
  }

  // MARK: Outside

  private func noteOutside(_ what: String, _ job: UnownedJob?) {
    let name = what.isEmpty ? "a task" : what
    let isOver = outside.withLock { outside in
      if outside.isOver { return true }
      if let job { outside.jobs.append(job) }
      outside.places.append(name)
      return false
    }
    if isOver { return }
    cameFromOutside.signal()
  }

  private func takeFromOutside() {
    let (jobs, places) = outside.withLock { outside in
      defer { (outside.jobs, outside.places) = ([], []) }
      return (outside.jobs, outside.places)
    }
    for place in places {
      abandon(
        "\(place) came from a thread that is not the schedule's: the program waits for real time (use schedule.clock), "
          + "for the main actor or an executor itself, or for a queue of its own")
    }
    for job in jobs { add(job, by: lanes[0]) }
  }

  /// A message whose turn has begun: the envelope lives until its targets have ended.
  private struct Opened {
    weak var envelope: Envelope?
    let note: ScheduleNote
  }
  private var opened: [Opened] = []

  /// Who waits for whom, when nothing can go on.
  private var waitingText: String {
    var lines = ["nothing can go on, and the body has not ended:"]
    func last(_ lane: ScheduleLane) -> String {
      lane.sent.isEmpty
        ? ""
        : "; the last that it sent: \(lane.sent.map { "\($0.message.name) to \($0.context)" }.joined(separator: ", "))"
    }
    for lane in lanes {
      if lane.turn != nil {
        lines.append("\(lane.name) blocks in its turn" + last(lane))
      } else if case .task = lane.kind, lane === lanes[0] && !isBodyOver || !lane.sent.isEmpty {
        lines.append("\(lane.name) waits" + last(lane))
      }
    }
    for message in opened where message.envelope != nil {
      let note = message.note
      lines.append("\(note.name) on \(note.lane), sent by \(note.sender), has not ended")
    }
    return lines.joined(separator: "\n  ")
  }
}
