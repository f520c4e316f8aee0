// Walk+Serving.swift: drives a walk, synchronously or with suspensions, and waits if the sender does.

extension Walk {
  /// Serves every target synchronously, and blocks until all have answered if the sender does.
  ///
  /// - Returns: what ended the message as a whole: the error of hooks around the first proxy; for a sender that blocks
  ///   `wouldDeadlock`, before anything is sent, and `timedOut`, naming those that did not answer.
  @inline(never) func serveAll() -> (any Error)? {
    do {
      if case .blocked = waiting { try refuseToWaitForHeldContext() }
      enter(root, root.target)
      try serve(to: 0)
      try block()
      flush()
    } catch { return end(by: error) }
    return end(by: nil)
  }

  /// Waits for room in buffers, serves every target, and suspends until all have answered if the sender waits for that.
  ///
  /// - Returns: as ``serveAll()``; also `CancellationError`, and `wouldDeadlock` in a method that would wait for its own end.
  nonisolated(nonsending) func serveAllAndWait() async -> (any Error)? {
    var failure: (any Error)?
    do {
      wait = try beginWait()
      message.request.wait = wait ?? message.request.wait
      try await reserveRoom(in: root)
      enter(root, root.target)
      try await serveAndWait(to: 0)
      try await suspend()
      flush()
    } catch {
      failure = error
    }
    // Of targets that the message did not reach.
    if keepsRoom { giveBackRoom(in: root) }
    wait?.end()
    return end(by: failure)
  }

  private func end(by failure: (any Error)?) -> (any Error)? {
    // What an ended message had posted before is not among the outcomes.
    if isSpent || failure != nil { abandon() }
    return failure
  }

  /// Passes unknown outcomes' errors to the handlers, now or when they happen.
  func abandon() {
    pending?.abandon()
    for found in log { if case .failed(let error) = found.outcome { found.context.report(error) } }
    log = []
  }

  /// ``serve(to:awaits:)`` with suspensions: hooks run in their waiting form, and a sender that waits for answers also waits for
  /// methods of direct targets that suspend or run elsewhere.
  nonisolated(nonsending) func serveAndWait(to base: Int) async throws {
    while true {
      try serve(to: base, awaits: true)
      guard let suspension else { return }
      self.suspension = nil
      try await goOn(suspension)
      // Answers have come meanwhile.
      if hasOpen { renewProbe() }
    }
  }

  @inline(never)
  nonisolated(nonsending) private func goOn(_ suspension: Suspension) async throws {
    switch suspension {
    case .hooks(let node): try await HookedTurn(self, node).runAndWait()
    case .node(let node):
      let room = giveBackRoom()
      do {
        try wait?.add(node.queuedTargets, in: route.core, selector)
        try await reserveRoom(in: node, with: room)
        return enter(node, node.target)
      } catch { if let place = place(of: node) { take(.failed(error), at: place) } }
      try await takeRoom(room)
    case .turn(let attempt, let step, let target):
      let room = giveBackRoom()
      if attempt.suspends { endTurn() }
      let outcome = await endedAndWaited(attempt, step).map { crossed($0, step, target) }
      take(outcome ?? .skipped(.first(step.obstacle, proxies.obstacle ?? .muted)), at: context(step, target))
      endTurn()
      try await takeRoom(room)
    }
  }

  /// Whether suspending methods are waited for: by a sender that waits for answers, or since the targets' proxy is queued.
  var mayAwaitTurns: Bool { if case .suspended = waiting { true } else { executor != nil } }

  var mayAwaitRoom: Bool { if case .suspended = waiting { true } else { message.request.waitsForRoom } }

  /// Ends a turn, waiting for what is elsewhere; what is not bound to the walk's context leaves that free.
  nonisolated(nonsending) private func endedAndWaited(_ attempt: OutgoingMessage.Attempt, _ step: RouteStep) async
    -> StepOutcome?
  {
    let (registration, proxies) = (step.registration.takeUnretainedValue(), proxies)
    guard executor != nil, attempt.suspends else {
      return await attempt.endedAndWaited(&message, for: registration, behind: proxies)
    }
    let sent = UncheckedSendable((attempt: attempt, message: message))
    let ended = await withTaskExecutorPreference(globalConcurrentExecutor) {
      var message = sent.value.message
      return UncheckedSendable(
        await sent.value.attempt.endedAndWaited(&message, for: registration, behind: proxies))
    }
    return ended.value
  }

  // MARK: Loops

  /// Serves the steps of a segment with opened boxes, or for a sender that takes answers only in boxes.
  @usableFromInline @inline(never)
  func serveOpened(_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) {
    let loop = WalkLoop(self, answering: nil)
    let lister = loop.answers == .plain ? lister : nil
    let (first, count) = loopSteps
    let end = first + count
    var next = first
    while next < end {
      let step = next.pointee
      next += 1
      guard step.isActive, !loop.isNested || loop.proxies.isWayOpen, let target = step.target, let method = step.method
      else {
        if miss(next) { continue } else { break }
      }
      do {
        if loop.answers == .none {
          try method._withUnsafeGuaranteedRef { try run($0, target) }
        } else if loop.answers == .plain {
          if let lister {
            lister.answers.add(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target)
          } else {
            accept(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target)
          }
        } else if !take(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target, step) {
          break
        }
      } catch {
        if !fail(error, next, target) { break }
      }
    }
    endLoop(next)
  }

