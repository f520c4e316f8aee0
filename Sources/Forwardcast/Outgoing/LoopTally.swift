// LoopTally.swift: counts and reports the exceptions of typed loops.

/// Counts the targets that a typed loop did not serve. Changed only in outlined calls, which keeps
/// it out of the loop's registers.
@usableFromInline
struct LoopTally: ~Copyable {
  @usableFromInline let visit: MessageVisit
  @usableFromInline var dead = 0
  @usableFromInline var failed = 0
  /// The number of steps that were not served: dead, failed, or skipped.
  @usableFromInline var unserved = 0

  @export(implementation) @inline(__always)
  init(_ visit: consuming MessageVisit) { self.visit = visit }

  /// Counts a step whose target is dead or skipped.
  @usableFromInline @inline(never)
  mutating func miss(_ step: RouteStep) {
    unserved += 1
    if step.isActive { dead += 1 }
  }

  /// Counts a target's error. Returns false if the message ends.
  @usableFromInline @inline(never)
  mutating func fail() -> Bool {
    unserved += 1
    failed += 1
    return !visit.core.stopsAtFirst
  }

  @usableFromInline @inline(never)
  mutating func fail(_ error: any Error, _ step: RouteStep) -> Bool {
    let core = visit.core
    core.report(error, visit.kept.selector, step)
    return fail()
  }

  /// The summary of a broadcast that skipped steps; `end` is the end of the steps it came to.
  @usableFromInline @inline(never)
  func unusualSummary(_ end: UnsafeMutablePointer<RouteStep>) -> BroadcastSummary {
    let (route, missed, count) = (cleanUp(), unserved - failed, end - visit.steps)
    if missed == count { reportSilence(route) }
    return BroadcastSummary(delivered: count - unserved, failed: failed, skipped: missed)
  }

  private func cleanUp() -> MessageRoute {
    let route = visit.kept
    if unserved > failed { route.core.end(route, dead: dead, skipped: unserved - failed - dead) }
    return route
  }

  /// The error that a `collect` throws: the first one unless an answer suffices, or
  /// `nobodyResponds`.
  @export(implementation) @inline(__always)
  func failure(_ errors: StepErrors?, reachedAny: Bool, ignoresErrors: Bool) -> CollectFailure? {
    unserved == 0 ? nil : unusualFailure(errors, reachedAny: reachedAny, ignoresErrors: ignoresErrors)
  }

  @usableFromInline @inline(never)
  func unusualFailure(_ errors: StepErrors?, reachedAny: Bool, ignoresErrors: Bool) -> CollectFailure? {
    let route = cleanUp()
    if let errors { return errors.failure(route, isContent: ignoresErrors && reachedAny) }
    return reachedAny ? nil : .silence(route)
  }
}

/// Applies the proxy's `noResponder` option to a broadcast.
@usableFromInline
func reportSilence(_ route: MessageRoute) {
  do { try route.core.answerSilence(route.selector) } catch {
    route.core.report(error, route.selector, nil, receiver: route.core.name)
  }
}

extension CollectFailure {
  @usableFromInline
  init(_ error: any Error, _ route: MessageRoute) {
    self.init(error: error) { route.core.report(error, route.selector, nil, receiver: route.core.name) }
  }

  /// `nobodyResponds` if the proxy's option is to throw it.
  @inline(never) static func silence(_ route: MessageRoute) -> CollectFailure? {
    do {
      try route.core.answerSilence(route.selector)
      return nil
    } catch {
      return CollectFailure(error, route)
    }
  }
}

@usableFromInline
struct StepErrors {
  private var list: [(error: any Error, step: RouteStep)] = []

  @usableFromInline
  init() {}

  @usableFromInline
  mutating func add(_ error: any Error, _ step: RouteStep) { list.append((error, step)) }

  /// The first error unless an answer suffices. The others go to the proxy's handler.
  func failure(_ route: MessageRoute, isContent: Bool) -> CollectFailure? {
    for (error, step) in list.dropFirst(isContent ? 0 : 1) { route.core.report(error, route.selector, step) }
    guard !isContent, let first = list.first else { return nil }
    return CollectFailure(error: first.error) { route.core.report(first.error, route.selector, first.step) }
  }
}
