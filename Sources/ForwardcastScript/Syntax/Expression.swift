// Expression.swift: expressions as steps of a stack machine.

/// An expression, compiled by the parser to the steps of a stack machine.
///
/// Evaluating a tree would recurse, so nested sends could exceed the stack of a queue's thread.
/// Steps need only a loop, and an array on the heap.
struct Expression: Sendable {
  let steps: [Step]
  let offset: Int
  /// The price of each evaluation in units of ``Work``: the sum of the prices of the steps.
  let work: Int
  /// The additional price for each open block, because names are searched for in each block.
  let workInBlock: Int

  init(steps: [Step], offset: Int) {
    (self.steps, self.offset) = (steps, offset)
    work = steps.reduce(0) { $0 + Work.look + $1.work }
    workInBlock = steps.reduce(0) { $0 + $1.workInBlock }
  }
}

/// One step: pops its operands from the stack and pushes its result.
struct Step: Sendable {
  let action: Action
  let offset: Int
  /// The price of the names, selectors and keys that the step uses.
  let work: Int
  /// The additional price for each open block; 0 if the step looks up no name.
  let workInBlock: Int

  enum Action: Sendable {
    case constant(ScriptValue)
    case name(String)
    /// Pops the name if `isNamed`; otherwise the name is `fallback`.
    case make(receiver: String, isNamed: Bool, fallback: String)
    /// The closure pops its operands itself.
    case compute(@Sendable (Interpreter, inout [ScriptValue]) throws -> ScriptValue)
  }

  /// The result of a send: its answer, a policy's result, texts of errors, or counts of a report.
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

enum CollectPolicy: String, Sendable, CaseIterable {
  case last, first, all, any, every, sum
}

struct Condition: Sendable {
  static let comparisons: Set<Sign> = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]

  let left: Expression
  /// The comparison and the offset of its sign, if the condition is a comparison.
  let comparison: (Sign, Expression, offset: Int)?
}
