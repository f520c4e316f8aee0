// AllocationTests.swift: what a message asks of the memory, counted.

import AllocationCounter
import Forwardcast
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

  /// Objects made for one message, when the first of its kind has gone before.
  func objects(perMessage send: (MulticastProxy<any MessageReceiver>, Int) -> Void) throws -> Double {
    let messages = 100
    for value in 0..<4 { send(proxy, value) }
    let count = try #require(
      AllocationCounter.count(.thisThread) {
        for value in 0..<messages { send(proxy, value) }
      }, "the runtime cannot be watched here")
    return Double(count) / Double(messages)
  }
}

@Suite("Memory asked for by messages")
struct AllocationTests {
  @Test("the counter sees arrays, instances and boxes, and nothing when nothing is made")
  func counterCounts() throws {
    var kept: [AnyObject] = []
    kept.reserveCapacity(8)
    #expect(AllocationCounter.count(.thisThread) { kept.append(Payload()) } == 1)
    #expect(AllocationCounter.count(.thisThread) { for _ in 0..<5 { kept.append(Payload()) } } == 5)
    #expect(AllocationCounter.count(.thisThread) { kept.removeAll(keepingCapacity: true) } == 0)
  }

  @Test("a typed broadcast makes no object, whatever the number of targets", arguments: [1, 10, 100])
  func typedMakesNothing(targets: Int) throws {
    let group = Group(targets)
    #expect(try group.objects { proxy, value in proxy.broadcast(.tick, value) } == 0)
    let (text, payload) = (String(repeating: "long ", count: 9), Payload())
    #expect(try group.objects { proxy, _ in proxy.broadcast(.take, text, payload) } == 0)
    #expect(group.targets.allSatisfy { $0.received == 4_956 + 104 * text.utf8.count })
  }

  @Test("a message by boxes makes as many objects for one target as for a hundred")
  func boxedDoesNotGrow() throws {
    func objects(_ targets: Int) throws -> Double {
      try Group(targets).objects { proxy, value in
        proxy.broadcast(Invocation("costTick:", arguments: [ArgumentBox(value)]))
      }
    }
    let one = try objects(1)
    #expect(try objects(100) == one)
    #expect(one <= 1)
  }
}
