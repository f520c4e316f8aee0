// ValueTests.swift: literals, printing, comparison and messages of values.

import Forwardcast
import ForwardcastScript
import TestSupport
import Testing

@Suite("Values")
struct ValueTests {
  @Test(
    "values print as documented",
    arguments: [
      ("42", "42"), ("-7", "-7"), ("0x1F", "31"), ("-0x10", "-16"), ("0.5", "0.5"), ("1e3", "1000.0"), ("20.0", "20.0"),
      ("-9223372036854775808", "-9223372036854775808"), ("9223372036854775807", "9223372036854775807"),
      ("2.5e-3", "0.0025"), ("true", "true"), ("false", "false"), ("nil", "nil"),
      ("\"a b\"", "a b"), ("\"\\n\\t\\\"\\\\\\u{1F600}\"", "\n\t\"\\😀"),
      ("@[]", "[]"), ("@[1, \"a\", @[nil]]", "[1, \"a\", [nil]]"), ("@[\"\\n\\\"\"]", "[\"\\n\\\"\"]"),
      ("@{}", "{}"), ("@{\"b\": 1, \"a\": @{\"c\": \"d\"}}", "{\"a\": {\"c\": \"d\"}, \"b\": 1}"),
      ("@selector(onAddMsg:msgData:)", "onAddMsg:msgData:"), ("selector \"a:\"", "a:"), ("(((1)))", "1"),
      ("signature \"v24@0:8q16\"", "v24@0:8q16"), ("new Cook", "<Cook Cook>"), ("new Cook name: \"a b\"", "<Cook a b>"),
      ("ann", "<Cook ann>"), ("line", "<multicast line>"), ("@[line, ann]", "[<multicast line>, <Cook ann>]"),
    ])
  func printing(expression: String, text: String) throws {
    let played = play("receiver Cook { }\nlet ann = new Cook\nproxy line = multicast\nprint \(expression)")
    expect(played.output, equals: text + "\n")
    expect(played.error == nil)
  }

  @Test("128 lists may be nested, and 129 may not, whether a script or its host created them")
  func depth() {
    let text = "let a = @[1]\n" + String(repeating: "let a = @[a]\n", count: 127)
    expect(play(text).outcome.succeeded)
    expect(play(text + "let a = @[a]").outcome.error?.code, equals: .limitExceeded)
    let host = BareReceiver {
      Responds(to: "deep:") { (_: BareReceiver, count: Int) -> Any in
        (0..<count).reduce(1 as Any) { inner, _ in [inner] as [Any] }
      }
    }
    let session = ScriptSession()
    session.register(host, as: "host")
    expect(session.run("[host deep: 128]").succeeded)
    expect(session.run("[host deep: 129]").error?.code, equals: .limitExceeded)
  }

  @Test("print writes its values at once, separated by spaces")
  func printInOnePiece() {
    let transcript = Transcript()
    ScriptSession(handlers: transcript.handlers).run("print 1 -2 \"x\" @[3] not true 4; print \"end\"")
    expect(transcript.pieces, equals: ["1 -2 x [3] false 4\n", "end\n"])
  }

  @Test(
    "values compare with ==, !=, <, <=, > and >=",
    arguments: [
      ("1 == 1.0", true), ("1 == 2", false), ("1 != 2", true), ("9007199254740993 == 9007199254740992.0", false),
      ("true == 1", false), ("nil == false", false), ("nil == nil", true), ("\"1\" == 1", false),
      ("\"\\u{E9}\" == \"e\\u{301}\"", true), ("\"\\u{390}\" == \"\\u{1FBE}\\u{308}\\u{301}\"", true),
      ("@[1, 2.0] == @[1.0, 2]", true), ("@[1] == @[1, 1]", false),
      ("@{\"a\": 1} == @{\"a\": 1.0}", true), ("@{\"a\": 1} == @{\"b\": 1}", false),
      ("@selector(a:) == selector \"a:\"", true), ("@selector(a:) == \"a:\"", false),
      ("ann == ann", true), ("ann == new Cook", false), ("new Cook == new Cook", false), ("line == line", true),
      ("1 < 2", true), ("2 < 1", false), ("3 < 3.0", false), ("3.0 < 3", false), ("3.0 <= 3", true), ("2 < 2.5", true),
      ("2.5 < 3", true), ("1 < [0.0 divide: 0]", false), ("[0.0 divide: 0] < 1", false), ("1 > [0.0 divide: 0]", false),
      ("1e300 < 5", false), ("5 < -1e300", false), ("1 <= 1.0", true), ("2.5 > 2", true),
      ("0.5 < 1.5", true), ("@{\"a\": 1} == @{\"a\": 1, \"b\": 2}", false),
      ("signature \"v@:q\" == signature \"v@:q\"", true),
      ("signature \"v@:q\" == signature \"v@:d\"", false), ("signature \"v@:q\" != signature \"v@:\"", true),
      ("2 >= 2.5", false),
      ("9007199254740993 > 9007199254740992.0", true), ("9223372036854775807 < 9223372036854775808.0", true),
      ("-9223372036854775808 <= -1e300", false), ("-0.5 < 0", true), ("0 < -0.5", false),
    ])
  func comparison(condition: String, holds: Bool) {
    let world = "receiver Cook { }\nlet ann = new Cook\nproxy line = multicast\n"
    let played = play(world + "if \(condition) { print true } else { print false }\nexpect \(condition)")
    expect(played.output, equals: "\(holds)\n", "\(condition)")
    expect(played.error == nil)
    expect(played.failures.isEmpty, equals: holds)
  }

