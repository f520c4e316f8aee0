// MulticastProxy+Description.swift: describes a proxy and its targets.

extension MulticastProxy: CustomStringConvertible {
  /// Lists the interface, the live registrations and the last reported error:
  ///
  ///     multicast of RoomDelegate, 2 targets
  ///     target   selectors            context     waiting  dropped
  ///     Archive  only roomClosed:     queue disk  3        0
  ///     Window   2: roomClosed: say:  direct      -        -
  ///     hooks 1, ran on contexts 12
  ///     last error: 'roomClosed:' failed in Archive: disk full
  ///
  /// Waiting messages are known only for bounded buffers. `ran on contexts` does not count
  /// synchronous messages.
  public var description: String {
    let registrations = registrations
    let count = registrations.count
    let title = "multicast of \(writtenName(of: Interface.self)), \(count) target\(count == 1 ? "" : "s")"
    return ([title] + core.descriptionLines(registrations)).joined(separator: "\n")
  }
}

extension MulticastCore {
  func descriptionLines(_ registrations: [Registration]) -> [String] {
    var lines: [String] = []
    if !registrations.isEmpty {
      let rows = registrations.map { row($0) }
      lines += aligned([["target", "selectors", "context", "waiting", "dropped"]] + rows)
    }
    let (hooks, streams, error) = state.withLock {
      ($0.rest?.hooks.count ?? 0, $0.rest?.listeners.count ?? 0, $0.rest?.lastError)
    }
    let ran = mailboxes.reduce(0) { $0 + $1.delivered }
    let facts = [("hooks", hooks), ("streams", streams), ("ran on contexts", ran)].filter { $0.1 > 0 }
    if !facts.isEmpty { lines.append(facts.map { "\($0) \($1)" }.joined(separator: ", ")) }
    if let error { lines.append("last error: \(error)") }
    return lines
  }

  private func row(_ registration: Registration) -> [String] {
    let target = registration.liveTarget
    var name = target.map { typeName(of: $0) } ?? "a dead target"
    if registration.priority != 0 { name += " (priority \(registration.priority))" }
    if registration.isMuted { name += " (muted)" }
    let queued = registration.queued
    return [
      name, selectors(registration, target), queued?.mailbox.context.name ?? "direct",
      queued.map { $0.line.map { "\($0.count)" } ?? "?" } ?? "-", queued.map { "\($0.dropped)" } ?? "-",
    ]
  }

  private func selectors(_ registration: Registration, _ target: AnyObject?) -> String {
    if let only = registration.selectors { return "only " + shortened(inOrder(Array(only)) { $0.name }) }
    if let closure = target as? Method { return closure.selector.name }
    if target is any MulticastSending { return "those of its targets" }
    var known = Set((target as? any MessageReceiver)?.answeredMessages.map(\.selector) ?? [])
    if let table {
      let missing = (target as? any PartialTarget).map { type(of: $0).unimplemented } ?? []
      known.formUnion(table.selectors.filter { !missing.contains($0) })
    }
    if known.isEmpty { return target is any MessageForwarding ? "what it forwards" : "none" }
    return "\(known.count): " + shortened(inOrder(Array(known)) { $0.name })
  }

  private func shortened(_ selectors: [MessageSelector]) -> String {
    selectors.prefix(3).map(\.name).joined(separator: " ") + (selectors.count > 3 ? " …" : "")
  }
}

/// Pads the columns of a table, except the last column.
func aligned(_ rows: [[String]]) -> [String] {
  let widths = rows[0].indices.dropLast().map { column in rows.map { $0[column].count }.max() ?? 0 } + [0]
  return rows.map { row in
    zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }.joined(separator: "  ")
  }
}
