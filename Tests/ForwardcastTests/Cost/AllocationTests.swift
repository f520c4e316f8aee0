// AllocationTests.swift: what a message asks of the memory, counted.

import AllocationCounter
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

/// A proxy, and the targets that it holds weakly.
private struct Group {
  let proxy = MulticastProxy<any MessageReceiver>()
  let targets: [Target]

  init(_ count: Int) {
    targets = (0..<count).map { _ in Target() }
    for target in targets { proxy.add(target) }
  }

  /// Blocks asked for by one message, when the first of its kind has gone before.
  ///
  /// The least of some tries: a table that another test changes meanwhile makes this proxy's routes anew.
  func blocks(perMessage send: (MulticastProxy<any MessageReceiver>, Int) -> Void) throws -> Double {
    let messages = 100
    for value in 0..<4 { send(proxy, value) }
    let counts = try (0..<20).map { _ in
      try #require(
        AllocationCounter.count(.thisThread) {
          for value in 0..<messages { send(proxy, value) }
        })
    }
    return Double(counts.min() ?? messages) / Double(messages)
  }
}

@Suite("Memory asked for by messages", .enabled(if: AllocationCounter.isAvailable))
struct AllocationTests {
  @Test("the counter sees each instance that is made, and nothing when nothing is made")
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
    try expect(group.blocks { proxy, value in proxy.broadcast(.tick, value) }, equals: 0)
    let (text, payload) = (String(repeating: "long ", count: 9), Payload())
    try expect(group.blocks { proxy, _ in proxy.broadcast(.take, text, payload) }, equals: 0)
    // 0 to 3 once and 0 to 99 twenty times; the text as often.
    #expect(group.targets.allSatisfy { $0.received == 6 + 20 * 4_950 + 2_004 * text.utf8.count })
  }

  // Code that is not optimised copies boxes through the heap.
  #if !DEBUG
    @Test("a message by boxes asks for one block at most, for a hundred targets as for one")
    func boxedDoesNotGrow() throws {
      func blocks(_ targets: Int) throws -> Double {
        try Group(targets).blocks { proxy, value in
          proxy.broadcast(Invocation("costTick:", arguments: [ArgumentBox(value)]))
        }
      }
      let one = try blocks(1)
      #expect(one <= 1)
      try expect(blocks(100), equals: one)
    }
  #endif
}
