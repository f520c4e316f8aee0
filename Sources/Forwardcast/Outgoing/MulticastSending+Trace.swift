// MulticastSending+Trace.swift: reports each step of a proxy's messages.

extension MulticastSending {
  /// Reports each step of each message to `sink`: receivers, order, contexts, and outcomes.
  ///
  ///     let diagram = SequenceDiagram()
  ///     let tracing = kitchen.trace(as: "kitchen") { diagram.add($0) }
  ///
  /// Includes nested proxies, and later steps of queued targets. Another trace replaces the first.
  /// Without a trace, messages cost nothing extra. With one, each is delivered step by step, and an
  /// event's texts are rendered when the sink reads them, or afterwards if it has retained the
  /// event.
  ///
  /// - Parameters:
  ///   - name: the proxy's name, its type by default.
  ///   - naming: a target's name; `nil` for its type, numbered from its second target on.
  ///   - sink: called where each step happens, on any thread, without a lock held.
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
    // Never run. It identifies the trace for its handle.
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
