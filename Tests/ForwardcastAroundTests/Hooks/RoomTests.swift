// RoomTests.swift: senders that wait for room in a target's buffer, where something stands around the message.

import Dispatch
import Forwardcast
import TestSupport
import Testing

/// A proxy that may stand among the targets of another.
typealias Rooms = MulticastProxy<any MessageReceiver & Sendable>

@Suite("Room in buffers behind hooks", .timeLimit(.minutes(2)))
struct RoomTests {
  let journal = Journal()

  /// What may stand around the messages of a proxy without changing any.
  enum Surrounding: CaseIterable {
    case before, waitingAround, stream, trace

    func install(on proxy: Rooms) throws -> any Sendable {
      switch self {
      case .before: try proxy.before(.quote) { _ in }
      case .waitingAround: try proxy.around(.quote, waiting: { try await $0.proceed() })
      case .stream: proxy.messages(for: .quote)
      case .trace: proxy.trace { _ in }
      }
    }
  }

  /// Where the proxy with the buffer stands.
  enum Place: CaseIterable { case alone, nested, nestedOnQueue }

  @Test("a sender that waits gets an answer for each message, however little room there is", arguments: [1, 8])
  func allAnswer(room: Int) async throws {
    for surrounding in Surrounding.allCases {
      for place in Place.allCases {
        let inner = Rooms()
        let outer = Rooms()
        let desk = Desk("a", worth: 1, journal)
        let queue = DispatchQueue(label: "desk")
        inner.add(desk, delivery: .queue(queue), ownership: .strong, buffer: .suspendSender(room))
        switch place {
        case .alone: break
        case .nested: outer.add(inner, ownership: .strong)
        case .nestedOnQueue:
          outer.add(inner, delivery: .queue(DispatchQueue(label: "inner")), ownership: .strong)
        }
        let proxy = place == .alone ? inner : outer
        let kept = try surrounding.install(on: inner)
        let (answers, reports, broadcasts) = try await (
          answers(from: proxy) { try await proxy.collectAndWait(.quote, $0, returning: .sum) },
          answers(from: proxy) {
            let report = try await proxy.forwardAndWait(Invocation("quote:", arguments: [.init($0)]))
            return report.result?.value as? Int ?? 0
          },
          answers(from: proxy) { try await proxy.broadcastWhenReady(.quote, $0).queued }
        )
        expect(answers, equals: (2...51).reduce(0, +))
        expect(reports, equals: (2...51).reduce(0, +))
        expect(broadcasts, equals: 50)
        try await proxy.drain()
        expect(journal.all.count, equals: 150)
        journal.take()
        withExtendedLifetime(kept) {}
      }
    }
  }

  /// The sum of what fifty senders at once get.
  private func answers(
    from proxy: Rooms, _ send: @escaping @Sendable (Int) async throws -> Int
  ) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...50 { group.addTask { try await send(number) } }
      return try await group.reduce(0, +)
    }
  }
}
