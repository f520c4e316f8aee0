// Scenarios.swift: two senders, two targets, and an event that may interrupt them.

import Dispatch

@testable import Forwardcast

protocol Listener: AnyObject, Sendable {}

extension Message<(Int) -> Void> { static var note: Self { .init("note:") } }
extension Message<(Int) -> Int> { static var ask: Self { .init("ask:") } }

/// A target that records its messages, and checks that it may still receive them.
final class Target: Listener, MessageReceiver, @unchecked Sendable {  // used only by the stepping strand
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  deinit { journal.end() }

  static let selectorTable = SelectorTable(for: Target.self) {
    Responds(to: .note) { target, number in target.journal.begin(number) }
    Responds(to: .ask) { target, number in
      target.journal.begin(number)
      return number * 10
    }
  }
}

/// The messages that one target received. It outlives the target.
final class Journal: @unchecked Sendable {  // used only by the stepping strand
  var got: [Int] = []
  private(set) var lateStarts = 0
  private(set) var hasEnded = false
  /// True if no further message may start.
  private var isClosed = false

  /// Records a message, in the same step in which the library checked that it may start.
  func begin(_ number: Int) {
    if isClosed { lateStarts += 1 }
    got.append(number)
  }

  /// Records that the target was deallocated.
  func end() { hasEnded = true }

  /// Declares that no further message may start.
  func close() { isClosed = true }
}

/// A serial context whose drains are strands. Only the strand that takes a step uses it.
final class WalkedContext: DeliveryContext, @unchecked Sendable {
  let name: String
  let hasPriority: Bool
  private unowned let walker: Walker
  private let object = Steps.newObject()
  private var last: Int?
  private var woken: [(mailbox: Mailbox, priority: TaskPriority)] = []
  /// The priority of the running drain.
  private(set) var priority = TaskPriority.medium

  init(_ name: String, hasPriority: Bool = false, _ walker: Walker) {
    (self.name, self.hasPriority, self.walker) = (name, hasPriority, walker)
  }

  var identity: ObjectIdentifier { ObjectIdentifier(self) }
  var isCurrent: Bool { isHeld }

  func wake(_ mailbox: Mailbox, _ priority: TaskPriority) {
    Steps.reach("wakes", object)
    if walker.isInside { start(mailbox, priority) } else { woken.append((mailbox, priority)) }
  }

  private func start(_ mailbox: Mailbox, _ priority: TaskPriority) {
    last = walker.start(name, after: last) { [self] in drain(mailbox, priority) }
  }

  private func drain(_ mailbox: Mailbox, _ priority: TaskPriority) {
    self.priority = priority
    mailbox.drain(priority)
  }

  /// Delivers all waiting messages before the walk.
  func runNow() {
    while !woken.isEmpty {
      let (mailbox, priority) = woken.removeFirst()
      drain(mailbox, priority)
    }
  }

  /// Starts the drains for messages sent before the walk.
  func start() {
    for (mailbox, priority) in woken { start(mailbox, priority) }
    woken = []
  }
}

/// An event concurrent with the two senders.
enum Event: String {
  case nothing, remove, mute, death, cancel
  case removeTarget = "remove the target"
  case endOfProxy = "end of the proxy"
}

/// How a sender sends.
enum Form: String {
  case typed, boxed, report, answers, blocking
  case whenReady = "when ready"
  /// Posts to a mailbox, each sender with a different priority: see ``PriorityStage``.
  case posted
  /// Visits a board while another thread replaces it: see ``BoardStage``.
  case visiting
}

struct Scenario: CustomStringConvertible {
  var form: Form
  /// The form of the second sender, if it differs from the first.
  var secondForm: Form?
  var event: Event
  var buffer: DeliveryBuffer = .unbounded
  var pending: PendingDeliveries = .dropPending
  var contexts = 1
  var senders = 2
  /// The number of messages of each sender.
  var messages = 1
  /// True if the second target is direct.
  var secondIsDirect = false
  /// True if there is no second target.
  var isAlone = false
  /// True if only the proxy retains the targets, which are three and direct.
  var isOwned = false
  /// The number of messages that wait at the beginning.
  var waiting = 0
  /// True if the proxy has sent before, so that its routes and plans exist.
  var isWarm = true

