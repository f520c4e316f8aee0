// TraceFileTests.swift: the contents of trace files.

import Dispatch
import Forwardcast
import Foundation
import TestSupport
import Testing

@testable import ForwardcastRecording

/// An entry of a trace file.
private struct Entry: Decodable {
  let name: String
  let ph: String
  let ts: Double?
  let dur: Double?
  let tid: Int
  let id: Int?
  let args: [String: String]?
}

/// A decoded trace file.
private struct Lanes {
  let entries: [Entry]
  var slices: [Entry] { entries.filter { $0.ph == "X" } }
  /// Lane names by number.
  let names: [Int: String]

  init(_ text: String) throws {
    entries = try JSONDecoder().decode([Entry].self, from: Data(text.utf8))
    names = Dictionary(entries.filter { $0.ph == "M" }.map { ($0.tid, $0.args?["name"] ?? "") }) { first, _ in first }
  }

  func lane(of entry: Entry) -> String { names[entry.tid] ?? "" }

  /// Slices in one lane that overlap without nesting, in nanoseconds.
  var crossings: [String] {
    Dictionary(grouping: slices, by: \.tid).values.flatMap { lane -> [String] in
      var open: [(end: Int, name: String)] = []
      func nanoseconds(_ value: Double?) -> Int { Int(((value ?? -1) * 1000).rounded()) }
      return lane.map { (begin: nanoseconds($0.ts), length: nanoseconds($0.dur), name: $0.name) }
        .sorted { ($0.begin, -$0.length) < ($1.begin, -$1.length) }
        .compactMap { slice -> String? in
          while let last = open.last, last.end <= slice.begin { open.removeLast() }
          defer { open.append((slice.begin + slice.length, slice.name)) }
          guard let outer = open.last, outer.end < slice.begin + slice.length else { return nil }
          return "\(slice.name) crosses \(outer.name)"
        }
    }
  }
}

/// The pieces that a file has written.
private final class Pieces: Sendable {
  let state = Locked<(text: String, sizes: [Int])>(("", []))
  var text: String { state.withLock { $0.text } }
  func take(_ piece: String) { state.withLock { $0 = ($0.text + piece, $0.sizes + [piece.utf8.count]) } }
}

@Suite("Trace files")
struct TraceFileTests {
  private let pieces = Pieces()
  private let journal = Journal()

  private func file() -> TraceFile { TraceFile { [pieces] in pieces.take($0) } }

  @Test("only shortened text ends with an ellipsis")
  func lengths() {
    let longest = String(repeating: "茶", count: 1000)
    expect(TraceEntry.quoted(longest), equals: "\"\(longest)\"")
    expect(TraceEntry.quoted(longest + "茶"), equals: "\"\(longest)…\"")
  }

