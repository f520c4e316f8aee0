// ProgramTests.swift: messages from the compiler, and the generated text.

import TestSupport
import Testing

@testable import ForwardcastExpansion

@Suite("The messages from the compiler")
struct ConversationTests {
  private func ask(_ message: String) -> JSONValue? {
    JSONValue(Array(Conversation.reply(to: Array(message.utf8)).utf8))
  }

  private func expansion(
    of declaration: String, attribute: String = "@Forwarded", type: String = "Forwarded", role: String = "peer",
    at offset: Int = 0,
    configuration: String = "{}"
  ) -> JSONValue? {
    func syntax(_ text: String) -> JSONValue {
      .object([
        "source": .string(text),
        "location": .object(["fileName": .string("a.swift"), "offset": .int(offset), "line": .int(1)]),
      ])
    }
    let message = JSONValue.object([
      "expandAttachedMacro": .object([
        "macro": .object(["moduleName": .string("ForwardcastMacros"), "typeName": .string(type), "name": .string(type)]
        ),
        "macroRole": .string(role), "attributeSyntax": syntax(attribute), "declSyntax": syntax(declaration),
        "lexicalContext": .array([]), "unknownKey": .null, "staticBuildConfiguration": .string(configuration),
      ])
    ])
    return ask(message.encoded)?["expandMacroResult"]
  }

  @Test("the plugin uses the smaller of the two protocol versions", arguments: [(3, 3), (7, 7), (12, 7)])
  func capability(asked: Int, answered: Int) {
    let reply = ask("{\"getCapability\":{\"capability\":{\"protocolVersion\":\(asked)}}}")
    expect(reply?["getCapabilityResult"]?["capability"]?["protocolVersion"]?.integer, equals: answered)
    expect(ask("{\"getCapability\":{}}")?["getCapabilityResult"] != nil)
  }

  @Test("a message that cannot be read gets one error and no code")
  func unknown() {
    let messages = [
      "", "{", "[]", "{}", "{\"loadPluginLibrary\":{}}", "{\"expandFreestandingMacro\":{\"syntax\":{}}}",
      "{\"expandAttachedMacro\":{}}", String(repeating: "[", count: 100_000), "\u{0}\u{1}",
    ]
    for message in messages {
      let reply = ask(message)?["expandMacroResult"]
      expect(reply?["diagnostics"]?.elements.count, equals: 1, "\(message.prefix(40))")
      expect(reply?["diagnostics"]?.elements.first?["severity"]?.text, equals: "error")
    }
    expect(expansion(of: "protocol P {}", type: "Later")?["diagnostics"]?.elements.count, equals: 1)
  }

  @Test("text is read and written as plain UTF-8")
  func plainText() throws {
    let reply = try #require(expansion(of: "@Forwarded protocol P { /// 🎂 \"\\\n func 🎉(_ a: Int) }"))
    expect(reply["expandedSource"]?.text?.contains("static let 🎉 =") == true)
    expect(!reply.encoded.contains("\\u"))
    let odd = JSONValue.string("a\"\\\n\t\r\u{1}é🎉")
    expect(JSONValue(Array(odd.encoded.utf8)), equals: odd)
    expect(JSONValue(Array("\"\\ud83c\\udf89\\u00e9\\/\\ud83c\"".utf8)), equals: .string("🎉é/\u{FFFD}"))
    expect(JSONValue(Array("\"\\b\\f\\u001F\"".utf8)), equals: .string("\u{8}\u{C}\u{1F}"))
    expect(JSONValue(Array(" [ 1 ,\t{ \"a\" : null } ] \r\n".utf8)), equals: .array([.int(1), .object(["a": .null])]))
    for text in [
      "", "[", "[1", "[1,", "[1 2]", "{\"a\"}", "{\"a\":", "{\"a\":1", "{1:2}", "\"", "\"\\", "\"\\x\"", "\"\\u12\"",
      "\"\\u12g4\"", "nothing", "1 2", String(repeating: "[", count: 200),
    ] {
      expect(JSONValue(Array(text.utf8)) == nil, "\(text)")
    }
  }

