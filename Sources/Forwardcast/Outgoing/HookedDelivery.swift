// HookedDelivery.swift: one call of a proxy's hooks, and the delivery inside it.

/// One call of a proxy's hooks, and the delivery inside it. If the sender requests outcomes, they
/// are buffered until the call ends, since the hooks may replace them. The proxy is either the
/// outermost one, to which the sender sent the message, or a nested proxy.
final class HookedDelivery {
  // MARK: - Configuration (immutable)

  private let delivery: MessageDelivery
  private let node: ProxyNode
  private let target: AnyObject?
  /// The nested proxy's site in its outer proxy; `nil` for the outermost proxy.
  private let place: StepContext?
  /// `start` is the index of the call's first buffered outcome, `depth` the number of outer visits.
  private let (start, depth): (Int, Int)
  /// The state before the call. Another `proceed` restores it; the call's end restores `notes`.
  private let before: (notes: ProxyVisit.Notes?, visited: Int, counts: OutcomeCounts)
  private let around: RouteSurroundings

  // MARK: - State (owned by the sender)

  /// The outer state while `proceed` runs. `message` is `nil` if it was not replaced.
  @exclusivity(unchecked) private var outside:
    (scope: MessageDelivery.Scope, trace: MessageTrace?, message: OuterMessage?)?
  private var wasSent = false
  /// The step number of the `sent` event; `nil` without a trace.
  private var sentStep: Int?
  /// The error that the latest `proceed` threw to the hooks.
  private var thrown: (any Error)?

  init(_ delivery: MessageDelivery, _ node: ProxyNode, _ target: AnyObject?) {
    (self.delivery, self.node, self.target) = (delivery, node, target)
    place = delivery.place(of: node, target)
    depth = delivery.depth
    before = (delivery.visits.last?.progress.notes, delivery.visited.count, delivery.outcomes.counts)
    guard let around = node.route.route.around else { preconditionFailure("a call of hooks without hooks") }
    self.around = around
    start = delivery.outcomes.held.count
  }

  private var outcomes: OutcomeQueue { delivery.outcomes }
  private var asks: Bool { delivery.request.asks }

  private var message: HookedMessage {
    let request = delivery.request
    return HookedMessage(
      selector: delivery.selector, receiver: node.route.core, arguments: delivery.message.arguments,
      budget: delivery.message.trail?.budget,
      mayMissAnswers: request.ignoresErrors
        || !request.waitsForAnswers && (delivery.tree.hasQueued || delivery.tree.mayGrow),
      makeProbe: request.makeProbe, isOfProxy: true)
  }

  // MARK: - Running the hooks

  /// Runs the hooks and the delivery inside them synchronously. If all hooks are `before` hooks,
  /// the delivery continues in its usual loop after this call.
  ///
  /// - Throws: the hooks' error, if the proxy is the outermost one. A nested proxy records the
  ///   error instead.
  func run() throws {
    if around.isBefore {
      do {
        try around.hooks.runBefore(message)
        if place == nil { try delivery.message.admit(along: node.route) }
      } catch { return try fail(error) }
      return delivery.enter(node, target, runsHooks: false)
    }
    begin()
    defer { end() }
    do {
      finish(
        with: try around.hooks.run(message, isAwaited: delivery.request.waitsInTask) {
          try self.proceed($0, mayWait: true)
        })
    } catch { try finish(by: error) }
  }

  /// Runs the hooks and the delivery inside them asynchronously. Throws like ``run()``.
  nonisolated(nonsending) func runAndWait() async throws {
    begin()
    defer { end() }
    do {
      finish(
        with: try await around.hooks.runAndWait(
          message, { try await self.proceedAndWait($0) }, inTurn: { try self.proceed($0, mayWait: false) }))
    } catch { try finish(by: error) }
  }

  private func begin() {
    sentStep = around.trace?.noteSent(delivery.message.arguments, at: site)
    let held = outcomes.beginHookCall(asks, from: delivery.scope.start, delivery.scope.pending)
    assert(held == start, "a hook call begins behind the outcomes of those around it")
    assert(delivery.unposted.isEmpty, "queued targets before a hook call have been posted")
  }

