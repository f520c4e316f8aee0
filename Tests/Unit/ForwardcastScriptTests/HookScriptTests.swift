// HookScriptTests.swift: the statements `before`, `after` and `around`.

import Forwardcast
import ForwardcastScript
import TestSupport
import Testing

@Suite("Hooks in scripts")
struct HookScriptTests {
  private static let start = """
    receiver R { - a = 1; - add: n { return [n add: 1] }; - bad { throw "bad" } }
    let x = new R
    let y = new R
    proxy p = multicast
    add x to p
    add y to p

    """

  private func played(_ text: String, steps: Int = ScriptSession.defaultStepLimit) -> Played {
    play(Self.start + text, steps: steps)
  }

  @Test(
    "hooks run as documented",
    arguments: [
      ("before p \"a\" { print 1 }\nbefore p \"a\" { print 2 }\nafter p \"a\" { print result }\n[p a]", "2\n1\n1\n"),
      ("before p \"add:\" { print arg 0 }\nprint [p add: 5]", "5\n6\n"),
      ("around p \"add:\" { proceed with @[10] }\nprint [p add: 5]", "11\n"),
      ("around p \"add:\" { proceed with @[10]; return 3 }\nprint [p add: 5]", "3\n"),
      ("around p \"a\" { }\nprint [p a] collect all [p a] collect every [p a]", "nil [] true\n"),
      ("around p \"a\" { return proceed }\nprint collect all [p a] collect sum [p a]", "[1, 1] 2\n"),
      ("around p \"a\" { return @[7] }\nprint collect all [p a]", "[7]\n"),
      ("around p \"a\" { return 7 }\nprint collect all [p a]", "[7]\n"),
      ("around p \"a\" { let n = proceed; print n }\nprint collect sum [p a]", "2\n2\n"),
      ("after p \"a\" { print result }\nprint collect all [p a]", "[1, 1]\n[1, 1]\n"),
      ("after p \"bad\" { print \"never\" }\nprint errors [p bad]", "[\"bad\", \"bad\"]\n"),
      ("around p \"bad\" { proceed }\nprint errors [p bad]", "[\"bad\", \"bad\"]\n"),
      (
        "before p \"a\" { print \"once\" }\nprint report [p a]",
        "once\n"
          + "{\"delivered\": 2, \"failed\": 0, \"queued\": 0, \"skipped\": 0}\n"
      ),
      (
        "around p \"a\" { return proceed } as h\nprint report [p a]\ncancel h\naround p \"a\" { return 9 }\n"
          + "print report [p a]",
        "{\"delivered\": 2, \"failed\": 0, \"queued\": 0, \"skipped\": 0}\n"
          + "{\"delivered\": 0, \"failed\": 0, \"queued\": 0, \"skipped\": 2}\n"
      ),
      ("before p \"none\" { print \"hooked\" }\nprint [p none]", "hooked\nnil\n"),
      ("before p \"a\" { print 1 } as h\ncancel h\ncancel h\n[p a]\nprint h", "<hook>\n"),
      ("before p \"a\" { print 1 } as h\ndrop h\n[p a]", "1\n"),
      ("let n = 1\nbefore p \"a\" { let n = 2; print n }\n[p a]\nprint n", "2\n1\n"),
      ("extension E { a }\nregister x in E\nbefore E \"a\" { print \"point\" }\n[E a]", "point\n"),
      (
        "queue q\nproxy m = multicast\nadd x to m on q\naround m \"add:\" { proceed with @[8] }\n"
          + "print collect all [m add: 1]", "[9]\n"
      ),
      (
        "proxy f = forward to x\nbefore f \"add:\" { print arg 0 }\n"
          + "around f \"add:\" { return proceed with @[[arg 0 add: 1]] }\nprint [f add: 5]", "6\n7\n"
      ),
      ("proxy l = lazy { x }\nafter l \"a\" { print result }\nprint [l a]", "1\n1\n"),
      (
        "proxy f = forward to p\naround f \"a\" { return 9 } as h\nproxy m = multicast\nadd f to m\n"
          + "print collect all [m a] [f a]\ncancel h\nprint [f a]", "[9] 9\n1\n"
      ),
      ("proxy k = recording x\nbefore k \"a\" { print \"kept\" }\n[k a]\nprint calls k", "kept\n[\"a\"]\n"),
    ])
  func behaviour(text: String, output: String) {
    let played = played(text)
    expect(played.error == nil)
    expect(played.output, equals: output)
  }

  @Test("a hook sees the names of the row that installs it, with their values at that time")
  func namesOfTheRow() {
    let played = play(
      """
      receiver R { - a = 1 }
      receiver Maker { - hook: p { let word = "mine"; before p "a" { print word name }; let word = "other" } }
      let maker = new Maker name: "m"
      let x = new R
      proxy p = multicast
      add x to p
      [maker hook: p]
      [p a]
      """)
    expect(played.error == nil && played.output == "mine m\n")
  }