  @Test("a diagnostic has its byte offset in the file and its fix-it")
  func diagnostics() throws {
    let text = "@Forwarded protocol P { func é(_ x: () -> Void) }"
    let told = try #require(expansion(of: text, at: 100)?["diagnostics"]?.elements.first)
    let offset = 100 + text.utf8.count - "() -> Void) }".utf8.count
    expect(told["position"]?["offset"]?.integer, equals: offset)
    expect(told["position"]?["fileName"]?.text, equals: "a.swift")
    let highlight = told["highlights"]?.elements.first
    expect(highlight?["startOffset"]?.integer, equals: offset)
    expect(highlight?["endOffset"]?.integer, equals: offset + "() -> Void".utf8.count)
    let change = told["fixIts"]?.elements.first?["changes"]?.elements.first
    expect(change?["newText"]?.text, equals: "@escaping ")
    expect(change?["range"]?["startOffset"]?.integer, equals: offset)
  }

  @Test("the plugin detects from the configuration that a module is on the main actor by default")
  func mainActorByDefault() throws {
    let configuration = "{\"features\":[\"Macros\",\"NoExplicitNonIsolated\"]}"
    let main = try #require(
      expansion(of: "protocol P { func a() }", configuration: configuration)?["expandedSource"]?.text)
    expect(main.contains("@MainActor final class PProxy") && main.contains("onMainActor:"))
    let plain = try #require(expansion(of: "protocol P { func a() }")?["expandedSource"]?.text)
    expect(!plain.contains("MainActor"))
  }
}

@Suite("The generated text")
struct WriterTests {
  @Test("a generated proxy class reads like hand-written code")
  func proxies() {
    let themes = """
      @Forwarded
      @available(macOS 15, *)
      public protocol Themes: AnyObject, Sendable {
        /// Changes it.
        func changed(_ color: Color)
        #if DEBUG
        @Answer(.every) @discardableResult func mayClose() -> Bool
        #endif
        var title: String? { get set }
      }
      """
    expect(
      Expander(themes).expansion.text,
      equals: """
        /// A ``Themes`` that forwards each call to every target. Generated by `@Forwarded`.
        @available(macOS 15, *)
        public typealias ThemesProxy = ThemesProxyNamespace.ThemesProxy

        /// The namespace of ``ThemesProxy``.
        @available(macOS 15, *)
        @Forwardcast.Counted
        public nonisolated enum ThemesProxyNamespace {
          public typealias ForwardedBase = Any
          /// The generated class, and those of protocols that refine the protocol.
          public nonisolated protocol Forwarding: Forwardcast.MulticastFacade where Interface: Sendable {}

          @export(implementation) public nonisolated static func table<Child>(of child: Child.Type) -> Forwardcast.SelectorTable {
            ThemesProxy.table
          }

          #if WRITTEN_INTO_AN_EXTENSION  // Counted writes this into an extension.
          @available(macOS 15, *) public final class ThemesProxy: Forwardcast.WrittenFacade<any Themes>, Themes, Forwarding, @unchecked Sendable {
            /// The keys of its messages, for `on`, `broadcast` and `collect`.
            public nonisolated enum Messages {
              @export(implementation) public static var changed: Forwardcast.Message<(Color) -> Void> { Forwardcast.Message<(Color) -> Void>(selectors.0) }
              #if DEBUG
              public static let mayClose = Forwardcast.Message<() -> Bool>("mayClose")
              #endif
              @export(implementation) public static var title: Forwardcast.Message<() -> String?> { Forwardcast.Message<() -> String?>(selectors.1) }
              @export(implementation) public static var setTitle: Forwardcast.Message<(String?) -> Void> { Forwardcast.Message<(String?) -> Void>(selectors.2) }
              @usableFromInline static let selectors: (Forwardcast.MessageSelector, Forwardcast.MessageSelector, Forwardcast.MessageSelector) = ("changed:", "title", "setTitle:")
            }

            /// The table for all targets, which need none of their own.
            public nonisolated static let table = Forwardcast.SelectorTable(for: (any Themes).self) {
              Forwardcast.Responds(row: Messages.changed) { target, color in target.changed(color) }
              #if DEBUG
              Forwardcast.Responds(row: Messages.mayClose) { target in target.mayClose() }.answering(Messages.mayClose, by: .every)
              #endif
              Forwardcast.Responds(row: Messages.title) { target in target.title }
              Forwardcast.Responds(row: Messages.setTitle) { target, value in target.title = value }
            }.named("title")

            /// A proxy without targets.
            @export(implementation) public init(options: Forwardcast.MulticastOptions = Forwardcast.MulticastOptions()) {
              super.init(table: ThemesProxy.table, options: options)
            }

            /// Registers a target weakly. The compiler warns if nothing else retains it.
            @discardableResult
            @export(implementation) public func add(_ target: any Themes) -> Forwardcast.Registration {
              weak let kept = target
              _ = kept
              return multicast.add(target)
            }
          }
          #endif
        }

        """)
    expect(
      Expander(themes, role: "extension", extending: "Themes").expansion.text,
      equals: """
        @available(macOS 15, *)
        extension Themes where Self: ThemesProxyNamespace.Forwarding {

          /// Changes it.
          @export(implementation) public func changed(_ color: Color) {  // Only 'ThemesProxy' has this body. Implement the requirement in your class.
            self.broadcast(ThemesProxy.Messages.changed, color)
          }
          #if DEBUG

          @discardableResult
          @export(implementation) public func mayClose() -> Bool {  // Only 'ThemesProxy' has this body. Implement the requirement in your class.
            self.answer(ThemesProxy.Messages.mayClose, returning: .every).answered()
          }

          /// `mayClose` with a policy that combines the results.
          @discardableResult
          @export(implementation) public func mayClose<Output>(returning policy: Forwardcast.ReturnPolicy<Bool, Output>) throws -> Output {
            try self.collect(ThemesProxy.Messages.mayClose, returning: policy)
          }
          #endif

          @export(implementation) public var title: String? {  // Only 'ThemesProxy' has this body. Implement the requirement in your class.
            get {
              self.answer(ThemesProxy.Messages.title, returning: .last).answered() ?? nil
            }
            set {
              self.broadcast(ThemesProxy.Messages.setTitle, newValue)
            }
          }

          /// `title` with a policy that combines the results.
          @export(implementation) public func title<Output>(returning policy: Forwardcast.ReturnPolicy<String?, Output>) throws -> Output {
            try self.collect(ThemesProxy.Messages.title, returning: policy)
          }
        }

        """)
  }