  @Test("a direct delivery is a slice inside its message's slice, with arguments and outcome")
  func directTurns() throws {
    let (file, proxy) = (file(), Desks.of(Desk("ann", worth: 1, journal), Desk("bo", worth: 2, journal)))
    proxy.trace(as: "office", naming: { ($0 as? Desk)?.name }) { file.add($0) }
    try expect(proxy.collect(.quote, 5, returning: .sum), equals: 13)
    #expect(throws: (any Error).self) { try proxy.collect(.quote, -1, returning: .sum) }
    file.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.crossings == [] && Set(lanes.slices.map(\.tid)).count == 1)
    expect(lanes.slices.map { $0.args?["receiver"] }, equals: ["ann", "bo", "office", "ann", "bo", "office"])
    expect(lanes.slices.map { $0.args?["answer"] }.prefix(3), equals: ["6", "7", "7"])
    expect(lanes.slices[3].args?["error"] == "refused by ann" && lanes.slices[0].args?["message"] == "quote: 5")
    expect(lanes.slices.allSatisfy { $0.name == "quote:" && !lanes.lane(of: $0).isEmpty })
    let (office, ann) = (lanes.slices[2], lanes.slices[0])
    let (end, inner) = (try #require(office.ts) + (office.dur ?? 0), try #require(ann.ts) + (ann.dur ?? 0))
    expect(try #require(office.ts) <= #require(ann.ts) && inner <= end)
  }

  @Test("a queued delivery is in the lane of its context, and an arrow leads to it")
  func queuedTurns() async throws {
    let (file, proxy) = (file(), SharedDesks())
    let (ann, bo) = (Desk("ann", journal), Desk("bo", journal))
    proxy.add(ann, delivery: .queue(DispatchQueue(label: "disk")))
    proxy.add(bo, delivery: .mainActor)
    proxy.trace(as: "office", naming: { ($0 as? Desk)?.name }) { file.add($0) }
    for text in ["a", "b"] { proxy.broadcast(.say, text) }
    try await proxy.drain()
    file.finish()
    let lanes = try Lanes(pieces.text)
    let turns = lanes.slices.filter { $0.args?["receiver"] != "office" }
    expect(turns.count == 4 && lanes.crossings == [])
    for turn in turns {
      expect(lanes.lane(of: turn), equals: turn.args?["receiver"] == "ann" ? "queue disk" : "main actor")
    }
    let (begins, ends) = (lanes.entries.filter { $0.ph == "s" }, lanes.entries.filter { $0.ph == "f" })
    expect(begins.count == 4 && Set(begins.map(\.id)) == Set(ends.map(\.id)))
    for end in ends {
      expect(turns.contains { $0.tid == end.tid && $0.ts == end.ts })
      let begin = try #require(begins.first { $0.id == end.id })
      expect(try lanes.lane(of: begin).contains("thread") && #require(begin.ts) <= #require(end.ts))
    }
    withExtendedLifetime((ann, bo)) {}
  }

  @Test("every flow connects two slices, and a multicast on a queue ends in that queue's lane")
  func flows() async throws {
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (file, outer, inner) = (file(), Shared(), Shared())
    let (ann, bo, cy) = (Desk("ann", journal), Desk("bo", journal), Desk("cy", journal))
    inner.add(ann)
    inner.add(bo, delivery: .mainActor)
    outer.add(inner, delivery: .queue(DispatchQueue(label: "disk")))
    outer.add(cy, delivery: .queue(DispatchQueue(label: "net")))
    let tracing = outer.trace(as: "office", naming: { ($0 as? Desk)?.name }) { file.add($0) }
    outer.broadcast(.say, "a")
    try await outer.drain()
    expect(file.openSlices, equals: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { _ = try? await outer.collectAndWait(.quote, 1, returning: .all) } }
    }
    try await outer.drain()
    tracing.cancel()
    file.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.crossings == [] && !pieces.text.contains("has not ended"))
    let (begins, ends) = (lanes.entries.filter { $0.ph == "s" }, lanes.entries.filter { $0.ph == "f" })
    expect(
      !begins.isEmpty && begins.map(\.id).sorted { $0 ?? 0 < $1 ?? 0 } == ends.map(\.id).sorted { $0 ?? 0 < $1 ?? 0 })
    for flow in begins + ends {
      let time = try #require(flow.ts)
      let around = lanes.slices.filter { slice in
        slice.tid == flow.tid && slice.ts.map { $0 <= time && time <= $0 + (slice.dur ?? 0) + 0.001 } == true
      }
      expect(!around.isEmpty, "\(flow)")
    }
    withExtendedLifetime((inner, ann, bo, cy)) {}
  }

