// MulticastProxy+Invocations.swift: messages as values, with reports.
// Layer: Proxy. See DESIGN.md, "Two doors".

extension MulticastProxy {
  /// Forwards a message without making a report; errors go to ``onError``.
  ///
  /// Arguments that do not fit a target, and a cycle of proxies, count as that target's failure, or as one failure of the
  /// proxy.
  @discardableResult
  public func broadcast(_ invocation: Invocation) -> BroadcastSummary {
    var summary = BroadcastSummary()
    do {
      let tally = try core.fanOut(invocation, through: self, checked: false, keepsAnswers: false) { step in
        switch step.outcome {
        case .answered: summary.delivered += 1
        case .queued: summary.queued += 1
        case .skipped: summary.skipped += 1
        case .failed(let target, let error):
          summary.failed += 1
          core.report(error, invocation.selector, step.registration, receiver: typeName(of: target))
          return !core.stopsAtFirst
        }
        return true
      }
      summary.delivered += tally.delivered
      summary.dropped = tally.dropped
    } catch {
      summary.failed += 1
      core.report(error, invocation.selector, nil, receiver: typeName(of: self))
    }
    if summary.nobodyResponded { core.silence(invocation.selector, self) }
    return summary
  }

  /// Forwards a message and makes one result of the answers, as the typed form does.
  ///
  /// A target that answers nothing, since its method returns `void`, adds nothing.
  public func collect<Output>(_ invocation: Invocation, returning policy: ReturnPolicy<ArgumentBox, Output>) throws
    -> Output
  {
    let collector = policy.makeCollector()
    var first: (any Error)?
    var answered = false
    try core.fanOut(invocation, through: self) { step in
      switch step.outcome {
      case .skipped: return true
      case .queued:
        answered = true
        return true
      case .failed(_, let error):
        answered = true
        if first == nil { first = error }
        return !core.stopsAtFirst
      case .answered(_, let result):
        answered = true
        guard let result else { return true }
        do { return try collector.take(result) } catch {
          if first == nil { first = error }
          return !core.stopsAtFirst
        }
      }
    }
    if let first { throw first }
    if !answered { try core.silenceOrThrow(invocation.selector, self) }
    return collector.finish()
  }

  /// Messages written like calls, without a key: see ``DynamicMessages``.
  public var dynamic: DynamicMessages {
    DynamicMessages(
      deliver: { selector, boxes in
        var invocation = Invocation(selector, arguments: boxes)
        do {
          let report = try self.forward(&invocation)
          for failure in report.failures {
            self.core.report(failure.error, selector, nil, receiver: typeName(of: failure.target))
          }
        } catch {
          self.core.report(error, selector, nil, receiver: typeName(of: self))
        }
        return invocation.result?.value
      },
      refuse: { self.core.report($0, "dynamic", nil, receiver: typeName(of: self)) })
  }
}
