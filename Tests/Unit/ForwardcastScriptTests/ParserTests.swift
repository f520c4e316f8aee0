// ParserTests.swift: valid scripts, and the errors of malformed ones.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Parsing")
struct ParserTests {
  /// Text, position, error. Not in the macro, where the table would be type-checked twice.
  static let refusals: [(String, String, String)] = [
    ("print 1 +", "1:9", "syntax: unexpected \"+\""),
    ("print", "1:6", "syntax: wanted an expression, found the end of the text"),
    ("let = 3", "1:5", "syntax: wanted a name, found \"=\""),
    ("let x 3", "1:7", "syntax: wanted \"=\", found 3"),
    ("let x = 3 4", "1:11", "syntax: wanted the end of the statement, found 4"),
    ("print \"abc", "1:7", "syntax: the text is not closed on its line"),
    ("print \"a\\q\"", "1:9", "syntax: an escape must be"),
    ("print \"\\u{110000}\"", "1:8", "syntax: \"\\u{…}\" must hold"),
    ("print \"\\u{}\"", "1:8", "syntax: \"\\u{…}\" must hold"),
    ("print 12abc", "1:7", "syntax: \"12abc\" is not a number"),
    ("print 0x", "1:7", "syntax: \"0x\" is not a number"),
    ("print 0xG", "1:7", "syntax: \"0xG\" is not a number"),
    ("print 9223372036854775808", "1:7", "syntax: the number does not fit in a signed 64-bit integer"),
    ("print 0xFFFFFFFFFFFFFFFF", "1:7", "syntax: the number does not fit in a signed 64-bit integer"),
    ("print 1e999", "1:7", "syntax: the number is too large"),
    ("print [a", "1:7", "syntax: \"[\" is never closed"),
    ("print (1]", "1:9", "syntax: \"]\" does not close the \"(\" of line 2"),
    ("}", "1:1", "syntax: unmatched \"}\""),
    ("[a]", "1:3", "syntax: a message needs a selector"),
    ("[a b c]", "1:6", "syntax: wanted \":\" or \"]\", found \"c\""),
    ("[a b: 1 c]", "1:10", "syntax: wanted \"]\" or a part of the selector"),
    ("[a; b]", "1:3", "syntax: wanted a selector, found the end of the statement"),
    ("print @[1 2]", "1:11", "syntax: wanted \",\" or \"]\", found 2"),
    ("print @[1,]", "1:11", "syntax: wanted an expression, found \"]\""),
    ("print @{1: 2}", "1:9", "syntax: wanted a key in quotes, found 1"),
    ("print @{\"a\": 1, \"a\": 2}", "1:17", "syntax: the key \"a\" appears twice"),
    ("print @x", "1:7", "syntax: \"@\" must be followed by"),
    ("print @selector(a b)", "1:17", "invalid selector"),
    ("print @selector(a", "1:7", "syntax: \"@selector(\" is not closed on its line"),
    ("print let", "1:7", "syntax: \"let\" is a word of the language"),
    ("print (let", "1:8", "syntax: \"let\" is a word of the language"),
    ("let count = 3", "1:5", "syntax: \"count\" is a word of the language and cannot be a name"),
    ("proxy print = multicast", "1:7", "syntax: \"print\" is a word"), ("queue if", "1:7", "syntax: \"if\" is a word"),
    ("add a to b as true", "1:15", "syntax: \"true\" is a word"),
    ("before p \"a\" { } as not", "1:21", "syntax: \"not\" is a word"),
    ("extension new { a }", "1:11", "syntax: \"new\" is a word"),
    ("else", "1:1", "syntax: \"else\" is a word of the language"),
    ("return 1", "1:1", "syntax: \"return\" is allowed in rows and hooks only"),
    ("throw \"x\"", "1:1", "syntax: \"throw\" is allowed in rows and hooks only"),
    ("print arg 0", "1:7", "syntax: \"arg\" is allowed in hooks only"),
    ("before p \"a\" { proceed }", "1:16", "syntax: \"proceed\" is allowed in \"around\" only"),
    ("receiver R { x }", "1:14", "syntax: wanted \"-\" or \"}\", found \"x\""),
    ("receiver R { - a }", "1:18", "syntax: wanted \"=\", \"{\" or \"throws\""),
    ("receiver R { - a = 1\n  - a = 2 }", "2:3", "syntax: the row \"a\" is declared twice"),
    ("receiver R { - a: x b: x = 1 }", "1:24", "syntax: the argument \"x\" is declared twice"),
    ("receiver R {", "1:12", "syntax: \"{\" is never closed"),
    ("proxy p = chain", "1:11", "syntax: wanted \"multicast\", \"forward to\", \"lazy\" or \"recording\""),
    ("proxy p = multicast slow", "1:21", "syntax: wanted one of strong, duplicates, throwing, stopping"),
    ("add a to p priority 1 priority 2", "1:23", "syntax: \"priority\" appears twice"),
    ("add a into p", "1:7", "syntax: wanted \"to\", found \"into\""),
    ("collect most [p x]", "1:9", "syntax: wanted one of last, first, all, any, every, sum"),
    ("print collect sum p", "1:19", "syntax: wanted a message in brackets, found \"p\""),
    ("print 1 == 2", "1:9", "syntax: wanted an expression, found \"==\""),
    ("let ok = 1\n  print é ?", "2:11", "syntax: unexpected \"?\""),
    ("let \u{3000} = 1", "1:5", "syntax: not a name"),
    ("print \u{1}", "1:7", "syntax: unexpected control character 1"),
  ]

