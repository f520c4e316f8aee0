// ExampleTests.swift: every example runs and prints what its source says it prints.

import Foundation
import TestSupport
import Testing

/// Folders with a program that is not run here: one measures, and one needs a library which this package does not depend on.
private let others = ["Benchmarks", "Cluster"]

/// Every other folder of an example: the program of `TestDoubles` is `test-doubles`.
private let examples: [String] = {
  let manager = FileManager.default
  let folders = (try? manager.contentsOfDirectory(atPath: packageFolder("Examples").path)) ?? []
  return folders.filter {
    manager.fileExists(atPath: packageFolder("Examples/\($0)/main.swift").path) && !others.contains($0)
  }.sorted()
}()

private func program(of folder: String) -> String {
  folder.enumerated().map { $0 > 0 && $1.isUppercase ? "-\($1)" : "\($1)" }.joined().lowercased()
}

/// What the block at the end of an example's main file says that it prints; `nil` when there is no such block.
private func statedOutput(of source: String) -> String? {
  guard let block = source.range(of: "\n// Prints:\n") else { return nil }
  let lines = source[block.upperBound...].split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  guard !lines.isEmpty, lines.allSatisfy({ $0 == "//" || $0.hasPrefix("// ") }) else { return nil }
  return lines.map { $0.dropFirst(3) + "\n" }.joined()
}

@Suite("Examples")
struct ExampleTests {
  @Test("an example prints exactly what its main file says, and nothing on standard error", arguments: examples)
  func printsWhatItSays(folder: String) throws {
    let main = packageFolder("Examples/\(folder)/main.swift")
    let stated = try #require(statedOutput(of: String(contentsOf: main, encoding: .utf8)), "no block of prints")
    let ending = try BuiltProgram(program(of: folder)).run()
    #expect(ending.output == stated)
    #expect(ending.errors == "")
    #expect(ending.status == 0)
  }

  @Test("a main file says in its first lines what it shows and how it is run", arguments: examples)
  func saysHowToRun(folder: String) throws {
    let text = try String(contentsOf: packageFolder("Examples/\(folder)/main.swift"), encoding: .utf8)
    let lines = text.split(separator: "\n").prefix(2)
    #expect(lines.first?.hasPrefix("// main.swift: ") == true)
    #expect(lines.last == "// Example: \(folder). Run it with `swift run \(program(of: folder))`.")
  }

  @Test("an example's file has under 80 lines", arguments: examples)
  func filesAreShort(name: String) throws {
    let folder = packageFolder("Examples/\(name)")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 80, "\(file)")
    }
  }

  @Test("the list of examples has each of them once, and no other")
  func list() throws {
    let list = try String(contentsOf: packageFolder("Examples/README.md"), encoding: .utf8)
    let names = list.matches(of: /(?m)^\| `([a-z-]+)` \|/).map { String($0.1) }
    #expect(names.sorted() == examples.map(program).sorted())
  }

  @Test("a block of prints that is missing, empty or not last is none")
  func blocks() {
    #expect(statedOutput(of: "f()\n\n// Prints:\n// a\n//\n//   b\n") == "a\n\n  b\n")
    for source in ["f()\n", "f()\n// Prints:\n", "f()\n// Prints:\n// a\nf()\n"] {
      #expect(statedOutput(of: source) == nil, "\(source)")
    }
  }
}
