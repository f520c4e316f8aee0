// HarmfulTextTests.swift: texts that could take much time or memory in few steps.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Texts with many combining marks")
struct HarmfulTextTests {
  private static let (acute, grave) = ("\u{301}", "\u{316}")

  /// A letter with marks of two classes, which normalization sorts.
  private static func marked(_ pairs: Int, swapped: Bool = false) -> String {
    "e" + String(repeating: swapped ? grave + acute : acute + grave, count: pairs)
  }

  @Test(
    "every comparison of texts limits the combining marks in a row",
    arguments: [
      "expect s == t", "expect @[s] == @[t]", "expect @{\"k\": s} == @{\"k\": t}", "print [@{\"a\": 1} at: s]",
      "print [s length]", "print [s uppercased]", "expect [r fail: s] throws \"TEXT\"", "if s == t { }",
    ])
  func marks(statement: String) {
    func played(_ pairs: Int) -> Played {
      play(
        """
        receiver R { - fail: x { throw x } }
        let r = new R; let s = "\(Self.marked(pairs))"; let t = "\(Self.marked(pairs, swapped: true))"
        \(statement.replacing("TEXT", with: Self.marked(pairs, swapped: true)))
        """)
    }
    expect(played(32).outcome.succeeded)
    expect(
      played(33).outcome.error?.text, equals: "limit exceeded: a text with more than 64 consecutive combining marks")
  }

  @Test("parsing refuses keys with too many combining marks")
  func keys() {
    func text(_ pairs: Int) -> String { "print 1\n@{\"a\": 1, \"\(Self.marked(pairs))\": 1}" }
    expect(play(text(32)).outcome.succeeded)
    let played = play(text(33))
    expect(played.error, equals: "2:11 limit exceeded: a text with more than 64 consecutive combining marks")
    expect(played.output.isEmpty)
  }

  @Test("comparing texts that are not ASCII is limited, except for equal bytes or very different lengths")
  func longTexts() {
    let doublings = String(repeating: "let s = [s appending: s]; let t = [t appending: t]\n", count: 17)
    let cast = "let s = \"e\u{301}e\u{301}e\u{301}\"; let t = \"ééé\"\n\(doublings)"
    let message = "limit exceeded: a text of over 1 MiB that is not ASCII"
    expect(play(cast + "expect s == t").outcome.error?.text, equals: message)
    expect(play(cast + "expect [s length] == 1").outcome.error?.text, equals: message)
    for statement in ["expect s == s", "expect t != \"é\"", "expect @[t] != @[\"\(Self.marked(5000))\"]"] {
      let (without, with) = (play(cast).outcome, play(cast + statement).outcome)
      expect(with.succeeded && with.work - without.work < 20_000_000, "\(statement)")
    }
  }

  @Test("comparing the beginning of an error's text is charged and respects canonical equivalence")
  func beginnings() {
    func outcome(_ text: String) -> ScriptOutcome {
      play("receiver R { - a { throw \"\(String(repeating: "é", count: 10_000))z\" } }\nlet r = new R\n" + text).outcome
    }
    let wanted = String(repeating: "e\u{301}", count: 10_000)
    let with = outcome("expect [r a] throws \"\(wanted)\"")
    expect(with.succeeded && with.work - outcome("expect [r a] throws").work > 20_000 * 128)
    expect(outcome("expect [r a] throws \"\(wanted)y\"").failureCount, equals: 1)
  }

  @Test("each byte of a new value is charged twice, which limits what a run stores")
  func kept() {
    func work(_ count: Int) -> Int {
      let list = Array(repeating: "1", count: 1000).joined(separator: ", ")
      return play("let l = @[\(list)]\n" + String(repeating: "let m = [l adding: 1]\n", count: count)).outcome.work
    }
    expect(work(11) - work(1) >= 10 * 2 * 1000 * MemoryLayout<ScriptValue>.stride)
    func named(_ length: Int) -> Int {
      play("receiver R { }\nlet r = new R name: \"\(String(repeating: "n", count: length))\"").outcome.work
    }
    expect(named(10_000) - named(1) >= 2 * 9_999)
  }

  @Test("a list's size includes all its elements")
  func elements() {
    let doublings = String(repeating: "let l = @[l, l]\n", count: 18)
    let played = play("let l = @[1]\n" + doublings)
    // 2^18 leaves and the lists around them, of 40 bytes each.
    expect(played.outcome.error?.text, equals: "limit exceeded: a value of over 16 MiB")
  }

  @Test("a line of output is limited to the size of a value")
  func print() {
    let cast = "let s = \"0123456789abcdef\"\n" + String(repeating: "let s = [s appending: s]\n", count: 16)
    expect(play(cast + "print" + String(repeating: " s", count: 15)).outcome.succeeded)
    let played = play(cast + "print" + String(repeating: " s", count: 17))
    expect(played.outcome.error?.text, equals: "limit exceeded: a line of over 16 MiB")
    expect(played.output.isEmpty)
  }

  @Test(
    "the tokens of a text are counted before it runs, and blank lines count once",
    arguments: ["print 1 1 1 1 1 1 1 1 1", "x\nx\nx\nx\nx\nx", "@[1, 1, 1, 1, 1]", "if true { }; if true { }"])
  func tokens(text: String) {
    ScriptSession.withLimits({ $0.tokens = 10 }) {
      expect(play("print 1\n\n;\n\n;print 2 2; print 3").outcome.succeeded)
      let played = play("print 0;" + text)
      expect(played.outcome.error?.text, equals: "limit exceeded: a text of over 10 words and signs")
      expect(played.output.isEmpty)
    }
  }

  @Test("a failed expectation does not show large dictionaries, and listing errors is charged")
  func evidence() {
    func failure(_ count: Int) -> String? {
      play("expect @{\((0..<count).map { "\"\($0)\": 1" }.joined(separator: ", "))} == 1").failures.first
    }
    expect(failure(2), equals: "1:1 expectation failed: {\"0\": 1, \"1\": 1} == 1 does not hold")
    expect(failure(33), equals: "1:1 expectation failed: a dictionary of 33 keys == 1 does not hold")
    let cast = "receiver R { - a throws \"no\" }\nproxy p = multicast strong\nrepeat 100 { add new R to p }\n"
    let (errors, report) = (play(cast + "let e = errors [p a]").outcome, play(cast + "let e = report [p a]").outcome)
    expect(errors.work - report.work >= 100 * 2048)
    let own = "proxy p = multicast\nadd p to p\n"
    expect(play(own + "let e = errors [p a]").outcome.work - play(own).outcome.work >= 2048)
  }

  @Test("keys print in byte order")
  func order() {
    expect(
      play("print @{\"b\": 1, \"é\": 2, \"a\": 3, \"ab\": 4}").output,
      equals: "{\"a\": 3, \"ab\": 4, \"b\": 1, \"é\": 2}\n")
  }
}
