// TestDouble+Stubs.swift: what a double does with calls that match.

import Forwardcast

// One form for each number of arguments up to three: in a pack the compiler finds neither what a literal stands for nor that
// a closure written in place is `@Sendable`. In the last form that goes for the arguments from the fifth on.

extension TestDouble {
  /// Says what the double does with calls of a message without arguments: see the form for one.
  @discardableResult
  public func stub<R>(_ message: Message<() -> R>) -> Stubbing<Face, R> { adding(CallMatch(message)) }

  /// Says what the double does with calls of a message whose arguments match.
  ///
  ///     store.stub(Messages.load, .any).fails(NotFound())
  ///     // the stub that was added last comes first:
  ///     store.stub(Messages.load, "a").answers("text")
  ///
  /// Without anything said, a message that returns nothing is allowed, which matters to a strict double.
  @discardableResult
  public func stub<R, A>(_ message: Message<(A) -> R>, _ first: Match<A>) -> Stubbing<Face, R, A> {
    adding(CallMatch(message, first))
  }

  /// Says what the double does with calls of a message of two arguments: see the form for one.
  @discardableResult
  public func stub<R, A, B>(_ message: Message<(A, B) -> R>, _ first: Match<A>, _ second: Match<B>) -> Stubbing<
    Face, R, A, B
  > {
    adding(CallMatch(message, first, second))
  }

  /// Says what the double does with calls of a message of three arguments: see the form for one.
  @discardableResult
  public func stub<R, A, B, C>(
    _ message: Message<(A, B, C) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>
  ) -> Stubbing<Face, R, A, B, C> {
    adding(CallMatch(message, first, second, third))
  }

  /// Says what the double does with calls of a message of four arguments or more: see the form for one.
  @discardableResult
  public func stub<R, A, B, C, D, each E>(
    _ message: Message<(A, B, C, D, repeat each E) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>,
    _ fourth: Match<D>, _ others: repeat Match<each E>
  ) -> Stubbing<Face, R, A, B, C, D, repeat each E> {
    adding(CallMatch(message, first, second, third, fourth, repeat each others))
  }

  private func adding<R, each A>(_ match: CallMatch) -> Stubbing<Face, R, repeat each A> {
    let stub = Stub(match)
    target.stubs.withLock { $0.append(stub) }
    return Stubbing(stub)
  }
}