  private func end() {
    assert(outside == nil, "a hook call ends outside of what it surrounds")
    assert(delivery.depth == depth, "a hook call leaves no visit of what it surrounds")
    outcomes.endHookCall(asks, from: delivery.scope.start, delivery.scope.pending)
  }

  // MARK: - Proceeding

  /// - Parameter mayWait: false in a synchronous hook of a sender that waits in a task. `proceed`
  ///   then throws if a target must be awaited.
  private func proceed(_ arguments: MessageArguments, mayWait: Bool) throws -> MessageAnswers {
    let mustNotWait = !mayWait && delivery.request.waitsInTask
    if mustNotWait, let target = node.awaitedTarget {
      throw MessageError(
        .isolationMismatch, receiver: node.route.core.name, selector: delivery.selector.name,
        evidence: "\(target) must be awaited, but an around hook of the proxy is not async; "
          + "pass the hook's async form as 'waiting:'")
    }
    try enter(arguments)
    defer { leave() }
    if mustNotWait { delivery.scope.mayNotWait = true }
    do {
      let suspension = try delivery.run(to: depth)
      assert(suspension == nil, "only a caller that awaits gets something to wait for")
      try delivery.block(in: node)
    } catch { throw ended(by: error) }
    return try answers()
  }

  nonisolated(nonsending) private func proceedAndWait(_ arguments: MessageArguments) async throws -> MessageAnswers {
    try enter(arguments)
    defer { leave() }
    do {
      try await delivery.runAndWait(to: depth)
      try await delivery.awaitAnswers(in: node)
    } catch let room as RoomFailure {
      throw ended(by: room.error)
    } catch { throw ended(by: error) }
    return try answers()
  }

  /// Begins a `proceed` with the hooks' arguments. Throws `hookEnded` if another `proceed` is
  /// running.
  private func enter(_ arguments: MessageArguments) throws {
    guard outside == nil else {
      throw MessageError(
        .hookEnded, receiver: node.route.core.name, selector: delivery.selector.name,
        evidence: "'proceed' was called while another 'proceed' was running")
    }
    giveUp()
    var replaced: OuterMessage?
    // Copying a message is expensive, so an unchanged message is not replaced.
    if delivery.message.shared !== arguments || delivery.message.isByValue {
      var inside = delivery.message
      inside.replace(with: arguments)
      if place == nil { try inside.admit(along: node.route) }
      replaced = OuterMessage(exchange(&delivery.message, with: inside))
    }
    outside = (delivery.scope, delivery.follow(around.trace), replaced)
    if delivery.scope.pending != nil { delivery.scope.pending = PendingAnswers() }
    delivery.scope.start = start
    outcomes.renewProbe(from: start, delivery.scope.pending)
    delivery.enter(node, target, runsHooks: false)
    wasSent = true
  }

  private func leave() {
    guard let (scope, trace, message) = exchange(&outside, with: nil) else {
      return assertionFailure("what hooks surround is left once")
    }
    delivery.scope = scope
    delivery.endFollowing(restoring: trace)
    if let message { delivery.message = message.message }
  }

  /// Ends a `proceed` with an error. A report lists each target with a pending outcome as queued.
  private func ended(by error: any Error) -> any Error {
    delivery.scope.pending?.abandon()
    replace(
      with: held.compactMap { found in
        guard case .queued = found.outcome else { return found }
        return delivery.request.listsEveryTarget ? Outcome(.queued(slot: -1), found.context) : nil
      })
    delivery.abandonVisits(to: depth)
    return error
  }

