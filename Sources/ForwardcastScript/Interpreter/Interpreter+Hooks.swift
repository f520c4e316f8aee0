// Interpreter+Hooks.swift: hooks on the messages of a proxy.

import Forwardcast

/// One run of a hook's block, on one thread. `arg` and `proceed` refer to it.
final class HookRun {
  let arguments: [ScriptValue]
  /// The answers of the last `proceed` that did not throw, if any.
  private(set) var answers: [ArgumentBox]?
  /// The value that the last `proceed` gave to the script, if any.
  var given: ScriptValue?
  private(set) var failure: (any Error)?
  private let rest: ([ArgumentBox]?) throws -> [ArgumentBox]

  init(_ arguments: [ScriptValue], rest: @escaping ([ArgumentBox]?) throws -> [ArgumentBox]) {
    (self.arguments, self.rest) = (arguments, rest)
  }

  func proceed(with other: [ScriptValue]?) throws -> [ArgumentBox] {
    let result = Result { try rest(other?.map(\.box)) }
    if case .failure(let error) = result { failure = error } else { failure = nil }
    answers = (try? result.get()) ?? answers
    return try result.get()
  }
}

extension Interpreter {
  func install(
    _ moment: StatementWord, _ proxy: Expression, _ selector: Expression, _ body: [Statement], as name: String?
  ) throws {
    // Each later message searches all hooks, so the price grows with the number of hooks.
    try run.charge(Work.make + Work.look * world.hookCount + (name.map(Work.name) ?? 0))
    let offset = proxy.offset
    let proxy = try evaluate(proxy, "\"\(moment.rawValue)\" needs a proxy, not", showsValue: true) { value in
      value.reference?.receiver as? any MessageHooking
    }
    let selector = try at(selector.offset) { try world.intern(selectorName(evaluate(selector))) }
    let body = HookBody(
      world: world, proxy: WeakObject(proxy as AnyObject), names: frame.copy(depth: 0), moment: moment,
      statements: body, offset: offset)
    try world.makeRoomForHook()
    let registration =
      switch moment {
      case .before: try proxy.before(selector) { _ = try body.run($0) }
      case .after: try proxy.after(selector) { _ = try body.run($1, after: $0) }
      default: try proxy.around(selector, { try body.around($0) })
      }
    world.state.withLock { $0.hooks.append(registration) }
    if let name { world.bind(name, .hook(registration)) }
  }

  func hookArgument(_ index: ScriptValue) throws -> ScriptValue {
    let index = try index.wanted("\"arg\" needs an integer, not", \.integer)
    let arguments = frame.hook?.arguments ?? []
    guard arguments.indices.contains(index) else {
      throw ScriptError(.wrongNumberOfArguments, "argument \(index) does not exist; the message has \(arguments.count)")
    }
    return arguments[index]
  }

  /// `proceed` and `proceed with @[…]` in `around`.
  func proceed(with arguments: ScriptValue?) throws -> ScriptValue {
    guard let hook = frame.hook else { return .null }
    var list: [ScriptValue]?
    if let arguments {
      let elements = try arguments.wanted("\"proceed\" takes a list, not", \.list)
      guard elements.count == hook.arguments.count else {
        throw ScriptError(.wrongNumberOfArguments, "the message takes \(hook.arguments.count), found \(elements.count)")
      }
      for element in elements { try chargeCopy(of: element) }
      list = elements
    }
    let given = try result(of: hook.proceed(with: list))
    hook.given = given
    return given
  }

  /// The sender's policy applied to the answers of a message.
  fileprivate func result(of answers: [ArgumentBox]) throws -> ScriptValue {
    try bounded((SendInProgress.current?.policy ?? .last).result(answers.map(value)))
  }
}

private struct HookBody: @unchecked Sendable {  // immutable: `names` is a copy that nobody changes
  let world: World
  let proxy: WeakObject
  let names: Frame
  let moment: StatementWord
  let statements: [Statement]
  let offset: Int

  func around(_ call: InvocationCall) throws -> [ArgumentBox] {
    let (answer, hook) = try run(call.invocation) { run, other in
      // Each `proceed` sends the message again, so it costs a step.
      try run.step(at: offset, of: names.source)
      return try other.map { try call.proceed(with: $0) } ?? call.proceed()
    }
    // The value of `proceed` stands for all answers, so returning it leaves them as they are.
    guard let answer, !(hook.given.map(answer.isIdentical) ?? false) else { return hook.answers ?? [] }
    // With the policy `all`, a list stands for several answers, as in the value of `proceed`.
    if SendInProgress.current?.policy == .all, case .list(let elements) = answer { return elements.map(\.box) }
    return [answer.box]
  }

  /// `answers` are the message's answers, for `after`. `rest` runs the rest of the message, for
  /// `around`.
  func run(
    _ message: Invocation, after answers: [ArgumentBox]? = nil,
    rest: ((Run, [ArgumentBox]?) throws -> [ArgumentBox])? = nil
  ) throws -> (answer: ScriptValue?, hook: HookRun) {
    let isShared = proxy.object.flatMap(world.label)?.isolation == .anywhere
    return try world.inProgress(isShared: isShared) { try run(message, after: answers, in: $0, rest: rest) }
  }

  private func run(
    _ message: Invocation, after answers: [ArgumentBox]?, in send: SendInProgress,
    rest: ((Run, [ArgumentBox]?) throws -> [ArgumentBox])?
  ) throws -> (answer: ScriptValue?, hook: HookRun) {
    let frame = names.copy(depth: send.depth)
    frame.enterBlock()
    let interpreter = Interpreter(world: world, run: send.run, frame: frame)
    // The block costs a step even if it is empty.
    try send.run.step(at: offset, of: interpreter.source)
    world.handlers.trace?(
      String(repeating: "  ", count: send.depth) + "\(moment.rawValue) \(message.description(upTo: 240))")
    do {
      if let answers { frame.bind("result", try interpreter.result(of: answers)) }
      let hook = HookRun(try message.arguments.map(interpreter.value)) { try rest?(send.run, $0) ?? [] }
      frame.hook = hook
      return (try interpreter.execute(statements), hook)
    } catch {
      let error = send.run.located(error, at: offset, of: interpreter.source)
      // The error of `proceed` is rethrown unchanged, so Forwardcast recognizes a target's error.
      if let failure = frame.hook?.failure {
        let known = send.run.located(failure, at: error.offset, of: error.source)
        if known.text == error.text, known.offset == error.offset { throw failure }
      }
      throw error
    }
  }
}
