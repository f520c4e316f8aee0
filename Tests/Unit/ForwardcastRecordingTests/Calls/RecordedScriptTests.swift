// RecordedScriptTests.swift: writes recordings as scripts that repeat them.

import Forwardcast
import ForwardcastRecording
import ForwardcastScript
import TestSupport
import Testing

private struct Color {}

/// A recorded call of `take:` with the given argument.
private func recording(of value: Any, answer: Any? = nil, as name: String = "r") -> Recording {
  final class Taker: ForwardingProxy {
    var answer: Any?
    override func methodSignature(for selector: MessageSelector) -> MethodSignature? { .init(of: selector) }
    override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
      invocation.result = answer.map { ArgumentBox($0) }
      return DeliveryReport()
    }
  }
  let taker = Taker()
  taker.answer = answer
  let proxy = RecordingProxy(of: taker, as: name)
  var message = Invocation("take:", arguments: [ArgumentBox(value)])
  try? proxy.perform(&message)
  return proxy.recorder.recording
}

extension MethodSignature {
  fileprivate init?(of selector: MessageSelector) {
    try? self.init("@@:" + String(repeating: "@", count: selector.numberOfArguments))
  }
}

// Never changed.
nonisolated(unsafe) private let literalCases: [(value: Any, text: String)] = [
  (1, "1"), (Int.min, "-9223372036854775808"), (UInt8(200), "200"), (0.1, "0.1"), (-0.0, "-0.0"), (1e300, "1e+300"),
  (Double.leastNonzeroMagnitude, "5e-324"), (Float(0.5), "0.5"), (true, "true"), ("", "\"\""),
  ("a\\b\"c\n\t", #""a\\b\"c\n\t""#),
  ("\u{0}\u{7F}\r", #""\u{0}\u{7F}\u{D}""#), ("\u{2028}\u{202E}\u{FEFF}", #""\u{2028}\u{202E}\u{FEFF}""#),
  ("\u{301}e\u{301}", "\"\u{301}e\u{301}\""), ("👩‍👧", "\"👩\\u{200D}👧\""), (Substring("s"), "\"s\""),
  (Int?.none as Any, "nil"), (Int??.some(.none) as Any, "nil"), (Int?.some(4) as Any, "4"),
  ([Int](), "@[]"), ([[1], []] as [[Int]], "@[@[1], @[]]"), ([1, nil] as [Int?], "@[1, nil]"),
  (["k\"": ["a": nil, "b": 1.5]] as [String: [String: Double?]], #"@{"k\"": @{"a": nil, "b": 1.5}}"#),
  ([1, "a", [true] as [Any]] as [Any], "@[1, \"a\", @[true]]"),
  (MessageSelector("a:b:"), "@selector(a:b:)"),
]

// Never changed.
nonisolated(unsafe) private let refusedCases: [(value: Any, text: String)] = [
  (Color(), #"argument 0 of "take:" is of type Color, for which a script has no literal"#),
  ([Color()], #"argument 0 of "take:" is of type Color, for which a script has no literal"#),
  (
    ["a": [1: 2]] as [String: Any],
    #"argument 0 of "take:" is of type Dictionary<Int, Int>, for which a script has no literal"#
  ),
  (Set([1]), #"argument 0 of "take:" is of type Set<Int>, for which a script has no literal"#),
  (Character("a"), #"argument 0 of "take:" is of type Character, for which a script has no literal"#),
  (Double.nan, #"argument 0 of "take:" is nan, which has no literal"#),
  (-Float.infinity, #"argument 0 of "take:" is -inf, which has no literal"#),
  (UInt64.max, #"argument 0 of "take:" is 18446744073709551615, which does not fit 64 bits"#),
  (Ledger(), #"argument 0 of "take:" is a Ledger that has no name in the script"#),
  ((1, 2), #"argument 0 of "take:" is of type (Int, Int), for which a script has no literal"#),
  (Int.self, #"argument 0 of "take:" is of type Int.Type, for which a script has no literal"#),
]

@Suite("Recordings as scripts")
struct RecordedScriptTests {
  @Test("a recording becomes one statement for each outermost call, with its answer or error")
  func text() throws {
    let office = Office()
    let ledger = try #require(office.recorded["ledger"])
    let _: Int = try ledger.dynamic.note("say \"hi\"\n")
    let _: [String] = try ledger.dynamic.store(nil as Int? as Any, path: ["a", nil] as [String?])
    let _: [String: [Double]] = try ledger.dynamic.merge(["b": [1], "a": [2, -3]] as [String: [Int]], scale: 0.5)
    _ = try? ledger.dynamic.merge([String: [Int]](), scale: -2)
    let _: [Int] = try #require(try office.recorded["desk"]?.dynamic.file("x", times: 1))
    try ledger.dynamic.clear()
    try expect(
      office.recorder.recording.script(),
      equals: #"""
        expect [ledger note: "say \"hi\"\n"] == 1
        expect [ledger store: nil path: @["a", nil]] == @["say \"hi\"\n", "[\"a\", \"-\"]=none"]
        expect [ledger merge: @{"a": @[2, -3], "b": @[1]} scale: 0.5] == @{"a": @[1.0, -1.5], "b": @[0.5]}
        expect [ledger merge: @{} scale: -2] throws "scale -2.0 is \"negative\"\nand spills"
        expect [desk file: "x" times: 1] == @[3]
        #   expect [ledger note: "x 0"] == 3
        [ledger clear]

        """#)
  }

  @Test("a value is written as the literal that a script reads as the same value", arguments: literalCases.indices)
  func literal(index: Int) throws {
    let (value, text) = literalCases[index]
    let written = try recording(of: value).script()
    expect(written, equals: "[r take: \(text)]\n")
    // As an answer, it becomes an expectation.
    try expect(recording(of: 1, answer: value).script(), equals: "expect [r take: 1] == \(text)\n")
    expect(ScriptSession.check(written) == nil)
    // The script reads the same value.
    let session = ScriptSession()
    let echo = BareReceiver {
      Responds(to: "take:") { (_: BareReceiver, value: Any) in ArgumentBox(value).description }
    }
    session.register(echo, as: "r")
    let read = session.run(written)
    expect(read.error == nil)
    expect(session.run("expect \(text) == \(text)").succeeded)
  }

  @Test("a type without a literal is refused with its name", arguments: refusedCases.indices)
  func refusals(index: Int) {
    let (value, text) = refusedCases[index]
    let error = #expect(throws: ScriptWritingError.self) { try recording(of: value).script() }
    expect(error?.description, equals: text)
    expect(error?.argumentIndex, equals: 0)
  }

  @Test("an answer without a literal becomes a comment instead of an expectation")
  func unwritableAnswer() throws {
    let text = try recording(of: 1, answer: Color()).script()
    expect(text, equals: "[r take: 1]  # answered a value of type Color\n")
    expect(ScriptSession.check(text) == nil)
  }

  @Test("an unfinished call is written as a send, and calls within it become one-line comments")
  func comments() throws {
    struct Torn: CustomStringConvertible { var description: String { "a\nb\r\nc" } }
    let recorder = CallRecorder()
    let taker = BareReceiver { Responds(to: "take:") { (_: BareReceiver, value: Any) in "\(type(of: value))" } }
    let inner = RecordingProxy(of: taker, as: "inner", into: recorder)
    let texts = Locked<[String]>([])
    let goer = BareReceiver {
      Responds(to: "go") { (_: BareReceiver) throws in
        let _: String = try inner.dynamic.take(Torn())
        let text = try recorder.recording.script()
        texts.withLock { $0.append(text) }
      }
    }
    let outer = RecordingProxy(of: goer, as: "outer", into: recorder)
    var call = Invocation("go")
    try outer.perform(&call)
    let text = try #require(texts.withLock { $0.first })
    expect(text.hasPrefix("[outer go]  # had not ended\n#   [inner take: a b  c] answers \"Torn\"\n"), "\(text)")
    expect(text.split(separator: "\n").count == 2 && ScriptSession.check(text) == nil)
    try expect(recorder.calls[0].statement(), equals: "[outer go]")
  }

  @Test("a message with too few arguments cannot be written as a statement")
  func tooFew() throws {
    let proxy = RecordingProxy(of: Ledger(), as: "ledger")
    var call = Invocation("store:path:", arguments: [ArgumentBox(1)])
    _ = try? proxy.forward(&call)
    let error = #expect(throws: ScriptWritingError.self) { try proxy.recorder.recording.script() }
    expect(error?.description, equals: "\"store:path:\" has 1 argument, but its selector takes 2")
  }

  @Test("lists are written up to the depth that a script reads, and refused beyond")
  func depth() throws {
    func nested(_ depth: Int) -> Any { (0..<depth).reduce([] as [Any]) { list, _ in [list] } }
    let text = try recording(of: nested(60)).script()
    expect(ScriptSession.check(text) == nil)
    expect(ScriptSession.check("expect " + text) == nil)
    let error = #expect(throws: ScriptWritingError.self) { try recording(of: nested(61)).script() }
    expect(error?.description, equals: #"argument 0 of "take:" is nested in more than 60 lists"#)
  }

  @Test(
    "a receiver whose name is not a name in a script is refused",
    arguments: ["count", "expect", "true", "else", "Box<Int>", "a b", "a:", ""])
  func names(name: String) {
    let error = #expect(throws: ScriptWritingError.self) { try recording(of: 1, as: name).script() }
    expect(error?.description, equals: "\"take:\" was sent to \"\(name)\", which is not a valid name in a script")
    let ledger = Ledger()
    let other = #expect(throws: ScriptWritingError.self) { try recording(of: ledger).script(objects: [name: ledger]) }
    expect(other?.description, equals: "argument 0 of \"take:\" is \"\(name)\", which is not a valid name in a script")
  }

  @Test("named objects can be arguments and answers")
  func objects() throws {
    let (ann, bo) = (Ledger(), Ledger())
    let recording = recording(of: [ann, bo], answer: bo)
    try expect(recording.script(objects: ["ann": ann, "bo": bo]), equals: "expect [r take: @[ann, bo]] == bo\n")
    let error = #expect(throws: ScriptWritingError.self) { try recording.script(objects: ["ann": ann]) }
    expect(error?.type, equals: "Ledger")
  }

  @Test("keywords and empty parts can be parts of a message")
  func parts() throws {
    let office = Office()
    let ledger = try #require(office.recorded["ledger"])
    var message = Invocation("add:to:", arguments: [.init(1), .init(2)])
    _ = try? ledger.perform(&message)
    message = Invocation("a::", arguments: [.init(1), .init(2)])
    _ = try? ledger.perform(&message)
    let text = try office.recorder.recording.script()
    expect(text.hasPrefix("expect [ledger add: 1 to: 2] throws \"unrecognized selector 'add:to:' of Ledger"))
    expect(text.contains("\nexpect [ledger a: 1 : 2] throws "))
    let again = Office()
    let session = ScriptSession()
    for (name, proxy) in again.recorded { session.register(proxy, as: name) }
    expect(session.run(text).succeeded)
  }

  @Test("a script fails where its answers differ from the recording")
  func differing() throws {
    let office = Office()
    let _: Int = try #require(try office.recorded["ledger"]?.dynamic.note("a"))
    let text = try office.recorder.recording.script()
    let session = ScriptSession()
    let ledger = Ledger()
    _ = ledger.note("before")
    session.register(ledger, as: "ledger")
    let outcome = session.run(text)
    expect(outcome.failures.map(\.text), equals: ["expectation failed: 2 == 1 does not hold"])
  }
}
