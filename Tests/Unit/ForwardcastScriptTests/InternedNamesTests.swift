// InternedNamesTests.swift: limits on the names that all scripts together intern.

@testable import Forwardcast
import ForwardcastScript
import TestSupport
import Testing

@Suite("Selector names that scripts intern")
struct InternedNamesTests {
  /// A script that interns a number of unique names of a kilobyte.
  private static func text(_ session: Int, names count: Int) -> String {
    let tail = String(repeating: "x", count: 1000)
    let names = (0..<count).map { "\"n\(session)x\($0)\(tail):\"" }.joined(separator: ", ")
    return "receiver R { - a = 1 }\nlet r = new R\nproxy p = multicast\nadd r to p only @[\(names)]\nprint \"done\""
  }

  @Test(
    "all sessions together intern up to 16 MiB of names; then new names are refused and known ones still work",
    .oneAtATime)
  func boundOfAll() async {
    _ = await #expect(processExitsWith: .success) {
      let limit = bound(1 << 20, full: 16 << 20)
      ScriptSession.limitInternedNames(to: limit)
      var refused = 0
      var count = 0
      for number in 0..<12 {
        let played = play(Self.text(number, names: limit / 4_200))
        if played.output == "done\n" { continue }
        precondition(
          played.outcome.error?.text
            == "limit exceeded: the selectors of all scripts in the process exceed \(limit >> 20) MiB")
        refused += 1
        if count == 0 { count = SelectorNames.count }
        precondition(SelectorNames.count == count, "a session added names beyond the bound")
      }
      precondition(refused > 6 && refused < 12, "\(refused) of 12 sessions were refused")
      // Known names use none of the limit.
      let played = play("receiver R { - a = 1 }\nlet r = new R\nprint [r a]\nexpect [r nobodyKnows] throws")
      precondition(played.output == "1\n" && played.outcome.succeeded)
      // The limit also applies to a host's receiver.
      let session = ScriptSession()
      session.register(Host(), as: "host")
      let known = session.run("print [host one]")
      precondition(known.succeeded)
      let before = SelectorNames.count
      let unknown = session.run("[host noSuchNameAtAll\(String(repeating: "x", count: 1000)): 1]")
      precondition(unknown.error?.code == .limitExceeded && SelectorNames.count == before)
    }
  }
}

private final class Host: MessageReceiver {
  static let selectorTable = SelectorTable(for: Host.self) { Responds(to: "one") { (_: Host) in 1 } }
}
