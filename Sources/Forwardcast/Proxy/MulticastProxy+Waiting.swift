// MulticastProxy+Waiting.swift: messages whose sender waits, suspended or blocked.
// Layer: Proxy. See DESIGN.md, "Delivery".

extension MulticastProxy where Interface: Sendable {
  /// Sends a message to every live, unmuted target that responds, waits for all, and makes one result of the answers.
  ///
  ///     let seen = try await members.collectAndWait(.unread, returning: .sum)
  ///
  /// Answers are taken in the order of delivery. Direct targets run in the caller's turn, one after another, methods that
  /// suspend included. A target that is removed or dies meanwhile is not waited for. Buffers that suspend their senders
  /// are waited for before anything is sent.
  ///
  /// - Throws: the first error of a target, after the others have answered; `CancellationError` when the task is
  ///   cancelled, which takes back nothing that was sent; `nobodyResponds` where silence is an error; `wouldDeadlock` in a
  ///   method of a target that would be waited for.
  nonisolated(nonsending) public func collectAndWait<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) async throws -> Output {
    var (question, sheet) = question(message, Arguments(values: (repeat each arguments)), policy, crosses: true)
    try await question.askAndWait()
    return try finish(sheet, question)
  }

  /// Sends a message as ``collectAndWait(_:_:returning:)`` does, and blocks the caller until all have answered.
  ///
  /// A method that suspends cannot be waited for when its delivery is direct: it fails with `isolationMismatch`.
  ///
  /// - Throws: also `wouldDeadlock`, before anything is sent, when the caller is on a context that it would wait for; and
  ///   `timedOut`, naming who did not answer. Their messages stay sent.
  public func collect<R: Sendable, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>,
    timeout: Duration
  ) throws -> Output {
    var (question, sheet) = question(message, Arguments(values: (repeat each arguments)), policy, crosses: true)
    try question.askAndBlock(timeout)
    return try finish(sheet, question)
  }

  /// Sends a message to every live, unmuted target that responds, and makes one result of the direct targets' answers.
  ///
  /// Queued targets get the message as well, but nobody waits for them: see ``collectAndWait(_:_:returning:)``.
  @inlinable
  public func collect<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collect(message, Arguments(values: (repeat each arguments)), returning: policy, crosses: true)
  }

  /// Sends a message as a value, waits for all, and says what became of it at each target.
  ///
  /// `answers` has those of queued targets as well, in the order of delivery; nothing is left in `queued`. An answer of a
  /// queued target that is not known to be `Sendable` counts as a failure: see ``ArgumentBox/isSendable``.
  ///
  /// - Throws: as ``forward(_:)``, and as ``collectAndWait(_:_:returning:)`` for waiting. Errors of targets are in the
  ///   report.
  nonisolated(nonsending) public func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    var question = try question(invocation)
    try await question.askAndWait()
    return try report(question)
  }

  /// Sends a message as ``forwardAndWait(_:)`` does, and blocks the caller until all have answered.
  ///
  /// - Throws: also `wouldDeadlock` and `timedOut`, as ``collect(_:_:returning:timeout:)``.
  public func forward(_ invocation: Invocation, timeout: Duration) throws -> DeliveryReport {
    var question = try question(invocation)
    try question.askAndBlock(timeout)
    return try report(question)
  }

  /// Sends a message as a value, blocks the caller until all have answered, and makes one result of the answers.
  ///
  /// A target that answers nothing, since its method returns `void`, adds nothing. A policy that may know its result early
  /// has the targets asked in the order of delivery, and takes nothing back that was queued.
  ///
  /// - Throws: as ``collect(_:returning:)``; also `wouldDeadlock`, before anything is sent, and `timedOut`; and
  ///   `isolationMismatch` for an answer of a queued target that is not known to be `Sendable`.
  public func collect<Output>(
    _ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>, timeout: Duration
  ) throws -> Output {
    var question = try question(invocation, inOrder: policy.mayStopEarly)
    let collector = policy.makeCollector()
    let boxes = AnswerCollector<Invocation, Output>(
      (), { _, answered in try answered.result.map(collector.take) ?? true }, { _ in collector.finish() })
    let sheet = AnswerSheet(question.answers, boxes, stopsAtFirst: core.stopsAtFirst)
    let (walk, selector) = (question.walk, invocation.selector)
    sheet.check = { index, answered in
      let step = walk.steps[index]
      guard step.part != nil, let result = answered.result, !result.isSendable else { return }
      throw Self.mayNotCross(result, from: step.target ?? step.registration.takeUnretainedValue(), selector)
    }
    if question.inOrder { question.isKnown = { sheet.take(before: $0) } }
    try question.askAndBlock(timeout)
    return try finish(sheet, question)
  }

  /// Broadcasts a message when every buffer that suspends its senders has room for it.
  ///
  /// Does not wait for the targets to run. Places are given out first come first served.
  ///
  /// - Throws: `CancellationError` when the task is cancelled before there is room; nothing is sent then.
  @discardableResult
  nonisolated(nonsending) public func broadcastWhenReady<R, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A
  ) async throws -> BroadcastSummary {
    let walk = core.begin(message.selector)
    let values = Arguments(values: (repeat each arguments))
    guard walk.hasQueued else { return broadcast(message, values, along: walk, crosses: true) }
    let traits = values.traits
    var posting = Posting(core, message.selector, crosses: true, copies: traits.mayCopy)
    let plan = core.plan(walk)
    do { try await posting.reserve(plan) } catch {
      posting.giveBack(plan)
      throw error
    }
    let summary = core.broadcast(walk, &posting, self) { values.door(returning: R.self, copies: $0) }
    posting.giveBack(plan)
    return summary
  }
}

