// MessageStream.swift: the messages of a proxy as an asynchronous sequence.

import Synchronization

/// The messages that go through a proxy, for a `for await` loop.
///
///     for await (chat, data) in client.messages(for: .onAddMsg) {
///       archive(chat, data)
///     }
///
/// A message is in the sequence when it leaves, with the arguments that its targets get: a hook that lets it through twice
/// shows twice, one that lets nothing through does not show. Messages of one sender come in the order in which they were sent.
///
/// The sequence listens from the moment when it is made. It ends when the proxy does, after what has been buffered; when the
/// task that takes from it is cancelled; and when nobody takes from it any more. Then nothing of it is left in the proxy.
/// Each call of `messages` makes a listener of its own.
public struct MessageStream<Element>: AsyncSequence {
  /// A stream throws nothing.
  public typealias Failure = Never

  private let stream: AsyncStream<UncheckedSendable<Element>>
  private let counter: StreamCounter

  init(_ stream: AsyncStream<UncheckedSendable<Element>>, _ counter: StreamCounter) {
    (self.stream, self.counter) = (stream, counter)
  }

  /// How many messages the buffer has given up since the sequence was made, as its policy says: what a slow listener missed.
  public var dropped: Int { counter.dropped }

  /// An iterator. A stream has one buffer: iterators share its messages.
  public func makeAsyncIterator() -> Iterator { Iterator(inner: stream.makeAsyncIterator()) }

  /// Takes messages, one after another.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var inner: AsyncStream<UncheckedSendable<Element>>.Iterator

    /// The next message, waited for; `nil` once the sequence has ended.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next message, waited for in the isolation of `actor`.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await inner.next(isolation: actor)?.value
    }
  }
}

extension MessageStream: Sendable where Element: Sendable {}

/// What a stream's buffer gave up.
final class StreamCounter: Sendable {
  private let count = Atomic<Int>(0)

  var dropped: Int { count.load(ordering: .acquiring) }
  func noteDropped() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

/// A message that succeeded, with what was answered: an element of `exchanges(for:)`.
public struct MessageExchange<R, each A> {
  /// The arguments that its targets got.
  public let arguments: (repeat each A)
  /// The answers in the order of delivery, as far as the sender asked for them.
  public let answers: [R]
}

extension MessageExchange: Sendable where R: Sendable, repeat each A: Sendable {}

extension MulticastCore {
  /// A stream of what `element` makes of each message.
  ///
  /// - Parameters:
  ///   - isShared: whether the stream may be used in another isolation than the senders': then only arguments that are known
  ///     to be `Sendable` are let through, and others are told to `onError`.
  ///   - element: may throw for a message that is not of its types, which is told to `onError`. A message is not stopped by
  ///     who listens to it.
  func stream<Element>(
    _ selector: MessageSelector?, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isShared: Bool,
    _ element: @escaping (HookedMessage) throws -> Element
  ) -> MessageStream<Element> {
    // What is not Sendable stays in the isolation of a proxy that is not.
    nonisolated(unsafe) let element = element
    return listen(selector, policy) { [link] source in
      .before { message in link.core?.tell(source, message, isShared) { try element(message) } }
    }
  }

  /// A stream of what `element` makes of each message that succeeded, and of its answers.
  func answerStream<Element>(
    _ selector: MessageSelector, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isShared: Bool,
    _ element: @escaping (HookedMessage, MessageAnswers) throws -> Element
  ) -> MessageStream<Element> {
    nonisolated(unsafe) let element = element
    return listen(selector, policy) { [link] source in
      .after { message, answers in link.core?.tell(source, message, isShared) { try element(message, answers) } }
    }
  }

  private func tell<Element>(
    _ source: StreamSource<Element>, _ message: HookedMessage, _ isShared: Bool, _ element: () throws -> Element
  ) {
    do {
      if isShared, !message.arguments.crosses { throw message.cannotCross("an argument") }
      source.yield(try element())
    } catch {
      report(error, message.selector, nil, receiver: "a stream of messages")
    }
  }

  private func listen<Element>(
    _ selector: MessageSelector?, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy,
    _ makeBody: (StreamSource<Element>) -> Hook.Body
  ) -> MessageStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: UncheckedSendable<Element>.self, bufferingPolicy: policy.rewrapped)
    let source = StreamSource(continuation: continuation)
    let listener = MessageListener(Hook(selector, makeBody(source))) { continuation.finish() }
    change { state, _ in
      state.madeRest.listeners.append(listener)
      state.list.noteChanged()
    }
    continuation.onTermination = { [link, weak listener] _ in
      if let listener { link.core?.remove(listener) }
    }
    return MessageStream(stream, source.counter)
  }

  private func remove(_ listener: MessageListener) {
    listener.hook.cancel()
    let old = change { state, _ in
      let old = state.rest?.listeners
      state.rest?.listeners.removeAll { $0 === listener }
      state.list.noteChanged()
      return old
    }
    withExtendedLifetime(old) {}
  }

  var listenerCount: Int { state.withLock { $0.rest?.listeners.count ?? 0 } }
}

/// The end of one stream that the proxy has. It keeps no stream: one that nobody takes from any more ends.
private struct StreamSource<Element>: Sendable {
  let continuation: AsyncStream<UncheckedSendable<Element>>.Continuation
  let counter = StreamCounter()

  func yield(_ element: Element) {
    if case .dropped = continuation.yield(UncheckedSendable(element)) { counter.noteDropped() }
  }
}

extension AsyncStream.Continuation.BufferingPolicy {
  /// The policy for elements in a wrapper.
  fileprivate var rewrapped: AsyncStream<UncheckedSendable<Element>>.Continuation.BufferingPolicy {
    switch self {
    case .unbounded: .unbounded
    case .bufferingOldest(let count): .bufferingOldest(count)
    case .bufferingNewest(let count): .bufferingNewest(count)
    @unknown default: .unbounded
    }
  }
}

extension HookedMessage {
  func cannotCross(_ what: String) -> MessageError {
    MessageError(
      .isolationMismatch, of: receiver, selector, "\(what) is not known to be Sendable and may not cross to who listens"
    )
  }
}
