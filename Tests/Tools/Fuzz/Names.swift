// Names.swift: selectors, and selectors from Swift names.

@testable import Forwardcast

/// The number of names that a run interns: the process never releases them.
private let internLimit = 20_000

func selector(_ text: String) {
  do {
    let count = try MessageSelector.numberOfArguments(inName: text)
    require(count == text.utf8.count { $0 == UInt8(ascii: ":") }, "other arguments than colons")
    guard let selector = MessageSelector(known: text) ?? interned(text) else { return }
    require(selector.numberOfArguments == count && MessageSelector(known: text) == selector, "interned as another")
    require(selector.parts.count == max(count, 1), "other parts than arguments")
    if isOneOf(4, text) { _ = "\(Invocation(selector, arguments: (0..<count).map { ArgumentBox($0) }))" }
  } catch {
    require((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    require(MessageSelector(known: text) == nil, "a refused name is known")
    if isOneOf(4, text) { _ = "\(error)" }
  }
}

private func interned(_ text: String) -> MessageSelector? {
  guard SelectorNames.count < internLimit else { return nil }
  guard let selector = try? MessageSelector(text) else { fail("a name that was read is refused") }
  return selector
}

/// The selector of a Swift name, without interning it.
func swiftName(_ text: String) {
  do {
    let name = try MessageSelector.name(ofSwiftName: text)
    guard let count = try? MessageSelector.numberOfArguments(inName: name) else {
      fail("a Swift name has a selector that is none")
    }
    require(count == name.utf8.count { $0 == UInt8(ascii: ":") }, "other arguments than colons")
    if MessageSelector(known: name) != nil {
      require((try? MessageSelector(swiftName: text))?.name == name, "interned as another")
    }
  } catch {
    require((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    if isOneOf(4, text) { _ = "\(error)" }
  }
}
