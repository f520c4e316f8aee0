// RefusalTests.swift: unsupported declarations, the position of the diagnostic, and its suggestion.

import TestSupport
import Testing

@testable import ForwardcastExpansion

/// A declaration, its offending text with the position, and a part of the diagnostic.
struct Refusal: CustomTestStringConvertible, Sendable {
  let text: String
  let blamed: String
  let place: String
  let reason: String

  init(_ text: String, _ place: String, _ blamed: String, _ reason: String) {
    (self.text, self.place, self.blamed, self.reason) = (text, place, blamed, reason)
  }

  /// A requirement in a protocol, on the second line.
  static func member(_ text: String, _ column: Int, _ blamed: String, _ reason: String) -> Refusal {
    Refusal("@Forwarded protocol P: AnyObject {\n\(text)\n}", "2:\(column)", blamed, reason)
  }

  var testDescription: String { text }

  static let all: [Refusal] = [
    // Types that a message cannot name.
    .member("func a(_ x: Self)", 13, "Self", "write 'any P'"),
    .member("func a() -> Self", 13, "Self", "write 'any P'"),
    .member("func a(_ x: [Self])", 14, "Self", "write 'any P'"),
    .member("associatedtype T", 16, "T", "make it a primary associated type: 'protocol P<T>'"),
    Refusal(
      "@Forwarded protocol P<T> {\nassociatedtype T: Q where T.R == Self\n}", "2:16", "T",
      "'Self' differs for each target"),
    .member("func a<T>(_ x: [T])", 7, "<T>", "only if each type parameter is the type of exactly one argument"),
    .member("func a<T>(_ x: T, _ y: T)", 7, "<T>", "generic member"),
    .member("func a<T>(_ x: T, then: @escaping (T) -> Void)", 7, "<T>", "generic member"),
    .member("func a<T>(_ x: T) throws -> T", 7, "<T>", "generic member"),
    .member("func a<T>(_ x: Int) throws -> T", 7, "<T>", "generic member"),
    .member("func a<T: Sequence>(_ x: T) where T.Element == Int", 7, "<T: Sequence>", "generic member"),
    .member("func a<T>(_ x: T, _ y: Item) where Item: Q", 7, "<T>", "generic member"),
    .member("func a<each T>(_ x: repeat each T)", 7, "<each T>", "generic member"),
    .member("func a(_ x: [some Q])", 13, "[some Q]", "'some' can be forwarded only as the whole type"),
    .member("func a() throws -> some Q", 20, "some Q", "write 'any' instead of 'some'"),
    .member("func a() where Self: Q", 10, "where Self: Q", "generic member"),
    .member("subscript<T>(x: T) -> Int? { get }", 10, "<T>", "generic member"),
    // Arguments that cannot be sent.
    .member("func a(_ x: inout Int)", 13, "inout", "return the new value"),
    .member("func a(_ x: Int...)", 8, "_ x: Int...", "write an array: '[Int]'"),
    .member("func a(_ x: @autoclosure () -> Int)", 13, "@autoclosure", "write '@escaping () -> …' or the value"),
    .member("func a(_ x: () -> Void)", 13, "() -> Void", "write '@escaping'"),
    .member("typealias Done = (Int) -> Void\nfunc a(_ x: Done)", 13, "Done", "write '@escaping'").at("3:13"),
    .member("func a(_ x: (() -> Void))", 13, "(() -> Void)", "write '@escaping'"),
    .member(
      "func a(_ x: @Sendable (Int) async throws -> Void)", 13, "@Sendable (Int) async throws -> Void",
      "write '@escaping'"),
    .member(
      "func a(_ x: @convention(block) () -> Void)", 13, "@convention(block)", "write a Swift closure: '@escaping'"),
    .member(
      "func a() -> (@convention(block) (Int) -> Void)?", 14, "@convention(block)",
      "a block cannot be forwarded; write a Swift closure, without '@convention(block)'"),
    .member("func a(_ x: isolated Q)", 13, "isolated", "put the requirement on a global actor"),
    .member("func a(_ x: sending Q)", 13, "sending", "make its type Sendable"),
    .member("func a() -> sending Q?", 13, "sending", "make its type Sendable"),
    .member("func a(_ x: @escaping () throws -> Void) rethrows", 42, "rethrows", "write 'throws'"),
    .member("func a(_ x: borrowing Span<Int>)", 23, "Span", "its memory is valid only during"),
    .member("func a(_ x: Swift.Span<Int>)", 19, "Span", "its memory is valid only during"),
    .member("func a(_ x: consuming any Q & ~Copyable)", 31, "~Copyable", "wrap it in a class"),
    .member("func a(_ x: borrowing any Q & ~Escapable)", 31, "~Escapable", "remove '~Escapable'"),
    .member("typealias ID = Int\nfunc a(_ x: Self.ID)", 13, "Self.ID", "write 'ID' without 'Self.'").at("3:13"),
    .member("func a(_ x: [Messages])", 14, "Messages", "write the name with its module"),
    // Members that cannot be messages.
    .member("static func a()", 1, "static", "move it to an extension"),
    .member(
      "func set<T>(_ value: [T])", 9, "<T>",
      "or mark the requirement '@NotForwarded' and implement it in an extension of 'PProxy'"),
    .member("static var a: Int? { get }", 1, "static", "move it to an extension"),
    .member("init(x: Int)", 1, "init", "an initializer cannot be forwarded"),
    .member("func == (l: Int, r: Int) -> Bool", 6, "==", "implement it in an extension of 'P'"),
    .member("@available(*, unavailable) func a()", 33, "a", "an unavailable member cannot be forwarded"),
    Refusal(
      "@Receiver final class C {\n@available(*, unavailable) @Message func a() {}\n}", "2:42", "a",
      "nobody may call it; remove '@Message'"),
    .member("mutating func a()", 1, "mutating", "inherit 'AnyObject'"),
    .member("var a: Int? { mutating get }", 15, "mutating", "inherit 'AnyObject'"),
    .member("distributed func a()", 1, "distributed", "cannot be forwarded"),
    .member("struct S { var a = 1 }", 1, "struct", "cannot be forwarded; move it out of the protocol"),
    .member("var (a, b): (Int, Int)", 5, "(", "cannot be forwarded; declare each by itself"),
    .member("optional func a()", 1, "optional", "let targets conform to 'PartialTarget'"),
    Refusal(
      "@Forwarded @objc protocol P {\n@objc optional subscript(x: Int) -> Int? { get }\n}", "2:16", "subscript",
      "no selector tells whether a target implements it"),
    Refusal(
      "@Forwarded @objc protocol P {\n@objc optional var a: Int? { get set }\n}", "2:20", "a",
      "cannot be set through its protocol"),
    .member(
      "@NotForwarded func a()\n#if A\n@available(*, deprecated)\n#else\n@discardableResult\n#endif\nfunc b() -> Int?",
      1,
      "#if A\n@available(*, deprecated)\n#else\n@discardableResult\n#endif", "write '#if' around the whole member"
    ).at("3:1"),
    Refusal(
      "@Forwarded\n#if A\n@objc\n#endif\nprotocol P: AnyObject { func a() }", "2:1", "#if A\n@objc\n#endif",
      "write '#if' around the whole declaration"),
    Refusal(
      "#if A\n@MainActor\n#endif\n@Receiver final class C { @Message func a() {} }", "1:1", "#if A\n@MainActor\n#endif",
      "write '#if' around the whole declaration"),
    // Malformed declarations.
    .member("func a", 6, "a", "the parameters of 'a' cannot be read"),
    .member("func a() ->", 1, "}", "the type of 'a' cannot be read").at("3:1"),
    .member("subscript -> Int? { get }", 1, "subscript", "the parameters of the subscript cannot be read"),
    // Names.
    .member("func `a b`()", 6, "`a b`", "write one, such as '@Message(\"name\")'"),
    .member("func `a b`(x: Int, _ y: Int)", 6, "`a b`", "write one, such as '@Message(\"name:name:\")'"),
    .member("func a(`b c` x: Int)", 6, "a", "write one, such as '@Message(\"name:\")'"),
    .member("@Message(\"\") func a()", 10, "\"\"", "'' is not a selector; write a name"),
    .member("func a(_ x: Int)\nfunc a(_ x: String)", 6, "a", "is already the selector of 'a'").at("3:6"),
    .member("var a: Int? { get set }\nfunc setA(_ x: Int)", 6, "setA", "is already the selector of 'a'").at("3:6"),
    .member(
      "@Message(\"a:b:\") func a(_ x: Int)", 10, "\"a:b:\"", "has 2 colons for 1 argument; write a colon for each"
    ),
    .member("@Message(\"a\") func a(_ x: Int)", 10, "\"a\"", "has 0 colons for 1 argument"),
    .member("@Message(\"a b\") func a()", 10, "\"a b\"", "is not a selector"),
    .member("@Message(\"a\\(1)\") func a()", 10, "\"a\\(1)\"", "plain literal"),
    .member("@Message(\"a:\") var a: Int? { get }", 10, "\"a:\"", "has 1 colon for 0 arguments"),
    .member("var multicast: Int? { get }", 5, "multicast", "rename it"),
    // Results.
    .member(
      "func a() -> Int", 13, "Int",
      "write '@Answer(otherwise: …)', '@Forwarded(otherwise: .emptyValues)', 'Int?' or 'throws'"),
    .member(
      "func a() -> Style", 13, "Style",
      "write '@Answer<Style>(otherwise: …)', '@Forwarded(otherwise: .emptyValuesOrTrap)'"),
    Refusal(
      "@Forwarded(otherwise: .emptyValues) protocol P {\nfunc a() -> Int\nfunc b() -> Style\n}", "3:13", "Style",
      "write '@Answer<Style>(otherwise: …)'"),
    Refusal(
      "@Forwarded protocol P<T>: AnyObject {\nassociatedtype T\nfunc a() -> Box<T>\n}", "3:13", "Box<T>",
      "there may be no target to return it; write '@Forwarded(otherwise: .emptyValuesOrTrap)', '"),
    .member("var a: Int { get }", 8, "Int", "'a' returns 'Int', but there may be no target to return it"),
    .member("func a() throws(E) -> Int", 23, "Int", "'a' can throw only 'E', not 'nobodyResponds'"),
    .member(
      "@Answer(.max) func a() -> Int", 27, "Int",
      "write '@Answer(.max, otherwise: …)', '@Forwarded(otherwise: .emptyValues)' or 'throws'"),
    .member("@Answer(.every) func a() -> Int", 9, ".every", "needs 'Bool' results, and 'Int' is not 'Bool'"),
    .member(
      "@Answer(.sum) func a() -> String", 9, ".sum",
      "needs numbers, and 'String' is not one; use '.joined' or '.reduce(…)'"),
    .member("@Answer(.sum) func a() -> Int?", 9, ".sum", "needs numbers, and 'Int?' is not one; use '.reduce(…)'"),
    .member("@Answer(.joined) func a() -> Int", 9, ".joined", "and 'Int' is neither"),
    .member("@Answer(.joined) func a() -> Character", 9, ".joined", "and 'Character' is neither; use '.reduce(…)'"),
    .member("@Answer(.joined) func a() -> Swift.StaticString", 9, ".joined", "and 'Swift.StaticString' is neither"),
    .member("@Answer(.sum) func a() -> Character", 9, ".sum", "and 'Character' is not one; use '.reduce(…)'"),
    .member("@Answer(.max) func a() throws -> StaticString", 9, ".max", "have no order"),
    .member(
      "@Answer(.joined(separator: \"\")) func a() -> [String]", 9, ".joined(separator: \"\")",
      "'[String]' is not 'String'"),
    .member(
      "@Answer(.joined(separator: \"\")) func a() -> Substring", 9, ".joined(separator: \"\")",
      "needs 'String' results, and 'Substring' is not 'String'"),
    .member("@Answer(.min) func a() throws -> (Int, Int)", 9, ".min", "have no order"),
    .member("@Answer(.lastValue) func a() throws -> Int", 9, ".lastValue", "'Int' is never nil"),
    .member("@Answer(.best) func a() -> Int", 9, ".best", "this rule is not known"),
    .member("@Answer(.last) func a()", 1, "@Answer(.last)", "returns nothing to combine"),
    // Protocols.
    Refusal(
      "@Forwarded protocol P: Actor {}", "1:24", "Actor", "inherit 'Sendable', and let actors conform to the protocol"),
    Refusal("@Forwarded protocol P: Swift.Actor, Q {}", "1:24", "Swift.Actor", "inherit 'Sendable'"),
    Refusal("@Forwarded protocol P: Q & (Actor) {}", "1:24", "Q & (Actor)", "inherit 'Sendable'"),
    Refusal(
      "@Forwarded distributed protocol P {}", "1:12", "distributed", "a distributed protocol cannot be forwarded"),
    Refusal("@Forwarded struct S {}", "1:12", "struct", "'@Forwarded' is for protocols"),
    Refusal("@Forwarded final class S {}", "1:18", "class", "use '@Receiver' for a class"),
    Refusal("@Forwarded func f() {}", "1:12", "func", "'@Forwarded' is for protocols"),
    Refusal(
      "@Forwarded @MainActor protocol P: AnyObject {\nnonisolated func a()\n}", "2:1", "nonisolated",
      "inherit 'Sendable'"),
    Refusal(
      "@Forwarded @MainActor protocol P: AnyObject {\n@StoreActor func a()\n}", "2:1", "@StoreActor",
      "inherit 'Sendable'"),
    // Receivers.
    Refusal("@Receiver struct S {}", "1:11", "struct", "a receiver needs an identity"),
    Refusal("@Receiver protocol P {}", "1:11", "protocol", "use '@Forwarded' for a protocol"),
    Refusal("@Receiver distributed actor A {}", "1:11", "distributed", "cannot be a receiver"),
    Refusal("@Receiver final class C {\n@Message var a = b()\n}", "2:14", "a", "a macro cannot infer the type of 'a'"),
    Refusal("@Receiver final class C {\n@Message init() {}\n}", "2:10", "init", "cannot be forwarded"),
    Refusal("@Receiver final class C {\n@Message static func a() {}\n}", "2:10", "static", "messages go to objects"),
    Refusal(
      "@Receiver final class C {\n@Message func a(_ x: inout Int) {}\n}", "2:22", "inout",
      "every target receives its own copy"),
    Refusal("@Receiver final class C {\n@Message func a() -> Self { self }\n}", "2:22", "Self", "write 'C'"),
    Refusal(
      "@Receiver final class C {\n@Message func a() {}\n@Message(\"a\") func b() {}\n}", "3:20", "b",
      "already the selector of 'a'"),
  ]

