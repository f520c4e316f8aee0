// Attributes.swift: mutated declarations for the macro plugin. Run by Tests/Tools/Fuzz/attributes.

/// The last byte selects the attribute and its role.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let bytes, count > 0 else { return 0 }
  let declaration = SourceText(bytes: Array(UnsafeBufferPointer(start: bytes, count: count - 1)))
  let choice = bytes[count - 1] & 15
  let (macro, attribute, role) =
    switch choice % 6 {
    case 0: ("Forwarded", "@Forwarded", "peer")
    case 1: ("Forwarded", "@Forwarded(inheriting: (any A).self, base: B.self)", "extension")
    case 2: ("Receiver", "@Receiver", "member")
    case 3: ("Receiver", "@Receiver(.allMembers, inheriting: A.self)", "member")
    case 4: ("Message", "@Message", "peer")
    default: ("Forwarded", String(decoding: declaration.bytes, as: UTF8.self), "peer")
    }
  let request = ExpansionRequest(
    macro: macro, role: role, attribute: SourceText(attribute), declaration: declaration,
    context: [String(decoding: declaration.bytes, as: UTF8.self)], extendedType: "P",
    settings: ModuleSettings(isMainActorByDefault: choice & 8 != 0, isNonsendingByDefault: choice & 8 != 0))
  let expansion = request.expanded()
  for problem in expansion.problems {
    precondition(problem.offsets.upperBound <= declaration.bytes.count, "a problem is out of the declaration")
    precondition(!problem.message.isEmpty, "a problem without a reason")
  }
  if expansion.hasErrors { precondition(expansion.text.isEmpty, "text beside an error") }
  if !expansion.text.isEmpty, declaration.isWhole {
    precondition(SourceText(expansion.text).isWhole, "text that does not parse")
  }
  // The same bytes as a message from the compiler.
  _ = Conversation.reply(to: declaration.bytes)
  return 0
}

extension SourceText {
  /// True if every bracket is closed and every token is valid Swift.
  fileprivate var isWhole: Bool {
    var closed = Set<Int>()
    for (position, token) in tokens.enumerated() {
      if token.kind == .unknown { return false }
      guard token.kind == .mark else { continue }
      if isMark(position, "(") || isMark(position, "[") || isMark(position, "{") {
        guard let end = closing(position) else { return false }
        closed.insert(end)
      } else if isMark(position, ")") || isMark(position, "]") || isMark(position, "}") {
        if !closed.contains(position) { return false }
      }
    }
    return true
  }
}
