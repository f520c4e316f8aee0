// TypedSendTests.swift: typed and boxed sends give the same answers.

import AllocationCounter
import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

private protocol Sample: Equatable, Sendable {
  static var samples: [Self] { get }
}
extension Int: Sample { static var samples: [Int] { [.min, -1, 0, 1, 127, 128, 300, 1 << 53, .max] } }
extension Int8: Sample { static var samples: [Int8] { [.min, 0, .max] } }
extension UInt64: Sample { static var samples: [UInt64] { [0, 255, .max] } }
extension Float: Sample { static var samples: [Float] { [0, 0.5, -3, 1e30] } }
extension Double: Sample { static var samples: [Double] { [0, 0.1, 7, 1e300] } }
extension String: Sample { static var samples: [String] { ["", "text"] } }
extension Bool: Sample { static var samples: [Bool] { [true, false] } }
extension Optional: Sample where Wrapped: Sample {
  static var samples: [Wrapped?] { [nil] + Wrapped.samples.map { $0 } }
}
extension Array: Sample where Element: Sample { static var samples: [[Element]] { [[], Element.samples] } }

private final class Echo: MessageReceiver {
  static let selectorTable = SelectorTable(for: Echo.self) {
    Responds(to: "int:") { (_: Echo, x: Int) in x }
    Responds(to: "small:") { (_: Echo, x: Int8) in x }
    Responds(to: "large:") { (_: Echo, x: UInt64) in x }
    Responds(to: "float:") { (_: Echo, x: Float) in x }
    Responds(to: "double:") { (_: Echo, x: Double) in x }
    Responds(to: "text:") { (_: Echo, x: String) in x }
    Responds(to: "truth:") { (_: Echo, x: Bool) in x }
    Responds(to: "optional:") { (_: Echo, x: Int?) in x }
    Responds(to: "list:") { (_: Echo, x: [Int]) in x }
    Responds(to: "raw:", signature: .sample("s@:s")) { (_: Echo, call: inout Invocation) in
      call.result = call.arguments[0]
    }
    Responds(to: "nothing:", signature: .sample("v@:@")) { (_: Echo, call: inout Invocation) in }
    Responds(to: "lie", signature: .sample("q@:")) { (_: Echo, call: inout Invocation) in call.result = .init("text") }
    Responds(to: .addTo) { (_: Echo, a: Int, b: Int) in a + b }
    Responds(to: "ping") { (_: Echo) in }
    Responds(to: "fail") { (_: Echo) throws -> Void in throw TargetError(name: "echo") }
  }
}

@Suite("Typed and boxed sends")
struct TypedSendTests {
  private static let types: [any Sample.Type] = [
    Int.self, Int8.self, UInt64.self, Float.self, Double.self, String.self, Bool.self, Int?.self, [Int].self,
  ]
  private static let selectors: [MessageSelector] = [
    "int:", "small:", "large:", "float:", "double:", "text:", "truth:", "optional:", "list:", "raw:",
  ]

  @Test("a typed send returns what the boxed message returns, for all types of key and row")
  func sameAnswers() {
    let echo = Echo()
    func check<T: Sample>(_ selector: MessageSelector, _ type: T.Type) {
      for value in T.samples {
        var call = Invocation(selector, arguments: [ArgumentBox(value)])
        let boxed = Result { () -> T in
          try echo.perform(&call)
          let box = try #require(call.result)
          return try box.unbox(as: T.self)
        }
        let typed = Result { try echo.send(Message<(T) -> T>(selector), value) }
        switch (typed, boxed) {
        case (.success(let left), .success(let right)): expect(left, equals: right, "\(selector) \(value)")
        case (.failure(let error), .failure):
          expect((error as? MessageError)?.code, equals: .typeMismatch, "\(selector) \(value): \(error)")
        default: Issue.record("\(selector) \(value) as \(T.self): typed \(typed), boxed \(boxed)")
        }
      }
    }
    for selector in Self.selectors { for type in Self.types { check(selector, type) } }
  }

  @Test("a proxy gives each row the arguments that a single receiver would get")
  func sameThroughProxy() {
    let echo = Echo()
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(echo)
    func check<T: Sample>(_ selector: MessageSelector, _ type: T.Type) {
      for value in T.samples {
        let alone = Result { try echo.send(Message<(T) -> T>(selector), value) }
        let through = Result { try proxy.collect(Message<(T) -> T>(selector), value, returning: .last) }
        switch (alone, through) {
        case (.success(let left), .success(let right)): expect(left, equals: right)
        case (.failure(let left), .failure(let right)): expect("\(left)", equals: "\(right)")
        default: Issue.record("\(selector) \(value) as \(T.self): alone \(alone), through \(through)")
        }
      }
    }
    for selector in Self.selectors { for type in Self.types { check(selector, type) } }
  }

