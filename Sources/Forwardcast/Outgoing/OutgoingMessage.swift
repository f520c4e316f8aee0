// OutgoingMessage.swift: one message on its way, and how it is performed on one target.

/// What the sender of a message wants to know.
struct MessageRequest {
  /// Whether answers are wanted.
  var keepsAnswers: Bool
  /// Whether targets are served strictly in the order of delivery, those on contexts of their own included.
  var isInOrder = false
  /// Whether the sender asks what came of the message: then hooks are thrown a failure as the sender would be…
  var asks = false
  /// … unless an answer is enough.
  var ignoresErrors = false
  /// Whether targets that do not get the message are told of as well.
  var listsEveryTarget = false
  /// Whether the sender suspends until there is room, though it waits for no answer.
  var waitsForRoom = false
  /// The wait of a method that the sender is in.
  var wait: SuspendedWait?
  /// Makes what says of each answer, one after another, whether the sender needs no further one; `nil` where it needs all. For
  /// answers that hooks, or another context, stand before.
  var makeProbe: (() -> (ArgumentBox) -> Bool)?
}

/// One message on its way: its arguments, and what its sender wants to know.
struct OutgoingMessage {
  let selector: MessageSelector
  var request: MessageRequest
  /// Whether it came as a value, whose arguments are checked before anybody gets it.
  private(set) var isByValue = false
  /// The proxies that the message came through by hooks, before it came here.
  let trail: ProxyTrail?
  /// Who is told of each step.
  var trace: MessageTrace?

  /// The arguments in the form that can be shared; `nil` while a message that came as a value needs none.
  private(set) var shared: MessageArguments?
  /// The message by boxes; `nil` while a typed message needs none.
  private var boxed: Invocation?

  init(
    _ selector: MessageSelector, _ arguments: MessageArguments, _ request: MessageRequest, trail: ProxyTrail? = nil
  ) {
    (self.selector, self.request, self.trail) = (selector, request, trail)
    shared = arguments
  }

  /// A typed message whose sender asks for answers.
  init<R, Output>(asking policy: ReturnPolicy<R, Output>, _ arguments: MessageArguments, along route: MessageRoute) {
    // Hooks are given what answers nothing as well.
    let keepsAnswers = R.self != Void.self || route.isSurrounded || route.route.hasNested
    self.init(route.selector, arguments, MessageRequest(keepsAnswers: keepsAnswers))
    ask(policy) { box, selector in
      var answered = Invocation(selector)
      answered.result = box
      return try? typedResult(of: answered, from: route.core)
    }
  }

  /// A message by value that comes to a proxy now.
  ///
  /// - Throws: `proxyCycle` when it came through the proxy before; `typeMismatch` or `wrongArgumentCount` when the arguments
  ///   are not those of the stated signature, or, where the sender asks, when the first target that would get them cannot
  ///   take them.
  init(_ invocation: Invocation, asks: Bool, along route: MessageRoute) throws {
    try route.refuseCycle(invocation)
    (selector, trail) = (invocation.selector, invocation.route)
    request = MessageRequest(keepsAnswers: asks, asks: asks)
    boxed = invocation.asSent
    isByValue = true
    if !route.isSurrounded { try admit(along: route) }
  }

  /// The same, whose answers go to a policy.
  init<Output>(_ invocation: Invocation, asking policy: ReturnPolicy<ArgumentBox, Output>, along route: MessageRoute)
    throws
  {
    try self.init(invocation, asks: true, along: route)
    ask(policy) { box, _ in box }
  }

  private mutating func ask<R, Output>(
    _ policy: ReturnPolicy<R, Output>, _ convert: @escaping (ArgumentBox, MessageSelector) -> R?
  ) {
    (request.asks, request.ignoresErrors, request.isInOrder) = (true, policy.ignoresErrors, policy.mayStopEarly)
    guard policy.mayStopEarly else { return }
    request.makeProbe = { [selector] in
      let collector = policy.makeCollector()
      return { box in
        guard let answer = convert(box, selector) else { return false }
        // What the policy throws it will throw again when it gets the answer.
        return !((try? collector.take(answer)) ?? true)
      }
    }
  }

  /// Makes sure that a message by value can go along the route, as it is inside of hooks.
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

  /// Goes on with other arguments.
  mutating func replace(with arguments: MessageArguments) {
    if arguments !== shared { (shared, boxed) = (arguments, nil) }
  }

  /// The arguments, to be taken along to other contexts.
  var arguments: MessageArguments {
    mutating get {
      if let shared { return shared }
      let made = BoxedArguments(invocation)
      shared = made
      return made
    }
  }

  /// The message by boxes.
  var invocation: Invocation {
    mutating get {
      if let boxed { return boxed }
      let made = shared?.invocation(selector) ?? Invocation(selector)
      boxed = made
      return made
    }
  }

