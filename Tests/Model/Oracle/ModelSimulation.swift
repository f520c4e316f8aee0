// ModelSimulation.swift: what should become of a message, worked out without the library.

/// When queued targets run.
enum ModelSchedule: Sendable {
  /// Once the sender waits or has ended.
  case afterSender
  /// At once. A blocked sender cannot be watched, so it is compared only where both schedules predict the same.
  case atOnce
}

/// What became of a message at one target.
enum ModelResult: Hashable, Sendable {
  case answered(String)
  case failed(String)
  /// Posted, and not run yet.
  case queued
  case skipped(String)

  var isFailure: Bool { if case .failed = self { true } else { false } }
  /// Whether the target ran while its sender was there.
  var isAsked: Bool {
    switch self {
    case .answered, .failed: true
    case .queued, .skipped: false
    }
  }
  /// Whether the target got the message.
  var isReached: Bool { if case .skipped = self { false } else { true } }
}

/// One target in the order of delivery of one message.
struct ModelEntry: Sendable {
  let target: ModelTarget
  /// The proxies that the message comes through, the outermost first.
  let owners: [ModelProxy]
  /// Whether the message's route leads here: the target responds and is registered for the selector.
  let isOnRoute: Bool
  var result: ModelResult?
  var wasQueued = false
  /// Whether a report may leave the entry out.
  var isOptional = false
}

/// A step of a message: a target, or an inner proxy with steps of its own.
struct ModelStep: Sendable {
  let entry: Int
  var steps: [ModelStep] = []
}

/// One message on its way.
struct ModelMessage: Sendable {
  let number: Int
  let door: ModelDoor
  var entries: [ModelEntry] = []
  /// What is behind the entry of an inner proxy.
  var steps: [Int: [ModelStep]] = [:]
  /// Whether the policy's result was known before all had been asked.
  var isKnown = false

  /// The answers that a policy may take by now: in the order of delivery, up to the first that is open.
  var answersInOrder: [String] {
    var answers: [String] = []
    for entry in entries {
      if case .answered(let answer)? = entry.result { answers.append(answer) }
      if entry.result == .queued, door.waits { break }
    }
    return answers
  }
}

/// A simulation of one case: lists and numbers, and nothing that runs at the same time.
///
/// Where the specification leaves a choice, this is what the model takes:
///
/// - Within an inner proxy its own option about errors holds: one that goes on serves all of its targets, also among the
///   targets of a proxy that stops at the first error, which then stops behind the inner proxy.
/// - A proxy that stops at the first error stops when an error happens in the sender's turn, whether or not somebody
///   waits for a queued target before it. A policy takes answers in the order of delivery, and so cannot know its result
///   while an earlier target has not answered.
/// - What is queued leaves first at every level, but for proxies that stop at the first error and for what is within
///   them; a policy that may stop early keeps the order of delivery at every level.
/// - On a queue the order of the targets of one proxy is certain, and that between proxies is not.
/// - An inner proxy whose silence is an error is itself listed and counted as failed; one that is muted or not meant is
///   itself counted as passed over; a report lists its targets, as far as it has any.
/// - A summary counts the targets of inner proxies, as a report lists them.
/// - An error of a queued target for which nobody waits goes to the innermost handler, whatever was sent.
struct ModelSimulation {
  /// A message that waits for its turn on a queue.
  struct Posted {
    let message: Int
    let entry: Int
  }

  static let first = 7
  static let second = 8

  let world: ModelWorld
  let schedule: ModelSchedule
  var outcome = ModelOutcome()
  var messages: [ModelMessage] = []
  private var muted: Set<Int> = []
  private var removed: Set<Int> = []
  private var dead: Set<Int> = []
  /// Targets that joined, by the number of their proxy.
  private var added: [Int: [ModelTarget]] = [:]
  private var posted: [ModelQueue: [Posted]] = [:]

