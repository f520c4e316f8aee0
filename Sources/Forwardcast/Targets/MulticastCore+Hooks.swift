// MulticastCore+Hooks.swift: installs and removes hooks.

extension MulticastCore: HookHolder {
  func install(_ hook: Hook) -> HookRegistration {
    change { state, garbage in
      hook.number = state.madeRest.hooks.append(hook)
      noteHooksChanged(for: hook.selector, &state, &garbage)
    }
    return HookRegistration(hook) { [link] hook in link.core?.uninstall(hook) }
  }

  /// Removes a hook, or a stream with its hook.
  func uninstall(_ hook: Hook) {
    change { state, garbage in
      guard let rest = state.rest else { return }
      _ = hook.finish == nil ? rest.hooks.remove(hook.number) : rest.listeners.remove(hook.number)
      noteHooksChanged(for: hook.selector, &state, &garbage)
    }
  }

  var hookCount: Int { state.withLock { $0.rest?.hooks.count ?? 0 } }

  /// The first target's method, or else the method of the proxy's table. Makes no route.
  func firstMethod(for selector: MessageSelector) -> Method? {
    if let known = knownMethod(for: selector) { return known ?? table?.storage.method(for: selector) }
    for registration in registrations where registration.isFor(selector) {
      guard let target = registration.liveTarget, !(target is any MessageForwarding) else { continue }
      if let method = method(of: target, selector), !method.isRefusal { return method }
    }
    return table?.storage.method(for: selector)
  }
}
