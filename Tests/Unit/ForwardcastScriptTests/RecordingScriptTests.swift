// RecordingScriptTests.swift: recording proxies in scripts.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Recording proxies in scripts")
struct RecordingScriptTests {
  private let cooks = """
    receiver Cook {
      - cook: dish { if dish == "soup" { throw "too hot" }; return true }
      - serve: dish to: guests = guests
      - minutes = 20
    }
    let ann = new Cook
    proxy tape = recording ann

    """

  private func expectSuccess(_ text: String, output: String = "") {
    let played = play(text)
    expect(played.outcome.succeeded, "\(played.error ?? "") \(played.outcome.failures)")
    expect(played.output, equals: output)
  }

  @Test("calls lists a recording proxy's calls as texts in order, failed ones included")
  func calls() {
    expectSuccess(
      cooks + """
        expect [tape cook: "fish"] == true
        expect [tape cook: "soup"] throws "too hot"
        expect [tape minutes] == 20
        expect [tape serve: @["a", nil, 0.5] to: @{"k": @[1], "a": ann}] == @{"k": @[1], "a": ann}
        expect [tape wash: "pan"] throws "unrecognized selector"
        print tape
        repeat 0 { }
        expect calls tape == @["cook: \\"fish\\"", "cook: \\"soup\\"", "minutes", "serve: [\\"a\\", nil, 0.5] to: {\\"a\\": <Cook ann>, \\"k\\": [1]}", "wash: \\"pan\\""]
        """, output: "<recording tape>\n")
  }

  @Test("a selector part may start with a combining mark, which joins the colon before it")
  func marks() {
    expectSuccess(
      "receiver R { - a: x \u{3099}b: y = x }; proxy tape = recording new R\n[tape a: 1 \u{3099}b: 2]\nprint calls tape",
      output: "[\"a: 1 \u{3099}b: 2\"]\n")
  }

  @Test("a recording proxy can be a multicast's target, record a multicast, and record another recording proxy")
  func places() {
    expectSuccess(
      cooks + """
        let bo = new Cook
        proxy kitchen = multicast
        add tape to kitchen
        add bo to kitchen
        proxy outer = recording kitchen
        expect [outer cook: "fish"] == true
        expect collect all [kitchen minutes] == @[20, 20]
        expect calls tape == @["cook: \\"fish\\"", "minutes"]
        expect calls outer == @["cook: \\"fish\\""]
        expect tape responds "cook:"
        expect not (tape responds "wash:")
        expect calls (tape) == calls tape
        """)
  }

  @Test("a message that returns to a recording proxy is a proxy cycle")
  func cycle() {
    expectSuccess(
      """
      proxy ring = multicast
      proxy tape = recording ring
      add tape to ring
      expect [tape ping] throws "proxy cycle"
      """)
  }

  @Test("a nested call through the proxy is listed where it started")
  func nested() {
    expectSuccess(
      """
      receiver Echo { - outer: p { [p inner: 1]; return 2 }; - inner: x = x }
      let echo = new Echo
      proxy tape = recording echo
      expect [tape outer: tape] == 2
      expect calls tape == @["outer: <recording tape>", "inner: 1"]
      """)
  }

  @Test("calls of any other operand is a type mismatch", arguments: ["ann", "3", "nil", "\"text\"", "multi"])
  func mismatch(operand: String) {
    let played = play(cooks + "proxy multi = multicast\nprint calls \(operand)")
    expect(played.outcome.error?.code, equals: .typeMismatch)
    expect(played.error?.contains("\"calls\" needs a recording proxy, not ") == true)
  }

  @Test("exceeding the number of recorded calls is an error")
  func limit() {
    let limit = bound(1_000, full: 100_000)
    let played = ScriptSession.withLimits({ $0.recordedCalls = limit }) {
      play(
        cooks
          + "repeat 100 { repeat \(limit / 100 + 1) { [tape minutes] } }\nprint \"played\"\nprint count (calls tape)")
    }
    expect(played.output, equals: "played\n")
    expect(played.outcome.error?.text, equals: "limit exceeded: more than \(limit) recorded calls")
  }
}
