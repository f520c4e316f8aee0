// MulticastSending+Streams.swift: messages as asynchronous sequences.

extension MulticastSending {
  /// The messages of a key from now on, each as its argument, or a tuple of them.
  ///
  ///     let texts = room.messages(
  ///       for: .textReceived, buffering: .bufferingNewest(100))
  ///     for await text in texts { … }
  ///
  /// The stream stays in the proxy's isolation. If the proxy's interface is `Sendable` it may be used anywhere, and messages with
  /// arguments not known to be `Sendable` go to `onError` instead, as do boxed messages that the key's types cannot take.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - policy: how many messages may wait for a slow listener: see ``MessageStream/dropped``.
  @export(implementation)
  public func messages<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<(repeat each A)>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<(repeat each A)> {
    stream(message, policy, isShared: false)
  }

  /// The messages of a selector from now on, by default of all, in boxes: see the form with a key.
  public func messages(
    for selector: MessageSelector? = nil,
    buffering policy: AsyncStream<Invocation>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<Invocation> {
    core.stream(selector, policy, isShared: false) { message, _ in message.invocation }
  }

  /// The messages of a key that succeed from now on, each as its arguments with what was answered.
  ///
  ///     for await call in desk.exchanges(for: .quote) {
  ///       print(call.arguments, call.answers)
  ///     }
  ///
  /// A message appears when its last direct target has answered; for a sender that waits, its last target. Failed messages do not
  /// appear; a `broadcast` asks for no answers. Otherwise as `messages(for:)` of a key.
  public func exchanges<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<MessageExchange<R, repeat each A>>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<MessageExchange<R, repeat each A>> {
    core.stream(message.selector, policy, isShared: false, ofAnswers: true) {
      try MessageExchange($0, $1, of: message)
    }
  }

  @export(implementation)
  func stream<R, each A>(
    _ message: Message<(repeat each A) -> R>,
    _ policy: AsyncStream<(repeat each A)>.Continuation.BufferingPolicy, isShared: Bool
  ) -> MessageStream<(repeat each A)> {
    let type = ((repeat each A) -> R).self
    return core.stream(message.selector, policy, isShared: isShared) { sent, _ in
      try sent.arguments.values(as: type, sent.selector, sent.receiver).values
    }
  }
}

extension MulticastSending where Interface: Sendable {
  /// The messages of a key from now on, for a loop in any isolation.
  @export(implementation)
  public func messages<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<(repeat each A)>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<(repeat each A)> {
    stream(message, policy, isShared: true)
  }

  /// The messages of a key that succeed from now on, with their answers, for a loop in any isolation. Answers not known to be
  /// `Sendable` by the key go to `onError`.
  public func exchanges<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<MessageExchange<R, repeat each A>>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<MessageExchange<R, repeat each A>> {
    core.stream(message.selector, policy, isShared: true, ofAnswers: true) {
      if !message.answerCrosses { throw $0.cannotCross("an answer") }
      return try MessageExchange($0, $1, of: message)
    }
  }

  /// The messages of a selector from now on, by default of all, in boxes, for a loop in any isolation.
  public func messages(
    for selector: MessageSelector? = nil,
    buffering policy: AsyncStream<Invocation>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<Invocation> {
    core.stream(selector, policy, isShared: true) { message, _ in message.invocation }
  }
}

extension MessageExchange {
  fileprivate init(_ message: HookedMessage, _ answers: MessageAnswers?, of key: Message<(repeat each A) -> R>) throws {
    // First what throws: the compiler crashes when it has to release a half-initialized value.
    let list = try answers?.typed(as: R.self, message) ?? []
    arguments = try message.values(of: key).values
    self.answers = list
  }
}

extension MulticastSending {
  /// The core of the proxy that the messages go through. A sender with its own proxy, but without hooks, is asked for a route.
  @usableFromInline var core: MulticastCore {
    if let pinned = self as? PinnedMulticast<Interface> { return pinned.pins.core }
    return (self as? any MessageHooking)?.hookPlace.holder as? MulticastCore ?? route(for: .ofNobody).core
  }
}
