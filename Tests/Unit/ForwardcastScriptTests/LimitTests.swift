// LimitTests.swift: the limits of scripts.

import ForwardcastScript
import Synchronization
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

@Suite("Limits")
struct LimitTests {
  @Test("64 brackets may be open, and 65 may not")
  func brackets() {
    func nested(_ depth: Int) -> String {
      "print " + String(repeating: "@[", count: depth) + String(repeating: "]", count: depth)
    }
    expect(play(nested(64)).outcome.succeeded)
    expect(play(nested(65)).error, equals: "1:135 limit exceeded: more than 64 brackets are open")
    let braces = String(repeating: "if true {", count: 65) + String(repeating: "}", count: 65)
    expect(play(braces).error?.contains("limit exceeded") == true)
  }

  @Test("a text of over 16 MiB is refused")
  func textSize() {
    expect(ScriptSession.textLimit, equals: 16 << 20)
    let limit = bound(1 << 20, full: ScriptSession.textLimit)
    ScriptSession.withLimits({ $0.text = limit }) {
      let text = "#" + String(repeating: "x", count: limit)
      expect(play(text).error, equals: "1:1 limit exceeded: the text exceeds \(limit >> 20) MiB")
      expect(play(String(text.dropLast())).outcome.succeeded)
    }
  }

  @Test("statements and sends are counted, and exceeding the limit ends the script")
  func steps() {
    let text = "receiver R { - a = 1 }\nlet r = new R\nrepeat 3 { print [r a] }"  // 3 + 3 prints + 3 sends
    expect(play(text, steps: 9).outcome.succeeded)
    expect(play(text, steps: 9).outcome.steps, equals: 9)
    expect(play(text, steps: 8).error, equals: "3:18 limit exceeded: more than 8 steps")
    let most = bound(100_000, full: ScriptSession.defaultStepLimit)
    expect(play("repeat 1000000000000 { }", steps: most).error, equals: "1:1 limit exceeded: more than \(most) steps")
    expect(play("print 1\nrepeat 9 { }", steps: 5).error, equals: "2:1 limit exceeded: more than 5 steps")
    let nested = play("repeat 9223372036854775807 { repeat 0 { } }", steps: 1000)
    expect(nested.error?.contains("limit exceeded") == true)
  }

  @Test("every target that a message reaches counts as a step")
  func deliveriesCount() {
    let played = play(
      """
      receiver R { - a = 1 }
      proxy p = multicast strong
      repeat 200 { add new R to p }
      repeat 200 { [p a] }
      """, steps: 20_000)
    expect(played.error?.contains("limit exceeded: more than 20000 steps") == true)
  }

  @Test(
    "64 sends may be in progress, and the 65th throws an error that no script can catch",
    arguments: [
      "expect [r go: 64] throws \"limit\"", "expect [r go: 64] throws", "print errors [p go: 64]",
      "print report [p go: 64]",
      "print collect all [p go: 64]", "[p go: 64]", "print errors [r go: 64]", "print report [r go: 64]",
    ])
  func sends(statement: String) {
    let cast = """
      receiver R { - go: n { if n > 0 { return [self go: [n subtract: 1]] }; return "bottom" }
        - n = 1 }
      let r = new R
      let s = new R
      proxy p = multicast
      add r to p; add s to p

      """
    expect(play(cast + "print [r go: 63]").output, equals: "bottom\n")
    let played = play(cast + statement + "\nprint \"not reached\"")
    expect(played.error?.hasSuffix("limit exceeded: more than 64 sends in progress") == true, "\(played.error ?? "")")
    expect(played.output.isEmpty)
  }

  @Test("sends beyond the depth limit end the script and are not counted by report")
  func reportedSends() {
    let played = play("receiver R { - a = report [self a] }\nlet r = new R\n[r a]\nprint \"not reached\"")
    expect(played.error?.hasSuffix("limit exceeded: more than 64 sends in progress") == true, "\(played.error ?? "")")
    expect(played.output.isEmpty)
  }

  @Test("a lazy proxy whose closure needs its own target is a proxy cycle")
  func lazyCycle() {
    let text = "receiver R { - make = [l n] }\nlet r = new R\nproxy l = lazy { [r make] }\n"
    expect(play(text + "expect [l n] throws \"proxy cycle of LazyProxy: the closure\"").failures, equals: [])
    expect(play(text + "[l n]").outcome.error?.code, equals: .proxyCycle)
  }

  private static let lazyUses = ["[lN get]", "[r take: (lN responds \"get\")]"]

  @Test(
    "a lazy proxy creates its target in the run of the message or query that needs the target",
    arguments: lazyUses + ["[mN get]", "register lN in E"])
  func lazyRun(use: String) {
    let text = """
      receiver R { - get = self; - take: x = self; - make { repeat 100 { }; expect 1 == 2; return self } }
      let r = new R
      extension E { get }
      proxy lN = lazy { [r make] }
      proxy mN = multicast; add lN to mN

      """
    let outcome = play(text + use).outcome
    expect(outcome.error == nil)
    expect(outcome.failureCount, equals: 1)
    expect(outcome.steps >= 100)
  }

  @Test("lazy proxies that need one another count as sends in progress", arguments: lazyUses)
  func lazyChain(use: String) {
    func played(_ count: Int) -> Played {
      var text = "receiver R { - get = self; - take: x = self }\nlet r = new R\n"
      text += "proxy l0 = forward to r\n"
      for number in 1...count {
        text += "proxy l\(number) = lazy { \(use.replacing("N", with: "\(number - 1)")) }\n"
      }
      return play(text + use.replacing("N", with: "\(count)"))
    }
    expect(played(25).outcome.succeeded)
    expect(played(100).outcome.error?.text, equals: "limit exceeded: more than 64 sends in progress")
  }

