// Doer.swift: a target with an async method.

import CoreTestSupport
import Forwardcast
import TestSupport

/// A target whose async method runs a test's closure.
final class Doer: Member, MessageReceiver {
  private let action = Locked<(@Sendable (Int) async throws -> Int)?>(nil)

  func does(_ body: @escaping @Sendable (Int) async throws -> Int) { action.withLock { $0 = body } }

  static let selectorTable = SelectorTable(for: Doer.self) {
    Responds(
      to: .slow,
      async: { doer, number in
        guard let action = doer.action.withLock({ $0 }) else { return number }
        return try await action(number)
      })
  }
}

extension MulticastProxy where Interface == any Member {
  func ask(_ number: Int = 1) async throws -> Int {
    try await collectAndWait(.slow, number, returning: .sum)
  }
}
