// Journal.swift: what can be seen of a program from outside.

/// One thing that was seen.
struct Event: Hashable, CustomStringConvertible {
  /// The step in which it happened.
  var step: Int
  /// Who saw it: a target, a hook, a handler of errors, a sender.
  let actor: String
  var text: String
  /// Other texts that are taken for it.
  var also: [String] = []
  /// Whom a report lists as passed over.
  var skipped: [String]?
  /// Whom it may list besides: "removed … before, until the list of targets has been tidied up".
  var maySkip: [String] = []
  /// Other reasons that it may give.
  var either: [String: Set<String>] = [:]

  var description: String {
    "\(actor) \(text)" + (skipped.map { ", skipped [\($0.joined(separator: ", "))]" } ?? "")
  }
}

/// What was seen, in the order in which it was.
typealias Journal = [Event]

extension Journal {
  /// The same, with what happened after a step taken for what happened in it.
  func atMost(_ step: Int) -> Journal {
    map { event in
      var event = event
      event.step = Swift.min(event.step, step)
      return event
    }
  }
}

/// The first step that two journals tell of differently.
struct Difference: CustomStringConvertible {
  let step: Int
  let expected: [String]
  let observed: [String]
  var description: String {
    func block(_ lines: [String]) -> String {
      lines.isEmpty ? "    (nothing)" : lines.map { "    " + $0 }.joined(separator: "\n")
    }
    return "in step \(step)\n  expected:\n\(block(expected))\n  observed:\n\(block(observed))"
  }
}

/// Compares by step. What happens in the sender's turn has one order; what runs on contexts or is waited for has one for each
/// target only, and its errors go to handlers at some time.
func firstDifference(
  expected: Journal, observed: Journal, several: Set<String>, ordered: (Int) -> Bool
) -> Difference? {
  func byStep(_ journal: Journal) -> [Int: Journal] {
    Dictionary(grouping: journal) { $0.actor.hasPrefix("onError") && !ordered($0.step) ? .max : $0.step }
  }
  let (expected, observed) = (byStep(expected), byStep(observed))
  for step in Set(expected.keys).union(observed.keys).sorted() {
    let wanted = expected[step] ?? []
    let found = (observed[step] ?? []).map { event in
      wanted.first { $0.actor == event.actor && $0.actor.hasPrefix("send") }.map { matched(event, with: $0) }
        ?? event
    }
    func texts(_ events: [Event]) -> [String] { events.map(\.description) }
    func byActor(_ events: [Event]) -> [String: [String]] {
      let groups = Dictionary(grouping: events, by: \.actor).mapValues(texts)
      return Dictionary(
        uniqueKeysWithValues: groups.map {
          ($0, several.contains($0) || !ordered(step) && !$0.hasPrefix("t") ? $1.sorted() : $1)
        })
    }
    func inTurn(_ events: [Event]) -> [String] {
      texts(events.filter { !$0.actor.hasPrefix("onError") && !$0.actor.hasPrefix("stream") })
    }
    let isEqual = byActor(wanted) == byActor(found) && (!ordered(step) || inTurn(wanted) == inTurn(found))
    if !isEqual { return Difference(step: step, expected: texts(wanted), observed: texts(found)) }
  }
  return nil
}

/// An event of a sender without the skips that its report may or may not have, and with the text that another stands for.
private func matched(_ event: Event, with wanted: Event) -> Event {
  var event = event
  if wanted.also.contains(event.text) { event.text = wanted.text }
  var (rest, optional) = (wanted.skipped ?? [], wanted.maySkip)
  event.skipped = event.skipped?.compactMap { entry in
    if let next = rest.first, next == entry || wanted.either[next]?.contains(entry) ?? false {
      return rest.removeFirst()
    }
    guard let index = optional.firstIndex(of: entry) else { return entry }
    optional.remove(at: index)
    return nil
  }
  return event
}
