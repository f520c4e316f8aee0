// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let package = Package(
  name: "Forwardcast",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Forwardcast", targets: ["Forwardcast"]),
    .library(name: "ForwardcastScript", targets: ["ForwardcastScript"]),
    .executable(name: "forwardcast", targets: ["forwardcast"]),
  ],
  targets: [
    .target(name: "Forwardcast", swiftSettings: settings),
    .target(name: "ForwardcastScript", dependencies: ["Forwardcast"], swiftSettings: settings),
    .executableTarget(
      name: "forwardcast", dependencies: ["Forwardcast", "ForwardcastScript"], path: "Sources/ForwardcastCommand",
      swiftSettings: settings),
    .executableTarget(
      name: "themes", dependencies: ["Forwardcast"], path: "Examples/Themes", swiftSettings: settings),
    .executableTarget(
      name: "emperor", dependencies: ["Forwardcast"], path: "Examples/Emperor", swiftSettings: settings),
    .executableTarget(
      name: "cart", dependencies: ["Forwardcast"], path: "Examples/Cart", swiftSettings: settings),
    .executableTarget(
      name: "console", dependencies: ["Forwardcast", "ForwardcastScript"], path: "Examples/Console",
      swiftSettings: settings),
    .testTarget(name: "ForwardcastTests", dependencies: ["Forwardcast"], swiftSettings: settings),
    .testTarget(
      name: "ForwardcastScriptTests", dependencies: ["Forwardcast", "ForwardcastScript"], swiftSettings: settings),
  ]
)
