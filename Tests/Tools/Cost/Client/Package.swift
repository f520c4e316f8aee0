// swift-tools-version: 6.3
// A client package whose instructions Tests/Tools/Cost/instructions.sh counts. Clients are compiled
// without the library's sources, unlike code in this package.

import PackageDescription

let package = Package(
  name: "Client",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Forwardcast", path: "../../../..")],
  targets: [
    // Targets, counterparts and senders are symbolic links to those of the benchmarks.
    .executableTarget(
      name: "cost-client",
      dependencies: [
        .product(name: "Forwardcast", package: "Forwardcast"),
        .product(name: "ForwardcastRecording", package: "Forwardcast"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny")])
  ]
)
