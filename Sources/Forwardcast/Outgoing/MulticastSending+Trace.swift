// MulticastSending+Trace.swift: tells of each step of a proxy's messages.

extension MulticastSending {
  /// Tells `sink` of each step of each message: who was asked, who got it, in what order, where it ran and what came back.
  ///
  ///     let diagram = SequenceDiagram()
  ///     let tracing = kitchen.trace(as: "kitchen") { diagram.add($0) }
  ///
  /// Also of those to the targets of proxies in this one, and of what queued targets do later. Another trace takes the
  /// place of the first. While none is on, a message costs nothing more; with one it goes the slowest way there is.
  ///
  /// - Parameters:
  ///   - name: what the proxy is called; its type unless given.
  ///   - naming: what a target is called; its type where it gives `nil`, which from the second of a type on has a number.
  ///   - sink: is called where each step happens, on any thread, and under no lock.
  /// - Returns: a handle that ends the trace.
  @discardableResult
  public func trace(
    as name: String? = nil, naming: (@Sendable (AnyObject) -> String?)? = nil,
    _ sink: @escaping @Sendable (MessageEvent) -> Void
  ) -> HookRegistration {
    let core = core
    return core.setTrace(MessageTrace(core, name: name, naming: naming, sink))
  }
}

extension MulticastCore {
  fileprivate func setTrace(_ trace: MessageTrace) -> HookRegistration {
    // Never run: the handle's part of a hook, by which the trace is known.
    let token = Hook(nil, .around(nil, waiting: nil))
    exchangeTrace((token, trace)) { _ in true }
    return HookRegistration(token) { [link] token in link.core?.exchangeTrace(nil) { $0 === token } }
  }

  private func exchangeTrace(_ new: (token: Hook, trace: MessageTrace)?, where isMeant: @Sendable (Hook) -> Bool) {
    let old = change { state, _ in
      let old = state.rest?.trace
      if let token = old?.token, !isMeant(token) { return old }
      state.madeRest.trace = new
      state.list.noteChanged()
      return old
    }
    withExtendedLifetime(old) {}
  }
}