  @Test("the class is generated into an extension of its namespace, with the attributes that both need")
  func counted() {
    let namespace =
      "@available(macOS 15, *) @Forwardcast.Counted enum PProxyNamespace {\n  #if A\n  typealias T = Int\n  #endif\n"
      + "  #if WRITTEN_INTO_AN_EXTENSION  // why\n  final class PProxy: P {\n    #if A\n    #endif\n  }\n  #endif\n}"
    func expanded(_ text: String) -> Expansion {
      ExpansionRequest(
        macro: "Counted", role: "extension", attribute: SourceText("@Forwardcast.Counted"),
        declaration: SourceText(text), extendedType: "Outer.PProxyNamespace"
      ).expanded()
    }
    expect(
      expanded(namespace).text,
      equals:
        "@available(macOS 15, *)\nextension Outer.PProxyNamespace {  // why\n  final class PProxy: P {\n    #if A\n    #endif\n  }\n}\n"
    )
    for text in [
      "enum E {}", "struct S { #if WRITTEN_INTO_AN_EXTENSION\n#endif\n }", "enum E { #if A\n#endif\n}", "", "enum",
    ] {
      expect(expanded(text).hasErrors && expanded(text).text.isEmpty, "\(text)")
    }
  }

  @Test("a generated table reads like hand-written code, and the conformance is separate")
  func tables() {
    let text =
      "@Receiver final class Console {\n@Message(\"again:\") func restart(_ delay: Int) -> Bool { true }\nfunc other() {}\n}"
    expect(
      Expander(text).expansion.text,
      equals: """
        /// The keys of the messages, for `send`. Generated by `@Receiver`.
        nonisolated enum Messages {
          static let again = Forwardcast.Message<(Int) -> Bool>("again:")
          static var restart: Forwardcast.Message<(Int) -> Bool> { again }
        }

        /// The messages of the class. Generated by `@Receiver`.
        nonisolated static let selectorTable = Forwardcast.SelectorTable(for: Console.self) {
          Forwardcast.Responds(to: Messages.again) { target, delay in target.restart(delay) }
        }

        """)
    expect(
      Expander(text, role: "extension", extending: "Outer.Console").expansion.text,
      equals: "extension Outer.Console: Forwardcast.MessageReceiver {}")
  }

