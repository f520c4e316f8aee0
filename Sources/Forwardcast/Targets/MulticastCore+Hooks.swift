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

  /// The method of the first target that has one, or of the proxy's table. Installing a hook
  /// patches the route that this makes.
  func firstMethod(for selector: MessageSelector) -> Method? {
    let route = begin(selector)
    for index in 0..<route.count {
      let step = route.steps[index]
      if step.answers, step.isActive, step.target != nil { return step.method?.takeUnretainedValue() }
    }
    return table?.storage.method(for: selector)
  }
}