  @Test("a row may throw a text that looks like a limit, and a script can catch it")
  func textLikeALimit() {
    expect(play("receiver R { - a throws \"limit exceeded\" }\nexpect [new R a] throws \"limit\"").outcome.succeeded)
  }

  @Test("each run of a session starts with the full number of steps")
  func freshRun() {
    let session = ScriptSession(stepLimit: 10)
    expect(session.run("repeat 20 { print }").isParsed == false)
    expect(session.run("repeat 20 { let x = 1 }").error?.code, equals: .limitExceeded)
    expect(session.run("let x = 1").succeeded)
  }

  @Test(
    "values are limited in size and depth", .oneAtATime,
    arguments: [
      "let a = @[1]\nrepeat 200 { let a = @[a] ; print 1 }\n" + String(repeating: "let a = @[a]\n", count: 200),
      "let a = @[1]\n" + String(repeating: "let a = @[a, a]\n", count: 60),
      "let a = @{\"k\": 1}\n" + String(repeating: "let a = @{\"x\": a, \"y\": a}\n", count: 60),
      "let s = \"0123456789\"\n" + String(repeating: "let s = [s appending: s]\n", count: 60),
      "let s = @[1]\n" + String(repeating: "let s = [s adding: s]\n", count: 60),
    ].sampled(each: 2))
  func values(text: String) {
    expect(play(text).outcome.error?.code, equals: .limitExceeded)
  }

  @Test("any number of prefix words is parsed without recursion", .oneAtATime)
  func words() {
    let count = bound(10_000, full: 100_000)
    expect(play("expect " + String(repeating: "not ", count: count) + "true").outcome.succeeded)
    let queries = play("print " + String(repeating: "count ", count: count) + "1")
    expect(queries.outcome.error?.code, equals: .typeMismatch)
  }

  @Test("names that nothing responds to are not interned, and those of rows are limited", .oneAtATime)
  func interning() {
    let unknown = play(
      "receiver R { }\nproxy p = multicast\nlet r = new R\n"
        + (0..<bound(2_000, full: 20_000)).map { "[p unheard\($0)OfByAnyone: 1]\n" }.joined())
    expect(unknown.outcome.succeeded)
    let limit = bound(1_000, full: 10_000)
    let known = ScriptSession.withLimits({ $0.names = limit }) {
      play((0...limit).map { "receiver R\($0) { - heardOf\($0)ByLimitTests = 1 }\n" }.joined())
    }
    expect(known.outcome.error?.text, equals: "limit exceeded: more than \(limit) selectors")
  }

  @Test("the deepest allowed script fits a stack of one mebibyte")
  func smallStack() throws {
    let open = String(repeating: "(", count: 27) + String(repeating: "@[", count: 29)
    let close = String(repeating: "]", count: 29) + String(repeating: ")", count: 27)
    let text = """
      receiver R { - go: n { if n > 0 { if true { if true { return [\(open)[p go: [n subtract: 1]]\(close) count] } } }; return 0 } }
      let r = new R
      proxy p = multicast
      add r to p
      print [p go: 63]
      """
    let result = Mutex<Played?>(nil)
    // Unoptimized code uses about four times as much stack.
    try onThread(stackSize: _isDebugAssertConfiguration() ? 4 << 20 : 1 << 20) {
      let played = play(text)
      result.withLock { $0 = played }
    }
    let played = try #require(result.withLock { $0 })
    expect(played.error == nil)
    expect(played.output, equals: "1\n")
  }

  @Test("a script that nests too deep for its thread's stack ends with an error", arguments: ["(", "if true { "])
  func smallStackForBrackets(open: String) throws {
    let close = open == "(" ? ")" : "}"
    let text = String(repeating: open, count: 63) + "1" + String(repeating: close, count: 63)
    let result = Mutex<Played?>(nil)
    try onThread(stackSize: 160 << 10) {
      let played = play(text)
      result.withLock { $0 = played }
    }
    let error = try #require(result.withLock { $0 }).error
    // Optimized code uses about a quarter of the stack, and may have enough.
    expect(error.map { $0.contains("limit exceeded: the nesting is too deep") } ?? !_isDebugAssertConfiguration())
  }
}

/// Runs `body` on a thread with a stack of the given size in bytes, and waits for it.
///
/// Allocates the stack between two inaccessible pages, since the system reuses stacks of ended
/// threads, even larger ones.
func onThread(stackSize: Int, _ body: @escaping @Sendable () -> Void) throws {
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  let page = Int(sysconf(Int32(_SC_PAGESIZE)))
  let mapped = mmap(nil, stackSize + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
  let memory = try #require(mapped != MAP_FAILED ? mapped : nil)
  defer { munmap(memory, stackSize + 2 * page) }
  try #require(mprotect(memory + page, stackSize, PROT_READ | PROT_WRITE) == 0)
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  try #require(pthread_attr_setstack(&attributes, memory + page, stackSize) == 0)
  let work = Unmanaged.passRetained(Work(body)).toOpaque()
  #if canImport(Darwin)
    var thread: pthread_t?
    let status = pthread_create(
      &thread, &attributes,
      {
        Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body(); return nil
      }, work)
    try #require(status == 0)
    pthread_join(try #require(thread), nil)
  #else
    var thread = pthread_t()
    let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { work in
      if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
      return nil
    }
    try #require(pthread_create(&thread, &attributes, start, work) == 0)
    pthread_join(thread, nil)
  #endif
}
