// EndpointLines.swift: what an endpoint remembers of its senders, so that nothing runs twice or out of order.
// Layer: Endpoint. See DESIGN.md, "Other processes".

/// The lines of one endpoint. They belong to its isolation.
///
/// A line is one sender's: its messages are numbered. The endpoint gives lines their names, which no other sender can guess
/// and which are never given again, so that a message for a line which it has closed cannot be taken for one of another line.
final class EndpointLines {
  private let limits: MessageLimits
  private var lines: [LineName: EndpointLine] = [:]
  private var uses = 0
  private var keptBytes = 0

  init(_ limits: MessageLimits) { self.limits = limits }

  /// Opens a line; the idle one that was unused for longest goes where there are too many.
  ///
  /// - Returns: its name; `nil` when all lines have messages that run.
  func open() -> LineName? {
    if lines.count >= limits.lines {
      guard let oldest = lines.filter({ !$0.value.isRunning }).min(by: { $0.value.lastUse < $1.value.lastUse }) else {
        return nil
      }
      forget(oldest.value)
      lines[oldest.key] = nil
    }
    let (name, line) = (LineName(), EndpointLine())
    lines[name] = line
    touch(line)
    return name
  }

  func line(named text: String) -> EndpointLine? {
    guard let name = LineName(text), let line = lines[name] else { return nil }
    touch(line)
    return line
  }

  private func touch(_ line: EndpointLine) {
    uses += 1
    line.lastUse = uses
  }

  /// Keeps the answer of a line's last message, for the case that the engine delivers it twice.
  func keep(_ answer: MessageEnvelope, for number: Int, on line: EndpointLine) {
    guard line.last == number else { return line.answer(number, answer, keeps: false) }
    forget(line)
    let size = answer.text.utf8.count
    let fits = keptBytes + size <= limits.keptAnswers
    if fits { keptBytes += size }
    line.answer(number, answer, keeps: fits)
  }

  private func forget(_ line: EndpointLine) {
    if let kept = line.kept { keptBytes -= kept.text.utf8.count }
    line.kept = nil
  }
}

/// One sender's messages at an endpoint.
final class EndpointLine {
  /// What is to become of a message by its number.
  enum Place {
    /// A later one has come: this one does not run any more.
    case superseded
    /// It came before.
    case repeated
    /// So many messages cannot have been sent since the last one: it does not run.
    case ahead
    /// It is the next; another may still run.
    case next(mustWait: Bool)
  }

  /// How far a number may be above the last one: more messages than any sender loses between two that arrive.
  static let reach = 1 << 20

  /// The number of the last message that came.
  private(set) var last = 0
  /// The answer of that message, once there is one and if it is kept.
  var kept: MessageEnvelope?
  var lastUse = 0
  private(set) var isRunning = false
  private var hasAnswered = true
  private var turns: [CheckedContinuation<Void, Never>] = []
  /// Who asked again for the answer of a message that was still to come, by its number.
  private var listeners: [(number: Int, continuation: CheckedContinuation<MessageEnvelope, Never>)] = []

  var waitingCount: Int { turns.count }

  func take(_ number: Int) -> Place {
    if number < last { return .superseded }
    if number == last { return .repeated }
    guard number - last <= EndpointLine.reach else { return .ahead }
    last = number
    hasAnswered = false
    guard isRunning else {
      isRunning = true
      return .next(mustWait: false)
    }
    return .next(mustWait: true)
  }

  /// Waits until the messages before have ended.
  func waitForTurn(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation { turns.append($0) }
  }

  /// Lets the next message of the line run.
  func endTurn() {
    if turns.isEmpty { isRunning = false } else { turns.removeFirst().resume() }
  }

  /// The answer of the last message, once there is one; `nil` when it was not kept, or when too many wait for it.
  func answerOfLast(atMost bound: Int, isolation: isolated (any Actor)? = #isolation) async -> MessageEnvelope? {
    if hasAnswered { return kept }
    guard listeners.count < bound else { return nil }
    return await withCheckedContinuation { listeners.append((last, $0)) }
  }

  /// The answer of a message is known.
  func answer(_ number: Int, _ answer: MessageEnvelope, keeps: Bool) {
    for listener in listeners where listener.number == number { listener.continuation.resume(returning: answer) }
    listeners.removeAll { $0.number == number }
    guard number == last else { return }
    hasAnswered = true
    if keeps { kept = answer }
  }
}