  /// The answers that `proceed` returns when all outcomes are known. Throws the first failure.
  private func answers() throws -> MessageAnswers {
    if asks, let pending = delivery.scope.pending {
      outcomes.settle(from: start, pending)
      outcomes.dropUnneeded(from: start)
    }
    if held.contains(where: { $0.outcome.hasRun && !$0.context.isOwn }) { outcomes.hasRun = true }
    if place == nil, !outcomes.hasRun, outcomes.counts.reached == before.counts.reached,
      !held.contains(where: { $0.outcome.isReached })
    {
      do { try node.route.core.answerSilence(delivery.selector) } catch {
        if asks { throw error }
        delivery.report(error)
      }
    }
    thrown = firstFailure
    if let thrown {
      // `collect` throws one failure and reports the other failures; `forward` lists all.
      if place == nil, !delivery.request.listsEveryTarget { reportFailures(but: thrown) { $1 ? $0 : nil } }
      throw thrown
    }
    if held.count == 1, case .answeredAll(let answers)? = held.first?.outcome { return answers }
    guard asks else { return .none }
    var boxes: [ArgumentBox] = []
    for found in held { found.outcome.add(to: &boxes) }
    return TypedAnswers.list(boxes, crosses: false)
  }

  /// The outcomes inside this call; empty if the sender requests none.
  private var held: ArraySlice<Outcome> { asks ? outcomes.held[start...] : [] }

  private func replace(with outcomes: [Outcome]) {
    if asks { self.outcomes.replaceHeld(from: start, with: outcomes) }
  }

  /// The first failure, to throw to the hooks. `nil` if the sender requests no outcomes, or ignores
  /// errors and has an answer.
  private var firstFailure: (any Error)? {
    guard asks, !(delivery.request.ignoresErrors && held.contains { $0.outcome.hasAnswer }) else { return nil }
    for found in held { if case .failed(let error) = found.outcome { return error } }
    return nil
  }

  /// Discards the outcomes of the previous `proceed`.
  private func giveUp() {
    guard wasSent else { return }
    giveUpFailures()
    replace(with: [])
    outcomes.counts = before.counts
    delivery.restore(before.notes, visited: before.visited)
    delivery.forgetPosted(node)
  }

  /// Reports those failures that `proceed` did not throw to the hooks, then discards all failures.
  private func giveUpFailures() {
    reportFailures(but: thrown) { _, _ in nil }
    thrown = nil
  }

  /// Reports all failures except `known`. Replaces each failure with the result of `replacement`.
  private func reportFailures(
    but known: (any Error)?, _ replacement: (_ failed: Outcome, _ isKnown: Bool) -> Outcome?
  ) {
    var known = known
    replace(
      with: held.compactMap { found in
        guard case .failed(let error) = found.outcome else { return found }
        let isKnown = known.map { isSame($0, error) } ?? false
        if isKnown { known = nil } else { found.context.report(error) }
        return replacement(found, isKnown)
      })
  }

  // MARK: - End of the call

  /// The proxy itself, as the site of the answers and errors of its hooks.
  private var site: StepContext { StepContext(selector: delivery.selector, proxies: node.path) }

  private func trace(_ found: StepOutcome) {
    if let sentStep { around.trace?.note(found, delivery.message.arguments, at: site, step: sentStep) }
  }

  /// Ends the call with the hooks' own error, or with a target's error that the hooks rethrew.
  private func finish(by error: any Error) throws {
    trace(.failed(error))
    if let thrown, isSame(thrown, error) { return noteOutcomes() }
    // The error replaces the outcomes, except in a report about a nested proxy, which still lists
    // the targets that ran.
    if asks, place == nil || !delivery.request.listsEveryTarget {
      giveUpFailures()
      replace(with: held.filter { !$0.outcome.hasAnswer })
    }
    if let place {
      // If no target of the nested proxy responded, the outcomes contain an entry for the proxy
      // itself. The failure replaces this entry.
      replace(with: held.filter { $0.context.proxies !== place.proxies })
      noteOutcomes()
    }
    try fail(error)
  }

  /// Handles the hooks' error: the error ends the message, or becomes a nested proxy's outcome.
  private func fail(_ error: any Error) throws {
    guard let place else { throw error }
    if !wasSent, node.route.count > 0 || !node.listsNothing { withhold(isAnswered: true) }
    let failure = StepOutcome.failed(error)
    delivery.note(failure)
    var own = place
    (own.proxies, own.isOwn) = (node.path, true)
    outcomes.add(failure, at: own, delivery.scope.pending)
  }

