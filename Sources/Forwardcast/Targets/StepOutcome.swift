// StepOutcome.swift: the outcome of a message at one target, and where that was.

enum StepOutcome {
  /// The target ran it. `nil` when its method returns nothing, or nobody wants the answer.
  case answered(ArgumentBox?)
  /// Several targets ran it, or hooks answered for them.
  case answeredAll(MessageAnswers)
  /// It will run on another context; `slot` is for its outcome, -1 when nobody waits for it.
  case queued(slot: Int)
  case failed(any Error)
  case skipped(DeliveryReport.SkipReason)
}

/// The place of an outcome: at which target, in which proxy.
struct StepContext: @unchecked Sendable {  // the target is Sendable wherever a context leaves its isolation
  let selector: MessageSelector
  /// The proxies, from the target's own outward.
  var proxies: ProxyChain
  /// `nil` for the proxy itself, and for observers that could not be made.
  var registration: Registration?
  var target: AnyObject?
  var isQueued = false
  /// Whether the outcome is an answer or error that hooks made up.
  var isOwn = false

  /// The registrations on the path to the target, with its own.
  var path: [Registration] { (registration.map { [$0] } ?? []) + proxies.registrations }

  var answerer: AnyObject { target ?? registration?.currentTarget ?? proxies.core }

  @inline(never) var name: String {
    if let target = target ?? registration?.currentTarget { return typeName(of: target) }
    return registration == nil ? proxies.core.name : "a dead target"
  }
}

extension StepContext {
  init(
    _ step: RouteStep, of selector: MessageSelector, in proxies: ProxyChain, _ target: AnyObject?, isQueued: Bool
  ) {
    let registration = step.registration.takeUnretainedValue()
    self.init(selector: selector, proxies: proxies, registration: registration, target: target, isQueued: isQueued)
  }
}

extension RouteStep {
  /// Why its target is not to get the message, if it is not.
  var obstacle: DeliveryReport.SkipReason? {
    if isActive { return nil }
    return registration.takeUnretainedValue().isCancelled ? .removed : target == nil ? .dead : .muted
  }
}
