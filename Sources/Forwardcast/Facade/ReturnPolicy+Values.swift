// ReturnPolicy+Values.swift: further policies: values that are there, extremes, everything joined.

/// An answer that may be `nil`: an optional.
public protocol OptionalAnswer: ExpressibleByNilLiteral {
  /// Whether there is no value.
  var isNil: Bool { get }
}

extension Optional: OptionalAnswer {
  /// Whether there is no value.
  public var isNil: Bool { if case .none = self { true } else { false } }
}

extension ReturnPolicy where R: OptionalAnswer & SendableMetatype, Output == R {
  /// The last answer that is not `nil`.
  @export(implementation)
  public static var lastValue: Self {
    Self(folding: nil) { last, answer in
      if !answer.isNil { last = answer }
      return true
    }
  }

  /// The first answer that is not `nil`; nobody further is asked.
  @export(implementation)
  public static var firstValue: Self {
    Self(folding: nil, mayStopEarly: true) { first, answer in
      first = answer
      return answer.isNil
    }
  }
}

extension ReturnPolicy where R: Comparable & SendableMetatype, Output == R? {
  /// The smallest answer, the first of equal ones, or `nil`.
  @export(implementation)
  public static var min: Self {
    Self(folding: nil) { least, answer in
      if let found = least, !(answer < found) { return true }
      least = answer
      return true
    }
  }

  /// The greatest answer, the last of equal ones, or `nil`.
  @export(implementation)
  public static var max: Self {
    Self(folding: nil) { greatest, answer in
      if let found = greatest, answer < found { return true }
      greatest = answer
      return true
    }
  }
}

extension ReturnPolicy where R: RangeReplaceableCollection & SendableMetatype, Output == R {
  /// All answers one after another.
  @export(implementation)
  public static var joined: Self {
    Self(folding: R()) { all, answer in
      all.append(contentsOf: answer)
      return true
    }
  }
}

extension ReturnPolicy where R == String, Output == String {
  /// All answers one after another, with `separator` between two of them.
  public static func joined(separator: String) -> Self {
    Self(from: String?.none) { text, answer in
      text = text.map { $0 + separator + answer } ?? answer
      return true
    } finish: {
      $0 ?? ""
    }
  }
}

extension ReturnPolicy {
  /// The result of `policy`, or `nil` where nobody answered.
  @export(implementation)
  public static func ifAnswered<Inner>(_ policy: ReturnPolicy<R, Inner>) -> Self where Output == Inner? {
    Self(unlessEmpty: policy)
  }

  @export(implementation)
  init<Inner>(unlessEmpty policy: ReturnPolicy<R, Inner>) where Output == Inner? {
    switch policy.way {
    case .folding(let initial, let step):
      way = .folding(initial: { nil }) { result, answer in
        var inner = result ?? initial()
        // What was taken in before an error stays.
        defer { result = inner }
        return try step(&inner, answer)
      }
    case .gathering(let make):
      way = .gathering { make().orNil }
    }
    mayStopEarly = policy.mayStopEarly
    ignoresErrors = policy.ignoresErrors
    unasked = nil
  }
}

extension AnswerCollector {
  /// The same, whose result is `nil` where nobody answered.
  @usableFromInline
  var orNil: AnswerCollector<R, Output?> {
    var isEmpty = true
    return AnswerCollector<R, Output?>(
      (),
      { _, answer in
        isEmpty = false
        return try take(answer)
      },
      { _ in isEmpty ? nil : finish() })
  }
}
