// HookChain.swift: runs the hooks of one message, the newest outside.
// Layer: Receiving. See DESIGN.md, "Hooks".

/// The hooks of one selector, in the order in which they were installed: each stands outside of those before it.
struct HookChain: Sendable {
  let hooks: [Hook]

  /// Runs the hooks around `rest`, in the caller's turn.
  ///
  /// - Throws: what a hook or `rest` throws; `isolationMismatch` at a hook that suspends; `tooDeep` when the stack has no
  ///   room for so many.
  func run(_ message: HookedMessage, _ rest: @escaping Hook.Rest) throws -> MessageAnswers {
    try run(message, inside: hooks.count, rest)
  }

  // One level of the stack for each `around`, and none for the others.
  private func run(_ message: HookedMessage, inside count: Int, _ rest: @escaping Hook.Rest) throws -> MessageAnswers {
    guard StackGuard.hasRoom else { throw StackGuard.tooDeep(message.selector, receiver: message.receiver) }
    var afters: [Hook] = []
    var answers: MessageAnswers?
    var index = count
    while answers == nil, index > 0 {
      index -= 1
      let (hook, inner) = (hooks[index], index)
      if hook.isCancelled { continue }
      try message.budget?.charge(.hook)
      switch hook.body {
      case .before(let body): try body(message)
      case .after: afters.append(hook)
      case .around(let body?, _): answers = try body(message) { try run(message.with($0), inside: inner, rest) }
      case .around(nil, _):
        throw mismatch(message, "a hook suspends: wait for the message with an asynchronous form")
      }
    }
    let found = try answers ?? rest(message.arguments)
    for hook in afters.reversed() where !hook.isCancelled {
      if case .after(let body) = hook.body { try body(message, found) }
    }
    return found
  }

  /// Runs the hooks around `rest`, which may suspend.
  ///
  /// - Parameter inTurn: the same without suspensions, for an `around` hook that has no form that waits: it throws where
  ///   somebody inside of that hook has to be waited for.
  /// - Throws: what a hook or `rest` throws.
  nonisolated(nonsending) func runAndWait(
    _ message: HookedMessage, _ rest: @escaping Hook.WaitingRest, inTurn: @escaping Hook.Rest
  ) async throws -> MessageAnswers {
    try await runAndWait(message, inside: hooks.count, rest, inTurn)
  }

  nonisolated(nonsending) private func runAndWait(
    _ message: HookedMessage, inside count: Int, _ rest: @escaping Hook.WaitingRest, _ inTurn: @escaping Hook.Rest
  ) async throws -> MessageAnswers {
    var afters: [Hook] = []
    var answers: MessageAnswers?
    var index = count
    while answers == nil, index > 0 {
      index -= 1
      let (hook, inner) = (hooks[index], index)
      if hook.isCancelled { continue }
      try message.budget?.charge(.hook)
      switch hook.body {
      case .before(let body): try body(message)
      case .after: afters.append(hook)
      case .around(_, let body?):
        answers = try await body(message) { try await runAndWait(message.with($0), inside: inner, rest, inTurn) }
      case .around(let body, nil):
        answers = try body?(message) { try run(message.with($0), inside: inner, inTurn) }
      }
    }
    let found: MessageAnswers
    if let answers { found = answers } else { found = try await rest(message.arguments) }
    for hook in afters.reversed() where !hook.isCancelled {
      if case .after(let body) = hook.body { try body(message, found) }
    }
    return found
  }

  private func mismatch(_ message: HookedMessage, _ evidence: String) -> MessageError {
    MessageError(
      .isolationMismatch, receiver: typeName(of: message.receiver), selector: message.selector.name,
      evidence: evidence)
  }
}
