// WorkTests.swift: charges beside steps, so that no script takes long in few steps.

import Foundation
import ForwardcastScript
import TestSupport
import Testing

@Suite("Work")
struct WorkTests {
  /// Two proxies per level, each in both of the level above.
  private static func diamonds(_ levels: Int, modifiers: String = "") -> String {
    var text = "receiver R { - a = 1 }\nlet r = new R\n"
    for level in 0..<levels { text += "proxy a\(level) = multicast; proxy b\(level) = multicast\n" }
    for level in 1..<levels {
      for upper in ["a", "b"] {
        for lower in ["a", "b"] { text += "add \(lower)\(level) to \(upper)\(level - 1)\(modifiers)\n" }
      }
    }
    return text
  }

  @Test(
    "a diamond of proxies with too many paths ends the script", .oneAtATime,
    arguments: [
      "[a0 a]", "print collect all [a0 a]", "print errors [a0 a]", "print report [a0 a]",
      "expect [a0 a] throws", "[a0 a: @selector(nobodyKnowsThisName:)]",
    ])
  func diamonds(statement: String) {
    let limit = bound(1 << 10, full: 1 << 15)
    let played = ScriptSession.withLimits({ $0.proxies = limit }) {
      play(Self.diamonds(60) + statement + "\nprint \"not reached\"", steps: 1000)
    }
    expect(
      played.outcome.error?.text, equals: "limit exceeded: one message visits more than \(limit) proxies and hooks")
    expect(played.error?.hasPrefix("\(Self.diamonds(60).split(separator: "\n").count + 1):") == true)
    expect(played.output.isEmpty)
  }

  @Test("a message that exceeds a limit calls no further target, even if a row catches the error")
  func nobodyFurther() {
    let text = """
      receiver R { - a { print "served" } }
      receiver Last { - a { print "last" } }
      let r = new R
      let l = new Last
      proxy last = multicast
      \(Self.diamonds(30).split(separator: "\n").dropFirst(2).joined(separator: "\n"))
      add r to a29; add r to b29; add l to last
      proxy all = multicast
      add a0 to all; add last to all
      expect [all a] throws
      print "not reached"
      """
    let played = play(text, steps: 1000)
    expect(played.outcome.error?.code, equals: .limitExceeded)
    expect(!played.output.contains("last") && !played.output.contains("not reached"))
  }

  @Test("a message is charged for a proxy each time it passes it, and a query once")
  func passages() {
    // Two of the second level, and through each of them two of the third.
    let text = Self.diamonds(3)
    func work(_ statement: String) -> Int { play(text + statement).outcome.work - play(text + "print 1").outcome.work }
    expect(work("print report [a0 a]") >= 7 * 512 && work("print report [a0 a]") < 40 * 512)
    expect(work("print a0 responds \"a\"") < 8 * 512)
    // With 26 levels, a search of all paths would pass 67 million proxies.
    let deep = play(Self.diamonds(26) + "print a0 responds \"zz\"")
    expect(deep.output == "false\n" && deep.outcome.succeeded)
  }

  @Test("a query through forwarding proxies, which cache nothing, is charged for each path")
  func askedAnew() {
    var text = "receiver R { - a = 1 }\nlet r = new R\n"
    for level in 0..<30 { text += "proxy a\(level) = multicast\n" }
    for level in 0..<29 {
      text += "proxy f\(level) = forward to a\(level + 1); proxy g\(level) = forward to a\(level + 1)\n"
      text += "add f\(level) to a\(level); add g\(level) to a\(level)\n"
    }
    expect(play(text + "print a0 responds \"zz\"", steps: 1000).outcome.error?.code, equals: .limitExceeded)
  }

  @Test("paths that are muted, canceled, dead or out of scope are not followed")
  func closedWays() {
    let text = Self.diamonds(60, modifiers: " only @[\"b\"]")
    ScriptSession.withLimits({ $0.proxies = bound(1 << 10, full: 1 << 15) }) {
      expect(play(text + "print report [a0 a]").outcome.succeeded)
      expect(play(text + "print report [a0 b]", steps: 1000).outcome.error?.code, equals: .limitExceeded)
    }
  }