  init(_ world: ModelWorld, _ schedule: ModelSchedule = .afterSender) {
    (self.world, self.schedule) = (world, schedule)
    for target in world.root.all {
      switch target.condition {
      case .active: break
      case .muted: muted.insert(target.id)
      case .removed: removed.insert(target.id)
      case .dead: dead.insert(target.id)
      }
    }
  }

  // MARK: Steps

  /// The steps of a message that begins now.
  private func steps(of proxy: ModelProxy, _ owners: [ModelProxy], _ message: inout ModelMessage) -> [ModelStep] {
    var steps: [ModelStep] = []
    var present = proxy
    present.targets += added[proxy.id] ?? []
    for target in present.inOrder where !removed.contains(target.id) && !dead.contains(target.id) {
      var entry = ModelEntry(
        target: target, owners: owners + [proxy], isOnRoute: target.kind != .silent && target.scope != .other)
      // A target of an inner proxy that the message is not for need not be listed outside.
      entry.isOptional = !entry.isOnRoute && !owners.isEmpty
      message.entries.append(entry)
      var step = ModelStep(entry: message.entries.count - 1)
      if let inner = target.proxy, entry.isOnRoute { step.steps = self.steps(of: inner, entry.owners, &message) }
      message.steps[step.entry] = step.steps
      steps.append(step)
    }
    return steps
  }

  /// Why a target lets no message through at this moment.
  func reasonsToSkip(_ target: ModelTarget) -> [String] {
    [("removed", removed), ("muted", muted), ("dead", dead)].filter { $0.1.contains(target.id) }.map(\.0)
  }

  func reasonToSkip(_ target: ModelTarget) -> String? { reasonsToSkip(target).first }

  private func runsInTurn(_ target: ModelTarget) -> Bool {
    target.place.queue == nil || target.place == .automatic1 && world.sender == .onQueue1 && !target.needsOwnTurn
  }

  /// The first target that would get the message.
  func firstResponder(of proxy: ModelProxy) -> ModelTarget? {
    for target in proxy.inOrder where reasonToSkip(target) == nil && target.kind != .silent && target.scope != .other {
      guard let inner = target.proxy else { return target }
      if let found = firstResponder(of: inner) { return found }
    }
    return nil
  }

  /// Every live, unmuted target that responds, at any depth.
  func responders(of proxy: ModelProxy) -> [ModelTarget] {
    proxy.inOrder.filter { reasonToSkip($0) == nil && $0.kind != .silent && $0.scope != .other }
      .flatMap { target in target.proxy.map { responders(of: $0) } ?? [target] }
  }

  // MARK: Sending

  /// Sends a message through the outermost proxy, and gives its number in `messages`.
  mutating func send(_ door: ModelDoor, number: Int) -> Int {
    var message = ModelMessage(number: number, door: door)
    let steps = steps(of: world.root, [], &message)
    messages.append(message)
    let index = messages.count - 1
    let inOrder = world.root.stopsAtFirst || door.policy?.mayStopEarly ?? false
    if !inOrder { postAll(steps, index) }
    _ = serve(steps, of: world.root, index, inOrder: inOrder, on: nil)
    return index
  }

  /// Posts to every queued target of proxies that do not keep the order of delivery.
  private mutating func postAll(_ steps: [ModelStep], _ message: Int) {
    for step in steps {
      let entry = messages[message].entries[step.entry]
      guard entry.isOnRoute else { continue }
      if !runsInTurn(entry.target) {
        post(message, step.entry)
      } else if let inner = entry.target.proxy, reasonToSkip(entry.target) == nil, !inner.stopsAtFirst {
        postAll(step.steps, message)
      }
    }
  }

  private mutating func post(_ message: Int, _ entry: Int) {
    let target = messages[message].entries[entry].target
    if let reason = reasonToSkip(target) {
      messages[message].entries[entry].result = .skipped(reason)
      if target.proxy != nil { listInside(message, entry, reason) }
      return
    }
    guard let queue = target.place.queue else { return }
    messages[message].entries[entry].result = .queued
    messages[message].entries[entry].wasQueued = true
    if let inner = target.proxy, !messages[message].door.waits, responders(of: inner).isEmpty {
      // Nobody is there to get it, as is known when the message is sent.
      messages[message].entries[entry].result = .skipped("does not respond")
      messages[message].entries[entry].isOptional = true
    }
    posted[queue, default: []].append(Posted(message: message, entry: entry))
    if schedule == .atOnce { runQueues() }
  }

