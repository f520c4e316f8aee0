// Question.swift: one message whose sender waits for the answers.
// Layer: Proxy. See DESIGN.md, "Delivery".

/// One message that every target is to answer, wherever it runs.
///
/// Queued targets are posted to, direct ones run in the sender's turn, and each outcome goes to its place in `answers`.
/// When the result may be known early, targets are asked in the order of delivery; otherwise what is queued leaves first.
struct Question<Answer> {
  let core: MulticastCore
  let proxy: AnyObject
  let walk: RouteWalk
  let answers: Gathering<Answer>
  var posting: Posting
  /// The arguments for a target that answers; with `true`, those that ask for it copied.
  let makeDoor: (Bool) -> TypedDoor
  /// The arguments for a queued target whose answer nobody waits for; `nil` when somebody does.
  var makeDeafDoor: ((Bool) -> TypedDoor)?
  /// Whether targets are asked strictly one after another.
  var inOrder: Bool
  /// Whether the result is known when the places before that one are.
  var isKnown: (Int) -> Bool = { _ in false }

  /// Told of each queued step.
  var noteQueued: () -> Void = {}

  private var plan: DeliveryPlan { core.plan(walk) }

  init(
    _ core: MulticastCore, _ proxy: AnyObject, _ walk: RouteWalk, _ answers: Gathering<Answer>, _ posting: Posting,
    inOrder: Bool, makeDoor: @escaping (Bool) -> TypedDoor
  ) {
    (self.core, self.proxy, self.walk, self.answers, self.makeDoor) = (core, proxy, walk, answers, makeDoor)
    self.posting = posting
    self.inOrder = inOrder || core.stopsAtFirst
    self.posting.reply = answers
  }

  /// Sends the message, and runs those targets that are direct.
  ///
  /// Methods that suspend cannot be reached from here, and count as failed.
  mutating func ask() {
    send { question, index in question.run(index) }
  }

  /// Sends the message when there is room for it everywhere, runs the direct targets, and waits for all.
  ///
  /// - Throws: `CancellationError`; `wouldDeadlock` in a method that would wait for its own end.
  nonisolated(nonsending) mutating func askAndWait() async throws {
    try Task.checkCancellation()
    try core.refuseToWaitForOneself(plan, posting.selector, proxy)
    try await reserve()
    let plan = plan
    if inOrder {
      for (index, post) in plan.inOrder {
        if let (group, place) = post, !note(index, posting.post(group, place, makeDoor)) { continue }
        await runAndWait(index)
        if isKnown(index + 1) { break }
      }
    } else {
      let inTurn = postAll(plan)
      for index in plan.inTurn where inTurn.contains(index) || walk.steps[index].part == nil { await runAndWait(index) }
    }
    giveBack()
    try await answers.wait()
  }

  /// Sends the message and blocks until all have answered or the time is over.
  ///
  /// - Throws: `wouldDeadlock` when a target's context is held by the caller; `timedOut` with those who did not answer.
  mutating func askAndBlock(_ timeout: Duration) throws {
    for group in plan.groups + plan.loners where group.mailbox.isCurrent && !group.runsNow {
      throw MessageError(
        .wouldDeadlock, receiver: typeName(of: proxy), selector: posting.selector.name,
        evidence: "the caller holds the \(group.mailbox.context.name) that it would wait for")
    }
    ask()
    let late = answers.wait(timeout: timeout)
    guard !late.isEmpty else { return }
    let names = late.map { index in
      let step = walk.steps[index]
      return "\(step.target.map { typeName(of: $0) } ?? "a dead target") on \(step.part?.mailbox.context.name ?? "")"
    }
    throw MessageError(
      .timedOut, receiver: typeName(of: proxy), selector: posting.selector.name,
      evidence: "no answer in \(timeout) from \(names.joined(separator: ", "))")
  }

  // MARK: Steps

  private mutating func send(_ run: (inout Question, Int) -> Void) {
    let plan = plan
    if inOrder {
      for (index, post) in plan.inOrder {
        if let (group, place) = post, !note(index, posting.post(group, place, makeDeafDoor ?? makeDoor)) { continue }
        run(&self, index)
        if isKnown(index + 1) { break }
      }
    } else {
      let inTurn = postAll(plan)
      for index in plan.inTurn where inTurn.contains(index) || walk.steps[index].part == nil { run(&self, index) }
    }
  }

  /// Posts to all at once. Gives the steps that are to run in the sender's turn instead.
  private mutating func postAll(_ plan: DeliveryPlan) -> Set<Int> {
    var outcomes: [(Int, PostOutcome)] = []
    posting.postAll(plan, makeDeafDoor ?? makeDoor) { outcomes.append(($0, $1)) }
    return Set(outcomes.filter { note($0.0, $0.1) }.map(\.0))
  }

