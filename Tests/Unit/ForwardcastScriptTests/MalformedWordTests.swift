// MalformedWordTests.swift: statements that lack a word.

import ForwardcastScript
import TestSupport
import Testing

@Suite("Malformed statements")
struct MalformedWordTests {
  @Test(
    "a malformed statement is refused at its malformed part",
    arguments: [
      ("queue", "1:6"), ("before p { }", "1:10"), ("extension E { a b:c }", "1:17"), ("register r E", "1:12"),
      ("unregister r in E", "1:14"), ("clear all", "1:7"), ("proxy p = recording", "1:20"), ("add a to p on", "1:14"),
    ])
  func malformed(text: String, place: String) {
    let played = play(text)
    expect(!played.outcome.isParsed)
    expect(played.error?.hasPrefix(place + " ") == true, "\(played.error ?? "none")")
  }
}
