// TypedLoops.swift: loops that call typed methods of direct targets.

// The loops are specialized in the client's module, one function per type. They call typed methods
// without boxes, closures or reference counting. A route knows whether its methods have one type,
// so one comparison per message suffices. Messages that need more use a ``MessageDelivery``.

@export(implementation) @inline(never)
func broadcastTyped<R, each A>(
  _ visit: consuming MessageVisit, _ arguments: Arguments<repeat each A>, returning: R.Type, crosses: Bool
) -> BroadcastSummary {
  let type = ObjectIdentifier(((repeat each A) -> R).self)
  let count = visit.count
  if visit.loopType != type {
    let traits = arguments.traits
    // The visit retains the plan with its groups.
    if crosses || traits.isEmpty, !traits.mayCopy, let plan = visit.plainPlan {
      for group in plan._withUnsafeGuaranteedRef({ $0.list }) {
        group._withUnsafeGuaranteedRef { $0.send(arguments, returning: R.self) }
      }
      return BroadcastSummary(queued: plan._withUnsafeGuaranteedRef { $0.count })
    }
    if !visit.runsHere(type, count) {
      var summary = BroadcastSummary()
      let passed = broadcastOtherwise(visit, count, type, &summary) {
        arguments.packed(returning: R.self, crosses: crosses)
      }
      guard let passed else { return summary }
      visit = passed
    }
  }
  var tally = LoopTally(visit, crosses: crosses)
  return tally.broadcast(count, arguments, returning: R.self)
}

/// Runs a typed broadcast that needs more than a loop. If only a loop remains to be run after the
/// hooks, returns the visit. Otherwise stores the result in `summary`.
@usableFromInline @inline(never)
func broadcastOtherwise(
  _ visit: consuming MessageVisit, _ count: Int, _ type: ObjectIdentifier, _ summary: inout BroadcastSummary,
  packed: () -> MessageArguments
) -> MessageVisit? {
  do {
    if try visit.passHooks(to: type, packed) {
      if count > 0 { return visit }
      reportSilence(keep(visit))
      return nil
    }
  } catch {
    summary = visit.failure(error)
    return nil
  }
  let route = keep(visit)
  if route.isEmpty {
    reportSilence(route)
  } else {
    summary = OutgoingMessage(route.selector, packed(), DeliveryRequest()).send(along: route, into: SummarySink())
  }
  return nil
}

extension MessageVisit {
  consuming func failure(_ error: any Error) -> BroadcastSummary {
    core.report(error, kept.selector, nil, receiver: core.name)
    return BroadcastSummary(failed: 1)
  }
}

@usableFromInline
func keep(_ visit: consuming MessageVisit) -> MessageRoute { visit.kept }

@export(implementation) @inline(__always)
func collectTyped<R, Output, each A>(
  _ visit: consuming MessageVisit, _ arguments: Arguments<repeat each A>, _ policy: ReturnPolicy<R, Output>,
  crosses: Bool
) -> CollectResult<Output> {
  let (type, count) = (ObjectIdentifier(((repeat each A) -> R).self), visit.count)
  guard visit.loopType == type || policy.ifIncomplete == nil && visit.runsHere(type, count) else {
    return collectOtherwise(visit, arguments, policy, crosses: crosses)
  }
  switch policy.way {
  case .folding(let initial, let step):
    var result = initial()
    let failure = answerTyped(visit, count, arguments, crosses, ignoresErrors: policy.ignoresErrors) {
      try step(&result, $0)
    }
    return policy.result(result, failure)
  case .gathering(let makeCollector):
    let collector = makeCollector()
    let failure = answerTyped(visit, count, arguments, crosses, ignoresErrors: policy.ignoresErrors) {
      try collector.take($0)
    }
    return policy.result(collector.finish(), failure)
  }
}

/// A typed `collect` of the last answer, compiled only once for its types.
@export(implementation) @inline(never)
func collectLast<R, each A>(
  _ visit: consuming MessageVisit, _ arguments: Arguments<repeat each A>, crosses: Bool
) -> CollectResult<R?> {
  collectTyped(visit, arguments, .last, crosses: crosses)
}

@export(implementation) @inline(never)
func collectOtherwise<R, Output, each A>(
  _ visit: consuming MessageVisit, _ arguments: Arguments<repeat each A>, _ policy: ReturnPolicy<R, Output>,
  crosses: Bool
) -> CollectResult<Output> {
  let (collector, count) = (policy.makeCollector(), visit.count)
  do {
    let passed = try visit.passHooks(to: ObjectIdentifier(((repeat each A) -> R).self)) {
      arguments.packed(returning: R.self, crosses: crosses)
    }
    if passed {
      if count == 0 { return collectDelivered(keep(visit), policy, collector, nil) }
      let failure = answerTyped(visit, count, arguments, crosses, ignoresErrors: policy.ignoresErrors) {
        try collector.take($0)
      }
      return policy.result(collector.finish(), failure)
    }
  } catch { return policy.result(collector.finish(), CollectFailure(error, keep(visit))) }
  let route = keep(visit)
  return collectDelivered(
    route, policy, collector, route.isEmpty ? nil : arguments.packed(returning: R.self, crosses: crosses))
}

