// MulticastSending+Trace.swift: reports each step of a proxy's messages.

extension MulticastSending {
  /// Reports each step of each message to `sink`: who was asked, who got it, in what order, where it ran and what came back.
  ///
  ///     let diagram = SequenceDiagram()
  ///     let tracing = kitchen.trace(as: "kitchen") { diagram.add($0) }
  ///
  /// Includes nested proxies, and what queued targets do later. Another trace replaces the first.
  /// Without one a message costs nothing more. With one it is delivered step by step, and each
  /// event's texts are rendered when the sink reads them, or after the sink if it has kept the
  /// event.
  ///
  /// - Parameters:
  ///   - name: the proxy's name; by default its type.
  ///   - naming: a target's name; `nil` for its type, numbered from the second target of a type on.
  ///   - sink: called where each step happens, on any thread, under no lock.
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
    // Never run: identifies the trace for its handle.
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