  /// Serves what is left of the steps, in order. `true` when one of them failed.
  private mutating func serve(
    _ steps: [ModelStep], of proxy: ModelProxy, _ message: Int, inOrder: Bool, on queue: ModelQueue?
  )
    -> Bool
  {
    var failed = false
    for step in steps where !messages[message].isKnown {
      let entry = messages[message].entries[step.entry]
      guard entry.isOnRoute else { continue }
      if let inner = entry.target.proxy, runsInTurn(entry.target) {
        if serve(inner, step.entry, message, inOrder: inOrder || inner.stopsAtFirst, on: queue) { failed = true }
      } else {
        if entry.result == nil { serve(message, step.entry, on: queue) }
        if hasFailed(step, message) { failed = true }
      }
      if inOrder, let policy = messages[message].door.policy, policy.isKnown(messages[message].answersInOrder) {
        messages[message].isKnown = true
      }
      if failed, proxy.stopsAtFirst { break }
    }
    return failed
  }

  /// Whether a target has failed by now, or for a proxy on a queue somebody in it.
  private func hasFailed(_ step: ModelStep, _ message: Int) -> Bool {
    messages[message].entries[step.entry].result?.isFailure ?? false
      || step.steps.contains { hasFailed($0, message) }
  }

  /// A report lists the targets of a proxy that the message does not come to in its place.
  private mutating func listInside(_ message: Int, _ entry: Int, _ reason: String) {
    messages[message].entries[entry].isOptional = true
    var inside = messages[message].steps[entry] ?? []
    while let step = inside.popLast() {
      let reasons = reasonsToSkip(messages[message].entries[step.entry].target) + [reason]
      for reason in reasons + ["out of scope", "does not respond"] {
        outcome.optionalSkips.insert("\(messages[message].entries[step.entry].target.name) \(reason)")
      }
      inside += step.steps
    }
  }

  private mutating func serve(
    _ inner: ModelProxy, _ entry: Int, _ message: Int, inOrder: Bool, on queue: ModelQueue?
  ) -> Bool {
    let target = messages[message].entries[entry].target
    if let reason = reasonToSkip(target) {
      messages[message].entries[entry].result = .skipped(reason)
      listInside(message, entry, reason)
      return false
    }
    messages[message].entries[entry].result = .skipped("does not respond")
    messages[message].entries[entry].isOptional = true
    let steps = messages[message].steps[entry] ?? []
    if serve(steps, of: inner, message, inOrder: inOrder, on: queue) { return true }
    let isReached = messages[message].entries(of: steps).contains { $0.result?.isReached ?? false }
    if isReached { return false }
    switch inner.silence {
    case .ignored: return false
    case .handled:
      outcome.silences.append(target.name)
      return false
    case .thrown:
      messages[message].entries[entry].isOptional = false
      settle(message, entry, .failed("nobody responds"), on: queue, innermost: inner)
      return true
    }
  }

  private mutating func serve(_ message: Int, _ entry: Int, on queue: ModelQueue?) {
    let target = messages[message].entries[entry].target
    if !runsInTurn(target) { return post(message, entry) }
    if let reason = reasonToSkip(target) {
      messages[message].entries[entry].result = .skipped(reason)
      return
    }
    messages[message].entries[entry].wasQueued = queue != nil
    settle(message, entry, run(message, entry, on: queue), on: queue)
  }

  // MARK: Running

