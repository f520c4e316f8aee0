// Stub.swift: answers to matching calls.

import Forwardcast

struct StubOutcome: @unchecked Sendable {  // immutable; closures of a shared double are @Sendable
  /// Returns `nil` to pass the call to the real object.
  let answer: ([ArgumentBox]) throws -> ArgumentBox?
  let delay: (@Sendable () async throws -> Void)?
  /// The error that `answer` throws, and the line of the stub, where an uncaught error is reported.
  var failure: (error: any Error, place: SourcePlace)?
}

/// The outcomes of matching calls, in order. The last outcome also applies to all later calls.
final class Stub: Sendable {
  let match: CallMatch
  private let state = Guarded<(outcomes: [StubOutcome], next: Int)>(([], 0))

  init(_ match: CallMatch) { self.match = match }

  func add(_ outcome: StubOutcome) { state.withLock { $0.outcomes.append(outcome) } }

  func take() -> StubOutcome? {
    state.withLock { state in
      guard !state.outcomes.isEmpty else { return nil }
      defer { state.next += 1 }
      return state.outcomes[min(state.next, state.outcomes.count - 1)]
    }
  }

  /// The line that stubbed `error`; `nil` if the error is not the stub's.
  func place(of error: any Error) -> SourcePlace? {
    let failures = state.withLock { $0.outcomes }.compactMap(\.failure)
    return failures.last { isIdentical($0.error, error) }?.place
  }
}

/// States what a double does with matching calls: see ``TestDouble/stub(_:_:)``. Each outcome
/// applies to one call, in order. The last outcome also applies to all later calls.
///
///     // fails once, then answers:
///     store.stub(Messages.load, "a").fails(Busy()).answers("text")
public struct Stubbing<Proxy: MulticastSending, R, each A> {
  let stub: Stub
  private var delay: (@Sendable () async throws -> Void)?

  init(_ stub: Stub) { self.stub = stub }

  fileprivate func adding(
    failure: (error: any Error, place: SourcePlace)? = nil, _ answer: @escaping ([ArgumentBox]) throws -> ArgumentBox?
  ) -> Stubbing {
    stub.add(StubOutcome(answer: answer, delay: delay, failure: failure))
    return self
  }

  /// Answers with these values, one for each call. Threads that share the double share the values.
  @discardableResult
  public func answers(_ first: R, _ others: R...) -> Stubbing {
    for box in ([first] + others).map({ ArgumentBox(uncheckedSendable: $0) }) { _ = adding { _ in box } }
    return self
  }

  /// Throws an error. If the requirement is not `throws`, the proxy's `onError` receives the error.
  /// Without `onError`, the call is reported as a failure at the line of this stub.
  @discardableResult
  public func fails(
    _ error: any Error, fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Stubbing {
    let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
    return adding(failure: (error, place)) { _ in throw error }
  }

  /// Answers with the result of `body`, or fails with its error. An error that reaches neither the
  /// caller nor `onError` is a failure at the line that created the double.
  @discardableResult
  public func runs(isolation: (any Actor)? = nil, _ body: @escaping (repeat each A) throws -> R) -> Stubbing {
    adding(opening(body))
  }

  /// Passes the call to the real object: see ``TestDouble/fallsBack(to:)``.
  @discardableResult
  public func fallsBack() -> Stubbing { adding { _ in nil } }

  /// Delays the outcomes that are stated after this delay. Each outcome happens when `clock` has
  /// advanced by `duration` since the call. Only async requirements can be delayed. A delayed call
  /// of a synchronous requirement is a failure.
  public func delayed<C: Clock>(by duration: C.Duration, on clock: C) -> Stubbing {
    var delayed = self
    delayed.delay = { try await clock.sleep(until: clock.now.advanced(by: duration), tolerance: nil) }
    return delayed
  }

  fileprivate func opening(_ body: @escaping (repeat each A) throws -> R) -> ([ArgumentBox]) throws -> ArgumentBox {
    { boxes in
      let arguments = try opened(boxes, as: repeat (each A).self)
      return ArgumentBox(uncheckedSendable: try body(repeat each arguments))
    }
  }
}

extension Stubbing where Proxy: Sendable {
  /// Rejects a function value that is not `Sendable`: see `closureMustBeSendable()`.
  @discardableResult
  public func runs(
    isolation: (any Actor)? = #closureMustBeSendable, _ body: @escaping (repeat each A) throws -> R
  ) -> Stubbing { adding(opening(body)) }

  /// Answers with the result of a closure.
  @discardableResult
  public func runs(_ body: @escaping @Sendable (repeat each A) throws -> R) -> Stubbing { adding(opening(body)) }
}

extension Stubbing where R == Void {
  /// Does nothing and succeeds.
  @discardableResult
  public func succeeds() -> Stubbing { answers(()) }
}