  var description: String {
    [
      form.rawValue + (secondForm.map { " and \($0.rawValue)" } ?? ""), event.rawValue,
      buffer == .unbounded ? "" : "\(buffer)",
      pending == .deliverPending ? "deliver pending" : "", contexts == 1 ? "" : "\(contexts) contexts",
      senders == 2 ? "" : "\(senders) sender", secondIsDirect ? "second direct" : "",
      isAlone ? "one target" : "",
      isOwned ? "owned" : "", waiting == 0 ? "" : "behind \(waiting)",
      messages == 1 ? "" : "\(messages) messages each", isWarm ? "" : "first messages",
    ].filter { !$0.isEmpty }.joined(separator: ", ")
  }

  func form(of number: Int) -> Form { number < 20 ? form : secondForm ?? form }

  /// Sets the scenario up. Returns the check that runs once all strands have ended.
  func callAsFunction(_ walker: Walker) -> () -> String? {
    if case .posted = form { return PriorityStage(self, walker).check }
    if case .visiting = form { return BoardStage(self, walker).check }
    let stage = Stage(self, walker)
    for sender in 1...senders { stage.startSender(sender) }
    stage.startEvent()
    return stage.check
  }
}

/// The objects of one execution.
final class Stage: @unchecked Sendable {  // used only by the stepping strand
  let scenario: Scenario
  let walker: Walker
  let journals: [Journal]
  var targets: [Target?]
  var proxy: MulticastProxy<any Listener>?
  var registrations: [Registration] = []
  /// The numbers of queued and dropped deliveries that the senders' summaries returned.
  var queued = 0
  var dropped = 0
  var made = 0
  /// The outcome of each message, by number.
  var ended: [Int: Result<[Int], any Error>] = [:]
  var tasks: [Task<Void, Never>] = []

  init(_ scenario: Scenario, _ walker: Walker) {
    (self.scenario, self.walker) = (scenario, walker)
    let journals = (0..<(scenario.isOwned ? 3 : 2)).map { _ in Journal() }
    self.journals = journals
    targets = journals.map { Target($0) }
    let proxy = MulticastProxy<any Listener>()
    let contexts = (0..<scenario.contexts).map { WalkedContext("context \($0 + 1)", walker) }
    // The second target is first, so that an event can meet the first one during that delivery.
    // With three, the first one is in the middle, so its removal moves a step.
    for index in scenario.isAlone ? [0] : scenario.isOwned ? [1, 0, 2] : [1, 0] {
      guard let target = targets[index] else { continue }
      registrations.insert(
        scenario.isOwned
          ? proxy.add(target, ownership: .strong)
          : proxy.add(
            target, delivery: index == 1 && scenario.secondIsDirect ? .direct : .on(contexts[index % contexts.count]),
            buffer: index == 0 ? scenario.buffer : .unbounded, whenRemoved: scenario.pending),
        at: index == 2 ? registrations.count : 0)
    }
    self.proxy = proxy
    if scenario.isWarm { warm(proxy, contexts) }
    for number in 0..<scenario.waiting { note(proxy.broadcast(.note, number)) }
    for context in contexts { context.start() }
    if scenario.isOwned { targets = targets.map { _ in nil } }
  }

  /// Sends a message that creates routes and plans, and removes it from the journals.
  private func warm(_ proxy: MulticastProxy<any Listener>, _ contexts: [WalkedContext]) {
    for message in ["note:", "ask:"] as [MessageSelector] {
      proxy.broadcast(Invocation(message, arguments: [ArgumentBox(0)]))
      for context in contexts { context.runNow() }
    }
    for journal in journals { journal.got = [] }
  }

