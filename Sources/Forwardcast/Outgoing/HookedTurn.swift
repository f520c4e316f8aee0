// HookedTurn.swift: the turn of a proxy with hooks, and what they let through.

/// One call of the hooks around a proxy: the one that the message was sent to, or a nested one.
///
/// What they let through is served by the walk itself, inside of the call. A hook may proceed several times or not at all, may
/// wait, and, where the sender asks, may change the outcome. So outcomes stay in the walk's log until the hooks have ended.
final class HookedTurn {
  private let walk: Walk
  private let node: RouteNode
  /// Its place in the proxy around; `nil` for the proxy that the message was sent to.
  private let place: StepContext?
  /// The length of the walk's log, its counts and its depth when the hooks began.
  private let (start, counts, depth): (Int, BroadcastSummary, Int)
  private let reachedBefore: Int
  private var wasSent = false
  @exclusivity(unchecked) private var isInside = false
  /// The message outside of the hooks, if they have changed it: one or none.
  @exclusivity(unchecked) private var outside: [OutgoingMessage] = []
  private let (pendingOutside, mayNotWaitOutside, logStartOutside): (PendingAnswers?, Bool, Int)
  /// The number of the trace's `sent` event.
  private var sentStep: Int?
  /// The failure of a target that was thrown to the hooks.
  private var thrown: (any Error)?
  /// Places in buffers that the sender gave back while a hook may wait for others; taken again when the hook has ended.
  private var room: [Walk.Place] = []

  init(_ walk: Walk, _ node: RouteNode) {
    (self.walk, self.node, place) = (walk, node, walk.place(of: node))
    (start, counts, depth) = (walk.log.count, walk.counts, walk.depth)
    (reachedBefore, logStartOutside) = (walk.reached, walk.logStart)
    (pendingOutside, mayNotWaitOutside) = (walk.pending, walk.mayNotWait)
  }

  private var isAsked: Bool { walk.message.request.asks }

  /// Runs the hooks and what they let through synchronously. If all are `before` hooks, the walk then continues as without.
  ///
  /// - Throws: their error, if they are around the message as a whole.
  func run() throws {
    if around.isBefore {
      do {
        try around.hooks.runBefore(hookedMessage)
        if place == nil { try walk.message.admit(along: node.route) }
      } catch { return try fail(error) }
      return walk.enter(node, place?.target, hooks: false)
    }
    begin()
    defer { walk.flush() }
    do {
      finish(with: try around.hooks.run(hookedMessage) { try self.proceed($0, mayWait: true) })
    } catch { try finish(by: error) }
  }

  /// Runs the hooks, and what they let through, with suspensions; throws as ``run()``.
  nonisolated(nonsending) func runAndWait() async throws {
    begin()
    do {
      let answers = try await around.hooks.runAndWait(
        hookedMessage, { try await self.proceedAndWait($0) }, inTurn: { try self.proceed($0, mayWait: false) },
        pause: { self.room += self.walk.giveBackRoom() }, resume: { try await self.takeRoom() })
      finish(with: answers)
    } catch {
      defer { walk.flush() }
      try finish(by: error)
    }
    walk.flush()
    guard !room.isEmpty else { return }
    // Targets behind the hooks have got the message, and need no place any more.
    let inside = Set(node.all().map { ObjectIdentifier($0) })
    try await walk.takeRoom(room.filter { !inside.contains(ObjectIdentifier($0.node)) })
  }

  /// Takes the sender's places in buffers again. A hook that proceeds a second time needs those behind it a second time, before
  /// anything is posted.
  nonisolated(nonsending) private func takeRoom() async throws {
    let places = room
    room = []
    if wasSent { try await walk.reserveRoom(in: node, with: places) } else { try await walk.reserve(places) }
  }

  private var around: RouteSurroundings {
    guard let around = node.route.route.around else { preconditionFailure("a turn of hooks without hooks") }
    return around
  }

