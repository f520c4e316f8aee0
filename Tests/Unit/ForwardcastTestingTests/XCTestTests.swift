// XCTestTests.swift: failures become failures of XCTest.

import Forwardcast
import ForwardcastTesting
import XCTest

/// Collects the failures of its tests instead of failing.
final class XCTestTests: XCTestCase {
  private var failures: [(text: String, file: String?, line: Int?)] = []

  #if canImport(Darwin)
    override func record(_ issue: XCTIssue) {
      let place = issue.sourceCodeContext.location
      failures.append((issue.compactDescription, place?.fileURL.path, place?.lineNumber))
    }
  #else
    override func recordFailure(withDescription text: String, inFile file: String, atLine line: Int, expected: Bool) {
      failures.append((text, file, line))
    }
  #endif

  /// The failures so far. Later issues are failures of this test again.
  private func take() -> [(text: String, file: String?, line: Int?)] {
    defer { failures = [] }
    return failures
  }

  private func check(_ holds: Bool, _ line: Int = #line) {
    // Assertions would be collected too.
    precondition(holds, "XCTestTests, line \(line)")
  }

  func testFailuresAreAtTheLinesOfExpectations() {
    let log = TestDouble(LoggingProxy())
    log.proxy.note("b")
    log.verify(LoggingProxy.Messages.note, "a")
    let line = #line - 1
    let found = take()
    check(found.count == 1)
    check(
      found[0].text.hasSuffix(
        """
        Logging: expected at least 1 call of note("a"), found 0
          expected                   | actual
          at least 1 call: note("a") | ✗ note("b")
                                     |     argument 0 is "b", expected "a"
        """))
    check(found[0].line == line && found[0].file?.hasSuffix("XCTestTests.swift") == true)
  }

  func testUnexpectedCallsAreAtTheLineOfTheirDouble() {
    let log = TestDouble(LoggingProxy(), .strict)
    let line = #line - 1
    log.proxy.note("b")
    let found = take()
    check(found.count == 1 && found[0].line == line)
    check(found[0].text.contains("Logging: unexpected call of note(\"b\")"))
  }

  func testTheFirstOrderThatFailsIsOneFailureAtItsLine() async {
    await everySchedule { schedule in schedule.expect(false, "never") }
    let line = #line - 1
    let found = take()
    check(found.count == 1 && found[0].line == line)
    check(found[0].text.contains("never") && found[0].text.contains("everySchedule(.replaying(\"a\"))"))
  }

  func testWhatHoldsIsNoFailure() {
    let log = TestDouble(LoggingProxy())
    log.proxy.note("b")
    check(log.verify(LoggingProxy.Messages.note, "b") && take().isEmpty)
  }
}
