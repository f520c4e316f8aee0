// TestDouble+Stubs.swift: stubs of a double.

import Forwardcast

// The first arguments have their own overloads, because in a parameter pack the compiler infers
// neither the type of a literal nor `@Sendable`. The last overload has this limit from the fifth
// argument on.

extension TestDouble {
  /// Stubs calls of a message without arguments: see the overload for one argument.
  @discardableResult
  public func stub<R>(_ message: Message<() -> R>) -> Stubbing<Proxy, R> { adding(CallMatch(message)) }

  /// Stubs calls of a message with matching arguments. In a strict double, a stub without outcomes
  /// allows a message that returns nothing.
  ///
  ///     store.stub(Messages.load, .any).fails(NotFound())
  ///     // the stub that was added last takes precedence:
  ///     store.stub(Messages.load, "a").answers("text")
  @discardableResult
  public func stub<R, A>(_ message: Message<(A) -> R>, _ first: Match<A>) -> Stubbing<Proxy, R, A> {
    adding(CallMatch(message, first))
  }

  /// Stubs calls of a message of two arguments: see the overload for one argument.
  @discardableResult
  public func stub<R, A, B>(_ message: Message<(A, B) -> R>, _ first: Match<A>, _ second: Match<B>) -> Stubbing<
    Proxy, R, A, B
  > {
    adding(CallMatch(message, first, second))
  }

  /// Stubs calls of a message of three arguments: see the overload for one argument.
  @discardableResult
  public func stub<R, A, B, C>(
    _ message: Message<(A, B, C) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>
  ) -> Stubbing<Proxy, R, A, B, C> {
    adding(CallMatch(message, first, second, third))
  }

  /// Stubs calls of a message of four or more arguments: see the overload for one argument.
  @discardableResult
  public func stub<R, A, B, C, D, each E>(
    _ message: Message<(A, B, C, D, repeat each E) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>,
    _ fourth: Match<D>, _ others: repeat Match<each E>
  ) -> Stubbing<Proxy, R, A, B, C, D, repeat each E> {
    adding(CallMatch(message, first, second, third, fourth, repeat each others))
  }

  private func adding<R, each A>(_ match: CallMatch) -> Stubbing<Proxy, R, repeat each A> {
    let stub = Stub(match)
    target.stubs.withLock { $0.append(stub) }
    return Stubbing(stub)
  }
}
