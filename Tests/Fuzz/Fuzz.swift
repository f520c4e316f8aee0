// Fuzz.swift: random and mutated text for every parser. Built and run by Tests/Fuzz/run.

import Forwardcast
import ForwardcastScript
import Foundation

/// The last character says which parser reads the rest, so that what a mutation inserts stays what it was.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 0 else { return 0 }
  let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count - 1), as: UTF8.self)
  switch (bytes[count - 1] &- UInt8(ascii: "0")) % 10 {
  case 0: encoding(text)
  case 1: twoEncodings(text)
  case 2, 3: signature(text)
  case 4: selector(text)
  case 5: swiftName(text)
  case 8, 9: message(text)
  default: script(text)
  }
  return 0
}

private func encoding(_ text: String) {
  do {
    let type = try TypeEncoding(text)
    precondition(type.description == text, "prints another text back")
    precondition((try? TypeEncoding(type.description)) == type, "is not what it prints")
    precondition(type.matchesLeniently(type), "does not match itself")
    if let layout = type.layout {
      precondition(layout.size >= 0 && layout.alignment > 0, "impossible layout")
    }
    _ = type.meaning
    let values: [ArgumentBox] = [.init(1), .init(0.5), .init("a"), .init(Int?.none), .init([1]), .init(true)]
    for value in values { _ = try? value.converted(to: type) }
  } catch {
    precondition((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    _ = "\(error)"
  }
}

/// Two types, with a blank between them, and numbers of every width that go into each.
private func twoEncodings(_ text: String) {
  let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard let first = try? TypeEncoding(parts[0]), let second = try? TypeEncoding(parts.last ?? "") else { return }
  precondition(first.matchesLeniently(second) == second.matchesLeniently(first), "matches one way only")
  precondition(first != second || first.hashValue == second.hashValue, "equal types of unequal hashes")
  for target in TypeLayout.Target.allCases {
    if let layout = first.layout(on: target) { precondition(layout.size >= 0 && layout.alignment > 0) }
  }
  let wide: [ArgumentBox] = [
    .init(Int128.max), .init(UInt64.max), .init(-1), .init(Double.infinity), .init(Float.nan), .init(1e300),
  ]
  for value in wide { _ = try? value.converted(to: first) }
}

/// A message as data: what is read is written and read again, and reading interns nothing.
private func message(_ text: String) {
  _ = MessageSelector("ping")
  let decoder = JSONDecoder()
  decoder.userInfo[Invocation.typesKey] = InvocationTypes(["Note": Note.self, "[[Note]]": [[Note]].self])
  let before = MessageSelector.internedCount
  let data = Data(text.utf8)
  let call = try? decoder.decode(Invocation.self, from: data)
  _ = try? decoder.decode([MessageSelector].self, from: data)
  _ = try? decoder.decode(MethodSignature.self, from: data)
  precondition(MessageSelector.internedCount == before, "reading interned a name")
  guard let call else { return }
  precondition(call.arguments.count <= Invocation.argumentLimit, "more arguments than may be read")
  // A number that JSON cannot hold is not written.
  guard let written = try? JSONEncoder().encode(call) else { return }
  guard let again = try? decoder.decode(Invocation.self, from: written) else {
    preconditionFailure("what was written cannot be read")
  }
  // The order of a dictionary may change, so values are compared by type and number.
  precondition(again.selector == call.selector, "reads back as another")
  precondition(again.arguments.map { "\($0.type)" } == call.arguments.map { "\($0.type)" }, "reads back otherwise")
  precondition(again.signature.description == call.signature.description, "reads back with another signature")
  decoder.userInfo[MessageSelector.selectorsKey] = Set<MessageSelector>()
  precondition((try? decoder.decode(Invocation.self, from: data)) == nil, "read a selector that is not listed")
}

private struct Note: Codable, Sendable {
  var text: String
  var next: [Note]?
}

private func signature(_ text: String) {
  do {
    let signature = try MethodSignature(text)
    precondition(signature.description == text, "prints another text back")
    for strength in MethodSignature.MatchStrength.allCases {
      precondition(signature.matches(signature, strength), "does not match itself")
    }
    precondition(signature.argumentOffsets.count == signature.numberOfArguments, "offsets for other arguments")
    _ = (signature.frameLength, signature.returnLength, signature.argumentLayouts, signature.isOneway)
  } catch {
    precondition((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
  }
}

private func selector(_ text: String) {
  do {
    let count = try MessageSelector.numberOfArguments(inName: text)
    precondition(count == text.utf8.count { $0 == UInt8(ascii: ":") }, "other arguments than colons")
    guard MessageSelector.internedCount < 20_000 else { return }
    let selector = try MessageSelector(text)
    precondition(selector.numberOfArguments == count && MessageSelector(known: text) == selector, "interned as another")
    precondition(selector.parts.count == max(count, 1), "other parts than arguments")
    let call = Invocation(selector, arguments: (0..<count).map { ArgumentBox($0) })
    _ = "\(call)"
  } catch {
    precondition((0...text.utf8.count).contains(error.byteOffset), "an offset outside of the text")
    precondition(MessageSelector(known: text) == nil, "a refused name is known")
  }
}

private func swiftName(_ text: String) {
  guard MessageSelector.internedCount < 20_000 else { return }
  guard let selector = try? MessageSelector(swiftName: text) else { return }
  precondition((try? MessageSelector.numberOfArguments(inName: selector.name)) == selector.numberOfArguments)
}

private func script(_ text: String) {
  _ = ScriptSession.isIncomplete(text)
  if let error = ScriptSession.check(text) {
    _ = "\(error)"
    return
  }
  let session = ScriptSession(stepLimit: 500, handlers: ScriptHandlers(output: { _ in }))
  _ = session.run(text)
}
