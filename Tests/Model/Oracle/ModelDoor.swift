// ModelDoor.swift: the ways to send the model's message.

/// A return policy, by name.
enum ModelPolicy: String, Hashable, CaseIterable, Sendable {
  case last, first, all, sum, any, every

  /// Whether answers are `Bool`, so that the message is `modelAgrees:`.
  var isBoolean: Bool { self == .any || self == .every }
  /// Whether the result may be known before everybody was asked.
  var mayStopEarly: Bool { self == .first || isBoolean }
  /// The policies that exist for answers of any type.
  static let ofBoxes: [ModelPolicy] = [.last, .first, .all]

  /// What the answers make, and how many of them it took.
  func fold(_ answers: [String]) -> (output: String, taken: Int) {
    switch self {
    case .last: return (answers.last ?? "nil", answers.count)
    case .first: return (answers.first ?? "nil", min(answers.count, 1))
    case .all: return ("[\(answers.joined(separator: ", "))]", answers.count)
    case .sum: return ("\(answers.reduce(0) { $0 + (Int($1) ?? 0) })", answers.count)
    case .any, .every:
      let end = self == .any ? "true" : "false"
      guard let index = answers.firstIndex(of: end) else { return (self == .any ? "false" : "true", answers.count) }
      return (end, index + 1)
    }
  }

  /// Whether these answers are all that the result needs.
  func isKnown(_ answers: [String]) -> Bool {
    switch self {
    case .last, .all, .sum: false
    case .first: !answers.isEmpty
    case .any: answers.contains("true")
    case .every: answers.contains("false")
    }
  }
}

/// One way to send the message.
enum ModelDoor: Hashable, Sendable {
  case broadcast, broadcastBoxed, broadcastPinned, broadcastWhenReady
  case forward, forwardAndWait, forwardBlocking
  case collect(ModelPolicy), collectBoxed(ModelPolicy), collectPinned(ModelPolicy)
  case collectAndWait(ModelPolicy), collectBlocking(ModelPolicy), collectBoxedBlocking(ModelPolicy)
  case send, perform, responds

  static let all: [ModelDoor] =
    [
      .broadcast, .broadcastBoxed, .broadcastPinned, .broadcastWhenReady, .forward, .forwardAndWait, .forwardBlocking,
      .send, .perform, .responds,
    ]
    + ModelPolicy.allCases.flatMap { [.collect($0), .collectPinned($0), .collectAndWait($0), .collectBlocking($0)] }
    + ModelPolicy.ofBoxes.flatMap { [.collectBoxed($0), .collectBoxedBlocking($0)] }

  /// One door, and one policy, for each way through the library: for worlds of which there are many.
  static let few: [ModelDoor] = [
    .broadcast, .broadcastBoxed, .broadcastPinned, .broadcastWhenReady, .forward, .forwardAndWait, .forwardBlocking,
    .send, .responds, .collect(.all), .collect(.every), .collectBoxed(.first), .collectBoxed(.all),
    .collectPinned(.any), .collectAndWait(.all), .collectAndWait(.any), .collectBlocking(.all),
    .collectBoxedBlocking(.first),
  ]

  /// The doors that differ most.
  static let fewest: [ModelDoor] = [
    .broadcast, .broadcastBoxed, .forward, .forwardAndWait, .collect(.all), .collect(.every), .collectBoxed(.first),
    .collectAndWait(.all), .collectAndWait(.any), .collectBlocking(.all), .send,
  ]

  /// What the sender gets back.
  enum Family: Hashable, Sendable { case summary, report, output, answer, question }

  var family: Family {
    switch self {
    case .broadcast, .broadcastBoxed, .broadcastPinned, .broadcastWhenReady: .summary
    case .forward, .forwardAndWait, .forwardBlocking: .report
    case .send, .perform: .answer
    case .responds: .question
    default: .output
    }
  }

  var policy: ModelPolicy? {
    switch self {
    case .collect(let policy), .collectBoxed(let policy), .collectPinned(let policy), .collectAndWait(let policy),
      .collectBlocking(let policy), .collectBoxedBlocking(let policy):
      policy
    default: nil
    }
  }

  /// Whether the answers of queued targets are waited for.
  var waits: Bool { isAsync && self != .broadcastWhenReady || blocks }

  /// Whether the sender is a task that may suspend.
  var isAsync: Bool {
    switch self {
    case .broadcastWhenReady, .forwardAndWait, .collectAndWait: true
    default: false
    }
  }

  /// Whether methods that suspend are reached when their delivery is direct.
  var reachesSuspending: Bool { isAsync && self != .broadcastWhenReady }

  /// Whether the sender's thread is blocked.
  var blocks: Bool {
    switch self {
    case .forwardBlocking, .collectBlocking, .collectBoxedBlocking: true
    default: false
    }
  }

  /// Whether the arguments are checked against the first target before anything is delivered.
  var isChecked: Bool {
    switch self {
    case .forward, .forwardAndWait, .forwardBlocking, .collectBoxed, .collectBoxedBlocking, .send, .perform: true
    default: false
    }
  }

  /// Whether each answer has to be of the message's own type.
  var convertsAnswers: Bool {
    switch self {
    case .collectBoxed, .collectBoxedBlocking: false
    default: family == .output
    }
  }

  /// Whether weak targets are held for the time of the message.
  var isPinned: Bool {
    switch self {
    case .broadcastPinned, .collectPinned: true
    default: false
    }
  }
}
