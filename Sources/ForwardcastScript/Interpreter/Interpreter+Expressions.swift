// Interpreter+Expressions.swift: evaluates expressions on a stack of values.

import Forwardcast

extension Interpreter {
  /// - Throws: ``ScriptError`` at the step that failed.
  func evaluate(_ expression: Expression) throws -> ScriptValue {
    var stack: [ScriptValue] = []
    var place = expression.offset
    do {
      try run.charge(expression.work)
      for step in expression.steps {
        place = step.offset
        try compute(step, &stack)
      }
    } catch {
      throw run.located(error, at: place, of: source)
    }
    return stack.removeLast()
  }

  /// A part of the value of an expression: see ``ScriptValue/wanted(_:showsValue:_:)``.
  /// - Throws: `type mismatch` at the expression.
  func evaluate<Part>(
    _ expression: Expression, _ need: @autoclosure () -> String, showsValue: Bool = false,
    _ part: (ScriptValue) -> Part?
  ) throws -> Part {
    let value = try evaluate(expression)
    return try at(expression.offset) { try value.wanted(need(), showsValue: showsValue, part) }
  }

  /// Runs `body`, and locates errors without a place there.
  func at<Result>(_ offset: Int, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw run.located(error, at: offset, of: source) }
  }

  private func compute(_ step: Step, _ stack: inout [ScriptValue]) throws {
    switch step.action {
    case .constant(let value): stack.append(value)
    case .name(let name): stack.append(try value(of: name))
    case .send(let selector, let count, let wanted):
      let arguments = Array(stack.suffix(count))
      stack.removeLast(count)
      let receiver = stack.removeLast()
      try run.step(at: step.offset, of: source)
      let sending = Sending(selector: selector, arguments: arguments, offset: step.offset)
      stack.append(try send(sending, to: receiver, wanted))
    case .list(let count):
      let elements = Array(stack.suffix(count))
      stack.removeLast(count)
      stack.append(try bounded(.list(elements)))
    case .dictionary(let keys):
      // A slice would share the stack's buffer, and so have all of it copied.
      let values = Array(stack.suffix(keys.count))
      let entries = Dictionary(zip(keys, values)) { $1 }
      stack.removeLast(keys.count)
      stack.append(try bounded(.dictionary(entries)))
    case .make(let receiver, let isNamed, let fallback):
      let name = isNamed ? try text(of: stack.removeLast()) : fallback
      try run.charge(Work.make + 2 * name.utf8.count)
      let object = ScriptObject(table: try world.table(of: receiver), receiver: receiver, name: name)
      stack.append(.object(object.reference))
    case .not: stack.append(.bool(try !stack.removeLast().wanted("not needs a Bool, not", \.bool)))
    case .query(let query): stack.append(try answer(query, about: stack.removeLast()))
    case .responds:
      let selector = stack.removeLast()
      stack.append(.bool(try responds(stack.removeLast(), to: selectorName(selector), at: step.offset)))
    case .alive(let name): stack.append(.bool(try isAlive(name)))
    case .hookArgument: stack.append(try hookArgument(stack.removeLast()))
    case .proceed(let hasArguments):
      // Explicitly optional, since a bare value could be taken for the literal `nil`.
      stack.append(try proceed(with: hasArguments ? .some(stack.removeLast()) : .none))
    case .service(let name): stack.append(try service(name, at: step.offset))
    case .services: stack.append(try services())
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
