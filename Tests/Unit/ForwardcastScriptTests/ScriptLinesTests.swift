// ScriptLinesTests.swift: joins lines to complete texts, scanning each once.

import TestSupport
@testable import ForwardcastScript
import Testing

@Suite("Lines of a conversation")
struct ScriptLinesTests {
  private func texts(_ input: [String], joinsElse: Bool = false) -> [String] {
    var lines = ScriptLines(joinsElse: joinsElse)
    return (input.flatMap { lines.add($0 + "\n") } + lines.finish()).map { "\($0.firstLine) \($0.text)" }
  }

  @Test("a text is complete once its brackets are closed, or if it is malformed")
  func whole() {
    expect(texts(["print 1", "print (", "2", ")"]), equals: ["1 print 1\n", "2 print (\n2\n)\n"])
    expect(texts(["print (", "]", "print 2"]), equals: ["1 print (\n]\n", "3 print 2\n"])
    expect(texts(["print (\"a\\", "print 2"]), equals: ["1 print (\"a\\\n", "2 print 2\n"])
    expect(texts(["print (", "# )", "\")\""]), equals: ["1 print (\n# )\n\")\"\n"])
    expect(texts(["if true {", "}", "else { }"]), equals: ["1 if true {\n}\n", "3 else { }\n"])
  }

  @Test("an if waits for an else on request")
  func joinsElse() {
    func texts(_ input: String...) -> [String] { self.texts(input, joinsElse: true) }
    expect(texts("if a { }", "", "# b", "else { }", "c"), equals: ["1 if a { }\n\n# b\nelse { }\n", "5 c\n"])
    expect(texts("if a { } # so", "c"), equals: ["1 if a { } # so\n", "2 c\n"])
    expect(texts("if a { }", "b (", ")"), equals: ["1 if a { }\n", "2 b (\n)\n"])
    expect(texts("if a { }"), equals: ["1 if a { }\n"])
    expect(texts("print 1"), equals: ["1 print 1\n"])
  }

  @Test("an if behind an else waits for an else as well, and no line is parsed more than once")
  func elseThenIf() {
    let input = ["if a { }"] + Array(repeating: "else { }; if b { }", count: 2_000) + ["", "else { }", "c"]
    var lines = ScriptLines(joinsElse: true)
    let whole = input.flatMap { lines.add($0 + "\n") }
    expect(whole.map(\.text), equals: [input.dropLast().map { $0 + "\n" }.joined(), "c\n"])
    // Each line is lexed, and its text is parsed.
    expect(lines.examinedBytes <= 3 * input.joined(separator: "\n").utf8.count + 1, "\(lines.examinedBytes)")
  }

  @Test("blank lines after an if are kept only up to the size limit of a text")
  func blankLines() {
    ScriptSession.withLimits({ $0.text = 100 }) {
      var lines = ScriptLines(joinsElse: true)
      let whole = (["if a { }\n"] + Array(repeating: "\n", count: 100)).flatMap { lines.add($0) }
      expect(whole.first.map { $0.text.utf8.count }, equals: 101)
    }
  }

  @Test("each line is scanned once, however many lines stay open")
  func linear() {
    var lines = ScriptLines()
    var bytes = 0
    for line in ["let a = @["] + Array(repeating: "1,", count: 20_000) + ["2]"] {
      expect(!lines.isEmpty || bytes == 0)
      bytes += line.utf8.count + 1
      let whole = lines.add(line + "\n")
      expect(whole.isEmpty, equals: line != "2]")
    }
    expect(lines.examinedBytes, equals: bytes)
    expect(lines.isEmpty)
  }
}
