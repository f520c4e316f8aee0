// StepOutcome.swift: what became of a message at one target, and where it was.

/// What became of a message at one target.
enum StepOutcome {
  /// The target ran it. `nil` when its method answers nothing, or nobody wants the answer.
  case answered(ArgumentBox?)
  /// Several targets ran it, one after another; or hooks answered for them.
  case answeredAll(MessageAnswers)
  /// It will run on a context of its own; `slot` is where its outcome will be, or -1 when nobody waits for it.
  case queued(slot: Int)
  /// The target threw, or could not take the message.
  case failed(any Error)
  /// The target did not get the message.
  case skipped(DeliveryReport.SkipReason)
}

/// Where an outcome happened: at which target, in which proxy.
struct StepContext: @unchecked Sendable {  // the target is Sendable wherever a context leaves its isolation
  let selector: MessageSelector
  /// The proxies, from the one that the target stands in outward.
  var proxies: ProxyChain
  /// `nil` for the proxy itself, and for observers that could not be made.
  var registration: Registration?
  var target: AnyObject?
  /// Whether the target has a context of its own.
  var isQueued = false
  /// Whether the outcome is an answer that hooks gave of their own, or their error.
  var isOwn = false

  /// Who is said to have answered.
  var answerer: AnyObject { target ?? registration?.currentTarget ?? proxies.core }

  /// What errors call the target.
  @inline(never) var name: String {
    if let target = target ?? registration?.currentTarget { return typeName(of: target) }
    return registration == nil ? proxies.core.name : "a dead target"
  }
}

extension StepContext {
  /// The place of a step of a route.
  init(
    _ step: RouteStep, of selector: MessageSelector, in proxies: ProxyChain, _ target: AnyObject?, isQueued: Bool
  ) {
    let registration = step.registration.takeUnretainedValue()
    self.init(selector: selector, proxies: proxies, registration: registration, target: target, isQueued: isQueued)
  }
}

extension RouteStep {
  /// Why its target is not to get the message: removed, dead, or muted. `nil` where it may.
  var obstacle: DeliveryReport.SkipReason? {
    if isActive { return nil }
    return registration.takeUnretainedValue().isCancelled ? .removed : target == nil ? .dead : .muted
  }
}
