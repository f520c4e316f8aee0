// UnusualSteps.swift: what the typed loops do beside calling methods of their types.
// Layer: Proxy. See DESIGN.md, "Two doors".

/// The steps of a typed message whose methods have other types, errors and counts. Kept out of the loops, so that those stay
/// in registers.
@usableFromInline
struct UnusualSteps {
  @usableFromInline var dead = 0
  @usableFromInline var skipped = 0
  @usableFromInline var failed = 0
  /// The message's arguments in boxes; set before a step is served.
  @usableFromInline var boxes: [ArgumentBox]?

  @inlinable
  init() {}

  /// Whether a step is passed by, since its registration lets nothing through or its target is dead.
  @usableFromInline
  mutating func isPassedBy(_ step: RouteStep) -> Bool {
    if !step.isActive {
      skipped += 1
    } else if step.target == nil {
      dead += 1
    } else {
      return false
    }
    return true
  }

  /// Serves a step by boxes. `true` when the broadcast is to end.
  @usableFromInline
  mutating func serve(_ step: RouteStep, _ route: MessageRoute) -> Bool {
    do {
      _ = try perform(step, route)
      return false
    } catch {
      return fail(error, step, route)
    }
  }

  /// The answer of a step, by boxes; `nil` when its target has died.
  ///
  /// - Throws: what the target throws; `typeMismatch` when the answer is of another type.
  @usableFromInline
  mutating func answer<R>(_ step: RouteStep, _ route: MessageRoute) throws -> R? {
    guard let (box, target) = try perform(step, route) else { return nil }
    var answered = Invocation(route.selector)
    answered.result = box
    return try typedResult(of: answered, from: target)
  }

  private mutating func perform(_ step: RouteStep, _ route: MessageRoute) throws -> (ArgumentBox?, AnyObject)? {
    guard let target = step.target else {
      dead += 1
      return nil
    }
    var message = OutgoingMessage(Invocation(route.selector, arguments: boxes ?? []), keepsAnswers: true)
    let turn = message.perform(
      step.method?.takeUnretainedValue(), on: target, trail: ProxyChain(route.core, in: nil).trail(after: nil))
    switch turn.ended(&message) {
    case .answered(let box)?: return (box, target)
    case .failed(let error)?: throw error
    case .queued?, .skipped?, nil: return nil
    }
  }

  /// Reports a target's error. `true` when the broadcast is to end.
  @usableFromInline
  mutating func fail(_ error: any Error, _ step: RouteStep, _ route: MessageRoute) -> Bool {
    failed += 1
    route.core.report(error, route.selector, step)
    return route.core.stopsAtFirst
  }

  /// Cleans up after a broadcast and counts it.
  @inlinable @inline(__always)
  func summary(_ route: MessageRoute, reached: Int) -> BroadcastSummary {
    if dead &+ skipped > 0 { route.core.end(route, dead: dead, skipped: skipped) }
    let summary = BroadcastSummary(
      delivered: reached &- dead &- skipped &- failed, failed: failed, skipped: dead &+ skipped)
    if summary.nobodyResponded { reportSilence(route) }
    return summary
  }

  /// Cleans up after a `collect`, and gives what it throws: the first error, unless there is an answer and it is enough;
  /// `nobodyResponds` where silence is an error.
  @inlinable @inline(__always)
  func failure(_ route: MessageRoute, _ errors: StepErrors?, reached: Bool, ignoresErrors: Bool) -> CollectFailure? {
    if reached, errors == nil, dead &+ skipped == 0 { return nil }
    return unusualFailure(route, errors, reached: reached, ignoresErrors: ignoresErrors)
  }

  @usableFromInline
  func unusualFailure(_ route: MessageRoute, _ errors: StepErrors?, reached: Bool, ignoresErrors: Bool)
    -> CollectFailure?
  {
    if dead + skipped > 0 { route.core.end(route, dead: dead, skipped: skipped) }
    if let errors { return errors.failure(route, isContent: ignoresErrors && reached) }
    return reached ? nil : .silence(route)
  }
}

/// What the proxy does about a broadcast that nobody got.
@usableFromInline
func reportSilence(_ route: MessageRoute) {
  do { try route.core.answerSilence(route.selector) } catch {
    route.core.report(error, route.selector, nil, receiver: route.core.name)
  }
}

/// The errors of one `collect`, in the order of delivery.
@usableFromInline
struct StepErrors {
  private var list: [(error: any Error, step: RouteStep)] = []

  @usableFromInline
  init() {}

  @usableFromInline
  mutating func add(_ error: any Error, _ step: RouteStep) { list.append((error, step)) }

  /// The first, unless an answer is enough; the others go to the proxy's handler.
  func failure(_ route: MessageRoute, isContent: Bool) -> CollectFailure? {
    for (error, step) in list.dropFirst(isContent ? 0 : 1) { route.core.report(error, route.selector, step) }
    guard !isContent, let first = list.first else { return nil }
    return CollectFailure(error: first.error) { route.core.report(first.error, route.selector, first.step) }
  }
}

/// An answer as the type that a sender expects.
func typedAnswer<R>(_ box: ArgumentBox?, _ context: StepContext) throws -> R {
  var answered = Invocation(context.selector)
  answered.result = box
  return try typedResult(of: answered, from: context.target ?? context.proxies.core)
}
