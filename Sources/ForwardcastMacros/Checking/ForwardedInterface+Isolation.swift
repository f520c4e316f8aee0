// ForwardedInterface+Isolation.swift: members that are elsewhere than their protocol.

extension ForwardedInterface {
  /// Where a member could not reach the targets, because the protocol's actor has them.
  var isolationProblems: [Problem] {
    guard ![.nonisolated, .inherited].contains(isolation), !isVisiblySendable else { return [] }
    // Where the protocol is on the main actor without saying so.
    let isStated = declaration.attributes.contains(where: \.isGlobalActor)
    let advice = isStated ? "" : ", or declare the protocol 'nonisolated'"
    return declaration.members.compactMap { member in
      if case .other = member.kind { return nil }
      guard isolation(of: member) != isolation else { return nil }
      let blame =
        member.modifier("nonisolated")?.positions ?? member.attributes.first(where: \.isGlobalActor)?.positions
        ?? member.namePositions
      return Problem(
        message:
          "the protocol's targets stay on its actor, so '\(member.name)' cannot reach them from elsewhere; inherit 'Sendable'\(advice)",
        offsets: source.offsets(blame))
    }
  }
}