  @Test(
    "errors of a hook are errors of the send, at the hook's position",
    arguments: [
      ("before p \"a\" { throw \"veto\" }\n[p a]", "7:16 veto"),
      ("after p \"a\" { throw \"late\" }\n[p a]", "7:15 late"),
      (
        "before p \"a\" { print arg 0 }\n[p a]",
        "7:22 wrong number of arguments: argument 0 does not exist; the message has 0"
      ),
      (
        "around p \"add:\" { proceed with @[] }\n[p add: 1]",
        "7:19 wrong number of arguments: the message takes 1, found 0"
      ),
      ("before p \"a\" { print result }\n[p a]", "7:22 unknown name: result"),
      ("before x \"a\" { }", "7:8 type mismatch: \"before\" needs a proxy, not <R x>"),
      ("before p \"a b\" { }", "7:10 invalid selector"),
      ("before p \"a\" { } as h\nmute h", "8:6 type mismatch: \"mute\" takes a registration, not a hook"),
      ("print proceed", "7:7 syntax: \"proceed\" is allowed in \"around\" only"),
      ("print arg 0", "7:7 syntax: \"arg\" is allowed in hooks only"),
    ])
  func errors(text: String, error: String) {
    let played = played(text)
    expect(played.error?.hasPrefix(error) == true, "\(played.error ?? "none")")
  }

  @Test("the name of a hook is known outside the block or row that installed the hook")
  func names() {
    let text = """
      receiver Installer { - install { before p "a" { print "row" } as k } }
      if true { before p "a" { print "block" } as h }
      [new Installer install]
      [p a]
      cancel h; cancel k
      [p a]
      """
    let played = played(text)
    expect(played.error == nil)
    expect(played.output, equals: "row\nblock\n")
  }

  @Test("a hook that catches an error returns the answer")
  func taken() {
    let played = played(
      """
      around p "bad" { expect proceed throws "bad"; return 5 }
      expect [p bad] == 5
      """)
    expect(played.error == nil && played.failures == [])
  }

  @Test(
    "endless hooks exceed a limit, which no script can catch",
    arguments: [
      "around p \"a\" { repeat 1000 { expect [p a] throws } }\n[p a]",
      "repeat 2000 { before p \"zz\" { } }\nprint [p a]",
      "around p \"a\" { proceed; proceed }\nrepeat 40 { around p \"a\" { proceed; proceed } }\n[p a]",
      "before p \"a\" { repeat 1000000 { } }\nrepeat 9 { [p a] }",
    ])
  func limits(text: String) {
    let played = played(text, steps: 30_000)
    expect(played.error?.contains("limit exceeded") == true, "\(played.error ?? "none")")
  }

  @Test("a thousand hooks may be installed, not counting canceled ones")
  func thousand() {
    let played = played(
      """
      repeat 999 { before p "zz" { } }
      before p "zz" { } as last
      cancel last
      before p "zz" { }
      print "room"
      before p "zz" { }
      """)
    expect(played.output, equals: "room\n")
    expect(played.error?.contains("more than 1000 hooks") == true, "\(played.error ?? "none")")
  }

  @Test("each run of a hook counts as a step, even if it is empty")
  func counted() {
    let plain = played("repeat 100 { [p a] }").outcome.steps
    expect(played("before p \"a\" { }\nrepeat 100 { [p a] }").outcome.steps, equals: plain + 101)
  }

  @Test("a session that ends removes its hooks from the host's proxies")
  func host() throws {
    let proxy = MulticastProxy<any MessageReceiver>()
    let transcript = Transcript()
    do {
      let session = ScriptSession(handlers: transcript.handlers)
      session.register(proxy, as: "p")
      session.run("before p \"a\" { print \"hooked\" }")
      var call = Invocation("a")
      try proxy.forward(&call)
      expect(transcript.output, equals: "hooked\n")
    }
    var call = Invocation("a")
    try proxy.forward(&call)
    expect(transcript.output, equals: "hooked\n")
  }

  @Test(
    "an around hook of a script that returns the value of proceed keeps each answer for senders in Swift",
    arguments: [
      "{ }", "{ proceed }", "{ return proceed }", "{ let answer = proceed; return answer }", "{ return 2 }",
      "{ proceed; return 3.0 }",
    ])
  func swiftSenders(body: String) throws {
    let lamps = MulticastProxy<any MessageReceiver>()
    let (first, second) = (Lamp(16), Lamp(3))
    lamps.add(first)
    lamps.add(second)
    let session = ScriptSession()
    session.register(lamps, as: "lamps")
    expect(session.run("around lamps \"watts\" \(body)\naround lamps \"bulb\" \(body)").succeeded)
    // 3.0 equals the last answer, but is not the value of proceed.
    let own = body.contains("2") ? 2 : body.contains("3.0") ? 3 : nil
    let keeps = own == nil && body.contains("proceed")
    let watts = Message<() -> Int>("watts")
    expect(try lamps.collect(watts, returning: .all), equals: keeps ? [16, 3] : [own].compactMap(\.self))
    expect(try lamps.collect(watts, returning: .sum), equals: keeps ? 19 : own ?? 0)
    if keeps {
      let bulbs = try lamps.collect(Message<() -> Lamp.Bulb>("bulb"), returning: .all)
      expect(bulbs.map(\.watts), equals: [16, 3])
    }
    withExtendedLifetime((first, second)) {}
  }
}

private final class Lamp: MessageReceiver {
  /// A type that scripts do not have.
  struct Bulb { let watts: Int }

  static let selectorTable = SelectorTable(for: Lamp.self) {
    Responds(to: "watts") { (lamp: Lamp) in lamp.watts }
    Responds(to: "bulb") { (lamp: Lamp) in Bulb(watts: lamp.watts) }
  }
  let watts: Int

  init(_ watts: Int) { self.watts = watts }
}
