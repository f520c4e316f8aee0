// RefusedRowTests.swift: rows that do not compile.

import Foundation
import Forwardcast
import Testing

/// The compiler that built the tests, asked whether a text compiles against the library.
private enum Compiler {
  /// The folder of the library's module, beside the program that runs the tests.
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

  /// The lines that the compiler finds errors in, counted from 1.
  static func linesWithErrors(_ code: String) throws -> Set<Int> {
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
    let lines = text.split(separator: "\n").compactMap { line -> Int? in
      // "…/row-1.swift:12:5: error: …"
      let parts = line.split(separator: ":", maxSplits: 4).map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 5, parts[0].hasSuffix(file.lastPathComponent), parts[3] == "error" else { return nil }
      return Int(parts[1])
    }
    #expect(lines.isEmpty == (process.terminationStatus == 0), "\(text)")
    return Set(lines)
  }
}

@Suite("Rows that do not compile", .enabled(if: Compiler.isAvailable))
struct RefusedRowTests {
  private let prelude = """
    import Forwardcast
    final class Target: MessageReceiver { static let selectorTable = SelectorTable(for: Target.self, rows: []) }
    extension Message<(Int) -> Void> { static var note: Self { .init("note:") } }
    """

  private func table(_ row: String) -> String { "_ = SelectorTable(for: Target.self) { \(row) }" }

  @Test("a closure that takes an inout parameter makes no row, since what it writes would be lost")
  func inoutParameter() throws {
    let rows = [
      #"Responds(to: "a:") { (_: Target, x: inout Int) in _ = x }"#,
      #"Responds(to: "a:b:") { (_: Target, x: Int, y: inout Int) in _ = y }"#,
      #"Responds(to: "a:b:c:") { (_: Target, a: Int, b: Int, c: inout Int) in _ = c }"#,
      #"Responds(to: "a:", onMainActor: { (_: Target, x: inout Int) in _ = x })"#,
      #"Responds(to: "a:", async: { (_: Target, x: inout Int) in _ = x })"#,
      #"Responds(to: .note) { (_: Target, x: inout Int) in _ = x }"#,
    ]
    let first = prelude.split(separator: "\n").count + 1
    let all = Set(first..<first + rows.count)
    let refused = ([prelude] + rows.map(table)).joined(separator: "\n")
    #expect(try Compiler.linesWithErrors(refused) == all)
    #expect(try Compiler.linesWithErrors(refused.replacing("inout ", with: "")) == [])
  }
}
