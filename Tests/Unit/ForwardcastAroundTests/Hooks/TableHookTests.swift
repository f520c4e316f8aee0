// TableHookTests.swift: hooks before, after and around the methods of a selector table.

import AllocationCounter
import Forwardcast
import TestSupport
import Testing

/// A class whose table each test creates.
private final class Letter: MessageReceiver, ObjectTableOwning, Sendable {
  static let selectorTable = SelectorTable(for: Letter.self) { Responds(to: "unused") { (_: Letter) in } }
  let journal: Journal
  let table: SelectorTable
  var objectTable: SelectorTable? { table }

  init(_ journal: Journal, _ table: SelectorTable) { (self.journal, self.table) = (journal, table) }
}

extension Message<(String) -> String> { fileprivate static var greet: Self { .init("greet:") } }

private func sendHere(_ window: Window) throws -> String { try window.send(.greet, "b") }

@MainActor
private final class Window: MessageReceiver {
  nonisolated static let selectorTable = SelectorTable(for: Window.self) {
    Responds(to: .greet, onMainActor: { _, name in "hello " + name })
  }
  nonisolated init() {}
}

/// A protocol whose table determines which targets have a message.
private protocol Listening: AnyObject {}
private final class Keen: Listening {}
private final class Deaf: Listening {}

private protocol Keeping: AnyObject {}
private final class Hoarder: Keeping {}
private final class Keeper: Keeping, MessageReceiver {
  static let selectorTable = SelectorTable(for: Keeper.self, rows: [])
  let objectTable: SelectorTable?
  let number = 3
  init(_ table: SelectorTable) { objectTable = table }
}

@Suite("Hooks of a selector table")
struct TableHookTests {
  let journal = Journal()

  private func table() -> SelectorTable {
    SelectorTable(for: Letter.self) {
      Responds(to: .greet) { (letter: Letter, name: String) in
        letter.journal.write("greet \(name)")
        return "hello " + name
      }
      Responds(to: .quote) { (letter: Letter, amount: Int) in
        if amount < 0 { throw Refusal(name: "letter") }
        return amount
      }
      Responds(to: "raw:", signature: .objects(arguments: 1)) { (letter: Letter, call: inout Invocation) in
        call.result = ArgumentBox("raw \(call.arguments[0])")
      }
      Responds(
        to: Message<(String) -> String>("slowly:"),
        async: { letter, text in
          await Task.yield()
          return text + " slowly"
        })
    }
  }

  @Test("a table's hooks run once per receiver, for a single send and through a proxy")
  func eachReceiver() throws {
    let table = table()
    let letters = [Letter(journal, table), Letter(journal, table)]
    try table.before(.greet, of: Letter.self) { letter, name in letter.journal.write("before \(name)") }
    try table.after(.greet, of: Letter.self) { letter, answer, name in letter.journal.write("after \(name): \(answer)")
    }
    try expect(letters[0].send(.greet, "a"), equals: "hello a")
    expect(journal.all, equals: ["before a", "greet a", "after a: hello a"])
    journal.take()
    let proxy = Desks()
    for letter in letters { proxy.add(letter) }
    proxy.broadcast(.greet, "b")
    expect(journal.all.filter { $0 == "before b" }.count, equals: 2)
    withExtendedLifetime(letters) {}
  }

  @Test("an around hook changes arguments and answer, skips the method or calls it twice; a later hook is outermost")
  func around() throws {
    let table = table()
    let letter = Letter(journal, table)
    try table.around(.greet, of: Letter.self) { _, call in try call.proceed(with: call.arguments + "!") + "." }
    let outer = try table.around(.greet, of: Letter.self) { _, call in
      let first = try call.proceed()
      return first + " " + (try call.proceed(with: "again"))
    }
    try expect(letter.send(.greet, "a"), equals: "hello a!. hello again!.")
    outer.cancel()
    expect(outer.isCancelled)
    try expect(letter.send(.greet, "a"), equals: "hello a!.")
    journal.take()
    try table.around(.greet, of: Letter.self) { _, _ in "nothing" }
    try expect(letter.send(.greet, "a"), equals: "nothing")
    expect(journal.all, equals: [])
  }

