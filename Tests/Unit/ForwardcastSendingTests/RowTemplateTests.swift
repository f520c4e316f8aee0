// RowTemplateTests.swift: compares the file of the rows with its template.

import Foundation
import TestSupport
import Testing

@Suite("The template of the rows")
struct RowTemplateTests {
  @Test("the rows for each number of arguments equal the template's output")
  func file() throws {
    let file = packageFolder("Sources/Forwardcast/Receiving/Responds+Arities.swift")
    if ProcessInfo.processInfo.environment["FORWARDCAST_WRITE"] != nil {
      try Data(RowTemplate.file.utf8).write(to: file)
    }
    try expect(String(contentsOf: file, encoding: .utf8), equals: RowTemplate.file)
  }
}
