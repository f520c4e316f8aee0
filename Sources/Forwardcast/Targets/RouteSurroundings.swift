// RouteSurroundings.swift: the hooks and the trace around the messages of one selector.

/// What surrounds the messages of one selector in one proxy. Immutable: a change makes new routes.
final class RouteSurroundings: Sendable {
  let hooks: HookChain
  let trace: MessageTrace?
  /// Whether all of it is done before the message goes on.
  let isBefore: Bool

  /// `nil` when there is nothing.
  init?(hooks: [Hook], trace: MessageTrace?) {
    self.hooks = HookChain(hooks: hooks)
    self.trace = trace
    isBefore = trace == nil && self.hooks.isBefore
    if self.hooks.hooks.isEmpty, trace == nil { return nil }
  }
}