  func at(_ place: String) -> Refusal { Refusal(text, place, blamed, reason) }
}

@Suite("Refusals")
struct RefusalTests {
  @Test("an unsupported requirement is refused at the offending word, with a fix", arguments: Refusal.all)
  func refusals(refusal: Refusal) throws {
    let expander = Expander(refusal.text)
    try #require(expander.said.count >= 1, "\(refusal.text)")
    expect(expander.said[0].hasPrefix(refusal.place + ": "), "\(expander.said[0])")
    expect(expander.blamed[0], equals: refusal.blamed)
    expect(expander.said[0].contains(refusal.reason), "\(expander.said[0])")
    let text = expander.expansion.text
    // The class conforms only if it has all requirements.
    let isWhole = expander.said[0].contains("there may be no target")
    expect(text.isEmpty || text.contains("final class PProxy") && text.contains(" P, ") == isWhole, "\(text)")
    expect(expander.expansion.problems[0].severity, equals: .error)
    expect(expander.expansion.problems.count, equals: 1, "\(expander.said)")
  }

  @Test("members beyond the limit and too long selectors are refused, and the rest is expanded")
  func bounds() {
    if Bounds.areFull {
      let members = (0..<4_100).map { "func a\($0)()" }.joined(separator: "\n")
      let many = Expander("@Forwarded protocol P {\n\(members)\n}")
      expect(many.said, equals: ["4098:1: there are more than 4096 members; split the declaration"])
    }
    let name = String(repeating: "a", count: 1_025)
    let long = Expander("@Forwarded protocol P {\nfunc \(name)()\nfunc b()\n}")
    expect(long.said.count == 1 && long.said[0].contains("is longer than 1024 bytes"), "\(long.said)")
    expect(long.expansion.text.contains("\"b\""))
    expect(Expander("@Forwarded protocol P { @Message(\"b\") func \(name)() }").said, equals: [])
  }

