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
  public typealias Failure = Never

  @usableFromInline let stream: AsyncStream<Element>
  @usableFromInline let counter: StreamCounter

  @export(implementation)
  init(_ stream: AsyncStream<Element>, _ counter: StreamCounter) { (self.stream, self.counter) = (stream, counter) }

  /// How many messages the buffer has given up since the sequence was made, as its policy says: what a slow listener missed.
  public var dropped: Int { counter.dropped }

  /// An iterator. A stream has one buffer: iterators share its messages.
  @inlinable
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator { stream.makeAsyncIterator() }
}

extension MessageStream: Sendable where Element: Sendable {}

/// What a stream's buffer gave up.
@usableFromInline
final class StreamCounter: Sendable {
  private let count = Atomic<Int>(0)

  @usableFromInline init() {}

  var dropped: Int { count.load(ordering: .acquiring) }
  @usableFromInline func noteDropped() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
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
  /// Specialised in the user's module, as the loops are: there the types are known. The stream's source keeps no stream, so one
  /// that nobody takes from any more ends.
  /// - Parameters:
  ///   - isShared: whether the stream may be used in another isolation than the senders': then only arguments that are known
  ///     to be `Sendable` are let through, and others are told to `onError`.
  ///   - ofAnswers: whether messages come when they have succeeded, with their answers; else when they leave.
  ///   - element: may throw for a message that is not of its types, which is told to `onError`. A message is not stopped by
  ///     who listens to it.
  @export(implementation)
  func stream<Element>(
    _ selector: MessageSelector?, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isShared: Bool,
    ofAnswers: Bool = false, _ element: @escaping (HookedMessage, MessageAnswers?) throws -> Element
  ) -> MessageStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
    let counter = StreamCounter()
    continuation.onTermination = listen(selector, isShared: isShared, ofAnswers: ofAnswers) { message, answers in
      // What is not Sendable stays in the isolation of a proxy that is not.
      nonisolated(unsafe) let element = try element(message, answers)
      if case .dropped = continuation.yield(element) { counter.noteDropped() }
    } finish: {
      continuation.finish()
    }
    return MessageStream(stream, counter)
  }

  /// Installs a listener. Gives what takes it out again.
  @usableFromInline
  @inline(never) func listen(
    _ selector: MessageSelector?, isShared: Bool, ofAnswers: Bool,
    _ take: @escaping (HookedMessage, MessageAnswers?) throws -> Void, finish: @escaping @Sendable () -> Void
  ) -> @Sendable (Any) -> Void {
    nonisolated(unsafe) let take = take
    let tell: @Sendable (HookedMessage, MessageAnswers?) -> Void = { [link] message, answers in
      do {
        if isShared, !message.arguments.crosses { throw message.cannotCross("an argument") }
        try take(message, answers)
      } catch {
        link.core?.report(error, message.selector, nil, receiver: "a stream of messages")
      }
    }
    let hook = Hook(selector, ofAnswers ? .after { tell($0, $1) } : .before { tell($0, nil) })
    change { state, _ in
      state.madeRest.listeners.append(MessageListener(hook, finish: finish))
      state.list.noteChanged()
    }
    let place = HookRegistration(hook) { [link] in link.core?.uninstall($0) }
    return { _ in place.cancel() }
  }

  var listenerCount: Int { state.withLock { $0.rest?.listeners.count ?? 0 } }
}

extension HookedMessage {
  func cannotCross(_ what: String) -> MessageError {
    MessageError(
      .isolationMismatch, of: receiver, selector, "\(what) is not known to be Sendable and may not cross to who listens"
    )
  }
}
