// EndpointLines.swift: the lines of one endpoint, so many and no more.
// Layer: Endpoint. See the article "When one process is not enough".

/// The lines of one endpoint. They belong to its isolation.
///
/// The endpoint gives lines their names, which no other sender can guess and which are never given again. So a message for a
/// line that was closed cannot be taken for one of another line.
final class EndpointLines {
  /// What is to be done for a message that names a line.
  enum Finding {
    case open(EndpointLine)
    /// The line was closed for another; messages up to this number had come.
    case closed(after: Int)
    /// No line of this endpoint, or one that was closed long ago.
    case unknown
  }

  private let limits: MessageLimits
  private let kept: KeptAnswers
  private var lines: [LineName: EndpointLine] = [:]
  /// The lines that were closed last, in that order: their messages did not run if they came later.
  private var closed: [(name: LineName, passed: Int)] = []
  private var uses = 0

  init(_ limits: MessageLimits) {
    self.limits = limits
    kept = KeptAnswers(limits.keptAnswers)
  }

  /// Opens a line. Where there are too many, the idle one that was unused for longest goes: of the same owner, or else of
  /// the owner with the most lines.
  ///
  /// - Returns: its name; `nil` when all lines have messages that run.
  func open(for owner: String) -> LineName? {
    if lines.count >= limits.lines {
      guard let oldest = oldestIdle(for: owner), let line = lines.removeValue(forKey: oldest) else { return nil }
      line.release(below: .max)
      if closed.count >= limits.lines { closed.removeFirst(closed.count / 2) }
      closed.append((oldest, line.passed))
    }
    let name = LineName()
    let line = EndpointLine(name, owner: owner, window: limits.waiting, kept)
    lines[name] = line
    touch(line)
    return name
  }

  private func oldestIdle(for owner: String) -> LineName? {
    let idle = lines.filter { $0.value.isIdle }
    var candidates = idle.filter { $0.value.owner == owner }
    if candidates.isEmpty {
      let shares = Dictionary(grouping: idle.values, by: \.owner).mapValues(\.count)
      let most = shares.values.max()
      candidates = idle.filter { shares[$0.value.owner] == most }
    }
    return candidates.min { $0.value.lastUse < $1.value.lastUse }?.key
  }

  /// The line of that name. Where the engine tells callers apart, another's line is unknown to `owner`.
  func find(_ name: LineName?, for owner: String?) -> Finding {
    guard let name else { return .unknown }
    if let line = lines[name], owner == nil || line.owner == owner {
      touch(line)
      return .open(line)
    }
    return closed.last { $0.name == name }.map { .closed(after: $0.passed) } ?? .unknown
  }

  func find(_ name: LineName) -> EndpointLine? { lines[name] }

  private func touch(_ line: EndpointLine) {
    uses += 1
    line.lastUse = uses
  }

  /// Ends what waits for its turn, on every line.
  func dropHeld() { for line in lines.values { line.dropHeld() } }
}

/// How many bytes of answers the lines of one endpoint keep. It belongs to the endpoint's isolation.
final class KeptAnswers {
  private let most: Int
  private var bytes = 0

  init(_ most: Int) { self.most = most }

  func add(_ answer: String) -> Bool {
    let size = answer.utf8.count
    guard size <= most - bytes else { return false }
    bytes += size
    return true
  }

  func remove(_ answer: String) { bytes -= answer.utf8.count }
}
