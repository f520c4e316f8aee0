// ReturnPolicy.swift: one result out of many answers.

/// How the answers of many targets, taken in the order of delivery, become one result.
///
///     try themes.collect(.progress, returning: .sum)
///     try themes.collect(.progress, returning: .reduce(0) { max($0, $1) })
///
/// `R` is what each target answers, `Output` what `collect` gives. Where nobody answers, the result is the policy's
/// empty value: `nil`, `[]`, `0`, `false` for any, `true` for every, the initial value of a reduction.
public struct ReturnPolicy<R, Output>: Sendable {
  @usableFromInline let way: Way
  /// Whether the result may be known before everybody was asked.
  @usableFromInline let mayStopEarly: Bool
  /// Whether errors are thrown only when nobody answered.
  @usableFromInline let ignoresErrors: Bool
  /// The result where there are targets, and none of them could be asked; `nil` where that is the result of no answers.
  @usableFromInline let unasked: (@Sendable () -> Output)?

  /// How a policy keeps what it has taken.
  @usableFromInline
  enum Way: Sendable {
    /// As its result, which stands on the sender's stack: nothing is allocated for a `collect`.
    case folding(initial: @Sendable () -> Output, step: @Sendable (inout Output, R) throws -> Bool)
    /// As a state of its own type.
    case gathering(@Sendable () -> AnswerCollector<R, Output>)
  }

  /// A policy of your own.
  ///
  /// - Parameters:
  ///   - initial: the state before the first answer; its `finish` is the empty value.
  ///   - step: takes one answer in; `false` says that the result is known and nobody further is asked.
  ///   - finish: the result of the state that was reached.
  public init<State: Sendable>(
    from initial: State, step: @escaping @Sendable (inout State, R) throws -> Bool,
    finish: @escaping @Sendable (State) -> Output
  ) {
    way = .gathering { AnswerCollector(initial, step, finish) }
    mayStopEarly = true
    ignoresErrors = false
    unasked = nil
  }

  /// A policy whose result is its state.
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

  /// Takes answers that come at different times.
  @export(implementation) @inline(never)
  func makeCollector() -> AnswerCollector<R, Output> {
    switch way {
    case .folding(let initial, let step): AnswerCollector(initial(), step) { $0 }
    case .gathering(let make): make()
    }
  }
}

/// Takes answers one after another. Used by one `collect` at a time.
@usableFromInline
struct AnswerCollector<R, Output> {
  /// Takes one answer; `false` when no further one is needed.
  @usableFromInline let take: (R) throws -> Bool
  /// The result of what was taken.
  @usableFromInline let finish: () -> Output

  @export(implementation) @inline(__always)
  init<State>(
    _ initial: State, _ step: @escaping (inout State, R) throws -> Bool, _ finish: @escaping (State) -> Output
  ) {
    let kept = CollectedState(initial)
    take = { try step(&kept.state, $0) }
    self.finish = { finish(kept.state) }
  }
}

/// What a collector has taken so far. Its accesses follow one another, so none is checked.
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

  /// The first answer, or `nil`; nobody further is asked.
  @export(implementation)
  public static var first: Self {
    Self(folding: nil, mayStopEarly: true) { first, answer in
      first = answer
      return false
    }
  }

  /// The answer of the first target that does not fail; nobody further is asked. Errors of those before it go to `onError`;
  /// when all fail, the first error is thrown.
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
  /// Whether somebody answered `true`; the first who does is the last who is asked.
  @export(implementation)
  public static var any: Self {
    Self(folding: false, mayStopEarly: true) { any, answer in
      any = answer
      return !answer
    }
  }

  /// Whether nobody answered `false`; the first who does is the last who is asked. Where there are targets and none of them can be
  /// asked it is `false`: a vote that nobody gave is no yes.
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
  /// The answers combined one after another, beginning with `initial`.
  /// - Parameters:
  ///   - initial: the result where nobody answers.
  ///   - combine: makes one of the result so far and the next answer; what it throws is the error of the send.
  @export(implementation)
  public static func reduce(_ initial: Output, _ combine: @escaping @Sendable (Output, R) throws -> Output) -> Self {
    Self(folding: initial) { result, answer in
      result = try combine(result, answer)
      return true
    }
  }
}
