// BlocksAlone.swift: blocks of pages as a reader copies them, each into a program of its own.

import Foundation
import TestSupport
import Testing

/// What was built beside these tests, for the compiler of the same toolchain.
private enum Built {
  static let folder =
    (Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
    + [URL(filePath: CommandLine.arguments[0])]).map { $0.deletingLastPathComponent() }
    .first { FileManager.default.fileExists(atPath: $0.appending(path: "Modules/Forwardcast.swiftmodule").path) }

  /// What the compiler says against `code` as a program; empty where it compiles.
  static func complaints(_ code: String, _ mode: [String]) throws -> String {
    guard let folder else { return "nothing was built" }
    let scratch = FileManager.default.temporaryDirectory.appending(path: "forwardcast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let file = scratch.appending(path: "main.swift")
    try code.write(to: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["swiftc", "-typecheck", "-warnings-as-errors", "-I", folder.appending(path: "Modules").path]
      + ["-load-plugin-executable", folder.appending(path: "ForwardcastMacros-tool").path + "#ForwardcastMacros"]
      + mode + [file.path]
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? "" : String(decoding: text, as: UTF8.self)
  }
}

/// How modules are compiled that the code of pages is copied into.
private let modes = [
  ["-swift-version", "6"], ["-swift-version", "6", "-default-isolation", "MainActor"], ["-swift-version", "5"],
]

@Suite("Blocks alone", .enabled(if: Built.folder != nil))
struct BlocksAlone {
  @Test("each block of README.md is a program as it stands", arguments: modes.sampled(each: 3))
  func readme(mode: [String]) throws {
    let blocks = try GuideBlocks.blocks().filter { $0.page == "README.md" }
    #expect(blocks.count == 3)
    for block in blocks {
      // As README says, Swift 5 mode is not on the main actor at the top.
      if mode == ["-swift-version", "5"], block.code.contains("@MainActor") { continue }
      expect(try Built.complaints(block.code, mode), equals: "", "\(block)")
    }
  }

  @Test("the code of each page, from the top, is one program", arguments: modes.sampled(each: 3))
  func pages(mode: [String]) throws {
    let pages = Dictionary(grouping: try GuideBlocks.blocks(), by: \.page).sorted { $0.key < $1.key }
    #expect(pages.count >= 20)
    for (page, blocks) in pages.sampled(each: 7) {
      let code = blocks.map(\.code).joined(separator: "\n\n")
      expect(try Built.complaints(code, mode), equals: "", "\(page)")
    }
  }

  @Test("a block that leaves out its import is seen, and one that says a name twice")
  func mistakes() throws {
    #expect(try Built.complaints("let call = Invocation(\"ping\")", []).contains("Invocation"))
    #expect(try Built.complaints("let one = 1\n\nlet one = 1", []).contains("redeclaration"))
  }
}
