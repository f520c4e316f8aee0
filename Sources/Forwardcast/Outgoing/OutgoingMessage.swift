// OutgoingMessage.swift: a message and its delivery to one target.

/// A message being sent: its arguments and its sender's request. Hooks can replace the message.
struct OutgoingMessage {
  let selector: MessageSelector
  var request: DeliveryRequest
  /// True for a message sent as an `Invocation`, whose arguments are checked before delivery.
  private(set) var isByValue = false
  /// The message's budget and, if an object forwarded the message, the proxies that it has passed.
  let trail: ProxyTrail?
  /// The trace of an outer proxy whose queued target gets the message; otherwise `nil`.
  var trace: MessageTrace?

  /// The arguments in a form that contexts can share. Boxed messages create this form when needed.
  private(set) var shared: MessageArguments?
  private var boxed: Invocation?

  init(
    _ selector: MessageSelector, _ arguments: MessageArguments, _ request: DeliveryRequest, trail: ProxyTrail? = nil
  ) {
    (self.selector, self.request, self.trail) = (selector, request, trail)
    shared = arguments
  }

  init<R, Output>(asking policy: ReturnPolicy<R, Output>, _ arguments: MessageArguments, along route: MessageRoute) {
    // Hooks and nested proxies observe `Void` results too.
    let keepsAnswers = R.self != Void.self || route.isSurrounded || route.route.hasNested
    self.init(route.selector, arguments, DeliveryRequest(result: .answers, keepsAnswers: keepsAnswers))
    ask(policy) { box, selector in
      var answered = Invocation(selector)
      answered.result = box
      return try? typedResult(of: answered, from: route.core)
    }
  }

  /// A boxed message that arrives at a proxy. Throws `proxyCycle` if the message already passed the
  /// proxy.
  init(_ invocation: Invocation, asks: Bool, along route: MessageRoute) throws {
    try route.refuseCycle(invocation)
    (selector, trail) = (invocation.selector, invocation.route)
    request = DeliveryRequest(result: asks ? .report : .counts, keepsAnswers: asks)
    boxed = invocation.asSent
    isByValue = true
  }

  init<Output>(_ invocation: Invocation, asking policy: ReturnPolicy<ArgumentBox, Output>, along route: MessageRoute)
    throws
  {
    try self.init(invocation, asks: true, along: route)
    ask(policy) { box, _ in box }
  }

  /// Requests answers for `policy`. `convert` converts an answer to the policy's type.
  mutating func ask<R, Output>(
    _ policy: ReturnPolicy<R, Output>, _ convert: @escaping (ArgumentBox, MessageSelector) -> R?
  ) {
    request.result = .answers
    (request.ignoresErrors, request.keepsOrder) = (policy.ignoresErrors, policy.mayStopEarly)
    guard policy.mayStopEarly else { return }
    request.makeProbe = { [selector] in
      let collector = policy.makeCollector()
      return { box in
        guard let answer = convert(box, selector) else { return false }
        // An error here is ignored: the policy throws it again when it gets the answer.
        return !((try? collector.take(answer)) ?? true)
      }
    }
  }

  /// Validates a boxed message. Called inside hooks, since hooks may change arguments.
  ///
  /// - Throws: `typeMismatch` or `wrongArgumentCount` if the arguments do not fit their signature
  ///   or, if answers are requested, the first target.
  mutating func admit(along route: MessageRoute) throws {
    guard isByValue else { return }
    var message = invocation
    if message.hasStatedSignature {
      try message.fitStatedTypes(receiver: route.core)
      (boxed, shared) = (message, nil)
    }
    if request.asks {
      message.route = trail
      try route.checkFirst(message)
    }
  }

  mutating func replace(with arguments: MessageArguments) {
    if arguments !== shared { (shared, boxed) = (arguments, nil) }
  }

  var arguments: MessageArguments {
    mutating get {
      if let shared { return shared }
      let made = BoxedArguments(invocation)
      shared = made
      return made
    }
  }

  var invocation: Invocation {
    mutating get {
      if let boxed { return boxed }
      let made = shared?.invocation(selector) ?? Invocation(selector)
      boxed = made
      return made
    }
  }

  /// How the message is delivered to one target.
  enum Attempt {
    /// Not delivered: the target does not respond, or the query failed.
    case over(StepOutcome)
    /// The method can run synchronously.
    case here(Method, AnyObject)
    /// The target is a multicast, whose targets get the message.
    case multicast(any MulticastSending)
    /// The method is asynchronous, or the caller is not in its isolation.
    case elsewhere(Method, AnyObject)
    /// The target handles the message in a forwarding hook.
    indirect case hook(any MessageForwarding, MethodSignature, Invocation)
  }