  @Test("proxies that contain each other are followed on every path")
  func completeGraph() {
    var text = (0..<12).map { "proxy p\($0) = multicast\n" }.joined()
    for upper in 0..<12 {
      for lower in 0..<12 where lower != upper { text += "add p\(lower) to p\(upper)\n" }
    }
    expect(play(text + "[p0 a]", steps: 1000).outcome.error?.code, equals: .limitExceeded)
  }

  /// A thousand values, targets, names and letters.
  private static let cast = """
    receiver O { - take: x = nil
      - give = big }
    let o = new O
    proxy s = multicast strong; add o to s
    proxy p = multicast strong
    repeat 1000 { add new O to p }
    proxy n = multicast; add p to n
    queue q
    let big = @[\((0..<1000).map(String.init).joined(separator: ", "))]
    let table = @{\((0..<1000).map { "\"k\($0)\": \($0)" }.joined(separator: ", "))}
    let names = @[\(Array(repeating: "\"take:\"", count: 1000).joined(separator: ", "))]
    let text = "\(String(repeating: "x", count: 10_000))"
    let enc = "v@:\(String(repeating: "q", count: 1000))"

    """

  private static let workOfCast = play(cast + "print 1").outcome.work

  @Test(
    "work that grows with a value, a target list or a text is charged", .oneAtATime,
    arguments: [
      ("expect NOTS true", 31_900),
      ("print count p", 16_000),
      ("let list = targets p", 64_000),
      ("[p take: 1]", 256_000),
      ("[p nobodyHas]", 128_000),
      ("report [p nobodyHas]", 128_000),
      ("print p responds \"nobodyHas\"", 128_000),
      ("extension X { nobodyHas }; register p in X", 128_000),
      ("[n take: 1]", 128_000),
      ("expect big == @[1]", 0),
      ("expect big == big", 64_000),
      ("expect table == table", 64_000),
      ("[o take: big]", 128_000),
      ("[o take: table]", 128_000),
      ("print [o give]", 128_000),
      ("print collect last [s give]", 128_000),
      ("expect text == text", 80_000),
      ("print [text length]", 80_000),
      ("print [table at: text]", 80_000),
      ("print frame signature enc", 64_000),
      ("print size RECORD", 64_000),
      ("expect (signature enc) == (signature enc)", 128_000),
      ("add o to p only names", 256_000),
      ("wait", 32_000),
    ])
  func prices(statement: String, atLeast wanted: Int) {
    let statement = statement.replacing("NOTS", with: String(repeating: "not ", count: 1000))
      .replacing("RECORD", with: "\"{?=\(String(repeating: "q", count: 1000))}\"")
    let with = play(Self.cast + statement).outcome
    expect(with.error == nil)
    expect(with.work - Self.workOfCast >= wanted)
    if wanted == 0 { expect(with.work - Self.workOfCast < 10_000) }
  }

  @Test("listing the calls of a recording is charged for their texts")
  func calls() {
    let cast = "receiver R { - take: x = nil }\nlet r = new R\nproxy k = recording r\n"
    func work(_ argument: String) -> Int {
      let text = cast + "let big = \(argument)\nrepeat 100 { [k take: big] }\n"
      return play(text + "print [calls k count]").outcome.work - play(text).outcome.work
    }
    expect(work("1") > 100 * 1024)
    expect(work("\"\(String(repeating: "x", count: 10_000))\"") > 100 * 80_000)
  }

  @Test("deliveries on queues are charged, whether or not the script waits for them")
  func turns() {
    let cast = "receiver O { - a = 1 }\nqueue q\nproxy p = multicast strong\nproxy d = multicast strong\n"
    let both = cast + "repeat 100 { add new O to p on q; add new O to d }\n"
    for statement in ["[p a]; wait", "print collect all [p a]", "print report [p a]"] {
      let queued = play(both + statement).outcome
      let direct = play(both + statement.replacing("[p", with: "[d")).outcome
      expect(queued.error == nil && queued.work - direct.work >= 100 * 16_000, "\(statement)")
    }
  }

