// ReturnPolicy.swift: combines many answers into one result.

/// Combines the answers of many targets, in delivery order, into one result.
///
///     try themes.collect(.progress, returning: .sum)
///     try themes.collect(.progress, returning: .reduce(0) { max($0, $1) })
///
/// `R` is the type of the answers, `Output` the type of the result. Without answers the result is
/// the policy's empty value: `nil`, `[]`, `0`, `false` for `.any`, `true` for `.every`, or the
/// initial value of a reduction.
public struct ReturnPolicy<R, Output>: Sendable {
  @usableFromInline let way: Way
  /// True if the result may be known before all targets have run.
  @usableFromInline var mayStopEarly: Bool
  /// True if errors are thrown only if there is no answer.
  @usableFromInline let ignoresErrors: Bool
  /// Changes the result of the available answers if an answer is missing: its target failed, could
  /// not be awaited, or had a full buffer. `nil` to change nothing.
  @usableFromInline let ifIncomplete: (@Sendable (Output) -> Output)?

  @usableFromInline
  enum Way: Sendable {
    /// Adds each answer to the result on the sender's stack, without allocation.
    case folding(initial: @Sendable () -> Output, step: @Sendable (inout Output, R) throws -> Bool)
    case gathering(@Sendable () -> AnswerCollector<R, Output>)
  }

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - initial: the state before the first answer; `finish` turns it into the empty value.
  ///   - step: adds an answer. Returns false if no further answer is needed.
  ///   - finish: turns the final state into the result.
  public init<State: Sendable>(
    from initial: State, step: @escaping @Sendable (inout State, R) throws -> Bool,
    finish: @escaping @Sendable (State) -> Output
  ) {
    way = .gathering { AnswerCollector(initial, step, finish) }
    mayStopEarly = true
    ignoresErrors = false
    ifIncomplete = nil
  }

  @export(implementation)
  init(
    folding initial: @escaping @Sendable @autoclosure () -> Output, mayStopEarly: Bool = false,
    ignoresErrors: Bool = false, ifIncomplete: (@Sendable (Output) -> Output)? = nil,
    _ step: @escaping @Sendable (inout Output, R) throws -> Bool
  ) {
    way = .folding(initial: initial, step: step)
    self.ifIncomplete = ifIncomplete
    self.mayStopEarly = mayStopEarly
    self.ignoresErrors = ignoresErrors
  }

  /// Creates a collector, for answers that arrive at different times.
  @export(implementation) @inline(never)
  func makeCollector() -> AnswerCollector<R, Output> {
    switch way {
    case .folding(let initial, let step): AnswerCollector(initial(), step) { $0 }
    case .gathering(let make): make()
    }
  }
}

extension ReturnPolicy {
  /// The rule for boxed answers. `answer` turns the result into an answer or `nil`. `crosses` is
  /// true if answers and result are `Sendable`.
  func boxed(crosses: Bool, _ answer: @escaping @Sendable (Output) -> R?) -> ReturnPolicy<ArgumentBox, ArgumentBox?> {
    @Sendable func boxed(_ output: Output) -> ArgumentBox? {
      answer(output).map { ArgumentBox(storage: $0, isSendable: crosses) }
    }
    var changed: (@Sendable (ArgumentBox?) -> ArgumentBox?)?
    if let ifIncomplete {
      changed = { box in
        guard let output = try? box?.unbox(as: Output.self) else { return box }
        return boxed(ifIncomplete(output))
      }
    }
    return ReturnPolicy<ArgumentBox, ArgumentBox?>(
      mayStopEarly: mayStopEarly, ignoresErrors: ignoresErrors, ifIncomplete: changed
    ) {
      let collector = makeCollector()
      return AnswerCollector(
        take: { try collector.take($0.unbox(as: R.self)) }, finish: { boxed(collector.finish()) })
    }
  }

  private init(
    mayStopEarly: Bool, ignoresErrors: Bool, ifIncomplete: (@Sendable (Output) -> Output)?,
    gathering make: @escaping @Sendable () -> AnswerCollector<R, Output>
  ) {
    (way, self.ifIncomplete) = (.gathering(make), ifIncomplete)
    (self.mayStopEarly, self.ignoresErrors) = (mayStopEarly, ignoresErrors)
  }
}