  @Test("@Answer with a rule has no effect in a receiver and gets a warning")
  func answerOfReceiver() {
    let expander = Expander("@Receiver final class C { @Message @Answer(.sum) func a() -> Int { 1 } }")
    expect(expander.problems.map(\.severity), equals: [.warning])
    expect(expander.blamed, equals: ["@Answer(.sum)"])
    expect(expander.expansion.text.contains("\"a\""))
  }

  @Test("the empty value of a tuple consists of its elements' empty values, and functions have none")
  func emptyTuples() {
    func expander(_ type: String, _ role: String) -> Expander {
      Expander(
        "@Forwarded(otherwise: .emptyValues) protocol P { func a() -> \(type) }", role: role, extending: "P")
    }
    let cases = [
      ("(Int?, b: [Int])", "(nil, b: [])"), ("(Bool, Swift.Int)", "(false, 0)"),
      // Foundation has no `init()` for it on Linux.
      ("NSAttributedString", "NSAttributedString(string: \"\")"),
    ]
    for (type, value) in cases {
      expect(expander(type, "peer").said, equals: [])
      let text = expander(type, "extension").expansion.text
      expect(text.contains(value), "\(text)")
    }
    for type in ["(Int) -> Void", "(Int, () -> Void)", "(Int, any Q)", "[3 of Int]"] {
      expect(expander(type, "peer").said.count, equals: 1, "\(type)")
    }
  }

