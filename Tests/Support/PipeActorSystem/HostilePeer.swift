// HostilePeer.swift: a hostile peer of an endpoint with `note:`.

import ForwardcastDistributed
import Synchronization

/// A peer that writes wire texts by hand.
public struct HostilePeer: Sendable {
  /// An attack. It ends when everything it sent is answered.
  public enum Attack: String, CaseIterable, Sendable {
    /// Opens lines for senders with names of a megabyte.
    case names
    /// Sends messages that claim not to be awaited.
    case pastTheMark
    /// Sends messages of a megabyte that wait for earlier ones, which arrive last.
    case held
    /// Sends one message of a megabyte repeatedly while it waits.
    case again
    /// Opens lines and sends one message on each, until the endpoint forgets the first ones.
    case lines
    /// Sends selectors, keys, and names of requests, types and senders made of combining marks.
    case marks
  }

  private let send: @Sendable (String) async throws -> String

  public init(_ send: @escaping @Sendable (String) async throws -> String) { self.send = send }

  /// A run of combining marks in the order that takes longest to sort.
  public static func marks(_ bytes: Int) -> String { String(repeating: "\u{301}\u{316}", count: bytes / 4) }

  /// The kind of a reply: `answer`, `told`, or the code of a refusal.
  public static func kind(_ reply: String) -> String {
    let words = reply.split(separator: ":", maxSplits: 8)
    guard words.count > 4 else { return reply }
    let kind = words[3].dropLast()
    guard kind == "refused", let code = reply.firstRange(of: "1:c") else { return String(kind) }
    let text = reply[code.upperBound...]
    return String(text.drop { $0 != ":" }.dropFirst().prefix(Int(text.prefix { $0 != ":" }) ?? 0))
  }

  /// Opens a line and returns its name.
  public func open(_ sender: String) async throws -> String {
    let reply = try await send("forwardcast:2 {1:k4:open1:o\(item(sender))}")
    guard let start = reply.firstRange(of: "1:l32:") else { throw PipeError.remote(reply) }
    return String(reply[start.upperBound...].prefix(32))
  }

  /// Sends a message and returns the kind of its reply.
  ///
  /// - Parameter awaited: the first number that the message claims to await.
  public func call(
    _ line: String, _ number: Int, awaited: Int? = nil, selector: String = "note:", type: String = "Int",
    value: String = "i1;", more: String = ""
  ) async throws -> String {
    let from = awaited.map { "1:bi\($0);" } ?? ""
    let text = "forwardcast:2 {1:k4:call1:l\(item(line))1:ni\(number);1:s\(item(selector))\(from)\(more)"
    return HostilePeer.kind(try await send(text + "1:a[\(item(type))\(value)]}"))
  }

  private func item(_ text: String) -> String { "\(text.utf8.count):\(text)" }

  /// Runs an attack, or a fraction of it.
  ///
  /// - Returns: the number of replies of each kind.
  public func make(_ attack: Attack, parts: Int = 1) async throws -> [String: Int] {
    let counts = Mutex<[String: Int]>([:])
    @Sendable func note(_ kind: String) { counts.withLock { $0[kind, default: 0] += 1 } }
    let megabyte = String(repeating: "x", count: 1_000_000)
    switch attack {
    case .names:
      for number in 0..<1000 / parts {
        _ = try await open("\(number)\(megabyte)")
        note("opened")
      }
    case .pastTheMark:
      let line = try await open("mallory")
      let value = item(String(repeating: "x", count: 190_000))
      await atOnce(1...1000 / parts, note) { number in
        try await call(line, number, awaited: number + 1, type: "String", value: value)
      }
    case .held:
      var lines: [String] = []
      let count = 60 / parts
      for _ in 0..<count { lines.append(try await open("mallory")) }
      await atOnce(0..<16 * count, note) { [lines] index in
        try await call(lines[index % count], 16 - index / count, awaited: 1, type: "String", value: item(megabyte))
      }
    case .again:
      let line = try await open("mallory")
      let count = 400 / parts
      await atOnce(1...count, note) { index in
        try await call(line, index == count ? 1 : 2, awaited: 1, type: "String", value: item(megabyte))
      }
    case .lines:
      for number in 0..<4000 / parts { note(try await call(try await open("mallory \(number % 7)"), 1)) }
    case .marks:
      let marks = HostilePeer.marks(64_000)
      note(HostilePeer.kind(try await send("forwardcast:2 {1:k3:ask1:s\(item(marks))}")))
      note(HostilePeer.kind(try await send("forwardcast:2 {1:k\(item(marks))}")))
      note(HostilePeer.kind(try await send("forwardcast:2 {\(item(marks))n1:k3:ask1:s5:note:}")))
      let line = try await open(marks)
      note(try await call(line, 1, selector: marks))
      note(try await call(line, 2, type: marks))
      note(try await call(line, 3, type: "[String: Int]", value: "{\(item(marks))i1;\(item(marks + "x"))i2;}"))
      note(try await call(line, 4, type: "[String?: Int]", value: "[\(item(marks))i1;\(item(marks + "x"))i2;]"))
    }
    return counts.withLock { $0 }
  }

  /// Starts calls in order and waits for all. A query after each call keeps them in order.
  private func atOnce(
    _ numbers: some Sequence<Int>, _ note: @escaping @Sendable (String) -> Void,
    _ call: @escaping @Sendable (Int) async throws -> String
  ) async {
    await withDiscardingTaskGroup { group in
      for number in numbers {
        group.addTask(priority: .high) {
          do { note(try await call(number)) } catch { note("\(error)") }
        }
        _ = try? await send("forwardcast:2 {1:k3:ask1:s5:note:}")
      }
    }
  }
}
