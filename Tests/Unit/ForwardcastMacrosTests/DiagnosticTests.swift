// DiagnosticTests.swift: texts shared by macros and library, and rules for diagnostics.

import Foundation
import TestSupport
import Testing

@testable import ForwardcastExpansion

@Suite("Diagnostics")
struct DiagnosticTests {
  private static let sources = packageFolder("Sources")

  private func source(_ path: String) throws -> String {
    try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
  }

  @Test("the rules of the library, of the macro and of its refusal are the same")
  func rules() throws {
    let names = try source("Forwardcast/Facade/AnswerRule.swift")
      .matches(of: /public static (?:var|func) (\w+)[^\n]*AnswerRule/).map { String($0.output.1) }
    expect(Set(names), equals: Set(AnswerRuleName.allCases.map(\.rawValue)))
    let refusal = Expander("@Forwarded protocol P { @Answer(.best) func a() -> Int }").said.first ?? ""
    let listed = refusal.matches(of: /\.(\w+)/).map { String($0.output.1) }
    expect(listed, equals: AnswerRuleName.allCases.map(\.rawValue), "\(refusal)")
  }

  @Test("every diagnostic of the macros names a cure, but for texts that the compiler itself cannot read")
  func cures() throws {
    for refusal in Refusal.all {
      let said = try #require(Expander(refusal.text).said.first)
      expect(said.contains("; ") || said.contains("cannot be read"), "\(said)")
    }
    var count = 0
    for folder in ["Checking", "Expanding", "Reading"] {
      let path = "ForwardcastMacros/\(folder)"
      for name in try FileManager.default.contentsOfDirectory(atPath: Self.sources.appending(path: path).path) {
        let text = try source("\(path)/\(name)")
        for match in text.matches(of: /(?:refuse\(|let message =)\s*"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"/) {
          let message = match.output.1
          // `byHand` and `orByHand` end texts with a suggestion.
          let hasCure = message.contains("; ") || message.contains("yHand")
          expect(hasCure || message.contains("cannot be read") || message.contains("was expected"), "\(message)")
          count += 1
        }
      }
    }
    expect(count > 30)
  }

  @Test("comments of modules that others re-export do not link to pages, since pages are not re-exported")
  func links() throws {
    for module in ["Forwardcast", "ForwardcastEncoding"] {
      let all = FileManager.default.enumerator(
        at: Self.sources.appending(path: module), includingPropertiesForKeys: nil)
      let files = (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
      expect(!files.isEmpty)
      for file in files {
        expect(!(try String(contentsOf: file, encoding: .utf8)).contains("<doc:"), "\(file.lastPathComponent)")
      }
    }
  }
}
