// HintTests.swift: suggestions in errors, and the language reference.

import Forwardcast
import TestSupport
@testable import ForwardcastScript
import Testing

@Receiver
private final class Thermostat {
  @Message func set(target: Double) {}
  @Message func read() -> Double { 20 }
}

@Forwarded
private protocol Heater: AnyObject {
  func heat()
}

/// Its table queries the session that contains it.
private final class Curious: MessageReceiver {
  nonisolated(unsafe) static weak var session: ScriptSession?  // used by one test, on one thread
  static var selectorTable: SelectorTable {
    _ = session?.value(of: "it")
    return SelectorTable(for: Curious.self) { Responds(to: "read") { (_: Curious) in 1 } }
  }
}

@Suite("Hints and reference")
struct HintTests {
  @Test(
    "an error that ends a script suggests similar names",
    arguments: [
      ("let kitchen = 1\nprint kichten", "did you mean \"kitchen\"?"),
      ("receiver Cook { }\nlet c = new Cok", "did you mean \"Cook\"?"),
      ("receiver R { - cook: d = 1 }\nlet r = new R\n[r cok: 1]", "did you mean \"cook:\"?"),
      ("print [1 sbutract: 2]", "did you mean \"subtract:\"?"),
      ("prnt \"x\"", "did you mean \"print\"?"), ("prnt x", "did you mean \"print\"?"),
      ("proxy p = multicast\nproxy q = forwrad to p", nil),
      ("print nobodyIsLikeThis", nil), ("print q", nil), ("[@[1] at: 5]", nil),
      ("let kitchen = 1\ndrop kitchen\nprint kitchen", nil),
      ("receiver R { - aRowOfSuchALengthThatItGoesOnWithObject: x = 1 }\nlet r = new R\n[r foo: 1]", nil),
    ])
  func suggestions(text: String, hint: String?) {
    let error = play(text).outcome.error
    expect(error != nil)
    expect(error?.hint, equals: hint)
    expect(error?.description.contains("did you mean"), equals: hint != nil)
    expect(error?.text.contains("did you mean") == false)
    expect(error?.description.hasSuffix("^") == true)
  }

  @Test("selectors of host objects are suggested, with the word that Swift inserts")
  func liveObjects() {
    let session = ScriptSession()
    session.register(Thermostat(), as: "hall")
    expect(session.run("[hall setTarget: 21]").error?.hint, equals: "did you mean \"setWithTarget:\"?")
    expect(session.run("[hall raed]").error?.hint, equals: "did you mean \"read\"?")
    expect(session.run("[hall explode]").error?.hint, equals: nil)
    expect(session.completions.contains("setWithTarget:"))
  }

  @Test("a script that needs a proxy and gets a facade is told what to register")
  func facades() {
    let (facade, session) = (HeaterProxy(), ScriptSession())
    session.register(facade, as: "facade")
    let advice = "for a generated proxy, register proxy.multicast"
    for text in ["count facade", "explain facade \"heat\"", "remove all from facade"] {
      let error = session.run(text).error
      expect(error?.text.hasSuffix("needs a multicast proxy, not <HeaterProxy facade>") == true, "\(text)")
      expect(error?.hint, equals: advice)
    }
    session.register(facade.multicast, as: "heaters")
    expect(session.run("print count heaters").succeeded)
    expect(session.run("count 1").error?.hint == nil)
  }

  @Test("tables of host objects are queried without the session's lock held")
  func curious() {
    let session = ScriptSession()
    Curious.session = session
    session.register(Curious(), as: "it")
    expect(session.run("[it raed]").error?.hint, equals: "did you mean \"read\"?")
  }