  /// Runs what waits on the queues until nothing does.
  mutating func runQueues() {
    // What runs on one queue may post to another that has run.
    while let queue = ModelQueue.allCases.first(where: { !(posted[$0]?.isEmpty ?? true) }) {
      while let next = posted[queue]?.first {
        posted[queue]?.removeFirst()
        let target = messages[next.message].entries[next.entry].target
        if let reason = reasonToSkip(target), muted.contains(target.id) || !target.keepsPending {
          // A sender that does not wait said `queued`, and does not hear of this.
          if messages[next.message].door.waits { messages[next.message].entries[next.entry].result = .skipped(reason) }
          continue
        }
        if let inner = target.proxy {
          if !inner.stopsAtFirst { postAll(messages[next.message].steps[next.entry] ?? [], next.message) }
          _ = serve(inner, next.entry, next.message, inOrder: inner.stopsAtFirst, on: queue)
          continue
        }
        let result = run(next.message, next.entry, on: queue)
        if messages[next.message].door.waits {
          messages[next.message].entries[next.entry].result = result
        } else if case .failed(let error) = result {
          tell(error, messages[next.message].entries[next.entry].owners)
        }
      }
    }
  }

  /// Runs one target's method. `queue` is `nil` in the sender's turn.
  private mutating func run(_ index: Int, _ place: Int, on queue: ModelQueue?) -> ModelResult {
    let (message, entry) = (messages[index], messages[index].entries[place])
    let target = entry.target
    if target.kind == .unfit { return .failed("type mismatch") }
    if target.suspends, queue == nil, !message.door.reachesSuspending { return .failed("isolation mismatch") }
    let owner = entry.owners.last?.name ?? ""
    let context = queue.map { target.suspends ? "task of \(target.name)" : "\($0.rawValue) of \(owner)" } ?? "sender"
    outcome.calls[context, default: []].append("\(target.name) \(message.number)")
    if message.number == Self.first, let act = target.act { perform(act, of: entry, pinned: message.door.isPinned) }
    if target.throwsItself { return .failed("refused by \(target.name)") }
    if target.kind == .text {
      // Who does not wait has no answers from elsewhere.
      return message.door.convertsAnswers && (queue == nil || message.door.waits)
        ? .failed("type mismatch") : .answered("text \(target.answer)")
    }
    return .answered(message.door.policy?.isBoolean ?? false ? "\(target.answer > 0)" : "\(target.answer)")
  }

  private mutating func perform(_ act: ModelTarget.Act, of entry: ModelEntry, pinned: Bool) {
    switch act {
    case .remove(let id): removed.insert(id)
    case .mute(let id): muted.insert(id)
    case .kill(let id):
      // A burst holds the targets of the proxy itself, not those of multicasts among them.
      let isPinned = pinned && world.root.targets.contains { $0.id == id }
      let isHeld = isPinned || world.root.all.contains { $0.id == id && $0.isStrong }
      if !isHeld { dead.insert(id) }
    case .add:
      if let owner = entry.owners.last { added[owner.id, default: []].append(.late(addedBy: entry.target.id)) }
    case .send: _ = send(.broadcast, number: Self.second)
    }
  }

  /// Notes what became of the message at one target. Errors of a broadcast are told as they happen, and so are those that
  /// happen on a queue while nobody waits.
  private mutating func settle(
    _ message: Int, _ entry: Int, _ result: ModelResult, on queue: ModelQueue?, innermost: ModelProxy? = nil
  ) {
    messages[message].entries[entry].result = result
    let door = messages[message].door
    guard case .failed(let error) = result, door.family == .summary || queue != nil && !door.waits else { return }
    tell(error, messages[message].entries[entry].owners + (innermost.map { [$0] } ?? []))
  }

  /// Gives an error that nobody receives to the innermost proxy that has a handler.
  mutating func tell(_ error: String, _ owners: [ModelProxy]) {
    let teller = owners.last { $0.hasHandler } ?? world.root
    outcome.told.append("\(teller.name): \(error)")
  }
}

extension ModelMessage {
  /// The entries of steps, at any depth.
  func entries(of steps: [ModelStep]) -> [ModelEntry] {
    steps.flatMap { [entries[$0.entry]] + entries(of: $0.steps) }
  }
}
