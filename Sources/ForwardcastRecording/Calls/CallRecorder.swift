// CallRecorder.swift: records calls as they begin and end.

import Forwardcast
import Synchronization

/// Records the calls of one or more ``RecordingProxy`` objects, in the order in which they began.
/// May be used from any thread. Objects in arguments are not copied. So if a value is not
/// `Sendable`, read it only in the isolation that sent it.
public final class CallRecorder: @unchecked Sendable {  // state is under a lock; for values of calls see above
  private struct State: @unchecked Sendable {  // used under the lock only
    var calls: [RecordedCall] = []
    /// The number of the first call in `calls`. Calls before it were removed.
    var first = 0
    var evicted = 0
    var redactions: [MessageSelector: Redaction] = [:]
    var listeners: [AsyncStream<Void>.Continuation] = []

    /// If there are more than 16 calls and at least twice `limit`, keeps only the last `limit`
    /// calls. Returns the removed calls.
    mutating func evict(beyond limit: Int) -> [RecordedCall] {
      guard calls.count > 16, calls.count / 2 >= limit else { return [] }
      let old = calls.count - limit
      defer { calls.removeFirst(old) }
      (first, evicted) = (first + old, evicted + old)
      return Array(calls.prefix(old))
    }

    /// Notifies listeners of a change. Can be called under the lock, because yielding runs no
    /// foreign code.
    mutating func notify() { listeners.removeAll { if case .terminated = $0.yield() { true } else { false } } }
  }

  private let state = Guarded(State())
  private static let order = Atomic<Int>(0)
  @TaskLocal private static var depths: [ObjectIdentifier: Int] = [:]

  private let limit: Int
  private let start: ContinuousClock.Instant?

  /// Creates an empty recorder, which drops the oldest calls if there are more than `limit`. If
  /// `takesTimes` is true, the recorder also records the ``RecordedCall/time`` and duration of each
  /// call.
  public init(keepingLast limit: Int = .max, takesTimes: Bool = false) {
    self.limit = max(0, limit)
    start = takesTimes ? .now : nil
  }

  /// Redacts arguments and, if `answer` is true, answers in later calls of a message. Also redacts
  /// the error texts of these calls, since they can reveal the arguments. `arguments` are indices
  /// from 0; `nil` means all. To decode a redacted recording, register the type ``RedactedValue``.
  /// - Precondition: the message has arguments with these indices.
  ///
  ///     recorder.redact("logIn:password:", arguments: [1])
  ///     print(recorder.calls[0])  // [account logIn: "ann" password: ‹redacted›]
  public func redact(_ selector: MessageSelector, arguments: Set<Int>? = nil, answer: Bool = false) {
    let count = selector.numberOfArguments
    for index in arguments ?? [] where !(0..<count).contains(index) {
      preconditionFailure("'\(selector)' has \(count) arguments, so there is none with the index \(index) to redact")
    }
    let redaction = Redaction(arguments: arguments, answer: answer)
    state.withLock { $0.redactions[selector] = redaction }
  }

  /// Redacts arguments of a key's message: see the overload for a selector.
  public func redact<R, each A>(
    _ message: Message<(repeat each A) -> R>, arguments: Set<Int>? = nil, answer: Bool = false
  ) {
    redact(message.selector, arguments: arguments, answer: answer)
  }

  /// The number of calls that were dropped because of the limit.
  public var forgottenCalls: Int { state.withLock { $0.evicted + max(0, $0.calls.count - limit) } }

  /// The calls so far, as one value.
  public var recording: Recording { Recording(calls) }

  /// The calls so far, in the order in which they began.
  public var calls: [RecordedCall] {
    // A test double reads the list at each call, so a copy is made only if calls must be left out.
    state.withLock { UncheckedSendable($0.calls.count > limit ? Array($0.calls.suffix(limit)) : $0.calls) }.value
  }

