// EndpointLines.swift: a limited number of lines at one endpoint.

/// The lines of one endpoint. Isolated to the endpoint.
///
/// The endpoint names lines. A name cannot be guessed and is not used twice, so a message for a
/// closed line never reaches another line.
final class EndpointLines {
  private let limits: MessageLimits
  private let memory: EndpointMemory
  private var lines: [LineName: EndpointLine] = [:]
  /// For each recently closed line, the last message that had begun. Later messages did not run.
  private var closed: (latest: [LineName: Int], earlier: [LineName: Int]) = ([:], [:])
  private var uses = 0
  /// The common suffix of all names.
  private let endpoint = UInt32.random(in: 0 ... .max)

  init(_ limits: MessageLimits) {
    self.limits = limits
    memory = EndpointMemory(limits.memory)
    memory.makesRoom = { [unowned self] in
      let idle = lines.values.filter { $0.isIdle && $0.keepsAnswers }
      guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return false }
      oldest.dropAnswer()
      return true
    }
  }

  /// Opens a line. If there are too many lines, closes an idle line: the least recently used one of
  /// the same owner or, without one, of the owners with the most lines. Returns `nil` if no line is
  /// idle.
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

  /// Finds the line of a message. `owner` is the caller, if the engine identifies callers. Throws
  /// `answerNotKept` if the message might have run, otherwise `unknownLine`.
  func find(_ name: LineName?, _ number: Int, for owner: WireName?) throws(WireRefusal) -> EndpointLine {
    guard let name, name.endpoint == endpoint else {
      throw WireRefusal(.unknownLine, "the endpoint does not know the line")
    }
    if let line = lines[name], owner == nil || line.owner == owner {
      touch(line)
      return line
    }
    guard let passed = closed.latest[name] ?? closed.earlier[name] else {
      throw WireRefusal(.answerNotKept, "the line was closed long ago, or belongs to another sender")
    }
    if number > passed {
      throw WireRefusal(.unknownLine, "the endpoint closed the line because MessageLimits.lines was reached")
    }
    throw WireRefusal(.answerNotKept, "the message was received twice, and its line is closed")
  }

  func find(_ name: LineName) -> EndpointLine? { lines[name] }

  private func touch(_ line: EndpointLine) {
    uses += 1
    line.lastUse = uses
  }

  func dropHeld() { for line in lines.values { line.dropHeld() } }
}

/// The memory that an endpoint holds for its senders, in bytes. Isolated to the endpoint.
///
/// Each sender can hold at most as much memory as is still free. So a single sender can hold up to
/// half of the memory, and two senders can hold up to a third each.
final class EndpointMemory {
  private let most: Int
  /// Drops the oldest answer that an idle line keeps. Returns `false` if idle lines keep none.
  var makesRoom: () -> Bool = { false }
  private var held = 0
  private var parts: [WireName: Int] = [:]

  init(_ most: Int) { self.most = most }

  /// Takes memory for a sender, and drops kept answers if necessary. Returns `false` on failure.
  func take(_ bytes: Int, for owner: WireName) -> Bool {
    guard bytes <= most - bytes else { return false }
    while parts[owner, default: 0] + bytes > most - held - bytes { guard makesRoom() else { return false } }
    held += bytes
    parts[owner, default: 0] += bytes
    return true
  }

  func give(_ bytes: Int, of owner: WireName) {
    held -= bytes
    let part = parts[owner, default: 0] - bytes
    parts[owner] = part > 0 ? part : nil
  }
}
