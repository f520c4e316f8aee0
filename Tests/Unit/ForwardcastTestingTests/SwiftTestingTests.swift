// SwiftTestingTests.swift: failures become issues of Swift Testing.

import Forwardcast
import ForwardcastTesting
import Testing

@Suite("Failures in Swift Testing")
struct SwiftTestingTests {
  private let log = TestDouble(LoggingProxy())

  /// Runs `body`, and expects one issue with the given text and line.
  private func expectIssue(_ text: String, line: Int, _ body: () -> Void) {
    withKnownIssue {
      body()
    } matching: { issue in
      issue.comments.first?.rawValue.hasPrefix(text) == true && issue.sourceLocation?.line == line
        && issue.sourceLocation?.fileID == #fileID
    }
  }

  @Test("a failed expectation is an issue at its line")
  func issues() {
    let note = LoggingProxy.Messages.note
    expectIssue("Logging: expected at least 1 call of note(\"a\"), found 0\n  expected", line: #line + 1) {
      log.verify(note, "a")
    }
    expectIssue("expected Logging note(any), which did not happen", line: #line + 1) {
      verifyOrder(log.call(note, .any))
    }
  }

  @Test("a call that a strict double has no stub for is an issue at the line that created the double")
  func strict() {
    expectIssue("Logging: unexpected call of note(\"b\")", line: #line + 1) {
      let strict = TestDouble(LoggingProxy(), .strict)
      strict.proxy.note("b")
    }
  }

  @Test("an expectation that holds reports no issue")
  func noIssue() {
    log.proxy.note("a")
    #expect(log.verify(LoggingProxy.Messages.note, "a"))
  }
}
