// ForwardingHookTests.swift: messages that an object forwards with its hooks.

import CoreTestSupport
import Forwardcast
import TestSupport
import Testing

/// Forwards messages with known types, and records them.
private final class HookedRelay: MessageForwarding {
  static let selectorTable = SelectorTable(for: HookedRelay.self, rows: [])
  let types: [MessageSelector: MethodSignature]
  var seen: [Invocation] = []
  var answer: ArgumentBox?

  init(_ types: [MessageSelector: MethodSignature]) { self.types = types }

  func methodSignature(for selector: MessageSelector) -> MethodSignature? { types[selector] }
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    seen.append(invocation)
    invocation.result = answer
    return DeliveryReport()
  }
}

/// Uses the default of every hook.
private final class Closed: MessageForwarding {
  static let selectorTable = SelectorTable(for: Closed.self) { Responds(to: "open") { (_: Closed) in 1 } }
}

@Suite("Forwarding hooks")
struct ForwardingHookTests {
  private let relay = HookedRelay(["n:": .sample("q@:c"), "bad:": .sample("v@:"), "free:": .sample("@@:@")])

  private func code(_ call: Invocation) -> MessageError.Code? {
    var call = call
    do { try relay.perform(&call) } catch { return (error as? MessageError)?.code }
    return nil
  }

  @Test("a message with too few or too many arguments never reaches forward", arguments: [0, 2])
  func count(count: Int) {
    let boxes = Array(repeating: ArgumentBox(1), count: count)
    expect(code(Invocation("n:", arguments: boxes)), equals: .wrongArgumentCount)
    expect(code(Invocation("free:", arguments: boxes)), equals: .wrongArgumentCount)
    expect(relay.seen.isEmpty)
  }

  @Test("by default an object has its tables' signatures and throws if asked to forward")
  func defaults() async throws {
    let closed = Closed()
    expect(closed.methodSignature(for: "open"), equals: Closed.selectorTable.signature(for: "open"))
    expect(closed.methodSignature(for: "other") == nil)
    var call = Invocation("other")
    let error = #expect(throws: MessageError.self) { _ = try closed.forward(&call) }
    expect(error?.code, equals: .unrecognizedSelector)
    let waiting = await #expect(throws: MessageError.self) { _ = try await closed.forwardAndWait(call) }
    expect(waiting?.code, equals: .unrecognizedSelector)
  }

  @Test("an object that forwards reports the result that it left in the message, also for an awaited send")
  func waiting() async throws {
    relay.answer = ArgumentBox(7)
    let report = try await relay.forwardAndWait(Invocation("free:", arguments: [ArgumentBox(1)]))
    try expect(report.result?.unbox(as: Int.self), equals: 7)
    expect(report.answers.map { $0.target === relay }, equals: [true])
  }

  @Test("arguments are converted to the types that methodSignature(for:) returned, or refused")
  func types() throws {
    expect(code(Invocation("n:", arguments: [.init(5)])) == nil)
    expect(relay.seen[0].arguments[0].value is Int8)
    expect(code(Invocation("n:", arguments: [.init(1000)])), equals: .typeMismatch)
    expect(code(Invocation("n:", arguments: [.init("five")])), equals: .typeMismatch)
    expect(relay.seen.count, equals: 1)
    #expect(throws: MessageError.self) { try relay.send(Message<(String) -> Void>("n:"), "five") }
    try relay.send(Message<(Int) -> Void>("n:"), 6)
    expect(relay.seen.count, equals: 2)
  }

  @Test("forward sees the signature of methodSignature(for:), and the sender's message keeps its own")
  func signature() throws {
    var plain = Invocation("n:", arguments: [.init(5)])
    try relay.perform(&plain)
    var stated = Invocation("n:", signature: .sample("@@:s"), arguments: [.init(5)])
    try relay.perform(&stated)
    try relay.send(Message<(Int) -> Void>("n:"), 6)
    expect(relay.seen.map(\.signature.description), equals: ["q@:c", "q@:c", "q@:c"])
    expect(plain.signature.description, equals: "@@:@")
    expect(stated.signature.description, equals: "@@:s")
  }

