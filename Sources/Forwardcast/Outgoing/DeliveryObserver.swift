// DeliveryObserver.swift: reports a delivery to a trace, and charges it to a budget.

/// Follows a delivery for a trace, for the message's budget, or for both.
final class DeliveryObserver {
  private let budget: MessageBudget?
  /// The trace of the outermost traced proxy. If that proxy is nested, the trace is set only while
  /// a `proceed` of the proxy's hooks runs.
  var trace: MessageTrace?
  /// The number of the current execution in the trace; 0 if none runs.
  private var step = 0
  /// True once the message has exceeded its budget. No further step is then served.
  private(set) var isSpent = false

  init(_ trace: MessageTrace?, _ budget: MessageBudget?) { (self.trace, self.budget) = (trace, budget) }

  // MARK: - Trace

  /// Reports that a target's method begins.
  func noteBegan(_ step: RouteStep, on target: AnyObject, in delivery: MessageDelivery) {
    guard let trace else { return }
    self.step = MessageTrace.nextStep()
    let context = delivery.context(step, target)
    trace.note(.began, delivery.message.arguments, at: context, step: self.step)
  }

  func note(_ outcome: StepOutcome, at context: StepContext, in delivery: MessageDelivery) {
    // The trace has already reported a full buffer.
    guard let trace, context.registration != nil, !outcome.isOfFullBuffer else { return }
    trace.note(outcome, delivery.message.arguments, at: context, step: exchange(&step, with: 0))
  }

  // MARK: - Budget

  /// Charges the budget. Returns false if the budget is exceeded, which ends the message. The first
  /// time, also records a failure at `context`.
  @inline(never)
  func pay(
    _ item: MessageBudget.Item, _ count: Int = 1, in delivery: MessageDelivery,
    at context: (MessageDelivery) -> StepContext
  ) -> Bool {
    guard let budget else { return true }
    do { try budget.charge(item, count) } catch {
      if !isSpent { delivery.take(.failed(error), at: context(delivery)) }
      isSpent = true
    }
    return !isSpent
  }

  /// Charges for a proxy, and for the steps and registrations to be scanned.
  func payForProxy(_ node: ProxyNode, in delivery: MessageDelivery) -> Bool {
    if budget == nil { return true }
    let (route, listsUnmatched) = (node.route, delivery.request.listsEveryTarget && node.route.route.leavesOut)
    let unmatched = listsUnmatched ? max(0, route.core.registrationCount - route.count) : 0
    let steps = listsUnmatched || route.route.needsWalk ? route.count : 0
    return pay(.step, steps, in: delivery, at: \.proxyContext)
      && pay(.passed, unmatched, in: delivery, at: \.proxyContext) && pay(.proxy, in: delivery, at: \.proxyContext)
  }
}
