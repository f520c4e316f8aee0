// LoopTally.swift: what the loops over direct targets count and tell beside calling methods.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

/// What became of the steps that were not served as they should, in the typed loops. It changes in calls out of these only, so
/// that they need no registers for it.
@usableFromInline
struct LoopTally {
  @usableFromInline var dead = 0
  @usableFromInline var skipped = 0
  @usableFromInline var failed = 0

  @inlinable
  init() {}

  /// Counts a step whose target is dead, or was not to get the message.
  @usableFromInline @inline(never)
  mutating func miss(_ step: RouteStep) { if step.isActive { dead += 1 } else { skipped += 1 } }

  /// Reports a target's error. `false` when the broadcast is to end.
  @usableFromInline
  mutating func fail(_ error: any Error, _ step: RouteStep, _ route: MessageRoute) -> Bool {
    failed += 1
    route.core.report(error, route.selector, step)
    return !route.core.stopsAtFirst
  }

  /// Cleans up after a broadcast and counts it.
  @export(implementation) @inline(__always)
  func summary(_ route: MessageRoute, reached: Int) -> BroadcastSummary {
    let missed = dead &+ skipped
    if missed > 0 { route.core.end(route, dead: dead, skipped: skipped) }
    if missed == reached { reportSilence(route) }
    return BroadcastSummary(delivered: reached &- missed &- failed, failed: failed, skipped: missed)
  }

  /// Cleans up after a `collect`, and gives what it throws: the first error, unless there is an answer and it is enough;
  /// `nobodyResponds` where silence is an error.
  @export(implementation) @inline(__always)
  func failure(_ route: MessageRoute, _ errors: StepErrors?, reachedAny: Bool, ignoresErrors: Bool) -> CollectFailure? {
    if reachedAny, errors == nil, dead &+ skipped == 0 { return nil }
    return unusualFailure(route, errors, reachedAny: reachedAny, ignoresErrors: ignoresErrors)
  }

  @usableFromInline
  func unusualFailure(_ route: MessageRoute, _ errors: StepErrors?, reachedAny: Bool, ignoresErrors: Bool)
    -> CollectFailure?
  {
    if dead + skipped > 0 { route.core.end(route, dead: dead, skipped: skipped) }
    if let errors { return errors.failure(route, isContent: ignoresErrors && reachedAny) }
    return reachedAny ? nil : .silence(route)
  }
}

/// What the proxy does about a broadcast that nobody got.
@usableFromInline
func reportSilence(_ route: MessageRoute) {
  do { try route.core.answerSilence(route.selector) } catch {
    route.core.report(error, route.selector, nil, receiver: route.core.name)
  }
}

extension CollectFailure {
  /// An error that belongs to no target.
  init(_ error: any Error, _ route: MessageRoute) {
    self.init(error: error) { route.core.report(error, route.selector, nil, receiver: route.core.name) }
  }

  /// `nobodyResponds` where silence is an error.
  static func silence(_ route: MessageRoute) -> CollectFailure? {
    do {
      try route.core.answerSilence(route.selector)
      return nil
    } catch {
      return CollectFailure(error, route)
    }
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
