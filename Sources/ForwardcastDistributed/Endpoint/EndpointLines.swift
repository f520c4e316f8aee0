// EndpointLines.swift: the lines of one endpoint, so many and no more.

/// The lines of one endpoint. They belong to its isolation.
///
/// The endpoint gives lines their names, which no other sender can guess and which are never given again. So a message for a
/// line that was closed cannot be taken for one of another line.
final class EndpointLines {
  private let limits: MessageLimits
  private let memory: EndpointMemory
  private var lines: [LineName: EndpointLine] = [:]
  /// The lines that were closed last, with the last message that had begun: those above it did not run. At least 16 for each
  /// line that may be open.
  private var closed: (latest: [LineName: Int], earlier: [LineName: Int]) = ([:], [:])
  private var uses = 0
  /// What all names end with.
  private let endpoint = UInt32.random(in: 0 ... .max)

  init(_ limits: MessageLimits) {
    self.limits = limits
    memory = EndpointMemory(limits.memory)
  }

  /// Opens a line. Where there are too many, the idle one that was unused for longest goes: of the same owner, or else of
  /// the owner with the most lines.
  ///
  /// - Returns: its name; `nil` when all lines have messages that run.
  func open(for owner: WireName) -> LineName? {
    if lines.count >= limits.lines {
      guard let oldest = oldestIdle(for: owner), let line = lines.removeValue(forKey: oldest) else { return nil }
      line.release(below: .max)
      if closed.latest.count / 16 >= limits.lines { closed = ([:], closed.latest) }
      closed.latest[oldest] = line.passed
    }
    let name = LineName(of: endpoint)
    let line = EndpointLine(name, owner: owner, window: limits.waiting, memory)
    lines[name] = line
    touch(line)
    return name
  }

  private func oldestIdle(for owner: WireName) -> LineName? {
    let idle = lines.filter { $0.value.isIdle }
    var candidates = idle.filter { $0.value.owner == owner }
    if candidates.isEmpty {
      let shares = Dictionary(grouping: idle.values, by: \.owner).mapValues(\.count)
      let most = shares.values.max()
      candidates = idle.filter { shares[$0.value.owner] == most }
    }
    return candidates.min { $0.value.lastUse < $1.value.lastUse }?.key
  }

  /// The line of a message. Where the engine tells callers apart, `owner` does not find another's.
  ///
  /// - Throws: ``WireRefusal``, which says that the message did not run only where that is known.
  func find(_ name: LineName?, _ number: Int, for owner: WireName?) throws(WireRefusal) -> EndpointLine {
    guard let name, name.endpoint == endpoint else {
      throw WireRefusal(.unknownLine, "the endpoint never had such a line")
    }
    if let line = lines[name], owner == nil || line.owner == owner {
      touch(line)
      return line
    }
    guard let passed = closed.latest[name] ?? closed.earlier[name] else {
      throw WireRefusal(.answerNotKept, "the line was closed long ago, or is another's")
    }
    if number > passed { throw WireRefusal(.unknownLine, "the line was closed for another") }
    throw WireRefusal(.answerNotKept, "the message came twice, and its line is closed")
  }

  func find(_ name: LineName) -> EndpointLine? { lines[name] }

  private func touch(_ line: EndpointLine) {
    uses += 1
    line.lastUse = uses
  }

  /// Ends what waits for its turn, on every line.
  func dropHeld() { for line in lines.values { line.dropHeld() } }
}

/// What an endpoint holds for its senders, in bytes. It belongs to the endpoint's isolation.
///
/// A sender may hold no more than it leaves free: one that takes all that it may leaves half, two of them leave a third.
final class EndpointMemory {
  private let most: Int
  private var held = 0
  private var parts: [WireName: Int] = [:]

  init(_ most: Int) { self.most = most }

  func take(_ bytes: Int, for owner: WireName) -> Bool {
    let part = parts[owner, default: 0] + bytes
    guard part <= most - held - bytes else { return false }
    held += bytes
    parts[owner] = part
    return true
  }

  func give(_ bytes: Int, of owner: WireName) {
    held -= bytes
    let part = parts[owner, default: 0] - bytes
    parts[owner] = part > 0 ? part : nil
  }
}
