// main.swift: a module in Swift 5, where a class may be on an actor that its protocol is not on.

import Forwardcast

@MainActor class Screen { init() {} }

@Forwarded protocol ScreenDelegate: Screen {
  func load(_ row: Int) async -> Int?
  func shown(_ row: Int)
}

final class Table: Screen, ScreenDelegate {
  func load(_ row: Int) async -> Int? { row + 1 }
  func shown(_ row: Int) { print("shown", row) }
}

@MainActor func run() async {
  let (screens, table) = (ScreenDelegateProxy(), Table())
  screens.add(table)
  screens.shown(1)
  print(await screens.load(1) ?? 0)
  print(await (screens as any ScreenDelegate).load(2) ?? 0)
}
await run()