  @Test(
    "conditions that are not Boolean or not comparable are type mismatches",
    arguments: ["1", "nil", "\"true\"", "\"a\" < \"b\"", "true < false", "1 < \"2\"", "nil > 0", "@[1] <= @[2]"])
  func mismatchedConditions(condition: String) {
    expect(play("expect \(condition)").error?.contains(" type mismatch: ") == true)
    expect(play("if \(condition) { }").error?.contains(" type mismatch: ") == true)
  }

  @Test(
    "numbers, texts, lists and dictionaries answer",
    arguments: [
      ("[3 add: 4]", "7"), ("[3 subtract: 4]", "-1"), ("[3 multiply: 0.5]", "1.5"), ("[7 divide: 2]", "3"),
      ("[-7 divide: 2]", "-3"), ("[7 divide: 2.0]", "3.5"), ("[1.0 divide: 0]", "inf"), ("[3 negated]", "-3"),
      ("[0.5 negated]", "-0.5"), ("[\"👩‍👩‍👧é\" length]", "2"), ("[\"abc\" uppercased]", "ABC"),
      ("[\"a\" appending: \"b\"]", "ab"), ("[@[1, 2] count]", "2"), ("[@[1, 2] at: 1]", "2"), ("[@[1, 2] first]", "1"),
      ("[@[] last]", "nil"), ("[@[] first]", "nil"), ("[0.75 subtract: 0.5]", "0.25"),
      ("[@[1] adding: @[2]]", "[1, [2]]"), ("[@{\"a\": 1} at: \"a\"]", "1"),
      ("[@{\"a\": 1} at: \"b\"]", "nil"), ("[@{\"a\": 1} count]", "1"), ("[nil anything: 1]", "nil"),
      ("3 responds \"add:\"", "true"), ("\"a\" responds \"add:\"", "false"), ("nil responds \"x\"", "false"),
      ("@[1] responds \"at:\"", "true"), ("@{} responds \"first\"", "false"), ("0.5 responds \"divide:\"", "true"),
      ("collect all [nil ping]", "[]"), ("collect sum [nil ping]", "0"), ("collect first [nil ping]", "nil"),
      ("collect all [3 add: 4]", "[7]"),
      ("errors [3 add: \"x\"]", "[\"type mismatch: \\\"add:\\\" takes a number, not a text\"]"),
      ("report [3 negated]", "{\"delivered\": 1, \"failed\": 0, \"queued\": 0, \"skipped\": 0}"),
      ("report [nil ping]", "{\"delivered\": 0, \"failed\": 0, \"queued\": 0, \"skipped\": 0}"),
    ])
  func answers(expression: String, text: String) throws {
    try expect(value(expression).description, equals: text)
  }

  @Test(
    "values refuse messages that they cannot answer",
    arguments: [
      ("[3 divide: 0]", "division by zero"), ("[9223372036854775807 add: 1]", "overflow"),
      ("[-9223372036854775808 negated]", "overflow"), ("[-9223372036854775808 divide: -1]", "overflow"),
      ("[3 add: \"4\"]", "type mismatch"), ("[3 add: true]", "type mismatch"), ("[3.5 add: nil]", "type mismatch"),
      ("[\"a\" appending: 1]", "type mismatch"), ("[@[1] at: 1]", "index 1 is outside a list of 1"),
      ("[@[1] at: -1]", "index -1 is outside"), ("[@[1] at: \"0\"]", "type mismatch"),
      ("[@{} at: 1]", "type mismatch"), ("[3 foo]", "unrecognized selector"),
      ("[true negated]", "unrecognized selector"),
      ("[@[] uppercased]", "unrecognized selector"), ("not 1", "type mismatch"), ("not nil", "type mismatch"),
    ])
  func refusals(expression: String, text: String) {
    expect(play("expect \(expression) throws \"\(text)\"").outcome.succeeded)
    expect(play(expression).error, equals: "1:1 " + (play(expression).outcome.error?.text ?? ""))
  }

  @Test("an expected error begins with any spelling of its text")
  func spellings() {
    let long = String(repeating: "\\u{1FBE}\\u{308}\\u{301}", count: 20)
    let short = String(repeating: "\\u{390}", count: 20)
    let text = "receiver R { - a { throw \"\(long) end\" } }; expect [new R a] throws \"\(short)\""
    expect(play(text).failures, equals: [])
  }

  @Test("a ScriptValue hashes and compares in the host as in a script")
  func hashing() {
    expect(Set<ScriptValue>([1, 1.0, 2, "1", true]).count, equals: 4)
    expect(ScriptValue.integer(3), equals: 3.0)
    expect(ScriptValue.bool(true) != 1)
    expect(ScriptValue.dictionary(["a": nil]) != ScriptValue.dictionary([:]))
  }
}
