// PipelineTests.swift: the steps of a send, in order.

import CoreTestSupport
import Dispatch
import Forwardcast
import Synchronization
import TestSupport
import Testing

/// A receiver with configurable hooks that records their calls.
private final class Stepwise: MessageForwarding {
  static let selectorTable = SelectorTable(for: Stepwise.self) {
    Responds(to: "own") { (_: Stepwise) in "class" }
    Responds(to: "inObject") { (_: Stepwise) in "class" }
  }
  let objectTable: SelectorTable?
  let journal = Journal()
  var target: (any MessageReceiver)?
  var types: MethodSignature?

  init(table: SelectorTable? = nil) { objectTable = table }

  func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? {
    journal.write("target")
    return target
  }
  func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    journal.write("signature")
    return types
  }
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    journal.write("forward \(invocation)")
    invocation.result = ArgumentBox("forwarded")
    return DeliveryReport()
  }
  func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    journal.write("unknown")
    return TargetError(name: selector.name)
  }
}

private class Base: MessageReceiver {
  class var selectorTable: SelectorTable { baseTable }
}
private let baseTable = SelectorTable(for: Base.self) {
  Responds(to: "who") { (_: Base) in "base" }
  Responds(to: "kind") { (_: Base) in "base" }
}
private class Middle: Base {}
private final class Leaf: Middle {
  override class var selectorTable: SelectorTable { leafTable }
}
private let leafTable = SelectorTable(for: Leaf.self, inheriting: baseTable) {
  Responds(to: "who") { (_: Leaf) in "leaf" }
}

private final class Resolving: MessageReceiver {
  static let selectorTable = SelectorTable(for: Resolving.self, rows: [])
  static let asked = Journal()
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    asked.write(selector.name)
    guard selector.name.hasPrefix("resolved") else { return false }
    return (try? selectorTable.add(Responds(to: selector) { (_: Resolving) in selector.name })) != nil
  }
}

private final class SlowlyResolving: MessageReceiver {
  static let selectorTable = SelectorTable(for: SlowlyResolving.self, rows: [])
  static let asked = Atomic<Int>(0)
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    asked.add(1, ordering: .relaxed)
    return (try? selectorTable.add(Responds(to: selector) { (_: SlowlyResolving) in 1 })) != nil
  }
}

private final class RecursiveResolving: MessageReceiver {
  static let selectorTable = SelectorTable(for: RecursiveResolving.self, rows: [])
  static func resolveMethod(for selector: MessageSelector) -> Bool { RecursiveResolving().responds(to: selector) }
}

/// Two classes whose resolver hooks wait for each other.
private final class Crossed<Other>: MessageReceiver, @unchecked Sendable {  // has no state
  static var selectorTable: SelectorTable { crossedTable }
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    meeting.arrive()
    if Other.self == Int.self { return Crossed<String>().responds(to: selector) }
    return Crossed<Int>().responds(to: selector)
  }
}
private let crossedTable = SelectorTable(for: (any MessageReceiver).self, rows: [])
private let meeting = Meeting()

/// A meeting point of two threads, used once.
private final class Meeting: Sendable {
  private let first = DispatchSemaphore(value: 0)
  private let arrived = Atomic<Int>(0)
  func arrive() {
    switch arrived.add(1, ordering: .sequentiallyConsistent).newValue {
    case 1: first.wait()
    case 2: first.signal()
    default: break
    }
  }
}

@Suite("The way of one send")
struct PipelineTests {
  private func text(_ selector: MessageSelector, _ receiver: any MessageReceiver) throws -> String {
    try receiver.send(Message<() -> String>(selector))
  }

  @Test("an object's own table comes before its class's, and a class's before its superclass's")
  func tables() throws {
    let table = SelectorTable(for: Stepwise.self) { Responds(to: "inObject") { (_: Stepwise) in "object" } }
    let receiver = Stepwise(table: table)
    try expect(text("inObject", receiver), equals: "object")
    try expect(text("inObject", Stepwise()), equals: "class")
    try expect(text("own", receiver), equals: "class")
    expect(receiver.journal.all.isEmpty)
    try expect(text("who", Leaf()), equals: "leaf")
    try expect(text("kind", Leaf()), equals: "base")
    try expect(text("who", Middle()), equals: "base")
  }

