// InterfaceSweepTests.swift: expands every protocol and class of the toolchain's interfaces.

import Foundation
import TestSupport
import Testing

@testable import ForwardcastExpansion

/// The toolchain that the tests were built with.
enum Toolchain {
  /// The folder that contains `bin` and `lib`.
  static let root: URL? = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    for folder in path.split(separator: ":") {
      let compiler = URL(filePath: String(folder)).appending(path: "swiftc").resolvingSymlinksInPath()
      if FileManager.default.isExecutableFile(atPath: compiler.path) {
        return compiler.deletingLastPathComponent().deletingLastPathComponent()
      }
    }
    return nil
  }()

  static var interfaces: [URL] {
    guard let root,
      let all = FileManager.default.enumerator(at: root.appending(path: "lib"), includingPropertiesForKeys: nil)
    else { return [] }
    return all.compactMap { $0 as? URL }.filter { $0.pathExtension == "swiftinterface" }
  }

  /// The diagnostics of the compiler's frontend for a text.
  static func said(of text: String, _ arguments: [String]) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "forwardcast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "Written.swift")
    try text.write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    let errors = Pipe()
    process.executableURL = root?.appending(path: "bin/swiftc")
    process.arguments = ["-frontend"] + arguments + [file.path]
    process.standardError = errors
    try process.run()
    let said = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }
}

@Suite("Interfaces of the toolchain", .enabled(if: !Toolchain.interfaces.isEmpty))
struct InterfaceSweepTests {
  /// The protocols, classes and actors in a text, each with its attribute.
  private func declarations(_ source: SourceText) -> [String] {
    var found: [String] = []
    for position in 0..<source.end where source[position].beginsLine {
      var reader = DeclarationReader(source)
      reader.position = position
      _ = source.attributes(&reader.position)
      _ = reader.modifiers()
      let keyword = reader.position
      guard ["protocol", "class", "actor"].contains(source.text(keyword)), source[keyword + 1].isWord,
        source[keyword].kind == .word
      else { continue }
      var end = keyword
      while end < source.end, !source.isMark(end, "{") { end += 1 }
      guard let closing = source.closing(end) else { continue }
      let text = source.text(position..<closing + 1)
      if found.last?.hasSuffix(text) != true { found.append(text) }
    }
    return found
  }

  @Test("each interface of the toolchain is read completely, and expanded or refused with a reason", .oneAtATime)
  func sweep() async throws {
    var counts: [String: Int] = [:]
    var written = ""
    var seen: Set<String> = []
    // The largest takes as long as all others together.
    let most = bound(24 << 10, full: .max)
    for file in Toolchain.interfaces {
      let bytes = Array(try Data(contentsOf: file))
      guard bytes.count <= most else { continue }
      let source = SourceText(bytes: bytes)
      for text in declarations(source) where seen.insert(text).inserted {
        await Task.yield()
        let isProtocol = Expander("@Forwarded " + text).problems.first?.message.contains("is for protocols") != true
        let expander = Expander((isProtocol ? "@Forwarded " : "@Receiver(.allMembers) ") + text)
        let kind = isProtocol ? "protocols" : "classes"
        let readerProblems = expander.said.filter { $0.contains("cannot be read") }
        expect(readerProblems, equals: [], "\(file.lastPathComponent): \(text.prefix(2000))")
        if expander.expansion.hasErrors {
          counts["\(kind) refused", default: 0] += 1
          if isProtocol { written += "\(expander.expansion.text)\n" } else { #expect(expander.expansion.text.isEmpty) }
        } else {
          counts["\(kind) written", default: 0] += 1
          expect(!expander.expansion.text.isEmpty)
          let text = expander.expansion.text
          written += isProtocol ? "\(text)\n" : "class Holder\(seen.count) {\n\(text)}\n"
        }
      }
    }
    let total = counts.values.reduce(0, +)
    print("interfaces: \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
    expect(total > bound(20, full: 100))
    expect(counts["protocols written", default: 0] > bound(2, full: 10))
    try expect(parseErrors(written), equals: "")
  }

  /// The diagnostics of the compiler's parser for a text.
  private func parseErrors(_ text: String) throws -> String {
    try Toolchain.said(of: text, ["-parse"]).split(separator: "\n").filter { $0.contains("error:") }.joined(
      separator: "\n")
  }
}
