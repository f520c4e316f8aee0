// EndpointLineTests.swift: a single line.

import Forwardcast
import TestSupport
import Testing

@testable import ForwardcastDistributed

@MainActor
@Suite("Lines of an endpoint")
struct EndpointLineTests {
  private let memory = EndpointMemory(100_000)
  private let owner = WireName("tests")
  private let line: EndpointLine

  init() { line = EndpointLine(LineName(of: 1), owner: owner, window: 4, memory) }

  /// Places a message that has arrived and awaits number 1.
  private func place(_ number: Int) throws -> EndpointMessage {
    let text = "forwardcast:2 {1:k4:call1:l1:x1:ni\(number);1:s4:rest1:a[]1:bi1;}"
    guard case .call(let call) = try WireRequest.read(WireFields.read(text, MessageLimits())) else {
      throw Burnt(description: text)
    }
    return try line.place(call).0
  }

  /// Lets all main-actor tasks run until they suspend.
  private func rest() async { for _ in 0..<10 { await Task.yield() } }

  @Test("an abandoned call is refused on arrival, and so is one beyond the window")
  func refused() throws {
    func refusal(_ number: Int) -> WireRefusal.Code? {
      do {
        _ = try place(number)
        return nil
      } catch { return (error as? WireRefusal)?.code }
    }
    let first = try place(1)
    expect(line.begins(first) && line.keepOnly([1], upTo: 2))
    expect([2, 4, 5].map(refusal), equals: [.superseded, nil, .ahead])
  }

  @Test("the refusal of a number that is too far ahead names the limit that it exceeds")
  func farAhead() throws {
    func evidence(_ number: Int, _ awaited: Int) throws -> String {
      let text = "forwardcast:2 {1:k4:call1:l1:x1:ni\(number);1:s4:rest1:a[]1:bi\(awaited);}"
      guard case .call(let call) = try WireRequest.read(WireFields.read(text, MessageLimits())) else { return "" }
      do { return "\(try line.place(call).isSecond)" } catch { return error.evidence }
    }
    expect(line.keepOnly([], upTo: 3))
    try expect(
      evidence(5, 1), equals: "message 5 is not within 4 messages of message 1, the first one that the sender awaits")
    let far = EndpointLine.reach + 4
    try expect(
      evidence(far, far),
      equals: "message \(far) is too far ahead of message 3, the last one that has begun")
  }

  @Test("waiting messages run in the order of their numbers, whichever arrived first")
  func order() async throws {
    let first = try place(1)
    expect(line.begins(first))
    var began: [Int] = []
    for message in [try place(3), try place(2)] {
      Task {
        guard await line.turn(of: message) else { return }
        began.append(message.number)
        line.end(message, with: "")
      }
    }
    await rest()
    line.end(first, with: "")
    await rest()
    expect(began, equals: [2, 3])
  }

  @Test("a waiting message is notified when its sender no longer awaits it")
  func notAwaited() async throws {
    let (first, second) = (try place(1), try place(2))
    expect(line.begins(first))
    var hasTurn: Bool?
    Task { hasTurn = await line.turn(of: second) }
    await rest()
    line.release(below: 3)
    await rest()
    expect(hasTurn, equals: false)
  }

  @Test("closing a line cancels the task that would wake it")
  func closedLine() async {
    var line: EndpointLine? = EndpointLine(LineName(of: 1), owner: owner, window: 4, memory)
    let watch = Task { while !Task.isCancelled { await Task.yield() } }
    line?.watch = (.never, watch)
    line = nil
    await watch.value
  }

  @Test("an answer that its sender no longer awaits uses no memory")
  func answerOfNobody() throws {
    let first = try place(1)
    expect(line.begins(first))
    line.release(below: 2)
    line.end(first, with: String(repeating: "x", count: 30_000))
    expect(memory.take(50_000, for: owner))
  }
}
