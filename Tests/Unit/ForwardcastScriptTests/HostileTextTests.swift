// HostileTextTests.swift: random and mutated scripts end with an error or an answer.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Hostile texts")
struct HostileTextTests {
  /// Scripts that use the whole language, to be mutated.
  private static let seeds = [
    """
    receiver Cook { - cook: dish { print name "cooks" dish } - minutes = 20 - burn throws "burnt" }
    receiver Apprentice : Cook { - minutes "q@:" = 45 - pair: a with: b { if a < b { return @[a, b] } else { throw "no" } } }
    let ann = new Cook name: "ann"; let bo = new Apprentice
    proxy kitchen = multicast strong duplicates throwing stopping
    add ann to kitchen priority -3 only @["cook:", @selector(minutes)] as r
    add bo to kitchen
    [kitchen cook: "fish"]; print collect sum [kitchen minutes] errors [kitchen burn] report [kitchen cook: nil]
    mute r; unmute r; cancel r; remove bo from kitchen; remove all from kitchen
    drop bo; expect not alive bo; expect count kitchen == 0; expect not (kitchen responds "wash:")
    """,
    """
    proxy f = forward to g
    proxy l = lazy { [f x] }
    proxy g = multicast
    add l to g; add g to g
    repeat 3 { let s = [s appending: "a"]; [g hello: @{"a": @[1, 2.5, -0x1F], "b": nil}] }
    expect [3 divide: 0] throws "division"; expect types (signature "v24@0:8q16") == @["v"]
    print offsets (signature "v@:{P=dd}") size "{R={P=dd}}" align "[3s]" arity "a:b:" frame signature "v@:"
    """,
    """
    queue q; add a to p on q; wait
    before p "a:" { print arg 0 } as h; after p "a:" { print result }; around p "a:" { return proceed with @[1] }
    proxy r = recording p; print calls r
    extension E { a: b:c:
      d }
    register x in E; register lazily X in E; unregister x from E; print service X services; clear services
    """,
    "receiver R { - go: n { return [self go: [n add: 1]] } }\nlet r = new R\nproxy p = multicast\nadd r to p\n[p go: 1]",
    "let x = @[1]\nrepeat 99 { let y = @[x, x]; print y }\nif x == @[1.0] { print \"\\u{1F600}\\n\" } else { print 1e3 }",
  ]

  private static let pieces = [
    "[", "]", "(", ")", "{", "}", "@[", "@{", "@selector(", ":", ",", ";", "\n", "\r\n", "\"", "\\", "#", "-", "=",
    "==",
    "<=", "!", "!=", "@", "0x", "1e", "9223372036854775807", "-9223372036854775808", "1e308", "\u{0}", "\u{301}", "👩‍👩‍👧",
    "é",
    " ", "\t", "nil", "true", "not", "new", "name:", "let", "print", "expect", "throws", "repeat", "if", "else",
    "return",
    "throw", "proceed", "arg", "count", "collect", "sum", "receiver", "proxy", "multicast", "forward to", "lazy",
    "self",
    "name", "add", "to", "priority", "only", "as", "remove", "all from", "signature", "size", "\"v@:\"", "\"{?=b3b5}\"",
  ]

  private static func mutate(_ text: String, _ random: inout SeededGenerator) -> String {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1 where place < bytes.count:
        bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...12, using: &random)))
      case 2:
        let from = Int.random(in: 0..<max(1, bytes.count), using: &random)
        let part = bytes[min(from, bytes.count)..<min(bytes.count, from + Int.random(in: 1...40, using: &random))]
        bytes.insert(contentsOf: Array(part), at: place)
      case 3: bytes = Array(bytes.prefix(place))
      default: bytes.insert(contentsOf: Array((pieces.randomElement(using: &random) ?? "").utf8), at: place)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func invent(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...60, using: &random)).map { _ in
      (pieces.randomElement(using: &random) ?? "") + (Bool.random(using: &random) ? " " : "")
    }.joined()
  }

  /// Runs a text and describes what is wrong with the outcome, if anything.
  private static func complaint(_ text: String) -> String? {
    let transcript = Transcript()
    let session = ScriptSession(stepLimit: 2000, handlers: transcript.handlers)
    let outcome = session.run(text, named: "hostile")
    if outcome.steps > 2000 { return "took \(outcome.steps) steps" }
    if !outcome.isParsed && !transcript.pieces.isEmpty { return "printed before it was parsed" }
    if outcome.isParsed != (ScriptSession.check(text) == nil) { return "check and run differ" }
    guard let error = outcome.error else { return nil }
    let lines = error.description.split(separator: "\n", omittingEmptySubsequences: false)
    if error.position.line < 1 || error.position.column < 1 { return "has no place: \(error.position)" }
    if error.position.column > error.line.count + 1 { return "points behind its line: \(error.position)" }
    if lines.last?.hasSuffix("^") != true { return "shows no caret" }
    return nil
  }

  /// `FORWARDCAST_HOSTILE_SCRIPTS` sets the number, and `FORWARDCAST_SEED` the seed.
  @Test("random and mutated scripts neither crash nor hang", .oneAtATime)
  func random() async {
    let seed = setting("FORWARDCAST_SEED").flatMap { UInt64($0) } ?? 20_261_121
    let count = bound(1_000, full: 20_000, named: "FORWARDCAST_HOSTILE_SCRIPTS")
    var random = SeededGenerator(seed: seed)
    for number in 0..<count {
      await Task.yield()
      let text = number % 4 == 0 ? Self.invent(&random) : Self.mutate(Self.seeds[number % Self.seeds.count], &random)
      if let complaint = Self.complaint(text) {
        Issue.record("seed \(seed), script \(number) \(complaint): \(text.debugDescription)")
      }
    }
  }

  @Test("every prefix of a script, and every script with one byte missing, neither crashes nor hangs", .oneAtATime)
  func everyCut() async {
    for text in Self.seeds {
      let bytes = Array(text.utf8)
      for place in bytes.indices.sampled(each: 7) {
        await Task.yield()
        let prefix = String(decoding: bytes[..<place], as: UTF8.self)
        let without = String(decoding: bytes[..<place] + bytes[(place + 1)...], as: UTF8.self)
        for cut in [prefix, without] {
          if let complaint = Self.complaint(cut) { Issue.record("\(complaint): \(cut.debugDescription)") }
        }
      }
    }
  }
}