  @Test("wait is charged for the living proxies only")
  func livingProxies() {
    func work(_ rounds: Int) -> Int {
      let round = "proxy p = multicast; add o to p on q; wait"
      return play("receiver O { - a = 1 }\nlet o = new O\nqueue q\nrepeat \(rounds) { \(round) }").outcome.work
    }
    expect(work(40) - work(30), equals: work(20) - work(10))
  }

  @Test("registrations that a message skips are charged each time, however few receive it")
  func passedBy() {
    let cast = """
      receiver O { - a = 1; - b = 2 }
      let o = new O
      proxy p = multicast strong; add o to p
      proxy none = multicast
      repeat 1000 { add new O to p only @["b"] }
      add none to p only @["a"]
      queue q; proxy muted = multicast strong; repeat 1000 { add new O to muted on q as m; mute m }

      """
    for statement in ["[p a]", "print report [p a]", "print errors [p a]", "[muted a]", "print report [muted a]"] {
      func work(_ rounds: Int) -> Int {
        play(cast + "repeat \(rounds) { \(statement) }").outcome.work
      }
      expect(work(11) - work(1) >= 10 * 128_000, "\(statement)")
    }
  }

  @Test("adding and removing a target is charged for that target only")
  func patched() async {
    // In a separate process: a table change in any test rebuilds all routes.
    _ = await #expect(processExitsWith: .success) {
      let cast = """
        receiver O { - a = 1; - b = 2 }
        let o = new O
        queue q
        proxy p = multicast strong; proxy outer = multicast; proxy other = multicast; proxy unused = multicast
        repeat 1000 { add new O to p }
        add p to outer; add p to other on q

        """
      // A report waits for one delivery; `wait` searches once for each delay of the queue.
      for use in [
        "[p none]", "collect first [p a]", "p responds \"a\"", "collect first [outer a]", "print report [other none]",
      ] {
        func work(_ change: String) -> Int {
          let outcome = play(cast + "repeat 10 { \(change); \(use) }").outcome
          precondition(outcome.succeeded, use)
          return outcome.work
        }
        let (changed, same) = (work("add o to p; remove o from p"), work("add o to unused; remove o from unused"))
        precondition(changed - same < 9 * 12_700, "\(use): \(changed) after a change, \(same) without one")
      }
    }
  }

  @Test("a query is charged each time for the muted registrations that it skips")
  func muted() {
    let cast = """
      receiver O { - a = 1 }
      proxy p = multicast strong
      repeat 1000 { add new O to p as r; mute r }

      """
    func work(_ rounds: Int) -> Int {
      play(cast + "repeat \(rounds) { p responds \"a\"; unmute r; mute r }").outcome.work
    }
    expect(work(11) - work(1) >= 10 * 16_000)
  }

  @Test("a message that skips too many registrations ends the script")
  func registrationLimit() {
    let limit = bound(1_000, full: 100_000)
    let cast = "receiver O { - a = 1 }\nproxy p = multicast strong\nrepeat \(limit * 6 / 10) { add new O to p }\n"
    ScriptSession.withLimits({ $0.registrations = limit }) {
      expect(play(cast + "expect not (p responds \"b\")").outcome.succeeded)
      let played = play(cast + "[p b]\nprint \"not reached\"")
      expect(played.outcome.error?.text, equals: "limit exceeded: one message visits more than \(limit) registrations")
      expect(played.output.isEmpty)
    }
  }

  @Test("querying a registration costs more the deeper its receiver inherits, also with few targets")
  func inheritance() {
    func work(_ depth: Int, targets: Int) -> Int {
      let chain = (1..<64).map { "receiver D\($0) : \($0 > depth ? "D0" : "D\($0 - 1)") { }\n" }.joined()
      let cast = "receiver D0 { - a = 1 }\n\(chain)proxy p = multicast strong\nlet o = new D0\n"
      // Each selector is resolved once.
      let rows = (0..<100).map { "- b\($0) = 1" }.joined(separator: "; ")
      let queries = "receiver Z { \(rows) }\n" + (0..<100).map { "p responds \"b\($0)\"" }.joined(separator: "; ")
      let outcome = play(cast + "repeat \(targets) { add new D63 to p }\n" + queries).outcome
      expect(outcome.succeeded)
      return outcome.work
    }
    expect(work(63, targets: 100) - work(1, targets: 100) >= 90 * 100 * 7 * 128)
    expect(work(63, targets: 5) - work(1, targets: 5) >= 90 * 5 * 7 * 128)
  }

  @Test("a message with a proxy of too many targets as argument ends the script")
  func targetLimit() {
    let limit = bound(1_000, full: 100_000)
    let cast = "receiver O { - a = 1; - take: x = nil }\nlet o = new O\nproxy p = multicast strong\n"
    func text(_ count: Int) -> String { cast + "repeat \(count) { add new O to p }\n[o take: p]\nprint 1" }
    ScriptSession.withLimits({ $0.registrations = limit }) {
      expect(play(text(limit * 9 / 10)).output, equals: "1\n")
      let played = play(text(limit + 1))
      expect(played.outcome.error?.text, equals: "limit exceeded: a value that leads to more than \(limit) targets")
      expect(played.output.isEmpty)
    }
  }

  @Test("a single expensive step can be canceled while it runs")
  func cancelledStep() {
    let doublings = String(repeating: "let a = @[a, a]; let b = @[b, b]\n", count: 14)
    let text = "let a = @[1, 2, 3, 4]; let b = @[1, 2, 3, 4]\n\(doublings)print \"compare\"\nexpect a == b"
    let (looks, isComparing) = (Locked(0), Locked(false))
    var handlers = ScriptHandlers(output: { _ in isComparing.withLock { $0 = true } })
    handlers.isCancelled = {
      guard isComparing.withLock({ $0 }) else { return false }
      // The first call is that of the statement.
      return looks.withLock { count in
        count += 1
        return count > 1
      }
    }
    let outcome = ScriptSession(handlers: handlers).run(text)
    expect(outcome.error?.text, equals: "limit exceeded: the run was canceled")
    expect(looks.withLock { $0 }, equals: 2)
  }

  @Test("each further priority costs more than the one before")
  func priorities() {
    let cast = "receiver R { - a = 1 }\nproxy p = multicast strong\n"
    func work(_ count: Int, _ priority: (Int) -> Int) -> Int {
      play(cast + (0..<count).map { "add new R to p priority \(priority($0))\n" }.joined()).outcome.work
    }
    expect(work(500) { $0 } - work(500) { _ in 1 } >= 500 * 499 * 2)
  }

  @Test("wait is charged for the registrations that it searches for proxies")
  func waits() {
    let cast = "receiver O { - a = 1 }\nqueue q\nproxy p = multicast strong\nadd new O to p on q\n"
    func work(_ targets: Int, _ rounds: Int) -> Int {
      play(cast + "repeat \(targets) { add new O to p }\nrepeat \(rounds) { wait }").outcome.work
    }
    expect((work(1000, 11) - work(1000, 1)) - (work(1, 11) - work(1, 1)) >= 10 * 999 * 16)
  }

  @Test("each further registration of one target costs more, since all are linked")
  func duplicates() {
    let cast = "receiver R { - a = 1 }\nlet r = new R\n"
    func work(_ count: Int, _ addition: String) -> Int {
      let before = cast + "proxy p = multicast duplicates\nproxy q = multicast\n"
      return play(before + "repeat \(count) { \(addition) }").outcome.work
    }
    for addition in ["add r to p", "add r to q only @[\"a\"]"] {
      let (hundred, thousand) = (work(100, addition), work(1000, addition))
      expect(thousand > hundred * 10 + 900 * 900 * 8, "\(addition)")
    }
    expect(work(1000, "add r to q") < work(100, "add r to q") * 11)
    // The selector lists of the registrations are compared.
    let names = (0..<100).map { "\"s\($0)\"" }.joined(separator: ", ")
    let (few, many) = (work(1000, "add r to q only @[\"a\"]"), work(1000, "add r to q only @[\(names)]"))
    expect(many - few >= 1000 * 1000 / 2 * 150)
  }

  /// Registrations, and the numbers of delivered and skipped targets. Explicit types save slow
  /// inference.
  private static let mutedWays: [(registrations: String, delivered: Int, skipped: Int)] = {
    let once = "add r to p\n"
    let others: String = "repeat \(5 * many) { add new R to p as m; mute m }; add r to p; add r to p"
    let between: String = mutedRegistrations(half) + once + mutedRegistrations(half)
    let queued: String = mutedRegistrations(half, " on q") + once + mutedRegistrations(half)
    return [(others, 2, 5 * many), (between, 1, many), (mutedRegistrations(many), 0, many), (queued, 1, many)]
  }()

  @Test(
    "skipping many muted registrations takes no longer if a target is registered more than once",
    arguments: Self.mutedWays)
  func muted(registrations: String, delivered: Int, skipped: Int) {
    let played = playInTime(
      """
      receiver R { - a = 1 }
      queue q; proxy p = multicast strong duplicates; let r = new R
      \(registrations)
      repeat 20 { [p a] }
      print report [p a]
      """)
    expect(
      played.output, equals: "{\"delivered\": \(delivered), \"failed\": 0, \"queued\": 0, \"skipped\": \(skipped)}\n")
  }

  @Test(
    "texts that are not ASCII are compared by their normal form and charged for it",
    arguments: [("expect t == u", 600_000), ("print [t length]", 1_500_000), ("print @{} responds \"at:\"", 0)])
  func normalForm(statement: String, atLeast wanted: Int) {
    let cast = """
      let t = "\(String(repeating: "e\u{301}", count: 5000))"
      let u = "\(String(repeating: "\u{E9}", count: 5000))"

      """
    let (without, with) = (play(cast + "print 1").outcome, play(cast + statement).outcome)
    expect(with.succeeded)
    expect(with.work - without.work >= wanted)
  }

  @Test("nested lists reach a row complete, however deep")
  func deepLists() {
    let wrap = String(repeating: "let l = @[l]\n", count: 100)
    let played = play(
      "receiver R { - take: x = x }\nlet l = @[1, \"a\", @{\"k\": @[nil, 2.5]}]\n" + wrap
        + "expect [new R take: l] == l")
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
  }

  @Test("a very large list can be created and compared, but not sent or printed")
  func copies() {
    let cast = "receiver R { - take: x = nil; - give = big }\nlet o = new R\nlet big = @[1, 2, 3, 4]\n"
    let small = cast + String(repeating: "let big = @[big, big]\n", count: 12)
    expect(play(small + "[o take: big]").outcome.succeeded)
    let large = small + String(repeating: "let big = @[big, big]\n", count: 2)
    expect(play(large + "expect big == big").outcome.succeeded)
    for use in ["[o take: big]", "let x = [o give]", "print big", "expect [o take: big] throws"] {
      let error = play(large + use).outcome.error
      expect(error?.text, equals: "limit exceeded: a list or dictionary of over 1 MiB in a message", "\(use)")
    }
  }

  @Test("dictionaries in a long list literal take only their own values")
  func dictionariesInALine() {
    let count = bound(10_000, full: 40_000)
    let list = Array(repeating: "@{\"a\": 1}", count: count).joined(separator: ", ")
    expect(playInTime("print [@[\(list)] count]").output, equals: "\(count)\n")
  }

  @Test("a long name counts for every value that shows it")
  func longNames() {
    var text = "receiver R { - me = self }\nlet n = \"0123456789abcdef\"\n"
    text += String(repeating: "let n = [n appending: n]\n", count: 16) + "let o = new R name: n\n"
    expect(play(text + "let l = @[o, o]").outcome.succeeded)
    let many = "let l = @[\(Array(repeating: "o", count: 20).joined(separator: ", "))]"
    expect(play(text + many).outcome.error?.text, equals: "limit exceeded: a value of over 16 MiB")
  }

  @Test("the evidence of an error is short, however large the value is")
  func evidence() throws {
    let text = """
      let l = @[1]
      repeat 12 { let m = l }
      let k = @{\((0..<300).map { "\"k\($0)\": 1" }.joined(separator: ", "))}
      """
    let played = play(
      text + "\nexpect k == 1\nexpect @[k, k] == 1\nexpect @[\"\(String(repeating: "y", count: 500))\"] == 1")
    expect(played.failures.count, equals: 3)
    expect(played.failures[0], equals: "4:1 expectation failed: a dictionary of 300 keys == 1 does not hold")
    expect(played.failures.allSatisfy { $0.utf8.count < 300 })
  }

  @Test("looking up a name is charged for each open block, and for its normal form")
  func names() {
    func work(_ name: String, blocks: Int) -> Int {
      let open = String(repeating: "if true { let v = 1\n", count: blocks)
      func played(_ names: String) -> ScriptOutcome {
        play("let \(name) = 1\n\(open)let l = @[\(names)]\n" + String(repeating: "}", count: blocks)).outcome
      }
      let (with, without) = (played(Array(repeating: name, count: 1000).joined(separator: ", ")), played(""))
      expect(with.succeeded && without.succeeded)
      return with.work - without.work
    }
    expect(work("x", blocks: 60) - work("x", blocks: 0) >= 60 * 1000 * 8)
    let accented = String(repeating: "e\u{301}", count: 10)
    expect(work(accented, blocks: 0) - work("x", blocks: 0) >= 30 * 1000 * 8)
    expect(work(accented, blocks: 60) - work("x", blocks: 60) >= 60 * 30 * 1000 * 8)
  }

  @Test(
    "binding a name is charged for the name's length",
    arguments: ["add r to p as NAME", "before p \"a\" { } as NAME", "extension NAME { a }"])
  func boundNames(statement: String) {
    let text = "receiver R { - a = 1 }; let r = new R; proxy p = multicast\n"
    func work(_ name: String) -> Int {
      let outcome = play(text + statement.replacingOccurrences(of: "NAME", with: name)).outcome
      expect(outcome.succeeded, "\(outcome.error?.description ?? "")")
      return outcome.work
    }
    expect(work(String(repeating: "n", count: 1000)) - work("n") >= 1000 * 8)
  }

  @Test(
    "showing a very long text or name in an error or a trace takes no longer than showing a short one", .oneAtATime,
    arguments: [
      "expect [m q: s] throws", "expect [m r] throws", "expect [m t: s] throws", "expect [m u: s] throws",
      "expect [p q: s] throws", "expect collect all [p q: s] throws", "[m m: s]", "[p m: s]", "[n a]", "[o a]",
      "expect [o fail] throws", "[b m: s]", "expect [n zip] throws",
    ])
  func longEvidence(statement: String) {
    let text = """
      receiver R { - q: x "v@:q" { }; - r "q@:" { return s }; - t: x "v@:{P=d}" { }; - u: x "v@::" { }
        - m: x { }; - a = self; - fail throws "failed" }
      let s = "aaaaaaaa"
      \(String(repeating: "let s = [s appending: s]\n", count: 20))
      let m = new R; let n = new R name: s
      proxy p = multicast; add m to p
      proxy o = multicast; add n to o
      proxy b = multicast; add m to b; before b "m:" { }; after b "m:" { }; around b "m:" { proceed }
      repeat 400 { \(statement) }
      """
    let played = playInTime(text, traced: true)
    expect(played.outcome.succeeded, "\(played.error ?? "") \(played.failures)")
  }

  @Test("blank lines after an if are skipped at once", .oneAtATime)
  func separators() {
    let blank = String(repeating: "\n;", count: bound(40_000, full: 200_000))
    let played = play("if false { print 1 }" + blank + "else { print 2 }" + blank + "if true { }" + blank)
    expect(played.output, equals: "2\n")
  }

  @Test(
    "nested name: words are limited like brackets",
    arguments: ["new R name: ", "x responds new R name: "])
  func nestedNames(_ part: String) {
    let cast = "receiver R { }\nlet x = new R\n"
    expect(play(cast + "print " + String(repeating: "new R name: \"a\"", count: 1)).outcome.succeeded)
    expect(
      play(cast + "print " + String(repeating: part, count: 20_000) + "\"a\"").error,
      equals:
        "3:\(7 + 64 * part.count + (part.count - 8)) limit exceeded: more than 64 nested names and brackets"
    )
    let inside = String(repeating: "(", count: 60) + String(repeating: "new R name: ", count: 5) + "\"a\""
    expect(play(cast + "print " + inside).outcome.error?.code, equals: .limitExceeded)
    let many = Array(repeating: "new R name: \"a\"", count: 200).joined(separator: ", ")
    expect(play(cast + "let l = @[\(many)]").outcome.succeeded)
  }

  @Test("the number of proxies retaining proxies is limited, and that many can be released on a small stack")
  func holders() throws {
    func chain(_ count: Int, _ next: (Int) -> String) -> String {
      "receiver R { - a = 1 }\nlet r = new R\nproxy p0 = forward to r\n" + (1...count).map { next($0) + "\n" }.joined()
    }
    let kinds: [(Int) -> String] = [
      { "proxy p\($0) = forward to p\($0 - 1); drop p\($0 - 1)" },
      { "proxy p\($0) = multicast strong; add p\($0 - 1) to p\($0); drop p\($0 - 1)" },
      { "proxy p\($0) = recording p\($0 - 1); drop p\($0 - 1)" },
    ]
    for next in kinds {
      let (most, tooMany) = (chain(255, next) + "drop p255; print 1", chain(256, next))
      try onThread(stackSize: 512 << 10) {
        expect(play(most).output, equals: "1\n")
        expect(play(tooMany).outcome.error?.text, equals: "limit exceeded: more than 255 proxies that hold proxies")
      }
    }
    // Released proxies do not count.
    let gone = "receiver R { - a = 1 }\nlet r = new R\nproxy p = multicast; add r to p\n"
    expect(play(gone + "repeat 1000 { proxy f = forward to p; [f a] }").outcome.succeeded)
  }

  @Test("long chains of proxies throw an error instead of overflowing the stack", arguments: [100, 400])
  func longChains(count: Int) {
    var text = "receiver R { - a = 1 }\nlet r = new R\nproxy p0 = multicast; add r to p0\n"
    for number in 1...count { text += "proxy p\(number) = multicast; add p\(number - 1) to p\(number)\n" }
    let played = play(text + "print [p\(count) a]\nprint p\(count) responds \"a\"")
    if count == 100 {
      expect(played.output, equals: "1\ntrue\n")
    } else {
      expect(played.outcome.error?.text.hasPrefix("too many proxies") == true, "\(played.error ?? "")")
    }
    var lazies = "receiver R { - a = 1 }\nlet l0 = new R\n"
    for number in 1...count { lazies += "proxy l\(number) = lazy { l\(number - 1) }\n" }
    let asked = play(lazies + "print l\(count) responds \"a\"")
    if count == 100 {
      expect(asked.output, equals: "true\n")
    } else {
      expect(asked.outcome.error?.code, equals: .limitExceeded)
    }
  }
}

/// The numbers of muted registrations.
private let (half, many) = (bound(250, full: 1000), bound(500, full: 2000))

/// Muted registrations of one target, each for another selector.
private func mutedRegistrations(_ count: Int, _ modifiers: String = "") -> String {
  "repeat \(count) { add r to p\(modifiers) as m; mute m }\n"
}

/// Runs a script, and expects less than a minute of this thread's processor time.
private func playInTime(
  _ text: String, traced: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
) -> Played {
  func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int(time.tv_sec)
  }
  let start = now()
  var handlers = ScriptHandlers(output: { _ in })
  let longTexts = Locked(0)
  @Sendable func note(_ text: String) { if text.utf8.count > 2000 { longTexts.withLock { $0 += 1 } } }
  handlers.trace = { note($0) }
  handlers.events = { note($0.message + $0.sender + $0.receiver) }
  let outcome = traced ? ScriptSession(handlers: handlers).run(text, named: "test") : nil
  let played = outcome.map { Played(output: "", outcome: $0) } ?? play(text)
  expect(longTexts.withLock { $0 }, equals: 0, sourceLocation: sourceLocation)
  expect(now() - start < 60, sourceLocation: sourceLocation)
  return played
}