  @Test("the generated code explains errors that the compiler may report")
  func advice() {
    let text = Expander("@Forwarded protocol B: A, Sendable { func b() }").expansion.text
    expect(
      text.contains(
        "Forwarding {  // Does it not conform to 'A'? Mark 'A' '@Forwarded' too and write '@Forwarded(inheriting"))
    let inheriting = Expander("@Forwarded(inheriting: (any A).self) protocol B: A { func b() }").expansion.text
    expect(!inheriting.contains("Does it not") && inheriting.contains("Mark this protocol '@Forwarded' too"))
    expect(inheriting.contains("inheritingAll: [ForwardedParent0.table(of: BProxy.self)]"))
    expect(inheriting.contains("typealias ForwardedParent0 = AProxyNamespace  //"))
    for (head, isTold) in [
      ("class C: D", true), ("@MainActor class C: D", false), ("class C", false), ("actor C: D", false),
    ] {
      let table = Expander("@Receiver \(head) { @Message func a() {} }").expansion.text
      expect(table.contains("Write '@MainActor' here too.") == isTold, "\(table)")
    }
  }

  @Test("a generated class is no more visible than the declarations around its protocol")
  func surroundings() {
    let text = "@Forwarded public protocol B: AnyObject { func b(_ x: Int) }"
    let wide = Expander(text, in: ["public enum Space {}", "extension Outer {}"]).expansion.text
    expect(wide.contains("public final class BProxy"))
    let plain = "@Forwarded protocol B: AnyObject { func b(_ x: Int) }"
    for context in [["public extension Outer {}"], ["enum Space {}", "extension Outer {}"]] {
      let isPublic = context.count == 1
      expect(Expander(plain, in: context).expansion.text.contains("public final class BProxy") == isPublic)
      expect(Expander(text, in: context).expansion.text.contains("public final class BProxy") == isPublic)
    }
    expect(
      Expander(text, in: ["enum Space {}", "public extension Outer {}"]).expansion.text.contains("public final class"))
    let receiver = "@Receiver final class C { @Message func a() {} }"
    let table = Expander(receiver, in: ["public extension Outer {}"]).expansion.text
    expect(table.contains("public nonisolated static let selectorTable"), "\(table)")
    expect(Expander(text, in: ["package struct Space {}"]).expansion.text.contains("package final class BProxy"))
    for context in [["enum Space {}"], ["public enum Space {}", "class Outer {}"]] {
      let inside = Expander(text, in: context).expansion.text
      #expect(inside.contains(" final class BProxy") && !inside.contains("public final") && !inside.contains("@export"))
    }
  }

  @Test("a nested private type is refused if an extension is generated, because that is at file scope")
  func hidden() throws {
    let advice = "the generated extension cannot name a private type that is nested in another; write 'fileprivate'"
    for (role, text) in [
      ("peer", "@Forwarded private protocol P { func a() }"),
      ("extension", "@Receiver private class P { @Message func a() {} }"),
    ] {
      expect(Expander(text, role: role).said, equals: [])
      for context in ["enum Outer {}", "extension Outer {}"] {
        let expander = Expander(text, role: role, in: [context])
        expect(expander.problems.map(\.message), equals: [advice])
        expect(expander.blamed, equals: ["private"])
        expect(expander.problems.first?.fixes.map(\.text), equals: ["fileprivate"])
        expect(expander.expansion.text, equals: "")
      }
      let inside = text.replacing("private ", with: "")
      expect(Expander(inside, role: role, in: ["private enum Outer {}"]).said, equals: [])
      expect(Expander(inside, role: role, in: ["private extension Outer {}"]).said, equals: [])
      let context = ["struct Inner {}", "private enum Middle {}", "enum Outer {}"]
      let said = Expander(inside, role: role, in: context).problems
      expect(said.map(\.message), equals: ["\(advice) instead of 'private' before 'enum Middle'"])
      expect(Expander(inside, role: role, in: ["private func work()", "enum Outer {}"]).said, equals: [])
    }
  }

