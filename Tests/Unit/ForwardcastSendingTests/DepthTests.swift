// DepthTests.swift: endless nested sends, on stacks of every size.

import CoreTestSupport
import Dispatch
import Forwardcast
import Foundation
import Synchronization
import TestSupport
import Testing

extension Message<() -> Int> { fileprivate static var surface: Self { .init("surface") } }
extension Message<(Int) -> Int> { fileprivate static var dive: Self { .init("dive:") } }

/// Sends its own message again, in the way that the test chose.
private final class Diver: MessageReceiver {
  enum Door: CaseIterable { case typed, converted, boxed }
  let door: Door
  init(_ door: Door) { self.door = door }

  static let selectorTable = SelectorTable(for: Diver.self) {
    Responds(to: .dive) { diver, depth in
      switch diver.door {
      case .typed: return try diver.send(.dive, depth + 1)
      case .converted: return try diver.send(Message<(Int32) -> Int>("dive:"), Int32(depth + 1))
      case .boxed:
        var call = Invocation("dive:", arguments: [ArgumentBox(depth + 1)])
        try diver.perform(&call)
        return depth
      }
    }
    Responds(to: "surface") { (_: Diver) in 1 }
  }
}

/// Forwards each message to itself.
private final class Echoing: MessageForwarding {
  static let selectorTable = SelectorTable(for: Echoing.self, rows: [])
  func methodSignature(for selector: MessageSelector) -> MethodSignature? { .sample("@@:@") }
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    try perform(&invocation)
    return DeliveryReport()
  }
}

/// Runs `body` on a thread with a stack of the given size in KiB.
private func onStack(_ size: Int, _ body: @escaping @Sendable () -> Void) {
  let end = DispatchSemaphore(value: 0)
  let thread = Thread {
    body()
    end.signal()
  }
  thread.stackSize = size << 10
  thread.start()
  expect(end.wait(timeout: .now() + 600), equals: .success)
}

@Suite("Messages that send messages")
struct DepthTests {
  @Test("a method that sends its own message throws an error on stacks of every size", arguments: Diver.Door.allCases)
  private func recursion(door: Diver.Door) {
    for size in [64, 128, 256, 512, 1024, 8192] {
      onStack(size) {
        let error = #expect(throws: MessageError.self) { try Diver(door).send(.dive, 0) }
        expect(error?.code, equals: .tooDeep, "\(size) KiB")
        expect(error?.description.hasPrefix("too many levels in 'dive:' of Diver") == true)
        // After the error, a send works again.
        expect(try? Diver(door).send(Message<() -> Int>("surface")), equals: 1)
      }
    }
  }

  @Test("onError that sends a failing message again is not called once too little stack is left")
  func handlers() {
    struct Refusal: Error {}
    // On smaller stacks, creating the first error's types may need more than the reserved quarter.
    for size in [8192, 1024, 512, 256] {
      onStack(size) {
        let proxy = MulticastProxy<any MessageReceiver & Sendable>()
        let told = Mutex(0)
        proxy.on(.dive) { _ in throw Refusal() }
        proxy.onError = { [weak proxy] _ in
          told.withLock { $0 += 1 }
          proxy?.broadcast(.dive, 0)
        }
        expect(proxy.broadcast(.dive, 0).failed, equals: 1)
        expect(told.withLock { $0 } > 3, "\(size) KiB")
      }
    }
  }

  @Test("a closure that sends to its own proxy throws an error on small stacks", arguments: [64, 96, 128])
  func closures(size: Int) {
    onStack(size) {
      let proxy = MulticastProxy<any MessageReceiver>()
      proxy.on(.dive) { [unowned proxy] depth in try proxy.collect(.dive, depth + 1, returning: .sum) }
      let error = #expect(throws: MessageError.self) { try proxy.collect(.dive, 0, returning: .sum) }
      expect(error?.code, equals: .tooDeep)
    }
  }