  /// Finds how one target gets the message. A target without a method is queried.
  mutating func attempt(_ method: Method?, on target: AnyObject, trail: @autoclosure () -> ProxyTrail) -> Attempt {
    func calling(_ method: Method, _ target: AnyObject) -> Attempt {
      method.runsElsewhere(on: target) ? .elsewhere(method, target) : .here(method, target)
    }
    if let method { return calling(method, target) }
    do {
      if let multicast = target as? any MulticastSending { return .multicast(multicast) }
      guard let receiver = target as? any MessageForwarding else { return .over(.skipped(.doesNotRespond)) }
      var message = invocation
      message.route = trail()
      guard ProxyQuestion.takes(receiver, message) else {
        if let failure = (receiver as? LazyProxy)?.failure { throw failure }
        return .over(.skipped(.doesNotRespond))
      }
      switch try resolve(selector, for: receiver) {
      case .method(let method, let target): return calling(method, target)
      case .forward(let hooks, let types):
        if let multicast = hooks as? any MulticastSending { return .multicast(multicast) }
        return .hook(hooks, types, message)
      }
    } catch { return .over(.failed(error)) }
  }

  mutating func outcome(of method: Method, on target: AnyObject) -> StepOutcome {
    do { return .answered(try call(method, target)) } catch { return .failed(error) }
  }

  /// Calls a method, unboxed if the types match exactly, otherwise boxed.
  private mutating func call(_ method: Method, _ target: AnyObject) throws -> ArgumentBox? {
    if let shared, let type = shared.functionType, type == method.functionType {
      return try shared.call(method, target, keepsAnswer: request.keepsAnswers)
    }
    var copy = invocation
    try method.invoke(target, &copy)
    return try answer(of: copy, from: target)
  }

  /// The answer to a boxed message, in the form that the sender requests.
  mutating func answer(of answered: Invocation, from target: AnyObject) throws -> ArgumentBox? {
    guard request.keepsAnswers else { return nil }
    if let shared { return try shared.answer(of: answered, from: target) }
    var answered = answered
    try answered.fitStatedReturn(receiver: target)
    return answered.result
  }
}

extension OutgoingMessage.Attempt {
  /// True if the method is isolated or the target forwards, so a waiting caller awaits the answer.
  var runsElsewhere: Bool {
    switch self {
    case .over, .here, .multicast: false
    case .elsewhere, .hook: true
    }
  }

  /// True if the delivery can end only if the caller waits.
  var suspends: Bool {
    switch self {
    case .over, .here, .multicast: false
    case .elsewhere: true
    case .hook(let hooks, _, _): hooks is any SuspendingForwarding
    }
  }

  /// Ends the delivery synchronously, so an isolated method fails. `nil` for a multicast.
  func ended(_ outgoing: inout OutgoingMessage) -> StepOutcome? {
    switch self {
    case .over(let outcome): return outcome
    case .here(let method, let target): return outgoing.outcome(of: method, on: target)
    case .multicast: return nil
    case .elsewhere(let method, let target): return .failed(method.unreachable(target))
    case .hook(let hooks, let types, var message):
      do {
        try forward(&message, by: hooks, types)
        return .answered(try outgoing.answer(of: message, from: hooks))
      } catch { return error is MessageNotTaken ? .skipped(.doesNotRespond) : .failed(error) }
    }
  }

  /// Ends the delivery, and awaits isolated methods and async hooks. Returns `nil` for a multicast.
  /// Checks directly before the method runs that its registration and path are active, and that
  /// `begin` returns true. Otherwise does not run the method, and returns `nil`.
  nonisolated(nonsending) func endedAndWaited(
    _ outgoing: inout OutgoingMessage, for registration: Registration, behind proxies: ProxyChain, isKept: Bool = false,
    begin: @escaping @Sendable () -> Bool = { true }
  ) async -> StepOutcome? {
    let mayStart: @Sendable () -> Bool = { registration.mayStart(isKept: isKept) && proxies.obstacle == nil && begin() }
    switch self {
    case .over, .here, .multicast: return ended(&outgoing)
    case .elsewhere(let method, let target):
      do {
        let sent = UncheckedSendable(outgoing.invocation)
        guard let answered = try await method.invokeAndWait(target, sent, mayStart: mayStart) else { return nil }
        let answer = try outgoing.answer(of: answered.value, from: target)
        if method.answers(to: #isolation) { return .answered(answer) }
        return Self.crossing(answer, from: target, outgoing.selector, wanted: outgoing.request.keepsAnswers)
      } catch { return .failed(error) }
    case .hook(let hooks, let types, var message):
      guard mayStart() else { return nil }
      do {
        try await forwardWaiting(&message, by: hooks, types)
        return .answered(try outgoing.answer(of: message, from: hooks))
      } catch { return error is MessageNotTaken ? .skipped(.doesNotRespond) : .failed(error) }
    }
  }

  /// An answer from another isolation. The answer must be `Sendable` unless it is discarded.
  @inline(never) static func crossing(
    _ answer: ArgumentBox?, from target: AnyObject, _ selector: MessageSelector, wanted: Bool
  ) -> StepOutcome {
    guard let answer, !answer.isSendable else { return .answered(answer) }
    guard wanted else { return .answered(nil) }
    return .failed(
      MessageError(
        .isolationMismatch, receiver: typeName(of: target), selector: selector.name,
        evidence:
          "its result is not known to be Sendable and may not leave the method's context; make '\(answer.type)' Sendable"
      ))
  }
}
