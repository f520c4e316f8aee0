// GuideTests.swift: compares the code in README.md and the DocC catalogs with compiled snippets.

import Foundation
import Forwardcast
import ForwardcastRecording
import ForwardcastScript
import Synchronization
import TestSupport
import Testing

@Suite("The guide")
struct GuideTests {
  @Test("each code block of a page is a snippet")
  func blocks() throws {
    let snippets = Set(try GuideBlocks.snippets().values)
    let blocks = try GuideBlocks.blocks()
    #expect(blocks.count >= 20)
    for block in blocks {
      let isSnippet = snippets.contains(block.code)
      #expect(isSnippet, "\(block): no snippet has this code:\n\(block.code)")
    }
  }

  @Test("each snippet is on a page")
  func snippets() throws {
    let shown = Set(try GuideBlocks.blocks().map(\.code))
    let snippets = try GuideBlocks.snippets()
    #expect(snippets.count >= 20)
    for (name, code) in snippets where !["theme-switch", "device-queues"].contains(name) {
      let isShown = shown.contains(code)
      #expect(isShown, "no page shows \(name)")
    }
  }

  @Test("the reader finds the parts of a snippet at any indentation and ignores blocks in other languages")
  func reading() {
    let text = "// snippet: a\nx\n// end\n  // snippet: a\n    y\n      z\n  // end\n"
    expect(GuideBlocks.parts(in: text), equals: ["a": ["x", "y\n  z"]])
    expect(
      GuideBlocks.tutorials(of: ["device-queues": ["a"]]),
      equals: ["device-queues-1.swift": "import Forwardcast\n\na\n"])
    let page = "a\n```swift\nx\n\ny\n  z\n```\n```sh\nls\n```\n"
    let blocks = GuideBlocks.blocks(in: page, of: "p")
    #expect(blocks.map(\.code) == ["x\n\ny\n  z"] && blocks.first?.line == 2)
  }

  @Test("code on pages is fenced and has at most 80 columns")
  func width() throws {
    for page in try GuideBlocks.pages() {
      var language: Substring?
      var last = "-"[...]
      for (index, line) in try String(contentsOf: page, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false
      ).enumerated() {
        let place = "\(page.lastPathComponent):\(index + 1)"
        if line.hasPrefix("```") {
          language = language == nil ? line.dropFirst(3) : nil
        } else if language == nil {
          #expect(!last.isEmpty || !line.hasPrefix("    "), "\(place): code without a fence")
        } else if language != "mermaid" {
          #expect(line.count <= 80, "\(place): \(line.count) columns")
        }
        last = line
      }
    }
    for (file, text) in GuideBlocks.tutorials(of: try GuideBlocks.parts()) {
      #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(file)")
    }
  }

  @Test("code in documentation comments has at most 80 columns")
  func widthOfComments() throws {
    let sources = GuideBlocks.root.appending(path: "Sources")
    let files = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
    var found = 0
    for file in files where file.hasSuffix(".swift") {
      var (wide, last): ([Int], Substring) = ([], "")
      let lines = try String(contentsOf: sources.appending(path: file), encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        let text = line.drop { $0 == " " }
        if text.hasPrefix("///") {
          // Code follows an empty line or more code. Other indented lines continue a list.
          let isCode = text.hasPrefix("///     ") && (last == "///" || last.hasPrefix("///     "))
          last = isCode || text == "///" ? text : ""
          found += isCode ? 1 : 0
          if isCode, text.count > 88 { wide.append(index + 1) }
        } else if !text.hasPrefix("@"), !text.isEmpty {
          if !wide.isEmpty, text.contains(/\b(public|open|case)\b/) { Issue.record("\(file): lines \(wide)") }
          (wide, last) = ([], "")
        }
      }
    }
    #expect(found >= 300)
  }

