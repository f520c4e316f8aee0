// ReaderTests.swift: reads tokens, types and declarations.

import Forwardcast
import TestSupport
import Testing

@testable import ForwardcastExpansion

@Suite("The reader of declarations")
struct ReaderTests {
  private func tokens(_ text: String) -> [String] {
    let source = SourceText(text)
    return source.tokens.dropLast().indices.map { source.text($0) }
  }

  @Test(
    "text is split into tokens",
    arguments: [
      ("a.b<C>?", ["a", ".", "b", "<", "C", ">", "?"]),
      ("func a() -> [B]", ["func", "a", "(", ")", "->", "[", "B", "]"]),
      ("/* a /* b */ c */ d // e\nf", ["d", "f"]),
      ("\"a\\\"b\" c", ["\"a\\\"b\"", "c"]),
      ("\"a\\(b(\")\"))c\" d", ["\"a\\(b(\")\"))c\"", "d"]),
      ("#\"a\"b\\(c)\"# d", ["#\"a\"b\\(c)\"#", "d"]),
      ("#\"\\#(\"}\")\"# d", ["#\"\\#(\"}\")\"#", "d"]),
      ("\"\"\"\n }\" \\(\"\"\" \n\"\"\")\n\"\"\" d", ["\"\"\"\n }\" \\(\"\"\" \n\"\"\")\n\"\"\"", "d"]),
      ("##\"\"\"\n\"\"\"# \"\"\"## d", ["##\"\"\"\n\"\"\"# \"\"\"##", "d"]),
      ("#\"\"\"# d", ["#\"\"\"#", "d"]),
      ("#\"\"\"a\" b\"# d", ["#\"\"\"a\" b\"#", "d"]),
      ("##\"\"\"a\"#\n\"## \"\"\"## d", ["##\"\"\"a\"#\n\"## \"\"\"##", "d"]),
      ("= /a\\/}[/]\"/ b", ["=", "/a\\/}[/]\"/", "b"]),
      ("a / b / c", ["a", "/", "b", "/", "c"]),
      ("return \"\\(a/b)/c\" d/e", ["return", "\"\\(a/b)/c\"", "d", "/", "e"]),
      ("\"\\(a/2)/\\(b/2)\" d", ["\"\\(a/2)/\\(b/2)\"", "d"]),
      ("(1, /)) a // b\nc", ["(", "1", ",", "/", ")", ")", "a", "c"]),
      ("(/, a /b)", ["(", "/", ",", "a", "/", "b", ")"]),
      ("= /(a) [)]/ b", ["=", "/(a) [)]/", "b"]),
      ("= /a\\ / b", ["=", "/a\\ /", "b"]),
      ("x = #/ } \" /# b", ["x", "=", "#/ } \" /#", "b"]),
      ("#/\n } \n/# b", ["#/\n } \n/#", "b"]),
      ("`class` `a b` $0 _", ["`class`", "`a b`", "$0", "_"]),
      ("#if os(Linux)", ["#if", "os", "(", "Linux", ")"]),
      ("0x1F 1.5e3 1...2", ["0x1F", "1.5e3", "1", ".", ".", ".", "2"]),
      ("你好 é🎉 →", ["你好", "é🎉", "→"]),
      ("\"unclosed\nnext", ["\"unclosed", "next"]),
      ("\u{FEFF}a", ["a"]),
    ])
  func lexer(text: String, wanted: [String]) {
    expect(tokens(text), equals: wanted)
  }

  @Test("offsets count UTF-8 bytes, and every byte belongs to a token or the whitespace before it")
  func offsets() {
    let text = "é /* 🎉 */ func 你(_ a: Int) // x\n"
    let source = SourceText(text)
    var next = 0
    for token in source.tokens {
      expect(token.leading, equals: next)
      next = token.range.upperBound
    }
    expect(next, equals: text.utf8.count)
    expect(source.tokens[1].range, equals: 14..<18)
  }

  @Test(
    "the end of a type is found",
    arguments: [
      ("Int next", "Int"), ("A.B<C, D<E>>.F? next", "A.B<C, D<E>>.F?"), ("[A: [B]]! {", "[A: [B]]!"),
      ("(A, b: B) -> C -> D next", "(A, b: B) -> C -> D"), ("any A & B<C> next", "any A & B<C>"),
      ("@escaping @Sendable (A) async throws(E) -> B {", "@escaping @Sendable (A) async throws(E) -> B"),
      ("some A, b", "some A"), ("inout [A]) ", "inout [A]"), ("~Copyable & A", "~Copyable & A"),
      ("A\nasync -> B", "A\nasync -> B"), ("A async {", "A"), ("A throws\n func", "A"), ("A.Type?\n?", "A.Type?"),
      ("(A) throws -> (B) -> C", "(A) throws -> (B) -> C"), ("any", "any"), ("`class`.A", "`class`.A"),
      ("nonisolated(nonsending) (A) async -> B", "nonisolated(nonsending) (A) async -> B"),
      ("@convention(c) (A) -> B x", "@convention(c) (A) -> B"),
    ])
  func types(text: String, wanted: String) throws {
    let source = SourceText(text)
    let end = try #require(source.endOfType(0, before: source.end))
    expect(source.text(0..<end), equals: wanted)
  }

