// MessageStream.swift: the messages of a proxy as an asynchronous sequence.

import Synchronization

/// The messages that go through a proxy, for a `for await` loop.
///
///     for await (chat, data) in client.messages(for: .onAddMsg) {
///       archive(chat, data)
///     }
///
/// A message appears when it leaves, with the arguments that its targets get; it appears once for each time that hooks let it
/// through. Messages of one sender come in the order in which they were sent.
///
/// The sequence listens from its creation. It ends after the proxy does, once its buffer is empty, when the task that iterates is
/// cancelled, or when nobody iterates any more; then it is removed from the proxy. Each call of `messages` makes its own listener.
public struct MessageStream<Element>: AsyncSequence {
  /// Listening does not fail.
  public typealias Failure = Never

  @usableFromInline let stream: AsyncStream<Element>
  @usableFromInline let counter: StreamCounter

  @export(implementation)
  init(_ stream: AsyncStream<Element>, _ counter: StreamCounter) { (self.stream, self.counter) = (stream, counter) }

  /// How many messages the buffer has dropped by its policy since the sequence was made.
  public var dropped: Int { counter.dropped }

  /// An iterator. Iterators of one stream share its messages.
  @inlinable
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator { stream.makeAsyncIterator() }
}

extension MessageStream: Sendable where Element: Sendable {}

@usableFromInline
final class StreamCounter: Sendable {
  private let count = Atomic<Int>(0)

  @usableFromInline init() {}

  var dropped: Int { count.load(ordering: .acquiring) }
  @usableFromInline func noteDropped() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

/// A message that succeeded, with its answers: an element of `exchanges(for:)`.
public struct MessageExchange<R, each A> {
  /// The arguments that the targets got.
  public let arguments: (repeat each A)
  /// The answers in the order of delivery, as far as the sender asked for them.
  public let answers: [R]
}

extension MessageExchange: Sendable where R: Sendable, repeat each A: Sendable {}

extension MulticastCore {
  /// A stream of what `element` makes of each message. Specialized in the user's module, where the types are known. The source does
  /// not retain the stream, so that one nobody iterates ends.
  ///
  /// Where it is shared, messages with arguments not known to be `Sendable` are reported to `onError` instead, as are those that
  /// `element` throws for. With `ofAnswers` messages appear when they have succeeded, else when they leave.
  @export(implementation)
  func stream<Element>(
    _ selector: MessageSelector?, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isShared: Bool,
    ofAnswers: Bool = false, _ element: @escaping (HookedMessage, MessageAnswers?) throws -> Element
  ) -> MessageStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
    let counter = StreamCounter()
    continuation.onTermination = listen(selector, isShared: isShared, ofAnswers: ofAnswers) { message, answers in
      // Not shared: it stays in the isolation of its proxy.
      nonisolated(unsafe) let element = try element(message, answers)
      if case .dropped = continuation.yield(element) { counter.noteDropped() }
    } finish: {
      continuation.finish()
    }
    return MessageStream(stream, counter)
  }

  /// Installs a listener; returns what removes it.
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
    let hook = Hook(selector, ofAnswers ? .after { tell($0, $1) } : .before { tell($0, nil) }, finish: finish)
    change { state, garbage in
      hook.number = state.madeRest.listeners.append(hook)
      noteHooksChanged(for: hook.selector, &state, &garbage)
    }
    let place = HookRegistration(hook) { [link] in link.core?.uninstall($0) }
    return { _ in place.cancel() }
  }

  var listenerCount: Int { state.withLock { $0.rest?.listeners.count ?? 0 } }
}

extension HookedMessage {
  func cannotCross(_ what: String) -> MessageError {
    MessageError(
      .isolationMismatch, of: receiver, selector,
      "\(what) is not known to be Sendable and may not leave the sender's context for a stream; make its type Sendable"
    )
  }
}
