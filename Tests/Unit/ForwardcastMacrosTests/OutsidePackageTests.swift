// OutsidePackageTests.swift: a package that depends on this one by path and uses both attributes.

import Foundation
import TestSupport
import Testing

@Suite(
  "A package outside of this one",
  .serialized, .enabled(if: Bounds.areFull && Toolchain.root != nil, "it builds the library once more"))
struct OutsidePackageTests {
  private let package = packageFolder("Tests/Tools/Outside")

  @Test("a dependent package builds without a warning, and its proxies and receivers work")
  func buildsAndRuns() async throws {
    let (status, printed, told) = try await run("outside")
    expect(status, equals: 0, "\(told)")
    expect(!(printed + told).contains("warning:"), "\(told)")
    let lines = printed.split(separator: "\n").suffix(6).map(String.init)
    expect(lines, equals: ["color red", "color red", "place 3", "place 3", "screens 4", "true HERE"], "\(printed)")
  }

  @Test("in an optimized build with another conforming class, each class receives its own calls")
  func conformances() async throws {
    let source = try String(contentsOf: package.appending(path: "Sources/conformances/main.swift"), encoding: .utf8)
    let lines = source.split(separator: "\n").drop { $0 != "// Prints:" }.dropFirst().map { String($0.dropFirst(3)) }
    let (status, printed, told) = try await run("conformances")
    expect(status, equals: 0, "\(told)")
    expect(lines.count > 10)
    expect(printed.split(separator: "\n").map(String.init), equals: lines, "\(told)")
  }

  @Test("in Swift 5 an asynchronous requirement reaches targets of a main-actor class")
  func swiftFive() async throws {
    let (status, printed, told) = try await run("five")
    expect(status, equals: 0, "\(told)")
    expect(printed, equals: "shown 1\n2\n3\n4 5\n1 2 9\n3\n", "\(told)")
  }

  /// Builds and runs the package, and returns its status, output and errors. A first build takes
  /// more than a minute, so it runs on a separate thread.
  private func run(_ product: String) async throws -> (status: Int32, printed: String, told: String) {
    let swift = try #require(Toolchain.root).appending(path: "bin/swift")
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "outside package").async {
        continuation.resume(with: Result { try runAndWait(swift, product) })
      }
    }
  }

  private func runAndWait(_ swift: URL, _ product: String) throws -> (status: Int32, printed: String, told: String) {
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = swift
    process.arguments = [
      "run", "-c", "release", "--package-path", package.path, "--scratch-path",
      packageFolder(".build/outside").path, product,
    ]
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // The build log is on standard error and fits the buffer of a pipe.
    let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, printed, told)
  }
}
