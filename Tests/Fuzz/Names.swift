// Names.swift: selectors, and selectors of Swift names.

import Forwardcast

/// How many names a run interns: the process keeps each for ever.
private let internLimit = 20_000

func selector(_ text: String) {
  do {
    let count = try MessageSelector.numberOfArguments(inName: text)
    precondition(count == text.utf8.count { $0 == UInt8(ascii: ":") }, "other arguments than colons")
    guard let selector = MessageSelector(known: text) ?? interned(text) else { return }
    precondition(selector.numberOfArguments == count && MessageSelector(known: text) == selector, "interned as another")
    precondition(selector.parts.count == max(count, 1), "other parts than arguments")
    let call = Invocation(selector, arguments: (0..<count).map { ArgumentBox($0) })
    _ = "\(call)"
  } catch {
    precondition((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    precondition(MessageSelector(known: text) == nil, "a refused name is known")
    _ = "\(error)"
  }
}

private func interned(_ text: String) -> MessageSelector? {
  guard MessageSelector.internedCount < internLimit else { return nil }
  guard let selector = try? MessageSelector(text) else { preconditionFailure("a name that was read is refused") }
  return selector
}

func swiftName(_ text: String) {
  guard MessageSelector.internedCount < internLimit else { return }
  do {
    let selector = try MessageSelector(swiftName: text)
    precondition((try? MessageSelector.numberOfArguments(inName: selector.name)) == selector.numberOfArguments)
  } catch {
    precondition((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    _ = "\(error)"
  }
}