  /// Notes what became of a step in the sender's turn. `true` when it is to run in that turn.
  private func note(_ index: Int, _ outcome: PostOutcome) -> Bool {
    switch outcome {
    case .queued:
      noteQueued()
      return false
    case .inTurn: return true
    case .refused: break  // its place was settled when it was given up
    case .skipped(let reason):
      answers.expect(index)
      answers.skip(index, reason)
    case .mismatch:
      answers.expect(index)
      answers.fail(index, core.mismatch(posting.selector, walk.steps[index]))
    }
    return false
  }

  /// The target of a step that runs in the sender's turn, its place opened.
  private func target(_ index: Int) -> AnyObject? {
    let step = walk.steps[index]
    answers.expect(index)
    guard step.isActive else {
      answers.skip(index, step.reasonToSkip)
      return nil
    }
    guard let target = step.target else {
      answers.skip(index, .dead)
      core.bury([step.registration.takeUnretainedValue()])
      return nil
    }
    return target
  }

  private func run(_ index: Int) {
    guard let target = target(index) else { return }
    do {
      guard let boxes = try makeDoor(false)(walk.steps[index].method, target, index) else { return }
      let trail = ProxyTrail(core, after: posting.invocation?.route)
      defer { trail.end() }
      var invocation = message(boxes, trail)
      if let method = walk.steps[index].method {
        try method.takeUnretainedValue().invoke(target, &invocation)
      } else {
        guard try core.ask(target, &invocation) else { return answers.skip(index, .doesNotRespond) }
      }
      answers.accept(index, invocation, from: target)
    } catch {
      answers.fail(index, error)
    }
  }

  nonisolated(nonsending) private func runAndWait(_ index: Int) async {
    guard let method = walk.steps[index].method?.takeUnretainedValue(), method.isolation != .sender else {
      return run(index)
    }
    guard let target = target(index) else { return }
    do {
      let trail = ProxyTrail(core, after: posting.invocation?.route)
      defer { trail.end() }
      let invocation = UncheckedSendable(message(try makeDoor(false)(nil, target, index) ?? [], trail))
      // An interface that is Sendable has targets that are.
      nonisolated(unsafe) let target = target
      answers.accept(index, try await method.invokeAndWait(target, invocation).value, from: target)
    } catch {
      answers.fail(index, error)
    }
  }

  private func message(_ boxes: [ArgumentBox], _ trail: ProxyTrail) -> Invocation {
    let crosses = posting.crosses
    var invocation =
      posting.invocation ?? Invocation(posting.selector, arguments: boxes.map { $0.knownSendable(crosses: crosses) })
    invocation.route = trail
    return invocation
  }

  // MARK: Room

  /// Waits for a place in every buffer that suspends its senders, in the order of delivery.
  nonisolated(nonsending) private mutating func reserve() async throws {
    do { try await posting.reserve(plan) } catch {
      giveBack()
      throw error
    }
  }

  private mutating func giveBack() { posting.giveBack(plan) }
}

extension Posting {
  /// Waits for a place in every buffer that suspends its senders, in the order of delivery.
  nonisolated(nonsending) mutating func reserve(_ plan: DeliveryPlan) async throws {
    for group in plan.loners {
      guard let line = group.steps[0].part?.line, line.suspendsSenders, group.steps[0].isActive else { continue }
      try await line.reserve()
      reserved.insert(group.indices[0])
    }
  }

  /// Gives back the places that were not used.
  mutating func giveBack(_ plan: DeliveryPlan) {
    guard !reserved.isEmpty else { return }
    for group in plan.loners where reserved.remove(group.indices[0]) != nil { group.steps[0].part?.line?.giveBack() }
  }
}

extension DeliveryGroup {
  /// Whether its one step would run in the sender's turn.
  fileprivate var runsNow: Bool { steps.count == 1 && steps[0].part?.runsNow ?? false }
}

extension MulticastCore {
  /// - Throws: `wouldDeadlock` in a method that suspends, when its own target is among those that would be waited for.
  func refuseToWaitForOneself(_ plan: DeliveryPlan, _ selector: MessageSelector, _ proxy: AnyObject) throws {
    guard ServedLane.isServing else { return }
    for group in plan.groups + plan.loners {
      for step in group.steps {
        guard step.isActive, let part = step.part, ServedLane.contains(part.lane) else { continue }
        throw MessageError(
          .wouldDeadlock, receiver: typeName(of: proxy), selector: selector.name,
          evidence: "a method of \(step.target.map { typeName(of: $0) } ?? "a target") would wait for its own end")
      }
    }
  }
}
