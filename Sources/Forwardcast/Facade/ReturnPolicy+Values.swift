// ReturnPolicy+Values.swift: further policies.

/// An optional answer.
public protocol OptionalAnswer: ExpressibleByNilLiteral {
  /// True if the answer is `nil`.
  var isNil: Bool { get }
}

extension Optional: OptionalAnswer {
  /// True if the answer is `nil`.
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

  /// The first answer that is not `nil`. No further target is called.
  @export(implementation)
  public static var firstValue: Self {
    Self(folding: nil, mayStopEarly: true) { first, answer in
      first = answer
      return answer.isNil
    }
  }
}

extension ReturnPolicy where R: Comparable & SendableMetatype, Output == R? {
  /// The smallest answer; if several are equal, the first of them. `nil` without answers.
  @export(implementation)
  public static var min: Self {
    Self(folding: nil) { least, answer in
      if let found = least, !(answer < found) { return true }
      least = answer
      return true
    }
  }

  /// The greatest answer; if several are equal, the last of them. `nil` without answers.
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
  /// All answers concatenated.
  @export(implementation)
  public static var joined: Self {
    Self(folding: R()) { all, answer in
      all.append(contentsOf: answer)
      return true
    }
  }
}

extension ReturnPolicy where R == String, Output == String {
  /// All answers concatenated, with `separator` between them.
  public static func joined(separator: String) -> Self {
    var policy = Self(from: [String]()) { texts, answer in
      texts.append(answer)
      return true
    } finish: {
      $0.joined(separator: separator)
    }
    policy.mayStopEarly = false
    return policy
  }
}

extension ReturnPolicy {
  /// The result of `policy`, or `nil` without answers.
  @export(implementation)
  public static func ifAnswered<Inner>(_ policy: ReturnPolicy<R, Inner>) -> Self where Output == Inner? {
    Self(unlessEmpty: policy)
  }

  @export(implementation)
  init<Inner>(unlessEmpty policy: ReturnPolicy<R, Inner>) where Output == Inner? {
    switch policy.way {
    case .folding(let initial, let step):
      way = .folding(initial: { nil }) { result, answer in
        // Moving the result out avoids a copy. If `step` throws, the earlier result remains.
        var inner = result.take() ?? initial()
        defer { result = inner }
        return try step(&inner, answer)
      }
    case .gathering(let make):
      way = .gathering { make().orNil }
    }
    mayStopEarly = policy.mayStopEarly
    ignoresErrors = policy.ignoresErrors
    if let change = policy.ifIncomplete {
      ifIncomplete = { $0.map(change) }
    } else {
      ifIncomplete = nil
    }
  }
}

extension AnswerCollector {
  /// A collector whose result is `nil` without answers.
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
