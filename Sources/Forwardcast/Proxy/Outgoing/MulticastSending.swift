// MulticastSending.swift: typed messages to every target, written once for all who send to many.
// Layer: Proxy. See DESIGN.md, "Two doors".

/// Something that sends messages to many targets: a ``MulticastProxy``, its pinned view, an extension point, or an
/// object
/// of your own that holds a proxy and offers its verbs.
///
///     final class Themes: MulticastSending {
///       typealias Interface = any ThemesDelegate
///       let multicast = MulticastProxy<any ThemesDelegate>()
///       func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }
///     }
///
/// Such an object among the targets of a proxy is transparent: its targets get the message in its place.
public protocol MulticastSending<Interface> {
  /// What may be added as a target.
  associatedtype Interface

  /// Who would get a message of `selector`. For questions: nothing is made or sent for it.
  func route(for selector: MessageSelector) -> MessageRoute

  /// Who gets a message that begins now. Called once for each message, by the verbs of this protocol. The default is
  /// ``route(for:)``.
  func beginMessage(_ selector: MessageSelector) -> MessageRoute
}

extension MulticastSending {
  /// Who would get the message: ``route(for:)``.
  @inlinable
  public func beginMessage(_ selector: MessageSelector) -> MessageRoute { route(for: selector) }
}

extension MulticastSending {
  /// Sends a message to every live, unmuted target that responds, in order, and makes nothing of the answers.
  ///
  /// A target whose method has exactly the key's types is called without a box. For any other the arguments are boxed,
  /// once for all, and converted. Errors of targets go to `onError` and end nothing, unless the proxy stops at the
  /// first.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  /// - Returns: how many were reached.
  @inlinable
  @discardableResult
  public func broadcast<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcastTyped(
      beginMessage(message.selector), Arguments(values: (repeat each arguments)), returning: R.self, crosses: false)
  }

  /// Sends a message to every live, unmuted target that responds, in order, and makes one result of the answers.
  ///
  /// A policy that knows its result early asks nobody further. Where nobody responds, the result is the policy's empty
  /// value.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  /// - Throws: the first error of a target, after the others have answered, or at once where the proxy stops at the
  ///   first; `nobodyResponds` where silence is an error. Further errors go to `onError`.
  @inlinable @inline(__always)
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(
      beginMessage(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: false
    ).get()
  }
}

extension MulticastSending where Interface: Sendable {
  /// Sends a message to every live, unmuted target that responds, each where and when its delivery says.
  ///
  /// What is queued leaves first, in order, and then the direct targets run. Every target of another context has its
  /// own
  /// copy of the arguments. Errors of targets go to `onError`, in the turn of the context where they happened.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  /// - Returns: how many were reached or queued.
  @inlinable
  @discardableResult
  public func broadcast<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcastTyped(
      beginMessage(message.selector), Arguments(values: (repeat each arguments)), returning: R.self, crosses: true)
  }

  /// Sends a message to every live, unmuted target that responds, and makes one result of the direct targets' answers.
  ///
  /// Queued targets get the message as well, but nobody waits for them: see
  /// ``MulticastSending/collectAndWait(_:_:returning:)-10zfp``.
  ///
  /// - Parameters:
  ///   - message: the message's key.
  ///   - arguments: its arguments, in order.
  ///   - policy: what becomes of the answers.
  /// - Throws: as the form for arguments that need not be `Sendable`.
  @inlinable @inline(__always)
  public func collect<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collectTyped(
      beginMessage(message.selector), Arguments(values: (repeat each arguments)), policy, crosses: true
    ).get()
  }
}

// MARK: The two loops over direct targets
//
// They are specialised in the user's module, one function of each type, and call typed methods without a box, a closure or
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
  if let summary = broadcastPosted(route, arguments, returning: R.self, crosses: crosses) { return summary }
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
