// QueueTests.swift: queues, waiting, and errors that nobody awaits.

import Dispatch
import Forwardcast
import TestSupport
import Testing

@testable import ForwardcastScript

/// A receiver of the host that is not Sendable.
private final class Ledger: MessageReceiver {
  static let selectorTable = SelectorTable(for: Ledger.self) {
    Responds(to: Message<() -> Int>("entries")) { (_: Ledger) in 7 }
  }
}

/// A Sendable receiver of the host.
private final class Clock: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Clock.self) {
    Responds(to: Message<() -> Int>("hour")) { (_: Clock) in 11 }
    Responds(to: Message<() -> Int>("alarm")) { (_: Clock) async in 12 }
  }
}

/// A Sendable receiver that runs a text in a session of its own. Returns the output and the outcome.
private final class Nest: MessageReceiver, Sendable {
  static let selectorTable = SelectorTable(for: Nest.self) {
    Responds(to: Message<(String) -> String>("run:")) { (_: Nest, text: String) in
      let transcript = Transcript()
      let session = ScriptSession(handlers: transcript.handlers)
      session.register(Ledger(), as: "ledger")
      let outcome = session.run(text)
      return "\(transcript.output)\(outcome)"
    }
  }
}

@Suite("Queues")
struct QueueTests {
  private static let cast = """
    receiver Log {
      - note: n "v@:q" { print name n }
      - n = 3 - fail { throw "burnt" } - hold { wait } - yes = true
      - ask: p { return collect sum [p n] }
      - tell: p { [p n]; return 1 }
      - stop: r { cancel r } - drop: t from: p { remove t from p } - quiet: r { mute r }
    }
    let a = new Log
    let b = new Log
    queue q
    queue r
    proxy p = multicast

    """

  @Test("a queued target receives its messages in order, and the end of a script waits for them")
  func order() {
    let sends = (1...200).map { "[p note: \($0)]\n" }.joined()
    let played = play(Self.cast + "add a to p on q\n" + sends)
    expect(played.outcome.succeeded)
    expect(played.output, equals: (1...200).map { "a \($0)\n" }.joined())
  }

  @Test("wait returns once all queued rows have run, including those queued meanwhile")
  func waits() {
    let text = """
      receiver Relay { - go: n { if n > 0 { [next go: [n subtract: 1]] } else { print "through" } } }
      let one = new Relay; let two = new Relay
      proxy next = multicast
      add one to next on q; add two to next on r
      [next go: 5]
      wait
      print "after"
      """
    let played = play(Self.cast + text)
    expect(played.outcome.succeeded)
    expect(played.output, equals: String(repeating: "through\n", count: 64) + "after\n")
  }

  private static let answers: [(String, ScriptValue)] = [
    ("[p n]", ScriptValue.null), ("collect all [p n]", [3, 3]), ("collect sum [p n]", 6), ("collect last [p n]", 3),
    ("collect first [p n]", 3), ("collect any [p yes]", true), ("collect every [p yes]", true),
    ("errors [p fail]", ["burnt", "burnt"]),
    ("report [p n]", ["delivered": 1, "queued": 1, "failed": 0, "skipped": 0]),
    ("report [p fail]", ["delivered": 0, "queued": 0, "failed": 2, "skipped": 0]),
  ]

  @Test("queries wait for queued targets", arguments: answers)
  func queries(expression: String, wanted: ScriptValue) throws {
    try expect(value(expression, after: Self.cast + "add a to p\nadd b to p on q"), equals: wanted)
  }

  @Test(
    "queries wait for the queued targets of nested proxies", arguments: answers,
    ["add near to p", "proxy f = forward to near; add f to p", "proxy l = lazy { near }; add l to p"])
  func nestedQueries(query: (String, ScriptValue), link: String) throws {
    let text = Self.cast + "proxy near = multicast; add b to near on q; add a to p; \(link)"
    try expect(value(query.0, after: text), equals: query.1)
  }

  @Test("queries over an extension point wait for the queued targets of its observers", arguments: answers)
  func pointQueries(query: (String, ScriptValue)) throws {
    let near = "proxy near = multicast; add b to near on q; "
    let text = Self.cast + near + "extension E { n yes fail }; register a in E; register near in E"
    try expect(value(query.0.replacing("[p ", with: "[E "), after: text), equals: query.1)
  }

