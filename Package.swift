// swift-tools-version: 6.3
import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// An example of one idea: `swift run NAME`.
func example(_ name: String, _ folder: String, _ dependencies: [Target.Dependency] = ["Forwardcast"]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: "Examples/\(folder)", swiftSettings: settings)
}

let examples = [
  example("tables", "Tables"),
  example("stand-in", "StandIn"),
  example("outbox", "Outbox"),
  example("server", "Server"),
  example("plug-in", "PlugIn"),
  example("themes", "Themes"),
  example("emperor", "Emperor"),
  example("cart", "Cart"),
  example("messenger", "Messenger", ["Forwardcast", "ForwardcastCenters"]),
  example("bluetooth", "Bluetooth"),
  example("downloads", "Downloads"),
  example("chat", "Chat"),
  example("console", "Console", ["Forwardcast", "ForwardcastScript"]),
  example("audit", "Audit"),
  example("feed", "Feed"),
  example("undo", "Undo", ["Forwardcast", "ForwardcastRecording"]),
  example("test-doubles", "TestDoubles", ["Forwardcast", "ForwardcastTesting"]),
]

let package = Package(
  name: "Forwardcast",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Forwardcast", targets: ["Forwardcast"]),
    .library(name: "ForwardcastCenters", targets: ["ForwardcastCenters"]),
    .library(name: "ForwardcastRecording", targets: ["ForwardcastRecording"]),
    .library(name: "ForwardcastScript", targets: ["ForwardcastScript"]),
    .library(name: "ForwardcastTesting", targets: ["ForwardcastTesting"]),
    .library(name: "ForwardcastDistributed", targets: ["ForwardcastDistributed"]),
    .executable(name: "forwardcast", targets: ["ForwardcastCommand"]),
  ],
  targets: [
    // The program that the compiler starts is a loop around a module, so that tests can link the module.
    .target(
      name: "ForwardcastExpansion", path: "Sources/ForwardcastMacros", exclude: ["Program"], swiftSettings: settings),
    .macro(
      name: "ForwardcastMacros", dependencies: ["ForwardcastExpansion"], path: "Sources/ForwardcastMacros/Program",
      swiftSettings: settings),
    .target(name: "Forwardcast", dependencies: ["ForwardcastMacros"], swiftSettings: settings),
    .target(name: "ForwardcastCenters", dependencies: ["Forwardcast"], swiftSettings: settings),
    .target(name: "ForwardcastRecording", dependencies: ["Forwardcast"], swiftSettings: settings),
    .target(
      name: "ForwardcastScript", dependencies: ["Forwardcast", "ForwardcastCenters", "ForwardcastRecording"],
      swiftSettings: settings),
    .target(
      name: "ForwardcastTesting", dependencies: ["Forwardcast", "ForwardcastRecording"], swiftSettings: settings),
    .target(name: "ForwardcastDistributed", dependencies: ["Forwardcast"], swiftSettings: settings),
    .executableTarget(
      name: "ForwardcastCommand", dependencies: ["Forwardcast", "ForwardcastRecording", "ForwardcastScript"],
      swiftSettings: settings),

    .target(name: "Interposer", path: "Examples/Benchmarks/Interposer"),
    .target(
      name: "AllocationCounter", dependencies: ["Interposer"], path: "Examples/Benchmarks/Allocations",
      swiftSettings: settings),
    .executableTarget(
      name: "forwardcast-benchmarks", dependencies: ["Forwardcast", "AllocationCounter"], path: "Examples/Benchmarks",
      exclude: ["Allocations", "Interposer", "Peers"], swiftSettings: settings),

    .testTarget(name: "ForwardcastTests", dependencies: ["Forwardcast", "AllocationCounter"], swiftSettings: settings),
    // Hooks and streams. Apart from the others, so that it compiles alone.
    .testTarget(
      name: "ForwardcastAroundTests", dependencies: ["Forwardcast", "AllocationCounter"], swiftSettings: settings),
    .testTarget(
      name: "ForwardcastCentersTests", dependencies: ["Forwardcast", "ForwardcastCenters"], swiftSettings: settings),
    .testTarget(
      name: "ForwardcastMacrosTests", dependencies: ["Forwardcast", "ForwardcastExpansion"], swiftSettings: settings),
    // The same shapes, in a module that is on the main actor by default.
    .testTarget(
      name: "ForwardcastMainActorTests", dependencies: ["Forwardcast"],
      swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "ForwardcastScriptTests", dependencies: ["Forwardcast", "ForwardcastRecording", "ForwardcastScript"],
      swiftSettings: settings),
    .testTarget(
      name: "ForwardcastTestingTests", dependencies: ["Forwardcast", "ForwardcastTesting"], swiftSettings: settings),
    .testTarget(
      name: "ForwardcastRecordingTests", dependencies: ["Forwardcast", "ForwardcastRecording", "ForwardcastScript"],
      swiftSettings: settings),
    // The code of README.md and of the catalogs. What is true of the main actor is compiled in a second module, which is
    // there by default; its files are links to the same code.
    .testTarget(
      name: "GuideTests",
      dependencies: [
        "Forwardcast", "ForwardcastCenters", "ForwardcastRecording", "ForwardcastScript", "ForwardcastTesting",
        "ForwardcastDistributed",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "GuideMainActorTests", dependencies: ["Forwardcast"],
      swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
    // An engine over pipes and the program at their other end; both serve tests alone.
    .target(
      name: "PipeActorSystem", dependencies: ["Forwardcast", "ForwardcastDistributed"], path: "Tests/PipeActorSystem",
      swiftSettings: settings),
    .executableTarget(
      name: "distributed-peer", dependencies: ["ForwardcastDistributed", "PipeActorSystem"],
      path: "Tests/DistributedPeer", swiftSettings: settings),
    .testTarget(
      name: "ForwardcastDistributedTests",
      dependencies: ["ForwardcastDistributed", "PipeActorSystem", "distributed-peer"], swiftSettings: settings),
    // Depends on what it runs, so that all of it is built.
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "ForwardcastCommand", "themes", "emperor", "cart", "console", "messenger", "bluetooth", "downloads", "chat",
        "audit", "feed",
        "undo",
        "test-doubles",
      ],
      swiftSettings: settings),
  ] + examples
)

// Who works on a part builds that part: with FORWARDCAST_ONLY="NAME …" the tests, examples and programs that are not
// named are left out. Libraries and the command stay.
if let names = Context.environment["FORWARDCAST_ONLY"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { target in
    [.test, .executable].contains(target.type) && target.name != "ForwardcastCommand" && !names.contains(target.name)
  }
}
