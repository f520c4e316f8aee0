// MulticastCore+Hooks.swift: hooks are installed and taken away.

extension MulticastCore: HookHolder {
  /// Installs a hook outside of those that are there; messages that begin from now on run it.
  func install(_ hook: Hook) -> HookRegistration {
    change { state, _ in
      state.madeRest.hooks.append(hook)
      state.list.noteChanged()
    }
    return HookRegistration(hook) { [link] hook in link.core?.uninstall(hook) }
  }

  private func uninstall(_ hook: Hook) {
    change { state, _ in
      // From the end: who takes away many begins with the newest.
      guard let rest = state.rest, let index = rest.hooks.lastIndex(where: { $0 === hook }) else { return }
      rest.hooks.remove(at: index)
      state.list.noteChanged()
    }
  }

  var hookCount: Int { state.withLock { $0.rest?.hooks.count ?? 0 } }

  /// Whether a hook of a key can be one for the messages of its selector, as the first target that responds, or the proxy's
  /// table, says.
  func check<R, each A>(_ selector: MessageSelector, _ type: ((repeat each A) -> R).Type) throws(MessageError) {
    try check(selector, type, against: firstMethod(for: selector), receiver: name)
  }

  /// The method that a message of `selector` would find first.
  private func firstMethod(for selector: MessageSelector) -> Method? {
    // Without a route, which would be made for this and be of no use once the hook is there.
    for registration in registrations where registration.isFor(selector) {
      guard let target = registration.liveTarget, !(target is any MessageForwarding) else { continue }
      if let method = method(of: target, selector), !method.isRefusal { return method }
    }
    return table?.storage.method(for: selector)
  }
}

/// One stream's place in a proxy: a hook inside of all others.
final class MessageListener: Sendable {
  let hook: Hook
  /// Ends the stream; what is in its buffer can still be taken.
  let finish: @Sendable () -> Void

  init(_ hook: Hook, finish: @escaping @Sendable () -> Void) { (self.hook, self.finish) = (hook, finish) }
}
