// MulticastSending+Streams.swift: messages as asynchronous sequences.

extension MulticastSending {
  /// The messages of a key from now on, each as its arguments: the argument where there is one, else a tuple.
  ///
  ///     let texts = room.messages(
  ///       for: .textReceived, buffering: .bufferingNewest(100))
  ///     for await text in texts { … }
  ///
  /// The stream stays in the isolation that the proxy is in. For proxies whose interface is `Sendable` it may be used
  /// anywhere, and gives messages of which every argument is known to be `Sendable`; others go to `onError`, as do messages by
  /// boxes that the key's types cannot take.
  ///
  /// - Parameters:
  ///   - message: the key.
  ///   - policy: how many messages may wait for a slow listener, and which go when there are more: see
  ///     ``MessageStream/dropped``.
  @export(implementation)
  public func messages<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<(repeat each A)>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<(repeat each A)> {
    stream(message, policy, isShared: false)
  }

  /// The messages of a selector from now on, or all that go through the proxy, by boxes.
  ///
  /// - Parameters:
  ///   - selector: the messages; `nil` or nothing for all.
  ///   - policy: as for the messages of a key.
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
  /// A message is in the sequence when its last direct target has answered, for senders that wait its last target. One that
  /// fails is not; a `broadcast` asks for no answers. Everything else is as for `messages(for:)` of a key.
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
  /// For a loop in any isolation: the messages of a key from now on, each as its arguments; see the form for one.
  @export(implementation)
  public func messages<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<(repeat each A)>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<(repeat each A)> {
    stream(message, policy, isShared: true)
  }

  /// For a loop in any isolation: the messages of a key that succeed from now on, with what was answered; see the form for
  /// one. Answers of a key that is not known to give `Sendable` ones go to `onError`.
  public func exchanges<R, each A>(
    for message: Message<(repeat each A) -> R>,
    buffering policy: AsyncStream<MessageExchange<R, repeat each A>>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<MessageExchange<R, repeat each A>> {
    core.stream(message.selector, policy, isShared: true, ofAnswers: true) {
      if !message.answerCrosses { throw $0.cannotCross("an answer") }
      return try MessageExchange($0, $1, of: message)
    }
  }

  /// For a loop in any isolation: the messages of a selector from now on, or all, by boxes whose values may cross; see the
  /// form for one.
  public func messages(
    for selector: MessageSelector? = nil,
    buffering policy: AsyncStream<Invocation>.Continuation.BufferingPolicy = .unbounded
  ) -> MessageStream<Invocation> {
    core.stream(selector, policy, isShared: true) { message, _ in message.invocation }
  }
}

extension MessageExchange {
  fileprivate init(_ message: HookedMessage, _ answers: MessageAnswers?, of key: Message<(repeat each A) -> R>) throws {
    // All that throws comes first: releasing half of this value crashes the compiler.
    let list = try answers?.typed(as: R.self, message) ?? []
    arguments = try message.values(of: key).values
    self.answers = list
  }
}

extension MulticastSending {
  /// The core of the proxy that the messages go through.
  ///
  /// Where hooks can be installed it is known. Only who sends through a proxy of its own is asked for a route, which leads
  /// there.
  @usableFromInline var core: MulticastCore {
    if let pinned = self as? PinnedMulticast<Interface> { return pinned.pins.core }
    return (self as? any MessageHooking)?.hookPlace.holder as? MulticastCore ?? route(for: .ofNobody).core
  }
}
