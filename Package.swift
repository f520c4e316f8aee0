// swift-tools-version: 6.3
import CompilerPluginSupport
import PackageDescription

/// An example of one idea: `swift run NAME`.
func example(_ name: String, _ folder: String, _ modules: String...) -> Target {
  .executableTarget(
    name: name, dependencies: (["Forwardcast"] + modules).map { .target(name: $0) }, path: "Examples/\(folder)")
}

/// A library product of one module.
func library(_ name: String) -> Product { .library(name: name, targets: [name]) }

/// Tests in a folder of the target's name.
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

/// Whether tests go the whole way (Tests/Support/TestSupport/Bounds.swift).
let boundsAreFull = (Context.environment["FORWARDCAST_FULL"] ?? "0") != "0"

/// What most tests of the core stand on.
let core: [Target.Dependency] = ["Forwardcast", "CoreTestSupport"]

/// Modules whose code is on the main actor where it does not say otherwise. They compile a second time what others have, so
/// they are built where bounds are full, or by name.
let onMainActor = ["ForwardcastMainActorTests", "GuideMainActorTests"]

/// Compiles shapes in Swift 5 mode; built like those above.
let inSwift5 = "ForwardcastSwift5Tests"

/// The chat room over Apple's cluster library, compiled against a stand-in that has the same name: clients that depend on both
/// packages must not meet it. Built like those above.
let cluster: [Target] = [
  .target(name: "DistributedCluster", path: "Tests/Support/DistributedCluster"),
  .executableTarget(
    name: "chatroom", dependencies: ["Forwardcast", "ForwardcastDistributed", "DistributedCluster"],
    path: "Examples/Cluster", exclude: ["README.md"]),
  tests(
    "ClusterTests", in: "Documentation", ["Forwardcast", "ForwardcastDistributed", "DistributedCluster", "chatroom"]),
]

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
    library("ForwardcastDistributedTesting"),
    .executable(name: "forwardcast", targets: ["ForwardcastCommand"]),
  ],
  targets: [
    // The program that the compiler starts is a loop around a module, so that tests can link the module.
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
    // Whether an engine keeps what messages promise. Apart, so that tests alone link it.
    .target(name: "ForwardcastDistributedTesting", dependencies: ["Forwardcast", "ForwardcastDistributed"]),
    .executableTarget(
      name: "ForwardcastCommand", dependencies: ["Forwardcast", "ForwardcastRecording", "ForwardcastScript"]),
    .executableTarget(
      name: "forwardcast-benchmarks", dependencies: ["Forwardcast", "AllocationCounter"], path: "Examples/Benchmarks",
      exclude: ["Figures.md", "Peers"]),

    // What tests share: bounds, random numbers, a lock; and, with the benchmarks, a count of requests for memory.
    .target(name: "TestSupport", path: "Tests/Support/TestSupport"),
    // Targets, keys and a context that tests of the core and of its centers share.
    .target(
      name: "CoreTestSupport", dependencies: ["Forwardcast", "TestSupport"], path: "Tests/Support/CoreTestSupport"),
    .target(name: "Interposer", path: "Tests/Support/AllocationCounter/Interposer"),
    .target(
      name: "AllocationCounter", dependencies: ["Interposer"], path: "Tests/Support/AllocationCounter",
      exclude: ["Interposer"]),
    tests("ForwardcastEncodingTests", ["ForwardcastEncoding"]),
    // The core. What is true of the whole of it, and then by its folders: who changes one builds and runs its tests.
    tests("ForwardcastTests", core + ["AllocationCounter"]),
    tests("ForwardcastSendingTests", core + ["AllocationCounter"]),
    tests("ForwardcastDeliveryTests", core + ["AllocationCounter"]),
    tests("ForwardcastProxyTests", core),
    tests("ForwardcastMessageTests", ["Forwardcast", "ForwardcastCoding"]),
    tests("ForwardcastAroundTests", ["Forwardcast", "AllocationCounter"]),
    // A model of the multicast, which follows the specification alone, and programs that are compared with it.
    .testTarget(name: "ForwardcastModelTests", dependencies: ["Forwardcast", "TestSupport"], path: "Tests/Model"),
    tests("ForwardcastCentersTests", core + ["ForwardcastCenters"]),
    tests("ForwardcastRecordingTests", ["Forwardcast", "ForwardcastRecording", "ForwardcastScript"]),
    tests("ForwardcastMacrosTests", ["Forwardcast", "ForwardcastExpansion"]),
    // The same shapes, in a module that is on the main actor by default.
    tests("ForwardcastMainActorTests", in: "Documentation", ["Forwardcast"]),
    tests(inSwift5, in: "Documentation", ["Forwardcast"]),
    tests(
      "ForwardcastScriptTests", ["Forwardcast", "ForwardcastRecording", "ForwardcastScript", "ForwardcastCommand"]),
    // Searches for the most expensive script: optimized, and built by name.
    .executableTarget(
      name: "script-search", dependencies: ["ForwardcastScript", "TestSupport"], path: "Tests/Tools/ScriptSearch"),
    tests("ForwardcastTestingTests", ["Forwardcast", "ForwardcastTesting"]),
    // The code of README.md and of the catalogs. What is true of the main actor is compiled in a second module, which is
    // there by default; its files are links to the same code.
    tests(
      "GuideTests", in: "Documentation",
      [
        "Forwardcast", "ForwardcastCenters", "ForwardcastRecording", "ForwardcastScript", "ForwardcastTesting",
        "ForwardcastDistributed", "ForwardcastDistributedTesting",
      ]),
    tests("GuideMainActorTests", in: "Documentation", ["Forwardcast", "ForwardcastCenters"]),
    // An engine over pipes and the program at their other end; both serve tests alone.
    .target(
      name: "PipeActorSystem", dependencies: ["Forwardcast", "ForwardcastDistributed"],
      path: "Tests/Support/PipeActorSystem"),
    .executableTarget(
      name: "distributed-peer", dependencies: ["ForwardcastDistributed", "PipeActorSystem"],
      path: "Tests/Support/DistributedPeer"),
    tests(
      "ForwardcastDistributedTests",
      [
        "ForwardcastDistributed", "ForwardcastDistributedTesting", "PipeActorSystem", "distributed-peer",
      ]),
    // An example, of tests.
    .testTarget(name: "ForwardingTests", dependencies: ["Forwardcast"], path: "Examples/ForwardingTests"),
    // Depends on what it runs, so that all of it is built.
    tests(
      "ExampleTests", in: "Documentation",
      ["ForwardcastCommand"] + examples.map { .target(name: $0.name) }),
  ] + examples + cluster
)

