// InvocationEqualityTests.swift: equality of messages.

import Forwardcast
import ForwardcastCoding
import TestSupport
import Testing

private final class Token {}
private struct Opaque { var number = 1 }

@Suite("Equal messages")
struct InvocationEqualityTests {
  private let token = Token()

  @Test("values compare by ==, objects by identity, and other values as unknown")
  func boxes() {
    let same: [(ArgumentBox, ArgumentBox)] = [
      (.init(1), .init(1)), (.init("a"), .init("a")), (.init([1, 2]), .init([1, 2])), (.init(token), .init(token)),
      (.init(Int?.none), .init(String?.none)), (.init(Int?(3)), .init(3)), (.init(Int.self), .init(Int.self)),
      (.init(()), .init(())), (.init([1, "a"] as [Any]), .init([1, "a"] as [Any])), (.weak(token), .init(token)),
    ]
    for (left, right) in same { expect(left.isEqual(to: right) == true, "\(left) \(right)") }
    let different: [(ArgumentBox, ArgumentBox)] = [
      (.init(1), .init(2)), (.init(1), .init(Int8(1))), (.init("1"), .init(1)), (.init(token), .init(Token())),
      (.init(Int?.none), .init(0)), (.init(Int.self), .init(String.self)), (.init([1]), .init([1, 2])),
      (.init([1, "a"] as [Any]), .init([1, "b"] as [Any])), (.init(Opaque()), .init(1)),
    ]
    for (left, right) in different { expect(left.isEqual(to: right) == false, "\(left) \(right)") }
    expect(ArgumentBox(Opaque()).isEqual(to: .init(Opaque())) == nil)
    expect(ArgumentBox({ () in }).isEqual(to: .init({ () in })) == nil)
  }

  @Test("messages are equal if their selectors, types and arguments are equal, whatever their results")
  func invocations() throws {
    let call = Invocation("add:to:", arguments: [.init(1), .init(2)])
    var answered = call
    answered.result = .init(3)
    expect(call.isEqual(to: answered) == true)
    expect(call.isEqual(to: Invocation("add:to:", arguments: [.init(1), .init(3)])) == false)
    expect(call.isEqual(to: Invocation("add:to:", arguments: [.init(1)])) == false)
    expect(call.isEqual(to: Invocation("add:with:", arguments: [.init(1), .init(2)])) == false)
    let stated = Invocation("add:to:", signature: try MethodSignature("q@:qq"), arguments: [.init(1), .init(2)])
    expect(call.isEqual(to: stated) == false)
    let opaque = Invocation("add:to:", arguments: [.init(1), .init(Opaque())])
    expect(opaque.isEqual(to: opaque) == nil)
    expect(opaque.isEqual(to: Invocation("add:to:", arguments: [.init(2), .init(Opaque())])) == false)
  }
}