  @Test("text that is not a type has no end", arguments: ["", ")", "-> A", "{", "@", "= 3", "(A", "inout"])
  func noTypes(text: String) {
    let source = SourceText(text)
    let end = source.endOfType(0, before: source.end)
    expect(end == nil || text == "inout")
  }

  @Test("a key spells a type without its parameter modifiers")
  func keyed() {
    let cases = [
      ("consuming A", "A"), ("borrowing [A]", "[A]"), ("some A & B", "any A & B"), ("A!", "A?"),
      ("@escaping (A) -> B", "@escaping (A) -> B"), ("A  /* c */ ?", "A ?"), ("(some A)?", "(any A)?"),
    ]
    for (text, wanted) in cases {
      let source = SourceText(text)
      expect(source.typeText(0..<source.end).keyed, equals: wanted)
    }
  }

  private func read(_ text: String) throws -> TypeDeclaration {
    var reader = DeclarationReader(SourceText(text))
    let found = reader.typeDeclaration()
    let declaration = try #require(found)
    expect(reader.problems.isEmpty, "\(reader.problems)")
    return declaration
  }

  @Test("a protocol with every kind of member is read")
  func protocols() throws {
    let declaration = try read(
      """
      /// About it.
      @A @B(c: "}") public nonisolated protocol P<T>: Q, any R & S<U> where T: V {
        typealias W = [X: Y]
        @discardableResult func a(_ b: C, d e: F = g({ 1 }), _: H) async throws(I) -> J?
        ; var k, l: M { get async throws set }
        subscript(n: O, p q: R...) -> S { get nonmutating set }
        #if x
        init?(y: Z)
        #elseif w
        static func == (a: Self, b: Self) -> Bool
        #else
        #warning("hi")
        associatedtype T
        #endif
        func last<T: U>(_: T) rethrows -> [T] where T: V
        nonisolated(nonsending) func afterwards()
      }
      """)
    expect(declaration.documentation, equals: ["/// About it."])
    expect(declaration.access, equals: "public")
    expect(declaration.inherited.count, equals: 2)
    expect(declaration.whereClause != nil && declaration.generics != nil)
    let members = declaration.members
    let names = ["typealias", "a", "k", "l", "subscript", "init", "==", "associatedtype", "last", "afterwards"]
    expect(members.map(\.name), equals: names)
    expect(members[1].parameters.map(\.label), equals: [nil, "d", nil])
    expect(members[1].effects, equals: Effects(isAsync: true, throwing: .typed("I")))
    expect(members[1].type?.isOptional == true)
    expect(members[3].isSettable && members[3].effects == Effects(isAsync: true, throwing: .untyped))
    expect(members[4].parameters.map(\.label) == [nil, "p"] && members[4].parameters[1].isVariadic)
    expect(members[4].setterIsNonmutating)
    expect(!members[5].canStandBeside(members[6]) && members[5].canStandBeside(members[8]))
    expect(members[9].modifiers.first?.detail, equals: "nonsending")
    expect(
      declaration.items.compactMap { if case .directive(let line) = $0 { line } else { nil } },
      equals: ["#if x", "#elseif w", "#else", "#endif"])
  }

  @Test("a class with bodies, initial values and observers is read")
  func classes() throws {
    let declaration = try read(
      """
      final class C<T>: D {
        var a: Int = b { $0 } + { 1 }() { didSet { e() } }
        let f = "\\(g { "}" })", h: [Int] = [
          1,
        ]
        private(set) var i: Int { get { 1 } set { } }
        var j: Int { k }
        lazy var l: () -> Void = { [weak self] in self?.m() }
        func n(o: Int = { 3 }()) -> Int { if o == 1 { return "}".count } else { return 2 } }
        @MainActor deinit { }
        enum P { case q, r(Int) }
        class func s() {}
        override class var t: Int { 1 }
        func u<V>(_ v: V) where V: W { }
        subscript(x: Int) -> Int { _read { yield y } _modify { yield &y } }
        var z: Int
      }
      """)
    expect(
      declaration.members.map(\.name),
      equals: [
        "a", "f", "h", "i", "j", "l", "n", "deinit", "enum", "s", "t", "u", "subscript", "z",
      ])
    let settable = declaration.members.filter(\.isSettable).map(\.name)
    expect(settable, equals: ["a", "i", "l", "subscript", "z"])
  }