  private var hookedMessage: HookedMessage {
    HookedMessage(
      selector: walk.selector, receiver: node.route.core, arguments: walk.message.arguments,
      budget: walk.message.trail?.budget)
  }

  private func begin() {
    sentStep = around.trace?.noteSent(hookedMessage)
    keepOutcomes(1)
  }

  /// Begins or ends keeping outcomes back from the sink.
  private func keepOutcomes(_ change: Int) {
    guard isAsked else { return }
    walk.hooksThatAsk += change
    walk.renewProbe()
  }

  // MARK: What a hook goes on with

  /// - Parameter mayWait: `false` for a hook that does not suspend while the sender does: everybody inside has to answer
  ///   synchronously.
  private func proceed(_ arguments: MessageArguments, mayWait: Bool) throws -> MessageAnswers {
    var mustNotWait = false
    if !mayWait, case .suspended = walk.waiting {
      mustNotWait = true
      if let target = walk.awaitedTarget(of: node) {
        throw MessageError(
          .isolationMismatch, receiver: node.route.core.name, selector: walk.selector.name,
          evidence: "\(target) has to be waited for, and an around hook of the proxy has no form that waits: "
            + "give it one as waiting:")
      }
    }
    try enter(arguments)
    defer { leave() }
    walk.mayNotWait = walk.mayNotWait || mustNotWait
    do {
      try walk.serve(to: depth)
      try walk.block()
    } catch { throw ended(by: error) }
    return try answers()
  }

  nonisolated(nonsending) private func proceedAndWait(_ arguments: MessageArguments) async throws -> MessageAnswers {
    try enter(arguments)
    defer { leave() }
    do {
      try await walk.serveAndWait(to: depth)
      room += walk.giveBackRoom()
      try await walk.suspend()
    } catch { throw ended(by: error) }
    return try answers()
  }

  /// Goes inside of the hooks: the message has the arguments that they gave, and is waited for separately.
  ///
  /// - Throws: `proxyCycle` when a hook proceeds while the message is inside of it.
  private func enter(_ arguments: MessageArguments) throws {
    guard !isInside else {
      throw MessageError(
        .proxyCycle, receiver: node.route.core.name, selector: walk.selector.name,
        evidence: "a hook goes on with the message, which is on its way inside of the hook")
    }
    giveUp()
    let trace = walk.message.trace ?? around.trace
    // A message is expensive to copy.
    if walk.message.shared !== arguments || walk.message.trace !== trace || walk.message.isByValue {
      var inside = walk.message
      inside.replace(with: arguments)
      inside.trace = trace
      if place == nil { try inside.admit(along: node.route) }
      outside = [walk.message]
      walk.message = inside
    }
    isInside = true
    if walk.pending != nil { walk.pending = PendingAnswers() }
    walk.logStart = start
    if isAsked { walk.renewProbe() }
    walk.enter(node, place?.target, hooks: false)
    wasSent = true
  }

  private func leave() {
    walk.dropped = walk.allDropped
    isInside = false
    (walk.pending, walk.mayNotWait, walk.logStart) = (pendingOutside, mayNotWaitOutside, logStartOutside)
    if let message = outside.popLast() { walk.message = message }
  }

  /// Ends a try by an error: nobody waits any more for open outcomes, which a report lists as queued.
  private func ended(by error: any Error) -> any Error {
    walk.pending?.abandon()
    replace(
      with: outcomes.compactMap { found in
        guard case .queued = found.outcome else { return found }
        return walk.listsEveryTarget ? Outcome(.queued(slot: -1), found.context) : nil
      })
    walk.leaveFrames(to: depth)
    return error
  }