  /// Whether all queued targets that were to get the message have died or been removed.
  var areDeadElsewhere: Bool { !root.hasElsewhere { $0.isActive && $0.target != nil } }

  /// Treats a message that nobody got by the proxy's options.
  ///
  /// - Parameter queued: how many of those reached are queued, and may have died before they got it.
  /// - Throws: `nobodyResponds` where silence is an error.
  /// - Returns: whether nobody got it.
  @discardableResult
  func answerSilence(queued: Int = 0) throws -> Bool {
    guard reached == queued, queued == 0 || areDeadElsewhere else { return false }
    // Otherwise it was treated inside of the hooks.
    if !root.hasTurn { try route.core.answerSilence(route.selector) }
    return true
  }

  // MARK: Waiting

  private func beginWait() throws -> SuspendedWait? {
    guard case .suspended = waiting else { return nil }
    try Task.checkCancellation()
    return try SuspendedWaits.begin(for: root.queuedTargets, in: route.core, route.selector)
  }

  nonisolated(nonsending) func suspend() async throws {
    guard let pending else { return }
    wait?.sent(pending)
    let timer = wait?.start { pending.fail($0) }
    defer { timer?.cancel() }
    do { try await pending.wait() } catch {
      pending.abandon()
      throw error
    }
  }

  func block() throws {
    guard case .blocked(let patience) = waiting else { return }
    let late = pending?.wait(until: patience.deadline) ?? []
    guard !late.isEmpty else { return }
    pending?.abandon()
    let names = late.map { "\($0.name) on \($0.registration?.queued?.mailbox.context.name ?? "its context")" }
    throw MessageError(
      .timedOut, receiver: route.core.name, selector: route.selector.name,
      evidence: "no answer in \(patience.timeout) from \(names.joined(separator: ", "))")
  }

  /// All queued steps, of a proxy and those inside, with their mailboxes.
  private func elsewhere(_ root: RouteNode) -> [(step: RouteStep, mailbox: Mailbox)] {
    root.all(evenAway: true).flatMap { $0.plan?.groups ?? [] }.flatMap { group in
      let runsNow = group.steps.count == 1 && group.steps[0].queued?.runsNow(group.steps[0]) ?? false
      return runsNow ? [] : group.steps.filter(\.isActive).map { ($0, group.mailbox) }
    }
  }

  /// - Throws: `wouldDeadlock` when the caller is on a context that it would wait for.
  private func refuseToWaitForHeldContext() throws {
    func refuse(_ evidence: String) -> MessageError {
      MessageError(.wouldDeadlock, receiver: route.core.name, selector: route.selector.name, evidence: evidence)
    }
    for (step, mailbox) in elsewhere(root) {
      if let deadlock = mailbox.deadlock { throw refuse(deadlock) }
      // A method that leaves the context of its delivery for one where the caller blocks.
      guard let method = step.method?.takeUnretainedValue(), !method.isolation.isSender, let target = step.target,
        method.canRun(on: target)
      else { continue }
      throw refuse(
        "the method of \(typeName(of: target)) runs where the caller would wait for it: \(method.isolation.place)")
    }
  }

  /// A target of a proxy, or of one inside, that would have to be waited for; `nil` when all can be served synchronously, as far as
  /// is known before they are asked.
  func awaitedTarget(of root: RouteNode) -> String? {
    for (step, mailbox) in elsewhere(root) {
      if let target = step.target { return "\(typeName(of: target)) on \(mailbox.context.name)" }
    }
    for route in root.all().map(\.route) {
      for index in 0..<route.count where route.steps[index].isActive {
        let step = route.steps[index]
        if step.queued == nil, let method = step.method?.takeUnretainedValue(), !method.isolation.isSender,
          let target = step.target, !method.canRun(on: target)
        {
          return "the method of \(typeName(of: target)), which runs \(method.isolation.place),"
        }
      }
    }
    return nil
  }
}

/// What a loop over neighbouring steps checks and does with answers. It tells the walk only of exceptions.
@usableFromInline
struct WalkLoop {
  @usableFromInline let answers: Answers
  /// The proxies of the targets. The walk retains them.
  @usableFromInline let proxies: Unmanaged<ProxyChain>
  @usableFromInline let isNested: Bool

  @usableFromInline
  enum Answers {
    case none
    /// The sink takes them as they are.
    case typed
    /// The sink takes them in boxes, without their places.
    case plain
    /// The walk takes them in boxes.
    case boxed
  }

  /// - Parameter type: that of the answers; `nil` where they come in boxes.
  @usableFromInline
  init(_ walk: Walk, answering type: Any.Type?) {
    answers = walk.answers(of: type)
    // Retained by nobody: the walk keeps its nodes, and these what they are told of.
    (proxies, isNested) = Unmanaged.passUnretained(walk.node)._withUnsafeGuaranteedRef {
      (.passUnretained($0.proxies), $0.proxies.isNested)
    }
  }
}

extension Unmanaged<ProxyChain> {
  /// Whether every proxy between the sender and the targets lets messages through.
  @usableFromInline var isWayOpen: Bool { _withUnsafeGuaranteedRef { $0.isOpen || $0.obstacle == nil } }
}

/// How long a sender blocks at most, including its hooks.
final class Patience: Sendable {
  let timeout: Duration
  let deadline: Deadline

  init(_ timeout: Duration) { (self.timeout, deadline) = (timeout, Deadline(after: timeout)) }
}