  @Test(
    "after the tables, forwardingTarget, methodSignature, forward and doesNotRecognize are called in order, if needed")
  func hooks() throws {
    let receiver = Stepwise()
    #expect(throws: TargetError(name: "other")) { try text("other", receiver) }
    expect(receiver.journal.take(), equals: ["target", "signature", "unknown"])
    receiver.types = .sample("@@:")
    try expect(text("other", receiver), equals: "forwarded")
    expect(receiver.journal.take(), equals: ["target", "signature", "forward other"])
    receiver.target = Leaf()
    try expect(text("who", receiver), equals: "leaf")
    expect(receiver.journal.take(), equals: ["target"])
    receiver.target = receiver
    defer { receiver.target = nil }
    try expect(text("other", receiver), equals: "forwarded")
    expect(receiver.journal.take(), equals: ["target", "signature", "forward other"])
  }

  @Test("a message that the forwarding target does not recognize fails there")
  func targetDoesNotKnow() throws {
    let receiver = Stepwise()
    receiver.target = Leaf()
    let error = #expect(throws: MessageError.self) { try text("other", receiver) }
    expect(error?.description, equals: "unrecognized selector 'other' of Leaf")
    expect(receiver.journal.all, equals: ["target"])
  }

  @Test("a cycle of forwarding targets is an error, however long it is", arguments: [2, 3, 10])
  func ring(length: Int) {
    let ring = (0..<length).map { _ in Stepwise() }
    for (index, receiver) in ring.enumerated() { receiver.target = ring[(index + 1) % length] }
    defer { for receiver in ring { receiver.target = nil } }
    let error = #expect(throws: MessageError.self) { try text("other", ring[0]) }
    expect(error?.code, equals: .proxyCycle)
  }

  @Test("a chain of forwarding targets created for one message is followed, and not taken for a cycle", .oneAtATime)
  func freshTargets() throws {
    final class Hop: MessageForwarding {
      static let selectorTable = SelectorTable(for: Hop.self, rows: [])
      let left: Int
      init(_ left: Int) { self.left = left }
      func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? {
        left == 0 ? Leaf() : Hop(left - 1)
      }
    }
    try expect(text("who", Hop(100)), equals: "leaf")
    let error = #expect(throws: MessageError.self) { try text("who", Hop(.max)) }
    expect(error?.code, equals: .tooDeep)
  }

  @Test("the resolver hook is called once for each class and selector, and what it adds is found")
  func resolver() throws {
    try expect(text("resolvedA", Resolving()), equals: "resolvedA")
    try expect(text("resolvedA", Resolving()), equals: "resolvedA")
    for _ in 0..<3 { #expect(throws: MessageError.self) { try text("unresolvedA", Resolving()) } }
    expect(Resolving.asked.all.filter { $0 == "resolvedA" }, equals: ["resolvedA"])
    expect(Resolving.asked.all.filter { $0 == "unresolvedA" }, equals: ["unresolvedA"])
    Resolving.selectorTable.remove("resolvedA")
    #expect(throws: MessageError.self) { try text("resolvedA", Resolving()) }
    expect(Resolving.asked.all.filter { $0 == "resolvedA" }, equals: ["resolvedA"])
  }

  @Test("the hook runs once for each selector even if many threads query it, and all of them find the method")
  func resolverThreads() throws {
    let rounds = 300
    let selectors = try (0..<rounds).map { try MessageSelector("slow\($0)") }
    let misses = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      let receiver = SlowlyResolving()
      for selector in selectors where (try? receiver.send(Message<() -> Int>(selector))) != 1 {
        misses.add(1, ordering: .relaxed)
      }
    }
    expect(misses.load(ordering: .relaxed), equals: 0)
    expect(SlowlyResolving.asked.load(ordering: .relaxed), equals: rounds)
  }

  @Test("a resolver hook that queries the selector being resolved gets false")
  func recursiveHook() { expect(!RecursiveResolving().responds(to: "anything")) }

  @Test("two resolver hooks on two threads that query each other both end")
  func crossedHooks() async {
    let (one, two) = (Crossed<Int>(), Crossed<String>())
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await onThread { expect(!one.responds(to: "crossed")) } }
      group.addTask { await onThread { expect(!two.responds(to: "crossed")) } }
    }
  }

  @Test("a receiver without hooks responds only to the messages in its tables")
  func unrecognized() {
    let error = #expect(throws: MessageError.self) { try text("wash:", Leaf()) }
    expect(error?.code, equals: .unrecognizedSelector)
    expect(error?.receiver, equals: "Leaf")
    expect(error?.selector, equals: "wash:")
    expect(Leaf().responds(to: "kind"))
    expect(!Leaf().responds(to: "wash:"))
    expect(Leaf().methodSignature(for: "kind")?.description, equals: "@\"String\"@:")
    expect(Leaf().methodSignature(for: "wash:") == nil)
  }
}
