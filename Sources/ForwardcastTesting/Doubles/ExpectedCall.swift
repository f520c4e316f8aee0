// ExpectedCall.swift: expectations about calls of one message.

import Forwardcast
import ForwardcastRecording

/// Calls of one message of one double with matching arguments: see ``TestDouble/call(_:_:)``.
///
///     verifyOrder(store.call(Messages.save, "a", .any), log.call(Logging.note, .any))
///     await store.call(Messages.save, "a", .any).wait(times: 2)
public struct ExpectedCall: Sendable, CustomStringConvertible {
  let book: CallBook
  let match: CallMatch

  /// The double and the call: `Store save("a", count: any)`.
  public var description: String { "\(book.name) \(call)" }

  var call: String { book.text(match) }

  /// The number of matching calls so far. Examines every call of the double.
  public var count: Int { matching.count }

  var matching: [RecordedCall] { book.calls.filter { match.accepts($0.message) } }

  /// Suspends until the double has received `times` matching calls. Returns true if it has.
  ///
  /// On success, captures the arguments. The wait also ends after `limit`, or when the task is
  /// canceled, for example by a test's time limit. Both are failures, reported at the line of this
  /// call. State a `limit` if tests have no time limit, as in XCTest.
  @discardableResult
  nonisolated(nonsending) public func wait(
    times: Int = 1, within limit: Duration? = nil, fileID: String = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async -> Bool {
    if let limit { _ = await come(times) { try await Deadline(after: limit).sleep() } } else { await come(times) }
    let found = matching
    book.markVerified(found)
    if found.count >= times { for call in found { match.keepArguments(of: call.message) } }
    let end = limit.flatMap { Task.isCancelled ? nil : "within \($0)" } ?? "when the test was canceled"
    return book.expect(
      found.count >= times, FailureText.waited(times, for: self, found: found.count, end),
      at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Expects that no matching call happens before or during the wait. Suspends until the time is
  /// over or a matching call happens. Returns true if there was no matching call.
  ///
  ///     let note = log.call(Logging.note, .any)
  ///     async let quiet = note.doesNotCome(within: .seconds(5), on: clock)
  ///     await clock.waitForSleepers()
  ///     clock.advance(by: .seconds(5))
  ///     _ = await quiet
  ///
  /// Waits in real time, unless the test passes a clock and advances it. A canceled wait is a
  /// failure too. Failures are reported at the line of this call.
  @discardableResult
  nonisolated(nonsending) public func doesNotCome(
    within limit: Duration, on clock: (any Clock<Duration>)? = nil, fileID: String = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) async -> Bool {
    let isOver = await come(1) {
      if let clock { try await clock.sleep(for: limit) } else { try await Deadline(after: limit).sleep() }
    }
    let found = matching
    book.markVerified(found)
    return book.expect(
      isOver && found.isEmpty, FailureText.came(self, found: found.count, within: limit),
      at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  nonisolated(nonsending) private func come(_ times: Int) async {
    for await _ in book.recorder.changes where matching.count >= times { break }
  }

  /// Waits for calls or for `sleep`. Returns true if `sleep` ended first and was not canceled.
  nonisolated(nonsending) private func come(
    _ times: Int, before sleep: @escaping @Sendable () async throws -> Void
  ) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await come(times)
        return false
      }
      group.addTask { (try? await sleep()) != nil }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
  }

  /// Expects a number of matching calls so far. Returns true if the number is as expected.
  @discardableResult
  public func verify(
    times: CallCount = .atLeast(1), fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
  ) -> Bool {
    let found = matching
    for call in found { match.keepArguments(of: call.message) }
    book.markVerified(found)
    return book.expect(
      times.accepts(found.count), FailureText.count(times, of: self, found: found.count),
      at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  func accepts(_ entry: BookedCall) -> Bool { book === entry.book && match.accepts(entry.call.message) }
}

/// Expects that the calls happened in this order. They may be calls of different doubles, and other
/// calls may happen between them. A failure is reported at the line of this call. Returns true if
/// the calls happened in this order.
///
///     verifyOrder(
///       store.call(Messages.load, "a"), log.call(Logging.note, .any),
///       store.call(Messages.save, "a", .any))
@discardableResult
public func verifyOrder(
  _ expected: ExpectedCall..., fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
  column: UInt = #column
) -> Bool {
  guard let first = expected.first else { return true }
  let calls = callsInOrder(of: expected)
  var found: [Int] = []
  for (index, entry) in calls.enumerated() where found.count < expected.count {
    if expected[found.count].accepts(entry) { found.append(index) }
  }
  let isInOrder = found.count == expected.count
  if isInOrder {
    for (wanted, index) in zip(expected, found) {
      wanted.book.markVerified([calls[index].call])
      wanted.match.keepArguments(of: calls[index].call.message)
    }
  }
  return first.book.expect(
    isInOrder, FailureText.order(expected, found: found, calls),
    at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
}

/// Expects no `unexpected` call after the first `event` call. The two may be calls of different
/// doubles. A test in which `event` never happened fails too. Failures are reported at the line of
/// this call. Returns true if there is no failure.
///
///     verifyNever(log.call(Logging.note, .any), after: store.call(Messages.close))
@discardableResult
public func verifyNever(
  _ unexpected: ExpectedCall, after event: ExpectedCall, fileID: String = #fileID, filePath: StaticString = #filePath,
  line: UInt = #line, column: UInt = #column
) -> Bool {
  let calls = callsInOrder(of: [unexpected, event])
  let start = calls.firstIndex(where: event.accepts)
  let late = calls.indices.filter { $0 > start ?? .max && unexpected.accepts(calls[$0]) }
  if let start, late.isEmpty { event.book.markVerified([calls[start].call]) }
  return event.book.expect(
    start != nil && late.isEmpty, FailureText.never(unexpected, after: event, start: start, late: late, calls),
    at: SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column))
}

struct BookedCall: CustomStringConvertible {
  let book: CallBook
  let call: RecordedCall
  var description: String { "\(book.name) \(book.text(call.message))" }
}

private func callsInOrder(of expected: [ExpectedCall]) -> [BookedCall] {
  var books: [CallBook] = []
  for call in expected where !books.contains(where: { $0 === call.book }) { books.append(call.book) }
  return books.flatMap { book in book.calls.map { BookedCall(book: book, call: $0) } }
    .sorted { $0.call.order < $1.call.order }
}