  @Test("a stated signature that does not match the selector's colons is refused before any hook is called")
  func statedForOtherColons() {
    expect(code(Invocation("n:", signature: .sample("v@:"))), equals: .wrongArgumentCount)
    expect(code(Invocation("n:", signature: .sample("v@:"), arguments: [.init(1)])), equals: .wrongArgumentCount)
    expect(relay.seen.isEmpty)
  }

  @Test("a methodSignature(for:) that does not match the selector's colons is an error that says so")
  func hookForOtherColons() {
    var call = Invocation("bad:", arguments: [.init(1)])
    let error = #expect(throws: MessageError.self) { try relay.perform(&call) }
    expect(error?.code, equals: .wrongArgumentCount)
    expect(error?.evidence, equals: "methodSignature(for:) returned v@:, which takes 0, but the selector takes 1")
    expect(relay.seen.isEmpty)
  }

  @Test("the result of forward is converted to the return type of methodSignature(for:), or refused")
  func answer() throws {
    relay.answer = .init(Int8(3))
    var call = Invocation("n:", arguments: [.init(5)])
    try relay.perform(&call)
    expect(call.result?.value as? Int64 == 3 || call.result?.value as? Int == 3)
    relay.answer = .init("three")
    expect(code(call), equals: .typeMismatch)
  }
}

/// Overrides only two hooks, like a subclass of `NSProxy`.
private final class TwoHooks: ForwardingProxy {
  var seen: [String] = []
  override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    selector.name.hasPrefix("hooked") ? .objects(arguments: selector.numberOfArguments) : nil
  }
  override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    seen.append("\(invocation)")
    invocation.result = .init("hooked")
    return DeliveryReport()
  }
}

/// Queries `responds(to:)` on itself before it returns a signature.
private final class SelfAsking: MessageForwarding {
  static let selectorTable = SelectorTable(for: SelfAsking.self, rows: [])
  func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    responds(to: selector) ? .objects(arguments: 0) : nil
  }
}

@Suite("Hooks and responds(to:)")
struct RespondingHookTests {
  private let hooks = TwoHooks()

  @Test("a proxy that overrides only methodSignature(for:) and forward(_:) responds to what it has types for")
  func responds() throws {
    expect(hooks.responds(to: "hooked:"))
    expect(!hooks.responds(to: "other:"))
    expect(HookedRelay(["n:": .sample("v@:q")]).responds(to: "n:"))
    expect(!HookedRelay([:]).responds(to: "n:"))
  }

  @Test("a multicast does not skip a proxy that overrides methodSignature(for:) and forward(_:)")
  func inMulticast() throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(hooks)
    var call = Invocation("hooked:", arguments: [.init(1)])
    let report = try proxy.forward(&call)
    expect(report.answers.count, equals: 1)
    expect(hooks.seen, equals: ["hooked: 1"])
    expect(proxy.broadcast(Invocation("hooked:", arguments: [.init(2)])).delivered, equals: 1)
    expect(proxy.broadcast(Invocation("other:", arguments: [.init(2)])).delivered, equals: 0)
    expect(proxy.responds(to: "hooked:"))
  }

  @Test("a hook that queries responds(to:) gets false, and the query ends")
  func selfAsking() { expect(!SelfAsking().responds(to: "anything")) }

  @Test("a forwarding target decides whether its proxy responds")
  func targetDecides() {
    let stand = ForwardingProxy(to: hooks)
    expect(stand.responds(to: "hooked:"))
    expect(!stand.responds(to: "other:"))
  }

  @Test(
    "a chain of forwarding objects, however long, answers exactly what it responds to", .oneAtATime)
  func longChain() throws {
    for (count, isReached) in [(1, true), (255, true), (256, true), (257, true), (1_000, true), (4_097, false)] {
      let end = Listener("end")
      end.answer = 7
      var proxies: [ForwardingProxy] = []
      for _ in 0..<count { proxies.append(ForwardingProxy(to: proxies.last ?? end as any MessageReceiver)) }
      expect(proxies[count - 1].responds(to: "value"), equals: isReached)
      let answer = Result { try proxies[count - 1].send(.value) }
      expect(try? answer.get(), equals: isReached ? 7 : nil)
      expect(!proxies[count - 1].responds(to: "nothing"))
      // From the outside, since releasing a whole chain recurses.
      while !proxies.isEmpty { proxies.removeLast() }
    }
  }
}
