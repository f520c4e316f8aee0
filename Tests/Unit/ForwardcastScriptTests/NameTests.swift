// NameTests.swift: the meaning and scope of names, and dropping them.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Names")
struct NameTests {
  @Test("an object is named after its let, by `name:`, or after its receiver")
  func objectNames() {
    let played = play(
      """
      receiver Cook { - say { print name self } }
      let ann = new Cook
      let bo = new Cook name: "b"
      let list = @[new Cook]
      [ann say]; [bo say]; [[list first] say]
      let again = ann
      [again say]
      """)
    expect(played.output, equals: "ann <Cook ann>\nb <Cook b>\nCook <Cook Cook>\nann <Cook ann>\n")
  }

  @Test("a let in a block or row ends with it, and shadows a name of the script")
  func scopes() {
    let played = play(
      """
      let x = 1
      receiver R { - read = x
        - own { let x = 5; return @[x, [self read]] } }
      if true { let x = 2; print x; let y = 3 }
      repeat 2 { let x = [x add: 10]; print x }
      print x [new R own]
      let x = 7
      print x [new R read]
      expect y throws "unknown name"
      """)
    expect(played.output, equals: "2\n11\n11\n1 [5, 1]\n7 7\n")
    expect(played.outcome.succeeded)
  }

  @Test("a row sees the script's names as they are when it runs, and not its caller's")
  func namesOfRows() {
    let played = play(
      """
      receiver R { - later = z
        - outer: a = [self inner]
        - inner = a }
      let r = new R
      expect [r later] throws "unknown name: z"
      let z = 3
      expect [r later] == 3
      expect [r outer: 1] throws "unknown name: a"
      """)
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
  }

  @Test("a proxy or registration that a row creates is a name of the script")
  func namesOfDeclarations() {
    let played = play(
      """
      receiver R { - set { proxy line = multicast; add self to line as mine } }
      let r = new R
      [r set]
      expect count line == 1
      cancel mine
      expect count line == 0
      """)
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
  }

  @Test("a dropped name is unknown, and its object is released unless something else retains it")
  func dropping() {
    let played = play(
      """
      receiver R { - one = 1 }
      let a = new R
      let b = a
      let n = 3
      proxy strong = multicast strong
      let c = new R
      add c to strong
      expect alive a
      drop a
      expect alive a            # b holds it
      expect a throws "unknown name: a was dropped"
      drop b
      expect not alive a
      expect not alive b
      drop c
      expect alive c            # the proxy holds it
      remove all from strong
      expect not alive c
      drop n
      expect n throws "unknown name"
      expect alive m throws "unknown name"
      """)
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
    expect(play("let a = 1\ndrop a\ndrop a").error, equals: "3:6 unknown name: a was dropped")
    expect(play("drop a").error, equals: "1:6 unknown name: a")
  }

  @Test("drop in a row drops the row's name if there is one, and otherwise the script's")
  func droppingInRows() {
    let played = play(
      """
      receiver R { - clear { drop x } - own: x { drop x; expect x throws "unknown name"; return 1 } }
      let x = 1
      let r = new R
      expect [r own: 2] == 1
      expect x == 1
      [r clear]
      expect x throws "unknown name"
      """)
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
  }

  @Test("receivers are declared once and inherit only from earlier ones")
  func receivers() {
    expect(play("receiver R { }\nreceiver R { }").error, equals: "2:10 syntax: receiver R is already declared")
    let session = ScriptSession()
    session.run("receiver R { }")
    expect(session.run("receiver R { }").error?.text, equals: "syntax: receiver R is already declared")
    expect(play("receiver R : S { }\nreceiver S { }").error, equals: "1:1 unknown name: receiver S")
    expect(play("print new R").error, equals: "1:11 unknown name: receiver R")
    expect(
      play("receiver R { - a = 1 - b = 2 }\nreceiver S : R { - b = 3 }\nprint [new S a] [new S b] [new R b]").output,
      equals: "1 3 2\n")
    func chain(_ depth: Int) -> String { (1...depth).map { "receiver R\($0) : R\($0 - 1) { }\n" }.joined() }
    expect(play("receiver R0 { - a = 1 }\n\(chain(63))print [new R63 a]").output, equals: "1\n")
    expect(
      play("receiver R0 { - a = 1 }\n\(chain(64))").outcome.error?.text,
      equals: "limit exceeded: more than 64 receivers in one chain of inheritance")
  }

  @Test(
    "a row with a wrong encoding is refused at its position",
    arguments: [
      ("receiver R { - a: x \"v@:&\" = 1 }", "1:21 invalid type encoding"),
      ("receiver R {\n  - a: x \"v@:\" = 1 }", "2:3 wrong number of arguments"),
      ("receiver R {\n  - a \"v@:q\" = 1 }", "2:3 wrong number of arguments"),
      ("receiver R {\n  - a \"v\" = 1 }", "2:7 invalid type encoding"),
      ("receiver R {\n  - _unknownToEveryTable: x = 1 }", "1:1 invalid selector: _unknownToEveryTable: is reserved"),
      ("receiver R {\n  - \((0...300).map { "a\($0):x\($0) " }.joined()) = 1 }", "2:5 invalid selector"),
      ("[3 \(String(repeating: "ab: 1 ", count: 400))]", "1:4 invalid selector"),
      ("extension e {\n  a: 3 }", "2:6 syntax: wanted a selector or \"}\", found 3"),
      ("let x = 1 @selector(a:)", "1:11 syntax: wanted the end of the statement, found @selector(a:)"),
    ])
  func encodings(text: String, error: String) {
    expect(play(text).error?.hasPrefix(error) == true, "\(play(text).error ?? "none")")
  }

  @Test("arguments and results are converted to the types of the encoding, or refused")
  func conversions() {
    let played = play(
      """
      receiver R { - small: x "c@:c" = x
        - real: x "d@:d" = x
        - short: x "f@:f" = x
        - truth: x "B@:B" = x
        - bad "q@:" = "text"
        - quiet: x "v@:@" = x
        - forgets "q@:" { }
        - which: s ":@::" = s }
      let r = new R
      print [r small: -128] [r real: 3] [r short: 0.5] [r truth: true] [r quiet: 3] [r small: 7.0]
      print [r which: @selector(never:heard:of:)]
      expect [r small: 128] throws "type mismatch"
      expect [r small: 1.5] throws "type mismatch"
      expect [r small: "1"] throws "type mismatch"
      expect [r small: true] throws "type mismatch"
      expect [r real: 9007199254740993] throws "type mismatch"
      expect [r short: 1e300] throws "type mismatch"
      expect [r truth: 2] throws "type mismatch"
      expect [r bad] throws "type mismatch"
      """)
    expect(played.output, equals: "-128 3.0 0.5 true nil 7\nnever:heard:of:\n")
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
  }
}
