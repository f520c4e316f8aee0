// HookRingTests.swift: resolver hooks and service constructors that wait for each other.

import Dispatch
import Forwardcast
import ForwardcastCenters
import TestSupport
import Testing

/// A class whose resolver hook runs its test's closure.
private class ResolvingClass: MessageReceiver {
  class var selectorTable: SelectorTable { resolvingTable }
  // Set before any thread of a test starts; the tests run one after another.
  nonisolated(unsafe) static var onResolve: [MessageSelector: @Sendable () -> Void] = [:]
  class func resolveMethod(for selector: MessageSelector) -> Bool {
    onResolve[selector]?()
    return false
  }
}
private let resolvingTable = SelectorTable(for: ResolvingClass.self, rows: [])

private func send(_ selector: MessageSelector) throws { try ResolvingClass().send(Message<() -> Void>(selector)) }

extension Centers {
  @Suite("Cycles of hooks and service construction", .serialized)
  struct HookRingTests {
    private func text(_ error: any Error) -> String { "\(error)" }

    @Test(
      "a resolver hook and a service that need each other on one thread get an error that shows the cycle")
    func oneThread() {
      let center = ServiceCenter()
      let errors = Journal()
      let archive = ServiceKey<Int>("archive") { _ in
        do { try send("storeAlone") } catch {
          errors.write("maker: \(error)")
          throw error
        }
        return 1
      }
      ResolvingClass.onResolve["storeAlone"] = {
        do { _ = try center.service(archive) } catch { errors.write("hook: \(error)") }
      }
      expect(onThreads(1) { _ in #expect(throws: MessageError.self) { try send("storeAlone") } })
      let ring =
        "would deadlock: 'storeAlone' of ResolvingClass: these calls wait for one another: "
        + "resolveMethod(for: storeAlone) of ResolvingClass → archive → "
        + "resolveMethod(for: storeAlone) of ResolvingClass; make this call from another queue or task, or do not wait for "
        + "its answer"
      expect(errors.all, equals: ["maker: \(ring)", "hook: \(ring)"])
    }

    @Test("a hook and a constructor on two threads that need each other get an error instead of a deadlock")
    func twoThreads() {
      let center = ServiceCenter()
      let (inHook, inMaker) = (Latch(), Latch())
      let errors = Journal()
      let archive = ServiceKey<Int>("archive") { _ in
        inMaker.open()
        inHook.pass()
        try send("storeCrossed")
        return 1
      }
      ResolvingClass.onResolve["storeCrossed"] = {
        inHook.open()
        inMaker.pass()
        do { _ = try center.service(archive) } catch { errors.write("\(error)") }
      }
      let ended = onThreads(2) { index in
        do {
          if index == 0 { try send("storeCrossed") } else { _ = try center.service(archive) }
        } catch { errors.write("\(error)") }
      }
      expect(ended)
      let (hook, both) = ("resolveMethod(for: storeCrossed) of ResolvingClass", errors.all)
      let rings = both.filter { $0.contains("→") }
      expect(!rings.isEmpty)
      for ring in rings { expect(ring.contains(hook) && ring.contains("archive"), "\(ring)") }
      expect(center.existing(archive) == nil)
    }

    @Test("a cycle of a hook and two services over three threads ends with an error that names all of them")
    func threeThreads() {
      let center = ServiceCenter()
      let met = DispatchGroup()
      for _ in 0..<3 { met.enter() }
      @Sendable func meet() {
        met.leave()
        _ = met.wait(timeout: .now() + 600)
      }
      let errors = Journal()
      let second = ServiceKey<Int>("second") { _ in
        meet()
        try send("storeThrice")
        return 2
      }
      let first = ServiceKey<Int>("first") { center in
        meet()
        return try center.service(second)
      }
      ResolvingClass.onResolve["storeThrice"] = {
        meet()
        do { _ = try center.service(first) } catch { errors.write("\(error)") }
      }
      let ended = onThreads(3) { index in
        do {
          switch index {
          case 0: try send("storeThrice")
          case 1: _ = try center.service(first)
          default: _ = try center.service(second)
          }
        } catch { errors.write("\(error)") }
      }
      expect(ended)
      let rings = errors.all.filter { $0.contains("→") }
      expect(!rings.isEmpty)
      for ring in rings {
        for name in ["first", "second", "resolveMethod(for: storeThrice) of ResolvingClass"] {
          expect(ring.contains(name), "\(ring)")
        }
      }
    }

    @Test("hooks on two threads that send each other's messages get an error that names both")
    func twoHooks() {
      let met = DispatchGroup()
      met.enter()
      met.enter()
      @Sendable func meet() {
        met.leave()
        _ = met.wait(timeout: .now() + 600)
      }
      let errors = Journal()
      @Sendable func ask(_ selector: MessageSelector) {
        meet()
        do { try send(selector) } catch { errors.write("\(error)") }
      }
      ResolvingClass.onResolve["hookA"] = { ask("hookB") }
      ResolvingClass.onResolve["hookB"] = { ask("hookA") }
      expect(onThreads(2) { index in _ = try? send(index == 0 ? "hookA" : "hookB") })
      let rings = errors.all.filter { $0.contains("→") }
      expect(rings.count, equals: 1)
      expect(rings.allSatisfy { $0.contains("resolveMethod(for: hookA)") && $0.contains("resolveMethod(for: hookB)") })
    }

    @Test("a hook that waits for a constructor which does not need the hook is no cycle")
    func noRing() throws {
      let center = ServiceCenter()
      let inMaker = Latch()
      let slow = ServiceKey<Int>("slow") { _ in
        inMaker.open()
        #expect(throws: MessageError.self) { try send("other") }
        return 5
      }
      let got = Journal()
      ResolvingClass.onResolve["patient"] = {
        inMaker.pass()
        got.write("\((try? center.service(slow)) ?? 0)")
      }
      let ended = onThreads(2) { index in
        if index == 0 { _ = try? send("patient") } else { _ = try? center.service(slow) }
      }
      expect(ended)
      expect(got.all, equals: ["5"])
    }
  }
}