  @Test("each tutorial step equals a part of its snippet and is shown on the page")
  func tutorials() throws {
    let wanted = GuideBlocks.tutorials(of: try GuideBlocks.parts())
    #expect(wanted.count >= 10)
    let folder = GuideBlocks.steps
    if isWriting {
      for (file, text) in wanted {
        try text.write(to: folder.appending(path: file), atomically: true, encoding: .utf8)
      }
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    expect(Set(files), equals: Set(wanted.keys))
    let pages = folder.deletingLastPathComponent().appending(path: "Tutorials")
    let shown = try ["ThemeSwitch", "DeviceOnQueues"].map {
      try String(contentsOf: pages.appending(path: "\($0).tutorial"), encoding: .utf8)
    }.joined()
    for (file, text) in wanted {
      try expect(String(contentsOf: folder.appending(path: file), encoding: .utf8), equals: text, "\(file)")
      #expect(shown.contains("file: \"\(file)\""))
    }
  }

  /// True if generated pages are rewritten.
  private var isWriting: Bool { ProcessInfo.processInfo.environment["FORWARDCAST_WRITE_GUIDE"] != nil }

  @Test("the diagram on the page about scripts matches the script that the page names")
  func trace() throws {
    let page = try scripting()
    let script = try String(
      contentsOf: GuideBlocks.root.appending(path: "Examples/Scripts/emperor.msg"), encoding: .utf8)
    let first = try #require(script.firstRange(of: "[steward announceMeal: 12]")).upperBound
    let diagram = SequenceDiagram()
    var handlers = ScriptHandlers(output: { _ in })
    handlers.events = { diagram.add($0) }
    #expect(ScriptSession(handlers: handlers).run(String(script[..<first])).succeeded)
    #expect(page.contains("```mermaid\n\(diagram.mermaid.trimmingCharacters(in: .newlines))\n```"))
  }

  @Test("the script on the page about scripts is one of the tested example scripts")
  func script() throws {
    let page = try scripting()
    let file = GuideBlocks.root.appending(path: "Examples/Scripts/heaters.msg")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").drop { $0.hasPrefix("#") }
    #expect(page.contains("```text\n\(lines.joined(separator: "\n"))\n```"))
  }

  /// The page that shows a script and its diagram.
  private func scripting() throws -> String {
    let path = "Sources/ForwardcastScript/ForwardcastScript.docc/ScriptingLiveObjects.md"
    return try String(contentsOf: GuideBlocks.root.appending(path: path), encoding: .utf8)
  }

  @Test("files named on pages exist")
  func sources() throws {
    let root = GuideBlocks.root
    let folders =
      try [root]
      + FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path)
      .map { root.appending(path: "Sources/\($0)") }
    let pages =
      try GuideBlocks.pages() + ["DESIGN.md", "Tests/README.md", "Examples/README.md"].map { root.appending(path: $0) }
    for page in pages {
      let text = try String(contentsOf: page, encoding: .utf8)
      for path in text.matches(of: /`([A-Za-z.]+(?:\/[A-Za-z+.]+)+\.(?:swift|msg|py|md|sh))`/).map({ String($0.1) }) {
        let isThere = folders.contains { FileManager.default.fileExists(atPath: $0.appending(path: path).path) }
        #expect(isThere, "\(page.lastPathComponent) names \(path)")
      }
      for link in text.matches(of: /\]\(([A-Za-z\/.]+\.md)\)/).map({ String($0.1) }) {
        let file = page.deletingLastPathComponent().appending(path: link)
        #expect(FileManager.default.fileExists(atPath: file.path), "\(page.lastPathComponent) leads to \(link)")
      }
      for module in text.matches(of: /\]\(\/documentation\/(\w+)\)/).map({ String($0.1) }) {
        let isThere = folders.contains { $0.lastPathComponent.lowercased() == module }
        #expect(isThere, "\(page.lastPathComponent) leads to \(module)")
      }
    }
  }

  @Test("README.md is short and links only to files that a Git host renders")
  func readme() throws {
    let readme = try String(contentsOf: GuideBlocks.root.appending(path: "README.md"), encoding: .utf8)
    let lines = readme.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 151, "\(lines.count) lines")
    #expect(lines.prefix(60).contains("## Install"))
    for link in readme.matches(of: /\]\(([^)]+)\)/).map({ String($0.1) }) where !link.hasPrefix("http") {
      let text = try String(contentsOf: GuideBlocks.root.appending(path: link), encoding: .utf8)
      #expect(!text.contains("<doc:"), "\(link)")
    }
  }

  @Test("README.md states the version that the command prints")
  func version() throws {
    let command = try String(
      contentsOf: GuideBlocks.root.appending(path: "Sources/ForwardcastCommand/Command.swift"), encoding: .utf8)
    let version = try #require(try /version = "([0-9.]+)"/.firstMatch(in: command)?.1)
    let readme = try String(contentsOf: GuideBlocks.root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains("prints `forwardcast \(version)`"))
  }

  @Test("the script reference matches the parser's tables")
  func reference() throws {
    let file = GuideBlocks.root.appending(path: "Sources/ForwardcastScript/ForwardcastScript.docc/LanguageReference.md")
    let text = ReferencePage.text
    if isWriting {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let written = try String(contentsOf: file, encoding: .utf8)
    expect(
      written, equals: text,
      "write it anew: FORWARDCAST_WRITE_GUIDE=1 swift test --filter GuideTests")
  }
}
