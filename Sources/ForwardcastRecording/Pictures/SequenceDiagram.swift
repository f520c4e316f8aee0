// SequenceDiagram.swift: message events as a sequence diagram.

import Forwardcast
import Synchronization

/// Collects message events and writes them as text, as a Mermaid sequence diagram, or as SVG. May
/// be used from any thread. Stores up to ``limit`` events and only counts further events.
///
///     let diagram = SequenceDiagram()
///     kitchen.trace(as: "kitchen") { diagram.add($0) }
///     kitchen.broadcast(.cook, "fish")
///     print(diagram.mermaid)
public final class SequenceDiagram: Sendable {
  /// The maximum number of stored events.
  public let limit: Int
  private let state: Guarded<State>

  private struct State {
    var events: [MessageEvent] = []
    var omitted = 0
    /// The method executions that run at each place (task or thread), the innermost last.
    var running: [TracePlace: [(step: Int, name: String)]] = [:]
    /// The place where each execution began. An execution that suspends can end at another place.
    var beginnings: [Int: TracePlace] = [:]
    /// The senders, if known, of messages that are not answered yet.
    var senders: [Int: String] = [:]
    /// The lifeline of each object, and the object's name in its events.
    var lifelines: [ObjectIdentifier: (name: String, lifeline: String)] = [:]
    var owners: [String: ObjectIdentifier] = [:]

    /// Replaces names by lifelines. If the event states no sender, the sender is the innermost
    /// method that runs in the same task or thread.
    mutating func signed(_ event: MessageEvent, at place: TracePlace) -> MessageEvent {
      let receiver = lifeline(event.receiver, event.identities.receiver)
      var sender = lifeline(event.sender, event.identities.sender)
      switch event.stage {
      case .began:
        running[place, default: []].append((event.step, receiver))
        beginnings[event.step] = place
      case .sent where sender == "sender": senders[event.step] = running[place]?.last?.name
      case .answered, .failed, .skipped:
        let place = beginnings.removeValue(forKey: event.step) ?? place
        running[place]?.removeAll { $0.step == event.step }
        if running[place]?.isEmpty ?? false { running[place] = nil }
      case .sent, .queued: break
      }
      if let known = senders[event.step] {
        sender = known
        if event.stage != .sent { senders[event.step] = nil }
      }
      return sender == event.sender && receiver == event.receiver
        ? event : event.renamed(sender: sender, receiver: receiver)
    }

    /// The lifeline of a participant: its name, with a number if another object has that name.
    private mutating func lifeline(_ name: String, _ object: ObjectIdentifier?) -> String {
      guard let object else { return name }
      if let known = lifelines[object], known.name == name { return known.lifeline }
      var (lifeline, number) = (name, 1)
      while let owner = owners[lifeline], owner != object {
        number += 1
        lifeline = "\(name) (\(number))"
      }
      (lifelines[object], owners[lifeline]) = ((name, lifeline), object)
      return lifeline
    }
  }

  /// Creates an empty diagram that stores at most `limit` events and only counts further events.
  public init(limit: Int = 10_000) {
    self.limit = limit
    state = Guarded(State())
  }

  /// Adds an event that happens on the calling thread. If the event states no sender, the sender is
  /// the target whose method runs in the current task or, outside tasks, on that thread.
  public func add(_ event: MessageEvent) {
    let isFull = state.withLock { state in
      if state.events.count >= limit { state.omitted += 1 }
      return state.events.count >= limit
    }
    guard !isFull else { return }
    let (place, event) = (TracePlace.current, event.renamed(sender: event.sender, receiver: event.receiver))
    state.withLock { state in
      if state.events.count < limit {
        state.events.append(state.signed(event, at: place))
      } else {
        state.omitted += 1
      }
    }
  }

  /// The events in the order of arrival.
  public var events: [MessageEvent] { state.withLock { $0.events } }

  /// The number of events that were not stored.
  public var omitted: Int { state.withLock { $0.omitted } }

  /// Removes all events and sets ``omitted`` to 0.
  public func removeAll() { state.withLock { $0 = State() } }

  /// A line for each event.
  public var text: String { events.map { "\($0)\n" }.joined() + (omitted == 0 ? "" : "and \(omitted) more\n") }

  var participants: [String] {
    var seen: Set<String> = []
    return events.flatMap { event in
      // Notes in the diagram show only the receiver.
      event.stage == .queued || event.stage == .skipped ? [event.receiver] : [event.sender, event.receiver]
    }.filter { seen.insert($0).inserted }
  }

  struct Mark {
    /// The raw values are Mermaid's syntax.
    enum Kind: String {
      case call = "->>"
      case reply = "-->>"
      case failure = "--x"
      case note = ""
    }

    let kind: Kind
    let (from, to, text): (String, String, String)

    init(_ kind: Kind, _ from: String, _ to: String, _ text: String) {
      (self.kind, self.from, self.to, self.text) = (kind, from, to, text)
    }
  }

  var marks: [Mark] {
    events.map { event in
      let (sender, receiver, evidence) = (event.sender, event.receiver, event.evidence)
      let context = event.stage == .sent || event.context == "directly" ? "" : " (\(event.context))"
      return switch event.stage {
      case .sent, .began: Mark(.call, sender, receiver, event.message + context)
      case .answered: Mark(.reply, receiver, sender, evidence.isEmpty || evidence == "()" ? "done" : evidence)
      case .failed: Mark(.failure, receiver, sender, evidence)
      case .queued: Mark(.note, receiver, receiver, "\(event.message) waits on \(event.context)")
      case .skipped: Mark(.note, receiver, receiver, "skipped: \(evidence)")
      }
    }
  }

  // MARK: Mermaid

  /// The diagram in Mermaid's language.
  public var mermaid: String {
    let names = participants
    let ids = Dictionary(names.enumerated().map { ($1, "p\($0 + 1)") }) { first, _ in first }
    func id(_ name: String) -> String { ids[name] ?? "p0" }
    var lines = ["sequenceDiagram"]
    for name in names { lines.append("  participant \(id(name)) as \(SequenceDiagram.mermaidText(name))") }
    for mark in marks {
      let (from, to) = (id(mark.from), id(mark.to))
      let place = mark.kind == .note ? "Note over \(from)" : "\(from)\(mark.kind.rawValue)\(to)"
      lines.append("  \(place): \(SequenceDiagram.mermaidText(mark.text))")
    }
    if omitted > 0, let first = names.first { lines.append("  Note over \(id(first)): and \(omitted) more") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Shortened text on one line, with Mermaid's special characters as character codes.
  static func mermaidText(_ text: String) -> String {
    let escaped = escaped(shortened(text, to: 80)) { scalar in
      switch scalar {
      case _ where scalar == "\t" || Character(scalar).isNewline: " "
      case "#", ";", "<", ">", "&", "\"", "%", "{", "}": "#\(scalar.value);"
      case _ where isHidden(scalar): "#65533;"
      default: nil
      }
    }
    return escaped.isEmpty ? " " : escaped
  }

  static func escaped(_ text: String, _ escape: (Unicode.Scalar) -> String?) -> String {
    text.unicodeScalars.reduce(into: "") { $0 += escape($1) ?? String($1) }
  }

  /// True for invisible characters, such as control characters and changes of the text direction.
  static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFFE, 0xFFFF,
      0xE0000..<0xE0080:
      true
    default: false
    }
  }

  static func shortened(_ text: String, to limit: Int) -> String {
    text.count <= limit ? text : text.prefix(limit - 1) + "…"
  }
}
