// ReturnPolicy.swift: how many answers become one result.

/// How the answers of many targets, taken in the order of delivery, become one result.
///
///     try themes.collect(.progress, returning: .sum)
///     try themes.collect(.progress, returning: .reduce(0) { max($0, $1) })
///
/// `R` is the type of the answers, `Output` of the result. When nobody answers, the result is the policy's empty value: `nil`,
/// `[]`, `0`, `false` for any, `true` for every, the initial value of a reduction.
public struct ReturnPolicy<R, Output>: Sendable {
  @usableFromInline let way: Way
  /// Whether the result may be known before everybody was asked.
  @usableFromInline var mayStopEarly: Bool
  /// Whether errors are thrown only when nobody answered.
  @usableFromInline let ignoresErrors: Bool
  /// The result when there are targets but none could be asked; `nil` for that of no answers.
  @usableFromInline let unasked: (@Sendable () -> Output)?

  /// How a policy keeps its state.
  @usableFromInline
  enum Way: Sendable {
    /// As its result, on the sender's stack: a `collect` allocates nothing.
    case folding(initial: @Sendable () -> Output, step: @Sendable (inout Output, R) throws -> Bool)
    /// As a state of its own type.
    case gathering(@Sendable () -> AnswerCollector<R, Output>)
  }

  /// Your own policy.
  ///
  /// - Parameters:
  ///   - initial: the state before the first answer; its `finish` is the empty value.
  ///   - step: takes one answer; `false` when the result is known and no further target is to be asked.
  ///   - finish: the result for the final state.
  public init<State: Sendable>(
    from initial: State, step: @escaping @Sendable (inout State, R) throws -> Bool,
    finish: @escaping @Sendable (State) -> Output
  ) {
    way = .gathering { AnswerCollector(initial, step, finish) }
    mayStopEarly = true
    ignoresErrors = false
    unasked = nil
  }

  @export(implementation)
  init(
    folding initial: @escaping @Sendable @autoclosure () -> Output, mayStopEarly: Bool = false,
    ignoresErrors: Bool = false, unasked: (@Sendable () -> Output)? = nil,
    _ step: @escaping @Sendable (inout Output, R) throws -> Bool
  ) {
    way = .folding(initial: initial, step: step)
    self.unasked = unasked
    self.mayStopEarly = mayStopEarly
    self.ignoresErrors = ignoresErrors
  }

  /// A collector, for answers that come at different times.
  @export(implementation) @inline(never)
  func makeCollector() -> AnswerCollector<R, Output> {
    switch way {
    case .folding(let initial, let step): AnswerCollector(initial(), step) { $0 }
    case .gathering(let make): make()
    }
  }
}

extension ReturnPolicy {
  /// The same rule for answers in boxes.
  ///
  /// - Parameters:
  ///   - crosses: whether answers and result may cross contexts.
  ///   - answer: the result as an answer; `nil` if there is none.
  func boxed(crosses: Bool, _ answer: @escaping @Sendable (Output) -> R?) -> ReturnPolicy<ArgumentBox, ArgumentBox?> {
    ReturnPolicy<ArgumentBox, ArgumentBox?>(mayStopEarly: mayStopEarly, ignoresErrors: ignoresErrors) {
      let collector = makeCollector()
      return AnswerCollector(
        take: { try collector.take($0.unbox(as: R.self)) },
        finish: { answer(collector.finish()).map { ArgumentBox(storage: $0, isSendable: crosses) } })
    }
  }

  private init(
    mayStopEarly: Bool, ignoresErrors: Bool, gathering make: @escaping @Sendable () -> AnswerCollector<R, Output>
  ) {
    (way, unasked) = (.gathering(make), nil)
    (self.mayStopEarly, self.ignoresErrors) = (mayStopEarly, ignoresErrors)
  }
}

extension Responds {
  /// Returns the row with a rule that combines the results of a multicast's targets into one.
  ///
  /// The rule applies if the multicast has the row in its table and is itself a target with a
  /// delivery of its own. Without a rule the last result counts.
  ///
  /// - Parameters:
  ///   - message: the row's key, which states the type of the results.
  ///   - policy: the rule.
  public func answering<R, each A>(_ message: Message<(repeat each A) -> R>, by policy: ReturnPolicy<R, R>) -> Self {
    method.rule = policy.boxed(crosses: method.resultCrosses) { $0 }
    return self
  }

  /// Returns the row with a rule whose result is `nil` if no target responds.
  public func answering<R, each A>(_ message: Message<(repeat each A) -> R>, by policy: ReturnPolicy<R, R?>) -> Self {
    method.rule = policy.boxed(crosses: method.resultCrosses) { $0 }
    return self
  }
}

/// Takes answers one after another, for one `collect` at a time.
@usableFromInline
struct AnswerCollector<R, Output> {
  /// Takes one answer; `false` when no further one is needed.
  @usableFromInline let take: (R) throws -> Bool
  /// The result of the answers taken.
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

/// The state of a collector. Its accesses follow one another, so none is checked.
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

  /// The first answer, or `nil`; no further target is asked.
  @export(implementation)
  public static var first: Self {
    Self(folding: nil, mayStopEarly: true) { first, answer in
      first = answer
      return false
    }
  }

  /// The answer of the first target that does not fail; no further target is asked. Errors before it go to `onError`; when all
  /// fail, the first error is thrown.
  @export(implementation)
  public static var firstSuccess: Self {
    Self(folding: nil, mayStopEarly: true, ignoresErrors: true) { first, answer in
      first = answer
      return false
    }
  }
}

extension ReturnPolicy where Output == [R] {
  /// Every answer, in the order of delivery.
  @export(implementation)
  public static var all: Self {
    Self(folding: []) { all, answer in
      all.append(answer)
      return true
    }
  }
}

extension ReturnPolicy where R == Bool, Output == Bool {
  /// Whether somebody answered `true`; that ends the message.
  @export(implementation)
  public static var any: Self {
    Self(folding: false, mayStopEarly: true) { any, answer in
      any = answer
      return !answer
    }
  }

  /// Whether nobody answered `false`; the first `false` ends the message. `false` also when there are targets but none can be
  /// asked: a vote that nobody gave is no yes.
  @export(implementation)
  public static var every: Self {
    Self(folding: true, mayStopEarly: true, unasked: { false }) { every, answer in
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
  /// The answers combined one after another by `combine`, beginning with `initial`. What `combine` throws is the error of the send.
  @export(implementation)
  public static func reduce(_ initial: Output, _ combine: @escaping @Sendable (Output, R) throws -> Output) -> Self {
    Self(folding: initial) { result, answer in
      result = try combine(result, answer)
      return true
    }
  }
}
