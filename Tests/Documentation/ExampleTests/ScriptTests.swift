// ScriptTests.swift: runs every script with the built command and compares its output.

import Foundation
import TestSupport
import Testing

/// The names of the scripts without extension.
private func scriptNames() -> [String] {
  let files = (try? FileManager.default.contentsOfDirectory(atPath: packageFolder("Examples/Scripts").path)) ?? []
  return files.filter { $0.hasSuffix(".msg") }.map { String($0.dropLast(4)) }.sorted()
}

@Suite("Scripts")
struct ScriptTests {
  @Test("a script prints exactly what its .out file holds and ends with status 0", arguments: scriptNames())
  func printsWhatIsWrittenBeside(name: String) throws {
    let expected = try String(contentsOf: packageFolder("Examples/Scripts/\(name).out"), encoding: .utf8)
    let ending = try BuiltProgram("forwardcast").run(["run", "Examples/Scripts/\(name).msg"])
    #expect(ending.output == expected)
    #expect(ending.errors == "")
    #expect(ending.status == 0)
  }

  @Test("each required example has a script, and each .out file belongs to a script")
  func everyScriptIsThere() throws {
    let names = scriptNames()
    #expect(Set(["cart", "console", "emperor", "themes"]).isSubset(of: Set(names)))
    let files = try FileManager.default.contentsOfDirectory(atPath: packageFolder("Examples/Scripts").path)
    let outputs = files.filter { $0.hasSuffix(".out") }.map { String($0.dropLast(4)) }.sorted()
    #expect(outputs == names)
  }

  @Test("a script with an error ends with status 1 and shows the location")
  func errorsAreSeen() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "forwardcast-\(UUID().uuidString).msg")
    try Data("print 1\n[nobody home]\n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let ending = try BuiltProgram("forwardcast").run(["run", file.path])
    #expect(ending.output == "1\n")
    #expect(ending.errors.contains(":2:2: error: unknown name"))
    #expect(ending.status == 1)
  }
}
