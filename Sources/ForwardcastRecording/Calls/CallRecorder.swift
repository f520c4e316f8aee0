// CallRecorder.swift: keeps calls as they begin and end.

import Forwardcast
import Synchronization

/// Keeps the calls of one or more ``RecordingProxy`` objects, in the order in which they began.
///
/// A recorder may be used from any thread. It hands out the arguments themselves: one whose type is not `Sendable` is to
/// be read where it was sent.
public final class CallRecorder: @unchecked Sendable {  // the lock guards the list; the values are as the comment says
  private struct State: @unchecked Sendable {  // values of any type, only ever reached under the lock
    var calls: [RecordedCall] = []
    /// The number of the first call in `calls`: those before were forgotten.
    var first = 0
    /// How many were forgotten because there were too many.
    var pushedOut = 0
    var redactions: [MessageSelector: Redaction] = [:]
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastListener = 0

    /// Takes out the oldest calls once there are twice as many as are kept: so that it is seldom, and many at once.
    mutating func pushOut(beyond limit: Int) -> [RecordedCall] {
      guard calls.count > 16, calls.count / 2 >= limit else { return [] }
      let old = calls.count - limit
      defer { calls.removeFirst(old) }
      (first, pushedOut) = (first + old, pushedOut + old)
      return Array(calls.prefix(old))
    }

    /// Tells that something has begun or ended, under the lock: nobody runs before it is left.
    func tell() { for listener in listeners.values { listener.yield() } }
  }

  private let state = Guarded(State())
  private static let order = Atomic<Int>(0)
  @TaskLocal private static var depths: [ObjectIdentifier: Int] = [:]

  private let limit: Int
  /// When the recorder was made; `nil` when no times are taken.
  private let start: ContinuousClock.Instant?

  /// A recorder that has kept nothing yet.
  ///
  /// - Parameters:
  ///   - limit: how many calls are kept: of more, the last. All are kept unless it is given.
  ///   - takesTimes: whether each call says when it began and how long it took: see ``RecordedCall/time``.
  public init(keepingLast limit: Int = .max, takesTimes: Bool = false) {
    self.limit = max(0, limit)
    start = takesTimes ? .now : nil
  }

  /// Keeps no arguments of a message, or not those; from the next call on. The text of an error of such a call is not kept
  /// either, since it may say what they were. Who reads the recording as data names ``RedactedValue`` among its types.
  ///
  ///     recorder.redact("logIn:password:", arguments: [1])
  ///     print(recorder.calls[0])  // [account logIn: "ann" password: ‹redacted›]
  ///
  /// - Parameters:
  ///   - selector: the name of the message.
  ///   - arguments: the numbers of the arguments, counted from 0; all unless given.
  ///   - answer: whether the answer is left out too.
  public func redact(_ selector: MessageSelector, arguments: Set<Int>? = nil, answer: Bool = false) {
    let redaction = Redaction(arguments: arguments, answer: answer)
    state.withLock { $0.redactions[selector] = redaction }
  }

  /// Keeps no arguments of the message of a key, or not those: see ``redact(_:arguments:answer:)-(MessageSelector,_,_)``.
  public func redact<R, each A>(
    _ message: Message<(repeat each A) -> R>, arguments: Set<Int>? = nil, answer: Bool = false
  ) {
    redact(message.selector, arguments: arguments, answer: answer)
  }

  /// How many calls were forgotten because there were more than are kept.
  public var forgottenCalls: Int { state.withLock { $0.pushedOut + max(0, $0.calls.count - limit) } }

  /// What has been kept so far.
  public var recording: Recording { Recording(calls) }

  /// The calls that have been kept so far, in the order in which they began.
  public var calls: [RecordedCall] { state.withLock { UncheckedSendable($0.calls.suffix(limit)) }.value.map { $0 } }

  /// Forgets all calls. One in progress is not recorded when it ends.
  public func removeAll() {
    _ = state.withLock { state in
      state.first += state.calls.count
      state.pushedOut = 0
      state.tell()
      return UncheckedSendable(exchange(&state.calls, with: []))
    }
  }

  /// Keeps a call and what came of it: what `body` answers, or throws. Recorded calls that it makes are noted as inside of it.
  package func record(_ message: Invocation, to receiver: String, _ body: () throws -> ArgumentBox?) throws
    -> ArgumentBox?
  {
    let number = begin(message, to: receiver)
    let answer = Result { try CallRecorder.$depths.withValue(depthsInside, operation: body) }
    end(number, answer)
    return try answer.get()
  }

  /// The same of a call that may suspend.
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

  /// Notes that a call begins. Gives its number.
  private func begin(_ message: Invocation, to receiver: String) -> Int {
    let depth = CallRecorder.depths[ObjectIdentifier(self)] ?? 0
    let message = UncheckedSendable(message)
    let time = start.map { $0.duration(to: .now) }
    let (number, _) = state.withLock { state in
      // Under the lock, so that the order of a recorder's calls is that of their numbers.
      let order = CallRecorder.order.add(1, ordering: .relaxed).newValue
      let message = state.redactions[message.value.selector]?.apply(to: message.value) ?? message.value
      state.calls.append(
        RecordedCall(
          receiver: receiver, message: message, outcome: .inProgress, depth: depth, order: order, time: time))
      let number = state.first + state.calls.count - 1
      state.tell()
      return (number, UncheckedSendable(state.pushOut(beyond: limit)))
    }
    return number
  }

  /// Notes what came of a call. One that its receiver has not taken is answered with nothing.
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
      state.tell()
    }
  }

  /// A value now, and when something has begun or ended since the last one; ends with the task that waits for it.
  package var changes: AsyncStream<Void> {
    let (stream, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    listener.yield()
    let number = state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = listener
      return state.lastListener
    }
    listener.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return stream
  }
}

/// What stands in a recorded call for a value that was not kept.
public struct RedactedValue: Hashable, Sendable, Codable, CustomStringConvertible {
  public init() {}

  public var description: String { "‹redacted›" }
}

/// What is not kept of the calls of one message.
struct Redaction: Sendable {
  /// The numbers of the arguments, counted from 0; `nil` for all.
  let arguments: Set<Int>?
  let answer: Bool

  func apply(to message: Invocation) -> Invocation {
    var message = message
    for index in message.arguments.indices where arguments?.contains(index) ?? true {
      message.arguments[index] = ArgumentBox(RedactedValue())
    }
    return message
  }

  /// An error may say what the arguments were.
  func apply(to outcome: RecordedCall.Outcome) -> RecordedCall.Outcome {
    switch outcome {
    case .answered(let box?) where answer && !(box.value is Void): .answered(ArgumentBox(RedactedValue()))
    case .failed(let error): .failed(RecordedError(description: RedactedValue().description, type: error.type))
    default: outcome
    }
  }
}
