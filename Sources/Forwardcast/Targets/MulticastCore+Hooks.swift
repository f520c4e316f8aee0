// MulticastCore+Hooks.swift: installs and removes hooks.

extension MulticastCore: HookHolder {
  func install(_ hook: Hook) -> HookRegistration {
    change { state, garbage in
      hook.number = state.madeRest.hooks.append(hook)
      surround(for: hook.selector, &state, &garbage)
    }
    return HookRegistration(hook) { [link] hook in link.core?.uninstall(hook) }
  }

  /// Removes a hook, or the stream whose hook it is.
  func uninstall(_ hook: Hook) {
    change { state, garbage in
      guard let rest = state.rest else { return }
      _ = hook.finish == nil ? rest.hooks.remove(hook.number) : rest.listeners.remove(hook.number)
      surround(for: hook.selector, &state, &garbage)
    }
  }

  var hookCount: Int { state.withLock { $0.rest?.hooks.count ?? 0 } }

  /// The method of the first target that has one, or of the proxy's table.
  func firstMethod(for selector: MessageSelector) -> Method? {
    // Without a route, which installing the hook would invalidate.
    for registration in registrations where registration.isFor(selector) {
      guard let target = registration.liveTarget, !(target is any MessageForwarding) else { continue }
      if let method = method(of: target, selector), !method.isRefusal { return method }
    }
    return table?.storage.method(for: selector)
  }
}
