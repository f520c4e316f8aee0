// ExpectTests.swift: failures of the tests' own comparison.

import Synchronization
import TestSupport
import Testing

@Suite("Comparing in tests")
struct ExpectTests {
  @Test("different values are one issue at their line that shows both, and equal ones are none")
  func issues() {
    let issues = Mutex<[Issue]>([])
    let line = #line + 2
    withKnownIssue {
      expect([1, 2], equals: [3], "a note")
      expect("a", equals: "a")
    } matching: { issue in
      issues.withLock { $0.append(issue) }
      return true
    }
    let found = issues.withLock(\.self)
    #expect(found.count == 1)
    #expect(found.first?.sourceLocation?.line == line)
    #expect(found.first?.comments == ["a note"])
    let text = found.first.map { "\($0)" } ?? ""
    #expect(text.contains("[1, 2]") && text.contains("[3]"), "\(text)")
  }
}
