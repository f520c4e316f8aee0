// Rows+Queued.swift: messages to targets on a queue, one at a time and as a stream.

import Dispatch
import Forwardcast

/// Weak targets that get their messages on a queue, as one writes it.
private struct QueuedLoop {
  let boxes: [WeakBox]
  let queue: DispatchQueue

  /// One block for each message.
  @inline(never)
  func tick(_ value: Int) {
    let snapshot = boxes
    queue.async { for box in snapshot { box.target?.tick(value) } }
  }

  /// One block for each target, as multicast delegates with queues do.
  @inline(never)
  func tickEach(_ value: Int) {
    for box in boxes { queue.async { box.target?.tick(value) } }
  }
}

/// A target that tells when it gets a negative number: whatever was sent before has then arrived as well.
private final class Gate: Listener {
  private let opened = DispatchSemaphore(value: 0)

  func tick(_ value: Int) { if value < 0 { opened.signal() } }
  func add(_ first: Int, _ second: Int) -> Int { first &+ second }
  func receive(_ payload: Payload) {}
  func read(_ text: String) {}
  var received: Int { 0 }

  func wait() { opened.wait() }

  static let selectorTable = SelectorTable(for: Gate.self) {
    Responds(to: .tick) { gate, value in gate.tick(value) }
  }
}

/// An actor that targets are served on.
private actor Desk {
  func tick(_ box: WeakBox, _ value: Int) { box.target?.tick(value) }
}

/// A proxy and its counterpart, each with targets and a queue of its own, a gate the last of the targets.
private struct QueuedSides {
  let proxy = MulticastProxy<any Listener>()
  let loop: QueuedLoop
  let mine = Gate()
  let theirs = Gate()
  private let targets: [any Listener]
  private let queues: [DispatchQueue]

  /// - Parameter desk: where the proxy's targets are served, instead of on a queue.
  init(_ count: Int, at desk: Desk? = nil) {
    let others = makeTargets(count - 1) + [theirs]
    targets = makeTargets(count - 1) + [mine] + others
    let queue = DispatchQueue(label: "queued")
    for target in targets.prefix(count) { proxy.add(target, delivery: desk.map { .actor($0) } ?? .queue(queue)) }
    loop = QueuedLoop(boxes: others.map { WeakBox($0) }, queue: DispatchQueue(label: "by hand"))
    queues = [queue, loop.queue]
  }

  /// Holds the queues up while `body` runs.
  func held(_ body: () -> Void) {
    for queue in queues { queue.suspend() }
    body()
    for queue in queues { queue.resume() }
  }
}

/// Messages to targets on a queue that takes them only when all have been sent, so that the amount of work does not depend
/// on how threads take turns.
func streamed(_ messages: Int, _ targets: Int, byHand: Bool) {
  let sides = QueuedSides(targets)
  sides.held {
    for value in 0..<messages { if byHand { sides.loop.tick(value) } else { sendTick(sides.proxy, value) } }
    if byHand { sides.loop.tick(-1) } else { sendTick(sides.proxy, -1) }
  }
  if byHand { sides.theirs.wait() } else { sides.mine.wait() }
}

extension Bench {
  /// Messages to targets on a queue.
  ///
  /// All threads are tied to one processor, except where the name of a line says two: waking another one takes longer
  /// than all that is compared.
  func queuedRows() {
    let before = Processors.current
    before.single.first?.tie()
    defer { before.tie() }
    for n in sizes { queued(n) }
    waitingMessages()
    stream("one processor")
    // Those that serve queues have been started on the first processor and stay there.
    guard before.single.count > 1 else { return }
    before.single[1].tie()
    stream("two processors")
    before.tie()
    stream("two senders", senders: 2)
    stream("four senders", senders: 4)
    actorStream()
  }

  /// One message to N targets on one queue, until the last of them has it.
  private func queued(_ n: Int) {
    let sides = QueuedSides(n)
    let ours: Batch = { count in
      for _ in 0..<count {
        sendTick(sides.proxy, -1)
        sides.mine.wait()
      }
    }
    compare(
      "queued", "beside one block", n: n, units: n, goal: .ratio(1), ours: ours,
      reference: { count in
        for _ in 0..<count {
          sides.loop.tick(-1)
          sides.theirs.wait()
        }
      })
    // With one target both are one block.
    compare(
      "queued", "beside a block for each target", n: n, units: n, goal: .by(n, one: .ratio(1), (0.5, 0.25, 0.2)),
      ours: ours,
      reference: { count in
        for _ in 0..<count {
          sides.loop.tickEach(-1)
          sides.theirs.wait()
        }
      })
  }

  /// A thousand messages to one target on a queue, until it has the last of them.
  private func stream(_ name: String, senders: Int = 1) {
    let messages = 1_000
    let sides = QueuedSides(1)
    compare(
      "stream", name, n: 1, per: "ns/message", units: messages, messages: messages, goal: .faster(3),
      ours: { count in
        for _ in 0..<count {
          inTurns(messages, senders) { sendTick(sides.proxy, $0) }
          for _ in 0..<senders { sides.mine.wait() }
        }
      },
      reference: { count in
        for _ in 0..<count {
          inTurns(messages, senders) { sides.loop.tickEach($0) }
          for _ in 0..<senders { sides.theirs.wait() }
        }
      })
  }

  /// The same on an actor, beside a task for each message, which keeps no order.
  private func actorStream() {
    let (messages, desk, other) = (1_000, Desk(), Desk())
    let sides = QueuedSides(1, at: desk)
    let box = sides.loop.boxes[0]
    compare(
      "stream", "on an actor", n: 1, per: "ns/message", units: messages, messages: messages, goal: .faster(3),
      ours: { count in
        for _ in 0..<count {
          inTurns(messages, 1) { sendTick(sides.proxy, $0) }
          sides.mine.wait()
        }
      },
      reference: { count in
        for _ in 0..<count {
          inTurns(messages, 1) { value in Task.detached { await other.tick(box, value) } }
          sides.theirs.wait()
        }
      })
  }

  /// What a message takes that waits among many, in bytes.
  private func waitingMessages() {
    let messages = 10_000
    guard wants("waiting", "one of many messages", 1) else { return }
    func weigh(byHand: Bool) -> Double? {
      let sides = QueuedSides(1)
      sendTick(sides.proxy, -1)
      sides.mine.wait()
      var bytes: Double?
      sides.held {
        let before = Memory.bytesInUse
        for value in 0..<messages { if byHand { sides.loop.tickEach(value) } else { sendTick(sides.proxy, value) } }
        if let before, let after = Memory.bytesInUse { bytes = Double(after - before) / Double(messages) }
        if byHand { sides.loop.tickEach(-1) } else { sendTick(sides.proxy, -1) }
      }
      if byHand { sides.theirs.wait() } else { sides.mine.wait() }
      return bytes
    }
    guard let ours = weigh(byHand: false), let reference = weigh(byHand: true) else { return }
    add(
      Figure(
        row: "waiting", name: "one of many messages", n: 1, ours: ours, reference: reference, unit: "bytes",
        ratio: ours / reference, goal: .atMost(96, "bytes")))
  }
}

/// Sends so many numbers from so many threads; the last of each is negative.
private func inTurns(_ messages: Int, _ senders: Int, _ send: @Sendable (Int) -> Void) {
  @Sendable func sendPart() {
    for value in 1..<messages / senders { send(value) }
    send(-1)
  }
  if senders == 1 { return sendPart() }
  DispatchQueue.concurrentPerform(iterations: senders) { _ in sendPart() }
}
