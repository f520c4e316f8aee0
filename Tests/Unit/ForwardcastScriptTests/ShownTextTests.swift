// ShownTextTests.swift: text in errors, its width, and the cost of showing it.

@testable import ForwardcastScript
import TestSupport
import Testing

@Suite("Escaped text in output")
struct ShownTextTests {
  @Test("control and direction characters are escaped, and all others are not")
  func escapes() {
    expect(ShownText.shown("a\n\t\r\u{1B}\u{7F}\u{9B}"), equals: "a\\n\\t\\u{D}\\u{1B}\\u{7F}\\u{9B}")
    expect(ShownText.shown("\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{61C}").allSatisfy { $0.isASCII })
    expect(ShownText.shown("\u{2028}\u{FEFF}\u{E0041}").allSatisfy { $0.isASCII })
    expect(ShownText.shown("é日👩‍👧 ע"), equals: "é日👩‍👧 ע")
    expect(ShownText.shown(String(repeating: "y", count: 1001)), equals: String(repeating: "y", count: 1000) + "…")
  }

  @Test(
    "a character counts as many columns as a terminal uses for it",
    arguments: [
      ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2),
      ("❤", 1),
      ("→", 1), ("\u{301}", 0), ("\u{200D}", 0), ("日本 x", 6), ("", 0),
    ])
  func widths(text: String, wanted: Int) {
    expect(ShownText.width(text), equals: wanted)
  }

  @Test("the caret is under its character, whatever precedes it")
  func carets() {
    func shown(_ text: String) -> [Substring] { "\(play(text).outcome.error!)".split(separator: "\n") }
    expect(shown("print \"日本\" x")[1...], equals: ["print \"日本\" x", "             ^"])
    expect(shown("print\t\"\u{1B}\" x")[1...], equals: ["print\t\"\\u{1B}\" x", "     \t         ^"])
    let long = shown(
      "print \"" + String(repeating: "é", count: 5000) + "\" x \"" + String(repeating: "é", count: 5000) + "\"")
    expect(long[0].hasPrefix("test:1:5010: error"))
    expect(long[1].count == 162 && long[1].hasPrefix("…é") && long[1].hasSuffix("é…"))
    expect(Array(long[1])[long[2].count - 1], equals: "x")
  }

  @Test(
    "columns count characters, also far into a long line", .oneAtATime,
    arguments: [4000, 4096] + (Bounds.areFull ? [9000, 30_000] : []))
  func columns(count: Int) {
    for part in ["a", "é", "e\u{301}", "日", "👩‍👩‍👧"] {
      let text = "print \"" + String(repeating: part, count: count) + "\"; print x"
      expect(play(text).error, equals: "1:\(count + 17) unknown name: x", "\(part)")
      expect(play("let y = 1\n" + text).error, equals: "2:\(count + 17) unknown name: x", "\(part)")
    }
  }

  @Test("unawaited errors on queues are charged and shortened")
  func unawaitedErrors() {
    func work(_ body: String) -> (work: Int, shown: Int) {
      let transcript = Transcript()
      let text = """
        receiver R { - a { \(body) } } # \(String(repeating: "é", count: 100_000))
        let big = "\(String(repeating: "y", count: 100_000))"
        queue q
        proxy p = multicast strong
        add new R to p on q
        repeat 100 { [p a] }
        """
      let outcome = ScriptSession(handlers: transcript.handlers).run(text)
      expect(outcome.unawaitedErrorCount, equals: transcript.failures.count)
      return (outcome.work, transcript.failures.reduce(0) { $0 + "\($1)".utf8.count })
    }
    let (fails, works) = (work("throw big"), work("let x = big"))
    expect(fails.work - works.work >= 100 * 8192)
    expect(fails.shown > 100 * 100 && fails.shown < 100 * 4000)
  }
}
