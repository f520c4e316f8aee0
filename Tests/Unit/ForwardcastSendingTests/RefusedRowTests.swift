// RefusedRowTests.swift: rows that do not compile.

import CoreTestSupport
import Foundation
import Forwardcast
import TestSupport
import Testing

/// The compiler that built the tests, run with the library's module.
private enum Compiler {
  /// The folder of the library's module, beside the test executable.
  static let modules: URL? = {
    var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    for _ in 0..<4 {
      let modules = folder.appending(path: "Modules")
      if FileManager.default.fileExists(atPath: modules.appending(path: "Forwardcast.swiftmodule").path) {
        return modules
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }()

  static let path: URL? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { URL(filePath: String($0)).appending(path: "swiftc") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  static var isAvailable: Bool { modules != nil && path != nil }

  /// The first error of each line, by line number from 1.
  static func errors(_ code: String) throws -> [Int: String] {
    let (modules, path): (URL, URL) = (try #require(modules), try #require(path))
    let file = FileManager.default.temporaryDirectory.appending(path: "row-\(UUID().uuidString).swift")
    try Data(code.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (process, output) = (Process(), Pipe())
    process.executableURL = path
    process.arguments = ["-typecheck", "-swift-version", "6", "-I", modules.path, file.path]
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, output)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let lines = text.split(separator: "\n").compactMap { line -> (Int, String)? in
      // "…/row-1.swift:12:5: error: …"
      let parts = line.split(separator: ":", maxSplits: 4).map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 5, parts[0].hasSuffix(file.lastPathComponent), parts[3] == "error" else { return nil }
      return Int(parts[1]).map { ($0, parts[4]) }
    }
    expect(lines.isEmpty, equals: process.terminationStatus == 0, "\(text)")
    return Dictionary(lines) { first, _ in first }
  }
}

@Suite("Rows that do not compile", .enabled(if: Compiler.isAvailable))
struct RefusedRowTests {
  private let prelude = """
    import Forwardcast
    final class Local { var n = 0 }
    final class Target: MessageReceiver {
      static let selectorTable = SelectorTable(for: Target.self, rows: [])
      var list: [Int] = []
    }
    actor Vault: MessageReceiver {
      static let selectorTable = SelectorTable(for: Vault.self, rows: [])
      var n = 0
    }
    extension Message<(Int) -> Void> { static var note: Self { .init("note:") } }
    extension Message<(Int, String) -> Bool> { static var pair: Self { .init("pair:with:") } }
    """

  private func table(_ row: String) -> String { "_ = SelectorTable(for: Target.self) { \(row) }" }

  @Test("a closure with an inout parameter does not compile as a row")
  func inoutParameter() throws {
    let rows = [
      #"Responds(to: "a:") { (_: Target, x: inout Int) in _ = x }"#,
      #"Responds(to: "a:b:") { (_: Target, x: Int, y: inout Int) in _ = y }"#,
      #"Responds(to: "a:b:c:") { (_: Target, a: Int, b: Int, c: inout Int) in _ = c }"#,
      #"Responds(to: .note, onMainActor: { (_: Target, x: inout Int) in _ = x })"#,
      #"Responds(to: .note, async: { (_: Target, x: inout Int) in _ = x })"#,
      #"Responds(to: .note) { (_: Target, x: inout Int) in _ = x }"#,
    ]
    let first = prelude.split(separator: "\n").count + 1
    let all = Set(first..<first + rows.count)
    let refused = ([prelude] + rows.map(table)).joined(separator: "\n")
    try expect(Set(Compiler.errors(refused).keys), equals: all)
    try expect(Compiler.errors(refused.replacing("inout ", with: "")), equals: [:])
  }

  @Test("a row that does not match its key is refused at the mismatch, with the key's types")
  func words() throws {
    let rows = [
      (
        "Responds(to: .note) { target, a, b in _ = (a, b) }",
        "contextual closure type '@Sendable (Target, Int) throws -> ()' expects 2 arguments, but 3 were used in closure body"
      ),
      (
        "Responds(to: .pair) { target, a in true }",
        "contextual closure type '@Sendable (Target, Int, String) throws -> Bool' expects 3 arguments, but 2 were used in closure body"
      ),
      (
        "Responds(to: .note) { (target: Target, a: String) in _ = a }",
        "cannot convert value of type '@Sendable (Target, String) -> ()' to expected argument type '@Sendable (Target, Int) throws -> ()'"
      ),
      (
        #"Responds(to: .pair) { target, a, b in "text" }"#,
        "cannot convert value of type 'String' to closure result type 'Bool'"
      ),
      (
        #"Responds(to: "count") { (s: String) in 1 }"#,
        "cannot convert value of type '@Sendable (String) -> Int' to expected argument type '@Sendable (Target) throws -> Int'"
      ),
      ("Responds(to: .nott) { target, a in _ = a }", "type 'Message<(A) -> ()>' has no member 'nott'"),
      ("Responds(to: .note) { target, a in target.lisst.append(a) }", "value of type 'Target' has no member 'lisst'"),
      (
        "Responds(to: .note) { (_: Target, x: inout Int) in x = 1 }",
        "cannot convert value of type '@Sendable (Target, inout Int) -> ()' to expected argument type '@Sendable (Target, Int) throws -> ()'"
      ),
    ]
    let first = prelude.split(separator: "\n").count + 1
    let found = try Compiler.errors(([prelude] + rows.map(\.0).map(table)).joined(separator: "\n"))
    for (index, (row, words)) in rows.enumerated() { expect(found[first + index], equals: words, "\(row)") }
    // Sendable errors are reported only if everything else is correct.
    let crossing = [
      (
        "func a(_ local: Local) { \(table("Responds(to: .note) { _, n in local.n = n }")) }",
        "capture of 'local' with non-Sendable type 'Local' in a '@Sendable' closure [#SendableClosureCaptures]"
      ),
      (
        "func b() { var n = 0; \(table(#"Responds(to: "a:") { (_: Target, m: Int) in n = m }"#)) }",
        "mutation of captured var 'n' in concurrently-executing code [#SendableClosureCaptures]"
      ),
      (
        "func c() { _ = SelectorTable(for: Vault.self) { Responds(to: .note) { vault, a in vault.n = a } } }",
        "actor-isolated property 'n' can not be mutated from a Sendable closure"
      ),
    ]
    let crossed = try Compiler.errors(([prelude] + crossing.map(\.0)).joined(separator: "\n"))
    for (index, (row, words)) in crossing.enumerated() { expect(crossed[first + index], equals: words, "\(row)") }
  }
}
