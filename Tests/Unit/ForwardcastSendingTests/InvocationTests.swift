// InvocationTests.swift: messages as values.

import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

private final class Adder: MessageReceiver {
  static let selectorTable = SelectorTable(for: Adder.self) {
    Responds(to: .addTo) { (_: Adder, a: Int, b: Int) in a + b }
    Responds(to: "subtract:from:") { (_: Adder, a: Int, b: Int) in b - a }
    Responds(to: "fail") { (_: Adder) throws -> Int in throw TargetError(name: "adder") }
    Responds(to: "spoil:", signature: .sample("@@:@")) { (_: Adder, call: inout Invocation) in
      call.arguments[0] = ArgumentBox("spoilt")
      call.result = ArgumentBox("done")
    }
  }
}

@Suite("Invocations")
struct InvocationTests {
  @Test("changing a copy does not change the original")
  func copies() throws {
    let original = Invocation("say:", arguments: [.init([1])])
    var copy = original
    copy.arguments[0] = .init([2])
    copy.result = .init("answered")
    try expect(original.argument(0, as: [Int].self), equals: [1])
    expect(original.result == nil)
  }

  @Test("a message keeps all its arguments unchanged if one of them does not fit", arguments: [false, true])
  func misfit(isStated: Bool) throws {
    let (types, tally) = (
      MethodSignature.sample("v@:qq"),
      BareReceiver {
        Responds(to: "put:with:", signature: .sample("v@:qq")) { (_: BareReceiver, _: inout Invocation) in }
      }
    )
    let values: [ArgumentBox] = [.init(Int8(1)), .init("x")]
    var call =
      isStated
      ? Invocation("put:with:", signature: types, arguments: values) : Invocation("put:with:", arguments: values)
    #expect(throws: MessageError.self) { try tally.perform(&call) }
    try expect(call.argument(0, as: Int8.self), equals: 1)
    expect(call.arguments[0].type == Int8.self)
  }

  @Test("an invocation prints like a call")
  func description() {
    let rows: [(Invocation, String)] = [
      (Invocation("ping"), "ping"),
      (
        Invocation("onAddMsg:msgData:", arguments: [.init("alice"), .init([1, 2])]),
        #"onAddMsg: "alice" msgData: [1, 2]"#
      ),
      (Invocation("set:", arguments: [.init(Int?.none)]), "set: nil"),
      (Invocation("a::", arguments: [.init(1), .init(0.5)]), "a: 1 : 0.5"),
      (Invocation("::", arguments: [.init(true), .init("x")]), #": true : "x""#),
      (Invocation("a:b:", arguments: [.init(1)]), "a: 1 b:"),
    ]
    for (call, text) in rows { expect(call.description, equals: text) }
  }

  @Test("a message can be sent, changed, sent again and retargeted")
  func resending() throws {
    let adder = Adder()
    var call = Invocation("add:to:", arguments: [.init(1), .init(2)])
    try adder.perform(&call)
    try expect(call.result?.unbox(as: Int.self), equals: 3)
    call.arguments[1] = .init(UInt8(40))
    try adder.perform(&call)
    try expect(call.result?.unbox(as: Int.self), equals: 41)
    try call.retarget(to: "subtract:from:")
    expect(call.result == nil)
    try adder.perform(&call)
    try expect(call.result?.unbox(as: Int.self), equals: 39)
  }

  @Test("retargeting to a selector with another number of arguments is refused and changes nothing")
  func wrongRetarget() throws {
    var call = Invocation("add:to:", arguments: [.init(1), .init(2)])
    call.result = .init(3)
    let error = #expect(throws: MessageError.self) { try call.retarget(to: "say:") }
    expect(error?.description, equals: "wrong number of arguments for 'say:' of Invocation: wanted 1, found 2")
    expect(call.selector, equals: "add:to:")
    expect(call.result != nil)
  }

  @Test(
    "a call that fails clears the result of an earlier one",
    arguments: ["fail", "unknown", "add:to:", "subtract:from:"] as [MessageSelector])
  func failureClears(selector: MessageSelector) {
    var call = Invocation(selector, arguments: selector.numberOfArguments == 0 ? [] : [.init("x"), .init(1)])
    call.result = .init("old")
    #expect(throws: (any Error).self) { try Adder().perform(&call) }
    expect(call.result == nil)
    let many = MulticastProxy<any MessageReceiver>(options: .init(noResponder: .throw))
    let adder = Adder()
    many.add(adder)
    call.result = .init("old")
    #expect(throws: (any Error).self) { try many.perform(&call) }
    expect(call.result == nil)
  }

  @Test("arguments that do not fit the stated signature are refused")
  func statedSignature() throws {
    let adder = Adder()
    let stated = try MethodSignature("q@:cq")
    var call = Invocation("add:to:", signature: stated, arguments: [.init(1000), .init(2)])
    let error = #expect(throws: MessageError.self) { try adder.perform(&call) }
    expect(error?.code, equals: .typeMismatch)
    expect(error?.argumentIndex, equals: 0)
    call.arguments[0] = .init(100)
    try adder.perform(&call)
    try expect(call.result?.unbox(as: Int.self), equals: 102)
    var short = Invocation("add:to:", signature: stated, arguments: [.init(1)])
    let count = #expect(throws: MessageError.self) { try adder.perform(&short) }
    expect(count?.code, equals: .wrongArgumentCount)
    var other = Invocation("add:to:", signature: try MethodSignature("q@:q"), arguments: [.init(1), .init(2)])
    #expect(throws: MessageError.self) { try adder.perform(&other) }
    let many = MulticastProxy<any MessageReceiver>()
    many.add(adder)
    call.arguments[0] = .init(1000)
    #expect(throws: MessageError.self) { try many.forward(&call) }
    many.onError = { _ in }
    expect(many.broadcast(call).failed, equals: 1)
  }

  @Test("changes that a target makes to a message are not seen by the next target or the sender")
  func privateCopies() throws {
    let many = MulticastProxy<any MessageReceiver>()
    let journal = Journal()
    let (spoiler, reader) = (
      Adder(),
      BareReceiver {
        Responds(to: "spoil:") { (_: BareReceiver, text: String) in journal.write(text) }
      }
    )
    many.add(spoiler)
    many.add(reader)
    var call = Invocation("spoil:", arguments: [.init("fresh")])
    try many.forward(&call)
    expect(journal.all, equals: ["fresh"])
    try expect(call.argument(0, as: String.self), equals: "fresh")
  }

  @Test("an unstated signature takes objects, one for each colon")
  func unstated() {
    expect(Invocation("a:b:").signature.description, equals: "@@:@@")
    expect(Invocation("ping").signature.description, equals: "@@:")
  }
}
