// SessionTests.swift: a host's objects, values and errors.

import Dispatch
import Forwardcast
import ForwardcastScript
import TestSupport
import Testing

private final class Cart: MessageReceiver {
  var items: [(name: String, price: Double)] = []
  var tags: [Int] = []

  static let selectorTable = SelectorTable(for: Cart.self) {
    Responds(to: "add:price:") { (cart: Cart, name: String, price: Double) in cart.items.append((name, price)) }
    Responds(to: "total") { (cart: Cart) in cart.items.reduce(0) { $0 + $1.price } }
    Responds(to: "names") { (cart: Cart) in cart.items.map(\.name) }
    Responds(to: "first") { (cart: Cart) -> String? in cart.items.first?.name }
    Responds(to: "tag:") { (cart: Cart, tags: [Int]) in cart.tags = tags }
    Responds(to: "small") { (_: Cart) -> UInt8 in 200 }
    Responds(to: "huge") { (_: Cart) -> UInt64 in .max }
    Responds(to: "me") { (cart: Cart) in cart }
    Responds(to: "raw") { (_: Cart) in Money(cents: 5) }
    Responds(to: "cents:") { (_: Cart, money: Money) in money.cents }
    Responds(to: "table") { (_: Cart) in ["a": 1, "b": 2] }
    Responds(to: "burn") { (_: Cart) throws -> Int in throw Burnt() }
  }

  struct Burnt: Error, CustomStringConvertible { var description: String { "the cart burns" } }
  struct Money { let cents: Int }
}

/// Returns its arguments, and values of types that scripts do not have.
private final class Shelf: MessageReceiver {
  static let selectorTable = SelectorTable(for: Shelf.self) {
    Responds(to: "same:") { (_: Shelf, value: Any) in value }
    Responds(to: "halves:") { (_: Shelf, numbers: [Double]) in numbers.map { $0 / 2 } }
    Responds(to: "flags") { (_: Shelf) in [true, false] }
    Responds(to: "floats") { (_: Shelf) -> [Float] in [0.5, 2] }
    Responds(to: "part") { (_: Shelf) in "a part".dropFirst(2) }
    Responds(to: "letter") { (_: Shelf) -> Character in "é" }
    Responds(to: "hashed") { (_: Shelf) -> [AnyHashable] in [3, "x", true, 0.5] }
    Responds(to: "wrapped") { (_: Shelf) -> Int?? in .some(.some(5)) }
    Responds(to: "own") { (_: Shelf) -> [Any] in [ScriptValue.list([1, nil])] }
    Responds(to: "unbox") { (_: Shelf) throws in try ArgumentBox("x").unbox(as: Int.self) }
    Responds(to: "foreign") { (_: Shelf) in Cart.Money(cents: 5) }
  }
}

/// Used by one test only, so that its table is new.
private final class Sleeper: MessageReceiver {
  static let selectorTable = SelectorTable(for: Sleeper.self) {
    Responds(to: "heardOfOnlyBySleepers") { (_: Sleeper) in 1 }
  }

  static func resolveMethod(for selector: MessageSelector) -> Bool {
    guard selector.name == "resolvedOnlyBySleepers" else { return false }
    return (try? selectorTable.add(Responds(to: selector) { (_: Sleeper) in 2 })) != nil
  }
}

private protocol Pages: AnyObject {}

private final class Page: Pages, MessageReceiver {
  let price: Int
  init(price: Int) { self.price = price }
  static let selectorTable = SelectorTable(for: Page.self) { Responds(to: "price") { (page: Page) in page.price } }
}

/// Answers every message with its name.
private final class Echo: MessageForwarding {
  static let selectorTable = SelectorTable(for: Echo.self, rows: [Responds<Echo>]())
  func responds(to selector: MessageSelector) -> Bool { true }
  func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    try? MethodSignature("@@:" + String(repeating: "@", count: selector.numberOfArguments))
  }
  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    invocation.result = ArgumentBox(invocation.selector.name)
    return DeliveryReport()
  }
}