  func startSender(_ sender: Int) {
    let numbers = (0..<scenario.messages).map { sender * 10 + $0 }
    switch scenario.form(of: sender * 10) {
    case .typed, .boxed, .report, .blocking:
      guard let proxy else { return }
      walker.start("sender \(sender)") { [self] in for number in numbers { send(number, proxy) } }
    case .answers, .whenReady:
      tasks.append(
        Task(executorPreference: SenderExecutor(sender, walker)) { [self, proxy] in
          guard let proxy else { return }
          for number in numbers { await sendAndWait(number, proxy) }
        })
    case .posted, .visiting: break
    }
  }

  private func send(_ number: Int, _ proxy: MulticastProxy<any Listener>) {
    let result = Result {
      switch scenario.form(of: number) {
      case .typed:
        note(proxy.broadcast(.note, number))
      case .boxed:
        note(proxy.broadcast(Invocation("note:", arguments: [ArgumentBox(number)])))
      case .report:
        var call = Invocation("note:", arguments: [ArgumentBox(number)])
        let report = try proxy.forward(&call)
        (queued, dropped, made) = (queued + report.queued.count, dropped + report.dropped, made + report.answers.count)
      case .blocking:
        return try proxy.collectBlocking(.ask, number, returning: .all, timeout: .seconds(10))
      case .answers, .whenReady, .posted, .visiting: break
      }
      return []
    }
    ended[number] = result
  }

  private func note(_ summary: BroadcastSummary) {
    (queued, dropped) = (queued + summary.queued, dropped + summary.dropped)
    made += summary.delivered
  }

  private func sendAndWait(_ number: Int, _ proxy: MulticastProxy<any Listener>) async {
    do {
      if case .answers = scenario.form(of: number) {
        ended[number] = .success(try await proxy.collectAndWait(.ask, number, returning: .all))
      } else {
        note(try await proxy.broadcastWhenReady(.note, number))
        ended[number] = .success([])
      }
    } catch {
      ended[number] = .failure(error)
    }
  }

  func startEvent() {
    let (registration, journal) = (registrations[0], journals[0])
    switch scenario.event {
    case .nothing: break
    case .remove:
      walker.start("remover") {
        registration.cancel()
        journal.close()
      }
    case .removeTarget:
      guard let proxy else { return }
      walker.start("remover") { [self] in
        if let target = targets[0] { proxy.remove(target) }
        journal.close()
      }
    case .mute:
      walker.start("muter") {
        registration.mute()
        journal.close()
      }
    case .death:
      walker.start("owner") { [self] in
        walker.step("the target dies") { targets[0] = nil }
      }
    case .endOfProxy:
      walker.start("owner") { [self] in
        walker.reach(Step("lets the proxy go"))
        proxy = nil
      }
    case .cancel:
      walker.start("canceller") { [self] in
        // One step: the runtime holds the task's lock, which a resuming thread waits for.
        walker.step("the first sender is canceled") { tasks.first?.cancel() }
      }
    }
  }

  // MARK: Checks

  private var numbers: [Int] {
    (1...scenario.senders).flatMap { sender in (0..<scenario.messages).map { sender * 10 + $0 } }
  }

  func check() -> String? {
    for number in numbers where ended[number] == nil { return "the sender of \(number) was never released" }
    for (index, journal) in journals.enumerated() {
      let name = ["first", "second", "third"][index]
      if Set(journal.got).count != journal.got.count { return "the \(name) target got \(journal.got)" }
      for sender in 0...scenario.senders where !journal.got.filter({ $0 / 10 == sender }).isSorted {
        return "the \(name) target got \(journal.got), out of order"
      }
      if scenario.pending == .dropPending || scenario.event == .mute, journal.lateStarts > 0 {
        return "the \(name) target was called after it was \(scenario.event == .mute ? "muted" : "removed")"
      }
    }
    if scenario.isOwned { return checkOwned() }
    return switch scenario.form {
    case .typed, .boxed, .report: checkCounts()
    case .whenReady: checkReady()
    case .answers, .blocking: checkAnswers()
    case .posted, .visiting: nil
    }
  }

