// Expression.swift: an expression as the steps that compute it.

/// An expression, lowered while it is parsed to the steps of a stack machine.
///
/// A tree would be walked by recursion, and sixty-four brackets in each of sixty-four nested sends are more than the
/// stack of a queue's thread holds. Steps need a loop, and an array that grows on the heap.
struct Expression: Sendable {
  let steps: [Step]
  let offset: Int
  /// Units of work that are charged each time that it is computed.
  let work: Int
}

/// One step: takes values from the stack and puts one back.
struct Step: Sendable {
  let action: Action
  let offset: Int

  init(_ action: Action, at offset: Int) { (self.action, self.offset) = (action, offset) }

  enum Action: Sendable {
    case constant(ScriptValue)
    case name(String)
    /// Takes the arguments and, below them, the receiver.
    case send(SendShape, Wanted)
    case list(count: Int)
    case dictionary(keys: [String])
    /// Takes the name when it is given in the text; `fallback` is the name otherwise.
    case make(receiver: String, isNamed: Bool, fallback: String)
    case not
    case query(Query)
    /// Takes the selector and, below it, who is asked.
    case responds
    case alive(String)
    case hookArgument
    /// Takes the list of other arguments where there is one.
    case proceed(withArguments: Bool)
    case service(String)
    case services
  }

  /// What is wanted of a send: its answer, one result of all answers, the texts of errors, or how many targets got it.
  enum Wanted: Sendable {
    case answer
    case result(CollectPolicy)
    case errors, report
  }
}

/// What a send says: the selector's name, checked against the grammar but not interned.
struct SendShape: Sendable {
  let selector: String
  let argumentCount: Int
}

enum Query: String, Sendable, CaseIterable {
  case count, targets, calls
  case signature, types, offsets, sizes, aligns, frame, returns
  case size, align
  case selector, arity
}

/// Which of the answers of a broadcast are given, and how.
enum CollectPolicy: String, Sendable, CaseIterable {
  case last, first, all, any, every, sum
}

struct Condition: Sendable {
  static let comparisons: Set<Sign> = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]

  let left: Expression
  /// The comparison, where the condition is one, and the place of its sign.
  let comparison: (Sign, Expression, offset: Int)?
}
