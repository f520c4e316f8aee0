// Messages.swift: messages as JSON.

@testable import Forwardcast
import ForwardcastCoding
import Foundation

struct Note: Codable, Sendable, Hashable {
  var text: String
  var next: [Note]?
}

/// A decoder that lists types, like a program that uses them.
private let reader: JSONDecoder = {
  _ = MessageSelector("ping")
  let decoder = JSONDecoder()
  decoder.userInfo[Invocation.typesKey] = KnownTypes(["Note": Note.self, "[[Note]]": [[Note]].self])
  return decoder
}()

/// A decoder that lists no selector.
private let strictReader: JSONDecoder = {
  let decoder = JSONDecoder()
  decoder.userInfo[Invocation.typesKey] = reader.userInfo[Invocation.typesKey]
  decoder.userInfo[MessageSelector.selectorsKey] = Set<MessageSelector>()
  return decoder
}()

private let writer = JSONEncoder()

/// Decodes a message, encodes it and decodes it again. Decoding must intern nothing.
func message(_ text: String) {
  let reader = reader
  let before = SelectorNames.count
  let data = Data(text.utf8)
  let call: Invocation
  do { call = try reader.decode(Invocation.self, from: data) } catch {
    _ = try? reader.decode([MessageSelector].self, from: data)
    _ = try? reader.decode(MethodSignature.self, from: data)
    require(SelectorNames.count == before, "reading interned a name")
    return
  }
  require(SelectorNames.count == before, "reading interned a name")
  require(call.arguments.count <= Invocation.argumentLimit, "more arguments than may be read")
  // JSON cannot encode some numbers.
  guard let written = try? writer.encode(call) else { return }
  guard let again = try? reader.decode(Invocation.self, from: written) else {
    fail("what was written cannot be read")
  }
  // The order of a dictionary may change, so values are compared by type and count.
  require(again.selector == call.selector, "reads back as another")
  require(again.arguments.map { "\($0.type)" } == call.arguments.map { "\($0.type)" }, "reads back otherwise")
  require(again.signature.description == call.signature.description, "reads back with another signature")
  require((try? strictReader.decode(Invocation.self, from: data)) == nil, "read a selector that is not listed")
}
