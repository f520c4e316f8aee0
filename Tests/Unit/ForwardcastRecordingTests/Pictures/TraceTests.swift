// TraceTests.swift: the events of a message, and diagrams of them.

import Dispatch
import Forwardcast
@testable import ForwardcastRecording
import Foundation
import Synchronization
import TestSupport
import Testing

/// Counts renderings.
private final class RenderCount: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .relaxed) }
  func increase() { count.add(1, ordering: .relaxed) }
}

private struct Weight: Sendable, CustomStringConvertible {
  let count: RenderCount
  var description: String {
    count.increase()
    return "1 kg"
  }
}

extension Message<(Weight) -> Void> {
  fileprivate static var weigh: Self { .init("weigh:") }
}

@Suite("Traces")
struct TraceTests {
  let journal = Journal()
  let diagram = SequenceDiagram()

  private func name(_ target: AnyObject) -> String? { (target as? Desk)?.name }

  private func traced(_ desks: Desk...) -> Desks {
    let proxy = Desks()
    for desk in desks { proxy.add(desk, ownership: .strong) }
    proxy.trace(as: "office", naming: { ($0 as? Desk)?.name }) { [diagram] in diagram.add($0) }
    return proxy
  }

  @Test("a trace lists who was called, in what order, and with what result")
  func steps() throws {
    let proxy = traced(Desk("ann", worth: 1, journal), Desk("bo", worth: 2, journal))
    try expect(proxy.collect(.quote, 5, returning: .sum), equals: 13)
    proxy.broadcast(.say, "hello")
    expect(
      diagram.text,
      equals: """
        office is sent quote: 5
        ann gets quote: 5, directly
        ann answers 6
        bo gets quote: 5, directly
        bo answers 7
        office answers 7
        office is sent say: "hello"
        ann gets say: "hello", directly
        ann answers nothing
        bo gets say: "hello", directly
        bo answers nothing
        office answers nothing

        """)
  }

  @Test("a delivery that ends in another task also ends where it started")
  func endsElsewhere() async {
    func event(_ stage: MessageEvent.Stage, to receiver: String, step: Int) -> MessageEvent {
      MessageEvent(stage, name: "say:", message: "say: 1", sender: "sender", receiver: receiver, step: step)
    }
    diagram.add(event(.began, to: "ann", step: 1))
    let end = event(.answered, to: "ann", step: 1)
    await Task.detached { [diagram] in diagram.add(end) }.value
    diagram.add(event(.sent, to: "office", step: 2))
    expect(diagram.events.map(\.sender), equals: ["sender", "sender", "sender"])
  }

  @Test("a target that has begun to run and is then skipped no longer sends messages")
  func skippedWhileRunning() {
    for (stage, step) in [(MessageEvent.Stage.began, 1), (.skipped, 1), (.sent, 2)] {
      diagram.add(MessageEvent(stage, name: "a", message: "a", sender: "sender", receiver: "ann", step: step))
    }
    expect(diagram.events.map(\.sender), equals: ["sender", "sender", "sender"])
  }

  @Test("an execution that begins also ends, and an object that forwards to a proxy or declines has none")
  func spans() async throws {
    final class Door: ForwardingProxy, @unchecked Sendable {}  // immutable
    typealias Shared = MulticastProxy<any MessageReceiver & Sendable>
    let (proxy, inner, declines) = (Shared(), Shared(), Shared())
    inner.add(Desk("bo", worth: 2, journal), delivery: .direct, ownership: .strong)
    for delivery in [Delivery.direct, .queue(DispatchQueue(label: "disk"))] {
      proxy.add(Door(to: inner), delivery: delivery, ownership: .strong)
      proxy.add(Door(to: declines), delivery: delivery, ownership: .strong)
    }
    let tracing = proxy.trace(as: "office") { [diagram] in diagram.add($0) }
    try await expect(proxy.collectAndWait(.worth, returning: .sum), equals: 4)
    tracing.cancel()
    let spans = diagram.events.filter { $0.stage == .began }.map(\.step)
    let ends = diagram.events.filter { [.answered, .failed, .skipped].contains($0.stage) }.map(\.step)
    expect(Set(spans).count, equals: spans.count, "\(diagram.text)")
    expect(Set(spans).subtracting(ends), equals: [], "\(diagram.text)")
  }

