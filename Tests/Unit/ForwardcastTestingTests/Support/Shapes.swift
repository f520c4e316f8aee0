// Shapes.swift: protocols with many kinds of requirements, each with a proxy for doubles.

import Forwardcast

struct Busy: Error, Equatable {}
struct NotFound: Error, Equatable { var name = "" }

@Forwarded
protocol Store: AnyObject {
  func load(_ name: String) throws -> String
  func save(_ name: String, count: Int)
  func clear()
  @Answer(.every) func mayClose() -> Bool
  @Answer(.last, otherwise: "untitled") var title: String { get set }
  func find(_ name: String?) -> [String]?
}

@Forwarded
protocol Logging: AnyObject {
  func note(_ text: String)
}

@Forwarded
protocol SharedLog: AnyObject, Sendable {
  func note(_ text: String)
}

@Forwarded
protocol Server: AnyObject, Sendable {
  func fetch(_ path: String) async throws -> [UInt8]
  func ping(_ number: Int) async
  @Answer(.sum) func unread() async -> Int
  func tell(_ text: String)
  func status(of path: String) throws -> Int
}

@MainActor
@Forwarded
protocol Screen: AnyObject {
  func show(_ text: String)
  func ask(_ question: String) throws -> Bool
  func wait() async throws -> String
}

/// Arguments that are not plain values.
@Forwarded
protocol Workshop: AnyObject {
  func use(_ tool: any Tool, then done: @escaping (Int) -> Void)
  func report(_ error: any Error)
  func keep(_ object: Hammer)
  func sum(_ numbers: [Int], table: [String: Double], pair: (Int, Int)) throws -> Int
}

protocol Tool { var name: String { get } }
final class Hammer: Tool { let name = "hammer" }
struct Saw: Tool { let name = "saw" }

@Forwarded(inheriting: (any Logging).self)
protocol LeveledLogging: Logging {
  func raise(_ level: Int)
}

/// Written by hand: the proxy itself conforms, with keys but without a table.
protocol Printer: AnyObject {
  func print(_ page: String)
  func pages() throws -> Int
}

extension Message<(String) -> Void> { static var printPage: Self { .init("print:") } }
extension Message<() -> Int> { static var pages: Self { .init("pages") } }

extension MulticastProxy: Printer where Interface == any Printer {
  func print(_ page: String) { broadcast(.printPage, page) }
  func pages() throws -> Int {
    guard let pages = try collect(.pages, returning: .last) else { throw nobodyResponds(to: "pages") }
    return pages
  }
}

final class RealPrinter: Printer {
  var printed: [String] = []
  func print(_ page: String) { printed.append(page) }
  func pages() -> Int { printed.count }
}

final class RealStore: Store {
  var title = "real"
  var saved: [String: Int] = [:]
  func load(_ name: String) throws -> String {
    guard let count = saved[name] else { throw NotFound(name: name) }
    return "\(name) \(count)"
  }
  func save(_ name: String, count: Int) { saved[name] = count }
  func clear() { saved = [:] }
  func mayClose() -> Bool { false }
  func find(_ name: String?) -> [String]? { name.map { [$0] } }
}

final class RealServer: Server {
  func fetch(_ path: String) async throws -> [UInt8] { Array(path.utf8) }
  func ping(_ number: Int) async {}
  func unread() async -> Int { 7 }
  func tell(_ text: String) {}
  func status(of path: String) throws -> Int { 200 }
}