  /// Ends the call with the hooks' answers. If there are as many answers as targets that answered,
  /// a report assigns the answers to these targets, in order. Otherwise the report lists the
  /// answers as the proxy's own.
  private func finish(with answers: MessageAnswers) {
    trace(.answeredAll(answers))
    if !wasSent { withhold(isAnswered: asks && answers.count > 0) }
    guard asks else { return }
    let listsTargets = delivery.request.listsEveryTarget
    var wasReached = false
    if thrown != nil {
      // The hooks handled the error, so a failed target counts as run without an answer.
      let targetsFailed = held.contains { if case .failed = $0.outcome { !$0.context.isOwn } else { false } }
      reportFailures(but: thrown) { failed, _ in
        listsTargets && !failed.context.isOwn ? Outcome(.answered(nil), failed.context) : nil
      }
      wasReached = !listsTargets && targetsFailed
      if wasReached { outcomes.countServed(1) }
    }
    var own = place ?? site
    own.isOwn = true
    if !listsTargets {
      var kept = held.filter { !$0.outcome.hasAnswer }
      if answers.count > 0 { kept.append(Outcome(.answeredAll(answers), own)) }
      replace(with: kept)
      noteOutcomes()
      if wasReached, place != nil { delivery.noteReached() }
      return
    }
    // The hooks returned the targets' answers unchanged.
    if held.count == 1, case .answeredAll(let all)? = held.first?.outcome, all === answers { return noteOutcomes() }
    let boxes = answers.boxes
    let areOfTargets = held.reduce(0) { $0 + $1.outcome.answerCount } == boxes.count
    var next = (areOfTargets ? boxes : []).makeIterator()
    for found in held where found.outcome.hasAnswer { found.outcome.replaceAnswers { next.next() } }
    if !areOfTargets { replace(with: held + boxes.map { Outcome(.answered($0), own) }) }
    // A proxy without listed targets is listed itself.
    if let place, wasSent, held.isEmpty, node.listsNothing {
      replace(with: [Outcome(.skipped(.doesNotRespond), place)])
    }
    noteOutcomes()
  }

  private func noteOutcomes() {
    guard asks, place != nil else { return }
    delivery.restore(before.notes, visited: nil)
    for found in held { delivery.note(found.outcome) }
  }

  /// Records a withheld message: in a report, for each target; otherwise, for the nested proxy.
  private func withhold(isAnswered: Bool) {
    if delivery.request.listsEveryTarget {
      delivery.list(node, target, as: .withheld)
      _ = try? delivery.run(to: depth)
    } else if let place, !isAnswered {
      outcomes.add(.skipped(.withheld), at: place, delivery.scope.pending)
    }
  }
}

/// A message that hooks have replaced. It is an object because few hooks replace the message, and
/// copying an optional message is slow even if it is `nil`.
private final class OuterMessage {
  let message: OutgoingMessage

  init(_ message: consuming OutgoingMessage) { self.message = message }
}

/// True if `one` and `other` are the same error, possibly rethrown. A typed `throws` boxes an error
/// again, so errors of one type with equal values or descriptions count as the same.
func isSame(_ one: any Error, _ other: any Error) -> Bool {
  if isIdentical(one, other) { return true }
  guard type(of: one) == type(of: other) else { return false }
  func isEqual<T: Equatable>(_ one: T) -> Bool { (other as? T) == one }
  if let one = one as? any Equatable { return isEqual(one) }
  if type(of: one) is AnyClass { return (one as AnyObject) === (other as AnyObject) }
  return "\(one)" == "\(other)"
}

/// True if `one` and `other` are one error value, thrown and rethrown without a typed `throws`.
package func isIdentical(_ one: any Error, _ other: any Error) -> Bool {
  // In a struct, since the generic `unsafeBitCast` would receive the unwrapped error.
  struct Reference { let error: any Error }
  let references = (Reference(error: one), Reference(error: other))
  return unsafeBitCast(references.0, to: UnsafeRawPointer.self)
    == unsafeBitCast(references.1, to: UnsafeRawPointer.self)
}