  @Test("applying a fix-it makes the declaration valid")
  func fixes() throws {
    let cases = [
      ("@Forwarded protocol P: AnyObject { func a(_ x: () -> Void) }", "@escaping () -> Void"),
      ("@Forwarded protocol P: AnyObject { func a() -> Int }", "@Answer(otherwise: <#value#>) func a() -> Int"),
      ("@Forwarded protocol P: AnyObject { @Answer(.max) func a() -> Int }", "@Answer(.max, otherwise: <#value#>)"),
      ("@Forwarded protocol P: AnyObject { @Answer var a: Int { get } }", "@Answer(otherwise: <#value#>) var a"),
      ("@Forwarded protocol P: AnyObject { func a() -> S }", "@Answer<S>(otherwise: <#value#>) func a() -> S"),
      ("@Forwarded protocol P { associatedtype T; func a(_ x: T) }", "protocol P<T> {"),
      (
        "@Forwarded protocol P<T>: Q { associatedtype T; associatedtype U; func a(_ x: T, _ y: U) }",
        "protocol P<T, U>:"
      ),
      ("@Forwarded protocol P { typealias ID = Int; func a(_ x: [Self.ID]) }", "func a(_ x: [ID])"),
      (
        "@Forwarded protocol P { func a(_ x: Int); func a(_ x: [String]?) }",
        "@Message(\"aString:\") func a(_ x: [String]?)"
      ),
      (
        "@Forwarded protocol P { func a(_ x: Int, b: Int); @MainActor func a(_ x: Int, b: String); func aInt(_ x: Int, b: Int) }",
        "@Message(\"a2:b:\") @MainActor func a"
      ),
      (
        "@Forwarded protocol P { var a: Int? { get set }; @Message func setA(_ x: Int) }",
        "@Message(\"setAInt:\") func setA"
      ),
      ("@Forwarded protocol P { func setA(_ x: Int); var a: Int? { get set } }", "@Message(\"a2\") var a"),
      ("@Forwarded protocol P { func b(); @Message(\"b\") func a() }", "@Message(\"b2\") func a()"),
    ]
    for (text, wanted) in cases {
      let fix = try #require(Expander(text).problems.first?.fixes.first, "\(text)")
      var bytes = Array(text.utf8)
      bytes.replaceSubrange(fix.offsets, with: Array(fix.text.utf8))
      let fixed = String(decoding: bytes, as: UTF8.self)
      expect(fixed.contains(wanted), "\(fixed)")
      expect(Expander(fixed.replacing("<#value#>", with: "1")).said, equals: [], "\(fixed)")
    }
  }

