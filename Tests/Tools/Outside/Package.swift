// swift-tools-version: 6.3
// A client package that uses both attributes; OutsidePackageTests builds and runs it.

import PackageDescription

let package = Package(
  name: "Outside",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Forwardcast", path: "../../..")],
  targets: [
    .target(name: "Themes", dependencies: [.product(name: "Forwardcast", package: "Forwardcast")]),
    .executableTarget(
      name: "outside", dependencies: ["Themes", .product(name: "Forwardcast", package: "Forwardcast")],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    .executableTarget(name: "conformances", dependencies: [.product(name: "Forwardcast", package: "Forwardcast")]),
    .executableTarget(
      name: "five", dependencies: [.product(name: "Forwardcast", package: "Forwardcast")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
  ]
)