  @Test("a flow to a target removed before delivery ends at the skip mark, and a flow without an end is not drawn")
  func endedFlows() throws {
    let file = file()
    for step in 1...3 { file.add(event(.queued, step, context: "q", at: step)) }
    file.add(event(.skipped, 1, context: "q", at: 5))
    file.add(event(.began, 2, context: "q", at: 6))
    file.add(event(.answered, 2, context: "q", at: 7))
    file.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.entries.filter { $0.ph == "s" }.map(\.id), equals: [1, 2])
    expect(lanes.entries.filter { $0.ph == "f" }.map(\.id), equals: [1, 2])
  }

  @Test("a message sent by a target is nested in its slice, and a skipped target is a mark")
  func nestedMessages() throws {
    let (file, outer, inner) = (file(), Desks(), Desks.of(Desk("ann", journal)))
    inner.mute(try #require(inner.targets.first))
    outer.on(.say) { inner.broadcast(.say, $0 + "!") }
    for (name, proxy) in [("outer", outer), ("inner", inner)] {
      proxy.trace(as: name, naming: { ($0 as? Desk)?.name }) { file.add($0) }
    }
    outer.broadcast(.say, "a")
    file.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.crossings == [] && Set(lanes.slices.map(\.tid)).count == 1)
    expect(lanes.slices.map { $0.args?["message"] }, equals: ["say: \"a!\"", "say: \"a\"", "say: \"a\""])
    let marks = lanes.entries.filter { $0.ph == "i" }
    expect(marks.map { $0.args?["skipped"] } == ["muted"] && marks.first?.tid == lanes.slices.first?.tid)
  }

  @Test("concurrent deliveries on a queue, and from many threads, nest in named lanes")
  func concurrentTurns() async throws {
    let (file, proxy) = (file(), SharedDesks())
    let desks = (0..<4).map { Desk("\($0)", journal) }
    let queue = DispatchQueue(label: "pool", attributes: .concurrent)
    for desk in desks { proxy.add(desk, delivery: .concurrentQueue(queue)) }
    let direct = Desk("direct", journal)
    proxy.add(direct)
    proxy.trace(as: "office") { file.add($0) }
    DispatchQueue.concurrentPerform(iterations: 8) { _ in for _ in 0..<50 { proxy.broadcast(.say, "x") } }
    try await proxy.drain()
    file.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.crossings, equals: [])
    // Each message, its direct delivery, and its deliveries on the queue.
    expect(lanes.slices.count == 8 * 50 * (1 + 1 + 4) && file.openSlices == 0)
    expect(lanes.slices.allSatisfy { !lanes.lane(of: $0).isEmpty })
    expect(Set(lanes.names.values).count, equals: lanes.names.count)
    withExtendedLifetime((desks, direct)) {}
  }

  /// A hand-written event.
  private func event(
    _ stage: MessageEvent.Stage, _ step: Int, receiver: String = "r", context: String = "directly", at milliseconds: Int
  ) -> MessageEvent {
    MessageEvent(
      stage, name: "m\(step)", message: "m\(step)", sender: "s", receiver: receiver, context: context, step: step,
      instant: start + .milliseconds(milliseconds))
  }
  private let start = ContinuousClock.now

  @Test("a slice that ends before a slice inside it gets a lane of its own, and an unfinished one says so")
  func overlaps() throws {
    let file = file()
    file.add(event(.began, 1, context: "q", at: 1))
    file.add(event(.began, 2, at: 2))
    file.add(event(.answered, 1, at: 3))
    file.add(event(.began, 3, at: 4))
    file.add(event(.answered, 2, at: 5))
    file.add(event(.began, 4, context: "q", at: 6))
    file.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.crossings, equals: [])
    let named = Dictionary(lanes.slices.map { ($0.name, $0) }) { first, _ in first }
    expect(Set(named.keys), equals: ["m1", "m2", "m3", "m4"])
    expect(named["m1"].map { lanes.lane(of: $0) } == "q (2)" && named["m2"].map { lanes.lane(of: $0) } == "q (3)")
    expect(named["m3"]?.args?["outcome"] == "has not ended" && named["m1"]?.args?["outcome"] == nil)
  }

  @Test("names and values with any characters are read back unchanged, and long ones are shortened")
  func texts() throws {
    let file = file()
    let texts = ["\"\\\n\r\t\u{0}\u{1F}\u{7F}", "e\u{301}👩‍👩‍👧\u{2028}\u{202E}", "]}", "<&>"]
    for (step, text) in texts.enumerated() {
      for stage in [MessageEvent.Stage.began, .answered] {
        file.add(
          MessageEvent(
            stage, name: text, message: text, sender: text, receiver: text, context: text, evidence: text, step: step))
      }
    }
    let long = String(repeating: "é", count: 5000)
    file.add(MessageEvent(.began, name: "long", message: long, sender: "", receiver: "", step: 99))
    file.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.slices.map(\.name), equals: texts + ["long"])
    expect(lanes.slices.prefix(4).map { $0.args?["answer"] }, equals: texts)
    expect(lanes.slices.prefix(4).map { lanes.lane(of: $0) }, equals: texts)
    expect(lanes.slices[4].args?["message"]?.count, equals: 1001)
  }

  @Test("any time can be written")
  func times() throws {
    let file = file()
    let far = ContinuousClock.Instant.now.advanced(by: .seconds(Int64(1) << 40))
    for (step, instant) in [start - .seconds(Int64(1) << 40), far, start - .seconds(1)].enumerated() {
      for stage in [MessageEvent.Stage.began, .answered] {
        file.add(
          MessageEvent(stage, name: "m", message: "m", sender: "s", receiver: "r", step: step, instant: instant))
      }
    }
    file.finish()
    try expect(Lanes(pieces.text).slices.count, equals: 3)
  }

  @Test("a finished file accepts nothing more, and an empty one can be read")
  func finished() throws {
    let file = file()
    file.finish()
    file.add(event(.began, 1, at: 1))
    file.finish()
    expect(try Lanes(pieces.text).entries.isEmpty)
    expect(pieces.text, equals: "[\n\n]\n")
  }

  @Test("finishing a file waits for all pending events")
  func finishing() async throws {
    let held = Locked<TraceFile?>(nil)
    let (isIn, goesOn) = (Latch(), Latch())
    let file = TraceFile { [pieces] piece in
      if pieces.text.isEmpty {
        held.withLock { $0 }?.finish()
        isIn.open()
        goesOn.pass()
      }
      pieces.take(piece)
    }
    held.withLock { $0 = file }
    // A delivery reported to begin twice has begun once.
    for step in [1, 1, 2] { file.add(event(.began, step, at: 1)) }
    let hasEnded = Locked(false)
    let writer = Thread { file.finish() }
    writer.start()
    await onThread { isIn.pass() }
    let waiter = Thread {
      file.finish()
      hasEnded.withLock { $0 = true }
    }
    waiter.start()
    try await Task.sleep(for: .milliseconds(30))
    expect(!hasEnded.withLock { $0 } && pieces.text.isEmpty)
    goesOn.open()
    await until(hasEnded.withLock { $0 })
    held.withLock { $0 = nil }
    try expect(Lanes(pieces.text).slices.count, equals: 2)
  }

  @Test("releasing a file finishes it, and a writer that sends messages does not hang or lose a step")
  func released() throws {
    do {
      let file = file()
      file.add(event(.began, 1, at: 1))
    }
    try expect(Lanes(pieces.text).slices.count, equals: 1)
    let again = Pieces()
    let depth = Locked(0)
    let held = Locked<TraceFile?>(nil)
    let file = TraceFile { piece in
      again.take(piece)
      let number = depth.withLock { depth in
        depth += 1
        return depth
      }
      // Fewer events than fill a piece, so that writing ends.
      if number < 5, let file = held.withLock({ $0 }) {
        for step in 0..<200 {
          let event = MessageEvent(
            .began, name: "inner", message: "m", sender: "s", receiver: "r", step: number * 10_000 + step)
          file.add(event)
        }
      }
    }
    held.withLock { $0 = file }
    for step in 0..<2000 {
      file.add(event(.began, 1_000_000 + step, at: 1))
      file.add(event(.answered, 1_000_000 + step, at: 1))
    }
    held.withLock { $0 = nil }
    file.finish()
    let lanes = try Lanes(again.text)
    expect(lanes.slices.count { $0.name != "inner" } == 2000 && file.omitted == 0 && lanes.crossings == [])
  }

  @Test("memory does not grow with the number of steps, even if writing is slow")
  func boundedMemory() throws {
    let sizes = Locked<(count: Int, total: Int, largest: Int)>((0, 0, 0))
    let file = TraceFile { piece in
      let size = piece.utf8.count
      sizes.withLock { $0 = ($0.count + 1, $0.total + size, max($0.largest, size)) }
    }
    let steps = bound(10_000, full: 50_000)
    for step in 0..<steps / 4 {
      file.add(event(.began, step, at: step))
      file.add(event(.answered, step, at: step))
    }
    expect(file.openSlices == 0 && file.omitted == 0)
    file.finish()
    let (count, total, largest) = sizes.withLock { $0 }
    expect(total > 20 * steps && largest < 70 << 10 && count > total / (70 << 10))
    // One writer is blocked. The others continue, and entries that do not fit are omitted whole.
    let receiver = String(repeating: "r", count: 1000)
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isFirst = Locked(true)
    let slow = TraceFile { [pieces] piece in
      pieces.take(piece)
      if isFirst.withLock({ first in
        defer { first = false }
        return first
      }) {
        began.signal()
        goOn.wait()
      }
    }
    let thread = Thread { [self] in
      for step in 0..<1000 {
        slow.add(event(.began, step, receiver: receiver, at: step))
        slow.add(event(.answered, step, receiver: receiver, at: step))
      }
      began.signal()
    }
    thread.start()
    began.wait()
    for step in 1000..<steps {
      slow.add(event(.began, step, receiver: receiver, at: step))
      slow.add(event(.answered, step, receiver: receiver, at: step))
    }
    expect(slow.omitted > 0)
    goOn.signal()
    began.wait()
    slow.finish()
    let lanes = try Lanes(pieces.text)
    expect(lanes.slices.count + slow.omitted == steps && lanes.crossings == [])
    expect(lanes.slices.allSatisfy { !lanes.lane(of: $0).isEmpty })
  }

  @Test("a file descriptor receives the whole file")
  func descriptor() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: url) }
    try Data().write(to: url)
    let handle = try FileHandle(forWritingTo: url)
    let file = TraceFile(fileDescriptor: handle.fileDescriptor)
    for step in 0..<1000 {
      file.add(event(.began, step, at: step))
      file.add(event(.answered, step, at: step + 1))
    }
    file.finish()
    try handle.close()
    try expect(Lanes(String(contentsOf: url, encoding: .utf8)).slices.count, equals: 1000)
  }
  @Test("a nonblocking pipe that accepts only a part receives the rest once it was read")
  func slowPipe() async throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    async let written: Void = onThread {
      let file = TraceFile(fileDescriptor: descriptor)
      for step in 0..<2000 {
        file.add(event(.began, step, at: step))
        file.add(event(.answered, step, at: step + 1))
      }
      file.finish()
      try? pipe.fileHandleForWriting.close()
    }
    let text = Locked("")
    // Blocks a thread of its own, since the writer needs one of the pool, which can have two.
    await onThread {
      let data = try? pipe.fileHandleForReading.readToEnd()
      text.withLock { $0 = String(decoding: data ?? Data(), as: UTF8.self) }
    }
    await written
    try expect(Lanes(text.withLock { $0 }).slices.count, equals: 2000)
  }
}
