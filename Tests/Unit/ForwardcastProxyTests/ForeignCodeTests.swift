// ForeignCodeTests.swift: foreign code is never called with a lock held.

import CoreTestSupport
@testable import Forwardcast
import TestSupport
import Testing

/// Calls every method of a proxy.
private final class Meddler: MessageForwarding, @unchecked Sendable {  // used on one thread at a time
  static let selectorTable = SelectorTable(for: Meddler.self) {
    Responds(to: .ping) { (meddler: Meddler) in meddler.meddle() }
  }
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    Stage.proxy?.meddle()
    return false
  }
  func meddle() { Stage.proxy?.meddle() }
  func responds(to selector: MessageSelector) -> Bool {
    meddle()
    return selector == "ping"
  }
  func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    meddle()
    return nil
  }
  func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? {
    meddle()
    return nil
  }
  func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    meddle()
    return TargetError(name: "meddler")
  }
  var objectTable: SelectorTable? {
    meddle()
    return nil
  }
  deinit { meddle() }
}

/// The proxy of the current test.
private enum Stage {
  nonisolated(unsafe) static var proxy: MulticastProxy<any MessageReceiver>?  // set and used by one test, on its thread
  nonisolated(unsafe) static var depth = 0  // likewise
  nonisolated(unsafe) static var calls = 0  // likewise
}

extension MulticastProxy where Interface == any MessageReceiver {
  /// Calls everything once. A nested call does nothing.
  fileprivate func meddle() {
    guard Stage.depth == 0 else { return }
    Stage.depth += 1
    Stage.calls += 1
    defer { Stage.depth -= 1 }
    let listener = Listener("m")
    let token = add(listener)
    let closure = on(.note) { _ in }
    _ = (count, targets.count, registrations.count, count(of: Listener.self), count(for: "note:"), description)
    _ = (responds(to: "note:"), methodSignature(for: "note:"), onError != nil, core.slotCount)
    broadcast(.note, 1)
    broadcast(Invocation("note:", arguments: [.init(2)]))
    var call = Invocation("note:", arguments: [.init(3)])
    _ = try? forward(&call)
    _ = try? collect(.value, returning: .last)
    dynamic.note(1)
    mute(listener)
    unmute(listener)
    token.mute()
    token.unmute()
    closure.cancel()
    remove(listener)
    removeAll(of: LoudListener.self)
    onError = onError
    add(Listener("strong"), ownership: .strong).cancel()
    for _ in 0..<40 { add(Listener("gone")) }
  }
}

@Suite("Foreign code", .serialized)
struct ForeignCodeTests {
  @Test("targets, hooks, handlers, policies and deinits may call everything of the proxy that called them")
  func everything() throws {
    final class Captured: Sendable { deinit { Stage.proxy?.meddle() } }
    let proxy = MulticastProxy<any MessageReceiver>(
      options: .init(duplicates: .allowed, noResponder: .handle { _ in Stage.proxy?.meddle() }))
    Stage.proxy = proxy
    Stage.calls = 0
    defer { Stage.proxy = nil }
    proxy.onError = { _ in Stage.proxy?.meddle() }
    var calls = 0
    func expectCalls(_ what: String) {
      expect(Stage.calls > calls, "\(what) called nobody back")
      calls = Stage.calls
    }
    var meddler: Meddler? = Meddler()
    if let meddler { proxy.add(meddler) }
    proxy.broadcast(.ping)
    expectCalls("a broadcast")
    var call = Invocation("ping")
    _ = try? proxy.forward(&call)
    expectCalls("a forwarded message")
    _ = proxy.responds(to: "neverHeard")
    expectCalls("a question")
    _ = proxy.count(for: "ping")
    expectCalls("a count")
    let thrower = proxy.on(Message<() -> Int>("thrower")) { () throws -> Int in throw TargetError(name: "t") }
    proxy.broadcast(Message<() -> Int>("thrower"))
    expectCalls("an error")
    thrower.cancel()
    proxy.broadcast(Message<() -> Void>("silentToAll"))
    expectCalls("silence")
    let captured = { () -> Registration in
      let held = Captured()
      return proxy.on(.note) { _ in withExtendedLifetime(held) {} }
    }()
    captured.cancel()
    expectCalls("the release of a closure")
    _ = try? proxy.collect(
      .ping,
      returning: ReturnPolicy<Void, Int>(
        from: 0,
        step: { _, _ in
          Stage.proxy?.meddle(); return true
        }, finish: { $0 }))
    expectCalls("a policy")
    meddler = nil
    expectCalls("a deinit")
    proxy.onError = { [captured = Captured()] _ in withExtendedLifetime(captured) {} }
    calls = Stage.calls
    proxy.onError = nil
    expectCalls("the release of an error handler")
  }
}
