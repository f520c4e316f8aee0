// RouteSurroundings+Verbs.swift: what each verb makes of a message that has hooks around it.
// Layer: Proxy. See DESIGN.md, "Around a message".

// A verb gives itself as `send`, to be run inside of the hooks, with arguments that these may have changed. What comes of
// the hooks are answers, of which the verb's result is made as it is made of the targets' own.

extension RouteSurroundings {
  private func message(_ route: MessageRoute, _ arguments: MessageArguments) -> HookedMessage {
    HookedMessage(selector: route.selector, receiver: route.core, arguments: arguments)
  }

  // MARK: In the caller's turn

  /// A broadcast. An error of a hook counts as one failure of the proxy.
  func broadcast(
    _ route: MessageRoute, _ arguments: MessageArguments, _ send: @escaping (MessageArguments) -> BroadcastSummary
  ) -> BroadcastSummary {
    var summary = BroadcastSummary()
    do {
      _ = try run(message(route, arguments)) { arguments in
        summary = send(arguments)
        return .none
      }
    } catch {
      summary.failed += 1
      route.core.report(error, route.selector, nil, receiver: route.core.name)
    }
    return summary
  }

  /// A `collect`.
  func collect<R, Output>(
    _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>,
    _ send: @escaping (MessageArguments, ReturnPolicy<R, [R]>) -> Collected<[R]>
  ) -> Collected<Output> {
    let outcome = HookedQuestion(message(route, arguments), policy)
    do {
      let gathering = policy.gathering
      return outcome.collected(try run(outcome.message) { try outcome.take(send($0, gathering)) })
    } catch {
      return outcome.collected(ending: error, route)
    }
  }

  /// A `forward`.
  func report(
    _ route: MessageRoute, _ invocation: Invocation, _ send: @escaping (Invocation) throws -> DeliveryReport
  ) throws -> DeliveryReport {
    let outcome = HookedReport(route)
    do {
      let answers = try run(message(route, BoxedArguments(invocation))) { arguments in
        outcome.giveUp()
        return try outcome.take(try send(arguments.invocation(route.selector)))
      }
      return outcome.report(with: answers)
    } catch {
      return try outcome.report(ending: error)
    }
  }

  // MARK: Waiting

  /// A broadcast whose sender waits for room.
  nonisolated(nonsending) func broadcastAndWait(
    _ route: MessageRoute, _ arguments: MessageArguments,
    _ send: nonisolated(nonsending) @escaping (MessageArguments) async throws -> BroadcastSummary
  ) async throws -> BroadcastSummary {
    var summary = BroadcastSummary()
    do {
      _ = try await runAndWait(message(route, arguments)) { arguments in
        summary = try await send(arguments)
        return .none
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      summary.failed += 1
      route.core.report(error, route.selector, nil, receiver: route.core.name)
    }
    return summary
  }

  /// A `collect` whose sender waits.
  nonisolated(nonsending) func collectAndWait<R, Output>(
    _ route: MessageRoute, _ arguments: MessageArguments, _ policy: ReturnPolicy<R, Output>,
    _ send: nonisolated(nonsending) @escaping (MessageArguments, ReturnPolicy<R, [R]>) async -> Collected<[R]>
  ) async -> Collected<Output> {
    let outcome = HookedQuestion(message(route, arguments), policy)
    do {
      let gathering = policy.gathering
      let answers = try await runAndWait(outcome.message) { try outcome.take(await send($0, gathering)) }
      return outcome.collected(answers)
    } catch {
      return outcome.collected(ending: error, route)
    }
  }

  /// A `forward` whose sender waits.
  nonisolated(nonsending) func reportAndWait(
    _ route: MessageRoute, _ invocation: Invocation,
    _ send: nonisolated(nonsending) @escaping (Invocation) async throws -> DeliveryReport
  ) async throws -> DeliveryReport {
    let outcome = HookedReport(route)
    do {
      let answers = try await runAndWait(message(route, BoxedArguments(invocation))) { arguments in
        outcome.giveUp()
        return try outcome.take(try await send(arguments.invocation(route.selector)))
      }
      return outcome.report(with: answers)
    } catch {
      return try outcome.report(ending: error)
    }
  }
}

/// The answers of a message whose hooks may send it several times. Stays in the turn of its message.
private final class HookedQuestion<R, Output> {
  let message: HookedMessage
  private let policy: ReturnPolicy<R, Output>
  /// What came last, where it came with an error.
  private var failed: Collected<[R]>?

  init(_ message: HookedMessage, _ policy: ReturnPolicy<R, Output>) { (self.message, self.policy) = (message, policy) }

  func take(_ collected: Collected<[R]>) throws -> MessageAnswers {
    failed = collected.failure == nil ? nil : collected
    return TypedAnswers(try collected.get())
  }

