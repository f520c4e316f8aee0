// LaterVersionTests.swift: words that are read and not run answer clearly.
// Layer: Tests.

import ForwardcastScript
import Testing

@Suite("Words of later versions")
struct LaterVersionTests {
  private static let statements = [
    "proxy x = recording r", "print calls p",
  ]

  @Test("they are parsed, and say so when they would run", arguments: statements)
  func notInThisVersion(statement: String) {
    let text = "receiver R { - a = 1 }\nlet r = new R\nproxy p = multicast\n" + statement
    #expect(ScriptSession.check(text) == nil)
    let played = play(text)
    #expect(played.outcome.error?.code == .notInThisVersion)
    #expect(played.error?.hasPrefix("4:") == true)
    #expect(played.error?.contains(" not in this version: ") == true)
  }

  @Test(
    "and are refused where they are malformed",
    arguments: [
      ("queue", "1:6"), ("before p { }", "1:10"), ("extension E { a b:c }", "1:21"), ("register r E", "1:12"),
      ("unregister r in E", "1:14"), ("clear all", "1:7"), ("proxy p = recording", "1:20"), ("add a to p on", "1:14"),
    ])
  func malformed(text: String, place: String) {
    let played = play(text)
    #expect(!played.outcome.isParsed)
    #expect(played.error?.hasPrefix(place + " ") == true, "\(played.error ?? "none")")
  }
}
