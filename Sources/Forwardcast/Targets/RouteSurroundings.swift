// RouteSurroundings.swift: the hooks and the trace around the messages of one selector.

/// What stands around the messages of one selector in one proxy. Immutable: a change makes new routes.
final class RouteSurroundings: Sendable {
  private let hooks: HookChain
  let trace: MessageTrace?
  /// Whether all of it, as hooks of streams, is done before the message goes on.
  let isBefore: Bool

  /// `nil` when there is nothing.
  init?(_ selector: MessageSelector, hooks: [Hook], trace: MessageTrace?) {
    self.hooks = HookChain(hooks: hooks.filter { $0.isFor(selector) })
    self.trace = trace
    isBefore = trace == nil && self.hooks.isBefore
    if self.hooks.hooks.isEmpty, trace == nil { return nil }
  }

  /// Runs the hooks where ``isBefore``.
  func runBefore(_ message: HookedMessage) throws { try hooks.runBefore(message) }

  /// Runs the hooks around `rest`, and tells the trace that the message came and what came of it.
  func run(_ message: HookedMessage, _ rest: @escaping Hook.Rest) throws -> MessageAnswers {
    let step = trace?.noteSent(message)
    let found = Result { try hooks.run(message, rest) }
    if let step { trace?.note(found, message, step: step) }
    return try found.get()
  }

  /// Runs the hooks around `rest`, which may suspend.
  ///
  /// For the parameters see ``HookChain/runAndWait(_:_:inTurn:pause:resume:)``.
  nonisolated(nonsending) func runAndWait(
    _ message: HookedMessage, _ rest: @escaping Hook.WaitingRest, inTurn: @escaping Hook.Rest,
    pause: @escaping () -> Void, resume: @escaping HookChain.Resume
  ) async throws -> MessageAnswers {
    let step = trace?.noteSent(message)
    var found: Result<MessageAnswers, any Error>
    do {
      found = .success(try await hooks.runAndWait(message, rest, inTurn: inTurn, pause: pause, resume: resume))
    } catch { found = .failure(error) }
    if let step { trace?.note(found, message, step: step) }
    return try found.get()
  }
}