  @Test(
    "syntax of other languages gets a hint how to write it here",
    arguments: [
      ("let ann = 1\nann cook: \"fish\"", "2:5", "a message is written [receiver part: argument]"),
      ("let ann = 1\nann cook", "2:5", "a message is written [receiver part: argument]"),
      ("let ann = 1\nann.cook(\"fish\")", "2:4", "a message is written [receiver part: argument]"),
      ("cook(\"fish\")", "1:5", "a message is written [receiver part: argument]"),
      ("x = 5", "1:3", "let x = … binds a name"), ("if 1 = 1 { }", "1:6", "== compares"),
      ("expect 1 = 1", "1:10", "== compares"),
      ("print 1 + 2", "1:9", "numbers answer messages: [1 add: 2], subtract:, multiply:, divide:"),
      ("print 3 - 2", "1:9", "numbers answer messages: [1 add: 2], subtract:, multiply:, divide:"),
      ("// hi", "1:1", "a comment begins with #"), ("print 1 // hi", "1:9", "a comment begins with #"),
      ("print count", "1:12", "\"count\" is a word of the language and cannot be a name"),
      ("import Foundation", "1:8", "scripts have no imports"),
      ("if true and false { }", "1:9", "conditions cannot be combined; nest one if in another"),
      ("expect 1 == 1 or 2 == 2", "1:15", "conditions cannot be combined; nest one if in another"),
      ("print true && false", "1:12", "conditions cannot be combined; nest one if in another"),
      ("if !true { }", "1:4", "write 'not' before the condition"),
      ("receiver Cook { }\nlet d = new Cook \"bo\"", "2:18", "new Cook name: \"…\" names the object"),
      ("receiver Cook { }\nlet d = new Cook(name: 1)", "2:17", "new Cook name: \"…\" names the object"),
      ("let a = [1, 2]", "1:11", "a list is written @[1, 2]; [list at: 0] is its first element"),
      ("let x = @[1]\nprint x[0]", "2:10", "a list is written @[1, 2]; [list at: 0] is its first element"),
      ("let x = @[1]\nlet y = x[0]", "2:10", "a list is written @[1, 2]; [list at: 0] is its first element"),
      ("print {\"a\": 1}", "1:7", "a dictionary is written @{\"key\": 1}"),
      ("print 5 == 5", "1:9", "comparisons are allowed after if and expect only, without parentheses"),
      ("let y = 5 < 6", "1:11", "comparisons are allowed after if and expect only, without parentheses"),
      ("if (1 == 1) { }", "1:7", "comparisons are allowed after if and expect only, without parentheses"),
      ("let q = queue", "1:9", "it begins a statement: queue q"),
      ("print .5", "1:7", "a number begins with a digit, as in 0.5"),
      ("print 1, 2", "1:8", "separate values with spaces; commas belong in @[…] and @{…}"),
      ("var x = 1", "1:5", "let x = … binds a name"),
      ("if true { } else if true { }", "1:18", "write else { if … { … } }"),
      ("receiver R { - cook d { } }", "1:21", "an argument follows a colon: - selector: d"),
      ("print x at: 0", "1:11", "a message is written [receiver part: argument]"),
      ("while true { }", "1:7", "repeat n { … } runs a block n times"),
      ("print “hi”", "1:7", "a text is written between straight quotes: \"…\""),
      ("print 'hi'", "1:7", "a text is written between straight quotes: \"…\""),
      ("print\u{A0}1", "1:6", nil),
    ])
  func habits(text: String, place: String, advice: String?) {
    let error = play(text).outcome.error
    expect(error.map { "\($0.position.line):\($0.position.column)" }, equals: place)
    expect(error?.hint, equals: advice)
    expect(ScriptSession.check(text)?.hint, equals: advice)
    expect(advice != nil || error?.text.contains("not a name: U+A0 looks like a space") == true)
  }

  @Test("a statement gets no hint about an object that an earlier statement made")
  func earlierObjects() {
    let error = play("receiver Cook { }\nlet c = new Cook\nqueue q r").error
    expect(error, equals: "3:9 syntax: wanted the end of the statement, found \"r\"")
    expect(ScriptSession.check("let c = new Cook\nqueue q r")?.hint == nil)
  }

  @Test("a receiver's name used as an object, and words of other languages, get a hint at run time")
  func unknownNames() {
    let cases = [
      ("receiver Cook { - minutes = 1 }\nprint [Cook minutes]", "Cook is a receiver; new Cook makes an object"),
      ("print null", "write nil"), ("print 1 or 2", "conditions cannot be combined; nest one if in another"),
    ]
    for (text, hint) in cases { expect(play(text).outcome.error?.hint, equals: hint) }
  }

