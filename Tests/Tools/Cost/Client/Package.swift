// swift-tools-version: 6.3
// A package of somebody else, whose instructions Tests/Tools/Cost/instructions.sh counts: what a user's own code costs is not what
// ours costs that the compiler sees beside it.

import PackageDescription

let package = Package(
  name: "Client",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Forwardcast", path: "../../../..")],
  targets: [
    // Targets, counterparts and ways of sending are links to those of the benchmarks.
    .executableTarget(
      name: "cost-client",
      dependencies: [
        .product(name: "Forwardcast", package: "Forwardcast"),
        .product(name: "ForwardcastRecording", package: "Forwardcast"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")])
  ]
)
