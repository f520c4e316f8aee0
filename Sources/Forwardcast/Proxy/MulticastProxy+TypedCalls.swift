// MulticastProxy+TypedCalls.swift: ordinary Swift calls to every target.
// Layer: Proxy. See DESIGN.md, "Extension points".

extension MulticastProxy {
  /// Runs `body` for every live, unmuted target that `Interface` describes, in order: all, or those that respond to
  /// `selector`. A target with a delivery of its own gets no such call, but fails with `isolationMismatch`. Errors go to ``onError``, under the name `selector` or `typedCall`.
  func visit(_ selector: MessageSelector?, _ body: (Interface) throws -> Void) -> BroadcastSummary {
    var summary = BroadcastSummary()
    let name = selector ?? "typedCall"
    for registration in selector.map({ core.responding(to: $0) }) ?? core.registrations {
      guard !registration.isCancelled, let target = registration.target else { continue }
      guard let observer = target as? Interface else { continue }
      if registration.isMuted {
        summary.skipped += 1
        continue
      }
      do {
        guard registration.queued == nil else {
          throw MessageError(
            .isolationMismatch, receiver: typeName(of: target), selector: name.name,
            evidence: "a typed call runs in the sender's turn, the target on \(registration.delivery)")
        }
        try body(observer)
        summary.delivered += 1
      } catch {
        summary.failed += 1
        core.report(error, name, registration, receiver: typeName(of: target))
        if core.stopsAtFirst { break }
      }
    }
    if summary.nobodyResponded { core.silence(name, self) }
    return summary
  }
}

extension MulticastCore {
  /// The registrations that a message of `selector` goes to, in order; some targets may be dead, some muted.
  func responding(to selector: MessageSelector) -> [Registration] {
    let walk = begin(selector)
    return (0..<walk.count).compactMap { index in
      let step = walk.route.steps[index]
      let registration = step.registration.takeUnretainedValue()
      if step.method == nil, let target = registration.target, !answers(target, selector) { return nil }
      return registration
    }
  }
}
