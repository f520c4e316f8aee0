// ShapeTests.swift: doubles of protocols with unusual requirements.

import Forwardcast
import ForwardcastTesting
import TestSupport
import Testing

@globalActor
actor PressActor {
  static let shared = PressActor()
}

protocol Paint { var shade: Int { get } }
struct Ink: Paint { let shade: Int }

@Forwarded
protocol Easel: AnyObject {
  func draw(_ shape: some Paint, at place: Int)
  func keep(_ name: consuming String, _ other: borrowing String)
  func make(_ type: Int.Type, _ any: Any)
  func maybe(_ a: Int??, _ b: String!)
  @Answer(.last, otherwise: 0) func typed() throws(Busy) -> Int
  subscript(index: Int) -> String? { get set }
  var handler: (() -> Int)? { get set }
  func blend(_ a: Int, _ b: Int, _ c: Int) throws -> Int
  func many(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int) throws -> Int
  nonisolated(nonsending) func slowly(_ a: Int) async throws -> Int
}

@PressActor
@Forwarded
protocol Press: AnyObject {
  func start(_ pages: Int) throws -> Bool
  func finish() async throws -> Int
}

@Forwarded
protocol Vault: AnyObject, Sendable {
  func open(_ code: Int) async throws -> String
}

/// A real object that is an actor.
actor RealVault: Vault {
  func open(_ code: Int) throws -> String {
    if code != 7 { throw Busy() }
    return "gold"
  }
}

final class RealEasel: Easel {
  private(set) var log: [String] = []
  private var texts: [Int: String] = [:]
  var handler: (() -> Int)?
  func draw(_ shape: some Paint, at place: Int) { log.append("draw \(shape.shade) \(place)") }
  func keep(_ name: consuming String, _ other: borrowing String) { log.append("keep \(name)") }
  func make(_ type: Int.Type, _ any: Any) { log.append("make \(any)") }
  func maybe(_ a: Int??, _ b: String!) { log.append("maybe \(b ?? "nil")") }
  func typed() throws(Busy) -> Int { if log.isEmpty { throw Busy() } else { log.count } }
  subscript(index: Int) -> String? {
    get { texts[index] }
    set { texts[index] = newValue }
  }
  func blend(_ a: Int, _ b: Int, _ c: Int) throws -> Int { a + b * c }
  func many(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int) throws -> Int { a + b + c + d + e }
  nonisolated(nonsending) func slowly(_ a: Int) async throws -> Int { a * 2 }
}

@Suite("Doubles of unusual requirements")
struct ShapeTests {
  private typealias Says = EaselProxy.Messages
  private let failures = FailureList()
  private let easel: TestDouble<EaselProxy>

  init() { easel = TestDouble(EaselProxy(), reporter: failures.reporter) }

  private func useAll(_ proxy: any Easel) throws {
    proxy.draw(Ink(shade: 3), at: 4)
    proxy.keep("a", "b")
    proxy.make(Int.self, 1.5)
    proxy.maybe(.some(.none), nil)
    proxy[1] = "one"
    proxy.handler = { 5 }
  }

  @Test("calls with any arguments are recorded and forwarded to a real object")
  func partial() async throws {
    let real = RealEasel()
    easel.fallsBack(to: real)
    #expect(throws: Busy.self) { try easel.proxy.typed() }
    try useAll(easel.proxy)
    expect(real.log, equals: ["draw 3 4", "keep a", "make 1.5", "maybe nil"])
    expect(try easel.proxy[1] == "one" && easel.proxy.handler?() == 5 && easel.proxy.typed() == 4)
    try expect(easel.proxy.many(1, 2, 3, 4, 5), equals: 15)
    try await expect(easel.proxy.slowly(4), equals: 8)
    expect(easel.calls.count == 12 && failures.failures.isEmpty)
  }

  @Test("without a real object, calls are recorded and answered like those to a proxy without targets")
  func nice() throws {
    try useAll(easel.proxy)
    expect(easel.proxy[1] == nil && easel.proxy.handler == nil)
    expect(easel.calls.count, equals: 8)
    easel.verify(Says.draw, .where("of shade 3") { $0.shade == 3 }, 4)
    easel.verify(Says.keep, "a", "b")
    easel.verify(Says.make, .where("Int") { $0 == Int.self }, .where { $0 as? Double == 1.5 })
    expect(failures.failures.isEmpty)
  }

