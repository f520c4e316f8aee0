// GuideBlocks.swift: extracts code blocks from pages and snippets from tests.

import Foundation
import TestSupport

/// The pages of the package and their code.
enum GuideBlocks {
  /// A fenced block of Swift.
  struct Block: CustomStringConvertible {
    let page: String
    let line: Int
    let code: String
    var description: String { "\(page):\(line)" }
  }

  static let root = packageFolder()
  /// The folder of these tests.
  static let folder = packageFolder("Tests/Documentation/GuideTests")

  /// README.md and the pages of the DocC catalogs.
  static func pages() throws -> [URL] {
    let sources = root.appending(path: "Sources")
    let catalogs = try FileManager.default.contentsOfDirectory(atPath: sources.path).map {
      sources.appending(path: "\($0)/\($0).docc")
    }.filter { FileManager.default.fileExists(atPath: $0.path) }
    return try [root.appending(path: "README.md")]
      + catalogs.flatMap { try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil) }
      .filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
  }

  static func blocks() throws -> [Block] {
    try pages().flatMap { page in
      blocks(in: try String(contentsOf: page, encoding: .utf8), of: page.lastPathComponent)
    }
  }

  static func blocks(in text: String, of page: String) -> [Block] {
    var found: [Block] = []
    var open: (line: Int, language: Substring, lines: [String])?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let trimmed = line.drop { $0 == " " }
      if trimmed.hasPrefix("```") {
        if let block = open {
          if block.language == "swift" {
            found.append(Block(page: page, line: block.line, code: dedented(block.lines)))
          }
          open = nil
        } else {
          open = (index + 1, trimmed.dropFirst(3), [])
        }
      } else {
        open?.lines.append(String(line))
      }
    }
    return found
  }

  /// The snippets by name: the code between `// snippet: NAME` and `// end`. Parts with one name are joined.
  static func snippets() throws -> [String: String] { try parts().mapValues { $0.joined(separator: "\n\n") } }

  /// The parts of all snippets.
  static func parts() throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    where file.pathExtension == "swift" {
      found.merge(parts(in: try String(contentsOf: file, encoding: .utf8))) { first, _ in first }
    }
    return found
  }

  static func parts(in text: String) -> [String: [String]] {
    var found: [String: [String]] = [:]
    var open: (name: String, lines: [String])?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let trimmed = line.drop { $0 == " " }
      if trimmed.hasPrefix("// snippet: ") {
        open = (String(trimmed.dropFirst(12)), [])
      } else if trimmed == "// end", let part = open {
        found[part.name, default: []].append(dedented(part.lines))
        open = nil
      } else {
        open?.lines.append(line)
      }
    }
    return found
  }

  /// The tutorial steps, as file and text. Step 3 of a snippet consists of its first three parts.
  static let steps = root.appending(path: "Sources/Forwardcast/Forwardcast.docc/Resources")
  static func tutorials(of parts: [String: [String]]) -> [String: String] {
    var files: [String: String] = [:]
    for name in ["theme-switch", "device-queues"] {
      let parts = parts[name] ?? []
      for count in parts.indices.map({ $0 + 1 }) {
        let code = parts.prefix(count).joined(separator: "\n\n")
        let imports = (code.contains("DispatchQueue") ? "import Dispatch\n" : "") + "import Forwardcast"
        files["\(name)-\(count).swift"] = "\(imports)\n\n\(code)\n"
      }
    }
    return files
  }

  /// The lines without common indentation and without surrounding empty lines.
  private static func dedented(_ lines: [String]) -> String {
    let width = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { String($0.dropFirst(width)) }.joined(separator: "\n")
      .trimmingCharacters(in: .newlines)
  }
}