  @Test("an argument that does not fit is reported with its index, the wanted and the found type")
  func mismatch() {
    let error = #expect(throws: MessageError.self) {
      try Echo().send(Message<(Int, String) -> Int>("add:to:"), 1, "two")
    }
    expect(error?.code, equals: .typeMismatch)
    expect(error?.argumentIndex, equals: 1)
    expect(error?.receiver, equals: "Echo")
    expect(
      error?.description, equals: "type mismatch in 'add:to:' of Echo: argument 1: wanted Int, found String (\"two\")")
  }

  @Test("a result that the sender cannot accept is a type mismatch without an index")
  func resultMismatch() {
    let error = #expect(throws: MessageError.self) { try Echo().send(Message<(Int) -> String>("int:"), 1) }
    expect(error?.code, equals: .typeMismatch)
    expect(error?.argumentIndex == nil)
    let lie = #expect(throws: MessageError.self) { try Echo().send(Message<() -> Int>("lie")) }
    expect(lie?.description, equals: "type mismatch in 'lie' of Echo: result: wanted Int (q), found String (\"text\")")
  }

  @Test("a wrong number of arguments is an error, typed and boxed", arguments: [0, 2])
  func argumentCount(count: Int) {
    var call = Invocation("int:", arguments: Array(repeating: .init(1), count: count))
    let error = #expect(throws: MessageError.self) { try Echo().perform(&call) }
    expect(error?.code, equals: .wrongArgumentCount)
    expect(error?.evidence, equals: "wanted 1, found \(count)")
    let typed = #expect(throws: MessageError.self) { try Echo().send(Message<() -> Int>("int:")) }
    expect(typed?.code, equals: .wrongArgumentCount)
  }

  @Test("a missing answer is accepted for Void and optionals, and an error otherwise")
  func noAnswer() throws {
    try Echo().send(Message<(Int) -> Void>("nothing:"), 1)
    let none = try Echo().send(Message<(Int) -> Int?>("nothing:"), 1)
    expect(none == nil)
    #expect(throws: MessageError.self) { try Echo().send(Message<(Int) -> Int>("nothing:"), 1) }
    try Echo().send(Message<(Int) -> Void>("int:"), 1)
  }

  @Test("typed and boxed sends rethrow a method's error unchanged")
  func thrown() {
    #expect(throws: TargetError(name: "echo")) { try Echo().send(Message<() -> Void>("fail")) }
    #expect(throws: TargetError(name: "echo")) { try Echo().send(Message<() -> Int>("fail")) }
    var call = Invocation("fail")
    #expect(throws: TargetError(name: "echo")) { try Echo().perform(&call) }
  }

  /// The blocks that `door` allocates, after a few warm-up calls.
  private func blocks(_ door: () -> Void) throws -> Int {
    try withTablesUnchanged {
      for _ in 0..<4 { door() }
      return try #require(AllocationCounter.count(.thisThread) { door() })
    }
  }

  @Test(
    "a typed send or broadcast whose types match allocates nothing",
    .enabled(if: AllocationCounter.isAvailable))
  func noAllocation() throws {
    let (echo, proxy) = (Echo(), MulticastProxy<any MessageReceiver>())
    let others = (0..<5).map { _ in Echo() }
    proxy.add(echo)
    for other in others { proxy.add(other) }
    let (add, text, list) = (
      Message<(Int, Int) -> Int>.addTo, Message<(String) -> String>("text:"), Message<([Int]) -> [Int]>("list:")
    )
    let (long, numbers) = (String(repeating: "long text ", count: 10), [1, 2, 3])
    let doors: [(String, () -> Void)] = [
      ("send numbers", { _ = try? echo.send(add, 1, 2) }),
      ("send text", { _ = try? echo.send(text, long) }),
      ("send a list", { _ = try? echo.send(list, numbers) }),
      ("broadcast numbers", { proxy.broadcast(add, 1, 2) }),
      ("broadcast text", { proxy.broadcast(text, long) }),
      ("broadcast a list", { proxy.broadcast(list, numbers) }),
    ]
    for (name, door) in doors {
      try expect(blocks(door), equals: 0, "\(name)")
    }
    expect(try blocks { _ = try? echo.send(Message<(Int8, Int) -> Int>("add:to:"), 1, 2) } > 0)
  }
}