  /// What the policy makes of the answers that the hooks gave.
  func collected(_ answers: MessageAnswers) -> Collected<Output> {
    do { return Collected(try policy.fold(try answers.typed(as: R.self, message)), nil) } catch {
      return Collected(policy.empty, CollectFailure(error: error, report: report(error)))
    }
  }

  /// What the policy makes of the answers that came, when the hooks left the message's own error alone.
  func collected(ending error: any Error, _ route: MessageRoute) -> Collected<Output> {
    if let failed, let failure = failed.failure, isSame(failure.error, error) {
      return Collected((try? policy.fold(failed.output)) ?? policy.empty, failure)
    }
    return Collected(policy.empty, CollectFailure(error, route))
  }

  private func report(_ error: any Error) -> () -> Void {
    let (core, selector) = (message.receiver as? MulticastCore, message.selector)
    return { core?.report(error, selector, nil, receiver: core?.name ?? "") }
  }
}

/// The report of a message whose hooks may send it several times. Stays in the turn of its message.
///
/// The first failure of a target is thrown to the hooks, as in `collect`. Left alone it stands in the report again; a hook
/// that takes it answers for it.
private final class HookedReport {
  private let route: MessageRoute
  private var last = DeliveryReport()

  init(_ route: MessageRoute) { self.route = route }

  /// Tells the handler the errors of a report that another, or an error, takes the place of. The first is known to a hook.
  func giveUp() {
    for failure in last.failures.dropFirst() {
      route.core.report(failure.error, route.selector, nil, receiver: typeName(of: failure.target))
    }
    last = DeliveryReport()
  }

  func take(_ report: DeliveryReport) throws -> MessageAnswers {
    last = report
    if let first = report.failures.first { throw first.error }
    return TypedAnswers(report.answers.compactMap(\.result))
  }

  /// The report of a message whose hooks ended with an error: with all that failed when it is the first of those.
  func report(ending error: any Error) throws -> DeliveryReport {
    if let first = last.failures.first, isSame(first.error, error) { return last }
    giveUp()
    throw error
  }

  /// The report with the answers that the hooks gave. As many as came from the targets stand at those targets; any
  /// others are the proxy's own.
  func report(with answers: MessageAnswers) -> DeliveryReport {
    var report = last
    if !report.failures.isEmpty {
      giveUp()
      report.failures = []
    }
    let boxes = answers.boxes
    let places = report.answers.indices.filter { report.answers[$0].result != nil }
    if places.count == boxes.count {
      for (place, box) in zip(places, boxes) {
        let old = report.answers[place]
        report.answers[place] = .init(target: old.target, result: box, wasQueued: old.wasQueued)
      }
    } else {
      report.answers.removeAll { $0.result != nil }
      report.answers += boxes.map { .init(target: route.core, result: $0) }
      if !boxes.isEmpty { report.endsQueued = false }
    }
    return report
  }
}

/// Whether two errors are one that was passed on: an error is a reference to its value.
func isSame(_ one: any Error, _ other: any Error) -> Bool {
  // In a struct, since a function of any type would be given the value.
  struct Reference { let error: any Error }
  return unsafeBitCast(Reference(error: one), to: UnsafeRawPointer.self)
    == unsafeBitCast(Reference(error: other), to: UnsafeRawPointer.self)
}

// MARK: Typed messages in the caller's turn

/// A typed broadcast with hooks around it: its targets get it as they would without.
@usableFromInline
func broadcastAround<R, each A>(_ route: MessageRoute, _ arguments: TypedArguments<R, repeat each A>)
  -> BroadcastSummary
{
  guard let (around, inside) = route.surrounded else { return broadcastScheduled(route, arguments) }
  return around.broadcast(inside, arguments) { other in
    guard other.functionType == arguments.functionType else {
      return broadcastBoxed(inside, other.invocation(inside.selector))
    }
    let typed = unsafeDowncast(other, to: TypedArguments<R, repeat each A>.self)
    return broadcastTyped(inside, typed.values, returning: R.self, crosses: typed.crosses)
  }
}

/// A typed `collect` with hooks around it.
@usableFromInline
func collectAround<R, Output, each A>(
  _ route: MessageRoute, _ arguments: TypedArguments<R, repeat each A>, _ policy: ReturnPolicy<R, Output>
) -> Collected<Output> {
  guard let (around, inside) = route.surrounded else { return collectScheduled(route, arguments, policy) }
  return around.collect(inside, arguments, policy) { other, gathering in
    guard other.functionType == arguments.functionType else {
      // A hook by boxes has put other arguments in: targets open them, and their answers become the sender's type.
      return collectScheduled(inside, other, gathering)
    }
    let typed = unsafeDowncast(other, to: TypedArguments<R, repeat each A>.self)
    return collectTyped(inside, typed.values, gathering, crosses: typed.crosses)
  }
}