  @Test("unnamed targets of one type are numbered")
  func unnamed() {
    let (first, second, proxy) = (Desk("ann", journal), Desk("bo", journal), Desks())
    proxy.add(first)
    proxy.add(second)
    proxy.trace(as: "office") { [diagram] in diagram.add($0) }
    for _ in 1...2 { proxy.broadcast(.say, "hi") }
    let receivers = diagram.events.filter { $0.stage == .began }.map(\.receiver)
    expect(receivers, equals: ["Desk", "Desk 2", "Desk", "Desk 2"])
    expect(diagram.participants, equals: ["sender", "office", "Desk", "Desk 2"])
  }

  @Test("two objects of one class have separate lifelines, even if two proxies are traced into one diagram")
  func lifelines() {
    let (first, second) = (Desks.of(Desk("ann", journal)), Desks.of(Desk("bo", journal)))
    for proxy in [first, second] { proxy.trace { [diagram] in diagram.add($0) } }
    for _ in 1...2 { for proxy in [first, second] { proxy.broadcast(.say, "hi") } }
    let proxy = "MulticastProxy<MessageReceiver>"
    expect(diagram.participants, equals: ["sender", proxy, "Desk", "\(proxy) (2)", "Desk (2)"])
    expect(
      diagram.events.filter { $0.stage == .began }.map(\.receiver), equals: ["Desk", "Desk (2)", "Desk", "Desk (2)"])
  }

  @Test("a message is rendered once for all targets, and only if its text is read or its event is kept")
  func rendering() throws {
    let proxy = MulticastProxy<any MessageReceiver & Sendable>()
    for _ in 0..<3 { proxy.on(.weigh) { _ in } }
    let count = RenderCount()
    let tracing = proxy.trace { _ = $0.step }
    proxy.broadcast(.weigh, Weight(count: count))
    expect(count.value, equals: 0)
    tracing.cancel()
    let kept = Locked<[MessageEvent]>([])
    for sink: @Sendable (MessageEvent) -> Void in [
      { _ = $0.description }, { event in kept.withLock { $0.append(event) } },
    ] {
      let tracing = proxy.trace(sink)
      proxy.broadcast(.weigh, Weight(count: count))
      tracing.cancel()
    }
    expect(count.value, equals: 2)
    expect(kept.withLock { $0 }.prefix(2).map(\.message) == ["weigh: 1 kg", "weigh: 1 kg"] && count.value == 2)
  }

  @Test("errors and skipped targets are traced")
  func failures() throws {
    let muted = Desk("bo", journal)
    let proxy = traced(Desk("ann", journal), muted)
    proxy.mute(muted)
    var call = Invocation("quote:", arguments: [ArgumentBox(-1)])
    let report = try proxy.forward(&call)
    expect(report.failures.count, equals: 1)
    expect(
      diagram.events.map { "\($0)" },
      equals: [
        "office is sent quote: -1", "ann gets quote: -1, directly", "ann throws refused by ann",
        "bo is skipped: muted", "office throws refused by ann",
      ])
  }

  @Test("the end of a delivery has the number of its beginning, and the times are in order")
  func numbers() throws {
    let proxy = traced(Desk("ann", worth: 1, journal), Desk("bo", worth: 2, journal))
    _ = try proxy.collect(.worth, returning: .sum)
    let events = diagram.events
    let began = events.filter { $0.stage == .began }
    expect(Set(began.map(\.step)).count, equals: 2)
    for begin in began {
      let ends = events.filter { $0.step == begin.step && $0.stage == .answered }
      expect(ends.count == 1 && ends[0].receiver == begin.receiver && ends[0].instant >= begin.instant)
      expect(begin.name, equals: "worth")
    }
    expect(events.first?.step, equals: events.last?.step)
  }

