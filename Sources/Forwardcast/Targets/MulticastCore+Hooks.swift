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

  /// Takes a hook away, or the stream whose hook it is.
  func uninstall(_ hook: Hook) {
    change { state, garbage in
      guard let rest = state.rest else { return }
      // From the end: who takes away many begins with the newest.
      if let index = rest.hooks.lastIndex(where: { $0 === hook }) { rest.hooks.remove(at: index) }
      if let index = rest.listeners.lastIndex(where: { $0.hook === hook }) {
        garbage.keep(rest.listeners.remove(at: index))
      }
      state.list.noteChanged()
    }
  }

  var hookCount: Int { state.withLock { $0.rest?.hooks.count ?? 0 } }

  /// The method of the first target that has one, or of the proxy's table.
  func firstMethod(for selector: MessageSelector) -> Method? {
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