  @Test("a nested private receiver without a generated extension is accepted")
  func hiddenReceivers() {
    let text = "@Receiver private final class P: Q { @Message func a() {} }"
    let table = Expander(text, in: ["enum Outer {}"])
    expect(table.said, equals: [])
    expect(table.expansion.text.contains("selectorTable"))
    let conforming = Expander(text, role: "extension", in: ["enum Outer {}"], wantsConformance: false)
    expect(conforming.said, equals: [])
    expect(conforming.expansion.text, equals: "")
    let inheriting = text.replacing("@Receiver", with: "@Receiver(inheriting: Q.self)")
    let stating = [
      "MessageReceiver", "Q, Forwardcast.MessageReceiver", "Q & MessageReceiver",
      "R & (Q & Forwardcast.MessageReceiver)",
    ].map { text.replacing(": Q", with: ": \($0)") }
    for text in [inheriting] + stating {
      for role in ["member", "extension"] {
        let expander = Expander(text, role: role, in: ["enum Outer {}"])
        expect(expander.said, equals: [])
        expect(expander.expansion.text.isEmpty, equals: role == "extension")
      }
    }
  }

  @Test("a composition in parentheses is read as its parts")
  func compositions() {
    let texts = ["AnyObject, Sendable", "AnyObject & Sendable", "(AnyObject & (Sendable))"].map {
      Expander("@Forwarded protocol P: \($0) { func a() }").expansion.text
    }
    expect(texts[1], equals: texts[0])
    expect(texts[2], equals: texts[0])
  }

  @Test("'#if' around attributes does not matter for members that are no messages, nor do attributes without effect")
  func conditionalAttributes() {
    let text = """
      #if A
      @preconcurrency
      #endif
      @Receiver final class C {
      var a = 1
      #if A
      @available(*, deprecated) @objc
      #elseif B
      #if C
      @MainActor
      #endif
      #endif
      func b() {}
      @Message
      #if D
      @inlinable
      #endif
      func c() {}
      #if E
      @Message func d() {}
      #endif
      }
      """
    let expander = Expander(text)
    expect(expander.said, equals: [])
    let written = expander.expansion.text
    expect(written.contains("\"c\"") && !written.contains("\"b\""), "\(written)")
    expect(written.split(separator: "#if").count - 1, equals: 2, "\(written)")
    expect(written.split(separator: "#if E").count - 1, equals: 2, "\(written)")
  }

  @Test("a member with '@Message' in '#if' is refused, with or without '.allMembers'")
  func conditionalMessages() {
    for options in ["", "(.allMembers)"] {
      for mark in ["@Message", "@Forwardcast.Message(\"x\")", "#if B\n@Message\n#endif"] {
        let block = "#if A\n@objc\n#endif\n#if A\n\(mark)\n#endif"
        let expander = Expander(
          "@Receiver\(options) final class C {\n\(block)\nfunc ping() {}\n@Message func pong() {}\n}")
        expect(
          expander.problems.map(\.message),
          equals: ["the attributes in '#if' cannot be evaluated; write '#if' around the whole member"])
        expect(expander.problems.map(\.severity), equals: [.error])
        expect(expander.expansion.text, equals: "")
      }
    }
  }

  @Test("nothing is generated for a protocol in a function or a generic type, since the compiler refuses it")
  func localProtocols() {
    let text = "@Forwarded protocol B: AnyObject { func b() }"
    for context in [["func f() {}"], ["struct Inner {}", "init() {}"], ["enum Inner {}", "struct Outer<T> {}"]] {
      let local = Expander(text, in: context)
      #expect(local.expansion.text.isEmpty && local.problems.isEmpty)
    }
  }

