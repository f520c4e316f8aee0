// LayeringTests.swift: checks in the sources that layers depend only on earlier ones.

import Foundation
import TestSupport
import Testing

/// The folders of the library. Each may name only the types of earlier ones.
private let layers = [
  "System", "Selectors", "Message", "Receiving", "Sending", "Delivery", "Targets", "Outgoing", "Proxy", "Facade",
]

/// The layers that contain values and send nothing.
private let valueLayers: Set = ["System", "Selectors", "Message"]

private struct LayeredFile {
  let layer: String
  let name: String
  let text: String
}

/// The violations between layers, a line each.
private func violations(in files: [LayeredFile]) -> [String] {
  let read = files.map { ($0, SwiftText($0.text)) }
  var home: [String: Int] = [:]
  for (file, text) in read {
    guard let layer = layers.firstIndex(of: file.layer) else { continue }
    for type in text.declaredTypes { home[type] = min(layer, home[type] ?? layer) }
  }
  var found = memberViolations(read, home)
  for (file, text) in read {
    guard let layer = layers.firstIndex(of: file.layer) else {
      found.append("\(file.name) is in no layer: \(file.layer)")
      continue
    }
    for name in text.names.sorted() {
      if let other = home[name], other > layer { found.append("\(file.name) names \(name) of \(layers[other])") }
    }
    let banned = ["Foundation", "FoundationEssentials"] + (valueLayers.contains(file.layer) ? ["Dispatch"] : [])
    for module in banned where text.imports.contains(module) { found.append("\(file.name) imports \(module)") }
    if !file.text.hasPrefix("// \(file.name): ") {
      found.append("\(file.name) does not begin with its name and its purpose")
    }
  }
  return found
}

/// Members that a later layer adds to a type of an earlier one, and that an earlier layer uses.
///
/// Ignores a name that the file's own or an earlier layer also declares, since either may be meant.
private func memberViolations(_ files: [(LayeredFile, SwiftText)], _ home: [String: Int]) -> [String] {
  // Numbers, atomics and actors also have these members.
  let ofTheStandardLibrary: Set = ["min", "max", "exchange", "shared"]
  var added: [String: (layer: Int, type: String)] = [:]
  var declared: [Set<String>] = layers.map { _ in [] }
  for (file, text) in files {
    guard let layer = layers.firstIndex(of: file.layer) else { continue }
    declared[layer].formUnion(text.declaredMembers)
    for (type, name) in text.extensionMembers {
      guard let own = home[type], own < layer, !ofTheStandardLibrary.contains(name) else { continue }
      if let known = added[name], known.layer <= layer { continue }
      added[name] = (layer, type)
    }
  }
  return files.flatMap { file, text -> [String] in
    guard let layer = layers.firstIndex(of: file.layer) else { return [] }
    let known = declared[...layer].reduce(into: Set<String>()) { $0.formUnion($1) }
    return text.usedMembers.subtracting(known).sorted().compactMap { name in
      guard let (home, type) = added[name], home > layer else { return nil }
      return "\(file.name) uses \(name), which \(layers[home]) adds to \(type)"
    }
  }
}

@Suite("Layers")
struct LayeringTests {
  private let root = packageFolder()

  /// The Swift files in a folder, except tutorial steps in DocC catalogs.
  private func swiftFiles(under folder: String) throws -> [URL] {
    let all = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
    return all.filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.sorted().map {
      root.appending(path: "\(folder)/\($0)")
    }
  }

  @Test("no file of the library names a type of a later layer", .oneAtATime)
  func libraryIsLayered() throws {
    let files = try swiftFiles(under: "Sources/Forwardcast").map { url in
      let path = url.path.dropFirst(root.appending(path: "Sources/Forwardcast/").path.count)
      return LayeredFile(
        layer: path.split(separator: "/").first.map(String.init) ?? "", name: url.lastPathComponent,
        text: try String(contentsOf: url, encoding: .utf8))
    }
    // Every layer must occur, or the test reads the wrong folder.
    expect(Set(layers), equals: Set(files.map(\.layer)))
    expect(violations(in: files).joined(separator: "\n"), equals: "")
  }

  @Test("no file under Sources imports Foundation")
  func sourcesWithoutFoundation() throws {
    let files = try swiftFiles(under: "Sources")
    expect(files.count > 40)
    for file in files {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains("Foundation") else { continue }
      let imports = SwiftText(text).imports
      expect(imports.isDisjoint(with: ["Foundation", "FoundationEssentials"]), "\(file.lastPathComponent)")
    }
  }

  @Test("every suite that Tests/README.md names exists")
  func readmeNamesSuites() throws {
    let texts = try swiftFiles(under: "Tests").map { try String(contentsOf: $0, encoding: .utf8) }
    let rows = try String(contentsOf: root.appending(path: "Tests/README.md"), encoding: .utf8)
      .split(separator: "\n").filter { $0.hasPrefix("|") }
    let named = rows.flatMap { $0.matches(of: /\*([^*]+)\*/).map { String($0.1) } }
    expect(named.count > 20)
    let missing = named.filter { name in
      !texts.contains { $0.contains("@Suite(\"\(name)\"") || $0.contains("@Suite(\n  \"\(name)\"") }
    }
    expect(missing, equals: [])
  }

