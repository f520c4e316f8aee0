// AllocationTests.swift: counts the allocations of messages.

import AllocationCounter
import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

private final class Payload: Sendable {}

extension Message<(Int) -> Void> { fileprivate static var tick: Self { .init("costTick:") } }
extension Message<(String, Payload) -> Void> { fileprivate static var take: Self { .init("costTake:with:") } }
extension Message<(Int, Int) -> Int> { fileprivate static var add: Self { .init("costAdd:with:") } }

private final class Target: MessageReceiver {
  var received = 0
  static let selectorTable = SelectorTable(for: Target.self) {
    Responds(to: .tick) { target, value in target.received += value }
    Responds(to: .take) { target, text, _ in target.received += text.utf8.count }
    Responds(to: .add) { target, first, second in first + second }
  }
}

/// A proxy, and targets that the proxy holds weakly.
private final class Group {
  let proxy = MulticastProxy<any MessageReceiver>()
  let targets: [Target]

  init(_ count: Int) {
    targets = (0..<count).map { _ in Target() }
    for target in targets { proxy.add(target) }
  }

  /// The number of sent messages.
  private(set) var sent = 0

  /// The allocations of one message, after a few warm-up messages of its kind.
  func blocks(perMessage send: (MulticastProxy<any MessageReceiver>) -> Void) throws -> Double {
    let messages = 100
    let blocks = try withTablesUnchanged {
      for _ in 0..<4 { send(proxy) }
      sent += 4 + messages
      return try #require(AllocationCounter.count(.thisThread) { for _ in 0..<messages { send(proxy) } })
    }
    return Double(blocks) / Double(messages)
  }
}

@Suite("Memory asked for by messages", .enabled(if: AllocationCounter.isAvailable))
struct AllocationTests {
  @Test("the counter counts each allocated instance and nothing else")
  func counterCounts() throws {
    var kept: [AnyObject] = []
    kept.reserveCapacity(8)
    expect(AllocationCounter.count(.thisThread) { kept.append(Payload()) }, equals: 1)
    expect(AllocationCounter.count(.thisThread) { for _ in 0..<5 { kept.append(Payload()) } }, equals: 5)
    var sum = 0
    expect(AllocationCounter.count(.thisThread) { sum &+= kept.count }, equals: 0)
    expect(sum, equals: 6)
  }

  @Test("a typed broadcast asks for no memory, whatever the number of targets", arguments: [1, 10, 100])
  func typedMakesNothing(targets: Int) throws {
    let group = Group(targets)
    try expect(group.blocks { $0.broadcast(.tick, 1) }, equals: 0)
    let (ticks, text, payload) = (group.sent, String(repeating: "long ", count: 9), Payload())
    try expect(group.blocks { $0.broadcast(.take, text, payload) }, equals: 0)
    expect(group.targets.allSatisfy { $0.received == ticks + (group.sent - ticks) * text.utf8.count })
  }

  // Unoptimized code copies boxes to the heap.
  #if !DEBUG
    @Test("a boxed message allocates one block at most, for one target as for a hundred")
    func boxedDoesNotGrow() throws {
      func blocks(_ targets: Int) throws -> Double {
        try Group(targets).blocks { $0.broadcast(Invocation("costTick:", arguments: [ArgumentBox(1)])) }
      }
      let one = try blocks(1)
      expect(one <= 1)
      try expect(blocks(100), equals: one)
    }
  #endif
}