  @Test("an error of a before hook is thrown as the method's error, and after hooks do not run")
  func errors() throws {
    let table = table()
    let letter = Letter(journal, table)
    try table.after(.quote, of: Letter.self) { letter, _, _ in letter.journal.write("after") }
    #expect(throws: Refusal(name: "letter")) { try letter.send(.quote, -1) }
    try table.before("quote:") { _ in throw Refusal(name: "guard") }
    #expect(throws: Refusal(name: "guard")) { try letter.send(.quote, 1) }
    expect(journal.all, equals: [])
  }

  @Test("boxed hooks see every method of the table, including rows added later and rows that take invocations")
  func all() throws {
    let table = table()
    let letter = Letter(journal, table)
    let hook = try table.around { call in
      (call.target as? Letter)?.journal.write("\(call.invocation)")
      return try call.proceed()
    }
    try table.add(Responds(to: "later") { (_: Letter) in 5 })
    var raw = Invocation("raw:", arguments: [ArgumentBox(3)])
    try letter.perform(&raw)
    try expect(raw.result?.unbox(as: String.self), equals: "raw 3")
    try expect(letter.send(Message<() -> Int>("later")), equals: 5)
    _ = try letter.send(.quote, 2)
    expect(journal.all, equals: ["raw: 3", "later", "quote: 2"])
    hook.cancel()
    _ = try letter.send(.quote, 2)
    expect(journal.all.count, equals: 3)
  }

  @Test("a row that replaces a hooked row keeps the hooks, and the original it receives has none")
  func replaced() throws {
    let table = table()
    let letter = Letter(journal, table)
    try table.before(.greet, of: Letter.self) { letter, _ in letter.journal.write("hook") }
    try table.replace("greet:") { original in
      Responds(to: .greet) { (letter: Letter, name: String) in
        try original?.call(on: letter, name + "?") ?? ""
      }
    }
    try expect(letter.send(.greet, "a"), equals: "hello a?")
    expect(journal.all, equals: ["hook", "greet a?"])
    table.remove("greet:")
    expect(!table.responds(to: "greet:"))
  }

  @Test("an inherited method runs the hooks of the table that defines it")
  func inherited() throws {
    let parent = table()
    let child = SelectorTable(for: Letter.self, inheriting: parent) { Responds(to: .worth) { (_: Letter) in 1 } }
    let letter = Letter(journal, child)
    try parent.before(.greet, of: Letter.self) { letter, _ in letter.journal.write("parent") }
    try child.before { _ in journal.write("child") }
    _ = try letter.send(.greet, "a")
    _ = try letter.send(.worth)
    expect(journal.all, equals: ["parent", "greet a", "child"])
    let error = try #require(throws: MessageError.self) { try child.before("nothing") { _ in } }
    expect(error.code, equals: .unrecognizedSelector)
  }

  @Test("a row that replaces a parent's row still runs inside the child table's hooks")
  func replacedInherited() throws {
    let parent = table()
    let child = SelectorTable(for: Letter.self, inheriting: parent, rows: [])
    let letter = Letter(journal, child)
    try child.before("greet:") { _ in journal.write("child") }
    try expect(letter.send(.greet, "a"), equals: "hello a")
    try parent.replace(Responds(to: .greet) { (_: Letter, name: String) in "goodbye \(name)" })
    try expect(letter.send(.greet, "b"), equals: "goodbye b")
    expect(journal.all, equals: ["child", "greet a", "child"])
  }

  @Test("a child table's hook for an inherited row runs for its descendants, outside the parent's hooks")
  func aroundInherited() throws {
    let parent = table()
    let child = SelectorTable(for: Letter.self, inheriting: parent, rows: [])
    let grandchild = SelectorTable(for: Letter.self, inheriting: child, rows: [])
    let (plain, letter, last) = (Letter(journal, parent), Letter(journal, child), Letter(journal, grandchild))
    try parent.before(.greet, of: Letter.self) { _, _ in journal.write("parent") }
    let hook = try child.around(.greet, of: Letter.self) { _, call in try call.proceed(with: call.arguments + "!") }
    try grandchild.before("greet:") { _ in journal.write("grandchild") }
    try expect(letter.send(.greet, "a"), equals: "hello a!")
    try expect(last.send(.greet, "b"), equals: "hello b!")
    try expect(plain.send(.greet, "c"), equals: "hello c")
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(letter)
    try expect(proxy.collect(.greet, "d", returning: .all), equals: ["hello d!"])
    expect(
      journal.all,
      equals: [
        "parent", "greet a!", "grandchild", "parent", "greet b!", "parent", "greet c", "parent", "greet d!",
      ])
    hook.cancel()
    try expect(proxy.collect(.greet, "e", returning: .all), equals: ["hello e"])
    // A row that the child table adds takes over the hooks.
    try child.before("greet:") { _ in journal.write("own") }
    try child.add(Responds(to: .greet) { (_: Letter, name: String) in "bye " + name })
    journal.take()
    try expect(letter.send(.greet, "f"), equals: "bye f")
    expect(journal.all, equals: ["own"])
  }