  @Test("queued targets are traced when they are queued and when they run, with their context")
  func queued() async throws {
    let proxy = SharedDesks()
    let queue = DispatchQueue(label: "disk")
    proxy.add(Desk("bo", worth: 2, journal), delivery: .queue(queue), ownership: .strong)
    let tracing = proxy.trace(as: "office", naming: { ($0 as? Desk)?.name }) { [diagram] in diagram.add($0) }
    expect(proxy.broadcast(.say, "hello").queued, equals: 1)
    try await proxy.drain()
    try await expect(proxy.collectAndWait(.quote, 1, returning: .sum), equals: 3)
    let texts = diagram.events.map { "\($0)" }
    expect(texts.contains { $0.hasPrefix("bo gets say: \"hello\", ") && $0.contains("disk") })
    expect(texts.contains("bo answers nothing") && texts.contains("bo answers 3"))
    expect(texts.first == "office is sent say: \"hello\"" && texts.last == "office answers 3")
    for begin in diagram.events where begin.stage == .began {
      expect(diagram.events.contains { $0.stage == .answered && $0.step == begin.step })
    }
    tracing.cancel()
    let count = diagram.events.count
    proxy.broadcast(.say, "again")
    try await proxy.drain()
    expect(diagram.events.count, equals: count)
  }

  @Test("targets of nested proxies are traced, with or without hooks")
  func nested() throws {
    for hooked in [false, true] {
      diagram.removeAll()
      let inner = Desks.of(Desk("bo", worth: 2, journal))
      if hooked { try inner.around(.worth) { try $0.proceed() } }
      let proxy = traced(Desk("ann", worth: 1, journal))
      proxy.add(inner, ownership: .strong)
      try expect(proxy.collect(.worth, returning: .sum), equals: 3)
      let texts = diagram.events.map { "\($0)" }
      expect(texts.contains("ann answers 1") && texts.contains("bo gets worth, directly"))
      expect(texts.contains("bo answers 2"))
    }
  }

  @Test("a canceled or replaced trace receives nothing")
  func end() {
    let proxy = Desks.of(Desk("ann", journal))
    let (first, second) = (SequenceDiagram(), SequenceDiagram())
    let one = proxy.trace { first.add($0) }
    let two = proxy.trace { second.add($0) }
    proxy.broadcast(.say, "a")
    one.cancel()
    proxy.broadcast(.say, "b")
    two.cancel()
    proxy.broadcast(.say, "c")
    expect(first.events.isEmpty)
    expect(second.events.filter { $0.stage == .sent }.count, equals: 2)
    expect(journal.all, equals: ["ann a", "ann b", "ann c"])
  }

  @Test("the Mermaid diagram has participants, arrows and replies, and escapes message texts")
  func mermaid() throws {
    let proxy = traced(Desk("ann", worth: 1, journal))
    _ = try proxy.collect(.quote, 5, returning: .sum)
    expect(
      diagram.mermaid,
      equals: """
        sequenceDiagram
          participant p1 as sender
          participant p2 as office
          participant p3 as ann
          p1->>p2: quote: 5
          p2->>p3: quote: 5
          p3-->>p2: 6
          p2-->>p1: 6

        """)
    diagram.removeAll()
    proxy.broadcast(.say, "a;b\n%%{c}#<d>")
    let line = try #require(diagram.mermaid.split(separator: "\n").first { $0.contains("p1->>p2") })
    expect(line, equals: "  p1->>p2: say: #34;a#59;b\\n#37;#37;#123;c#125;#35;#60;d#62;#34;")
  }

  @Test("the SVG has a label for each step and escapes markup")
  func svg() throws {
    let proxy = traced(Desk("<ann>&", worth: 1, journal))
    proxy.broadcast(.say, "hi")
    proxy.broadcast(.quote, -1)
    let svg = diagram.svg
    expect(svg.hasPrefix("<svg xmlns=") && svg.hasSuffix("</svg>\n"))
    expect(svg.contains("&lt;ann&gt;&amp;") && !svg.contains("<ann>"))
    expect(svg.components(separatedBy: "<text").count - 1, equals: 3 + diagram.events.count)
    expect(svg.contains("#b00"))
  }

  @Test("the SVG has notes for waiting and skipped targets, and loops for sends to oneself")
  func svgNotes() {
    func add(_ stage: MessageEvent.Stage, _ sender: String, _ receiver: String, _ evidence: String = "") {
      diagram.add(
        MessageEvent(
          stage, name: "a", message: "a", sender: sender, receiver: receiver, context: "queue q", evidence: evidence))
    }
    add(.sent, "ann", "ann")
    add(.queued, "ann", "bo")
    add(.skipped, "ann", "bo", "muted")
    add(.failed, "ann", "ann")
    let svg = diagram.svg
    expect(svg.components(separatedBy: "fill=\"#ffd\"").count - 1, equals: 2)
    expect(svg.contains(">a waits on queue q</text>") && svg.contains(">skipped: muted</text>"))
    let loops = svg.components(separatedBy: "<path d=\"M 100 ")
    expect(loops.count, equals: 5)  // two loops, each with its head
    expect(svg.contains("h 24 v 10 h -24\" fill=\"none\" stroke=\"black\"/>"))
    expect(svg.contains("h 24 v 10 h -24\" fill=\"none\" stroke=\"#b00\" stroke-dasharray=\"4 3\"/>"))
    // An empty text is drawn as a space.
    expect(diagram.mermaid.hasSuffix("  p1--xp1:  \n"), "\(diagram.mermaid)")
  }

