// TargetCastTests.swift: targets of a protocol's table, whose classes are cast once.

import Dispatch
import TestSupport
import Testing

@testable import Forwardcast

private protocol Numbering: AnyObject {
  func number(_ added: Int) throws -> Int
}

extension Message<(Int) -> Int> {
  fileprivate static var number: Self { .init("number:") }
}

private struct TooLarge: Error {}

/// A class for each type argument, so that there are more classes than a row caches.
private class Counted<T>: Numbering {
  let base: Int
  init(_ base: Int) { self.base = base }
  func number(_ added: Int) throws -> Int {
    if added > 1000 { throw TooLarge() }
    return base + added
  }
}

private final class Subclass: Counted<Int> {
  override func number(_ added: Int) throws -> Int { try super.number(added) * 10 }
}

private func proxy() -> MulticastProxy<any Numbering> {
  MulticastProxy(
    table: SelectorTable(for: (any Numbering).self) {
      Responds(to: .number) { target, added in try target.number(added) }
    })
}

private func manyClasses() -> [any Numbering] {
  [
    Counted<Int>(0), Counted<Int8>(1), Counted<Int16>(2), Counted<Int32>(3), Counted<Int64>(4), Counted<UInt>(5),
    Counted<UInt8>(6), Counted<UInt16>(7), Counted<UInt32>(8), Counted<UInt64>(9), Counted<Bool>(10),
    Counted<String>(11), Subclass(12),
  ]
}

@Suite("Targets of a protocol's table")
struct TargetCastTests {
  @Test("targets of more classes than a row caches are called as their own class, repeatedly")
  func manyClassesAreCalled() throws {
    let proxy = proxy()
    let targets = manyClasses()
    expect(targets.count > WitnessTables.limit)
    for target in targets { proxy.add(target) }
    for added in 0..<3 {
      let answers = try proxy.collect(.number, added, returning: .all)
      expect(answers, equals: (0..<12).map { $0 + added } + [(12 + added) * 10])
    }
    withExtendedLifetime(targets) {}
  }

  @Test("a row works after a target threw, and does not retain the target")
  func errorsLeaveTheRowAlone() throws {
    let proxy = proxy()
    var target: Counted<Int>? = Counted<Int>(5)
    weak let remembered = target
    proxy.add(try #require(target))
    for _ in 0..<3 {
      #expect(throws: TooLarge.self) { try proxy.collect(.number, 2000, returning: .last) }
      try expect(proxy.collect(.number, 1, returning: .last), equals: 6)
    }
    target = nil
    expect(remembered == nil)
    expect(try proxy.collect(.number, 1, returning: .last) == nil)
  }

  @Test("a target that a row stores is retained, and any other is not")
  func rowsMayKeepTargets() throws {
    final class Kept { var list: [any Numbering] = [] }
    nonisolated(unsafe) let kept = Kept()  // used by this test only, by one thread at a time
    let proxy = MulticastProxy<any Numbering>(
      table: SelectorTable(for: (any Numbering).self) {
        Responds(to: .number) { target, added in
          if added == 1 { kept.list.append(target) }
          return added
        }
      })
    var targets: [any Numbering] = [Counted<Int>(1), Counted<Int>(2)]
    for target in targets { proxy.add(target) }
    for added in 0..<4 { _ = try proxy.collect(.number, added, returning: .all) }
    targets = []
    expect(kept.list.count, equals: 2)
    expect(proxy.count, equals: 2)
    kept.list = []
    expect(proxy.count, equals: 0)
  }

  @Test("threads that send to new classes concurrently call the right methods")
  func threadsMeetNewClasses() {
    let table = SelectorTable(for: (any Numbering).self) {
      Responds(to: .number) { target, added in try target.number(added) }
    }
    let wrong = Guarded(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      let proxy = MulticastProxy<any Numbering>(table: table)
      let targets = manyClasses()
      for target in thread % 2 == 0 ? targets : targets.reversed() { proxy.add(target) }
      for added in 0..<200 {
        let sum = (try? proxy.collect(.number, added, returning: .sum)) ?? -1
        if sum != 66 + 12 * added + (12 + added) * 10 { wrong.withLock { $0 += 1 } }
      }
      withExtendedLifetime(targets) {}
    }
    expect(wrong.withLock { $0 }, equals: 0)
  }
}
