// MulticastSending+Streams.swift: messages as asynchronous sequences.

extension MulticastSending {
  /// The messages of a key from now on. An element is the argument, or a tuple of the arguments.
  ///
  ///     let texts = room.messages(
  ///       for: .textReceived, buffering: .bufferingNewest(100))
  ///     for await text in texts { … }
  ///
  /// The stream remains in the proxy's isolation unless the interface is `Sendable`. `onError` gets
  /// an error for each message that the stream omits: boxed messages that do not fit the key's
  /// types and, if the interface is `Sendable`, messages with arguments not known to be `Sendable`.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - policy: the limit of buffered messages, see ``MessageStream/dropped``.
  @export(implementation)
  public func messages<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<(repeat each A)>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<(repeat each A)> {
    stream(message, policy, isShared: false)
  }

  /// The messages of a selector from now on, boxed; without a selector, all messages.
  public func messages(
    for selector: MessageSelector? = nil,
    buffering policy: AsyncStream<Invocation>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<Invocation> {
    core.stream(selector, policy, isShared: false) { message, _ in message.invocation }
  }

  /// The successful messages of a key from now on, each with its arguments and answers.
  ///
  ///     for await call in desk.exchanges(for: .quote) {
  ///       print(call.arguments, call.answers)
  ///     }
  ///
  /// A message appears when its last direct target has answered. If the sender waits, the message
  /// appears when its last target has answered. Failed messages do not appear. A `broadcast`
  /// requests no answers.
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

  /// The successful messages of a key, with their answers, for a loop in any isolation. If the
  /// result is not known to be `Sendable`, `onError` gets an error for each message.
  public func exchanges<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<MessageExchange<R, repeat each A>>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<MessageExchange<R, repeat each A>> {
    core.stream(message.selector, policy, isShared: true, ofAnswers: true) {
      if !message.answerCrosses { throw $0.cannotCross("an answer") }
      return try MessageExchange($0, $1, of: message)
    }
  }

  /// The messages of a selector from now on, boxed, for a loop in any isolation. Without a
  /// selector, all messages.
  public func messages(
    for selector: MessageSelector? = nil,
    buffering policy: AsyncStream<Invocation>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<Invocation> {
    core.stream(selector, policy, isShared: true) { message, _ in message.invocation }
  }
}

extension MessageExchange {
  fileprivate init(_ message: HookedMessage, _ answers: MessageAnswers?, of key: Message<(repeat each A) -> R>) throws {
    // Throwing expressions first: the compiler crashes if it must release a half-initialized value.
    let list = try answers?.typed(as: R.self, message) ?? []
    arguments = try message.values(of: key).values
    self.answers = list
  }
}

extension MulticastSending {
  /// The core of the sending proxy. A custom sender without hooks gets it from a route.
  @usableFromInline var core: MulticastCore {
    if let pinned = self as? PinnedMulticast<Interface> { return pinned.pins.core }
    return (self as? any MessageHooking)?.hookPlace.holder as? MulticastCore ?? route(for: .ofNobody).core
  }
}