  @Test("every test and assertion that DESIGN.md quotes for an invariant or an addition exists")
  func designQuotes() throws {
    let texts = try (swiftFiles(under: "Tests") + swiftFiles(under: "Sources"))
      .map { try String(contentsOf: $0, encoding: .utf8) }
    let sections = try String(contentsOf: root.appending(path: "DESIGN.md"), encoding: .utf8).split(separator: "\n## ")
      .filter { $0.hasPrefix("Invariants") || $0.hasPrefix("How to add") }
    // A title may be broken at the end of a line.
    let quotes = sections.flatMap { section in
      section.replacing("\n  ", with: " ").matches(of: /"([^"]+)"/).map { String($0.1) }
    }
    expect(sections.count, equals: 2)
    expect(quotes.count > 30)
    expect(quotes.filter { quote in !texts.contains { $0.contains("\"\(quote)\"") } }, equals: [])
  }

  private func file(_ layer: String, _ name: String, _ code: String) -> LayeredFile {
    LayeredFile(layer: layer, name: name, text: "// \(name): a test.\n\n\(code)\n")
  }

  @Test("naming a type of a later layer is found, also in string interpolation")
  func namesAreFound() {
    let proxy = file("Proxy", "Crowd.swift", "public final class Crowd { struct Nested {} }")
    let naming = [
      "let crowd: Crowd? = nil", "extension Crowd {}", "let text = \"a \\([Crowd]().count) b\"",
      "let text = #\"a \" \\#(Crowd.self)\"#",
    ]
    for code in naming {
      let found = violations(in: [proxy, file("Sending", "Send.swift", code)])
      expect(found, equals: ["Send.swift names Crowd of Proxy"], "\(code)")
    }
  }

  @Test("using a member that a later layer adds to a type of an earlier one is found")
  func membersAreFound() {
    let earlier = file("Message", "Box.swift", "struct Box { let count = 1 }")
    let adding = file("Proxy", "Box+Crowd.swift", "extension Box { var crowd: Int { 1 } }")
    let using = file("Sending", "Send.swift", "func send(_ box: Box) -> Int { box.crowd }")
    expect(violations(in: [earlier, adding, using]), equals: ["Send.swift uses crowd, which Proxy adds to Box"])
    let own = file("Sending", "Own.swift", "struct Own { var crowd = 2 }")
    expect(violations(in: [earlier, adding, using, own]), equals: [])
    let later = file("Facade", "Face.swift", "func send(_ box: Box) -> Int { box.crowd }")
    expect(violations(in: [earlier, adding, later]), equals: [])
  }

  @Test("comments, strings, longer names and earlier layers do not count")
  func otherNamesAreLeftAlone() {
    let proxy = file("Proxy", "Crowd.swift", "public final class Crowd { struct Nested {} }")
    let harmless = [
      "// Crowd", "/// ``Crowd`` says", "/* a /* nested */ Crowd */ let a = 1", "let text = \"Crowd // Crowd\"",
      "let text = \"\"\"\n  { \"Crowd\" }\n  \"\"\"", "let crowd = 1", "struct CrowdOfMany {}", "struct Nested {}",
      "let text = \"\\\"Crowd\"", "let text = #\"\\(Crowd)\"#",
    ]
    for code in harmless {
      expect(violations(in: [proxy, file("Sending", "Send.swift", code)]), equals: [], "\(code)")
    }
    expect(violations(in: [proxy, file("Facade", "Face.swift", "let crowd: Crowd? = nil")]), equals: [])
  }

  @Test("forbidden imports of a layer are found in every form")
  func importsAreFound() {
    for line in [
      "import Foundation", "public import Foundation", "import struct Foundation.URL",
      "#if A\n  import Foundation\n#endif",
    ] {
      expect(violations(in: [file("Proxy", "A.swift", line)]), equals: ["A.swift imports Foundation"], "\(line)")
    }
    expect(violations(in: [file("Message", "A.swift", "import Dispatch")]), equals: ["A.swift imports Dispatch"])
    expect(violations(in: [file("Delivery", "A.swift", "import Dispatch // Foundation")]), equals: [])
  }

  @Test("a folder that is no layer is found, and so is a file that does not start with its name")
  func placesAreFound() {
    expect(violations(in: [file("Helpers", "A.swift", "")]), equals: ["A.swift is in no layer: Helpers"])
    let misnamed = LayeredFile(layer: "Sending", name: "A.swift", text: file("Sending", "B.swift", "").text)
    expect(violations(in: [misnamed]), equals: ["A.swift does not begin with its name and its purpose"])
  }
}
