// MessageSelectorTests.swift: names, their grammar and their identity.
// Layer: Message. See DESIGN.md, "Selectors".

import Forwardcast
import Testing

@Suite("Message selectors")
struct MessageSelectorTests {
  @Test("a name has as many arguments as colons", arguments: [("ping", 0), ("a:", 1), ("a:b:", 2), (":", 1), ("a::", 2)])
  func arity(name: String, count: Int) throws {
    #expect(try MessageSelector(name).numberOfArguments == count)
  }
}
