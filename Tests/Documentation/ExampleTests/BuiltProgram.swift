// BuiltProgram.swift: runs an executable that was built with the tests.

import Foundation
import TestSupport

/// An executable that was built with the tests.
struct BuiltProgram {
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  /// The output and status of a finished program.
  struct Ending {
    let output: String
    let errors: String
    let status: Int32
  }

  private let executable: URL

  /// Locates the program beside the test bundle or test executable.
  init(_ name: String) throws {
    let bundles = Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
    let places = (bundles + [URL(filePath: CommandLine.arguments[0])]).map { $0.deletingLastPathComponent() }
    let found = places.map { $0.appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    guard let found else {
      throw Missing(description: "no program \(name) in \(places.map(\.path).joined(separator: " or "))")
    }
    executable = found
  }

  /// Runs the program in the package's folder with empty standard input, and waits for its end.
  ///
  /// - Parameter file: receives standard output instead of the result.
  func run(_ arguments: [String] = [], to file: FileHandle? = nil) throws -> Ending {
    let errorFile = FileManager.default.temporaryDirectory.appending(path: "forwardcast-\(UUID().uuidString).txt")
    try Data().write(to: errorFile)
    defer { try? FileManager.default.removeItem(at: errorFile) }
    let errors = try FileHandle(forWritingTo: errorFile)
    let output = Pipe()
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.currentDirectoryURL = packageFolder("")
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = file ?? output
    if file != nil { try output.fileHandleForWriting.close() }
    process.standardError = errors
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Ending(
      output: String(decoding: text, as: UTF8.self), errors: try String(contentsOf: errorFile, encoding: .utf8),
      status: process.terminationStatus)
  }
}
