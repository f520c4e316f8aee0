// BoxedLoop.swift: one message by boxes to direct targets, whose arguments are opened once for neighbours.
// Layer: Proxy. See DESIGN.md, "Two doors".

/// A message by boxes to the direct targets of one proxy.
///
/// Neighbours in the route whose methods have one function type share the arguments that were opened for the first of them.
/// Apart from the schedule, because measured: a third of its instructions for one target, a tenth less for each of many.
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

  /// - Parameter route: one that needs no schedule, and for a sink that lists every target leaves none out.
  init(along route: MessageRoute, keepsAnswers: Bool, into sink: Sink) {
    (self.route, self.keepsAnswers, self.sink) = (route, keepsAnswers, sink)
  }

  /// Whether the loop can serve all that a sink wants to know of.
  static func fits(_ route: MessageRoute, _ sink: Sink) -> Bool {
    !route.needsSchedule && !(sink.listsEveryTarget && route.route.leavesOut)
  }

  /// Serves every target.
  ///
  /// - Parameter checked: whether nothing is delivered when the arguments do not fit the first target that would get them.
  /// - Throws: what does not fit that target.
  mutating func run(_ message: Invocation, checked: Bool = false) throws(MessageError) {
    defer { withExtendedLifetime(route.route) {} }
    sink.expect(route.count)
    var index = 0
    var unopened: ObjectIdentifier?
    while goesOn, index < route.count {
      let step = route.steps[index]
      if let type = step.functionType, type != unopened, let method = step.method {
        unopened = type
        let end = method._withUnsafeGuaranteedRef { serve($0, type, message.arguments, from: index) }
        if end > index {
          index = end
          continue
        }
      }
      index += 1
      try serve(step, message, checked: checked && !reachedAny)
    }
    if sink.listsEveryTarget {
      while index < route.count {
        stop(route.steps[index])
        index += 1
      }
    }
    if dead + skipped > 0 { route.core.end(route, dead: dead, skipped: skipped) }
  }

  /// Serves neighbours with arguments that are opened for the first of them. Gives the index behind the last that was
  /// served: `first` when each has to open the boxes itself.
  private mutating func serve(
    _ method: Method, _ type: ObjectIdentifier, _ arguments: [ArgumentBox], from first: Int
  ) -> Int {
    var index = first
    _ = method.withOpened(arguments) { run, ask in
      while goesOn, index < route.count, route.steps[index].functionType == type {
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
          reachedAny = true
        } catch {
          fail(error, step, target)
        }
      }
    }
    return index
  }

  /// Serves one target that opens the boxes itself.
  private mutating func serve(_ step: RouteStep, _ message: Invocation, checked: Bool) throws(MessageError) {
    guard step.isActive else {
      skipped += 1
      return take(.skipped(step.reasonToSkip), step, step.target)
    }
    guard let target = step.target else {
      dead += 1
      return take(.skipped(.dead), step, nil)
    }
    if checked, let method = step.method {
      try method.takeUnretainedValue().check(message.arguments, receiver: typeName(of: target))
    }
    var outgoing = OutgoingMessage(message, keepsAnswers: keepsAnswers)
    let (proxies, earlier) = (proxies, message.route)
    let turn = outgoing.perform(
      step.method?.takeUnretainedValue(), on: target, trail: proxies.trail(after: earlier))
    switch turn.ended(&outgoing) {
    case .failed(let error)?: fail(error, step, target)
    case let outcome:
      reachedAny = true
      take(outcome ?? .answered(nil), step, target)
    }
  }

  private mutating func fail(_ error: any Error, _ step: RouteStep, _ target: AnyObject) {
    reachedAny = true
    take(.failed(error), step, target)
    if route.core.stopsAtFirst { goesOn = false }
  }

  /// Passes a target by whose turn does not come any more.
  private mutating func stop(_ step: RouteStep) {
    let target = step.target
    let reason = target == nil ? .dead : step.isActive ? DeliveryReport.SkipReason.stopped : step.reasonToSkip
    take(.skipped(reason), step, target)
  }

  private mutating func take(_ outcome: StepOutcome, _ step: RouteStep, _ target: AnyObject?) {
    let context = StepContext(
      selector: route.selector, proxies: proxies, registration: step.registration.takeUnretainedValue(),
      target: target, isQueued: false)
    if !sink.take(outcome, at: context) { goesOn = false }
  }
}

extension MessageRoute {
  /// Makes sure that a message by value can go along the route.
  ///
  /// - Throws: `proxyCycle` when the message came through the proxy before; `typeMismatch` or `wrongArgumentCount` when the
  ///   arguments are not those of the stated signature.
  func admit(_ invocation: inout Invocation) throws {
    try refuseCycle(invocation)
    invocation.result = nil
    try invocation.fitStatedTypes(receiver: core)
  }

  /// - Throws: `proxyCycle` when the message came through the proxy before.
  func refuseCycle(_ invocation: Invocation) throws {
    guard let trail = invocation.route, trail.contains(core) else { return }
    throw MessageError(
      .proxyCycle, receiver: core.name, selector: selector.name,
      evidence: "the message came through this proxy before")
  }

  /// Serves every target in the caller's turn, unless the arguments do not fit the first that would get them.
  ///
  /// - Returns: the sink, whether anybody got the message, and how many messages full buffers gave up for it.
  func serve<Sink: OutcomeSink>(_ invocation: Invocation, keepsAnswers: Bool, inOrder: Bool, into sink: Sink) throws
    -> (sink: Sink, reachedAny: Bool, dropped: Int)
  {
    if BoxedLoop.fits(self, sink) {
      var loop = BoxedLoop(along: self, keepsAnswers: keepsAnswers, into: sink)
      try loop.run(invocation, checked: true)
      return (loop.sink, loop.reachedAny, 0)
    }
    try checkFirst(invocation)
    var message = OutgoingMessage(invocation, keepsAnswers: keepsAnswers)
    message.isInOrder = inOrder
    var schedule = MessageSchedule(message, along: self, into: sink)
    schedule.run()
    return (schedule.sink, schedule.reachedAny, schedule.dropped)
  }
}