  @Test("the alias of a member's global actor is in the member's '#if' and has its availability")
  func conditionalActors() {
    let text = """
      @AllActor @Forwarded protocol P: Sendable {
      #if A
      @MacActor func a() async
      #endif
      @available(macOS 99, *) @NewActor func b() async
      @AllActor func c() async
      }
      """
    let written = ["peer", "extension"].map { role in
      Expander(text, role: role, extending: "P", in: ["enum Space {}"]).expansion.text
    }
    let lines = written.joined().split(separator: "\n").map { $0.drop { $0 == " " } }
    func places(_ text: String) -> [Int] { lines.indices.filter { lines[$0].contains(text) } }
    let mac = places(" = MacActor")
    expect(mac.count, equals: 1)
    expect(lines[mac[0] - 1], equals: "#if A")
    let new = places(" = NewActor")
    expect(new.count, equals: 1)
    expect(lines[new[0]].hasPrefix("@available(macOS 99, *) typealias "), "\(lines[new[0]])")
    expect(places("typealias ActorAllActor = AllActor").count, equals: 1)
    for place in mac + new {
      let alias = lines[place].split(separator: " ").drop { $0 != "typealias" }.dropFirst().first ?? ""
      expect(places("@PProxyNamespace.\(alias) func ").count, equals: 1, "\(lines)")
    }
    expect(places("@PProxyNamespace.ActorAllActor func c(").count, equals: 1, "\(lines)")
  }

  @Test("the generated code asks about an attribute that may be a global actor")
  func unknownActors() {
    let text = Expander("@Forwarded @Audio protocol B { @Loud func b(); @StoreActor func c(); @objc func d() }")
      .expansion.text
    expect(
      text.contains(
        "{  // Is 'Audio' a global actor? Write '@Forwarded(isolatedTo: Audio.self)'. Is 'Loud' a global actor?"))
    let stated = Expander("@Forwarded(isolatedTo: Audio.self) @Audio protocol B { func b() }").expansion.text
    expect(
      !stated.contains("a global actor?") && stated.contains("@Audio final class")
        && stated.contains("onGlobalActor: { @Audio"))
    let inherited = Expander("@Forwarded(isolatedTo: Audio.self) protocol B: A { func b() }").expansion.text
    expect(inherited.contains("@Audio final class BProxy"))
  }

  @Test("if a conformance may be on the main actor, so is the key, and a receiver gets advice")
  func mainActorConformances() {
    let settings = ModuleSettings(isMainActorByDefault: true)
    func text(_ text: String) -> String { Expander(text, settings: settings).expansion.text }
    let keys = text(
      "@Forwarded protocol P { func a(_ x: Set<User>); func b(_ x: [String: User]); func c(_ x: [Int: [(a: User, b: Int)]]) }"
    )
    expect(
      keys.contains("@MainActor static let a") && keys.contains("  static var b") && keys.contains("  static var c"))
    expect(keys.contains("@MainActor static let table"))
    let free = text("@Forwarded nonisolated protocol P { func a(_ x: Set<User>) }")
    expect(free.contains("  static let a") && free.contains("  nonisolated static let table"))
    let advice = "Declare the type that has it 'nonisolated'."
    expect(text("@Receiver final class C { @Message func a(_ x: Set<User>) {} }").contains(advice))
    expect(!text("@Receiver final class C { @Message nonisolated func a(_ x: Set<User>) {} }").contains(advice))
  }

  @Test("a requirement's attribute that may be a result builder is not copied, because the body is no builder body")
  func builders() {
    let text = Expander(
      "@Forwarded protocol P { @Lines @discardableResult @Answer(.joined) func a() -> [Int] }", role: "extension",
      extending: "P"
    ).expansion.text
    expect(!text.contains("@Lines") && text.contains("@discardableResult"), "\(text)")
  }

