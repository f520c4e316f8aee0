// Interpreter.swift: runs statements.

import Forwardcast

/// Runs the body of one method or hook, or the top level of a script.
///
/// Blocks and expressions use stacks on the heap. Only unfinished sends use the thread's stack.
/// Their number is limited, so a script fits the stack of any thread that delivers messages.
struct Interpreter {
  let world: World
  let run: Run
  let frame: Frame

  var source: SourceText { frame.source }

  /// A block with the number of its remaining rounds, and the remaining statements of this round.
  private struct Cursor {
    let statements: [Statement]
    var rest: ArraySlice<Statement>
    var rounds = 1
  }

  /// Runs statements in order. Returns the value of `return` or of a final top-level expression.
  /// - Throws: ``ScriptError``, always with its position.
  func execute(_ statements: [Statement]) throws -> ScriptValue? {
    var cursors = [Cursor(statements: statements, rest: statements[...])]
    while let top = cursors.indices.last {
      guard let statement = cursors[top].rest.popFirst() else {
        cursors[top].rounds -= 1
        if cursors[top].rounds == 0 {
          cursors.removeLast()
          if top > 0 { frame.leaveBlock() }
        } else {
          cursors[top].rest = cursors[top].statements[...]
          frame.leaveBlock()
          frame.enterBlock()
        }
        continue
      }
      try run.step(at: statement.offset, of: source)
      var (block, rounds) = ([Statement](), 0)
      do {
        switch statement.kind {
        case .action(let perform): try perform(self)
        case .evaluate(let expression):
          let value = try evaluate(expression)
          if frame.isScriptLevel, cursors[top].rest.isEmpty { return value }
        case .condition(let condition, let then, let otherwise):
          (block, rounds) = try holds(condition) ? (then, 1) : (otherwise ?? [], 1)
        case .repeat(let count, let repeated):
          block = repeated
          rounds = try evaluate(count, "\"repeat\" needs an integer from 0 on, not", showsValue: true) { value in
            value.integer.flatMap { $0 >= 0 ? $0 : nil }
          }
          // An empty round counts as a step, so the step limit ends a long loop.
          while repeated.isEmpty, rounds > 0 {
            try run.step(at: statement.offset, of: source)
            rounds -= 1
          }
        case .answer(let expression): return try expression.map { try evaluate($0) } ?? .null
        }
      } catch {
        throw run.located(error, at: statement.offset, of: source)
      }
      if rounds > 0 {
        cursors.append(Cursor(statements: block, rest: block[...], rounds: rounds))
        frame.enterBlock()
      }
    }
    return nil
  }

  func wait(at offset: Int) throws {
    try run.charge(world.workOfWaiting)
    try run.budget(at: offset, of: source).charging { try world.waitForQueues() }
    try run.check()
  }

  // MARK: Names

  func bind(_ name: String, _ value: ScriptValue) {
    if frame.isScriptLevel { world.bind(name, value) } else { frame.bind(name, value) }
  }

  func assign(_ name: String, _ expression: Expression) throws {
    try run.charge(Work.name(name))
    bind(name, try evaluate(expression))
  }

  func drop(_ name: String) throws {
    try run.charge(Work.name(name) + 2 * Work.nameInBlock(name) * frame.blockCount)
    switch frame.binding(name) ?? world.binding(name) {
    case .value: if !frame.drop(name) { world.drop(name) }
    case .dropped: throw ScriptError(.unknownName, "\(name) was dropped")
    case nil: throw ScriptError(.unknownName, name, about: .name(name))
    }
  }

  func value(of name: String) throws -> ScriptValue {
    switch frame.binding(name) ?? world.binding(name) {
    case .value(let value):
      if !run.isOnThread || world.currentQueue != nil { try checkCrossing(value) }
      return value
    case .dropped: throw ScriptError(.unknownName, "\(name) was dropped")
    case nil: throw ScriptError(.unknownName, name, about: .name(name))
    }
  }

  /// - Throws: `isolation mismatch` for a value that is not `Sendable`.
  private func checkCrossing(_ value: ScriptValue) throws {
    if case .object(let reference) = value {
      // The targets of a proxy may have changed since its name was bound.
      if try world.mayCross(reference.receiver, run) { return }
    } else {
      try chargeCopy(of: value)
      if value.mayCross { return }
    }
    let place = world.currentQueue.map { "queue \($0.name)" } ?? "another thread"
    throw ScriptError(
      .thrown, "isolation mismatch: \(value.evidence) is not Sendable and may not be used on \(place)")
  }

  func isAlive(_ name: String) throws -> Bool {
    switch frame.binding(name) ?? world.binding(name) {
    case .value: return true
    case .dropped(let object): return object.object != nil
    case nil: throw ScriptError(.unknownName, name, about: .name(name))
    }
  }

  func holds(_ condition: Condition) throws -> Bool {
    guard let (comparison, right, offset) = condition.comparison else {
      return try evaluate(condition.left, "a condition needs a Bool, not", \.bool)
    }
    return try holds(evaluate(condition.left), comparison, evaluate(right), at: offset)
  }

  func text(of value: ScriptValue) throws -> String { try value.wanted("wanted a text, found", \.text) }

  // MARK: Output and expectations

  func print(_ expressions: [Expression]) throws {
    var (words, size) = ([String](), 0)
    for expression in expressions {
      let value = try evaluate(expression)
      try run.charge(value.copyingWork())
      let word = value.description
      size += word.utf8.count
      try run.charge(word.utf8.count)
      try ScriptError.limit(size <= ScriptValue.sizeLimit, "a line of over 16 MiB")
      words.append(word)
    }
    world.handlers.output(words.joined(separator: " ") + "\n")
  }

  func expect(_ condition: Condition, at offset: Int) throws {
    if let (comparison, expression, place) = condition.comparison {
      let (left, right) = (try evaluate(condition.left), try evaluate(expression))
      if try holds(left, comparison, right, at: place) { return }
      try fail("\(left.evidence) \(comparison.rawValue) \(right.evidence) does not hold", at: offset)
    } else if try !evaluate(condition.left, "an expectation needs a Bool, not", \.bool) {
      try fail("wanted true, found false", at: offset)
    }
  }

  func expect(_ expression: Expression, throws text: String?, at offset: Int) throws {
    var wanted: String { text.map { "an error that begins with \(ScriptValue.string($0).evidence)" } ?? "an error" }
    let value: ScriptValue
    do {
      value = try evaluate(expression)
    } catch {
      // `expect` cannot catch an exceeded limit.
      try run.check()
      let error = run.located(error, at: expression.offset, of: source)
      if error.code == .limitExceeded { throw error }
      guard let text, try !self.text(error.text, beginsWith: text) else { return }
      return try fail("wanted \(wanted), found \(ScriptValue.string(error.text).evidence)", at: offset)
    }
    try fail("wanted \(wanted), found the value \(value.evidence)", at: offset)
  }

  private func fail(_ evidence: String, at offset: Int) throws {
    try run.fail(ScriptError(.expectationFailed, evidence).placed(at: offset, of: source))
  }
}