/// Passes the answers of targets that run here to `take`, in order, until it returns false.
@export(implementation) @inline(never)
func answerTyped<R, each A>(
  _ visit: consuming MessageVisit, _ count: Int, _ arguments: Arguments<repeat each A>, _ crosses: Bool,
  ignoresErrors: Bool, _ take: (R) throws -> Bool
) -> CollectFailure? {
  var (errors, reachedAny) = (StepErrors?.none, false)
  var tally = LoopTally(visit, crosses: crosses)
  _ = tally.serve(count, arguments, returning: R.self) { answer in
    reachedAny = true
    return try take(answer)
  } fail: { tally, error, end in
    if errors == nil { errors = StepErrors() }
    errors?.add(error, (end - 1).pointee)
    return tally.fail()
  }
  return tally.failure(
    errors, reachedAny: reachedAny, ignoresErrors: ignoresErrors, isAnswered: R.self != Void.self)
}

extension LoopTally {
  @export(implementation) @inline(__always)
  mutating func broadcast<R, each A>(_ count: Int, _ arguments: Arguments<repeat each A>, returning: R.Type)
    -> BroadcastSummary
  {
    let end = serve(count, arguments, returning: R.self, take: { _ in true }) { $0.fail($1, $2) }
    return unserved == 0 ? BroadcastSummary(delivered: count) : unusualSummary(end)
  }

  /// Calls the methods of `count` steps, which are direct, or automatic on the sender's context.
  /// `take` gets each answer, and `fail` gets the errors of targets and of `take`. Either ends the
  /// message by returning false. Returns the end of the served steps.
  @export(implementation) @inline(__always)
  mutating func serve<R, each A>(
    _ count: Int, _ arguments: Arguments<repeat each A>, returning: R.Type, take: (R) throws -> Bool,
    fail: (inout LoopTally, any Error, UnsafeMutablePointer<RouteStep>) -> Bool
  ) -> UnsafeMutablePointer<RouteStep> {
    var next = visit.steps
    let end = next + count
    // A route with a common function type has at least one step.
    repeat {
      let step = next.pointee
      next += 1
      do {
        // Outlined calls get the address after the step, which saves registers for the step.
        let answer =
          try step.isActiveAnywhere
          ? step.call(arguments, returning: R.self)
          : callHere(next, arguments, returning: R.self)
        if let answer {
          if try !take(answer) { break }
        } else {
          miss(next)
        }
      } catch {
        if !fail(&self, error, next) { break }
      }
    } while next < end
    return next
  }
}

// MARK: - The loop of a delivery

extension Arguments {
  /// The arguments for a delivery, with a loop that serves many steps at once.
  @export(implementation) @inline(never)
  func packed<R>(returning: R.Type, crosses: Bool) -> MessageArguments {
    shared(returning: R.self, crosses: crosses) { arguments, delivery in
      let typed = unsafeDowncast(arguments, to: TypedArguments<R, Arguments>.self)
      typed.values.serve(unsafeDowncast(delivery, to: MessageDelivery.self), returning: R.self)
    }
  }

  /// Delivers the message to the delivery's current steps, whose methods have the message's types.
  @export(implementation) @inline(__always)
  func serve<R>(_ delivery: MessageDelivery, returning: R.Type) {
    let (first, count) = delivery.loopSteps
    // Known at compile time, so a method that returns nothing needs no code for answers.
    let answersNothing = R.self == Void.self
    let loop = DeliveryLoop(delivery, answering: answersNothing ? nil : R.self)
    if loop.answers == .boxed || loop.answers == .plain {
      return withCalls(returning: R.self, delivery.serveOpened)
    }
    // The delivery retains the taker.
    let taker = !answersNothing && loop.answers == .typed ? Unmanaged.passUnretained(delivery.taker(of: R.self)) : nil
    let isNested = loop.isNested
    let end = first + count
    var next = first
    // A loop has at least one step. The pointer is the loop variable, which saves a register.
    repeat {
      let step = next.pointee
      next += 1
      do {
        if step.isActive, !isNested || loop.path.isWayOpen, let answer = try step.call(self, returning: R.self) {
          if !answersNothing, let taker, try !taker._withUnsafeGuaranteedRef({ try $0.take(answer) }) {
            delivery.noteComplete()
            break
          }
          continue
        }
        if !delivery.miss(next) { break }
      } catch {
        if !delivery.fail(error, next) { break }
      }
    } while next < end
    delivery.endLoop(next)
  }
}