  @Test("a type also applies to the names before it that have neither a type nor a value")
  func sharedTypes() throws {
    let declaration = try read("class C { var a, b: Double, c = 1, d, e: Int, f = g(), h: Bool }")
    expect(
      declaration.members.map { $0.type?.text }, equals: ["Double", "Double", "Int", "Int", "Int", nil, "Bool"])
  }

  @Test("attributes of types do not start a member")
  func typeAttributes() throws {
    let declaration = try read(
      """
      protocol P {
        typealias Responder = @Sendable (Request, consuming Writer) async throws -> Void
        typealias Maker =
          @MainActor () -> @Sendable () -> Void
        associatedtype Body: Q = @Sendable () -> Void
        var responder: Responder { get } @Message("x") func a()
      }
      """)
    expect(
      declaration.members.map(\.name), equals: ["typealias", "typealias", "associatedtype", "responder", "a"])
  }

  @Test("a comma between generic arguments of an expression does not end the expression")
  func genericExpressions() throws {
    let declaration = try read(
      """
      class C {
        let a = B<Int, Never>(), c = D<[E<F, G>]>.h
        var i = Dictionary<String, Int>() { didSet { } }
        var j = k < l, m = n > o
        let p = 1 << 2, q = 8 >> r
        func s(_ t: U = V<W, X>(), _ y: Z, a: Bool = b < c, _ d: Bool = e > f) {}
        let g = h as @Sendable () -> Void, i2 = j as! @MainActor () -> Void
        var k2: L?
        @M func n() {}
      }
      """)
    expect(
      declaration.members.map(\.name), equals: ["a", "c", "i", "j", "m", "p", "q", "s", "g", "i2", "k2", "n"])
    expect(declaration.members[7].parameters.map(\.name), equals: ["t", "y", "a", "d"])
    expect(declaration.members[2].isSettable)
  }

  @Test("a raw string that begins with three quotation marks ends on its line, and the members after it are messages")
  func rawStrings() {
    let text = Expander(
      ##"""
      @Receiver(.allMembers) final class C {
        func a() -> String { #"""# }
        func b() {}
        func c() -> String { #"""a" b"# }
      }
      """##)
    expect(text.said, equals: [])
    for name in ["a", "b", "c"] { expect(text.expansion.text.contains("(\"\(name)\")"), "\(text.expansion.text)") }
  }

  @Test("an operator '<' and a later declaration of '>' do not enclose the members between them")
  func comparisons() throws {
    let declaration = try read(
      """
      class C<let n: Int> {
        let isOld = version < 3
        @Message var title: String
        static func > (l: C, r: C) -> Bool { true }
        let a = B<@Sendable @MainActor () -> Void, C>(), b = 1
      }
      """)
    expect(declaration.members.map(\.name), equals: ["isOld", "title", ">", "a", "b"])
  }

  @Test("a key is named by its base name if that is unique, and otherwise by all parts")
  func keys() throws {
    let declaration = try read(
      """
      protocol P {
        func mqtt(_ a: Int)
        func mqtt(_ a: Int, didReceiveMessage: Int, id: Int)
        func mqtt()
        var title: Int { get set }
        func `default`()
        @Message("choose:or:") func pick(_ a: Int, _ b: Int)
        @Message("choose:") func pick(_ a: Int)
        var Type: Int { get }
        #if A
        func only()
        #else
        func only(_ a: Int)
        #endif
      }
      """)
    var entries = declaration.members.flatMap(\.entries)
    entries.nameKeys()
    expect(
      entries.map(\.key),
      equals: [
        "mqtt", "mqttDidReceiveMessageId", "mqtt0", "title", "setTitle", "default", "chooseOr", "choose", "TypeMessage",
        "only", "only",
      ])
  }

  @Test("selectors equal those of the library")
  func selectors() throws {
    let bases = ["onAddMsg", "insert", "move", "moveTo", "setURL", "x", "a_b", "addURL", "didSend", "你好", "WithX"]
    let labels: [[String?]] = [
      [], [nil], ["object"], ["to"], ["URLString"], [nil, "at"], ["object", "at"], ["withIt", nil], ["_x"], ["é"],
      ["atURL"],
      ["for", "in"], ["usingBlock"],
    ]
    for base in bases {
      for labels in labels {
        let name = labels.isEmpty ? base : "\(base)(\(labels.map { ($0 ?? "_") + ":" }.joined()))"
        expect(SelectorName.method(base, labels), equals: (try MessageSelector(swiftName: name)).name, "\(name)")
      }
    }
    for text in [
      "a", "a:", ":", "a:b:", "", "a b", "a:b", "1", "a::", "é:", "::", "a-b", "`a`",
      String(repeating: "a", count: 1025),
    ] {
      let count = try? MessageSelector.numberOfArguments(inName: text)
      expect(SelectorName.numberOfArguments(text), equals: count, "\(text)")
    }
  }
}