  @Test("an unavailable requirement or member is not a message")
  func unavailable() {
    let unseen = Expander("@Forwarded @objc protocol P { @available(*, unavailable) @objc func a(); @objc func b() }")
    expect(unseen.said, equals: [])
    expect(!unseen.expansion.text.contains("\"a\"") && unseen.expansion.text.contains("\"b\""))
    let receiver = Expander("@Receiver(.allMembers) class C { @available(*, unavailable) func a() {}; func b() {} }")
    expect(receiver.said, equals: [])
    expect(!receiver.expansion.text.contains("\"a\"") && receiver.expansion.text.contains("\"b\""))
  }

  @Test("inheriting from a standard library protocol is refused at the argument")
  func standardParents() {
    for name in ["Hashable", "Encodable", "Swift.Equatable"] {
      let expander = Expander("@Forwarded(inheriting: (any \(name)).self) protocol P: \(name) { func a() }")
      expect(
        expander.problems.map(\.message),
        equals: [
          "'\(name)' is a protocol of the standard library, which needs no 'inheriting:'; remove it"
        ])
    }
  }

  @Test("the generated class names the extension that a standard library parent needs")
  func standardRequirements() {
    let cases = [
      ("CaseIterable", "extension PProxy { static var allCases: [PProxy] { … } }"),
      (
        "RawRepresentable where RawValue == Int",
        "extension PProxy { convenience init?(rawValue: RawValue) { … }; var rawValue: RawValue { … } }"
      ),
      ("Identifiable<Int>", "extension PProxy { var id: ID { … } }"),
      ("Comparable", "func < (a: PProxy, b: PProxy) -> Bool { … }' at file scope"),
      ("Swift.Identifiable<Store.Key>", "extension PProxy { var id: ID { … } }"),
    ]
    for (parent, wanted) in cases {
      let text = Expander("@Forwarded protocol P: \(parent) { func a() }").expansion.text
      expect(text.contains("Write '\(wanted)"), "\(text)")
      expect(!text.contains("'@Forwarded' too"), "\(text)")
    }
    let shared = Expander("@Forwarded public protocol P: Codable { func a() }").expansion.text
    let members = "public func encode(to encoder: any Encoder) throws { … }; public convenience init(from decoder:"
    expect(shared.contains("Write 'extension PProxy { \(members)"), "\(shared)")
  }