  /// Every delivery is counted, and a removed target is released with its last message.
  private func checkOwned() -> String? {
    if made != journals.reduce(0, { $0 + $1.got.count }) { return "\(made) deliveries are said to have been made" }
    for journal in journals.dropFirst() where journal.got.count != numbers.count {
      return "a target that stays got \(journal.got)"
    }
    if journals[0].hasEnded != (scenario.event == .remove) { return "the first target is kept, or has gone, wrongly" }
    return nil
  }

  /// Checks that every queued message of a target ran or was counted as dropped.
  private func checkCounts() -> String? {
    for number in numbers { if case .failure(let error)? = ended[number] { return "\(number) failed: \(error)" } }
    let second = journals[1].got.count
    // With one target, its messages are counted below.
    let steady = scenario.isAlone ? nil : registrations[1]
    if let steady, scenario.event != .endOfProxy || scenario.pending == .deliverPending,
      second + steady.dropped != numbers.count
    {
      return "the second target got \(journals[1].got), and \(steady.dropped) were dropped"
    }
    if let steady, scenario.event == .nothing, steady.dropped != 0 { return "the second target's were dropped" }
    let all =
      journals[0].got.count + (scenario.secondIsDirect ? 0 : second) + registrations.reduce(0) { $0 + $1.dropped }
    // A buffer that replaces a message counts one as queued and one as dropped.
    let refused: Int
    switch scenario.buffer.policy {
    case .keepOldest, .suspendSender: refused = dropped
    case .unbounded, .keepNewest, .latestPerSelector: refused = 0
    }
    if queued + refused != all {
      return "\(queued) were queued and \(refused) refused, \(journals.map(\.got)) ran, "
        + "\(registrations.map(\.dropped)) were dropped"
    }
    return made == (scenario.secondIsDirect ? second : 0) ? nil : "\(made) deliveries are said to have been made"
  }

  /// Checks that a sender that waits for capacity sends once there is some, or nothing.
  private func checkReady() -> String? {
    for number in numbers {
      switch ended[number] {
      case .success?:
        let isMissing = !journals[1].got.contains(number)
        if isMissing { return "the second target did not get \(number)" }
        if !journals[0].got.contains(number), scenario.event == .nothing || scenario.event == .cancel {
          return "the first target did not get \(number)"
        }
      case .failure(let error)?:
        guard error is CancellationError, scenario.event == .cancel, number < 20 else { return "\(number): \(error)" }
        if journals.contains(where: { $0.got.contains(number) }) { return "\(number) was canceled and came" }
      case nil: break
      }
    }
    return nil
  }

  /// Checks that a waiting sender gets each answer once, and every answer of a target that stayed.
  private func checkAnswers() -> String? {
    for number in numbers {
      let came = journals.count { $0.got.contains(number) }
      switch ended[number] {
      case .success(let answers)?:
        if !journals[1].got.contains(number) { return "\(number) did not come to the second target" }
        if scenario.event == .nothing || scenario.event == .cancel, came != 2 { return "\(number) came to \(came)" }
        if case .typed = scenario.form(of: number) { continue }
        if answers != Array(repeating: number * 10, count: came) { return "\(number) came to \(came), gave \(answers)" }
      case .failure(let error)?:
        guard error is CancellationError, scenario.event == .cancel, number < 20 else { return "\(number): \(error)" }
      case nil: break
      }
    }
    return nil
  }
}

/// The objects of a walk of one mailbox on a context with priorities.
///
/// It has already had a message of the higher priority, so a leftover level is found.
final class PriorityStage: @unchecked Sendable {  // used only by the stepping strand
  private final class Letter: Envelope, @unchecked Sendable {  // as the stage
    let number: Int
    let opened: (Int) -> Void
    init(_ number: Int, _ opened: @escaping (Int) -> Void) { (self.number, self.opened) = (number, opened) }
    override func open(in mailbox: Mailbox) -> Int {
      opened(number)
      return 1
    }
  }

  private let context: WalkedContext
  private let mailbox: Mailbox
  private var opened: [(number: Int, turn: TaskPriority)] = []
  private let priorities: [Int: TaskPriority]