extension MulticastProxy {
  /// A `collect` that waits for nobody.
  @inlinable @inline(__always)
  func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>,
    returning policy: ReturnPolicy<R, Output>, crosses: Bool
  ) throws -> Output {
    let walk = core.begin(message.selector)
    if walk.hasQueued { return try collectQueued(message, arguments, walk, policy, crosses: crosses) }
    return try collect(message, arguments, along: walk, returning: policy, crosses: crosses)
  }

  @usableFromInline
  func collectQueued<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>, _ walk: RouteWalk,
    _ policy: ReturnPolicy<R, Output>, crosses: Bool
  ) throws -> Output {
    var (question, sheet) = question(message, arguments, policy, crosses: crosses, along: walk)
    question.posting.reply = nil
    question.makeDeafDoor = { arguments.door(returning: R.self, copies: $0) }
    var queued = false
    question.noteQueued = { queued = true }
    question.ask()
    return try finish(sheet, question, reachedAny: queued)
  }

  func question<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>,
    _ policy: ReturnPolicy<R, Output>, crosses: Bool, along walk: RouteWalk? = nil
  ) -> (Question<R>, AnswerSheet<R, Output>) {
    let answers = Gathering<R> { try typedResult(of: $0, from: $1) }
    let sheet = AnswerSheet(answers, policy.makeCollector(), stopsAtFirst: core.stopsAtFirst)
    let traits = arguments.traits
    let posting = Posting(
      core, message.selector, crosses: crosses || traits.isEmpty, copies: traits.mayCopy)
    var question = Question(
      core, self, walk ?? core.begin(message.selector), answers, posting, inOrder: policy.mayStopEarly
    ) {
      arguments.door(answering: answers, copies: $0)
    }
    if question.inOrder { question.isKnown = { sheet.take(before: $0) } }
    return (question, sheet)
  }

  func finish<R, Output>(
    _ sheet: AnswerSheet<R, Output>, _ question: Question<R>, reachedAny: Bool = false
  ) throws -> Output {
    _ = sheet.take(before: question.walk.count)
    if !sheet.reachedAny, !reachedAny { try core.silenceOrThrow(question.posting.selector, self) }
    return try sheet.finish()
  }

  private func question(_ invocation: Invocation, inOrder: Bool = false) throws -> Question<Invocation> {
    if let trail = invocation.route, trail.contains(core) {
      throw MessageError.cycle(invocation.selector, through: self)
    }
    var message = invocation
    message.result = nil
    try message.fitStatedTypes(receiver: self)
    let walk = core.begin(message.selector)
    try core.check(message, walk)
    var posting = Posting(
      core, message.selector, crosses: message.arguments.allSatisfy(\.isSendable),
      copies: message.arguments.contains { $0.value is any ArgumentCopying })
    posting.invocation = message
    posting.invocation?.route = ProxyTrail(core, after: message.route)
    let boxes = Vouched(message.arguments)
    return Question(core, self, walk, Gathering { invocation, _ in invocation }, posting, inOrder: inOrder) {
      _ in { _, _, _ in boxes.value }
    }
  }

  private static func mayNotCross(_ answer: ArgumentBox, from target: AnyObject, _ selector: MessageSelector)
    -> MessageError
  {
    MessageError(
      .isolationMismatch, receiver: typeName(of: target), selector: selector.name,
      evidence: "its answer of type \(answer.type) is not known to be Sendable and may not cross")
  }

  private func report(_ question: Question<Invocation>) throws -> DeliveryReport {
    var report = DeliveryReport()
    var met: Set<ObjectIdentifier> = []
    report.dropped = question.posting.dropped
    for index in 0..<question.walk.count {
      let step = question.walk.steps[index]
      guard let outcome = question.answers.outcome(index) else { continue }
      met.insert(ObjectIdentifier(step.registration.takeUnretainedValue()))
      let target = step.target
      switch outcome {
      case .open: break
      case .skipped(let reason): report.skipped.append(.init(target: target, reason: reason))
      case .failed(let error):
        report.failures.append(.init(target: target ?? step.registration.takeUnretainedValue(), error: error))
      case .answered(let answered):
        let wasQueued = step.part != nil
        let target = target ?? step.registration.takeUnretainedValue()
        if wasQueued, let result = answered.result, !result.isSendable {
          let error = Self.mayNotCross(result, from: target, question.posting.selector)
          report.failures.append(.init(target: target, error: error))
        } else {
          report.answers.append(.init(target: target, result: answered.result, wasQueued: wasQueued))
        }
      }
    }
    core.explainOthers(question.posting.selector, except: met, stopped: !report.failures.isEmpty, in: &report)
    if report.nobodyResponded { try core.silenceOrThrow(question.posting.selector, self) }
    return report
  }
}

