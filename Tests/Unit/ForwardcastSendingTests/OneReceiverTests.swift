// OneReceiverTests.swift: dynamic and awaited sends, inherited methods, listed messages.

import CoreTestSupport
import Dispatch
import Forwardcast
import TestSupport
import Testing

extension Message<() -> String> { fileprivate static var title: Self { .init("title") } }
extension Message<(Int) -> Int> { fileprivate static var double: Self { .init("double:") } }

private class Page: MessageReceiver {
  class var selectorTable: SelectorTable { pageTable }
}
private let pageTable = SelectorTable(for: Page.self) {
  Responds(to: .title) { (_: Page) in "page" }
  Responds(to: .double) { (_: Page, number: Int) in number * 2 }
  Responds(to: "join:with:") { (_: Page, left: String, right: String) in left + right }
  Responds(to: "nothing") { (_: Page) in }
}
private final class Cover: Page {
  override class var selectorTable: SelectorTable { coverTable }
}
private let coverTable = SelectorTable(for: Cover.self, inheriting: pageTable) {
  Responds(to: .title) { (cover: Cover) in try cover.sendSuper(.title, from: pageOfCover) + " cover" }
  Responds(to: "alone") { (cover: Cover) in try cover.sendSuper(Message<() -> Int>("alone"), from: pageOfCover) }
}
/// Another name for the table: a row cannot name the table that contains it.
private var pageOfCover: SelectorTable { Cover.selectorTable }

private actor Vault: MessageReceiver {
  private var total = 0
  static let selectorTable = SelectorTable(for: Vault.self) {
    Responds(to: Message<(Int) -> Int>("add:"), isolated: { vault, number in vault.add(number) })
    Responds(to: Message<() -> Page>("secret"), isolated: { _ in Page() })
    Responds(to: "here") { (_: Vault) in 1 }
    Responds(to: Message<() -> Int>("fail"), async: { _ in throw TargetError(name: "vault") })
  }
  private func add(_ number: Int) -> Int {
    total += number
    return total
  }
}

private final class Solo: MessageReceiver {
  static let selectorTable = SelectorTable(for: Solo.self) {
    Responds(to: "a:") { (_: Solo, x: Int) in x + 1 }
    Responds(to: "b:") { (_: Solo, x: Int) in x * 10 }
    Responds(to: "c") { (_: Solo) in "c" }
  }
  let objectTable: SelectorTable?
  init(_ table: SelectorTable? = nil) { objectTable = table }
}

/// Forwards to its targets by turns.
private final class Rota: ForwardingProxy {
  private let targets = [Solo(), Solo()]
  private(set) var turns: [Int] = []

  override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? {
    turns.append(turns.count % 2)
    return targets[turns.last ?? 0]
  }
}

@Suite("Sends to one receiver")
struct OneReceiverTests {
  @Test("an awaited send asks for the forwarding target once")
  func resolvedOnce() async throws {
    let rota = Rota()
    for _ in 0..<2 {
      try await expect(rota.sendAndWait(Message<(Int) -> Int>("a:"), 1), equals: 2)
      try await expect(rota.sendAndWait(Message<(Int) -> Double>("b:"), 1), equals: 10)
    }
    expect(rota.turns, equals: [0, 1, 0, 1])
  }

  @Test("numbers and strings of a dynamic call, and weak boxes of Sendable objects, reach queued targets")
  func dynamicCrossing() async throws {
    let (members, journal) = (MulticastProxy<any Member>(), Journal())
    let (clerk, taken) = (Clerk("a", journal), Locked<[String]>([]))
    members.add(clerk, delivery: .queue(DispatchQueue(label: "queued")))
    members.onError = { journal.write("\($0.error)") }
    members.dynamic.say("x")
    members.dynamic.note(1)
    members.on(Message<(Clerk?) -> Void>("take:"), delivery: .mainActor) { clerk in
      taken.withLock { $0.append(clerk?.name ?? "nobody") }
    }
    for box in [ArgumentBox.weak(clerk), .unowned(clerk)] {
      members.broadcast(Invocation("take:", arguments: [box]))
    }
    try await members.drain()
    expect(journal.all, equals: ["a: x", "a 1"])
    expect(taken.withLock { $0 }, equals: ["a", "a"])
    // An object may be shared with the sender.
    members.on(Message<(Solo) -> Void>("keep:"), delivery: .mainActor) { _ in }
    members.dynamic.keep(Solo())
    expect(journal.all.last?.contains("not known to be Sendable") == true, "\(journal.all)")
  }

  @Test("a dynamic call is a send to one receiver, and its result is converted to the requested type")
  func dynamic() throws {
    let page = Page()
    expect(try page.dynamic.title() as? String == "page")
    let joined: String = try page.dynamic.join("a", with: "b")
    expect(joined, equals: "ab")
    let doubled: Double = try page.dynamic.double(4)
    expect(doubled, equals: 8)
    try page.dynamic.nothing()
    let unknown = #expect(throws: MessageError.self) { try page.dynamic.wash(1) }
    expect(unknown?.description, equals: "unrecognized selector 'wash:' of Page")
    let mismatch = #expect(throws: MessageError.self) { () -> Int in try page.dynamic.title() }
    expect(mismatch?.code, equals: .typeMismatch)
    #expect(throws: MessageError.self) { try page.dynamic.double("four") }
  }