  init(_ scenario: Scenario, _ walker: Walker) {
    context = WalkedContext("context", hasPriority: true, walker)
    mailbox = Mailbox(context)
    let senders = (1...scenario.senders).map { ($0, [.low, .high, .medium][$0 % 3] as TaskPriority) }
    priorities = Dictionary(uniqueKeysWithValues: senders)
    mailbox.post(letter(0), Mailbox.level(.high))
    context.runNow()
    opened = []
    for (sender, priority) in senders {
      walker.start("\(priority) sender") { [self] in mailbox.post(letter(sender), Mailbox.level(priority)) }
    }
  }

  private func letter(_ number: Int) -> Letter {
    Letter(number) { [unowned self] in opened.append(($0, context.priority)) }
  }

  func check() -> String? {
    guard opened.map(\.number).sorted() == priorities.keys.sorted() else { return "opened were \(opened)" }
    for (number, turn) in opened {
      guard let priority = priorities[number], turn < priority else { continue }
      return "what was sent with \(priority) was opened in a turn of \(turn)"
    }
    return nil
  }
}

/// The objects of a walk that replaces the boards of a proxy.
///
/// The test retains all boards; it alone references the ones that the library has released.
final class BoardStage: @unchecked Sendable {  // used only by the stepping strand
  private let walker: Walker
  private let lock = Guarded(())
  private let published = Visited()
  private var boards: [RouteBoard] = {
    let core = MulticastCore(Never.self, table: nil, options: nil)
    return (0..<3).map { RouteBoard([Route(core, .ofNobody, steps: RouteSteps())], epoch: $0) }
  }()
  private var failure: String?

  init(_ scenario: Scenario, _ walker: Walker) {
    self.walker = walker
    replace(by: boards[0])
    for sender in 1...scenario.senders {
      walker.start("sender \(sender)") { [self] in
        for _ in 0..<scenario.messages { visit() }
      }
    }
    walker.start("changer") { [self] in
      for number in 1...2 { replace(by: boards[number]) }
    }
  }

  private func replace(by board: RouteBoard?) { lock.withLock { _ in published.replace(by: board) } }

  private func visit() {
    let entered = BoardWord(bits: published.word.wrappingAdd(BoardWord.one, ordering: .acquiring).oldValue)
    guard let board = entered.board else { return }
    let number = Int(board.takeUnretainedValue().epoch)
    walker.step("a message is on its way") {
      if isFree(number) { failure = "board \(number) was let go of while a message visited it" }
    }
    // A board released too early would be released twice.
    if failure == nil { published.leave(entered) }
  }

  private func isFree(_ number: Int) -> Bool { isKnownUniquelyReferenced(&boards[number]) }

  func check() -> String? {
    if let failure { return failure }
    for number in 0...1 where !isFree(number) { return "board \(number) was never let go of" }
    if isFree(2) { return "the last board was let go of" }
    replace(by: nil)
    return isFree(2) ? nil : "the last board was never let go of"
  }
}

extension [Int] {
  fileprivate var isSorted: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}

extension Scenario {
  /// The scenarios that every run walks.
  static let short: [Scenario] = {
    var list: [Scenario] = []
    for event in [Event.nothing, .remove, .removeTarget, .mute, .death, .endOfProxy] {
      list.append(Scenario(form: .typed, event: event))
    }
    for event in [Event.remove, .mute] { list.append(Scenario(form: .boxed, event: event)) }
    list.append(Scenario(form: .report, event: .remove))
    for buffer in [DeliveryBuffer.keepNewest(1), .keepOldest(1), .latestPerSelector] {
      for event in [Event.nothing, .remove, .mute] {
        list.append(Scenario(form: .typed, event: event, buffer: buffer, secondIsDirect: true))
      }
    }
    list.append(Scenario(form: .whenReady, event: .nothing, buffer: .suspendSender(1), secondIsDirect: true))
    list.append(
      Scenario(
        form: .whenReady, event: .cancel, buffer: .suspendSender(1), senders: 1, messages: 2,
        secondIsDirect: true))
    for form in [Form.answers, .blocking] {
      list.append(Scenario(form: form, secondForm: .typed, event: .nothing))
    }
    list.append(Scenario(form: .answers, event: .cancel, senders: 1))
    list.append(Scenario(form: .typed, event: .remove, pending: .deliverPending, secondIsDirect: true))
    list.append(Scenario(form: .typed, event: .mute, contexts: 2, senders: 1))
    list.append(Scenario(form: .posted, event: .nothing))
    list.append(Scenario(form: .visiting, event: .nothing))
    list.append(Scenario(form: .typed, event: .remove, senders: 1, isOwned: true))
    // The third message is the first that joins a batch.
    list.append(Scenario(form: .typed, event: .nothing, senders: 1, messages: 3, isAlone: true))
    for event in [Event.mute, .endOfProxy] {
      list.append(Scenario(form: .typed, event: event, senders: 1, isAlone: true, waiting: 2))
    }
    // The message's slot in the batch may still be unwritten when the drain reaches it.
    list.append(Scenario(form: .typed, event: .nothing, senders: 1, isAlone: true, waiting: 2))
    return list
  }()

