// CenterTests.swift: services, extension points and lazy observers in scripts.

import Dispatch
import Forwardcast
import ForwardcastScript
import TestSupport
import Testing

/// Blocks a script's queue until the script releases it.
private final class Barrier: MessageReceiver, Sendable {
  private let (arrived, passed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  private let isOpen = Locked(false)

  static let selectorTable = SelectorTable(for: Barrier.self) {
    Responds(to: Message<() -> Void>("pass")) { (barrier: Barrier) in
      if barrier.isOpen.withLock({ $0 }) { return }
      barrier.arrived.signal()
      barrier.passed.wait()
    }
    Responds(to: Message<() -> Void>("waitForArrival")) { (barrier: Barrier) in barrier.arrived.wait() }
    Responds(to: Message<() -> Void>("open")) { (barrier: Barrier) in
      barrier.isOpen.withLock { $0 = true }
      barrier.passed.signal()
    }
  }
}

@Suite("Centers in scripts")
struct CenterTests {
  private static let cast = """
    receiver Obs { - ping { print name "ping" } - pair: a with: b = 2 }
    receiver Late { - serviceDidInit { print "made" } - ping { print "late ping" } }
    receiver Other { - pong { } }
    receiver Kept { - isPersistent = true }
    receiver Bad { - serviceDidInit throws "no luck" - ping { } }
    let o = new Obs
    extension E { ping  pair:with:
      none }

    """

  @Test("an observer registers once if it conforms, and unregisters at once")
  func register() {
    let text = """
      register o in E; register o in E; register new Other in E
      expect count E == 1
      [E ping]
      expect [E pair: 1 with: 2] == 2
      expect [E none] == nil
      unregister o from E; unregister o from E
      expect count E == 0
      [E ping]
      """
    let played = play(Self.cast + text)
    expect(played.error == nil)
    expect(played.outcome.succeeded)
    expect(played.output, equals: "o ping\n")
  }

  @Test(
    "a selector that the extension point does not declare is unrecognized",
    arguments: ["[E pong]", "collect all [E pong]", "report [E x: 1]"])
  func unlisted(expression: String) {
    let played = play(Self.cast + "register o in E\n" + expression)
    expect(played.outcome.error?.code, equals: .unrecognizedSelector)
    expect(played.outcome.error?.text.hasSuffix("of <extension E>") == true, "\(played.error ?? "")")
  }

  @Test("the first event that a lazy observer has a row for creates it, in its registration order")
  func lazy() {
    let text = """
      register lazily Late in E; register o in E; register lazily Late in E
      [E pair: 1 with: 2]
      expect services == @[]
      print "now"
      [E ping]
      expect services == @[service Late]
      expect targets E == @[service Late, o]
      clear services
      [E ping]
      """
    let played = play(Self.cast + text)
    expect(played.error == nil)
    expect(played.failures, equals: [])
    expect(played.output, equals: "now\nmade\nlate ping\no ping\nmade\nlate ping\no ping\n")
  }

  @Test("explain of an extension point names the lazy observers that the message would create")
  func explained() {
    let text = """
      register lazily Late in E; register o in E
      print explain E "ping"
      print explain E "none"
      proxy p = multicast; add E to p
      print explain p "ping"
      print services
      """
    let played = play(Self.cast + text)
    expect(played.error == nil)
    expect(
      played.output,
      equals: """
        Late: yes, created by the message, directly
        <Obs o>: yes, row ping of Obs, directly
        Late: no, does not respond
        <Obs o>: no, does not respond
        <extension E>: yes, its targets, directly
          Late: yes, created by the message, directly
          <Obs o>: yes, row ping of Obs, directly
        []

        """)
  }

  @Test("a lazy observer whose creation fails is reported, and the other observers still receive the event")
  func badLazy() {
    let played = play(Self.cast + "register lazily Bad in E; register o in E\nprint errors [E ping]\nprint services")
    expect(played.output, equals: "o ping\n[\"no luck\"]\n[]\n")
  }

  @Test("a class has one service, which is named after it and lives until the logout")
  func services() {
    let text = """
      expect (service Late) == (service Late)
      print service Late
      let kept = service Kept
      print services
      clear services
      print services
      expect (service Kept) == kept
      """
    let played = play(Self.cast + text)
    expect(played.outcome.succeeded, "\(played.error ?? "") \(played.failures)")
    expect(played.output, equals: "made\n<Late Late>\n[<Late Late>, <Kept Kept>]\n[<Kept Kept>]\n")
  }

  @Test("a service whose creation throws is not kept, and the next request tries again")
  func badService() {
    let played = play(Self.cast + "expect service Bad throws \"no luck\"\nexpect services == @[]\nservice Bad")
    expect(played.failures, equals: [])
    expect(played.error?.hasSuffix("no luck") == true)
  }

  @Test("clear services notifies all services and then throws the first error")
  func clear() {
    let text = """
      receiver A { - serviceWillClearData throws "stuck" }
      receiver B { - serviceWillClearData { print "B told" } - isPersistent = 3 }
      let a = service A; let b = service B
      expect count E == 0
      receiver C { - go { clear services } }
      expect [new C go] throws "stuck"
      print services
      """
    let played = play(Self.cast + text)
    expect(played.error == nil)
    expect(played.output, equals: "B told\n[]\n")
  }

  @Test("an error of a hook that no statement caused is reported")
  func unawaitedHook() {
    let transcript = Transcript()
    let session = ScriptSession(handlers: transcript.handlers)
    session.register(Barrier(), as: "barrier")
    let text = """
      receiver A { - serviceDidInit { [barrier pass] } - serviceWillClearData throws "stuck" }
      receiver Maker { - go { let a = service A } }
      let m = new Maker
      queue q
      proxy p = multicast
      add m to p on q
      [p go]
      [barrier waitForArrival]
      clear services
      [barrier open]
      wait
      print services
      """
    expect(session.run(text).error == nil)
    expect(transcript.output, equals: "[<A A>]\n")
    expect(transcript.failures.map(\.text), equals: ["stuck"])
  }

  @Test("services that need each other are an error, and so are endless chains")
  func cycle() {
    let text = """
      receiver A { - serviceDidInit { let b = service B } }
      receiver B { - serviceDidInit { let a = service A } }
      expect service A throws "construction cycle"
      """
    expect(play(text).failures, equals: [])
    let hooks = (0..<80).map { "receiver S\($0) { - serviceDidInit { let next = service S\($0 + 1) } }\n" }.joined()
    expect(play(hooks + "receiver S80 { }\nservice S0").outcome.error?.code, equals: .limitExceeded)
  }

  @Test("wait throws while a service is created")
  func noWaiting() {
    let text = "receiver W { - serviceDidInit { wait } }\nexpect service W throws \"would deadlock\""
    expect(play(text).failures, equals: [])
  }

  @Test(
    "operands that are not receivers or extension points are refused",
    arguments: [
      ("service Nobody", ScriptError.Code.unknownName), ("register lazily Nobody in E", .unknownName),
      ("register o in o", .typeMismatch), ("register 3 in E", .typeMismatch), ("unregister o from 3", .typeMismatch),
      ("register lazily Late in o", .typeMismatch), ("add o to E", .typeMismatch),
    ])
  func refused(statement: String, code: ScriptError.Code) {
    expect(play(Self.cast + statement).outcome.error?.code, equals: code)
  }
}
