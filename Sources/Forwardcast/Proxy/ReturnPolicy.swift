// ReturnPolicy.swift: one result out of many answers.
// Layer: Proxy. See DESIGN.md, "Return policies".

/// How the answers of many targets, taken in the order of delivery, become one result.
///
///     try themes.collect(.progress, returning: .sum)
///     try themes.collect(.progress, returning: .reduce(0) { max($0, $1) })
///
/// `R` is what each target answers, `Output` what `collect` gives. Where nobody answers, the result is the policy's
/// empty value: `nil`, `[]`, `0`, `false` for any, `true` for every, the initial value of a reduction.
public struct ReturnPolicy<R, Output>: Sendable {
  @usableFromInline let makeCollector: @Sendable () -> AnswerCollector<R, Output>
  /// Whether the result may be known before everybody was asked.
  let mayStopEarly: Bool

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
    makeCollector = { StateCollector(initial, step, finish) }
    mayStopEarly = true
  }

  private init(mayStopEarly: Bool = false, make: @escaping @Sendable () -> AnswerCollector<R, Output>) {
    makeCollector = make
    self.mayStopEarly = mayStopEarly
  }
}

/// Takes answers one after another. Used by one `collect` at a time.
@usableFromInline
class AnswerCollector<R, Output> {
  /// Takes one answer; `false` when no further one is needed.
  @usableFromInline func take(_ answer: R) throws -> Bool { false }
  /// The result of what was taken; asked for once.
  @usableFromInline func finish() -> Output { fatalError("AnswerCollector is abstract") }
}

private final class StateCollector<R, Output, State>: AnswerCollector<R, Output> {
  private var state: State
  private let step: (inout State, R) throws -> Bool
  private let result: (State) -> Output

  init(_ initial: State, _ step: @escaping (inout State, R) throws -> Bool, _ result: @escaping (State) -> Output) {
    (state, self.step, self.result) = (initial, step, result)
  }

  override func take(_ answer: R) throws -> Bool { try step(&state, answer) }
  override func finish() -> Output { result(state) }
}

extension ReturnPolicy where Output == R? {
  /// The last answer, or `nil`.
  public static var last: Self {
    Self(make: {
      StateCollector(R?.none, { state, answer in state = answer; return true }, { $0 })
    })
  }

  /// The first answer, or `nil`; nobody further is asked.
  public static var first: Self {
    Self(
      mayStopEarly: true,
      make: {
      StateCollector(R?.none, { state, answer in state = answer; return false }, { $0 })
    })
  }
}

extension ReturnPolicy where Output == [R] {
  /// Every answer, in the order of delivery.
  public static var all: Self {
    Self(make: {
      StateCollector([R](), { state, answer in state.append(answer); return true }, { $0 })
    })
  }
}

extension ReturnPolicy where R == Bool, Output == Bool {
  /// Whether somebody answered `true`; the first who does is the last who is asked.
  public static var any: Self {
    Self(mayStopEarly: true, make: { StateCollector(false, { state, answer in state = answer; return !answer }, { $0 }) })
  }

  /// Whether nobody answered `false`; the first who does is the last who is asked.
  public static var every: Self {
    Self(mayStopEarly: true, make: { StateCollector(true, { state, answer in state = answer; return answer }, { $0 }) })
  }
}

extension ReturnPolicy where R: AdditiveArithmetic & SendableMetatype, Output == R {
  /// The sum of all answers. Integers trap on overflow, as `+` does.
  public static var sum: Self {
    Self(make: { StateCollector(R.zero, { state, answer in state = state + answer; return true }, { $0 }) })
  }
}

extension ReturnPolicy {
  /// The answers combined one after another, beginning with `initial`.
  public static func reduce(_ initial: Output, _ combine: @escaping @Sendable (Output, R) throws -> Output) -> Self
  where Output: Sendable {
    Self(make: {
      StateCollector(initial, { state, answer in state = try combine(state, answer); return true }, { $0 })
    })
  }
}
