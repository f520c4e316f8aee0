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

  static func accepts(_ code: String) throws -> Bool {
    guard let modules, let path else { return false }
    let file = FileManager.default.temporaryDirectory.appending(path: "row-\(UUID().uuidString).swift")
    try Data(code.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = path
    process.arguments = ["-typecheck", "-swift-version", "6", "-I", modules.path, file.path]
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}

@Suite("Rows that do not compile", .enabled(if: Compiler.isAvailable))
struct RefusedRowTests {
  private func accepts(_ row: String) throws -> Bool {
    try Compiler.accepts(
      """
      import Forwardcast
      final class Target: MessageReceiver {
        static let selectorTable = SelectorTable(for: Target.self) {
          \(row)
        }
      }
      protocol Pane: AnyObject {}
      extension Message<(Int) -> Void> { static var note: Self { .init("note:") } }
      """)
  }

  @Test(
    "a closure that takes an inout parameter makes no row: what it writes would be lost",
    arguments: [
      #"Responds(to: "a:") { (_: Target, x: inout Int) in x += 1 }"#,
      #"Responds(to: "a:b:") { (_: Target, x: Int, y: inout Int) in y += x }"#,
      #"Responds(to: "a:b:c:") { (_: Target, a: Int, b: Int, c: inout Int) in c += 1 }"#,
      #"Responds(to: "a:", onMainActor: { (_: Target, x: inout Int) in x += 1 })"#,
      #"Responds(to: "a:", async: { (_: Target, x: inout Int) in x += 1 })"#,
      #"Responds(to: .note) { (_: Target, x: inout Int) in x += 1 }"#,
    ])
  func inoutParameter(row: String) throws {
    #expect(try !accepts(row))
    #expect(
      try accepts(row.replacing("inout ", with: "").replacing(" += ", with: " == ").replacing("in ", with: "in _ = ")))
  }
}