  @Test(
    "malformed text is refused at its line and column", arguments: refusals)
  func refused(text: String, place: String, error: String) {
    let played = play("# first line\n" + text)
    // The comment above shifts every line by one, which the expected position ignores.
    let parts = place.split(separator: ":").compactMap { Int($0) }
    expect(played.error?.hasPrefix("\(parts[0] + 1):\(parts[1]) \(error)") == true, "found \(played.error ?? "none")")
    expect(!played.outcome.isParsed)
    expect(played.output.isEmpty)
  }

  @Test("nothing runs if any part of the text is malformed")
  func wholeBeforeRun() {
    let played = play("print 1\nprint 2\nprint )")
    expect(played.output.isEmpty)
    expect(played.error, equals: "3:7 syntax: unmatched \")\"")
  }

  @Test(
    "line breaks and semicolons end statements within braces and are whitespace within other brackets",
    arguments: [
      ("print 1; print 2", "1\n2\n"),
      ("print (\n1\n)", "1\n"),
      ("print @[1,\n 2 # two\n]", "[1, 2]\n"),
      ("print @{\n\"a\":\n1}", "{\"a\": 1}\n"),
      ("print [\n3\nadd:\n4\n]", "7\n"),
      ("if true { print 1; print 2\nprint 3 }", "1\n2\n3\n"),
      ("if false { print 1 }\nelse { print 2 }", "2\n"),
      ("print 1\r\nprint 2\rprint 3", "1\n2\n3\n"),
      (";;\n;print 1;;", "1\n"),
      ("\u{FEFF}print 1", "1\n"),
      ("print \"#\" # a comment", "#\n"),
      ("", ""),
    ])
  func separators(text: String, output: String) {
    let played = play(text)
    expect(played.output, equals: output)
    expect(played.outcome.succeeded)
  }

  @Test("keywords can be parts of selectors and argument names")
  func wordsAsParts() {
    let played = play(
      """
      receiver R { - print: count let: size { return @[1] }
        - new = 2; - if: to else: on = @[to, on]
        - throws throws "x"; - name = 3 }
      let r = new R
      print [r print: 1 let: 2] [r new] [r if: 3 else: 4] [r name]
      expect [r throws] throws "x"
      """)
    expect(played.output, equals: "[1] 2 [3, 4] 3\n")
    expect(played.outcome.succeeded)
  }

  @Test("canonically equivalent spellings are the same name")
  func equivalentNames() {
    let played = play("let caf\u{E9} = 1\nprint cafe\u{301}\nreceiver R { - \u{E9}: x = x }\nprint [new R e\u{301}: 2]")
    expect(played.output, equals: "1\n2\n")
  }

  @Test("columns count characters, not bytes")
  func columnsInCharacters() {
    let played = play("print \"👩‍👩‍👧é\" nobody")
    expect(played.error, equals: "1:12 unknown name: nobody")
  }

  @Test("an empty selector part is written as a colon")
  func emptyParts() {
    let played = play("receiver R { - : a : b = @[a, b] }\nprint [new R : 1 : 2] [new R::1:2]")
    expect(played.error?.hasPrefix("2:") == true)  // `new R::` has no argument between the colons
    expect(play("receiver R { - : a : b = @[a, b] }\nprint [new R : 1 : 2]").output, equals: "[1, 2]\n")
  }

  @Test("text with an open bracket is incomplete, and malformed text is not")
  func incomplete() {
    func leavesOpen(_ text: String) -> Bool {
      var lines = ScriptLines()
      return lines.add(text).isEmpty && !lines.isEmpty
    }
    for text in ["receiver R {", "print @[1,", "print (", "if true {\nprint 1\n", "print [a b: @{"] {
      expect(leavesOpen(text), "\(text)")
    }
    for text in ["print 1", "print )", "print \"abc", "print (]", "", "receiver R { }"] {
      expect(!leavesOpen(text), "\(text)")
    }
  }

  @Test("check parses the text and runs nothing")
  func check() {
    expect(ScriptSession.check("print nobody") == nil)
    expect(ScriptSession.check("print (")?.text, equals: "syntax: \"(\" is never closed")
  }
}
