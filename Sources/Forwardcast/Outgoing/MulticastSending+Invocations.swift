// MulticastSending+Invocations.swift: boxed messages, and dynamic calls.

extension MulticastSending {
  /// Forwards a message without a report. Errors of targets and hooks, mismatched arguments, and
  /// proxy cycles go to `onError`.
  @inlinable
  @discardableResult
  public func broadcast(_ invocation: Invocation) -> BroadcastSummary {
    broadcastBoxed(visit(invocation.selector), invocation)
  }

  /// Forwards a message and combines the answers by `policy`. The answer of a `Void` method is a
  /// box of `()`.
  ///
  /// - Throws: as `collect(_:_:returning:)`, and as ``MulticastProxy/forward(_:)`` for arguments
  ///   and cycles.
  public func collect<Output>(_ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>) throws
    -> Output
  {
    let visit = visit(invocation.selector)
    var sink = PolicySink(boxes: policy, visit.core)
    if let counts = try serveOpened(invocation, along: visit, keepsAnswers: true, into: &sink) {
      return try sink.collected(counts.ran > 0 ? nil : .silence(visit.kept)).get()
    }
    let route = keep(visit)
    return try OutgoingMessage(invocation, asking: policy, along: route).send(along: route, into: sink).get()
  }

  /// Messages to all targets in call syntax, see ``DynamicMessages``.
  public var dynamic: DynamicMessages { dynamicMessages }

  var dynamicMessages: DynamicMessages {
    DynamicMessages(
      deliver: { selector, boxes in
        var invocation = Invocation(selector, arguments: boxes)
        let visit = self.visit(selector)
        let core = visit.core
        do {
          let report = try forwardBoxed(&invocation, along: visit, by: self as AnyObject)
          core.report(report.failures[...], of: selector)
        } catch {
          core.report(error, selector, nil, receiver: core.name)
        }
        return invocation.result?.value
      },
      refuse: {
        let core = self.core
        core.report($0, "dynamic", nil, receiver: core.name)
      })
  }
}
