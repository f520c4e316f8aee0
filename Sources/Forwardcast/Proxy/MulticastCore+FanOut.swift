// MulticastCore+FanOut.swift: one invocation to every target, by boxes.
// Layer: Proxy. See DESIGN.md, "Life of one message".

/// A multicast proxy of any interface. Its core stands for it in a trail: it lives as long as its messages do.
protocol CoreHolder: AnyObject {
  var core: MulticastCore { get }
}

/// What became of an invocation at one step of a route.
struct FanOutStep {
  enum Outcome {
    case answered(AnyObject, ArgumentBox?)
    case queued(AnyObject)
    case failed(AnyObject, any Error)
    case skipped(AnyObject?, DeliveryReport.SkipReason)
  }

  let registration: Registration
  let outcome: Outcome
}

/// What is counted of a message rather than told.
struct FanOutTally {
  /// Targets that answered without their answers being kept.
  var delivered = 0
  /// Messages that full buffers gave up.
  var dropped = 0
}

extension MulticastCore {
  /// Serves every step of the message's route in order, until `visit` says `false`.
  ///
  /// Neighbours whose methods have one function type share the arguments that were opened for the first of them.
  ///
  /// - Parameter keepsAnswers: with `false` answers of such targets are not boxed, and `visit` is not told of them.
  /// - Throws: `proxyCycle`, and with `checked` why the arguments do not fit the first target that would get them.
  @discardableResult
  func fanOut(
    _ invocation: Invocation, through proxy: AnyObject, checked: Bool = true, keepsAnswers: Bool = true,
    _ visit: (FanOutStep) -> Bool
  ) throws -> FanOutTally {
    if let trail = invocation.route, trail.contains(self) {
      throw MessageError.cycle(invocation.selector, through: proxy)
    }
    var message = invocation
    message.result = nil
    try message.fitStatedTypes(receiver: proxy)
    let walk = begin(invocation.selector)
    defer { withExtendedLifetime(walk) {} }
    // Only who sees the message itself can send it on: a trail is laid for the first of those.
    var trail: ProxyTrail?
    defer { trail?.end() }
    func layTrail() {
      guard trail == nil else { return }
      trail = ProxyTrail(self, after: invocation.route)
      message.route = trail
    }
    if checked { try check(message, walk) }
    if walk.hasQueued { layTrail() }
    var queued = QueuedFanOut(self, message, walk, inOrder: stopsAtFirst)
    var tally = FanOutTally()
    var (dead, skipped, index) = (0, 0, 0)
    var unopened: ObjectIdentifier?
    var goesOn = true
    while goesOn, index < walk.count {
      let step = walk.steps[index]
      if queued == nil, let type = step.functionType, type != unopened, let method = step.method {
        let isOpened = method._withUnsafeGuaranteedRef {
          $0.withOpened(message.arguments) { call in
            while goesOn, index < walk.count, walk.steps[index].functionType == type {
              let step = walk.steps[index]
              index += 1
              goesOn = serve(step, call, keepsAnswers, &tally, &dead, &skipped, visit)
            }
          }
        }
        if isOpened { continue }
        unopened = type
      }
      let registration = step.registration.takeUnretainedValue()
      let outcome: FanOutStep.Outcome
      if let target = step.target {
        if let away = queued?.outcome(index, target) {
          if case .skipped = away { skipped += 1 }
          outcome = away
        } else if let reason = registration.reasonToSkip {
          skipped += 1
          outcome = .skipped(target, reason)
        } else {
          layTrail()
          outcome = serve(message, step, target) ?? .skipped(target, .doesNotRespond)
        }
      } else {
        dead += 1
        outcome = .skipped(nil, .dead)
      }
      index += 1
      goesOn = visit(FanOutStep(registration: registration, outcome: outcome))
    }
    if dead + skipped > 0 { end(walk, dead: dead, skipped: skipped) }
    tally.dropped = queued?.dropped ?? 0
    return tally
  }

  /// Calls one of several targets that share opened arguments. `false` when `visit` said so.
  @inline(__always)
  private func serve(
    _ step: RouteStep, _ call: Method.OpenedCall, _ keepsAnswers: Bool, _ tally: inout FanOutTally, _ dead: inout Int,
    _ skipped: inout Int, _ visit: (FanOutStep) -> Bool
  ) -> Bool {
    func tell(_ outcome: FanOutStep.Outcome) -> Bool {
      visit(FanOutStep(registration: step.registration.takeUnretainedValue(), outcome: outcome))
    }
    guard let method = step.method, let target = step.target else {
      dead += 1
      return tell(.skipped(nil, .dead))
    }
    if !step.isActive {
      skipped += 1
      return tell(.skipped(target, step.reasonToSkip))
    }
    do {
      let answer = try method._withUnsafeGuaranteedRef { try call($0, target, keepsAnswers) }
      if keepsAnswers { return tell(.answered(target, answer)) }
      tally.delivered += 1
      return true
    } catch {
      return tell(.failed(target, error))
    }
  }

  /// Gives one target its own copy of the message. `nil` when a target that is asked each time does not respond.
  func serve(_ message: Invocation, _ step: RouteStep, _ target: AnyObject) -> FanOutStep.Outcome? {
    var copy = message
    do {
      if let method = step.method {
        try method.takeUnretainedValue().invoke(target, &copy)
      } else {
        guard try ask(target, &copy) else { return nil }
      }
      return .answered(target, copy.result)
    } catch {
      return .failed(target, error)
    }
  }