extension Arguments {
  /// The arguments for targets that nobody listens to.
  @inlinable
  func door<R>(returning: R.Type, copies: Bool) -> TypedDoor {
    let wanted = ObjectIdentifier(((repeat each A) -> R).self)
    // Whoever posts the door has made sure that the arguments may cross; in the sender's turn nothing crosses.
    nonisolated(unsafe) let own = copies ? copiedForDelivery : self
    return { method, target, _ in
      guard let method, method._withUnsafeGuaranteedRef({ $0.functionType == wanted }) else { return own.boxes }
      let typed = Unmanaged<TypedMethod<R, repeat each A>>.fromOpaque(method.toOpaque())
      _ = try typed._withUnsafeGuaranteedRef { try $0.call(target, own) }
      return nil
    }
  }

  /// The arguments for targets whose answers go to `answers`.
  func door<R>(answering answers: Gathering<R>, copies: Bool) -> TypedDoor {
    let wanted = ObjectIdentifier(((repeat each A) -> R).self)
    nonisolated(unsafe) let own = copies ? copiedForDelivery : self
    return { method, target, index in
      guard let method, method._withUnsafeGuaranteedRef({ $0.functionType == wanted }) else { return own.boxes }
      let typed = Unmanaged<TypedMethod<R, repeat each A>>.fromOpaque(method.toOpaque())
      answers.answer(index, try typed._withUnsafeGuaranteedRef { try $0.call(target, own) })
      return nil
    }
  }
}
