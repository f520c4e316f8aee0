// ExampleTests.swift: runs every example and compares its output.

import Foundation
import TestSupport
import Testing

/// Programs that are not run: a benchmark, and one with a dependency that the package lacks.
private let others = ["Benchmarks", "Cluster"]

/// The folders of the examples. The program of `TestDoubles` is `test-doubles`.
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

/// The output stated by the `// Prints:` block at the end of a main file, or `nil` without a block.
private func statedOutput(of source: String) -> String? {
  guard let block = source.range(of: "\n// Prints:\n") else { return nil }
  let lines = source[block.upperBound...].split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  guard !lines.isEmpty, lines.allSatisfy({ $0 == "//" || $0.hasPrefix("// ") }) else { return nil }
  return lines.map { $0.dropFirst(3) + "\n" }.joined()
}

@Suite("Examples")
struct ExampleTests {
  @Test("an example prints exactly the output stated in its main file, and no errors", arguments: examples)
  func printsWhatItSays(folder: String) throws {
    let main = packageFolder("Examples/\(folder)/main.swift")
    let stated = try #require(statedOutput(of: String(contentsOf: main, encoding: .utf8)), "no block of prints")
    let ending = try BuiltProgram(program(of: folder)).run()
    #expect(ending.output == stated)
    #expect(ending.errors == "")
    #expect(ending.status == 0)
  }

  @Test("a main file starts with a comment that states its purpose and its command", arguments: examples)
  func saysHowToRun(folder: String) throws {
    let text = try String(contentsOf: packageFolder("Examples/\(folder)/main.swift"), encoding: .utf8)
    let lines = text.split(separator: "\n").prefix(2)
    #expect(lines.first?.hasPrefix("// main.swift: ") == true)
    #expect(lines.last == "// Example: \(folder). Run it with `swift run \(program(of: folder))`.")
  }

  @Test("an example file has at most 80 lines", arguments: examples)
  func filesAreShort(name: String) throws {
    let folder = packageFolder("Examples/\(name)")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 80, "\(file)")
    }
  }

  @Test("the list of examples is complete and has no duplicates")
  func list() throws {
    let list = try String(contentsOf: packageFolder("Examples/README.md"), encoding: .utf8)
    let names = list.matches(of: /(?m)^\| `([a-z-]+)` \|/).map { String($0.1) }
    #expect(names.sorted() == examples.map(program).sorted())
  }

  @Test("a Prints block is ignored if it is missing, empty or not the last block")
  func blocks() {
    #expect(statedOutput(of: "f()\n\n// Prints:\n// a\n//\n//   b\n") == "a\n\n  b\n")
    for source in ["f()\n", "f()\n// Prints:\n", "f()\n// Prints:\n// a\nf()\n"] {
      #expect(statedOutput(of: source) == nil, "\(source)")
    }
  }
}