  @Test("a hooked table that does not accept the receiver makes the message fail, also between two other tables")
  func hooksForOthers() throws {
    let key = Message<() -> Int>("kept")
    let root = SelectorTable(for: (any Keeping).self) { Responds(to: key) { _ in 1 } }
    let middle = SelectorTable(for: (any Listening).self, inheriting: root, rows: [])
    let keeper = Keeper(SelectorTable(for: Keeper.self, inheriting: middle, rows: []))
    try expect(keeper.send(key), equals: 1)
    try middle.before(key, of: (any Listening).self) { _ in journal.write("hook") }
    let error = #expect(throws: MessageError.self) { try keeper.send(key) }
    expect(error?.code, equals: .typeMismatch)
    expect(
      error?.evidence,
      equals: "the inherited table for Listening has a hook, but the receiver is of type Keeper; install the hook on a "
        + "table for that type")
    expect(journal.all, equals: [])
  }

  @Test("an inherited method cannot be called on an object that the hooks in between do not accept")
  func calledOnOthers() throws {
    let root = SelectorTable(for: (any Keeping).self) { Responds(to: "kept") { (_: any Keeping) in 1 } }
    let middle = SelectorTable(for: Keeper.self, inheriting: root, rows: [])
    let child = SelectorTable(for: Keeper.self, inheriting: middle, rows: [])
    try middle.before(Message<() -> Int>("kept"), of: Keeper.self) { keeper in journal.write("\(keeper.number)") }
    let method = try #require(child.inheritedMethod(for: "kept"))
    try expect(method.call(on: Keeper(child)) as Int, equals: 1)
    let error = #expect(throws: MessageError.self) { try method.call(on: Hoarder()) as Int }
    expect(error?.code, equals: .typeMismatch)
    var call = Invocation("kept")
    #expect(throws: MessageError.self) { try method.perform(&call, on: Hoarder()) }
    expect(journal.all, equals: ["3"])
  }

  @Test("an asynchronous method runs its hooks for awaited sends")
  func suspending() async throws {
    let table = table()
    let letter = Letter(journal, table)
    let key = Message<(String) -> String>("slowly:")
    let outer = try table.around("slowly:") { call in
      try call.proceed()
    } waiting: { call in
      try await call.proceed(with: [ArgumentBox("boxed")])
    }
    try await expect(letter.sendAndWait(key, "a"), equals: "boxed slowly")
    outer.cancel()
    try table.around(key, of: Letter.self) { _, call in
      try call.proceed()
    } waiting: { _, call in
      try await call.proceed(with: call.arguments + "b") + "!"
    }
    try await expect(letter.sendAndWait(key, "a"), equals: "ab slowly!")
    try table.around(key, of: Letter.self) { _, call in try call.proceed() }
    let error = await #expect(throws: MessageError.self) { try await letter.sendAndWait(key, "a") }
    expect(error?.code, equals: .isolationMismatch)
  }

  @Test("a waiting hook of a table can change the arguments of an async method for a sender on the main actor")
  @MainActor func changedForActor() async throws {
    let table = table()
    let (letter, key) = (Letter(journal, table), Message<(String) -> String>("slowly:"))
    try table.around(key, of: Letter.self) { _, call in
      try call.proceed()
    } waiting: { _, call in
      try await call.proceed(with: call.arguments + "b")
    }
    try await expect(letter.sendAndWait(key, "a"), equals: "ab slowly")
  }