  @Test("a stated value is in parentheses if it may be an operation, and its lines are kept")
  func statedValues() {
    for (value, wanted) in [("1+2", "(1+2)"), ("-1", "-1"), ("{ _ in\n  1\n}", "({ _ in\n  1\n})"), ("[]", "[]")] {
      let declaration = "@Forwarded protocol P { @Answer(otherwise: \(value)) func a() -> T }"
      let text = Expander(declaration, role: "extension", extending: "P").expansion.text
      expect(text.contains(" ?? \(wanted)\n"), "\(text)")
    }
  }

  @Test("documentation comments of a requirement are kept, in any style")
  func documentation() {
    let text = Expander(
      "@Forwarded protocol P {\n/** One.\n * Two. */\nfunc a()\n/* no */\nfunc b() /// no\n/// Yes.\nfunc c()\n/* a\n/// no */\nfunc d()\n}",
      role: "extension", extending: "P"
    ).expansion.text
    expect(text.contains("  /** One.\n   * Two. */\n  func a()"))
    expect(text.contains("  /// Yes.\n  func c()"))
    expect(!text.contains("/* no") && !text.contains("/// no */"))
  }

  @Test("the generated code states each platform that a requirement needs, and nothing else")
  func availability() {
    let text = Expander(
      """
      @Forwarded @available(macOS 15, *) protocol P {
      @available(macOS 99, *) @available(iOS, introduced: 98, deprecated: 99) func a()
      @available(swift 5.9) @available(*, noasync) func b()
      @available(macOS 97, tvOS 96.1, *) func c()
      }
      """, role: "extension", extending: "P"
    ).expansion.text
    expect(text.hasPrefix("@available(macOS 15, *)\nextension P"))
    let rows = Expander(
      "@Forwarded protocol P { @available(macOS 99, *) @available(iOS, introduced: 98) func a(); @available(swift 5.9) func b() }"
    ).expansion.text
    expect(rows.contains("if #available(macOS 99, iOS 98, *) {") && !rows.contains("if #available(swift"))
    let table = Expander("@Receiver class C { @Message @available(macOS 99, *) func a() {}; @Message func b() {} }")
      .expansion.text
    expect(table.split(separator: "if #available(macOS 99, *) {").count, equals: 2, "\(table)")
  }

  @Test("the row of a deprecated requirement is limited to the requirement's platforms")
  func deprecatedAvailability() {
    let text = Expander(
      "@Forwarded protocol P { @available(macOS 99, *) @available(iOS, introduced: 98, deprecated: 99) func a() }"
    ).expansion.text
    expect(text.contains("if #available(macOS 99, iOS 98, *) {"), "\(text)")
    expect(text.contains("@available(macOS 99, iOS 98, *) private nonisolated struct RowA: "), "\(text)")
  }

  @Test("a member that is unavailable on a platform is no message there")
  func unavailableOnPlatforms() {
    func condition(_ attributes: String) -> [String] {
      let text = Expander("@Receiver(.allMembers) class C { \(attributes) func a() {}; func b() {} }").expansion.text
      return text.split(separator: "\n").filter { $0.contains("#if") }.map { $0.drop { $0 == " " }.description }
    }
    let iOS = condition("@available(iOS, unavailable)")
    expect(iOS, equals: ["#if !os(iOS) && !os(visionOS)", "#if !os(iOS) && !os(visionOS)"])
    expect(
      condition("@available(iOS, unavailable, message: \"no\") @available(visionOS 1, *)").first, equals: "#if !os(iOS)"
    )
    expect(
      condition("@available(macCatalyst, unavailable) @available(tvOS, unavailable)").first,
      equals: "#if !targetEnvironment(macCatalyst) && !os(tvOS)")
    // Mac Catalyst has the availability of iOS unless its own is stated.
    for own in ["macCatalyst 14, *", "macCatalyst, introduced: 14"] {
      expect(
        condition("@available(iOS, unavailable) @available(\(own)) @available(visionOSApplicationExtension 1, *)")
          .first,
        equals: "#if (!os(iOS) || targetEnvironment(macCatalyst)) && !os(visionOS)")
    }
    expect(condition("@available(swift, introduced: 4.2, obsoleted: 5)").first, equals: "#if swift(<5)")
    expect(condition("@available(iOSApplicationExtension, unavailable)"), equals: [])
    expect(condition("@available(iOS, deprecated: 99, message: \"unavailable\")"), equals: [])
  }