  /// What it came to that a target was given the message.
  enum Attempt {
    case over(StepOutcome)
    /// The target is a multicast: its targets get the message in its place.
    case multicast(any MulticastSending)
    /// The method runs in an isolation that the caller is not in, or suspends.
    case elsewhere(Method, AnyObject)
    /// The target handles the message in a hook of its own.
    case hook(any MessageForwarding, MethodSignature, Invocation)
  }

  /// Gives the message to one target: by the types of its sender where the method has exactly those, else by boxes; a
  /// target without a method is asked what is to become of it.
  ///
  /// This is the only place that chooses. Where that cannot end here, the caller is told how it goes on.
  ///
  /// - Parameter trail: the proxies that the message came through, for hooks that may send it on.
  mutating func perform(_ method: Method?, on target: AnyObject, trail: @autoclosure () -> ProxyTrail) -> Attempt {
    do {
      if let method { return try run(method, target) }
      if let multicast = target as? any MulticastSending { return .multicast(multicast) }
      guard let receiver = target as? any MessageForwarding else { return .over(.skipped(.doesNotRespond)) }
      var message = invocation
      message.route = trail()
      guard ProxyQuestion.takes(receiver, message) else {
        if let failure = (receiver as? LazyProxy)?.failure { throw failure }
        return .over(.skipped(.doesNotRespond))
      }
      switch try resolve(selector, for: receiver) {
      case .method(let method, let target): return try run(method, target)
      case .forward(let hooks, let types):
        if let multicast = hooks as? any MulticastSending { return .multicast(multicast) }
        return .hook(hooks, types, message)
      }
    } catch { return .over(.failed(error)) }
  }

  private mutating func run(_ method: Method, _ target: AnyObject) throws -> Attempt {
    if !method.isolation.isSender, !method.canRun(on: target) { return .elsewhere(method, target) }
    if let shared, let type = shared.functionType, type == method.functionType {
      return .over(.answered(try shared.call(method, target, keepsAnswer: request.keepsAnswers)))
    }
    var copy = invocation
    try method.invoke(target, &copy)
    return .over(.answered(try answer(of: copy, from: target)))
  }

  /// The answer of a target that got the message by boxes, as the sender wants it.
  mutating func answer(of answered: Invocation, from target: AnyObject) throws -> ArgumentBox? {
    guard request.keepsAnswers else { return nil }
    if let shared { return try shared.answer(of: answered, from: target) }
    var answered = answered
    try answered.fitStatedReturn(receiver: target)
    return answered.result
  }
}

extension OutgoingMessage.Attempt {
  /// Whether it cannot end in the caller's turn, but can where there is somebody to take it up.
  var suspends: Bool {
    switch self {
    case .over, .multicast: false
    case .elsewhere: true
    case .hook(let hooks, _, _): hooks is any SuspendingForwarding
    }
  }

  /// Ends it here: hooks forward in the caller's turn, and what is elsewhere cannot be reached.
  ///
  /// - Returns: `nil` for a multicast.
  func ended(_ outgoing: inout OutgoingMessage) -> StepOutcome? {
    switch self {
    case .over(let outcome): return outcome
    case .multicast: return nil
    case .elsewhere(let method, let target): return .failed(method.unreachable(target))
    case .hook(let hooks, let types, var message):
      do {
        try forward(&message, by: hooks, types)
        return .answered(try outgoing.answer(of: message, from: hooks))
      } catch { return error is MessageNotTaken ? .skipped(.doesNotRespond) : .failed(error) }
    }
  }

  /// Ends it, waiting for what is elsewhere and for hooks that suspend.
  ///
  /// - Parameters:
  ///   - registration: the target's, which is looked at where a method runs, right before it starts; so is the way there.
  ///   - isKept: whether the target gets what waits for it also when it was removed.
  /// - Returns: `nil` for a multicast, and for a method or a hook that was not to start any more.
  nonisolated(nonsending) func endedAndWaited(
    _ outgoing: inout OutgoingMessage, for registration: Registration, behind proxies: ProxyChain, isKept: Bool = false
  ) async -> StepOutcome? {
    let mayStart: @Sendable () -> Bool = { registration.mayStart(isKept: isKept) && proxies.obstacle == nil }
    switch self {
    case .over, .multicast: return ended(&outgoing)
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

  /// An answer that comes from another isolation: it must be known to be `Sendable`, unless nobody wants it.
  @inline(never) static func crossing(
    _ answer: ArgumentBox?, from target: AnyObject, _ selector: MessageSelector, wanted: Bool
  ) -> StepOutcome {
    guard let answer, !answer.isSendable else { return .answered(answer) }
    guard wanted else { return .answered(nil) }
    return .failed(
      MessageError(
        .isolationMismatch, receiver: typeName(of: target), selector: selector.name,
        evidence: "its answer of type \(answer.type) is not known to be Sendable and may not cross"))
  }
}
