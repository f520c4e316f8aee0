// Support.swift: values and targets for the shapes.

import Forwardcast
import Synchronization

nonisolated struct Color: Sendable, Equatable {
  var shade = 0
  static let red = Color(shade: 1)
}

nonisolated enum LoadError: Error, Equatable { case gone, late }
nonisolated enum OtherError: Error { case odd }

@globalActor actor StoreActor { static let shared = StoreActor() }

nonisolated protocol Paintable { var paint: String { get } }
nonisolated struct Dot: Paintable { let paint = "dot" }

/// A log of calls for any isolation.
nonisolated final class Log: Sendable {
  private let kept = Mutex<[String]>([])
  func note(_ line: String) { kept.withLock { $0.append(line) } }
  var lines: [String] { kept.withLock { $0 } }
}

/// The errors passed to `onError`.
nonisolated final class Failures: Sendable {
  private let kept = Mutex<[MulticastFailure]>([])
  func note(_ failure: MulticastFailure) { kept.withLock { $0.append(failure) } }
  var errors: [any Error] { kept.withLock { $0.map(\.error) } }
  var selectors: [String] { kept.withLock { $0.map(\.selector.name) } }
}

extension MessageReceiver {
  /// Sends a message with the types of the given values.
  @discardableResult
  nonisolated func ask<R, each A>(
    _ selector: MessageSelector, _ arguments: repeat each A, returning type: R.Type = Void.self
  ) throws -> R {
    try send(Message<(repeat each A) -> R>(selector), repeat each arguments)
  }
}
