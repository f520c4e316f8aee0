// swift-tools-version: 6.3
import CompilerPluginSupport
import PackageDescription

/// An example program: `swift run NAME`.
func example(_ name: String, _ folder: String, _ modules: String...) -> Target {
  .executableTarget(
    name: name, dependencies: (["Forwardcast"] + modules).map { .target(name: $0) }, path: "Examples/\(folder)")
}

/// A library product with one module.
func library(_ name: String) -> Product { .library(name: name, targets: [name]) }

/// A test target in a folder of its name.
func tests(_ name: String, in folder: String = "Unit", _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(folder)/\(name)")
}

let examples = [
  example("tables", "Tables"),
  example("columns", "Columns"),
  example("stand-in", "StandIn"),
  example("retry", "Retry"),
  example("outbox", "Outbox", "ForwardcastCoding"),
  example("server", "Server"),
  example("plug-in", "PlugIn", "ForwardcastCoding"),
  example("themes", "Themes"),
  example("emperor", "Emperor"),
  example("cart", "Cart"),
  example("messenger", "Messenger", "ForwardcastCenters"),
  example("bluetooth", "Bluetooth"),
  example("downloads", "Downloads"),
  example("chat", "Chat"),
  example("console", "Console", "ForwardcastScript"),
  example("audit", "Audit"),
  example("feed", "Feed"),
  example("list-source", "ListSource"),
  example("undo", "Undo", "ForwardcastRecording"),
  example("replay", "Replay", "ForwardcastRecording"),
  example("trace", "Trace", "ForwardcastRecording"),
  example("lounge", "Lounge", "ForwardcastDistributed"),
  example("test-doubles", "TestDoubles", "ForwardcastTesting"),
  example("orders", "Orders", "ForwardcastScript", "ForwardcastTesting"),
]

/// Whether large tests run all of their cases (Tests/Support/TestSupport/Bounds.swift).
let boundsAreFull = (Context.environment["FORWARDCAST_FULL"] ?? "0") != "0"

/// The dependencies of most tests of the core.
let core: [Target.Dependency] = ["Forwardcast", "CoreTestSupport"]

/// Modules with main-actor isolation by default. They compile code of other modules a second time,
/// so they are built only with full bounds or by name.
let onMainActor = ["ForwardcastMainActorTests", "GuideMainActorTests"]

/// Compiles the macro tests' shapes in Swift 5 mode. Built only with full bounds or by name.
let inSwift5 = "ForwardcastSwift5Tests"

let package = Package(
  name: "Forwardcast",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    library("ForwardcastEncoding"),
    library("Forwardcast"),
    library("ForwardcastCoding"),
    library("ForwardcastCenters"),
    library("ForwardcastRecording"),
    library("ForwardcastScript"),
    library("ForwardcastTesting"),
    library("ForwardcastDistributed"),
    .executable(name: "forwardcast", targets: ["ForwardcastCommand"]),
  ],
  targets: [
    // The macro program is a thin wrapper around a module that tests can link.
    .target(name: "ForwardcastExpansion", path: "Sources/ForwardcastMacros", exclude: ["Program"]),
    .macro(
      name: "ForwardcastMacros", dependencies: ["ForwardcastExpansion"], path: "Sources/ForwardcastMacros/Program"),
    .target(name: "ForwardcastEncoding"),
    .target(name: "Forwardcast", dependencies: ["ForwardcastEncoding", "ForwardcastMacros"]),
    .target(name: "ForwardcastCoding", dependencies: ["Forwardcast"]),
    .target(name: "ForwardcastCenters", dependencies: ["Forwardcast"]),
    .target(name: "ForwardcastRecording", dependencies: ["Forwardcast", "ForwardcastCoding"]),
    .target(name: "ForwardcastScript", dependencies: ["Forwardcast", "ForwardcastCenters", "ForwardcastRecording"]),
    .target(name: "ForwardcastTesting", dependencies: ["Forwardcast", "ForwardcastRecording"]),
    .target(name: "ForwardcastDistributed", dependencies: ["Forwardcast", "ForwardcastCoding"]),
    .executableTarget(
      name: "ForwardcastCommand", dependencies: ["Forwardcast", "ForwardcastRecording", "ForwardcastScript"]),
    .executableTarget(
      name: "forwardcast-benchmarks", dependencies: ["Forwardcast", "AllocationCounter"], path: "Examples/Benchmarks",
      exclude: ["Figures.md", "Peers"]),

    // Shared by all tests: expectations, bounds, random numbers, a lock.
    .target(name: "TestSupport", path: "Tests/Support/TestSupport"),
    // Shared by tests of the core and of the centers: targets, keys, a context.
    .target(
      name: "CoreTestSupport", dependencies: ["Forwardcast", "TestSupport"], path: "Tests/Support/CoreTestSupport"),
    .target(name: "Interposer", path: "Tests/Support/AllocationCounter/Interposer"),
    .target(
      name: "AllocationCounter", dependencies: ["Interposer"], path: "Tests/Support/AllocationCounter",
      exclude: ["Interposer"]),
    tests("ForwardcastEncodingTests", ["ForwardcastEncoding"]),
    // The core, as a whole and by folder, so that a change builds only the tests of its folder.
    tests("ForwardcastTests", core + ["AllocationCounter"]),
    tests("ForwardcastSendingTests", core + ["AllocationCounter"]),
    tests("ForwardcastDeliveryTests", core + ["AllocationCounter"]),
    tests("ForwardcastProxyTests", core),
    tests("ForwardcastMessageTests", ["Forwardcast", "ForwardcastCoding"]),
    tests("ForwardcastAroundTests", ["Forwardcast", "AllocationCounter"]),
    // A model of the multicast that follows the specification, and programs compared with it.
    .testTarget(name: "ForwardcastModelTests", dependencies: ["Forwardcast", "TestSupport"], path: "Tests/Model"),
    tests("ForwardcastCentersTests", core + ["ForwardcastCenters"]),
    tests("ForwardcastRecordingTests", ["Forwardcast", "ForwardcastRecording", "ForwardcastScript"]),
    tests("ForwardcastMacrosTests", ["Forwardcast", "ForwardcastExpansion"]),
    // The shapes of the macro tests again, on the main actor by default.
    tests("ForwardcastMainActorTests", in: "Documentation", ["Forwardcast"]),
    tests(inSwift5, in: "Documentation", ["Forwardcast"]),
    tests(
      "ForwardcastScriptTests", ["Forwardcast", "ForwardcastRecording", "ForwardcastScript", "ForwardcastCommand"]),
    tests("ForwardcastTestingTests", ["Forwardcast", "ForwardcastTesting"]),
    // The code of README.md and of the catalogs. The second module compiles links to some of it on
    // the main actor by default.
    tests(
      "GuideTests", in: "Documentation",
      [
        "Forwardcast", "ForwardcastCenters", "ForwardcastRecording", "ForwardcastScript", "ForwardcastTesting",
        "ForwardcastDistributed",
      ]),
    tests("GuideMainActorTests", in: "Documentation", ["Forwardcast", "ForwardcastCenters"]),
    // An actor system over pipes and its second process, for tests only.
    .target(
      name: "PipeActorSystem", dependencies: ["Forwardcast", "ForwardcastDistributed"],
      path: "Tests/Support/PipeActorSystem"),
    .executableTarget(
      name: "distributed-peer", dependencies: ["ForwardcastDistributed", "PipeActorSystem"],
      path: "Tests/Support/DistributedPeer"),
    tests(
      "ForwardcastDistributedTests",
      ["ForwardcastDistributed", "PipeActorSystem", "distributed-peer"]),
    // An example test target.
    .testTarget(name: "ForwardingTests", dependencies: ["Forwardcast"], path: "Examples/ForwardingTests"),
    // Depends on the programs that it runs.
    tests(
      "ExampleTests", in: "Documentation",
      ["ForwardcastCommand"] + examples.map { .target(name: $0.name) }),
  ] + examples
)

