// Expression.swift: expressions as steps of a stack machine.

/// An expression, compiled by the parser to the steps of a stack machine.
///
/// Walking a tree would recurse: sixty-four brackets in each of sixty-four nested sends exceed the stack of a queue's thread.
/// Steps need a loop and an array on the heap.
struct Expression: Sendable {
  let steps: [Step]
  let offset: Int
  /// The price of each evaluation in units of ``Work``.
  let work: Int
}

/// One step: pops its operands from the stack and pushes its result.
struct Step: Sendable {
  let action: Action
  let offset: Int

  init(_ action: Action, at offset: Int) { (self.action, self.offset) = (action, offset) }

  enum Action: Sendable {
    case constant(ScriptValue)
    case name(String)
    /// Pops the arguments and, below them, the receiver. The selector was checked against the grammar, and not interned.
    case send(String, count: Int, Wanted)
    case list(count: Int)
    case dictionary(keys: [String])
    /// Pops the name if the text gives one; else the name is `fallback`.
    case make(receiver: String, isNamed: Bool, fallback: String)
    case not
    case query(Query)
    /// Pops the selector and, below it, the object.
    case responds
    case alive(String)
    case hookArgument
    /// Pops the list of arguments if there is one.
    case proceed(withArguments: Bool)
    case service(String)
    case services
  }

  /// The result of a send: its answer, a policy applied to all answers, the texts of errors, or the counts of a report.
  enum Wanted: Equatable, Sendable {
    case answer
    case result(CollectPolicy)
    case errors, report
  }
}

enum Query: String, Sendable, CaseIterable {
  case count, targets, calls
  case signature, types, offsets, sizes, aligns, frame, returns
  case size, align
  case selector, arity
}

/// How `collect` combines answers.
enum CollectPolicy: String, Sendable, CaseIterable {
  case last, first, all, any, every, sum
}

struct Condition: Sendable {
  static let comparisons: Set<Sign> = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]

  let left: Expression
  /// The comparison with the place of its sign, if the condition is one.
  let comparison: (Sign, Expression, offset: Int)?
}
