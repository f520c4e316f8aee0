// MulticastHolding+TypedCalls.swift: ordinary Swift calls to every target.

extension MulticastHolding {
  /// Makes a Swift call on every live, unmuted target, synchronously and in order. Needs no table.
  ///
  ///     themes.broadcast { $0.themesColorChanged("red") }
  ///
  /// A target with its own context fails with `isolationMismatch`. Closures registered with `on`
  /// are not called. Errors go to ``onError``, with the given selector or `typedCall`.
  ///
  /// - Parameters:
  ///   - selector: limits the call to targets that respond to this selector; `nil` calls all.
  ///   - call: the call. If it throws, the error is the target's error.
  /// - Returns: the numbers of called, skipped and failed targets.
  @discardableResult
  public func broadcast(for selector: MessageSelector? = nil, _ call: (Interface) throws -> Void) -> BroadcastSummary {
    broadcast(for: selector, where: nil, call)
  }

  package func broadcast(
    for selector: MessageSelector?, where isMeant: ((Registration) -> Bool)?, _ call: (Interface) throws -> Void
  ) -> BroadcastSummary {
    var counts = OutcomeCounts()
    let name = selector ?? "typedCall"
    guard StackGuard.hasRoom else {
      core.report(StackGuard.tooDeep(name, receiver: core), name, nil, receiver: core.name)
      return BroadcastSummary(failed: 1)
    }
    let proxies = ProxyChain(core)
    // Retains strong targets, so a target that is replaced during the broadcast is still called.
    let targets = (selector.map { core.responding(to: $0) } ?? core.registrations).map {
      (registration: $0, strong: $0.isStrong ? $0.currentTarget : nil)
    }
    for (registration, strong) in targets {
      guard isMeant?(registration) ?? true, !registration.isRemoved,
        let target = strong ?? registration.currentTarget, let observer = interface(of: target)
      else { continue }
      let context = StepContext(
        selector: name, proxies: proxies, registration: registration, target: target,
        isQueued: registration.queued != nil)
      let outcome: StepOutcome
      if registration.isMuted {
        outcome = .skipped(.muted)
      } else if registration.queued != nil {
        outcome = .failed(
          MessageError(
            .isolationMismatch, of: target, name,
            "a typed call runs in the sender's context, but the target is on \(registration.delivery); "
              + "send the message by its key instead, as in 'broadcast(key, argument)'"))
      } else {
        do {
          try call(observer)
          outcome = .answered(nil)
        } catch {
          outcome = .failed(error)
        }
      }
      counts.note(outcome)
      if case .failed(let error) = outcome { context.report(error) }
      if counts.summary.failed > 0, core.stopsAtFirst { break }
    }
    if counts.reached == 0 {
      do { try core.answerSilence(name) } catch { core.report(error, name, nil, receiver: core.name) }
    }
    return counts.summary
  }

  /// The target as it was added; `nil` for a closure.
  package func interface(of target: AnyObject) -> Interface? {
    if target is Method { return nil }
    return (target as? ValueTarget)?.value as? Interface ?? target as? Interface
  }
}
