// MessageStream.swift: the messages of a proxy as an asynchronous sequence.

import Synchronization

/// The messages of a proxy, for a `for await` loop.
///
///     for await (chat, data) in client.messages(for: .onAddMsg) {
///       archive(chat, data)
///     }
///
/// A message appears when it is sent, with the arguments that its targets get. If a hook proceeds
/// several times, the message appears several times. Messages of one sender appear in sending
/// order.
///
/// Each call of `messages` returns an independent sequence of later messages. The sequence ends
/// when the iterating task is canceled, when neither the stream nor an iterator remains, or when
/// the proxy is deallocated and the buffer is empty.
public struct MessageStream<Element>: AsyncSequence {
  /// A stream never fails.
  public typealias Failure = Never

  @usableFromInline let stream: AsyncStream<Element>
  @usableFromInline let counter: StreamCounter

  @export(implementation)
  init(_ stream: AsyncStream<Element>, _ counter: StreamCounter) { (self.stream, self.counter) = (stream, counter) }

  /// The number of messages that the buffer has dropped.
  public var dropped: Int { counter.dropped }

  /// An iterator. All iterators of a stream share its messages.
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
  /// The answers in delivery order, if the sender requested any.
  public let answers: [R]
}

extension MessageExchange: Sendable where R: Sendable, repeat each A: Sendable {}

extension MulticastCore {
  /// A stream of messages, each converted by `element`. `onError` gets errors of `element` and, if
  /// `isShared` is true, an error for each message with an argument that is not known to be
  /// `Sendable`. With `ofAnswers`, a message appears only after it has succeeded. The hook does not
  /// retain the stream.
  @export(implementation)
  func stream<Element>(
    _ selector: MessageSelector?, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy, isShared: Bool,
    ofAnswers: Bool = false, _ element: @escaping (HookedMessage, MessageAnswers?) throws -> Element
  ) -> MessageStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
    let counter = StreamCounter()
    continuation.onTermination = listen(selector, isShared: isShared, ofAnswers: ofAnswers) { message, answers in
      // A stream that is not shared remains in the proxy's isolation.
      nonisolated(unsafe) let element = try element(message, answers)
      if case .dropped = continuation.yield(element) { counter.noteDropped() }
    } finish: {
      continuation.finish()
    }
    return MessageStream(stream, counter)
  }

  /// Installs a hook for a stream. Returns a function that removes the hook.
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