  @Test("typed errors, five arguments and async requirements can be stubbed")
  func stubs() async throws {
    easel.stub(Says.typed).fails(Busy()).answers(3)
    do {
      _ = try easel.proxy.typed()
      Issue.record("nothing was thrown")
    } catch { expect(error, equals: Busy()) }
    try expect(easel.proxy.typed(), equals: 3)
    easel.stub(Says.many, 1, 2, 3, .any, .equal(5)).runs { $0 + $3 + $4 }
    try expect(easel.proxy.many(1, 2, 3, 40, 5), equals: 46)
    #expect(throws: MessageError.self) { try easel.proxy.many(1, 2, 3, 4, 6) }
    // In a protocol that is not Sendable, async calls stay in the caller's isolation.
    let clock = TestClock()
    easel.stub(Says.slowly, 7).delayed(by: .seconds(1), on: clock).answers(14)
    async let moved: Void = clock.moveWhenSlept(by: .seconds(1))
    try await expect(easel.proxy.slowly(7), equals: 14)
    await moved
  }

  @Test("calls with three or more arguments can be stubbed, counted and found by each argument")
  func manyArguments() async throws {
    easel.stub(Says.blend, 1, .any, 3).runs { $0 * 100 + $1 * 10 + $2 }
    easel.stub(Says.many, .any, .any, .any, .any, 5).answers(0)
    for second in 1...2 { try expect(easel.proxy.blend(1, second, 3), equals: 103 + 10 * second) }
    for arguments in [(3, 2, 1), (1, 2, 4)] {
      #expect(throws: MessageError.self) { try easel.proxy.blend(arguments.0, arguments.1, arguments.2) }
    }
    try expect(easel.proxy.many(1, 2, 3, 4, 5), equals: 0)
    expect(easel.verify(Says.blend, 1, 2, 3, times: 1) && easel.verify(Says.blend, .any, 2, .any, times: 3))
    expect(easel.verify(Says.many, 1, 2, 3, 4, 5, times: 1) && easel.verify(Says.many, 5, 4, 3, 2, 1, times: .never))
    expect(easel.call(Says.blend, .any, .any, 3).count, equals: 2)
    expect(easel.call(Says.many, 1, .any, .any, 4, .any).count, equals: 1)
    expect(await easel.call(Says.blend, 1, 2, 4).wait())
    expect(failures.failures.isEmpty)
    easel.verify(Says.many, 1, 2, 3, 5, 4)
    expect(failures.failures.count, equals: 1)
  }

  @Test("a call falls back to an actor")
  func actorBehind() async throws {
    let vault = TestDouble(VaultProxy(), reporter: failures.reporter)
    vault.fallsBack(to: RealVault())
    vault.stub(VaultProxy.Messages.open, 1).answers("stubbed")
    try await expect(vault.proxy.open(7), equals: "gold")
    try await expect(vault.proxy.open(1), equals: "stubbed")
    await #expect(throws: Busy.self) { try await vault.proxy.open(2) }
    expect(vault.calls.map { $0.error?.type }, equals: [nil, nil, "Busy"])
  }

  @PressActor
  @Test("a protocol on a global actor has a double on that actor")
  func globalActor() async throws {
    let press = TestDouble(PressProxy(), .strict, reporter: failures.reporter)
    press.stub(PressProxy.Messages.start, .where { $0 < 100 }).answers(true)
    press.stub(PressProxy.Messages.finish).fails(Busy()).answers(99)
    let proxy: any Press = press.proxy
    expect(try proxy.start(5))
    await #expect(throws: Busy.self) { try await proxy.finish() }
    try await expect(proxy.finish(), equals: 99)
    expect(failures.failures.isEmpty)
  }
}

extension TestClock {
  fileprivate func moveWhenSlept(by duration: Duration) async {
    await waitForSleepers()
    advance(by: duration)
  }
}