  @Test("a send returns the last answer of the direct targets")
  func lastIsDirect() throws {
    try expect(value("[p n]", after: Self.cast + "add a to p on q\nadd b to p"), equals: 3)
  }

  @Test(
    "waiting for the current queue is an error",
    arguments: [
      "errors [p hold]", "errors [p ask: p]", "errors [p2 ask: p]", "errors [chain ask: p]", "errors [chain ask: far]",
    ])
  func deadlock(expression: String) throws {
    let text =
      Self.cast + """
        add a to p on q
        proxy p2 = multicast
        add b to p2 on q
        receiver Bridge { - n = 1 - ask: p { return collect all [back ask: p] } }
        let bridge = new Bridge
        proxy chain = multicast
        proxy back = multicast
        add bridge to chain on q
        add b to back on r
        proxy near = forward to chain
        proxy far = multicast
        add near to far
        """
    guard case .list(let texts) = try value(expression, after: text), case .string(let text)? = texts.first else {
      Issue.record("no list of texts")
      return
    }
    expect(texts.count, equals: 1)
    expect(text.hasPrefix("would deadlock"))
  }

  @Test("two queues whose rows wait for each other end with errors instead of hanging")
  func ring() {
    let text = """
      proxy p2 = multicast
      add a to p on q; add b to p2 on r
      repeat 50 { [p ask: p2]; [p2 ask: p] }
      """
    let played = play(Self.cast + text)
    expect(played.outcome.error == nil)
  }