  /// The scenarios that take minutes.
  static let long: [Scenario] = [
    Scenario(form: .boxed, event: .death),
    Scenario(form: .posted, event: .nothing, senders: 3),
    Scenario(form: .visiting, event: .nothing, messages: 2),
    Scenario(form: .visiting, event: .nothing, senders: 3),
    Scenario(form: .typed, event: .remove, isOwned: true),
    Scenario(form: .typed, event: .death, buffer: .keepNewest(1), secondIsDirect: true),
    Scenario(form: .typed, event: .death, buffer: .keepOldest(1), secondIsDirect: true),
    Scenario(form: .typed, event: .death, buffer: .latestPerSelector, secondIsDirect: true),
    Scenario(form: .typed, event: .nothing, contexts: 2),
    Scenario(form: .typed, event: .mute, contexts: 2),
    Scenario(form: .typed, event: .remove, contexts: 2),
    Scenario(form: .typed, event: .death, contexts: 2),
    Scenario(form: .typed, event: .death, senders: 1, isAlone: true, waiting: 2),
    // Two senders take slots of one batch, or one posts behind it, or both need a new batch.
    Scenario(form: .typed, event: .nothing, isAlone: true, waiting: 2),
    Scenario(form: .typed, secondForm: .boxed, event: .nothing, isAlone: true, waiting: 2),
    Scenario(form: .typed, event: .nothing, isAlone: true, waiting: 1),
    Scenario(form: .typed, event: .mute, isAlone: true, waiting: 2),
    Scenario(form: .typed, event: .death, isAlone: true, waiting: 2),
    Scenario(form: .typed, event: .remove, senders: 1, isAlone: true, waiting: 2),
    Scenario(form: .typed, event: .nothing, isWarm: false),
    Scenario(form: .typed, event: .nothing, buffer: .keepNewest(1)),
    Scenario(form: .whenReady, event: .cancel, buffer: .suspendSender(1), secondIsDirect: true),
    Scenario(form: .answers, secondForm: .typed, event: .cancel),
    Scenario(form: .answers, secondForm: .typed, event: .remove),
    Scenario(form: .answers, secondForm: .typed, event: .mute),
    Scenario(form: .blocking, secondForm: .typed, event: .remove),
    Scenario(form: .blocking, secondForm: .typed, event: .mute),
    Scenario(form: .whenReady, event: .mute, buffer: .suspendSender(1), secondIsDirect: true),
    Scenario(form: .whenReady, event: .remove, buffer: .suspendSender(1), secondIsDirect: true),
    Scenario(form: .whenReady, event: .death, buffer: .suspendSender(1), secondIsDirect: true),
    Scenario(form: .answers, event: .nothing),
    Scenario(form: .answers, event: .remove),
    Scenario(form: .answers, event: .mute),
    Scenario(form: .answers, event: .cancel),
    Scenario(form: .answers, secondForm: .typed, event: .death),
    Scenario(form: .blocking, event: .nothing),
    Scenario(form: .typed, event: .remove, pending: .deliverPending),
  ]
}