  /// Removes all calls. Calls in progress are not recorded when they end.
  public func removeAll() {
    _ = state.withLock { state in
      state.first += state.calls.count
      state.evicted = 0
      state.notify()
      return UncheckedSendable(exchange(&state.calls, with: []))
    }
  }

  /// Records a call with the outcome of `body`. Calls made in `body` are nested in this call.
  package func record(_ message: Invocation, to receiver: String, _ body: () throws -> ArgumentBox?) throws
    -> ArgumentBox?
  {
    let number = begin(message, to: receiver)
    let answer = Result { try CallRecorder.$depths.withValue(depthsInside, operation: body) }
    end(number, answer)
    return try answer.get()
  }

  nonisolated(nonsending) package func recordAndWait(
    _ message: Invocation, to receiver: String, _ body: nonisolated(nonsending) () async throws -> ArgumentBox?
  ) async throws -> ArgumentBox? {
    let number = begin(message, to: receiver)
    do {
      let answer = try await CallRecorder.$depths.withValue(depthsInside, operation: body)
      end(number, .success(answer))
      return answer
    } catch {
      end(number, .failure(error))
      throw error
    }
  }

  private var depthsInside: [ObjectIdentifier: Int] {
    CallRecorder.depths.merging([ObjectIdentifier(self): 1], uniquingKeysWith: +)
  }

  private func begin(_ message: Invocation, to receiver: String) -> Int {
    let depth = CallRecorder.depths[ObjectIdentifier(self)] ?? 0
    let message = UncheckedSendable(message)
    let time = start.map { $0.duration(to: .now) }
    let (number, _) = state.withLock { state in
      // Incremented under the lock, so that the numbers agree with the order of a recorder's calls.
      let order = CallRecorder.order.add(1, ordering: .relaxed).newValue
      let message = state.redactions[message.value.selector]?.apply(to: message.value) ?? message.value
      state.calls.append(
        RecordedCall(
          receiver: receiver, message: message, outcome: .inProgress, depth: depth, order: order, time: time))
      let number = state.first + state.calls.count - 1
      state.notify()
      return (number, UncheckedSendable(state.evict(beyond: limit)))
    }
    return number
  }

  private func end(_ number: Int, _ answer: Result<ArgumentBox?, any Error>) {
    let outcome: RecordedCall.Outcome =
      switch answer {
      case .success(let box): .answered(box)
      case .failure(is MessageNotTaken): .answered(nil)
      case .failure(let error): .failed(RecordedError(error))
      }
    let ended = UncheckedSendable(outcome)
    let time = start.map { $0.duration(to: .now) }
    state.withLock { state in
      if number >= state.first { state.calls[number - state.first].end(ended.value, at: time, state.redactions) }
      state.notify()
    }
  }

  /// Yields a value immediately and after changes. Ends when the iterating task is canceled.
  package var changes: AsyncStream<Void> {
    let (stream, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    listener.yield()
    state.withLock { $0.listeners.append(listener) }
    return stream
  }
}

/// Replaces a redacted value in a recorded call.
public struct RedactedValue: Hashable, Sendable, Codable, CustomStringConvertible {
  /// Creates a replacement. All replacements are equal.
  public init() {}

  public var description: String { "‹redacted›" }
}

struct Redaction: Sendable {
  /// The indices of the arguments, from 0; `nil` means all arguments.
  let arguments: Set<Int>?
  let answer: Bool

  func apply(to message: Invocation) -> Invocation {
    var message = message
    for index in message.arguments.indices where arguments?.contains(index) ?? true {
      message.arguments[index] = ArgumentBox(RedactedValue())
    }
    return message
  }

  /// The text of an error is always redacted, because it may reveal the arguments.
  func apply(to outcome: RecordedCall.Outcome) -> RecordedCall.Outcome {
    switch outcome {
    case .answered(let box?) where answer && !(box.value is Void): .answered(ArgumentBox(RedactedValue()))
    case .failed(let error): .failed(RecordedError(description: RedactedValue().description, type: error.type))
    default: outcome
    }
  }
}