  @Test("a selector without quotes is refused at its colon")
  func bareSelectors() {
    let wanted = "syntax: wanted the selector in quotes, found \":\""
    expect(play("before p cook: { }").error, equals: "1:14 \(wanted)")
    expect(play("print p responds cook:").error, equals: "1:22 \(wanted)")
  }

  @Test(
    "an unknown name is reported at its position, and an error of a row names its receiver",
    arguments: [
      ("let c = new Nope", "1:13 unknown name: receiver Nope"),
      ("print service Nope", "1:15 unknown name: receiver Nope"),
      ("drop nope", "1:6 unknown name: nope"), ("print alive nope", "1:13 unknown name: nope"),
      (
        "receiver R { - a: x \"v@:\" { } }",
        "1:14 wrong number of arguments for 'a:' of R: the row takes 0, but the selector takes 1"
      ),
      (
        "receiver R { - a: x \"v@:q\" { } }\nlet r = new R\n[r a: r]",
        "3:1 type mismatch in 'a:' of R: argument 0: wanted Int (q), found ScriptObject (<R r>)"
      ),
    ])
  func places(text: String, error: String) {
    expect(play(text).error, equals: error)
  }

  @Test("a long name and many candidates give no hint and take no time")
  func bounds() {
    let name = String(repeating: "x", count: 1000)
    let names = (0..<5000).map { "let name\($0) = 1\n" }.joined()
    expect(play(names + "print \(name)").outcome.error?.hint == nil)
  }

  @Test("the reference lists every word of the parser, with a form that starts with it")
  func reference() {
    let entries = ScriptLanguage.entries
    func words(_ kind: ScriptLanguage.Kind) -> [String] { entries.filter { $0.kind == kind }.map(\.word) }
    expect(words(.statement), equals: StatementWord.allCases.map(\.rawValue))
    expect(words(.expression), equals: ExpressionWord.allCases.map(\.rawValue) + ["responds"])
    expect(words(.query), equals: Query.allCases.map(\.rawValue))
    expect(Set(entries.map(\.kind)), equals: Set(ScriptLanguage.Kind.allCases))
    for entry in entries {
      expect(!entry.meaning.isEmpty && entry.meaning.hasSuffix("."), "\(entry.word)")
      switch entry.kind {
      case .statement, .query:
        expect(entry.form.hasPrefix(entry.word), "\(entry.word)")
        // A keyword does not start an expression where a name is required.
        expect(ScriptSession.check("print \(entry.word) \(entry.word)") != nil, "\(entry.word)")
      case .valueMessage: expect(entry.form.hasPrefix("["))
      case .expression, .limit: break
      }
    }
    for (word, count) in [("drop", 1), ("at", 2), ("add", 2), ("responds", 1), ("fly", 0), ("count", 3)] {
      expect(ScriptLanguage.entries(of: word).count, equals: count, "\(word)")
    }
    expect(ScriptLanguage.words(like: "regster").first, equals: "register")
  }

  @Test("values answer the messages that the reference lists")
  func valueMessages() {
    for entry in ScriptLanguage.entries where entry.kind == .valueMessage {
      let played = play("let x = \(entry.form)")
      expect(played.outcome.succeeded, "\(entry.form) \(played.error ?? "")")
    }
  }

  @Test("a host may cancel a run, and no script can catch that")
  func cancellation() {
    let handlers = ScriptHandlers(output: { _ in })
    var cancelling = handlers
    cancelling.isCancelled = { true }
    let text = "receiver R { - a = 1 }\nlet r = new R\nexpect [r a] throws\nprint 1"
    let outcome = ScriptSession(handlers: cancelling).run(text)
    expect(outcome.error?.text, equals: "limit exceeded: the run was canceled")
    cancelling.isCancelled = { false }
    expect(ScriptSession(handlers: cancelling).run("repeat 3 { let x = 1 }").succeeded)
  }
}