  @Test("a fix-it does not write a type that only the protocol knows")
  func ownTypes() {
    let text = "@Forwarded protocol P<T>: AnyObject { associatedtype T; func a() -> Box<T> }"
    expect(Expander(text).problems.map(\.fixes.count), equals: [0])
  }

  @Test("a requirement marked @NotForwarded is no message and no error, and the class still conforms")
  func notForwarded() {
    let expander = Expander(
      """
      @Forwarded protocol P: AnyObject {
      @NotForwarded func set<T>(_ value: T)
      @NotForwarded init(x: Int)
      @NotForwarded static func make() -> Self
      @NotForwarded func change(_ x: inout Int)
      func plain()
      }
      """)
    expect(expander.said, equals: [])
    let text = expander.expansion.text
    expect(text.contains("<any P>, P, Forwarding") && text.contains("\"plain\""))
    expect(!text.contains("set") && !text.contains("make") && !text.contains("change"))
  }

  @Test("in Swift 5 only a generic argument that would be 'Any' at the target is refused")
  func selfConforming() {
    let swift5 = ModuleSettings(opensAll: false)
    for (type, isRefused) in [
      ("", true), (": Sendable", true), (": AnyObject & Swift.Sendable", true), (": Error", true), (": Q", false),
      (": Q & Sendable", false),
    ] {
      let text = "@Forwarded protocol P { func a<T\(type)>(_ x: T) }"
      expect(Expander(text).said, equals: [])
      let said = Expander(text, settings: swift5).said
      expect(said.count, equals: isRefused ? 1 : 0, "\(text)")
      expect(!isRefused || said[0].contains("'ImplicitOpenExistentials'"), "\(said)")
    }
  }