@Suite("Sessions")
struct SessionTests {
  @Test("a script drives a live object")
  func liveObject() throws {
    let cart = Cart()
    let session = ScriptSession()
    session.register(cart, as: "cart")
    let outcome = session.run(
      """
      [cart add: "tea" price: 3]
      [cart add: "cake" price: 2.5]
      [cart tag: @[1, 2]]
      expect [cart total] == 5.5
      expect [cart names] == @["tea", "cake"]
      expect [cart first] == "tea"
      expect [cart small] == 200
      expect [cart table] == @{"a": 1, "b": 2}
      expect [cart me] == cart
      expect [cart cents: [cart raw]] == 5
      expect [cart huge] throws "type mismatch"
      expect [cart burn] throws "the cart burns"
      expect [cart add: 1 price: 2] throws "type mismatch in 'add:price:' of Cart: argument 0"
      expect [cart wash] throws "unrecognized selector 'wash' of Cart"
      [cart total]
      """)
    expect(outcome.failures.map(\.text), equals: [])
    expect(outcome.error == nil)
    expect(outcome.value, equals: 5.5)
    expect(cart.items.count, equals: 2)
    expect(cart.tags, equals: [1, 2])
  }

  @Test("every kind of value can be passed to a host's object and back")
  func valuesAndBack() {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.handlers)
    session.register(Shelf(), as: "shelf")
    let outcome = session.run(
      """
      receiver R { - hear: x { return } }
      let r = new R; let s = signature "v@:q"; queue q; proxy p = multicast
      add r to p as place
      before p @selector(hear:) { } as hook
      expect [r hear: 1] == nil
      expect [shelf same: s] == s
      expect [shelf same: q] == q
      expect [shelf same: place] == place
      expect [shelf same: hook] == hook
      expect [shelf same: @selector(knownToNobodyAtAll:)] == @selector(knownToNobodyAtAll:)
      expect [shelf same: @[@selector(hear:), nil]] == @[@selector(hear:), nil]
      expect [shelf same: @[true, false]] == @[true, false]
      expect [shelf same: @[0.5, 1.5]] == @[0.5, 1.5]
      expect [shelf same: @[0.5, 1]] == @[0.5, 1]
      expect [shelf halves: @[0.5, 1.5]] == @[0.25, 0.75]
      expect [shelf flags] == @[true, false]
      expect [shelf floats] == @[0.5, 2]
      expect [shelf part] == "part"
      expect [shelf letter] == "é"
      expect [shelf hashed] == @[3, "x", true, 0.5]
      expect [shelf wrapped] == 5
      expect [shelf own] == @[@[1, nil]]
      expect [shelf same: [shelf foreign]] != [shelf foreign]
      expect [shelf unbox] throws "type mismatch: wanted Int, found String"
      expect q != place
      print s q place hook @[[shelf foreign]]
      """)
    expect(outcome.failures.map(\.text), equals: [])
    expect(outcome.error == nil, "\(outcome)")
    expect(transcript.output.hasPrefix("v@:q <queue q> <registration> <hook> [Money("), "\(transcript.output)")
    for (name, kind) in [
      ("s", "a signature"), ("q", "a queue"), ("place", "a registration"), ("hook", "a hook"), ("@{}", "a dictionary"),
      ("@selector(a:)", "a selector"), ("[shelf foreign]", "a value of type Money"),
    ] {
      let error = session.run("if \(name) { }").error
      expect(error?.text, equals: "type mismatch: a condition needs a Bool, not \(kind)")
    }
  }

  @Test("equal values of every kind have equal hashes")
  func hashes() throws {
    let session = ScriptSession()
    session.run(
      "receiver R { }; let r = new R; let s = signature \"v@:q\"; queue q; proxy p = multicast; add r to p as place")
    let names = try ["r", "s", "q", "place"].map { try #require(session.value(of: $0)) }
    let selector = ScriptValue.selector(try ScriptSelector("a:"))
    let values: [ScriptValue] = [nil, true, 1, 1.5, "x", [1, 2], ["a": 1], selector] + names
    expect(Set(values).count, equals: values.count)
    expect(Set(values + values).count, equals: values.count)
    expect(Set<ScriptValue>([1, 1.0, [2], [2.0], ["a": 3], ["a": 3.0]]).count, equals: 3)
    let twice: ScriptValue = ["a": 1, "a": 2]
    expect(twice == ["a": 2] && selector.description == "a:")
  }

  @Test("an outcome prints its errors, or its value")
  func outcomesAsText() {
    let session = ScriptSession(stepLimit: .max, handlers: Transcript().handlers)
    expect("\(session.run("\"x\""))", equals: "\"x\"")
    expect(
      "\(session.run("expect false\nnobody"))",
      equals: """
        script:1:1: error: expectation failed: wanted true, found false
        expect false
        ^
        script:2:1: error: unknown name: nobody
        nobody
        ^
        """)
    let many = session.run("repeat 1001 { expect false }").description
    expect(many.hasSuffix("\n1001 expectations did not hold"))
    let text = "receiver R { - burn throws \"burnt\" }; let r = new R; queue q; proxy p = multicast; add r to p on q"
    expect("\(session.run(text + "; [p burn]; wait"))", equals: "1 error on queues")
    expect("\(session.run("[p burn]; [p burn]; wait"))", equals: "2 errors on queues")
  }

  @Test("a class is queried even if its table was never used, also through proxies")
  func untouchedTables() {
    let session = ScriptSession()
    let proxy = MulticastProxy<any MessageReceiver>()
    let sleeper = Sleeper()
    proxy.add(sleeper)
    session.register(proxy, as: "line")
    session.run("proxy f = forward to line")
    expect(session.run("[f heardOfOnlyBySleepers]").value, equals: 1)
    expect(session.run("[line resolvedOnlyBySleepers]").value, equals: 2)
  }

  @Test("names persist from one run to the next, and errors do not end the session")
  func conversation() {
    let session = ScriptSession()
    expect(session.run("let a = 1\nreceiver R { - one = 1 }").succeeded)
    expect(session.run("print )").isParsed == false)
    expect(session.run("b").error?.text, equals: "unknown name: b")
    expect(session.run("[a add: [new R one]]").value, equals: 2)
    expect(session.value(of: "a"), equals: 1)
    session.set(["x": [1, nil]], as: "given")
    expect(session.run("[[given at: \"x\"] at: 0]").value, equals: 1)
    expect(session.run("let z = 3").value == nil)
    expect(session.value(of: "given") != nil)
    session.run("drop given")
    expect(session.value(of: "given") == nil)
  }

  @Test("the host can send to the objects of a script and forward to them")
  func scriptObjectsInTheHost() throws {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.handlers)
    session.run("receiver R { - twice: x \"q@:q\" = [x multiply: 2]\n - hear: x { print name x } }\nlet r = new R")
    guard case .object(let reference)? = session.value(of: "r") else {
      Issue.record("r is no object")
      return
    }
    try expect(reference.receiver.send(Message<(Int) -> Int>("twice:"), 21), equals: 42)
    let proxy = MulticastProxy<any MessageReceiver>()
    proxy.add(reference.receiver)
    proxy.broadcast(Message<(String) -> Void>("hear:"), "host")
    expect(transcript.output, equals: "r host\n")
    #expect(throws: MessageError.self) { try reference.receiver.send(Message<(String) -> Int>("twice:"), "x") }
  }

  @Test("rows of a script may run on several threads concurrently")
  func threads() {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.handlers)
    session.run(
      """
      receiver R {
        - hear: n { let twice = [n multiply: 2]; proxy own = multicast; print name twice; return [self down: 20] }
        - down: n { if n == 0 { return n }; return [self down: [n subtract: 1]] }
      }
      let r = new R
      """)
    guard case .object(let reference)? = session.value(of: "r") else {
      Issue.record("r is no object")
      return
    }
    // A script's own objects are Sendable, although the reference's type does not say so.
    nonisolated(unsafe) let receiver = reference.receiver
    DispatchQueue.concurrentPerform(iterations: 200) { number in
      let answer = try? receiver.send(Message<(Int) -> Int>("hear:"), number)
      expect(answer, equals: 0)
    }
    expect(Set(transcript.pieces), equals: Set((0..<200).map { "r \($0 * 2)\n" }))
  }

  @Test("a host's proxy prints its name and responds like the script's own")
  func hostProxy() {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.handlers)
    let proxy = MulticastProxy<any MessageReceiver>()
    let cart = Cart()
    session.register(proxy, as: "pages")
    session.register(cart, as: "cart")
    let outcome = session.run(
      "add cart to pages\n[pages add: \"tea\" price: 3]\nprint [pages total] count pages targets pages pages")
    expect(outcome.succeeded)
    expect(transcript.output.hasPrefix("3.0 1 [<Cart cart>] <MulticastProxy"))
    expect(proxy.count, equals: 1)
  }

  @Test("a script can count, collect from and change a host's proxy of any interface")
  func hostProxyOfProtocol() {
    let pages = MulticastProxy<any Pages>()
    let (first, second) = (Page(price: 1), Page(price: 2))
    pages.add(first)
    do {
      let session = ScriptSession()
      session.register(pages, as: "pages")
      session.register(second, as: "second")
      session.register(Cart(), as: "cart")
      let outcome = session.run(
        """
        add second to pages
        expect count pages == 2
        expect collect sum [pages price] == 3
        expect collect all [pages price] == @[1, 2]
        expect [[targets pages at: 1] price] == 2
        expect report [pages unheard] == @{"delivered": 0, "failed": 0, "queued": 0, "skipped": 2}
        add cart to pages
        """)
      expect(outcome.failures.map(\.text), equals: [])
      expect(outcome.error?.text.hasPrefix("type mismatch: the proxy's targets must be of type") == true)
      expect(session.run("remove second from pages").succeeded)
    }
    // A session that ends does not change the host's proxies.
    expect(pages.count, equals: 1)
  }

  @Test("a host's receiver that responds to everything gets unknown names, up to a limit", .oneAtATime)
  func catchAll() {
    let limit = bound(1_000, full: 10_000)
    let session = ScriptSession.withLimits({ $0.names = limit }) { ScriptSession() }
    session.register(Echo(), as: "echo")
    expect(session.run("[echo neverHeardOfByTests: 1]").value, equals: "neverHeardOfByTests:")
    let many = (0...limit).map { "[echo everNewName\($0)OfTests]\n" }.joined()
    expect(session.run(many).error?.text, equals: "limit exceeded: more than \(limit) selectors")
  }

  @Test("a session releases registered objects, its own objects, and proxies that retain each other")
  func lifetimes() {
    weak var weakCart: Cart?
    weak var weakProxy: AnyObject?
    weak var weakRing: AnyObject?
    do {
      let cart = Cart()
      weakCart = cart
      let session = ScriptSession()
      session.register(cart, as: "cart")
      session.run(
        """
        proxy p = multicast strong; proxy q = multicast strong
        add p to q; add q to p; add cart to p
        receiver R { - me = self }
        let r = new R
        add r to p
        proxy lazy = lazy { ring }
        proxy ring = forward to lazy
        expect [ring me] throws "proxy cycle"
        """)
      if case .object(let reference)? = session.value(of: "ring") { weakRing = reference.receiver }
      expect(weakRing != nil)
      if case .object(let reference)? = session.value(of: "p") { weakProxy = reference.receiver }
      expect(weakProxy != nil)
    }
    expect(weakCart == nil)
    expect(weakProxy == nil)
    expect(weakRing == nil)
  }

  @Test("an expression's value does not outlive its statement")
  func temporaries() {
    expect(play("receiver R { }\nlet a = new R\na\n[@[a] first]\ndrop a\nexpect not alive a").outcome.succeeded)
  }

  @Test("an error shows its position, its line and a caret")
  func rendering() {
    let session = ScriptSession()
    let error = session.run("let ok = 1\n\tprint \"é\" nobody # here", named: "cooks.msg", firstLine: 10).error
    expect(
      error?.description,
      equals: "cooks.msg:11:12: error: unknown name: nobody\n\tprint \"é\" nobody # here\n\t          ^")
    let long = session.run(
      "print " + String(repeating: "1 ", count: 1000) + "nobody " + String(repeating: "2 ", count: 1000)
    ).error
    let lines = long?.description.split(separator: "\n") ?? []
    expect(lines.count, equals: 3)
    expect(lines.allSatisfy { $0.count <= 170 })
    expect(
      lines.last.map { $0.count },
      equals: lines.dropFirst().first.flatMap { $0.ranges(of: "nobody").first }.map { range in
        lines[1].distance(from: lines[1].startIndex, to: range.lowerBound) + 1
      })
    let hostile = session.run("print \u{1B}[31m").error
    expect(hostile?.description.contains("\u{1B}") == false)
  }

  @Test("an error in a row is reported where it was thrown")
  func placeOfRowErrors() {
    let session = ScriptSession()
    session.run("receiver R {\n  - burn { throw \"burnt\" }\n  - deep = [self burn]\n}\nlet r = new R", named: "rows")
    let error = session.run("[r deep]", named: "call").error
    expect(error?.position.description, equals: "rows:2:12")
    expect(error?.text, equals: "burnt")
    expect(error?.code, equals: .thrown)
  }

  @Test("failed expectations are reported as they fail, and the script continues")
  func expectations() {
    let played = play(
      """
      expect 1 == 2; expect false
      expect 1 throws; expect nobody throws "type"
      expect nobody throws "unknown"; print "end"
      """)
    expect(
      played.failures,
      equals: [
        "1:1 expectation failed: 1 == 2 does not hold", "1:16 expectation failed: wanted true, found false",
        "2:1 expectation failed: wanted an error, found the value 1",
        "2:18 expectation failed: wanted an error that begins with \"type\", found \"unknown name: nobody\"",
      ])
    expect(played.output, equals: "end\n")
    expect(!played.outcome.succeeded)
    expect(play("repeat 5000 { expect false }").outcome.failures.count, equals: 1000)
    expect(play("repeat 5000 { expect false }").outcome.failureCount, equals: 5000)
  }

  @Test("the trace lists who was called, in which order, and with what result")
  func trace() {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.tracingHandlers)
    let cart = Cart()
    session.register(cart, as: "cart")
    session.run(
      """
      receiver R { - total { return [2 add: 3] } - burn throws "burnt" }
      let r = new R; let m = new R
      proxy p = multicast
      add r to p; add cart to p; add m to p as rm
      mute rm
      [p total]
      [r burn]
      """)
    expect(
      transcript.trace,
      equals: [
        "<multicast p> is sent total", "  <R r> gets total, directly", "  <R r> answers 5",
        "  <Cart cart> gets total, directly", "  <Cart cart> answers 0.0", "  <R m> is skipped: muted",
        "<multicast p> answers 0.0", "<R r> is sent burn", "<R r> throws burnt",
      ])
  }

  @Test("progress is reported during a run")
  func progress() {
    let transcript = Transcript()
    var handlers = transcript.handlers
    handlers.progress = { progress in
      transcript.handlers.output("\(progress.steps) \(progress.stepLimit) \(progress.position)")
    }
    ScriptSession(stepLimit: 5000, handlers: handlers).run("repeat 3000 { let x = 1 }")
    expect(transcript.pieces, equals: ["1024 5000 script:1:15", "2048 5000 script:1:15"])
  }

  @Test("progress is reported during a run of few expensive steps")
  func progressOfWork() {
    let (transcript, count) = (Transcript(), Locked(0))
    var handlers = transcript.handlers
    handlers.progress = { _ in count.withLock { $0 += 1 } }
    let doublings = String(repeating: "let a = @[a, a]; let b = @[b, b]\n", count: 14)
    let text = "let a = @[1, 2, 3, 4]; let b = @[1, 2, 3, 4]\n\(doublings)repeat 4 { expect a == b }"
    let outcome = ScriptSession(handlers: handlers).run(text)
    expect(outcome.succeeded && outcome.steps < 100)
    expect(count.withLock { $0 } >= 3)
  }

  @Test("the first line may have any number", arguments: [Int.min, 0, Int.max])
  func firstLine(number: Int) throws {
    let error = try #require(ScriptSession().run("let x = 1\n[x foo]", firstLine: number).error)
    expect(error.position.line, equals: min(number, .max / 2) + 1)
  }
}
