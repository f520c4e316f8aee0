// HookChain.swift: runs the hooks of one message, the newest outside.

/// The hooks of one selector, in the order in which they were installed: each stands outside of those before it.
struct HookChain: Sendable {
  let hooks: [Hook]

  /// Whether all of them run before the message only.
  var isBefore: Bool { hooks.allSatisfy { if case .before = $0.body { true } else { false } } }

  /// Runs the hooks where all of them are of that kind.
  func runBefore(_ message: HookedMessage) throws {
    guard StackGuard.hasRoom else { throw StackGuard.tooDeep(message.selector, receiver: message.receiver) }
    _ = try enter(message, inside: hooks.count)
  }

  /// Runs the hooks around `rest`, in the caller's turn.
  ///
  /// - Throws: what a hook or `rest` throws; `isolationMismatch` at a hook that suspends; `tooDeep` when the stack has no
  ///   room for so many.
  // One level of the stack for each `around`, and none for the others.
  func run(_ message: HookedMessage, inside count: Int? = nil, _ rest: @escaping Hook.Rest) throws -> MessageAnswers {
    guard StackGuard.hasRoom else { throw StackGuard.tooDeep(message.selector, receiver: message.receiver) }
    let (afters, around) = try enter(message, inside: count ?? hooks.count)
    let answers: MessageAnswers
    switch around {
    case (let body?, _, let inner)?: answers = try run(body, message, inside: inner, rest)
    case (nil, _, _)?:
      throw MessageError(
        .isolationMismatch, of: message.receiver, message.selector,
        "a hook suspends: wait for the message with an asynchronous form")
    case nil: answers = try rest(message.arguments)
    }
    try leave(message, afters, answers)
    return answers
  }

  private func run(
    _ body: Hook.AroundBody, _ message: HookedMessage, inside count: Int, _ rest: @escaping Hook.Rest
  ) throws -> MessageAnswers {
    let turn = HookTurn(message, around: self, count, rest)
    defer { turn.end() }
    return try body(turn)
  }

  /// Runs the hooks around `rest`, which may suspend.
  ///
  /// - Parameters:
  ///   - count: how many hooks are run; all unless given.
  ///   - inTurn: the same without suspensions, for an `around` hook that has no form that waits: it throws where
  ///     somebody inside of that hook has to be waited for.
  ///   - pause: told when a hook that may suspend begins, or goes on with what came of `rest`.
  ///   - resume: called when such a hook sends the message on.
  /// - Throws: what a hook, `rest` or `resume` throws.
  nonisolated(nonsending) func runAndWait(
    _ message: HookedMessage, inside count: Int? = nil, _ rest: @escaping Hook.WaitingRest,
    inTurn: @escaping Hook.Rest, pause: @escaping () -> Void = {},
    resume: nonisolated(nonsending) @escaping () async throws -> Void = {}
  ) async throws -> MessageAnswers {
    let (afters, around) = try enter(message, inside: count ?? hooks.count)
    let answers: MessageAnswers
    switch around {
    case (_, let body?, let inner)?:
      pause()
      let turn = WaitingHookTurn(message) { arguments in
        defer { pause() }
        try await resume()
        return try await runAndWait(
          message.with(arguments), inside: inner, rest, inTurn: inTurn, pause: pause, resume: resume)
      }
      defer { turn.end() }
      answers = try await body(turn)
    case (let body?, nil, let inner)?: answers = try run(body, message, inside: inner, inTurn)
    case (nil, nil, let inner)?:
      answers = try await runAndWait(message, inside: inner, rest, inTurn: inTurn, pause: pause, resume: resume)
    case nil: answers = try await rest(message.arguments)
    }
    try leave(message, afters, answers)
    return answers
  }

  /// The forms of an `around` hook, and how many hooks stand inside of it.
  private typealias Around = (body: Hook.AroundBody?, waiting: Hook.WaitingAroundBody?, inner: Int)

  /// Runs what comes before the message, as far as the next `around` hook. Gives that one, and what is to run afterwards.
  private func enter(_ message: HookedMessage, inside count: Int) throws -> (afters: [Hook], around: Around?) {
    var afters: [Hook] = []
    for index in (0..<count).reversed() where !hooks[index].isCancelled {
      try message.budget?.charge(.hook)
      switch hooks[index].body {
      case .before(let body): try body(message)
      case .after: afters.append(hooks[index])
      case .around(let body, let waiting): return (afters, (body, waiting, index))
      }
    }
    return (afters, nil)
  }

  /// Runs what comes after it.
  private func leave(_ message: HookedMessage, _ afters: [Hook], _ answers: MessageAnswers) throws {
    for hook in afters.reversed() where !hook.isCancelled {
      if case .after(let body) = hook.body { try body(message, answers) }
    }
  }
}