  @Test("a message sent by a running target is drawn from that target, and Void has no text")
  func senders() throws {
    let (outer, inner) = (SequenceDiagram(), Desks.of(Desk("bo", journal)))
    inner.trace(as: "inner", naming: { ($0 as? Desk)?.name }) { outer.add($0) }
    func event(_ stage: MessageEvent.Stage, _ evidence: String = "", step: Int) -> MessageEvent {
      MessageEvent(stage, name: "a", message: "a", sender: "office", receiver: "ann", evidence: evidence, step: step)
    }
    outer.add(event(.began, step: -1))
    inner.broadcast(.say, "hi")
    outer.add(event(.answered, "()", step: -1))
    inner.broadcast(.say, "hi")
    let senders = outer.events.map { "\($0.stage) \($0.sender) \($0.receiver)" }
    expect(
      senders,
      equals: [
        "began office ann", "sent ann inner", "began inner bo", "answered inner bo", "answered ann inner",
        "answered office ann", "sent sender inner", "began inner bo", "answered inner bo", "answered sender inner",
      ])
    expect(outer.mermaid.components(separatedBy: ": done").count - 1, equals: 5)
    expect(!outer.mermaid.contains("()"))
  }

  @Test("diagrams contain no control or direction characters")
  func hidden() throws {
    let proxy = traced(Desk("a\u{202E}b\u{9B}c", worth: 1, journal))
    let lines = Locked("")
    let file = TraceFile { text in lines.withLock { $0 += text } }
    let tracing = proxy.trace(naming: { ($0 as? Desk)?.name }) { [diagram] in
      diagram.add($0)
      file.add($0)
    }
    proxy.broadcast(.say, "\u{2066}\u{1B}\u{200F}é")
    tracing.cancel()
    file.finish()
    for text in [diagram.mermaid, diagram.svg, lines.withLock { $0 }] {
      expect(!text.unicodeScalars.contains { $0 != "\n" && SequenceDiagram.isHidden($0) }, "\(text.debugDescription)")
    }
    expect(diagram.mermaid.contains("a#65533;b#65533;c") && lines.withLock { $0 }.contains("a\\u202eb\\u009bc"))
  }

  @Test("a full diagram counts the omitted steps")
  func limit() {
    let small = SequenceDiagram(limit: 2)
    for number in 0..<5 {
      small.add(MessageEvent(.sent, name: "a", message: "a \(number)", sender: "x", receiver: "y"))
    }
    expect(small.events.count == 2 && small.omitted == 3)
    expect(small.text, equals: "y is sent a 0\ny is sent a 1\nand 3 more\n")
    expect(small.mermaid.contains("Note over p1: and 3 more") && small.svg.contains("and 3 more"))
  }

  @Test("each line of the text is one step, even if names and errors contain line breaks")
  func forgedLines() {
    let breaks = ["\n", "\r", "\r\n", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}"]
    for text in breaks.map({ "a\($0)bo gets serve, directly" }) {
      let diagram = SequenceDiagram()
      for stage in [MessageEvent.Stage.sent, .began, .answered, .failed, .queued, .skipped] {
        diagram.add(
          MessageEvent(
            stage, name: "say:", message: text, sender: text, receiver: text, context: text, evidence: text))
      }
      expect(diagram.text.split(whereSeparator: \.isNewline).count, equals: 6, "\(diagram.text)")
      expect(diagram.mermaid.split(whereSeparator: \.isNewline).count, equals: 8, "\(diagram.mermaid)")
      let rows = SequenceDiagram()
      for event in diagram.events { rows.add(event) }
      expect(rows.events.allSatisfy { "\($0)".split(whereSeparator: \.isNewline).count == 1 })
    }
  }
}