  @Test("the fix-its for colliding selectors suggest a different name for each")
  func distinctNames() {
    let text = "@Forwarded protocol P { func a(_ x: Int); func a(_ x: [Int]); func a(_ x: Int?); func a(_ x: String) }"
    let names = Expander(text).problems.compactMap(\.fixes.first?.text)
    expect(names.count == 3 && Set(names).count == 3, "\(names)")
  }

  @Test("attribute arguments that are not type names are refused at the argument")
  func arguments() {
    for text in [
      "@Forwarded(as: type) protocol P {}", "@Forwarded(inheriting: A) protocol P {}",
      "@Receiver(inheriting: base()) class C {}", "@Receiver(.some) class C {}",
      "@Forwarded(base: (a*/y b).self) protocol P {}",
      "@Forwarded(isolatedTo: Audio) protocol P {}", "@Forwarded(otherwise: .nothing) protocol P {}",
    ] {
      expect(Expander(text).expansion.attributeProblems.count, equals: 1, "\(text)")
    }
  }

  @Test("in Swift 5 an asynchronous member runs on the actor of its class, which may differ from the protocol's")
  func elsewhere() {
    func text(_ declaration: String, opensAll: Bool) -> String {
      var settings = ModuleSettings()
      settings.opensAll = opensAll
      return Expander(declaration, role: "extension", extending: "P", settings: settings).expansion.text
    }
    let unseen = "@Forwarded protocol P: Screen { func load(_ x: borrowing Int) async throws -> Int?\nfunc shown() }"
    let written = text(unseen, opensAll: false)
    expect(written.contains("try await onActorOfClass({ [x = copy x] in try await self.multicast.collectAndWait("))
    expect(written.contains("multicast.broadcast(PProxy.Messages.shown)"))
    expect(!text(unseen, opensAll: true).contains("onActorOfClass"))
    expect(!text("@Forwarded protocol P { func load() async -> Int? }", opensAll: false).contains("onActorOfClass"))
  }

  @Test("a member that @Receiver(.allMembers) leaves out gets a warning, and the others are messages")
  func leftOut() {
    let expander = Expander(
      "@Receiver(.allMembers) final class C {\nfunc a(_ x: inout Int) {}\nfunc b() {}\nprivate func c(_ x: inout Int) {}\n}"
    )
    expect(expander.said.count, equals: 1)
    expect(expander.said.first?.hasPrefix("2:13: 'a' is left out:") == true)
    expect(expander.problems.first?.severity, equals: .warning)
    expect(expander.expansion.text.contains("\"b\""))
    expect(!expander.expansion.text.contains("\"c:\""))
  }

  @Test("a misplaced @Message or @Answer gets a warning")
  func marks() {
    func said(_ macro: String, _ context: [String]) -> [String] {
      ExpansionRequest(
        macro: macro, role: "peer", attribute: SourceText("@\(macro)"), declaration: SourceText("@\(macro) func a()"),
        context: context
      ).expanded().attributeProblems.map { "\($0.severity): \($0.message)" }
    }
    expect(said("Message", ["@Receiver final class C {}"]), equals: [])
    expect(said("Message", ["@Forwarded\n/* x */ public protocol P: AnyObject {}"]), equals: [])
    expect(said("Answer", ["@MainActor @Forwarded(as: (any Q).self) protocol P {}"]), equals: [])
    expect(said("NotForwarded", ["@Forwarded protocol P: AnyObject {}"]), equals: [])
    expect(said("NotForwarded", ["@Receiver final class C {}"]).first?.hasPrefix("warning:") == true)
    expect(said("Message", ["final class C {}"]).first?.hasPrefix("warning:") == true)
    expect(said("Message", []).count, equals: 1)
    expect(said("Message", ["extension C {}"]).first?.contains("extension") == true)
    expect(said("Answer", ["@Receiver final class C {}"]).first?.hasPrefix("warning:") == true)
  }
}
