// CompilerTests.swift: what the compiler says of written text, in modules of all kinds.
// Layer: Tests. See the article "How the attributes work".

import Foundation
import TestSupport
import Testing

@Suite("What the compiler says of written text", .enabled(if: Build.isThere, "it needs the library beside the tests"))
struct CompilerTests {
  @Test("a temporary that is added weakly gets a warning, and no other target does")
  func temporaries() throws {
    let said = try Build.said(
      of: """
        import Forwardcast
        @Forwarded protocol PageDelegate: AnyObject { func turned() }
        @Forwarded protocol SharedDelegate: AnyObject, Sendable { func turned() }
        @Forwarded @MainActor protocol ViewDelegate: AnyObject { func turned() }
        @Forwarded protocol ListDelegate<Item>: AnyObject { associatedtype Item; func turned(_ item: Item) }
        @Forwarded protocol AddingDelegate: AnyObject { func add(_ delegate: any AddingDelegate) }
        final class Target: PageDelegate, SharedDelegate, AddingDelegate {
          func turned() {}
          func add(_ delegate: any AddingDelegate) {}
        }
        final class View: ViewDelegate { func turned() {} }
        final class List: ListDelegate { func turned(_ item: Int) {} }
        func shared() -> SharedDelegateProxy { SharedDelegateProxy() }

        @MainActor func work() {
          let (pages, views, lists) = (PageDelegateProxy(), ViewDelegateProxy(), ListDelegateProxy<Int>())
          pages.add(Target())  // warned
          shared().add(Target())  // warned
          views.add(View())  // warned
          lists.add(List())  // warned
          pages.add(Target(), ownership: .strong)
          let target = Target()
          pages.add(target)
          pages.add(target, priority: 1)
          AddingDelegateProxy().add(target)
        }
        """, ["-swift-version", "6"])
    let lines = said.split(separator: "\n").compactMap { $0.firstMatch(of: /swift:(\d+):\d+: (.*)/)?.output }
    expect(lines.map(\.1), equals: ["17", "18", "19", "20"], "\(said)")
    #expect(lines.allSatisfy { $0.2.hasPrefix("warning: weak reference will always be nil") }, "\(said)")
  }

  @Test("delegates as packages have them compile in modules of all kinds", arguments: Mode.all.sampled(each: 3))
  func modes(mode: Mode) throws {
    let said = try Build.said(
      of: """
        public import Foundation
        public import Forwardcast
        public struct User: Hashable {}
        public enum Section { case main }
        public struct Snapshot<Item: Hashable> {}
        extension Section: Hashable {}
        @MainActor public protocol Scrolling: AnyObject {}

        @Forwarded @MainActor public protocol ChatDelegate: AnyObject {
          func chat(_ id: Int, isTyping users: Set<User>)
          func chat(_ id: Int, read places: [User: Int])
          func counts() -> [Section: Int]?
          var snapshot: Snapshot<User>? { get set }
          func left(_ user: User)
        }
        @Forwarded(inheriting: (any ChatDelegate).self) @MainActor public protocol RoomDelegate: ChatDelegate {
          func opened(_ names: [String: Int])
        }
        @Forwarded(inheriting: (any ChatDelegate).self) public protocol GroupDelegate: ChatDelegate { func joined() }
        @Forwarded public protocol ListDelegate: Scrolling { func selected(_ row: Int) }
        @Forwarded(otherwise: .emptyValues) public nonisolated protocol Loading: AnyObject {
          func load(_ url: URL, isFresh: Bool) async throws -> Data
          func mayLoad() async -> Bool
        }
        """, mode.arguments)
    #expect(!said.contains("error:"), "\(said)")
  }
}

/// What a module may be compiled with.
struct Mode: CustomTestStringConvertible {
  let testDescription: String
  let arguments: [String]

  private static let upcoming = [
    "ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault",
  ]
  static let all = ["5", "6"].flatMap { version in
    [[], upcoming].flatMap { features in
      [[], ["-default-isolation", "MainActor"]].map { isolation in
        Mode(
          testDescription:
            "Swift \(version)\(features.isEmpty ? "" : ", upcoming")\(isolation.isEmpty ? "" : ", main actor")",
          arguments: ["-swift-version", version] + isolation + features.flatMap { ["-enable-upcoming-feature", $0] })
      }
    }
  }
}

/// The library as it was built with the tests.
enum Build {
  private static let folder = URL(filePath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
  private static let modules = folder.appending(path: "Modules")
  private static let attributes = folder.appending(path: "ForwardcastMacros-tool")

  static let isThere =
    Toolchain.root != nil
    && [modules.appending(path: "Forwardcast.swiftmodule"), attributes].allSatisfy {
      FileManager.default.fileExists(atPath: $0.path)
    }

  /// What the compiler says of a file that imports the library.
  static func said(of text: String, _ arguments: [String]) throws -> String {
    try Toolchain.said(
      of: text,
      [
        "-emit-sil", "-o", "/dev/null", "-module-name", "Written", "-parse-as-library", "-I", modules.path,
        "-load-plugin-executable", "\(attributes.path)#ForwardcastMacros",
      ] + arguments)
  }
}
