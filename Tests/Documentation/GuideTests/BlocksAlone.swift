// BlocksAlone.swift: compiles the code blocks of pages as separate programs.

import Foundation
import TestSupport
import Testing

/// The modules that were built with the tests.
private enum Built {
  static let folder =
    (Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
    + [URL(filePath: CommandLine.arguments[0])]).map { $0.deletingLastPathComponent() }
    .first { FileManager.default.fileExists(atPath: $0.appending(path: "Modules/Forwardcast.swiftmodule").path) }

  /// The compiler's diagnostics for `code` as a program; empty if it compiles.
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

/// The language modes and isolations of client modules.
private let modes = [
  ["-swift-version", "6"], ["-swift-version", "6", "-default-isolation", "MainActor"], ["-swift-version", "5"],
]

@Suite("Code blocks compiled by themselves", .enabled(if: Built.folder != nil))
struct BlocksAlone {
  @Test("each block of README.md compiles as a program", arguments: modes.sampled(each: 3))
  func readme(mode: [String]) throws {
    let blocks = try GuideBlocks.blocks().filter { $0.page == "README.md" }
    #expect(blocks.count == 3)
    for block in blocks {
      // In Swift 5 mode, top-level code is not on the main actor.
      if mode == ["-swift-version", "5"], block.code.contains("@MainActor") { continue }
      expect(try Built.complaints(block.code, mode), equals: "", "\(block)")
    }
  }

  @Test("the blocks of a page compile as one program", arguments: modes.sampled(each: 3))
  func pages(mode: [String]) throws {
    let pages = Dictionary(grouping: try GuideBlocks.blocks(), by: \.page).sorted { $0.key < $1.key }
    #expect(pages.count >= 20)
    for (page, blocks) in pages.sampled(each: 7) {
      let code = blocks.map(\.code).joined(separator: "\n\n")
      expect(try Built.complaints(code, mode), equals: "", "\(page)")
    }
  }

  @Test("the check finds a missing import and a redeclared name")
  func mistakes() throws {
    #expect(try Built.complaints("let call = Invocation(\"ping\")", []).contains("Invocation"))
    #expect(try Built.complaints("let one = 1\n\nlet one = 1", []).contains("redeclaration"))
  }
}