extension Responds {
  /// Returns the row with a rule that combines the results of a multicast's targets into one.
  ///
  /// A multicast with this row in its table uses the rule if the multicast is itself a target with
  /// a delivery other than `.direct`. Without a rule the last result counts.
  public func answering<R, each A>(_ message: Message<(repeat each A) -> R>, by policy: ReturnPolicy<R, R>) -> Self {
    let method = method.copy()
    method.rule = policy.boxed(crosses: method.resultCrosses) { $0 }
    return Self(method: method)
  }

  /// Returns the row with a rule whose result is `nil` if no target responds.
  public func answering<R, each A>(_ message: Message<(repeat each A) -> R>, by policy: ReturnPolicy<R, R?>) -> Self {
    let method = method.copy()
    method.rule = policy.boxed(crosses: method.resultCrosses) { $0 }
    return Self(method: method)
  }
}

@usableFromInline
struct AnswerCollector<R, Output> {
  /// Adds an answer. Returns false if no further answer is needed.
  @usableFromInline let take: (R) throws -> Bool
  @usableFromInline let finish: () -> Output

  @export(implementation) @inline(__always)
  init<State>(
    _ initial: State, _ step: @escaping (inout State, R) throws -> Bool, _ finish: @escaping (State) -> Output
  ) {
    let kept = CollectedState(initial)
    take = { try step(&kept.state, $0) }
    self.finish = { finish(kept.state) }
  }

  init(take: @escaping (R) throws -> Bool, finish: @escaping () -> Output) { (self.take, self.finish) = (take, finish) }
}

/// The state of a collector. Accesses never overlap, so exclusivity is unchecked.
@usableFromInline
final class CollectedState<State> {
  @usableFromInline @exclusivity(unchecked) var state: State

  @export(implementation) @inline(__always)
  init(_ state: State) { self.state = state }
}

extension ReturnPolicy where Output == R? {
  /// The last answer, or `nil`.
  @export(implementation)
  public static var last: Self {
    Self(folding: nil) { last, answer in
      last = answer
      return true
    }
  }

  /// The first answer, or `nil`. No further target is called.
  @export(implementation)
  public static var first: Self {
    Self(folding: nil, mayStopEarly: true) { first, answer in
      first = answer
      return false
    }
  }

  /// The answer of the first target that does not fail. No further target is called. Earlier errors
  /// go to `onError`; if all targets fail, the first error is thrown.
  @export(implementation)
  public static var firstSuccess: Self {
    Self(folding: nil, mayStopEarly: true, ignoresErrors: true) { first, answer in
      first = answer
      return false
    }
  }
}

extension ReturnPolicy where Output == [R] {
  /// Every answer, in delivery order.
  @export(implementation)
  public static var all: Self {
    Self(folding: []) { all, answer in
      all.append(answer)
      return true
    }
  }
}

extension ReturnPolicy where R == Bool, Output == Bool {
  /// True if any answer is `true`. After a `true`, no further target is called.
  @export(implementation)
  public static var any: Self {
    Self(folding: false, mayStopEarly: true) { any, answer in
      any = answer
      return !answer
    }
  }

  /// True if no answer is `false`. After a `false`, no further target is called. Also false if a
  /// target fails, or is not awaited and no other answers: a missing answer is no approval.
  @export(implementation)
  public static var every: Self {
    Self(folding: true, mayStopEarly: true, ifIncomplete: { _ in false }) { every, answer in
      every = answer
      return answer
    }
  }
}

extension ReturnPolicy where R: AdditiveArithmetic & SendableMetatype, Output == R {
  /// The sum of all answers. Integers trap on overflow, as `+` does.
  @export(implementation)
  public static var sum: Self {
    Self(folding: .zero) { sum, answer in
      sum = sum + answer
      return true
    }
  }
}

extension ReturnPolicy where Output: Sendable {
  /// The answers combined by `combine`, starting with `initial`. An error of `combine` is thrown.
  @export(implementation)
  public static func reduce(_ initial: Output, _ combine: @escaping @Sendable (Output, R) throws -> Output) -> Self {
    Self(folding: initial) { result, answer in
      result = try combine(result, answer)
      return true
    }
  }
}