  /// Sends to a target that is asked each time; `false` when it does not respond.
  func ask(_ target: AnyObject, _ invocation: inout Invocation) throws -> Bool {
    guard let receiver = target as? any MessageForwarding else { return false }
    guard ProxyQuestion.takes(receiver, invocation) else {
      if let failure = (receiver as? LazyProxy)?.failure { throw failure }
      return false
    }
    try perform(&invocation, on: receiver)
    return true
  }

  /// Whether the first target that would get the message can take its arguments.
  func check(_ message: Invocation, _ walk: RouteWalk) throws {
    for index in 0..<walk.count {
      let step = walk.route.steps[index]
      guard step.isActive, let target = step.target else { continue }
      if let method = step.method {
        try method.takeUnretainedValue().check(message.arguments, receiver: typeName(of: target))
        return
      }
      if answers(target, message.selector) { return }
    }
  }

  /// The boxed door of a typed message, for one step. `nil` when the target does not respond.
  @usableFromInline
  func sendBoxes(
    _ boxes: [ArgumentBox], _ selector: MessageSelector, _ step: RouteStep, _ target: AnyObject,
    through proxy: AnyObject
  ) throws -> Invocation? {
    var invocation = Invocation(selector, arguments: boxes)
    if let method = step.method {
      try method.takeUnretainedValue().invoke(target, &invocation)
    } else {
      let trail = ProxyTrail(self, after: nil)
      defer { trail.end() }
      invocation.route = trail
      guard try ask(target, &invocation) else { return nil }
    }
    return invocation
  }

  /// Reports one target's error of a broadcast; `true` when the broadcast is to end.
  @usableFromInline
  func report(_ error: any Error, _ selector: MessageSelector, _ step: RouteStep) -> Bool {
    let registration = step.registration.takeUnretainedValue()
    report(error, selector, registration, receiver: step.target.map { typeName(of: $0) } ?? "a dead target")
    return stopsAtFirst
  }

  /// What the proxy does about a broadcast that nobody got.
  @usableFromInline
  func silence(_ selector: MessageSelector, _ proxy: AnyObject) {
    switch options.silence {
    case .ignored: break
    case .thrown: report(MessageError.nobody(selector, proxy), selector, nil, receiver: typeName(of: proxy))
    case .handled(let handler): handler(selector)
    }
  }

  /// What the proxy does about a message that was to be answered and that nobody got.
  @usableFromInline
  func silenceOrThrow(_ selector: MessageSelector, _ proxy: AnyObject) throws {
    switch options.silence {
    case .ignored: break
    case .thrown: throw MessageError.nobody(selector, proxy)
    case .handled(let handler): handler(selector)
    }
  }

  /// Completes a report with the live targets that the message's route passes by.
  func explainOthers(
    _ selector: MessageSelector, except met: Set<ObjectIdentifier>, stopped: Bool, in report: inout DeliveryReport
  ) {
    for registration in registrations where !met.contains(ObjectIdentifier(registration)) {
      guard let target = registration.target else { continue }
      let reason: DeliveryReport.SkipReason
      if !registration.isFor(selector) {
        reason = .outOfScope
      } else if let skip = registration.reasonToSkip {
        reason = skip
      } else if stopped, answersItself(target, selector) {
        reason = .stopped
      } else if answersItself(target, selector) {
        continue  // it joined while the message was on its way
      } else {
        reason = .doesNotRespond
      }
      report.skipped.append(.init(target: target, reason: reason))
    }
  }

  private func answersItself(_ target: AnyObject, _ selector: MessageSelector) -> Bool {
    if target is any MessageForwarding { return answers(target, selector) }
    return method(of: target, selector) != nil
  }

  /// The types of the first live, unmuted target that would get `selector`.
  func firstSignature(for selector: MessageSelector) -> MethodSignature? {
    let walk = begin(selector)
    for index in 0..<walk.count {
      let step = walk.route.steps[index]
      guard step.isActive, let target = step.target else { continue }
      if let method = step.method?.takeUnretainedValue() {
        if !method.isRefusal { return method.signature }
      } else if answers(target, selector), let signature = signature(of: target, selector) {
        return signature
      }
    }
    return nil
  }

  /// How many live, unmuted registrations would get `selector`.
  func count(for selector: MessageSelector) -> Int {
    let walk = begin(selector)
    var count = 0
    for index in 0..<walk.count {
      let step = walk.route.steps[index]
      guard step.isActive, let target = step.target else { continue }
      if let method = step.method {
        if !method.takeUnretainedValue().isRefusal { count += 1 }
      } else if answers(target, selector) {
        count += 1
      }
    }
    return count
  }
}

extension Registration {
  /// Why the registration lets no message through at this moment.
  var reasonToSkip: DeliveryReport.SkipReason? {
    isCancelled ? .removed : isMuted ? .muted : nil
  }
}

extension MulticastCore {
  /// Whether the first error ends a message.
  @usableFromInline
  var stopsAtFirst: Bool { if case .stopAtFirst = options.errors { true } else { false } }
}
