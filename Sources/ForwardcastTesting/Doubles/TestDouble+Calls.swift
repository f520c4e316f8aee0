// TestDouble+Calls.swift: expectations of a double's calls.

import Forwardcast

// The overloads are the same as those of ``TestDouble/stub(_:)``, for the reason stated there.

extension TestDouble {
  /// Expects calls of a message without arguments: see the overload for one argument.
  @discardableResult
  public func verify<R>(
    _ message: Message<() -> R>, times: CallCount = .atLeast(1),
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    call(message).verify(times: times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Expects calls of a message with matching arguments.
  ///
  ///     store.verify(Messages.save, "a", .any)  // at least once
  ///     store.verify(Messages.save, .any, .any, times: .never)
  ///
  /// An argument is a value or a ``Match``. A failure is reported at the line of this call and
  /// shows expected and actual calls side by side. Returns true if there were `times` calls.
  @discardableResult
  public func verify<R, A>(
    _ message: Message<(A) -> R>, _ first: Match<A>, times: CallCount = .atLeast(1),
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    call(message, first).verify(times: times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Expects calls of a message of two arguments: see the overload for one argument.
  @discardableResult
  public func verify<R, A, B>(
    _ message: Message<(A, B) -> R>, _ first: Match<A>, _ second: Match<B>, times: CallCount = .atLeast(1),
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    call(message, first, second).verify(times: times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Expects calls of a message of three arguments: see the overload for one argument.
  @discardableResult
  public func verify<R, A, B, C>(
    _ message: Message<(A, B, C) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>,
    times: CallCount = .atLeast(1),
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    call(message, first, second, third)
      .verify(times: times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Expects calls of a message of four or more arguments: see the overload for one argument.
  @discardableResult
  public func verify<R, A, B, C, D, each E>(
    _ message: Message<(A, B, C, D, repeat each E) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>,
    _ fourth: Match<D>, _ others: repeat Match<each E>, times: CallCount = .atLeast(1),
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    call(message, first, second, third, fourth, repeat each others)
      .verify(times: times, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// The calls of a message without arguments: see the overload for one argument.
  public func call<R>(_ message: Message<() -> R>) -> ExpectedCall {
    ExpectedCall(book: target.book, match: CallMatch(message))
  }

  /// The calls of a message with matching arguments, to wait for them or to expect them in an
  /// order.
  ///
  ///     await store.call(Messages.save, "a", .any).wait(times: 2)
  ///     verifyOrder(store.call(Messages.load, "a"), log.call(Logging.note, .any))
  public func call<R, A>(_ message: Message<(A) -> R>, _ first: Match<A>) -> ExpectedCall {
    ExpectedCall(book: target.book, match: CallMatch(message, first))
  }

  /// The calls of a message of two arguments: see the overload for one argument.
  public func call<R, A, B>(_ message: Message<(A, B) -> R>, _ first: Match<A>, _ second: Match<B>) -> ExpectedCall {
    ExpectedCall(book: target.book, match: CallMatch(message, first, second))
  }

  /// The calls of a message of three arguments: see the overload for one argument.
  public func call<R, A, B, C>(
    _ message: Message<(A, B, C) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>
  ) -> ExpectedCall {
    ExpectedCall(book: target.book, match: CallMatch(message, first, second, third))
  }

  /// The calls of a message of four or more arguments: see the overload for one argument.
  public func call<R, A, B, C, D, each E>(
    _ message: Message<(A, B, C, D, repeat each E) -> R>, _ first: Match<A>, _ second: Match<B>, _ third: Match<C>,
    _ fourth: Match<D>, _ others: repeat Match<each E>
  ) -> ExpectedCall {
    ExpectedCall(book: target.book, match: CallMatch(message, first, second, third, fourth, repeat each others))
  }

  /// Expects that earlier expectations cover all calls. Returns true if they do.
  @discardableResult
  public func verifyNoOtherCalls(
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    let others = target.book.unverifiedCalls
    return target.book.expect(
      others.isEmpty, FailureText.unwanted(others, of: target.book, "no other call"),
      at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Expects no call at all. Returns true if there was none.
  @discardableResult
  public func verifyNoCalls(
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    let calls = calls
    return target.book.expect(
      calls.isEmpty, FailureText.unwanted(calls, of: target.book, "no call"),
      at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// The arguments of all calls of a message, in the order of the calls. Each element is a call's
  /// only argument, or the tuple of its arguments. Calls with other types are omitted.
  ///
  ///     #expect(store.arguments(of: Messages.load) == ["a", "b"])
  public func arguments<R, each A>(of message: Message<(repeat each A) -> R>) -> [(repeat each A)] {
    var found: [(repeat each A)] = []
    for call in calls where call.selector == message.selector {
      if let arguments = try? opened(call.arguments, as: repeat (each A).self) { found.append(arguments) }
    }
    return found
  }
}

func opened<each A>(_ boxes: [ArgumentBox], as types: repeat (each A).Type) throws -> (repeat each A) {
  var index = 0
  func next<T>(_ type: T.Type) throws -> T {
    guard boxes.indices.contains(index) else { throw MissingArgument() }
    defer { index += 1 }
    return try boxes[index].unbox(as: type)
  }
  return (repeat try next(each types))
}

private struct MissingArgument: Error {}
