// ExampleTests.swift: every example runs and prints what its source says it prints.
// Layer: Tests.

import Foundation
import Testing

/// The example programs.
private let examples = [
  "audit", "bluetooth", "cart", "chat", "console", "downloads", "emperor", "feed", "messenger", "test-doubles",
  "themes", "undo",
]

/// The folder of a program: its words capitalised, `TestDoubles` for `test-doubles`.
private func folder(of name: String) -> String { name.split(separator: "-").map(\.capitalized).joined() }

/// Folders with a program that is not run here: one measures, and one needs a library which this package does not depend on.
private let others = ["Benchmarks", "Cluster"]

/// What the block at the end of an example's main file says that it prints; `nil` when there is no such block.
private func statedOutput(of source: String) -> String? {
  guard let block = source.range(of: "\n// Prints:\n") else { return nil }
  let lines = source[block.upperBound...].split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  guard !lines.isEmpty, lines.allSatisfy({ $0 == "//" || $0.hasPrefix("// ") }) else { return nil }
  return lines.map { $0.dropFirst(3) + "\n" }.joined()
}

@Suite("Examples")
struct ExampleTests {
  private let manager = FileManager.default

  @Test("an example prints exactly what its main file says, and nothing on standard error", arguments: examples)
  func printsWhatItSays(name: String) throws {
    let main = packageFolder("Examples/\(folder(of: name))/main.swift")
    let stated = try #require(statedOutput(of: String(contentsOf: main, encoding: .utf8)), "no block of prints")
    let ending = try BuiltProgram(name).run()
    #expect(ending.output == stated)
    #expect(ending.errors == "")
    #expect(ending.status == 0)
  }

  @Test("every folder with a main file is run here")
  func everyFolderIsCovered() throws {
    let folders = try manager.contentsOfDirectory(atPath: packageFolder("Examples").path)
    let programs = folders.filter {
      manager.fileExists(atPath: packageFolder("Examples/\($0)/main.swift").path) && !others.contains($0)
    }
    #expect(programs.sorted() == examples.map(folder).sorted())
  }

  @Test("an example's file has under 80 lines", arguments: examples)
  func filesAreShort(name: String) throws {
    let folder = packageFolder("Examples/\(folder(of: name))")
    let files = try manager.contentsOfDirectory(atPath: folder.path)
    #expect(files.contains("main.swift"))
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 80, "\(file)")
    }
  }

  @Test("a block of prints that is missing, empty or not last is none")
  func blocks() {
    #expect(statedOutput(of: "f()\n\n// Prints:\n// a\n//\n//   b\n") == "a\n\n  b\n")
    for source in ["f()\n", "f()\n// Prints:\n", "f()\n// Prints:\n// a\nf()\n"] {
      #expect(statedOutput(of: source) == nil, "\(source)")
    }
  }
}