  @Test("overloads leave a deprecated alias under their common name")
  func overloads() {
    let text = Expander("@Forwarded protocol P { func a(_ x: Int, b: Int); func a(_ x: Int, c: Int); func d() }")
      .expansion.text
    expect(
      text.contains(
        "has a key of its own: 'aB', 'aC'\")\n      static var a: Forwardcast.Message<(Int, Int) -> Void> { aB }"))
    expect(!text.contains("{ d }"))
  }

  @Test("declarations that are too long or too deep are refused or read, and never hang", .oneAtATime)
  func bounds() {
    func read(_ text: String) -> Expansion {
      Expander(text, settings: ModuleSettings(isMainActorByDefault: true)).expansion
    }
    let count = bound(150, full: 4_000)
    let deep = "[".times(count) + "Int" + "]".times(count)
    expect(!read("@Forwarded protocol P { func a(_ x: \(deep)) }").text.isEmpty)
    let generic = "A<".times(100) + "Int" + ">".times(100)
    expect(!read("@Forwarded protocol P { func a(_ x: \(generic)) }").text.isEmpty)
    let many = (0..<count).map { "func a\($0)(_ x: Int)" }.joined(separator: "\n")
    expect(!read("@Forwarded protocol P { \(many) }").text.isEmpty)
    expect(read("@Forwarded protocol P { \(many)\n\(many) }").hasErrors)
    expect(read("@Forwarded protocol P { \("\n#if a\nfunc f()".times(count)) \n }").hasErrors)
    let around = (0..<100).map { "public enum A\($0) {}" }
    expect(Expander("@Forwarded public protocol P { func a() }", in: around).expansion.text.contains("public"))
    let times = bound(40, full: 500)
    for part in ["\"\\(", "=/[", "#/\n", "{(", "@a<", "`", "/*", "\"\"\"", ".a<b>", "A<"] {
      _ = read("@Receiver(.allMembers) class C { func f() { \(part.times(times)) } }")
      _ = read("@Receiver(.allMembers) class C { \(part.times(times)) }")
      _ = read("@Forwarded protocol P { func f(_ x: \(part.times(times))) }")
    }
    let long = "@Forwarded protocol P { /*" + String(repeating: "x", count: ExpansionRequest.maximumLength) + "*/ }"
    expect(Expander(long).expansion.attributeProblems.count, equals: 1)
  }

  private static func growing(
    _ title: String, role: String = "peer", _ text: @escaping @Sendable (Int) -> String
  ) -> Growing {
    Growing(title) { count in
      let whole = "@Forwarded protocol P \(text(count))"
      return { _ = Expander(whole, role: role, extending: "P") }
    }
  }

  private static func members(_ count: Int, _ text: (Int) -> String) -> String {
    "{ \((0..<count).map(text).joined(separator: "\n")) }"
  }

  @Test(
    "expanding a declaration takes linear time", .oneAtATime,
    arguments: [
      growing("brackets that do not match") { "{ \("(".times($0 * 10) + "]".times($0 * 10)) }" },
      growing("number signs") { "{ \("#".times($0 * 5)) }" },
      growing("raw strings in one another") { "{ \("#\"\"\"\\#(".times($0 * 10))\"# }" },
      growing("overloads") { members($0) { "func a(_ x: T\($0))" } },
      growing("properties", role: "extension") { members($0) { "var a\($0): Int? { get set }" } },
      growing("requirements that name Self") { members($0) { "func a\($0)(_ x: Self.T)" } },
    ])
  func growth(shape: Growing) throws { try shape.expectLinear(from: bound(80, full: 250)) }

  @Test("associated types take linear time", .oneAtATime)
  func associatedGrowth() throws {
    let shape = Self.growing("associated types") { count in
      let names = (0..<count).map { "T\($0)" }.joined(separator: ", ")
      return "<\(names)> \(Self.members(count) { "associatedtype T\($0)" })"
    }
    try shape.expectLinear(from: 6)
  }
}

extension String {
  fileprivate func times(_ count: Int) -> String { String(repeating: self, count: count) }
}
