// BoxedLoop.swift: one message by boxes to direct targets, whose arguments are opened once for all.
// Layer: Proxy. See DESIGN.md, "Two doors".

/// A message by boxes to the direct targets of one proxy whose methods have one function type.
///
/// Apart from the walk, because measured: a third of its instructions for one target, a tenth less for each of many.
struct BoxedLoop<Sink: OutcomeSink> {
  var sink: Sink
  private let route: MessageRoute
  private let keepsAnswers: Bool
  private var dead = 0
  private var skipped = 0
  private var goesOn = true
  /// Whether anybody got the message.
  private(set) var reachedAny = false
  private lazy var proxies = ProxyChain(route.core, in: nil)

  init(along route: MessageRoute, keepsAnswers: Bool, into sink: Sink) {
    (self.route, self.keepsAnswers, self.sink) = (route, keepsAnswers, sink)
  }

  /// Serves every target. `false`, and nothing done, where the loop is not for the route, the sink or the message: then it
  /// walks.
  mutating func run(_ message: Invocation) -> Bool {
    defer { withExtendedLifetime(route.route) {} }
    guard message.isPlain, route.route.loopType != nil, !(sink.listsEveryTarget && route.route.leavesOut),
      let method = route.steps[0].method
    else { return false }
    let isServed = method._withUnsafeGuaranteedRef { method in
      method.withOpened(message.arguments) { run, ask in serve(run, ask) }
    }
    if dead + skipped > 0 { route.core.end(route, dead: dead, skipped: skipped) }
    return isServed
  }

  private mutating func serve(_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) {
    sink.expect(route.count)
    var index = 0
    while goesOn, index < route.count {
      let step = route.steps[index]
      index += 1
      guard let method = step.method, let target = step.target else {
        dead += 1
        take(.skipped(.dead), step, nil)
        continue
      }
      guard step.isActive else {
        skipped += 1
        take(.skipped(step.reasonToSkip), step, target)
        continue
      }
      reachedAny = true
      do {
        if keepsAnswers {
          if Sink.needsNoContexts {
            sink.take(try method._withUnsafeGuaranteedRef { try ask($0, target) }, of: target)
          } else {
            take(.answered(try method._withUnsafeGuaranteedRef { try ask($0, target) }), step, target)
          }
        } else {
          try method._withUnsafeGuaranteedRef { try run($0, target) }
          sink.countDelivered()
        }
      } catch {
        take(.failed(error), step, target)
        if route.core.stopsAtFirst { goesOn = false }
      }
    }
    guard sink.listsEveryTarget else { return }
    while index < route.count {
      let step = route.steps[index]
      index += 1
      let target = step.target
      let reason = target == nil ? .dead : step.isActive ? DeliveryReport.SkipReason.stopped : step.reasonToSkip
      take(.skipped(reason), step, target)
    }
  }

  private mutating func take(_ outcome: StepOutcome, _ step: RouteStep, _ target: AnyObject?) {
    let context = StepContext(
      selector: route.selector, proxies: proxies, registration: step.registration.takeUnretainedValue(),
      target: target, isQueued: false)
    if !sink.take(outcome, at: context) { goesOn = false }
  }
}

extension Invocation {
  /// Whether there is nothing about the message that a proxy would have to look into or take off.
  fileprivate var isPlain: Bool { !hasStatedSignature && route == nil }
}
