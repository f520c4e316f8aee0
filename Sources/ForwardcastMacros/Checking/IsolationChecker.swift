// IsolationChecker.swift: members that are elsewhere than their protocol.

/// Says where a member could not reach the targets, because the protocol's actor has them.
struct IsolationChecker {
  let interface: ForwardedInterface

  var problems: [Problem] {
    guard ![.nonisolated, .inherited].contains(interface.isolation), !interface.isVisiblySendable else { return [] }
    return interface.declaration.members.compactMap { member in
      if case .other = member.kind { return nil }
      guard interface.isolation(of: member) != interface.isolation else { return nil }
      let blame =
        member.modifier("nonisolated")?.positions ?? member.attributes.first(where: \.isGlobalActor)?.positions
        ?? member.namePositions
      return Problem(
        message:
          "the protocol's targets stay on its actor, so '\(member.name)' cannot reach them from elsewhere; inherit 'Sendable'\(advice)",
        offsets: interface.source.offsets(blame))
    }
  }

  /// Where the protocol is on the main actor without saying so.
  private var advice: String {
    let isStated = interface.declaration.attributes.contains(where: \.isGlobalActor)
    return isStated ? "" : ", or declare the protocol 'nonisolated'"
  }
}
