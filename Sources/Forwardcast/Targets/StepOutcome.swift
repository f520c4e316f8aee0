// StepOutcome.swift: the outcome of a message at one target, and its site.

/// The outcome of a message at one target, or at a proxy.
enum StepOutcome {
  /// The target ran. `nil` if its method returns nothing, or the answer is not needed.
  case answered(ArgumentBox?)
  /// Several targets ran, or hooks answered for them.
  case answeredAll(MessageAnswers)
  /// The message is queued on another context. The slot with the index `slot` gets the outcome; the
  /// index is -1 if no sender waits.
  case queued(slot: Int)
  case failed(any Error)
  case skipped(DeliveryReport.SkipReason)
}

/// The site of an outcome: the target, its registration, and its proxies.
struct StepContext: @unchecked Sendable {  // the target is Sendable wherever this value leaves its isolation
  let selector: MessageSelector
  /// The enclosing proxies, starting with the target's own proxy.
  var proxies: ProxyChain
  /// `nil` if the site is a proxy itself, or an observer that could not be created.
  var registration: Registration?
  var target: AnyObject?
  var isQueued = false
  /// True if the answer or error comes from the proxy or its hooks, not from a target.
  var isOwn = false

  /// The registrations on the path to the target, including the target's.
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
  var obstacle: DeliveryReport.SkipReason? {
    if isActive { return nil }
    return registration.takeUnretainedValue().isRemoved ? .removed : target == nil ? .dead : .muted
  }
}
