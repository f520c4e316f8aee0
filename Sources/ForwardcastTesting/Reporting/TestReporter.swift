// TestReporter.swift: who hears of failures.

import Forwardcast

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