  @Test("an awaited invocation reaches one receiver, wherever its method runs")
  func waiting() async throws {
    let vault = Vault()
    var call = Invocation("add:", arguments: [.init(3)])
    try await vault.performAndWait(&call)
    try await vault.performAndWait(&call)
    try expect(call.result?.unbox(as: Int.self), equals: 6)
    var here = Invocation("here", signature: .sample("d@:"))
    try await vault.performAndWait(&here)
    expect(here.result?.value as? Double == 1)
  }

  @Test("an awaited invocation does not send a value to another context unless it is known to be Sendable")
  func crossing() async throws {
    func generic<T>(_ value: T) -> ArgumentBox { ArgumentBox(value) }
    var call = Invocation("add:", arguments: [generic(3)])
    let argument = await #expect(throws: MessageError.self) { try await Vault().performAndWait(&call) }
    expect(argument?.code, equals: .isolationMismatch)
    expect(argument?.argumentIndex, equals: 0)
    var secret = Invocation("secret")
    let answer = await #expect(throws: MessageError.self) { try await Vault().performAndWait(&secret) }
    expect(answer?.code, equals: .isolationMismatch)
    expect(secret.result == nil)
    var fail = Invocation("fail")
    fail.result = .init(1)
    await #expect(throws: TargetError(name: "vault")) { try await Vault().performAndWait(&fail) }
    expect(fail.result == nil)
  }

  @Test("a row calls the method it overrides, and throws if nothing is inherited")
  func inherited() throws {
    try expect(Cover().send(.title), equals: "page cover")
    try expect(Page().send(.title), equals: "page")
    try expect(Cover().sendSuper(.double, from: coverTable, 4), equals: 8)
    try expect(Cover().sendSuper(Message<(Int8) -> Double>("double:"), from: coverTable, 4), equals: 8)
    let error = #expect(throws: MessageError.self) { try Cover().send(Message<() -> Int>("alone")) }
    expect(error?.code, equals: .unrecognizedSelector)
    #expect(throws: MessageError.self) { try Page().sendSuper(.title, from: pageTable) }
  }

  @Test("the method that a row replaced can be called, through the table and as a value")
  func replaced() throws {
    let table = SelectorTable(for: Solo.self) { Responds(to: "a:") { (_: Solo, x: Int) in x + 1 } }
    let solo = Solo(table)
    func a(_ x: Int) throws -> Int { try solo.send(Message<(Int) -> Int>("a:"), x) }
    let old = try table.replace(Responds(to: "a:") { (_: Solo, x: Int) in x + 100 })
    try expect(a(1), equals: 101)
    try expect(old?.call(on: solo, 1), equals: 2)
    try expect(old?.call(on: solo, Int8(1)), equals: 2.0)
    var call = Invocation("other:", arguments: [ArgumentBox(2)])
    try old?.perform(&call, on: solo)
    try expect(call.result?.unbox(as: Int.self), equals: 3)
    #expect(throws: MessageError.self) { try old?.perform(&call, on: Page()) }
    expect(call.result == nil)
    try table.replace("a:") { original in
      Responds(to: "a:") { (solo: Solo, x: Int) in try original?.call(on: solo, x * 2) ?? 0 }
    }
    try expect(a(1), equals: 102)
    let none = try table.replace(Responds(to: "z") { (_: Solo) in 1 })
    expect(none == nil)
    try table.replace("c") { original in
      expect(original == nil)
      return Responds(to: "c") { (_: Solo) in "new" }
    }
    try expect(solo.send(Message<() -> String>("c")), equals: "new")
    let wrong = #expect(throws: MessageError.self) { try old?.call(on: Page(), 1) as Int? }
    expect(wrong?.code, equals: .typeMismatch)
    #expect(throws: MessageError.self) { try old?.call(on: solo, "one") as Int? }
    #expect(throws: MessageError.self) {
      try table.replace("a:") { _ in Responds(to: "a:") { (_: Solo) in 1 } }
    }
    try expect(a(1), equals: 102)
  }

  @Test("no replacement is lost if several threads replace one method and call the previous one")
  func replacedAtOnce() throws {
    let table = SelectorTable(for: Solo.self) { Responds(to: "count") { (_: Solo) in 0 } }
    let rounds = 50
    let ended = onThreads(4) { _ in
      for _ in 0..<rounds {
        _ = try? table.replace("count") { original in
          Responds(to: "count") { (solo: Solo) in (try original?.call(on: solo) ?? 0) + 1 }
        }
      }
    }
    expect(ended)
    try expect(Solo(table).send(Message<() -> Int>("count")), equals: 4 * rounds)
  }

  @Test("a receiver lists its messages, with signatures and the class that defines each")
  func listing() {
    let lines = Cover().answeredMessages.map(\.description)
    expect(
      lines,
      equals: [
        "alone q@: from Cover", "double: q@:q from Page", #"join:with: @"String"@:@"String"@"String" from Page"#,
        "nothing v@: from Page", #"title @"String"@: from Cover"#,
      ])
    let table = SelectorTable(for: Solo.self) { Responds(to: "c") { (_: Solo) in 3.5 } }
    expect(Solo(table).answeredMessages.map(\.source), equals: [.table(of: "Solo"), .table(of: "Solo"), .object])
    expect(Solo(table).answeredMessages.last?.signature.description, equals: "d@:")
    expect(pageTable.answeredMessages.count, equals: 4)
    let refused = SelectorTable(for: Solo.self, inheriting: Solo.selectorTable) {
      Responds(to: "a:") { (_: Solo) in 1 }
    }
    expect(refused.answeredMessages.map(\.selector), equals: ["b:", "c"])
    expect(Solo(refused).answeredMessages.map(\.selector), equals: ["b:", "c"])
  }
}
