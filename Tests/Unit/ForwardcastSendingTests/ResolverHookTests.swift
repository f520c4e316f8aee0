// ResolverHookTests.swift: classes that add methods on demand.

import Forwardcast
import TestSupport
import Testing

/// A class whose hook always returns true, but adds only methods that start with "added".
private final class Boaster: MessageReceiver {
  static let selectorTable = SelectorTable(for: Boaster.self, rows: [])
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    if selector.name.hasPrefix("added") { try? selectorTable.add(Responds(to: selector) { (_: Boaster) in 7 }) }
    return true
  }
}

/// A class whose hook adds to the object's table instead of its own.
private final class Indirect: MessageReceiver {
  static let selectorTable = SelectorTable(for: Indirect.self, rows: [])
  static let shared = SelectorTable(for: Indirect.self, rows: [])
  var objectTable: SelectorTable? { Self.shared }
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    (try? shared.add(Responds(to: selector) { (_: Indirect) in 3 })) != nil
  }
}

@Suite("Resolver hooks")
struct ResolverHookTests {
  @Test("every message names a resolver hook that returned true and added nothing")
  func falseClaim() throws {
    for _ in 0..<2 {
      let error = #expect(throws: MessageError.self) { try Boaster().send(Message<() -> Int>("missingA")) }
      expect(error?.code, equals: .resolverAddedNothing)
      expect(
        error?.description,
        equals: "resolver hook added nothing for 'missingA' of Boaster: "
          + "resolveMethod(for:) returned true, but no table has the method; add the method to a table, or return false"
      )
    }
    var call = Invocation("missingA")
    #expect(throws: MessageError.self) { try Boaster().perform(&call) }
    expect(!Boaster().responds(to: "missingA"))
    expect(Boaster().methodSignature(for: "missingA") == nil)
  }

  @Test("a resolver hook may add the method to another table, and removing the method later is no error of the hook")
  func kept() throws {
    try expect(Boaster().send(Message<() -> Int>("addedA")), equals: 7)
    expect(Boaster.selectorTable.remove("addedA"))
    let error = #expect(throws: MessageError.self) { try Boaster().send(Message<() -> Int>("addedA")) }
    expect(error?.code, equals: .unrecognizedSelector)
    try expect(Indirect().send(Message<() -> Int>("anything")), equals: 3)
  }

  @Test("a method that is added after a resolver hook returned true without adding it is found")
  func addedLater() throws {
    #expect(throws: MessageError.self) { try Boaster().send(Message<() -> Int>("missingB")) }
    try Boaster.selectorTable.add(Responds(to: "missingB") { (_: Boaster) in 8 })
    try expect(Boaster().send(Message<() -> Int>("missingB")), equals: 8)
  }

  @Test("in a proxy, a resolver hook that added nothing is a failure of its target")
  func falseClaimInProxy() {
    let proxy = MulticastProxy<any MessageReceiver>()
    let journal = Journal()
    proxy.onError = { journal.write("\($0.error)") }
    let boaster = Boaster()
    proxy.add(boaster)
    let summary = proxy.broadcast(Message<() -> Void>("missingC"))
    expect(summary.failed, equals: 1)
    expect(journal.all.count, equals: 1)
    expect(journal.all.first?.hasPrefix("resolver hook added nothing") == true)
    withExtendedLifetime(boaster) {}
  }
}

/// A base class that uses all defaults, and subclasses that override them.
private class Silent: MessageReceiver {
  class var selectorTable: SelectorTable { silentTable }
}
private let silentTable = SelectorTable(for: Silent.self) { Responds(to: "who") { (_: Silent) in "silent" } }
private final class Resolver: Silent, MethodResolving {
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    guard selector == "late" else { return false }
    return (try? silentTable.add(Responds(to: selector) { (_: Silent) in "resolved" })) != nil
  }
}
private class Quiet: MessageReceiver {
  class var selectorTable: SelectorTable { quietTable }
}
private let quietTable = SelectorTable(for: Quiet.self) { Responds(to: "who") { (_: Quiet) in "quiet" } }
private final class Caller: Quiet, MethodResolving {
  static func resolveMethod(for selector: MessageSelector) -> Bool {
    guard selector == "lately" else { return super.resolveMethod(for: selector) }
    return (try? quietTable.add(Responds(to: selector) { (_: Quiet) in "resolved" })) != nil
  }
}
private final class Private: Silent, ObjectTableOwning {
  let objectTable: SelectorTable?
  init(_ answer: String?) {
    objectTable = answer.map { answer in
      SelectorTable(for: Silent.self) { Responds(to: "who") { (_: Silent) in answer } }
    }
  }
}
private final class OpenProxy: ForwardingProxy {
  static let own = SelectorTable(for: ForwardingProxy.self, rows: [])
  override class var selectorTable: SelectorTable { own }
  override class func resolveMethod(for selector: MessageSelector) -> Bool {
    (try? own.add(Responds(to: selector) { (_: ForwardingProxy) in 6 })) != nil
  }
}

@Suite("Overriding hooks that the base class leaves out")
struct InheritedHookTests {
  private func who(_ receiver: Silent) throws -> String { try receiver.send(Message<() -> String>("who")) }

  @Test("a subclass's resolver hook may call the default of its base class")
  func callingSuper() throws {
    let receiver = Caller()
    expect(!receiver.responds(to: "other"))
    try expect(receiver.send(Message<() -> String>("lately")), equals: "resolved")
  }

  @Test("a subclass may override the resolver hook that its base class does not define")
  func resolver() throws {
    expect(!Silent().responds(to: "late"))
    try expect(Resolver().send(Message<() -> String>("late")), equals: "resolved")
  }

  @Test("objects of a subclass may have their own tables even if the base class has none for each object")
  func objectTables() throws {
    try expect(who(Silent()), equals: "silent")
    try expect(who(Private("first")), equals: "first")
    try expect(who(Private("second")), equals: "second")
    try expect(who(Private(nil)), equals: "silent")
    try expect(who(Silent()), equals: "silent")
  }

  @Test("a subclass of a forwarding proxy may override the resolver hook")
  func openProxy() throws { try expect(OpenProxy().send(Message<() -> Int>("six")), equals: 6) }
}
