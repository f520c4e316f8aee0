// Fuzz.swift: random and mutated text for every parser. Built and run by Tests/Fuzz/run.

import Forwardcast
import ForwardcastScript

/// The last character says which parser reads the rest, so that what a mutation inserts stays what it was.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 0 else { return 0 }
  let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count - 1), as: UTF8.self)
  switch bytes[count - 1] % 8 {
  case 0, 1: encoding(text)
  case 2, 3: signature(text)
  case 4: selector(text)
  case 5: swiftName(text)
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
