// ProxyScriptTests.swift: proxies, registrations and answers in scripts.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Proxies in scripts")
struct ProxyScriptTests {
  private let cast = """
    receiver R { - n = 1 - say: x { print name x } - no = false - yes = true - burn throws "burnt" - quiet "v@:" { } }
    receiver S : R { - n = 2 - num: x "q@:q" = x }
    let a = new R
    let b = new S
    let c = new R

    """

  private func holds(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let played = play(cast + text)
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")", sourceLocation: sourceLocation)
  }

  @Test(
    "explain lists each registration with its row, context and hooks, or the reason it is skipped, and sends nothing")
  func explain() {
    let played = play(
      """
      receiver Cook { - cook: dish { print "never" } - wash = 1 }
      receiver Guest { - eat = 2 }
      let ann = new Cook; let bo = new Cook; let cy = new Cook; let di = new Guest; let eve = new Cook
      queue stove
      proxy inner = multicast
      proxy p = multicast
      add ann to p
      add bo to p on stove
      add cy to p as r; mute r
      add di to p
      add eve to inner
      add inner to p
      before p "cook:" { print "never" }
      after inner "cook:" { print "never" }
      print explain p "cook:"
      print explain p "fly"
      expect explain inner "wash" == "<Cook eve>: yes, row wash of Cook, directly"
      expect explain ann "wash" throws "type mismatch: \\"explain\\" needs a multicast proxy, not <Cook ann>"
      expect explain p "a b" throws "invalid selector"
      """)
    expect(
      played.output,
      equals: """
        <Cook ann>: yes, row cook: of Cook, directly, behind before cook:
        <Cook bo>: yes, row cook: of Cook, on queue stove, behind before cook:
        <Cook cy>: no, muted
        <Guest di>: no, does not respond
        <multicast inner>: yes, its targets, directly, behind before cook:
          <Cook eve>: yes, row cook: of Cook, directly, behind before cook:, after cook:
        <Cook ann>: no, does not respond
        <Cook bo>: no, does not respond
        <Cook cy>: no, muted
        <Guest di>: no, does not respond
        <multicast inner>: no, does not respond
          <Cook eve>: no, does not respond

        """)
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
  }

  @Test("explain of proxies reachable on very many paths ends at a limit, and so do nested explain words")
  func explainBounds() {
    let levels = (1...40).map { level in
      "proxy a\(level) = multicast; proxy b\(level) = multicast\n"
        + ["a", "b"].map { "add \($0)\(level - 1) to a\(level); add \($0)\(level - 1) to b\(level)\n" }.joined()
    }
    let text = "receiver R { - n = 1 }; let r = new R; proxy a0 = multicast; proxy b0 = multicast; add r to a0\n"
    let outcome = play(text + levels.joined() + "let x = explain a40 \"n\"").outcome
    expect(outcome.error?.code, equals: .limitExceeded)
    let deep = String(repeating: "explain ", count: 100) + "p" + String(repeating: " \"a\"", count: 100)
    expect(play(deep).outcome.error?.code, equals: .limitExceeded)
  }

  @Test("targets are called by priority, and in registration order within one")
  func order() {
    let played = play(
      cast
        + "proxy p = multicast\nadd a to p priority -1\nadd b to p\nadd c to p priority 5\n[p say: 1]\nprint targets p")
    expect(played.output, equals: "c 1\nb 1\na 1\n[<R c>, <S b>, <R a>]\n")
  }

  @Test("adding a target again sets its priority if one is given, unless duplicates are allowed")
  func duplicates() {
    holds(
      """
      proxy p = multicast; add a to p priority 3 as r1; add b to p priority 5; add a to p priority 9 as r2
      expect count p == 2; expect r1 == r2; expect targets p == @[a, b]
      add a to p; expect targets p == @[a, b]; add a to p priority 0; expect targets p == @[b, a]
      proxy d = multicast duplicates; add a to d as d1; add a to d as d2
      expect count d == 2; expect d1 != d2; expect collect all [d n] == @[1, 1]
      remove a from d; expect count d == 0
      """)
  }

  @Test("only restricts a registration to the named selectors")
  func scope() {
    holds(
      """
      proxy p = multicast; add a to p only @["n", @selector(say:)]
      expect p responds "n"; expect not (p responds "yes"); expect [p yes] == nil
      expect report [p yes] == @{"delivered": 0, "failed": 0, "queued": 0, "skipped": 1}
      expect count p == 1
      expect [p n] == 1
      """)
    expect(play(cast + "proxy p = multicast\nadd a to p only @[\"a b\"]").error?.contains("invalid selector") == true)
    expect(play(cast + "proxy p = multicast\nadd a to p only @[3]").error?.contains("type mismatch") == true)
    expect(play(cast + "proxy p = multicast\nadd a to p only 3").error?.contains("type mismatch") == true)
  }

  @Test("remove, cancel and mute take effect at once, and repeating them does nothing")
  func changes() {
    holds(
      """
      proxy p = multicast; add a to p as ra; add b to p as rb; add c to p as rc
      mute ra; mute ra
      proxy alone = multicast; add a to alone as rl; mute rl; expect not (alone responds "n"); unmute rl
      expect alone responds "n"
      expect count p == 3; expect collect all [p n] == @[2, 1]
      expect report [p n] == @{"delivered": 2, "failed": 0, "queued": 0, "skipped": 1}
      unmute ra; unmute ra
      expect collect all [p n] == @[1, 2, 1]
      cancel rb; cancel rb; remove b from p
      expect targets p == @[a, c]
      remove rc from p; remove rc from p
      expect targets p == @[a]
      drop ra
      expect count p == 1
      remove all from p; remove all from p
      expect count p == 0; expect targets p == @[]
      proxy q = multicast; add a to q as rq
      remove rq from p
      expect count q == 1
      """)
  }

  @Test("a weak target is released with its last name, and a strong one stays")
  func ownership() {
    holds(
      """
      proxy weak = multicast; proxy strong = multicast strong
      add a to weak; add b to weak; add b to strong
      drop a; expect count weak == 1
      drop b; expect count weak == 1; expect count strong == 1
      remove all from strong; expect count weak == 0; expect [weak n] == nil
      """)
  }

  @Test("an error of a target is thrown after all targets were called, unless the proxy stops at errors")
  func errors() {
    let played = play(
      cast + """
        receiver T { - burn { print name; throw "second" } }
        let t = new T; let u = new T
        proxy p = multicast; add t to p; add a to p; add u to p
        expect [p burn] throws "second"
        print errors [p burn]
        proxy s = multicast stopping; add a to s; add t to s
        expect [s burn] throws "burnt"
        print report [s burn]
        """)
    expect(
      played.output,
      equals: "t\nu\nt\nu\n[\"second\", \"burnt\", \"second\"]\n"
        + "{\"delivered\": 0, \"failed\": 1, \"queued\": 0, \"skipped\": 1}\n")
    expect(played.outcome.succeeded, "\(played.failures)")
  }

  @Test("every policy combines the answers in delivery order")
  func policies() {
    holds(
      """
      proxy p = multicast; add a to p; add b to p
      expect [p n] == 2
      expect collect last [p n] == 2
      expect collect first [p n] == 1
      expect collect all [p n] == @[1, 2]
      expect collect sum [p n] == 3
      expect collect any [p yes]; expect not collect any [p no]
      expect collect every [p yes]; expect not collect every [p no]
      expect collect all [p quiet] == @[]; expect collect last [p quiet] == nil; expect [p quiet] == nil
      expect collect sum [p yes] throws "type mismatch"
      expect collect any [p n] throws "type mismatch"
      expect collect every [p n] throws "type mismatch"
      expect collect all [p burn] throws "burnt"
      expect collect all [p say: 1] == @[nil, nil]
      """)
  }

  @Test("first, any and every stop once the result is known")
  func earlyStop() {
    let played = play(
      """
      receiver R { - yes { print name; return true } - no { print name; return false } }
      let a = new R; let b = new R
      proxy p = multicast; add a to p; add b to p
      print collect first [p no]
      print collect any [p yes]
      print collect every [p no]
      print collect any [p no]
      """)
    expect(played.output, equals: "a\nfalse\na\ntrue\na\nfalse\na\nb\nfalse\n")
  }

  @Test("if nobody responds, nothing happens, or `nobody responds` is thrown")
  func silence() {
    holds(
      """
      proxy p = multicast
      expect [p n] == nil; expect [p never: 1 heard: 2] == nil; expect errors [p n] == @[]
      expect collect last [p n] == nil; expect collect all [p n] == @[]; expect collect sum [p n] == 0
      expect not collect any [p n]; expect collect every [p n]
      proxy t = multicast throwing
      expect [t n] throws "nobody responds"
      expect [t never: 1] throws "nobody responds to 'never:' of <multicast t>"
      expect collect all [t n] throws "nobody responds"
      add a to t
      expect [t n] == 1
      """)
  }

  @Test("arguments are checked against the first responder, and nothing is delivered if they do not fit")
  func checkedFirst() {
    holds(
      """
      receiver Loose { - num: x { print "loose"; return x } }
      let l = new Loose
      proxy p = multicast; add b to p; add l to p
      expect [p num: "x"] throws "type mismatch"
      proxy q = multicast; add l to q priority 1; add b to q
      expect [q num: "x"] throws "type mismatch"
      expect report [q num: "x"] == @{"delivered": 1, "failed": 1, "queued": 0, "skipped": 0}
      """)
    let played = play(
      cast + "receiver L { - num: x { print \"loose\" } }\nlet l = new L\nproxy p = multicast\nadd b to p\nadd l to p\n"
        + "expect [p num: \"x\"] throws")
    expect(played.output.isEmpty)
  }

  @Test("a forwarding proxy stands for one target")
  func forwarding() {
    holds(
      """
      proxy f = forward to a
      expect [f n] == 1; expect f responds "n"; expect not (f responds "zip"); expect [f burn] throws "burnt"
      expect [f zip] throws "unrecognized selector 'zip' "
      expect collect all [f n] == @[1]
      proxy m = multicast; add a to m; add b to m
      proxy g = forward to m
      expect [g n] == 2
      proxy o = multicast; add m to o
      expect [o n] == 2; expect collect all [o n] == @[1, 2]
      expect count f throws "type mismatch"; expect targets a throws "type mismatch"
      drop a; expect [f n] == 1
      """)
  }

  @Test("a lazy proxy creates its target on the first message or query, and tries again after an error")
  func lazy() {
    let played = play(
      cast + """
        proxy l = lazy { [maker make] }
        expect [l n] throws "unknown name: maker"
        expect l responds "n" throws "unknown name: maker"
        receiver Maker { - make { print "made"; return new R } }
        let maker = new Maker
        expect l responds "n"
        expect [l n] == 1; expect [l never] throws "unrecognized selector 'never' "
        proxy k = lazy { 3 }
        expect [k n] throws "type mismatch"
        """)
    expect(played.output, equals: "made\n")
    expect(played.outcome.succeeded, "\(played.failures) \(played.error ?? "")")
  }

  @Test("sending a message finds a cycle of proxies")
  func cycles() {
    holds(
      """
      proxy p = multicast; proxy q = multicast
      add p to q; add q to p; add a to p
      expect [p n] throws "proxy cycle"; expect [q n] throws "proxy cycle"
      proxy l = lazy { f }
      proxy f = forward to l
      expect [f n] throws "proxy cycle"; expect [l n] throws "proxy cycle"
      """)
  }

  @Test("a target removed during a broadcast is not called, and an added one receives the next")
  func duringBroadcast() {
    let played = play(
      """
      receiver Late { - hear: x { print name x } }
      receiver Changer { - hear: x { print name x; remove victim from p; add newcomer to p; drop frail } }
      let victim = new Late; let newcomer = new Late; let frail = new Late; let changer = new Changer
      proxy p = multicast
      add changer to p; add victim to p; add frail to p
      [p hear: 1]
      let frail = 0
      [p hear: 2]
      """)
    expect(played.output, equals: "changer 1\nchanger 2\nnewcomer 2\n")
    expect(played.outcome.succeeded)
  }

  @Test(
    "operands that are not proxies are refused",
    arguments: [
      "add a to a", "add 1 to p", "add a to 1", "remove a from a", "remove 1 from p", "remove all from 3", "cancel a",
      "mute 1", "unmute nil", "proxy x = forward to 3", "count 3", "targets nil", "add a to p priority 0.5",
      "repeat -1 { }", "repeat 1.5 { }", "new R name: 3", "types 3", "signature 3", "size nil", "arity 3",
    ])
  func wrongKinds(statement: String) {
    let played = play(cast + "proxy p = multicast\n" + statement)
    expect(played.error?.contains(" type mismatch: ") == true, "\(played.error ?? "none")")
  }

  @Test("scripts can query signatures, types and selectors")
  func queries() {
    holds(
      """
      let s = signature "v24@0:8q16"
      expect types s == @["v", "@", ":", "q"]; expect offsets s == @[0, 8, 16]; expect frame s == 24
      expect sizes s == @[8, 8, 8]; expect aligns s == @[8, 8, 8]; expect returns s == 0
      expect returns (signature "d@:") == 8
      expect size "{Rect={Point=dd}{Size=dd}}" == 32; expect align "[3s]" == 2
      expect size "?" == nil; expect size "{Opaque}" == nil; expect align "v" == nil; expect size "{Empty=}" == 0
      expect arity "a:b:" == 2; expect arity "ping" == 0; expect arity @selector(a:) == 1
      expect selector "a b" throws "invalid selector"; expect arity "" throws "invalid selector"
      expect a responds "a b" throws "invalid selector"
      expect signature "v@:&" throws "invalid type encoding"; expect size "%" throws "invalid type encoding"
      """)
  }
}
