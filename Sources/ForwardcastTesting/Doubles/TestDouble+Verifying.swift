// TestDouble+Verifying.swift: calls of a double that were not expected, and arguments.

import Forwardcast

extension TestDouble {
  /// Expects that there was no call besides those that expectations were about.
  ///
  /// - Returns: whether it was so.
  @discardableResult
  public func verifyNoOtherCalls(
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    let others = target.book.unverifiedCalls
    return target.book.expect(
      others.isEmpty, FailureText.unwanted(others, of: target.book, "no other call"),
      at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Expects that there was no call at all.
  ///
  /// - Returns: whether it was so.
  @discardableResult
  public func verifyNoCalls(
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> Bool {
    let calls = calls
    return target.book.expect(
      calls.isEmpty, FailureText.unwanted(calls, of: target.book, "no call"),
      at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// The arguments of all calls of a message, in the order of the calls.
  ///
  ///     #expect(store.arguments(of: Messages.load) == ["a", "b"])
  ///
  /// - Returns: a tuple for each call; for a message of one argument the argument itself. A call whose arguments are of other
  ///   types is left out.
  public func arguments<R, each A>(of message: Message<(repeat each A) -> R>) -> [(repeat each A)] {
    var found: [(repeat each A)] = []
    for call in calls where call.selector == message.selector {
      if let arguments = try? opened(call.arguments, as: repeat (each A).self) { found.append(arguments) }
    }
    return found
  }
}

/// Boxes as the values that a message was typed with.
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
