// Interpreter+Expressions.swift: evaluates expressions on a stack of values.

import Forwardcast

extension Interpreter {
  /// - Throws: ``ScriptError`` at the step that failed.
  func evaluate(_ expression: Expression) throws -> ScriptValue {
    var stack: [ScriptValue] = []
    var place = expression.offset
    do {
      try run.charge(expression.work + expression.workInBlock * frame.blockCount)
      for step in expression.steps {
        place = step.offset
        try compute(step, &stack)
      }
    } catch {
      throw run.located(error, at: place, of: source)
    }
    return stack.removeLast()
  }

  /// See ``ScriptValue/wanted(_:showsValue:_:)``. The error is located at the expression.
  func evaluate<Part>(
    _ expression: Expression, _ need: @autoclosure () -> String, showsValue: Bool = false,
    _ part: (ScriptValue) -> Part?
  ) throws -> Part {
    let value = try evaluate(expression)
    return try at(expression.offset) { try value.wanted(need(), showsValue: showsValue, part) }
  }

  /// Runs `body`. Errors without a position get the position `offset`.
  func at<Result>(_ offset: Int, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw run.located(error, at: offset, of: source) }
  }

  private func compute(_ step: Step, _ stack: inout [ScriptValue]) throws {
    switch step.action {
    case .constant(let value): stack.append(value)
    case .name(let name): stack.append(try value(of: name))
    case .make(let receiver, let isNamed, let fallback):
      let name = isNamed ? try text(of: stack.removeLast()) : fallback
      try run.charge(Work.make + 2 * name.utf8.count)
      let object = ScriptObject(table: try world.table(of: receiver), receiver: receiver, name: name)
      stack.append(.object(object.reference))
    case .compute(let compute): stack.append(try compute(self, &stack))
    }
  }

  /// The name in a selector or a text, checked against the grammar.
  func selectorName(_ value: ScriptValue) throws -> String {
    switch value {
    case .selector(let selector): return selector.name
    case .string(let text): return try ScriptSelector(text).name
    default: throw ScriptError(.typeMismatch, "wanted a selector, found \(value.kind)")
    }
  }
}
