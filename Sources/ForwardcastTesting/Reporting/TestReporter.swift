// TestReporter.swift: reports failures to the test library of the running test.

import Forwardcast

#if canImport(Testing)
  import Testing
#endif

/// A failure of a double or a schedule.
public struct TestFailure: Sendable, CustomStringConvertible {
  /// The line of the test.
  public let place: SourcePlace
  /// One line that says what is wrong. Below it, expected and actual calls are side by side.
  public let text: String

  /// `CartTests/CartTests.swift:12: Store: …`.
  public var description: String { "\(place): \(text)" }
}

/// Receives the failures of a double or a schedule.
///
/// The default, ``automatic``, reports to the test library that runs the test. Use another reporter
/// for other test libraries, or to test what a double reports:
///
///     let failures = FailureList()
///     let store = TestDouble(StoreProxy(), reporter: failures.reporter)
public struct TestReporter: Sendable {
  let report: @Sendable (TestFailure) -> Void

  /// A reporter that calls `report` for each failure, on the thread that finds it.
  public init(_ report: @escaping @Sendable (TestFailure) -> Void) { self.report = report }

  /// Reports to Swift Testing or XCTest, whichever runs the test, or else to standard error.
  public static let automatic = TestReporter { failure in RunningTest.report(failure) }
}

/// Collects failures, for tests of what a double reports.
public final class FailureList: Sendable {
  private let list = Guarded<[TestFailure]>([])

  /// Creates an empty list.
  public init() {}

  /// A reporter that adds to the list.
  public var reporter: TestReporter { TestReporter { failure in self.list.withLock { $0.append(failure) } } }

  /// The failures in the order in which they were found.
  public var failures: [TestFailure] { list.withLock { $0 } }
}

extension FailureList: CustomStringConvertible {
  /// The failures, one a line.
  public var description: String { failures.map(\.description).joined(separator: "\n") }
}

enum RunningTest {
  static func report(_ failure: TestFailure) {
    if let schedule = Schedule.current { return schedule.world.fail(failure.text, at: failure.place) }
    #if canImport(Testing)
      if Test.current != nil { return recordIssue(failure) }
    #endif
    // A thread or detached task does not know its test, so the failure is reported to both
    // libraries. A library ignores failures while none of its tests runs.
    if let fail = XCTestFailing.shared {
      fail.call(failure.text, failure.place.path, failure.place.line)
    } else {
      StandardError.write("\(failure)\n")
    }
    #if canImport(Testing)
      recordIssue(failure)
    #endif
  }

  #if canImport(Testing)
    private static func recordIssue(_ failure: TestFailure) {
      let place = failure.place
      Issue.record(
        Comment(rawValue: failure.text),
        sourceLocation: SourceLocation(
          fileID: place.fileID, filePath: place.filePath, line: Int(place.line), column: Int(place.column)))
    }
  #endif
}

/// XCTest's function for failures, looked up in the process. Linking XCTest instead would force
/// XCTest and Foundation on every client.
private struct XCTestFailing: Sendable {
  /// In a struct, so that the function is called directly and not through a reabstraction thunk.
  let call: @Sendable (_ message: String, _ file: StaticString, _ line: UInt) -> Void

  static let shared: XCTestFailing? = {
    // XCTest.XCTFail(_: String, file: StaticString, line: UInt)
    let name = "$s6XCTest7XCTFail_4file4lineySS_s12StaticStringVSutF"
    guard let address = systemSymbol(name) else { return nil }
    // A function value is an address and a context. A global function has no context.
    let parts: (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) = (address, nil)
    return unsafeBitCast(parts, to: XCTestFailing.self)
  }()
}