  /// The answers inside of the hooks, once all outcomes are known.
  private func answers() throws -> MessageAnswers {
    settle()
    walk.wasAsked = walk.wasAsked || outcomes.contains { $0.outcome.hasRun }
    if place == nil, walk.reached == reachedBefore, !outcomes.contains(where: { $0.outcome.isReached }) {
      do { try node.route.core.answerSilence(walk.selector) } catch {
        if isAsked { throw error }
        node.route.core.report(error, walk.selector, nil, receiver: node.route.core.name)
      }
    }
    thrown = firstFailure
    if let thrown {
      // `collect` throws one failure and reports the others; `forward` lists all of them.
      if place == nil, !walk.listsEveryTarget { tellFailures(but: thrown) { $1 ? $0 : nil } }
      throw thrown
    }
    if outcomes.count == 1, case .answeredAll(let answers)? = outcomes.first?.outcome { return answers }
    var boxes: [ArgumentBox] = []
    for found in outcomes { found.outcome.add(to: &boxes) }
    return TypedAnswers.list(boxes, crosses: false)
  }

  /// The outcomes of targets and inner hooks, in the walk's log; empty where the sender does not ask.
  private var outcomes: ArraySlice<Outcome> { isAsked ? walk.log[start...] : [] }

  private func replace(with outcomes: [Outcome]) {
    if isAsked { walk.log.replaceSubrange(start..., with: outcomes) }
  }

  /// Takes in the known outcomes of other contexts.
  private func settle() {
    guard isAsked, walk.pending != nil else { return }
    walk.settle()
    guard let make = walk.message.request.makeProbe else { return }
    // Answers that the sender would not have taken any more are not given to its hooks either.
    let probe = make()
    var isEnough = walk.feed(probe, upTo: start)
    var taken: [Outcome] = []
    for found in outcomes {
      if !isEnough {
        taken.append(found)
        isEnough = found.outcome.boxes.contains(where: probe)
      } else if case .failed(let error) = found.outcome {
        found.context.report(error)
      }
    }
    replace(with: taken)
  }

  /// The first failure where the sender asks: it is thrown to the hooks as it would be to the sender.
  private var firstFailure: (any Error)? {
    guard isAsked, !(walk.message.request.ignoresErrors && outcomes.contains { $0.outcome.hasAnswer }) else {
      return nil
    }
    for found in outcomes { if case .failed(let error) = found.outcome { return error } }
    return nil
  }

  /// Removes the outcomes of an earlier try, which the next one replaces.
  private func giveUp() {
    guard wasSent else { return }
    giveUpFailures()
    replace(with: [])
    walk.counts = counts
    walk.reached = reachedBefore
    node.forgetPosted()
  }

  /// Removes the failures, which another try or a hook's answer replaces; reports those that no hook was thrown.
  private func giveUpFailures() {
    tellFailures(but: thrown) { _, _ in nil }
    thrown = nil
  }

  /// Reports the failures to the handlers, except one known error, and replaces each by what `replace` returns.
  private func tellFailures(but known: (any Error)?, _ replace: (_ failed: Outcome, _ isKnown: Bool) -> Outcome?) {
    var known = known
    self.replace(
      with: outcomes.compactMap { found in
        guard case .failed(let error) = found.outcome else { return found }
        let isKnown = known.map { isSame($0, error) } ?? false
        if isKnown { known = nil } else { found.context.report(error) }
        return replace(found, isKnown)
      })
  }

  // MARK: The end of the hooks

  private func trace(_ found: Result<MessageAnswers, any Error>) {
    if let sentStep { around.trace?.note(found, hookedMessage, step: sentStep) }
  }

  /// Ends the turn with an error: a target's that the hooks passed on, or one that replaces it.
  private func finish(by error: any Error) throws {
    trace(.failure(error))
    defer { keepOutcomes(-1) }
    if let thrown, isSame(thrown, error) { return noteOutcomes() }
    if place != nil { noteOutcomes() }
    // A report lists whoever ran; elsewhere the error replaces the targets' outcomes.
    if isAsked, place == nil || !walk.listsEveryTarget {
      giveUpFailures()
      replace(with: outcomes.filter { !$0.outcome.hasAnswer })
    }
    try fail(error)
  }

