// HintTests.swift: what errors suggest, and the reference of the language.
// Layer: Tests.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Hints and reference")
struct HintTests {
  @Test(
    "an error that ends a text suggests what is near",
    arguments: [
      ("let kitchen = 1\nprint kichten", "did you mean \"kitchen\"?"),
      ("receiver Cook { }\nlet c = new Cok", "did you mean \"Cook\"?"),
      ("receiver R { - cook: d = 1 }\nlet r = new R\n[r cok: 1]", "did you mean \"cook:\"?"),
      ("print [1 sbutract: 2]", "did you mean \"subtract:\"?"),
      ("prnt \"x\"", "did you mean \"print\"?"),
      ("proxy p = multicast\nproxy q = forwrad to p", nil),
      ("print nobodyIsLikeThis", nil), ("print q", nil), ("[@[1] at: 5]", nil),
      ("let kitchen = 1\ndrop kitchen\nprint kitchen", nil),
    ])
  func suggestions(text: String, hint: String?) {
    let error = play(text).outcome.error
    #expect(error != nil)
    expect(error?.hint, equals: hint)
    expect(error?.description.contains("did you mean"), equals: hint != nil)
    #expect(error?.text.contains("did you mean") == false)
    #expect(error?.description.hasSuffix("^") == true)
  }

  @Test("a long name and many candidates are no hint and no burden")
  func bounds() {
    let name = String(repeating: "x", count: 1000)
    let names = (0..<5000).map { "let name\($0) = 1\n" }.joined()
    #expect(play(names + "print \(name)").outcome.error?.hint == nil)
  }

  @Test("every word of the reference is a word of the parser, with a form that begins with it")
  func reference() {
    let entries = ScriptLanguage.entries
    expect(Set(entries.map(\.kind)), equals: Set(ScriptLanguage.Kind.allCases))
    for entry in entries {
      #expect(!entry.meaning.isEmpty && entry.meaning.hasSuffix("."), "\(entry.word)")
      switch entry.kind {
      case .statement, .query:
        #expect(entry.form.hasPrefix(entry.word), "\(entry.word)")
        // A word of the language begins no expression where a name is wanted.
        #expect(ScriptSession.check("print \(entry.word) \(entry.word)") != nil, "\(entry.word)")
      case .valueMessage: #expect(entry.form.hasPrefix("["))
      case .expression, .limit: break
      }
    }
    for (word, count) in [("drop", 1), ("at", 2), ("add", 2), ("responds", 1), ("fly", 0), ("count", 3)] {
      expect(ScriptLanguage.entries(of: word).count, equals: count, "\(word)")
    }
    expect(ScriptLanguage.words(like: "regster").first, equals: "register")
  }

  @Test("the messages to values that the reference names are answered")
  func valueMessages() {
    for entry in ScriptLanguage.entries where entry.kind == .valueMessage {
      let played = play("let x = \(entry.form)")
      #expect(played.outcome.succeeded, "\(entry.form) \(played.error ?? "")")
    }
  }

  @Test("a host may cancel a run, which no script catches")
  func cancellation() {
    let handlers = ScriptHandlers(output: { _ in })
    var cancelling = handlers
    cancelling.isCancelled = { true }
    let text = "receiver R { - a = 1 }\nlet r = new R\nexpect [r a] throws\nprint 1"
    let outcome = ScriptSession(handlers: cancelling).run(text)
    expect(outcome.error?.text, equals: "limit exceeded: the run was cancelled")
    cancelling.isCancelled = { false }
    #expect(ScriptSession(handlers: cancelling).run("repeat 3 { let x = 1 }").succeeded)
  }
}