// FORWARDCAST_ONLY="NAME …" keeps only those targets, their dependencies, and the products of both.
if let names = Context.environment["FORWARDCAST_ONLY"]?.split(whereSeparator: \.isWhitespace).map(String.init) {
  var (needed, open): (Set<String>, [String]) = ([], names)
  while let name = open.popLast() {
    guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    for case .targetItem(let name, _) in target.dependencies { open.append(name) }
    for case .byNameItem(let name, _) in target.dependencies { open.append(name) }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products.removeAll { !needed.contains($0.name == "forwardcast" ? "ForwardcastCommand" : $0.name) }
} else if !boundsAreFull {
  let byName = onMainActor + [inSwift5]
  package.targets.removeAll { byName.contains($0.name) }
}

/// Compiles each test and example module in one process. Otherwise a second process parses every
/// file again, expands its macros and emits the module.
let asWhole = SwiftSetting.unsafeFlags(
  ["-wmo", "-num-threads", "1", "-no-emit-module-separately-wmo", "-disable-batch-mode"],
  .when(configuration: .debug))

/// Skips two extras of debug builds: indexing the toolchain's own modules and LLVM's IR verifier.
let nothingBeside = SwiftSetting.unsafeFlags(
  ["-index-ignore-system-modules", "-Xfrontend", "-disable-llvm-verify"], .when(configuration: .debug))

/// Builds the macros without optimization: they are fast enough, and optimizing them slowed release
/// builds of clients.
let unoptimized = SwiftSetting.unsafeFlags(["-Onone", "-gnone"], .when(configuration: .release))

/// Reduces the code size on ELF. One LLVM module for a whole Swift module removes duplicates.
/// Functions are aligned to 4 bytes. Each has a section, so that the linker can drop unused ones.
let small = SwiftSetting.unsafeFlags(
  ["-enable-single-module-llvm-emission", "-function-sections"].flatMap { ["-Xfrontend", $0] }
    + ["-Xllvm", "-align-all-functions=2"], .when(platforms: [.linux, .android], configuration: .release))

// These flags also apply when a client depends on this package by version, which SwiftPM 6.2 and
// later allows. They do not change behavior.
for target in package.targets where target.name != "Interposer" {
  target.swiftSettings =
    [.enableUpcomingFeature("ExistentialAny"), nothingBeside]
    + (onMainActor.contains(target.name) ? [.defaultIsolation(MainActor.self)] : [])
    + (target.name == inSwift5 ? [.swiftLanguageMode(.v5)] : [])
    + (target.isTest || target.path?.hasPrefix("Examples") == true ? [asWhole] : [])
    + (target.path?.hasPrefix("Sources/ForwardcastMacros") == true ? [unoptimized] : [small])
}
