// TraceTimeline.swift: assigns slices to lanes, so that they nest.

import Forwardcast

/// The task in which an event happens or, outside tasks, the thread.
struct TracePlace: Hashable, Sendable {
  let thread: ThreadIdentity
  /// The running task. It may continue on another thread after a suspension.
  private let task: Int?
  let isMain: Bool

  static var current: TracePlace {
    TracePlace(thread: .current, task: withUnsafeCurrentTask { $0?.hashValue }, isMain: HeldContext.isMain)
  }

  static func == (left: TracePlace, right: TracePlace) -> Bool {
    left.task == right.task && (left.task != nil || left.thread == right.thread)
  }

  func hash(into hasher: inout Hasher) { task == nil ? thread.hash(into: &hasher) : task.hash(into: &hasher) }
}

/// The open slices, the lanes, and the text to write.
///
/// A new slice is nested in the innermost slice of its task or thread, on that slice's lane, if the
/// lane belongs to the new slice's context and has no slice within the innermost one. Otherwise the
/// new slice takes a free lane of its context or thread. A slice is written when it ends. If nested
/// slices are still open then, the written slice moves to another lane.
struct TraceTimeline {
  private struct Slice {
    let step: Int
    let begin: Int64
    let place: TracePlace
    let lane: Int
    let text: String
  }

  private struct Lane {
    let base: String
    /// The open steps of the lane. Each step is nested in the preceding step.
    var open: [Int] = []
    var end: Int64 = 0
  }

  var text = "[\n"
  private let origin: ContinuousClock.Instant
  private var slices: [Int: Slice] = [:]
  /// The start of each arrow, by the step of the queued message.
  private var queued: [Int: (time: Int64, lane: Int)] = [:]
  /// The open steps of each place, innermost last.
  private var stacks: [TracePlace: [Int]] = [:]
  private var lanes: [Lane] = []
  private var lanesOfBase: [String: [Int]] = [:]
  private var threads: [ThreadIdentity: Int] = [:]

  init(origin: ContinuousClock.Instant) { self.origin = origin }

  var openSlices: Int { slices.count }

  /// Adds an event. Returns `false` if the event was omitted because `isFull` is true.
  mutating func take(_ entry: TraceEntry, at place: TracePlace, isFull: Bool) -> Bool {
    let time = nanoseconds(entry.instant)
    var line = ""
    switch entry.stage {
    case .sent, .began: begin(entry, time, place)
    case .answered, .failed, .skipped:
      if let slice = slices[entry.step] {
        line = end(slice, time, entry.outcome)
      } else if !entry.text.isEmpty {
        let lane = lane(at: place, from: time)
        line = entry.mark(at: microseconds(time), lane: lane) + arrow(to: entry.step, time, lane)
      }
    case .queued: queued[entry.step] = (time, lane(at: place, from: time))
    }
    if !isFull { append(line) }
    return line.isEmpty || !isFull
  }

  mutating func end(at instant: ContinuousClock.Instant) {
    for slice in slices.values.sorted(by: { ($0.begin, $0.step) > ($1.begin, $1.step) }) {
      append(end(slice, nanoseconds(instant), ",\"outcome\":\"has not ended\""))
    }
    text += "\n]\n"
  }

  // MARK: Slices

  private mutating func begin(_ entry: TraceEntry, _ time: Int64, _ place: TracePlace) {
    guard slices[entry.step] == nil else { return }
    let lane = lane(at: place, context: entry.context, from: time)
    slices[entry.step] = Slice(step: entry.step, begin: time, place: place, lane: lane, text: entry.text)
    lanes[lane].open.append(entry.step)
    stacks[place, default: []].append(entry.step)
  }

  private mutating func end(_ slice: Slice, _ time: Int64, _ outcome: String) -> String {
    slices[slice.step] = nil
    stacks[slice.place]?.removeLast(slice.step)
    if stacks[slice.place]?.isEmpty ?? false { stacks[slice.place] = nil }
    let end = max(time, slice.begin)
    var lane = slice.lane
    let isInnermost = lanes[lane].open.last == slice.step
    lanes[lane].open.removeLast(slice.step)
    // Slices that are nested in this slice are still open.
    if !isInnermost { lane = freeLane(lanes[lane].base, from: slice.begin) }
    lanes[lane].end = max(lanes[lane].end, end)
    let (begin, duration) = (microseconds(slice.begin), microseconds(end - slice.begin))
    return "{\(slice.text)\(outcome)},\"ph\":\"X\",\"ts\":\(begin),\"dur\":\(duration),\"pid\":1,\"tid\":\(lane + 1)}"
      + arrow(to: slice.step, slice.begin, lane)
  }

  private mutating func arrow(to step: Int, _ time: Int64, _ lane: Int) -> String {
    guard let start = queued.removeValue(forKey: step) else { return "" }
    return ",\n" + TraceEntry.arrow("s", step, at: microseconds(start.time), lane: start.lane) + ",\n"
      + TraceEntry.arrow("f", step, at: microseconds(time), lane: lane)
  }

  // MARK: Lanes

  /// The lane of the innermost slice of `place` if that lane fits; otherwise a free lane.
  private mutating func lane(at place: TracePlace, context: String? = nil, from time: Int64) -> Int {
    if let outer = stacks[place]?.last, let slice = slices[outer], lanes[slice.lane].open.last == outer,
      context == nil || context == lanes[slice.lane].base
    {
      return slice.lane
    }
    return freeLane(context ?? name(of: place), from: time)
  }

  /// The first lane named `base` that has been free since `time`; otherwise a new lane.
  private mutating func freeLane(_ base: String, from time: Int64) -> Int {
    let known = lanesOfBase[base] ?? []
    if let free = known.first(where: { lanes[$0].open.isEmpty && lanes[$0].end <= time }) { return free }
    let lane = lanes.count
    lanes.append(Lane(base: base))
    lanesOfBase[base, default: []].append(lane)
    let name = known.isEmpty ? base : "\(base) (\(known.count + 1))"
    append(
      "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":\(lane + 1),"
        + "\"args\":{\"name\":\(TraceEntry.quoted(name))}}")
    return lane
  }

  private mutating func name(of place: TracePlace) -> String {
    if place.isMain { return "main thread" }
    let number = threads[place.thread] ?? threads.count + 1
    threads[place.thread] = number
    return "thread \(number)"
  }

  // MARK: Text

  private mutating func append(_ line: String) {
    guard !line.isEmpty else { return }
    text += text == "[\n" ? line : ",\n" + line
  }

  /// The time since the beginning of the file, clamped to the range from 0 to about a century.
  private func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 {
    let time = origin.duration(to: instant)
    guard time > .zero else { return 0 }
    guard time < .seconds(3_000_000_000) else { return 3_000_000_000_000_000_000 }
    return time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000
  }

  private func microseconds(_ nanoseconds: Int64) -> String {
    "\(nanoseconds / 1000).\("\(1000 + nanoseconds % 1000)".dropFirst())"
  }
}

extension Array where Element == Int {
  fileprivate mutating func removeLast(_ element: Int) {
    if let index = lastIndex(of: element) { remove(at: index) }
  }
}
