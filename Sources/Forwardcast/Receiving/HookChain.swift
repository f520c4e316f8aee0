// HookChain.swift: runs the hooks of one message, the newest outermost.

/// The hooks of one selector, innermost first: those of streams, then the others as installed.
struct HookChain: Sendable {
  let hooks: [Hook]

  var isBefore: Bool { hooks.allSatisfy { if case .before = $0.body { true } else { false } } }

  func runBefore(_ message: HookedMessage) throws {
    guard StackGuard.hasRoom else { throw StackGuard.tooDeep(message.selector, receiver: message.receiver) }
    _ = try enter(message, inside: hooks.count)
  }

  /// Runs the hooks around `rest` synchronously. Throws an error of a hook or of `rest`,
  /// `isolationMismatch` at an asynchronous hook, or `tooDeep` if the stack is exhausted.
  ///
  /// - Parameter isAwaited: true if the sender awaits the message, but an outer hook or method does
  ///   not.
  func run(
    _ message: HookedMessage, inside count: Int? = nil, isAwaited: Bool = false, _ rest: @escaping Hook.Rest
  ) throws -> MessageAnswers {
    guard StackGuard.hasRoom else { throw StackGuard.tooDeep(message.selector, receiver: message.receiver) }
    let (afters, around) = try enter(message, inside: count ?? hooks.count)
    let answers: MessageAnswers
    if let around, case .around(let body, waiting: _, name: _) = hooks[around].body {
      guard let body else { throw onlyWaiting(message, isAwaited: isAwaited) }
      let turn = HookTurn(message, around: self, around, isAwaited: isAwaited, rest)
      defer { turn.end() }
      answers = try body(turn)
    } else {
      answers = try rest(message.arguments)
    }
    try leave(message, afters, answers)
    return answers
  }

  /// Runs the first `count` hooks, by default all hooks, around `rest` asynchronously.
  ///
  /// - Parameter inTurn: a synchronous form of `rest`, for `around` hooks without a waiting form.
  ///   It throws if it would wait.
  @inline(never) nonisolated(nonsending) func runAndWait(
    _ message: HookedMessage, inside count: Int? = nil, _ rest: @escaping Hook.WaitingRest,
    inTurn: @escaping Hook.Rest
  ) async throws -> MessageAnswers {
    let (afters, around) = try enter(message, inside: count ?? hooks.count)
    let answers: MessageAnswers
    switch around.map({ ($0, hooks[$0].body) }) {
    case (let inner, .around(_, waiting: let body?, name: _))?:
      let turn = WaitingHookTurn(message, on: #isolation) { arguments in
        try await runAndWait(message.with(arguments), inside: inner, rest, inTurn: inTurn)
      }
      do { answers = try await body(turn) } catch {
        await turn.endAndWait()
        throw error
      }
      await turn.endAndWait()
    case (let inner, .around(let body?, waiting: nil, name: _))?:
      let turn = HookTurn(message, around: self, inner, isAwaited: true, inTurn)
      defer { turn.end() }
      answers = try body(turn)
    default: answers = try await rest(message.arguments)
    }
    try leave(message, afters, answers)
    return answers
  }

  /// The error if an `around` hook has only a waiting form, but its caller cannot await.
  @inline(never) private func onlyWaiting(_ message: HookedMessage, isAwaited: Bool) -> MessageError {
    let evidence: String
    if isAwaited {
      evidence =
        "the inner around hook is async, but the outer around hook is synchronous; pass the outer hook's async form "
        + "as 'waiting:'"
    } else if message.isOfProxy {
      evidence = "an around hook is async; use an async call, such as sendAndWait"
    } else {
      // An async call would not help: it calls a synchronous method in the same way.
      evidence =
        "an around hook of the table is async, but the method is synchronous; pass a synchronous closure"
    }
    return MessageError(.isolationMismatch, of: message.receiver, message.selector, evidence)
  }

  /// Runs the `before` hooks up to the next `around` hook. Returns the index of the `around` hook,
  /// and the `after` hooks that surround it.
  private func enter(_ message: HookedMessage, inside count: Int) throws -> (afters: [Hook], around: Int?) {
    var afters: [Hook] = []
    for index in (0..<count).reversed() where !hooks[index].isCancelled {
      try message.budget?.charge(.hook)
      switch hooks[index].body {
      case .before(let body): try body(message)
      case .after: afters.append(hooks[index])
      case .around(nil, waiting: nil, name: _): continue
      case .around: return (afters, index)
      }
    }
    return (afters, nil)
  }

  private func leave(_ message: HookedMessage, _ afters: [Hook], _ answers: MessageAnswers) throws {
    for hook in afters.reversed() where !hook.isCancelled {
      if case .after(let body) = hook.body { try body(message, answers) }
    }
  }
}
