// TestReporter.swift: who hears of failures, and the test library whose test is running.

import Forwardcast

#if canImport(Testing)
  import Testing
#endif

/// A failed expectation of a double: what was expected, what happened, and the line that expected it.
public struct TestFailure: Sendable, CustomStringConvertible {
  /// The line of the test.
  public let place: SourcePlace
  /// The first line says what is wrong; below it expected and actual calls stand side by side.
  public let text: String

  /// `CartTests/CartTests.swift:12: Store: …`.
  public var description: String { "\(place): \(text)" }
}

/// Who hears of the failures of a double.
///
/// The default, ``automatic``, tells the test library whose test is running. Another one is for a test library of your own,
/// or for tests of tests:
///
///     let failures = FailureList()
///     let store = TestDouble(StoreProxy(), reporter: failures.reporter)
public struct TestReporter: Sendable {
  let report: @Sendable (TestFailure) -> Void

  /// A reporter that runs `report` for each failure, on the thread on which it is found.
  public init(_ report: @escaping @Sendable (TestFailure) -> Void) { self.report = report }

  /// Records an issue in Swift Testing, or a failure in XCTest, whichever runs the test; where neither does, writes to
  /// standard error.
  public static let automatic = TestReporter { failure in RunningTest.report(failure) }
}

/// A list of failures, for tests of what a double reports.
public final class FailureList: Sendable {
  private let list = Guarded<[TestFailure]>([])

  public init() {}

  /// What puts failures on the list.
  public var reporter: TestReporter { TestReporter { failure in self.list.withLock { $0.append(failure) } } }

  /// The failures so far, in the order in which they were found.
  public var failures: [TestFailure] { list.withLock { $0 } }
}

/// Tells failures to the test library whose test is running.
enum RunningTest {
  static func report(_ failure: TestFailure) {
    if let schedule = Schedule.current { return schedule.world.fail(failure.text, at: failure.place) }
    #if canImport(Testing)
      if Test.current != nil { return recordIssue(failure) }
    #endif
    // On a thread or a task of its own a failure does not know its test. Each library takes what happens while one of its
    // tests runs, and passes over the rest.
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

/// XCTest's own function for failures, found in the running process: linking XCTest would force it, and Foundation, on
/// everybody.
private struct XCTestFailing: Sendable {
  /// In a struct, so that the function is called as it was compiled and not through a generic form.
  let call: @Sendable (_ message: String, _ file: StaticString, _ line: UInt) -> Void

  static let shared: XCTestFailing? = {
    // XCTest.XCTFail(_: String, file: StaticString, line: UInt)
    let name = "$s6XCTest7XCTFail_4file4lineySS_s12StaticStringVSutF"
    guard let address = systemSymbol(name) else { return nil }
    // A function value is its address and a context, of which a global function has none.
    let parts: (UnsafeMutableRawPointer, UnsafeMutableRawPointer?) = (address, nil)
    return unsafeBitCast(parts, to: XCTestFailing.self)
  }()
}