  @Test("installing a hook throws for other types, another number of arguments or another target type")
  func refusals() throws {
    let table = table()
    #expect(throws: MessageError.self) {
      try table.before(Message<(Int) -> String>("greet:"), of: Letter.self) { _, _ in }
    }
    #expect(throws: MessageError.self) {
      try table.before(Message<() -> String>("greet:"), of: Letter.self) { _ in }
    }
    #expect(throws: MessageError.self) { try table.before(.greet, of: Desk.self) { _, _ in } }
    #expect(throws: MessageError.self) { try table.after(.say, of: Letter.self) { _, _, _ in } }
    let letter = Letter(journal, table)
    try expect(letter.send(.greet, "a"), equals: "hello a")
    expect(journal.all, equals: ["greet a"])
  }

  @Test("cached routes notice installed and canceled hooks")
  func routes() throws {
    let table = table()
    let (letter, proxy) = (Letter(journal, table), Desks())
    proxy.add(letter)
    proxy.broadcast(.greet, "a")
    let hook = try table.before(.greet, of: Letter.self) { letter, _ in letter.journal.write("hook") }
    proxy.broadcast(.greet, "b")
    hook.cancel()
    proxy.broadcast(.greet, "c")
    expect(journal.all, equals: ["greet a", "hook", "greet b", "greet c"])
  }

  @Test("a typed message reaches a hooked row without boxing", .enabled(if: AllocationCounter.isAvailable))
  func noBox() throws {
    // Each message has a separate table, so that the two differ only in their argument.
    let number = Message<(Int) -> Void>("number:")
    let wideTable = SelectorTable(for: Letter.self) { Responds(to: .wide) { (_: Letter, _: Wide) in } }
    let table = SelectorTable(for: Letter.self) { Responds(to: number) { (_: Letter, _: Int) in } }
    try wideTable.before(.wide, of: Letter.self) { _, _ in }
    try wideTable.around(.wide, of: Letter.self) { _, call in try call.proceed() }
    try table.before(number, of: Letter.self) { _, _ in }
    try table.around(number, of: Letter.self) { _, call in try call.proceed() }
    let (wideLetter, letter) = (Letter(journal, wideTable), Letter(journal, table))
    let wide = try allocations { try wideLetter.send(.wide, Wide()) }
    let narrow = try allocations { try letter.send(number, 0) }
    expect(wide, equals: narrow)
  }

  @Test("an inherited row that its table replaces is released without a lock held", arguments: 0..<3)
  func inheritedRelease(change: Int) throws {
    final class Closing: Sendable {
      let (journal, table): (Journal, SelectorTable)
      init(_ journal: Journal, _ table: SelectorTable) { (self.journal, self.table) = (journal, table) }
      deinit { journal.write("released, \(table.selectors.count) selectors") }
    }
    let parent = SelectorTable(for: Letter.self, rows: [])
    let table = SelectorTable(for: Letter.self, inheriting: parent, rows: [])
    func row(_ held: Closing?) -> Responds<Letter> {
      Responds(to: .greet) { (_: Letter, name: String) in withExtendedLifetime(held) { name } }
    }
    try parent.add(row(Closing(journal, table)))
    let hook = try table.before(.greet, of: Letter.self) { _, _ in }
    let letter = Letter(journal, table)
    try expect(letter.send(.greet, "a"), equals: "a")
    try parent.replace(row(nil))
    if change == 0 { try expect(letter.send(.greet, "b"), equals: "b") }
    if change == 1 { hook.cancel() }
    if change == 2 { try table.add(row(nil)) }
    expect(journal.all, equals: ["released, 1 selectors"])
  }

  @Test("a row that is present for some targets only stays so with hooks")
  func presence() throws {
    let raw: MessageSelector = "raw:"
    let table = SelectorTable(for: (any Listening).self) {
      Responds(to: .quote) { (_: any Listening, amount: Int) in amount }.present { $0 is Keen }
      Responds(to: raw, signature: .objects(arguments: 1)) { (_: any Listening, call: inout Invocation) in
        call.result = call.arguments[0]
      }.present { $0 is Keen }
      Responds(to: "offer:") { (_: any Listening, amount: Int) in -amount }
    }
    let proxy = MulticastProxy<any Listening>(table: table)
    proxy.add(Keen(), ownership: .strong)
    proxy.add(Deaf(), ownership: .strong)
    let offer = Message<(Int) -> Int>("offer:")
    func answers(_ message: MessageSelector) throws -> [Int] {
      try proxy.collect(Invocation(message, arguments: [ArgumentBox(1)]), returning: .all).map { try $0.unbox() }
    }
    for _ in 0..<2 {
      try expect(proxy.collect(.quote, 1, returning: .all), equals: [1])
      try expect(answers(raw), equals: [1])
      try expect(proxy.collect(offer, 1, returning: .all), equals: [-1, -1])
      try table.before { _ in }
    }
  }

  @Test("a hooked row that takes invocations or suspends keeps its types, and messages are checked against them")
  func types() async throws {
    let table = table()
    let letter = Letter(journal, table)
    let before = (table.signature(for: "raw:"), table.signature(for: "slowly:"))
    try table.around {
      try $0.proceed()
    } waiting: {
      try await $0.proceed()
    }
    expect(letter.methodSignature(for: "raw:"), equals: before.0)
    expect(letter.methodSignature(for: "slowly:"), equals: before.1)
    let proxy = Desks()
    proxy.add(letter)
    for call in [Invocation("raw:"), Invocation("slowly:", arguments: [ArgumentBox(1)])] {
      var call = call
      #expect(throws: MessageError.self) { try proxy.forward(&call) }
    }
    expect(journal.all, equals: [])
  }

  @Test("hooks of an actor's row run on the actor, and not for a sender that cannot call it")
  func isolated() async throws {
    let journal = journal
    try Window.selectorTable.before(.greet, of: Window.self) { _, name in journal.write("before \(name)") }
    let window = Window()
    try await expect(window.sendAndWait(.greet, "a"), equals: "hello a")
    let error = #expect(throws: MessageError.self) { try sendHere(window) }
    expect(error?.code, equals: .isolationMismatch)
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(window)
    expect(proxy.broadcast(.greet, "d").failed, equals: 1)
    expect(journal.take(), equals: ["before a"])
    // A synchronous send cannot call an asynchronous method.
    let (table, slowly) = (table(), Message<(String) -> String>("slowly:"))
    try table.before(slowly, of: Letter.self) { letter, _ in letter.journal.write("before") }
    #expect(throws: MessageError.self) { try Letter(journal, table).send(slowly, "e") }
    expect(journal.all, equals: [])
  }

  @Test("a row that calls the inherited method it replaces runs each table's hooks once")
  func replacingInherited() throws {
    let parent = table()
    let child = SelectorTable(for: Letter.self, inheriting: parent, rows: [])
    let letter = Letter(journal, child)
    try parent.before(.greet, of: Letter.self) { letter, _ in letter.journal.write("parent") }
    try child.before(.greet, of: Letter.self) { letter, _ in letter.journal.write("child") }
    try child.replace("greet:") { original in
      Responds(to: .greet) { (letter: Letter, name: String) in
        try original?.call(on: letter, name + "!") ?? "nobody"
      }
    }
    try expect(letter.send(.greet, "a"), equals: "hello a!")
    expect(journal.all, equals: ["child", "parent", "greet a!"])
  }

  @Test("a table refuses a hook that only waits around a method that is not async")
  func onlyWaiting() throws {
    let table = table()
    let error = #expect(throws: MessageError.self) {
      try table.around(.greet, of: Letter.self, waiting: { _, call in try await call.proceed() })
    }
    expect(error?.code, equals: .isolationMismatch)
    #expect(throws: MessageError.self) { try table.around("greet:", waiting: { try await $0.proceed() }) }
    try expect(Letter(journal, table).send(.greet, "a"), equals: "hello a")
  }

  @Test("the call that a table's hook receives has the selector and proceeds with the original arguments")
  func calls() async throws {
    let table = table()
    let letter = Letter(journal, table)
    try table.around(.greet, of: Letter.self) { _, call in try "\(call.selector) \(call.proceed())" }
    try expect(letter.send(.greet, "a"), equals: "greet: hello a")
    let key = Message<(String) -> String>("slowly:")
    try table.around(key, of: Letter.self, waiting: { _, call in try await "\(call.selector) \(call.proceed())" })
    try await expect(letter.sendAndWait(key, "b"), equals: "slowly: b slowly")
  }
}
