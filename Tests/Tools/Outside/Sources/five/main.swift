// main.swift: a Swift 5 module in which a class may be on an actor that its protocol is not on.

import Forwardcast

@MainActor class Screen { init() {} }

@Forwarded protocol ScreenDelegate: Screen {
  func load(_ row: Int) async -> Int?
  func shown(_ row: Int)
}

// A refining protocol is on the actor through the same superclass.
@Forwarded(inheriting: (any ScreenDelegate).self) protocol TableDelegate: ScreenDelegate {
  func count(_ rows: [Int]) async throws -> Int
}
@Forwarded(inheriting: (any TableDelegate).self) protocol LongTableDelegate: TableDelegate { func last() async -> Int? }

final class Table: Screen, LongTableDelegate {
  func count(_ rows: [Int]) async throws -> Int { rows.count }
  func last() async -> Int? { 9 }
  func load(_ row: Int) async -> Int? { row + 1 }
  func shown(_ row: Int) { print("shown", row) }
}

@MainActor func run() async throws {
  let (screens, table) = (ScreenDelegateProxy(), Table())
  screens.add(table)
  screens.shown(1)
  print(await screens.load(1) ?? 0)
  print(await (screens as any ScreenDelegate).load(2) ?? 0)
  let tables = LongTableDelegateProxy()
  tables.add(table)
  print(await tables.load(3) ?? 0, await (tables as any ScreenDelegate).load(4) ?? 0)
  print(try await tables.count([1]), try await (tables as any TableDelegate).count([1, 2]), await tables.last() ?? 0)
  print(try await tables.count([1, 2, 3], returning: .sum))
}
try await run()