  /// Takes an error of the hooks: it ends the message or, for a nested proxy, is the proxy's outcome.
  private func fail(_ error: any Error) throws {
    guard let place else {
      walk.failedInHooks = true
      throw error
    }
    if !wasSent { withhold(isAnswered: true) }
    let failure = StepOutcome.failed(error)
    walk.note(failure)
    var own = place
    (own.proxies, own.isOwn) = (node.proxies, true)
    walk.put(failure, own)
  }

  /// Takes the answers of the hooks, where the sender asks. If targets are listed, and as many answered as there are answers, each
  /// gets one of them; otherwise the answers are the proxy's own, and the targets are listed without.
  private func finish(with answers: MessageAnswers) {
    trace(.success(answers))
    defer { keepOutcomes(-1) }
    if !wasSent { withhold(isAnswered: isAsked && answers.count > 0) }
    guard isAsked else { return noteOutcomes() }
    if thrown != nil, walk.listsEveryTarget {
      // A hook took the error, so failed targets count as run without an answer; not those whose error is that of inner hooks.
      tellFailures(but: thrown) { failed, _ in failed.context.isOwn ? nil : Outcome(.answered(nil), failed.context) }
    } else if thrown != nil {
      giveUpFailures()
      // Failed targets have run.
      walk.reached += 1
      if place != nil { walk.noteReached() }
    }
    var own = place ?? StepContext(selector: walk.selector, proxies: node.proxies)
    own.isOwn = true
    if !walk.listsEveryTarget {
      replace(with: outcomes.filter { !$0.outcome.hasAnswer })
      if answers.count > 0 { walk.log.append(Outcome(.answeredAll(answers), own)) }
      return noteOutcomes()
    }
    let boxes = answers.boxes
    let areOfTargets = outcomes.reduce(0) { $0 + $1.outcome.answerCount } == boxes.count
    var next = (areOfTargets ? boxes : []).makeIterator()
    for found in outcomes where found.outcome.hasAnswer { found.outcome.replaceAnswers { next.next() } }
    if !areOfTargets { walk.log += boxes.map { Outcome(.answered($0), own) } }
    noteOutcomes()
  }

  /// Notes the outcomes in the frame of the proxy around this one.
  private func noteOutcomes() {
    guard depth > 0 else { return }
    for found in outcomes { walk.note(found.outcome) }
    if !isAsked, walk.reached > reachedBefore { walk.noteReached() }
    if !isAsked, wasSent, walk.hasFailedInside { walk.noteFailure() }
  }

  /// Reports that the hooks withheld the message: from every target, if these are listed, else from the proxy.
  private func withhold(isAnswered: Bool) {
    let before = walk.toldCount
    if walk.listsEveryTarget { node.list(.withheld, at: place, in: walk, to: walk) }
    if let place, !isAnswered, walk.toldCount == before { walk.put(.skipped(.withheld), place) }
  }
}

/// Whether two errors are one that was passed on: the same reference or, since a typed `throws` puts the value into a new box, an
/// equal value of the same type, or one that reads the same.
func isSame(_ one: any Error, _ other: any Error) -> Bool {
  // In a struct, since a function of any type would be given the value.
  struct Reference { let error: any Error }
  let references = (Reference(error: one), Reference(error: other))
  if unsafeBitCast(references.0, to: UnsafeRawPointer.self) == unsafeBitCast(references.1, to: UnsafeRawPointer.self) {
    return true
  }
  guard type(of: one) == type(of: other) else { return false }
  func isEqual<T: Equatable>(_ one: T) -> Bool { (other as? T) == one }
  if let one = one as? any Equatable { return isEqual(one) }
  if type(of: one) is AnyClass { return (one as AnyObject) === (other as AnyObject) }
  return "\(one)" == "\(other)"
}