  @Test("a chain of proxies that retain each other is released on a small stack", arguments: [true, false])
  func chains(byClosures: Bool) {
    typealias Proxy = MulticastProxy<any MessageReceiver>
    onStack(512) {
      var (last, ends): (Proxy, [Bool]) = (Proxy(), [])
      weak let first = last
      for number in 0..<40_000 {
        let next = Proxy()
        if number % 100 == 0 { next.on(.dive) { $0 } }
        if byClosures { next.on(.surface) { [last] in last.count } } else { next.add(last, ownership: .strong) }
        last = next
      }
      ends.append(first != nil)
      last = Proxy()
      expect(ends + [first == nil], equals: [true, true])
    }
  }

  @Test("a forwarding hook that sends its own message throws an error")
  func forwarding() {
    onStack(512) {
      var call = Invocation("any:", arguments: [.init(1)])
      let error = #expect(throws: MessageError.self) { try Echoing().perform(&call) }
      expect(error?.code, equals: .tooDeep)
      expect(call.result == nil)
    }
  }

  @Test("a thousand nested sends work on an ordinary stack")
  func ordinaryDepth() {
    final class Counting: MessageReceiver {
      static let selectorTable = SelectorTable(for: Counting.self) {
        Responds(to: .dive) { (target: Counting, depth: Int) in
          depth == 0 ? 0 : try target.send(.dive, depth - 1) + 1
        }
      }
    }
    onStack(8192) {
      expect(try? Counting().send(.dive, 1000), equals: 1000)
      expect(StackGuard.hasRoom)
    }
  }

  @Test("method lookup through thousands of inherited tables works on a small stack")
  func inheritedTables() {
    let surface = Message<() -> Int>.surface
    var tables = [SelectorTable(for: Diver.self) { Responds(to: surface) { (_: Diver) in 1 } }]
    for _ in 0..<10_000 { tables.append(SelectorTable(for: Diver.self, inheriting: tables[tables.count - 1]) {}) }
    let last = tables[tables.count - 1]
    onStack(512) {
      expect(last.method(for: "surface") != nil)
      expect(last.method(for: "climb") == nil)
      expect(last.selectors, equals: ["surface"])
    }
    // One by one, since releasing a table releases the inherited one.
    while tables.count > 1 { tables.removeLast() }
  }

  @Test("a typed broadcast that repeats itself throws an error")
  func typedCalls() {
    onStack(512) {
      let (proxy, diver) = (MulticastProxy<Diver>(), Diver(.typed))
      proxy.add(diver)
      let errors = Journal()
      proxy.onError = { errors.write(($0.error as? MessageError)?.code.description ?? "other") }
      func call() { proxy.broadcast { _ in call() } }
      call()
      expect(errors.all, equals: [MessageError.Code.tooDeep.description])
      withExtendedLifetime(diver) {}
    }
  }

  @Test("withheld targets are listed through the maximum number of nested proxies on a small stack")
  func withheld() {
    onStack(128) {
      let leaf = Echoing()
      var proxies = [MulticastProxy<any MessageReceiver>()]
      proxies[0].add(leaf)
      for inner in 0..<250 {
        proxies.append(MulticastProxy<any MessageReceiver>())
        proxies[inner + 1].add(proxies[inner])
      }
      let hook = try? proxies[250].around("value") { _ in [ArgumentBox]() }
      var call = Invocation("value", arguments: [])
      let skipped = try? proxies[250].forward(&call).skipped
      expect(skipped?.map(\.reason), equals: [.withheld])
      expect(skipped?.first?.target === leaf)
      hook?.cancel()
    }
  }

  @Test("a query through twenty thousand proxies returns false, and through a hundred true", .oneAtATime)
  func questions() {
    onStack(512) {
      func chain(_ length: Int) -> [ForwardingProxy] {
        var proxies = [ForwardingProxy(to: Diver(.typed))]
        while proxies.count < length { proxies.append(ForwardingProxy(to: proxies[proxies.count - 1])) }
        return proxies
      }
      for (length, answer) in [(100, true), (20_000, false)] {
        var proxies = chain(length)
        expect(proxies[length - 1].responds(to: "surface"), equals: answer)
        // From the outside in, so that no release recurses through all of them.
        while !proxies.isEmpty { proxies.removeLast() }
      }
    }
  }
}
