// Stub.swift: what a double does with calls that match.

import Forwardcast

/// What is done with one call.
struct StubOutcome: @unchecked Sendable {  // immutable; closures of a double that is shared are @Sendable
  enum Kind {
    case answer(ArgumentBox)
    case error(any Error)
    case body(([ArgumentBox]) throws -> ArgumentBox)
    /// The real object gets the call.
    case fallback
  }

  let kind: Kind
  let delay: (@Sendable () async throws -> Void)?
}

/// What a double does with calls that match: one thing after another, the last one for all that follow.
final class Stub: Sendable {
  let match: CallMatch
  private let state = Guarded<(outcomes: [StubOutcome], next: Int)>(([], 0))

  init(_ match: CallMatch) { self.match = match }

  func add(_ outcome: StubOutcome) { state.withLock { $0.outcomes.append(outcome) } }

  /// What is to be done with the call that has come; `nil` where nothing was said.
  func take() -> StubOutcome? {
    state.withLock { state in
      guard !state.outcomes.isEmpty else { return nil }
      defer { state.next += 1 }
      return state.outcomes[min(state.next, state.outcomes.count - 1)]
    }
  }
}

/// Says what a double does with calls that match: see ``TestDouble/stub(_:_:)``.
///
///     // fails once, then answers:
///     store.stub(Messages.load, "a").fails(Busy()).answers("text")
///
/// Each thing that is said is for one call, in order; the last is for all that follow.
public struct Stubbing<Face: MulticastSending, R, each A> {
  let stub: Stub
  private var delay: (@Sendable () async throws -> Void)?

  init(_ stub: Stub) { self.stub = stub }

  fileprivate func adding(_ kind: StubOutcome.Kind) -> Stubbing {
    stub.add(StubOutcome(kind: kind, delay: delay))
    return self
  }

  /// Answers with these values, one after another.
  ///
  /// Each answer is the value itself: where a double is shared between threads, they share it too.
  @discardableResult
  public func answers(_ first: R, _ others: R...) -> Stubbing {
    for answer in [first] + others { _ = adding(.answer(ArgumentBox(uncheckedSendable: answer))) }
    return self
  }

  /// Throws an error. A requirement that does not throw gives it to the proxy's `onError` instead.
  @discardableResult
  public func fails(_ error: any Error) -> Stubbing { adding(.error(error)) }

  /// Runs a closure with the arguments and answers with what it gives.
  /// - Parameter body: gets the arguments; what it throws is the error of the call.
  @discardableResult
  public func runs(_ body: @escaping (repeat each A) throws -> R) -> Stubbing { adding(.body(opening(body))) }

  /// Gives the call to the real object: see ``TestDouble/fallsBack(to:)``.
  @discardableResult
  public func fallsBack() -> Stubbing { adding(.fallback) }

  /// Delays what is said behind this: until the test has moved `clock` by so much after the call.
  ///
  /// Only a requirement that suspends can be delayed; a call of another one is a failure.
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

extension Stubbing where Face: Sendable {
  /// Runs a closure with the arguments and answers with what it gives.
  @discardableResult
  public func runs(_ body: @escaping @Sendable (repeat each A) throws -> R) -> Stubbing { adding(.body(opening(body))) }
}

extension Stubbing where R == Void {
  /// Does nothing, successfully.
  @discardableResult
  public func succeeds() -> Stubbing { answers(()) }
}
