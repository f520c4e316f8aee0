// TypedLoops.swift: the two loops that call typed methods of direct targets.
// Layer: Outgoing. See DESIGN.md, "One walk, two loops".

// The loops are specialised in the user's module, one function of each type, and call typed methods without a box, a closure or
// a count. A route knows whether all of its methods have one type, so that is compared once a message. Everything else walks.

/// A typed broadcast.
@inlinable @inline(never)
func broadcastTyped<R, each A>(
  _ route: MessageRoute, _ arguments: Arguments<repeat each A>, returning: R.Type, crosses: Bool
) -> BroadcastSummary {
  // Whatever becomes of the proxy, the steps that are called live as long as their route.
  defer { withExtendedLifetime(route.route) {} }
  guard route.route.loopType == ObjectIdentifier(((repeat each A) -> R).self) else {
    return broadcastElsewhere(route, arguments, returning: R.self, crosses: crosses)
  }
  var tally = LoopTally()
  let steps = route.steps
  var index = 0
  while index < route.count {
    let step = steps[index]
    index &+= 1
    do {
      if !step.isActive {
        tally.skipped &+= 1
      } else if try step.call(arguments, returning: R.self) == nil {
        tally.dead &+= 1
      }
    } catch {
      if tally.fail(error, step, route) { break }
    }
  }
  return tally.summary(route, reached: index)
}

/// A typed broadcast that takes more than the loop.
@inlinable @inline(never)
func broadcastElsewhere<R, each A>(
  _ route: MessageRoute, _ arguments: Arguments<repeat each A>, returning: R.Type, crosses: Bool
) -> BroadcastSummary {
  if route.isEmpty { return LoopTally().summary(route, reached: 0) }
  if !route.isSurrounded, let summary = broadcastPosted(route, arguments, returning: R.self, crosses: crosses) {
    return summary
  }
  return broadcastWalked(route, TypedArguments(arguments, returning: R.self, crosses: crosses))
}

/// A typed `collect`.
@inlinable @inline(__always)
func collectTyped<R, Output, each A>(
  _ route: MessageRoute, _ arguments: Arguments<repeat each A>, _ policy: ReturnPolicy<R, Output>, crosses: Bool
) -> Collected<Output> {
  guard route.route.loopType == ObjectIdentifier(((repeat each A) -> R).self) else {
    return collectElsewhere(route, arguments, policy, crosses: crosses)
  }
  switch policy.way {
  case .folding(let initial, let step):
    var result = initial()
    let failure = answerTyped(route, arguments, ignoresErrors: policy.ignoresErrors) { try step(&result, $0) }
    return Collected(result, failure)
  case .gathering(let makeCollector):
    let collector = makeCollector()
    let failure = answerTyped(route, arguments, ignoresErrors: policy.ignoresErrors) { try collector.take($0) }
    return Collected(collector.finish(), failure)
  }
}

/// A typed `collect` that takes more than the loop.
@inlinable @inline(never)
func collectElsewhere<R, Output, each A>(
  _ route: MessageRoute, _ arguments: Arguments<repeat each A>, _ policy: ReturnPolicy<R, Output>, crosses: Bool
) -> Collected<Output> {
  if route.isEmpty { return collectNobody(route, policy) }
  return collectWalked(route, TypedArguments(arguments, returning: R.self, crosses: crosses), policy)
}

/// Gives the answers of direct targets to `take`, one after another, until it says `false`.
@inlinable @inline(never)
func answerTyped<R, each A>(
  _ route: MessageRoute, _ arguments: Arguments<repeat each A>, ignoresErrors: Bool, _ take: (R) throws -> Bool
) -> CollectFailure? {
  defer { withExtendedLifetime(route.route) {} }
  var tally = LoopTally()
  var errors: StepErrors?
  var reached = false
  let steps = route.steps
  for index in 0..<route.count {
    let step = steps[index]
    do {
      guard step.isActive else {
        tally.skipped &+= 1
        continue
      }
      guard let answer = try step.call(arguments, returning: R.self) else {
        tally.dead &+= 1
        continue
      }
      reached = true
      if try !take(answer) { break }
    } catch {
      if errors == nil { errors = StepErrors() }
      errors?.add(error, step)
      if route.core.stopsAtFirst { break }
    }
  }
  return tally.failure(route, errors, reached: reached, ignoresErrors: ignoresErrors)
}