  @Test("an error that nobody awaits is reported where it was thrown, and fails the run")
  func unawaited() {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.handlers)
    let outcome = session.run(Self.cast + "add a to p on q\n[p fail]\nwait\nprint \"on\"", named: "test")
    expect(outcome.error == nil)
    expect(!outcome.succeeded)
    expect(outcome.unawaitedErrorCount, equals: 1)
    expect(outcome.failureCount, equals: 0)
    expect(transcript.failures.map { "\($0.position.line) \($0.text)" }, equals: ["3 burnt"])
    expect(transcript.output, equals: "on\n")
    expect(session.run("print errors [p fail]").succeeded)
  }

  @Test(
    "errors of a row's own messages are reported whether or not a collect called the row",
    arguments: ["", "collect all "])
  func unawaitedInCollect(query: String) {
    let transcript = Transcript()
    let text = """
      receiver A { - foo throws "a" }; receiver B { - foo throws "b" }
      receiver R { - go { expect [f foo] throws "a"; return 1 } }
      let a = new A; let b = new B; let r = new R
      proxy p = multicast; proxy f = forward to p; proxy members = multicast
      add a to p; add b to p; add r to members

      """
    let outcome = ScriptSession(handlers: transcript.handlers).run(text + query + "[members go]", named: "test")
    expect(outcome.error == nil && outcome.unawaitedErrorCount == 1, "\(outcome)")
    expect(transcript.failures.map(\.text), equals: ["b"])
  }

  @Test("an error on a queue is reported at the statement that sent its message, for each of many messages")
  func places() {
    let cast = """
      receiver Text { - go: n "v@:@" { } }
      receiver Number { - go: n "v@:q" { } }
      let t = new Text
      let n = new Number
      queue q
      proxy p = multicast
      add t to p; add n to p on q

      """
    let transcript = Transcript()
    let sends = "[p go: \"a\"]\n[p go: 1]\n[p go: nil]; [p go: 2]\nrepeat 2 {\n  [p go: 0.5] }\n[p go: 3]\n"
    let outcome = ScriptSession(handlers: transcript.handlers).run(cast + sends, named: "test")
    expect(outcome.error == nil && outcome.unawaitedErrorCount == 4)
    let places = transcript.failures.map { "\($0.position.line):\($0.position.column)" }
    expect(places, equals: ["8:1", "10:1", "12:3", "12:3"])
    expect(transcript.failures.allSatisfy { $0.text.hasPrefix("type mismatch in 'go:' of Number: argument 0") })
  }

  @Test("arguments that do not fit are refused before anything is queued")
  func mismatch() {
    let played = play(Self.cast + "add a to p on q\nexpect [p note: \"text\"] throws \"type mismatch\"\nprint \"end\"")
    expect(played.outcome.succeeded)
    expect(played.output, equals: "end\n")
  }

  @Test(
    "a removed, canceled or muted registration receives no queued messages",
    arguments: ["[p stop: place]", "[p drop: b from: p]", "[p quiet: place]"])
  func removed(statement: String) {
    let text = "add a to p on q\nadd b to p on q only @[\"note:\"] as place\nmute place\nunmute place\n"
    let played = play(Self.cast + text + statement + "; [p note: 1]\nwait\n[p note: 2]")
    expect(played.outcome.succeeded)
    expect(played.output, equals: "a 1\na 2\n")
  }

  @Test("adding a target again on the same queue changes nothing, and on another queue adds a registration")
  func twice() throws {
    let text = Self.cast + "add a to p on q\nadd a to p on q\n"
    try expect(value("count p", after: text), equals: 1)
    try expect(value("count p", after: text + "add a to p on r\n"), equals: 2)
  }

  @Test(
    "an operand that is not a queue is refused",
    arguments: [("add a to p on a", "17:"), ("add a to p on 3", "17:"), ("add 3 to p on q", "17:"), ("[q n]", "17:")])
  func refused(statement: String, place: String) {
    let played = play(Self.cast + statement)
    expect(played.outcome.error != nil)
    expect(played.error?.contains("type mismatch") == true || played.error?.contains("unrecognized") == true)
  }

  @Test("exceeding a limit on a queue ends the script and is reported once")
  func limits() {
    let text = "receiver Spin { - go { repeat 100000 { let x = 1 } } }\nlet s = new Spin\nadd s to p on q\n"
    for statement in ["[p go]", "print errors [p go]", "print report [p go]", "expect [p go] throws \"limit\""] {
      let played = play(Self.cast + text + statement + "\nwait\nwait", steps: 1000)
      expect(played.outcome.error?.code, equals: .limitExceeded)
      expect(played.outcome.unawaitedErrorCount, equals: 0)
      expect(played.output.isEmpty)
    }
    let many = play((0...1000).map { "queue q\($0)\n" }.joined())
    expect(many.outcome.error?.code, equals: .limitExceeded)
  }

  @Test("after a run has ended, its messages are charged to it on queues only")
  func chargesOfAnEndedRun() throws {
    let world = World(handlers: ScriptHandlers(), stepLimit: 1000)
    let (run, isOn) = (Run(world), Locked<(@Sendable (() -> Void) -> Void)?>(nil))
    let queue = ScriptQueue("q", world) { _, within in
      isOn.withLock { $0 = within }
      return .direct
    }
    let (budget, onQueue) = (
      run.budget(at: 0, of: SourceText("", name: "queue")), try #require(isOn.withLock { $0 })
    )
    run.end()
    try budget.charge(.queued)
    expect(run.workDone, equals: 0)
    onQueue { try? budget.charge(.queued) }
    expect(run.workDone > 0)
    onQueue {
      #expect(throws: ScriptError.self) { try budget.charge(.queued, .max / 1_000_000) }
      #expect(throws: ScriptError.self) { try budget.charge(.target) }
    }
    withExtendedLifetime(queue) {}
  }

  @Test("the trace names the queue on which a row ran")
  func trace() {
    let transcript = Transcript()
    ScriptSession(handlers: transcript.tracingHandlers).run(Self.cast + "add a to p on q\nadd b to p\nreport [p n]")
    expect(transcript.trace.contains { $0.contains("<Log a> gets n, queue q") })
    expect(transcript.trace.contains { $0.contains("<Log b> gets n, directly") })
  }

  @Test("a host's receiver can be used on a queue only if it is Sendable")
  func hosts() {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.handlers)
    session.register(Ledger(), as: "ledger")
    session.register(Clock(), as: "clock")
    let user = "receiver User { - hour = [clock hour] - entries = [ledger entries] - all = [mixed entries] }"
    session.run(Self.cast + user)
    session.run("let u = new User; proxy users = multicast; add u to users on q")
    session.run("proxy mixed = multicast; add ledger to mixed")
    expect(session.run("collect all [users hour]").value, equals: [11])
    expect(session.run("add clock to p on q").succeeded)
    expect(session.run("collect all [p hour]").value, equals: [11])
    expect(session.run("[ledger entries]").value, equals: 7)
    expect(session.run("[mixed entries]").value, equals: 7)
    session.run("add a to p on q")
    for text in [
      "add ledger to p on q", "collect all [users entries]", "collect all [users all]", "[p ask: @[ledger]]",
      "[p ask: @{\"it\": ledger}]",
    ] {
      expect(session.run(text).error?.text.hasPrefix("isolation mismatch") == true, "\(text)")
    }
    // A proxy used on a queue accepts no target that cannot be, however deeply nested.
    session.run("proxy inner = multicast; proxy outer = multicast; add inner to outer; proxy lazy = lazy { new User }")
    expect(session.run("add outer to p on q").succeeded)
    for text in ["add ledger to inner", "add lazy to inner", "add mixed to outer"] {
      expect(session.run(text).error?.text.hasPrefix("isolation mismatch") == true, "\(text)")
    }
    expect(session.run("add clock to inner; collect all [p hour]").succeeded)
  }

  @Test("a script calls an async method through a queue, and cannot call it directly")
  func asyncMethods() async {
    let results = Locked<(error: String?, value: ScriptValue)>((nil, .null))
    // Blocks a thread of its own, since the method needs one of the pool.
    await onThread {
      let session = ScriptSession()
      session.register(Clock(), as: "clock")
      session.run("queue q; proxy p = multicast; add clock to p on q")
      let direct = session.run("[clock alarm]").error?.text
      let queued = session.run("collect all [p alarm]").value
      results.withLock { $0 = (direct, queued) }
    }
    let (error, value) = results.withLock { $0 }
    expect(error?.hasPrefix("isolation mismatch in 'alarm' of Clock") == true)
    expect(value, equals: [12])
  }

  @Test("a host's Sendable proxy can be used on a queue with the targets the host added, and accepts no others")
  func hostProxies() {
    let session = ScriptSession(handlers: Transcript().handlers)
    let (line, clock) = (MulticastProxy<any MessageReceiver & Sendable>(), Clock())
    defer { withExtendedLifetime(clock) {} }
    line.add(clock)
    session.register(line, as: "line")
    session.register(Ledger(), as: "ledger")
    session.run(Self.cast + "proxy mixed = multicast; add ledger to mixed; proxy own = multicast; add b to own")
    let refused = session.run("add a to line on q").error?.text
    expect(refused, equals: "type mismatch: targets on a queue can be added only to proxies that the script created")
    // The host may be using the proxy on another thread.
    for text in ["add ledger to line", "add mixed to line"] {
      expect(session.run(text).error?.text.hasPrefix("isolation mismatch") == true, "\(text)")
    }
    expect(session.run("add line to p on q; collect all [p hour]").value, equals: [11])
    expect(session.run("add own to line; collect sum [p n]").value, equals: 3)
    expect(session.run("add ledger to own").error?.text.hasPrefix("isolation mismatch") == true)
    expect(line.count, equals: 2)
  }

  @Test("a row or hook that a host calls on another thread cannot use a receiver that is not Sendable")
  func threadsOfTheHost() {
    let (shared, own) = (MulticastProxy<any MessageReceiver & Sendable>(), MulticastProxy<any MessageReceiver>())
    /// The answer of a proxy's last target, or the first error.
    @Sendable func outcome(_ selector: MessageSelector) -> String {
      var call = Invocation(selector)
      do {
        if let failure = try shared.forward(&call).failures.first { throw failure.error }
        return call.result.map { "\($0.value)" } ?? "no answer"
      } catch {
        return ScriptError(error).text
      }
    }
    let outcomes = Locked<[String]>([])
    let isOver = Locked(true)
    let note: @Sendable (Int) -> Void = { _ in
      outcomes.withLock { $0 += [outcome("entries"), outcome("hooked"), outcome("deep")] }
    }
    let handlers = ScriptHandlers(output: { text in
      if text == "there\n" { isOver.withLock { $0 = onThreads(1, note) } } else { note(0) }
    })
    let session = ScriptSession(handlers: handlers)
    defer { withExtendedLifetime(session) {} }
    session.register(shared, as: "shared")
    session.register(own, as: "own")
    session.register(Ledger(), as: "ledger")
    let text = """
      receiver R { - entries = [ledger entries] - hooked = 1 - deep = [self entries] }
      let r = new R; let o = new R; proxy inner = multicast; proxy f = forward to r
      add f to inner; add inner to shared; add o to own
      before shared "hooked" { let n = [ledger entries] }
      @[[shared entries] [shared hooked] [shared deep] [own entries]]
      """
    expect(session.run(text.replacing("] [", with: "], [")).value, equals: [7, 1, 7, 7])
    // The thread of a run is in the isolation of the session, and another thread is not.
    expect(session.run("print \"here\"").succeeded)
    expect(outcomes.withLock { exchange(&$0, with: []) }, equals: ["7", "1", "7"])
    expect(session.run("print \"there\"").succeeded)
    let refused = "isolation mismatch: <Ledger ledger> is not Sendable and may not be used on another thread"
    expect(outcomes.withLock { exchange(&$0, with: []) }, equals: [refused, refused, refused])
    // Outside of a run, the host may call a Sendable proxy on any thread, and others only in the isolation.
    expect(onThreads(1, note) && isOver.withLock { $0 })
    expect(outcomes.withLock { $0 }, equals: [refused, refused, refused])
    var call = Invocation("entries")
    expect((try? own.forward(&call))?.failures.isEmpty == true && call.result?.value as? Int == 7)
  }

  @Test(
    "a task that a host's method starts is no part of a run that has ended",
    arguments: ["in a run", "in a run that exceeds a limit", "in a call of the host"])
  func tasksOfTheHost(start: String) async throws {
    nonisolated(unsafe) let own = MulticastProxy<any MessageReceiver>()
    nonisolated(unsafe) let session = ScriptSession(stepLimit: 500, handlers: Transcript().handlers)
    defer { withExtendedLifetime(session) {} }
    let (isOver, end) = AsyncStream<Void>.makeStream()
    let task = Locked<Task<String, Never>?>(nil)
    let host = BareReceiver {
      Responds(to: "start") { (_: BareReceiver) in
        task.withLock {
          $0 = Task {
            for await _ in isOver {}
            var call = Invocation("entries")
            // The nested proxy is queried.
            guard own.responds(to: "entries") else { return "does not respond" }
            let report = try? own.forward(&call)
            return report?.failures.first.map { "\($0.error)" } ?? call.result.map { "\($0.value)" } ?? "none"
          }
        }
      }
    }
    let hasEnded = onThreads(1) { _ in
      session.register(own, as: "own")
      session.register(host, as: "host")
      session.register(Ledger(), as: "ledger")
      session.run(
        "receiver R { - entries = [ledger entries] - start = [host start] }; let r = new R; "
          + "proxy m = multicast; add r to m; add m to own")
      switch start {
      case "in a run": session.run("[r start]")
      case "in a run that exceeds a limit": session.run("[r start]; repeat 1000 { print 1 }")
      default: own.broadcast(Message<() -> Void>("start"))
      }
    }
    expect(hasEnded)
    end.finish()
    let answer = try await #require(task.withLock { $0 }).value
    expect(answer, equals: "7")
  }

  @Test(
    "waits in rows of two sessions for each other's queues end with an error instead of hanging",
    arguments: ["", "cancel place; ", "drop p; "])
  func ringOfSessions(before: String) {
    let shared = [0, 1].map { _ in MulticastProxy<any MessageReceiver & Sendable>() }
    let arrived = [Latch(), Latch()]
    let outcomes = Locked<[String]>([])
    let hasEnded = onThreads(2) { number in
      let session = ScriptSession(handlers: Transcript().handlers)
      session.register(shared[number], as: "own")
      session.register(shared[1 - number], as: "other")
      session.register(
        BareReceiver {
          Responds(to: "meet") { (_: BareReceiver) in
            arrived[number].open()
            arrived[1 - number].pass()
          }
        }, as: "host")
      let outcome = session.run(
        """
        receiver R { - hold { wait; return "waited" } - go { \(before)[host meet]; return [other hold] } }
        let r = new R; queue q; proxy p = multicast; add r to p on q as place; add r to own
        errors [p go]
        """)
      outcomes.withLock { $0.append("\(outcome)") }
    }
    expect(hasEnded)
    expect(outcomes.withLock { $0 }.contains { $0.contains("would deadlock") }, "\(outcomes.withLock { $0 })")
  }

  @Test("a target that is refused does not confine the proxy to the session")
  func refusedTarget() {
    let session = ScriptSession(handlers: Transcript().handlers)
    session.register(Ledger(), as: "ledger")
    session.run(Self.cast + "extension E { n }")
    expect(session.run("add ledger to p on q").error?.text.hasPrefix("isolation mismatch") == true)
    expect(session.run("add ledger to E").error?.code, equals: .typeMismatch)
    let text = "proxy outer = multicast; add b to p; register b in E; add p to outer on q; add E to outer on q"
    expect(session.run(text + "; collect sum [outer n]").value, equals: 6)
  }

  @Test("an optional or a list of Sendable values of the host's types can be sent to a queue")
  func partsOfSendable() {
    struct Day: Sendable { let number: Int }
    final class Mark {}
    let session = ScriptSession(handlers: Transcript().handlers)
    session.register(
      BareReceiver {
        Responds(to: "day") { (_: BareReceiver) in Day(number: 1) }
        Responds(to: "lastDay") { (_: BareReceiver) -> Day? in Day(number: 2) }
        Responds(to: "days") { (_: BareReceiver) -> [Day?] in [Day(number: 3), nil] }
        Responds(to: "daysByName") { (_: BareReceiver) -> [String: Day] in ["x": Day(number: 4)] }
        Responds(to: "marks") { (_: BareReceiver) in [Mark()] }
      }, as: "host")
    session.run(Self.cast + "receiver Keeper { - keep: x { return 1 } }; let k = new Keeper; add k to p on q")
    for text in ["day", "lastDay", "days", "daysByName"] {
      expect(session.run("collect sum [p keep: [host \(text)]]").value, equals: 1, "\(text)")
    }
    expect(session.run("collect sum [p keep: [host marks]]").error?.text.hasPrefix("isolation mismatch") == true)
  }

  @Test("a session that runs during another session's queued or service row has queues and receivers of its own")
  func nestedSessions() {
    let session = ScriptSession(handlers: Transcript().handlers)
    session.register(Nest(), as: "nest")
    session.set(.string(Self.cast + "add a to p on q; [p note: 1]; wait; [p note: 2]; [ledger entries]"), as: "text")
    session.run(Self.cast + "add nest to p on q; receiver S { - serviceDidInit { expect [nest run: text] == direct } }")
    session.run("let direct = [nest run: text]")
    expect(session.value(of: "direct"), equals: "a 1\na 2\n7")
    expect(session.run("expect collect first [p run: text] == direct; let s = service S").succeeded)
    // Its own queue and its own service still may not wait.
    session.set(.string("receiver W { - serviceDidInit { wait } }; service W"), as: "text")
    expect(session.run("let found = [nest run: text]").succeeded)
    guard case .string(let found)? = session.value(of: "found") else {
      Issue.record("no text")
      return
    }
    expect(found.contains("would deadlock"), "\(found)")
  }

  @Test("a row on a queue cannot return a value that is not Sendable")
  func answersOfQueues() {
    let session = ScriptSession(handlers: Transcript().handlers)
    session.register(
      BareReceiver { Responds(to: "make") { (_: BareReceiver) in Ledger() } }, as: "maker")
    session.run(Self.cast + "receiver User { - make = [maker make] - entries = [[maker make] entries] }")
    session.run("let u = new User; proxy users = multicast; add u to users on q")
    let error = session.run("collect all [users make]").error
    expect(error?.text, equals: "isolation mismatch: <Ledger> is not Sendable and may not leave its queue")
    expect(session.run("collect all [users entries]").value, equals: [7])
  }
}
