// MulticastCore+Hooks.swift: hooks are installed and taken away.
// Layer: Proxy. See DESIGN.md, "Around a message".

extension MulticastCore {
  /// Installs a hook outside of those that are there; messages that begin from now on run it.
  func install(_ hook: Hook) -> HookRegistration {
    change { state, _ in
      state.hooks.append(hook)
      state.list.noteChanged()
    }
    return HookRegistration(hook) { [link] hook in link.core?.uninstall(hook) }
  }

  private func uninstall(_ hook: Hook) {
    change { state, _ in
      state.hooks.removeAll { $0 === hook }
      state.list.noteChanged()
    }
  }

  var hookCount: Int { state.withLock { $0.hooks.count } }

  /// Whether a hook of a key can be one for the messages of its selector.
  ///
  /// - Throws: `wrongArgumentCount` when the key has not as many arguments as its selector has colons; `typeMismatch`
  ///   when the first target that responds, or the proxy's table, has a method that can never take such arguments, or
  ///   never gives such an answer.
  func check<R, each A>(_ selector: MessageSelector, _ type: ((repeat each A) -> R).Type) throws(MessageError) {
    let found = packCount(repeat (each A).self)
    guard found == selector.numberOfArguments else {
      throw .argumentCount(selector, receiver: name, wanted: selector.numberOfArguments, found: found)
    }
    guard let method = firstMethod(for: selector), method.functionType != ObjectIdentifier(type) else { return }
    let (own, stated) = (method.signature, MethodSignature(returning: R.self, taking: repeat (each A).self))
    guard own.argumentTypes.count == stated.argumentTypes.count else { return }
    func fit(_ wanted: TypeEncoding, _ found: TypeEncoding, _ what: String, _ index: Int?) throws(MessageError) {
      if wanted.mayBecome(found) || found.mayBecome(wanted) { return }
      throw MessageError(
        .typeMismatch, receiver: name, selector: selector.name,
        evidence: "\(what): the method has \(wanted.meaning) (\(wanted)), the hook \(found.meaning) (\(found))",
        argumentIndex: index)
    }
    for index in 2..<own.argumentTypes.count {
      try fit(own.argumentTypes[index], stated.argumentTypes[index], "argument \(index - 2)", index - 2)
    }
    try fit(own.returnType, stated.returnType, "result", nil)
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

extension TypeEncoding {
  /// Whether some value of this type can be given where `other` is wanted.
  fileprivate func mayBecome(_ other: TypeEncoding) -> Bool {
    if other.accepts(self) { return true }
    switch (kind, other.kind) {
    case (.scalar, .scalar), (.void, _): return true
    case (.structure(let record), _): return record.name.hasPrefix("Optional<")
    default: return false
    }
  }
}
