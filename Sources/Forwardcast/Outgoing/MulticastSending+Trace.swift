// MulticastSending+Trace.swift: reports each step of a proxy's messages.

extension MulticastSending {
  /// Reports each step of each message to `sink`: receivers, order, contexts, and outcomes.
  ///
  ///     let diagram = SequenceDiagram()
  ///     let tracing = kitchen.trace(as: "kitchen") { diagram.add($0) }
  ///
  /// The trace includes nested proxies and the execution of queued targets. Another trace of the
  /// proxy replaces this one. Without a trace, messages cost nothing extra; with a trace, they use
  /// no fast loops.
  ///
  /// An event's texts are rendered when the sink reads them. If the sink stores the event, all its
  /// texts are rendered when the sink returns. If an argument or the answer is not `Sendable`, all
  /// texts are rendered before the sink is called.
  ///
  /// - Parameters:
  ///   - name: the proxy's name; by default, the name of its type.
  ///   - naming: returns a target's name. `nil` selects the name of the type, numbered from
  ///     the type's second target on.
  ///   - sink: called where each step happens, on any thread, with no lock held.
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
    // A hook that never runs. It identifies the trace for the handle.
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