// Who works on a part builds that part: with FORWARDCAST_ONLY="NAME …" there are only those targets, what they depend on, and
// the products of what is left.
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
  let byName = onMainActor + [inSwift5] + cluster.map(\.name) + ["script-search"]
  package.targets.removeAll { byName.contains($0.name) }
}

/// Tests and examples are compiled as a whole, by one process each. File by file another process makes the module first, which parses
/// every file and expands its macros once more: a fifth less work in all. The same with FORWARDCAST_ONLY, since objects of one way do
/// not link with those of the other.
let asWhole = SwiftSetting.unsafeFlags(
  ["-wmo", "-num-threads", "1", "-no-emit-module-separately-wmo", "-disable-batch-mode"],
  .when(configuration: .debug))

/// What the compiler does in a debug build beside compiling: it writes an index of each module of the toolchain that a target
/// imports, seconds of a first build, and has LLVM check the form of what it was given, a twelfth of each build.
let nothingBeside = SwiftSetting.unsafeFlags(
  ["-index-ignore-system-modules", "-Xfrontend", "-disable-llvm-verify"], .when(configuration: .debug))

/// An expansion takes some 10 ms without optimization; to optimize what makes it took a third of a client's release build.
let unoptimized = SwiftSetting.unsafeFlags(["-Onone", "-gnone"], .when(configuration: .release))

/// On ELF the optimizer of machine code sees a module as one in place of a file at a time, which leaves out copies that files have of
/// one another's; functions begin at four bytes, not at sixteen; and each has a section, so that linkers leave out what nobody calls.
let small = SwiftSetting.unsafeFlags(
  ["-enable-single-module-llvm-emission", "-function-sections"].flatMap { ["-Xfrontend", $0] }
    + ["-Xllvm", "-align-all-functions=2"], .when(platforms: [.linux, .android], configuration: .release))

// Who depends on this package by a version gets these flags too, which package managers since 6.2 allow where the manifest is of
// that version: so they change no behaviour.
for target in package.targets where target.name != "Interposer" {
  target.swiftSettings =
    [.enableUpcomingFeature("ExistentialAny"), nothingBeside]
    + (onMainActor.contains(target.name) ? [.defaultIsolation(MainActor.self)] : [])
    + (target.name == inSwift5 ? [.swiftLanguageMode(.v5)] : [])
    + (target.isTest || target.path?.hasPrefix("Examples") == true ? [asWhole] : [])
    + (target.path?.hasPrefix("Sources/ForwardcastMacros") == true ? [unoptimized] : [small])
}
