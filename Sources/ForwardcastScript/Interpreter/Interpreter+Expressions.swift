// Interpreter+Expressions.swift: computes expressions, step by step.
// Layer: Script, Interpreter. See the article "How the script works".

import Forwardcast

extension Interpreter {
  /// The value of an expression.
  ///
  /// - Throws: ``ScriptError`` at the step that failed.
  func evaluate(_ expression: Expression) throws -> ScriptValue {
    var stack: [ScriptValue] = []
    try chargeSteps(of: expression)
    for step in expression.steps {
      do {
        try compute(step, &stack)
      } catch {
        throw run.located(error, at: step.offset, of: source)
      }
    }
    return stack.removeLast()
  }

  private func compute(_ step: Step, _ stack: inout [ScriptValue]) throws {
    switch step.action {
    case .constant(let value): stack.append(value)
    case .name(let name): stack.append(try value(of: name))
    case .send(let shape):
      let (receiver, arguments) = take(shape, &stack)
      stack.append(try send(shape, to: receiver, arguments, at: step.offset))
    case .list(let count):
      let elements = Array(stack.suffix(count))
      stack.removeLast(count)
      stack.append(try bounded(.list(elements)))
    case .dictionary(let keys):
      // A slice would keep the stack, and all of it would be copied.
      let values = Array(stack.suffix(keys.count))
      let entries = Dictionary(zip(keys, values)) { $1 }
      stack.removeLast(keys.count)
      stack.append(try bounded(.dictionary(entries)))
    case .make(let receiver, let isNamed, let fallback):
      let name = isNamed ? try text(of: stack.removeLast()) : fallback
      try run.charge(Work.object + name.utf8.count)
      stack.append(.object(try make(receiver, name: name)))
    case .not:
      let value = stack.removeLast()
      guard case .bool(let bool) = value else {
        throw ScriptFault(.typeMismatch, "not needs a Bool, not \(value.kind)")
      }
      stack.append(.bool(!bool))
    case .query(let query): stack.append(try answer(query, about: stack.removeLast()))
    case .responds:
      let selector = stack.removeLast()
      stack.append(.bool(try responds(stack.removeLast(), to: selectorName(selector), at: step.offset)))
    case .alive(let name): stack.append(.bool(try isAlive(name)))
    default: try computeLongForm(step, &stack)
    }
  }

  private func computeLongForm(_ step: Step, _ stack: inout [ScriptValue]) throws {
    switch step.action {
    case .collect(let policy, let shape):
      let (receiver, arguments) = take(shape, &stack)
      stack.append(try collect(policy, shape, receiver, arguments, at: step.offset))
    case .errors(let shape):
      let (receiver, arguments) = take(shape, &stack)
      stack.append(try errors(shape, receiver, arguments, at: step.offset))
    case .report(let shape):
      let (receiver, arguments) = take(shape, &stack)
      stack.append(try report(shape, receiver, arguments, at: step.offset))
    case .hookArgument: stack.append(try hookArgument(stack.removeLast()))
    case .proceed(let hasArguments):
      // A value may itself be written `nil`.
      stack.append(try proceed(with: hasArguments ? .some(stack.removeLast()) : .none))
    case .service(let name): stack.append(try service(name, at: step.offset))
    case .services: stack.append(try services())
    default: break
    }
  }

  /// Takes the arguments and the receiver of a send.
  private func take(_ shape: SendShape, _ stack: inout [ScriptValue]) -> (ScriptValue, [ScriptValue]) {
    let arguments = Array(stack.suffix(shape.argumentCount))
    stack.removeLast(shape.argumentCount)
    return (stack.removeLast(), arguments)
  }

  private func make(_ receiver: String, name: String) throws -> ScriptReference {
    guard let table = world.table(of: receiver) else {
      throw ScriptFault(.unknownName, "receiver \(receiver)", about: .receiver(receiver))
    }
    return ScriptObject(table: table, receiver: receiver, name: name).reference
  }

  /// The name in a selector or in a text, checked.
  func selectorName(_ value: ScriptValue) throws -> String {
    switch value {
    case .selector(let selector): return selector.name
    case .string(let text): return try ScriptSelector(text).name
    default: throw ScriptFault(.typeMismatch, "wanted a selector, found \(value.kind)")
    }
  }
}
