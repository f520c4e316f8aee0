// Rows+Queued.swift: messages to targets on a queue, one at a time and as a stream.

import Dispatch
import Forwardcast
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Weak targets on a queue, in hand-written code.
private struct QueuedLoop {
  let boxes: [WeakBox]
  let queue: DispatchQueue

  /// One block for each message.
  @inline(never)
  func tick(_ value: Int) {
    let snapshot = boxes
    queue.async { for box in snapshot { box.target?.tick(value) } }
  }

  /// One block for each target, as in multicast delegates with queues.
  @inline(never)
  func tickEach(_ value: Int) {
    for box in boxes { queue.async { box.target?.tick(value) } }
  }
}

/// Like `QueuedLoop`, but with one block for all waiting messages. A lock guards their array.
private final class BatchedLoop: Sendable {
  private let box: WeakBox
  private let queue: DispatchQueue
  private let waiting = Mutex<[Int]>([])

  init(_ loop: QueuedLoop) { (box, queue) = (loop.boxes[0], loop.queue) }

  @inline(never)
  func tick(_ value: Int) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(value)
      return waiting.count == 1
    }
    if isFirst { queue.async { self.serve() } }
  }

  private func serve() {
    let all = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for value in all { box.target?.tick(value) }
  }
}

/// A target that stores the time at which a negative number arrives, and signals the arrival.
private final class Gate: Listener, @unchecked Sendable {  // `time` is read after a wait for the semaphore
  private let opened = DispatchSemaphore(value: 0)
  /// When the last negative number arrived, in nanoseconds.
  private(set) var time = 0.0

  func tick(_ value: Int) {
    guard value < 0 else { return }
    time = nanoseconds()
    opened.signal()
  }
  func add(_ first: Int, _ second: Int) -> Int { first &+ second }
  func receive(_ payload: Payload) {}
  func read(_ text: String) {}
  var received: Int { 0 }

  func wait() { opened.wait() }

  static let selectorTable = SelectorTable(for: Gate.self) {
    Responds(to: .tick) { gate, value in gate.tick(value) }
  }
}

/// An actor on which targets run.
private actor Desk {
  func tick(_ box: WeakBox, _ value: Int) { box.target?.tick(value) }
}

/// A proxy and its counterpart, each with its own targets and queue. The last target is a gate.
private struct QueuedSides: Sendable {
  let proxy = MulticastProxy<any Listener>()
  let loop: QueuedLoop
  let mine = Gate()
  let theirs = Gate()
  private let targets: [any Listener]
  private let queues: [DispatchQueue]

  /// - Parameters:
  ///   - delivery: where the proxy's targets run, if not on their own queue.
  ///   - other: where the counterpart's targets run.
  init(_ count: Int, at delivery: Delivery? = nil, beside other: DispatchQueue = DispatchQueue(label: "by hand")) {
    let others = makeTargets(count - 1) + [theirs]
    targets = makeTargets(count - 1) + [mine] + others
    let queue = DispatchQueue(label: "queued")
    for target in targets.prefix(count) { proxy.add(target, delivery: delivery ?? .queue(queue)) }
    loop = QueuedLoop(boxes: others.map { WeakBox($0) }, queue: other)
    queues = [queue, loop.queue]
  }

  /// Suspends the queues while `body` runs.
  func held(_ body: () -> Void) {
    for queue in queues { queue.suspend() }
    body()
    for queue in queues { queue.resume() }
  }
}

extension Bench {
  /// Messages to targets on a queue.
  ///
  /// Up to the line "one processor", all threads run on one processor, because waking another takes
  /// longer than the compared code. The main thread waits, so it can run the main actor.
  func queuedRows() async {
    queueRows()
    let row = Borrowed(bench: self)
    await withCheckedContinuation { done in
      startThread {
        row.bench.mainActorRows()
        row.bench.busyRows()
        done.resume()
      }
    }
  }

  private func queueRows() {
    let before = Processors.current
    before.single.first?.tie()
    defer { before.tie() }
    for n in sizes { queued(n) }
    waitingMessages()
    stream("one processor")
    // The threads of the queues have been started on the first processor and stay there.
    guard before.single.count > 1 else { return }
    before.single[1].tie()
    stream("two processors")
    before.tie()
    stream("two senders", senders: 2)
    stream("four senders", senders: 4)
    for senders in [1, 2, 4] {
      let sides = QueuedSides(1)
      let byHand = BatchedLoop(sides.loop)
      stream("beside a block a batch, senders: \(senders)", sides, senders: senders, goal: .ratio(1)) {
        byHand.tick($0)
      }
    }
    actorRows()
  }

  /// Measures beside two busy threads. Not called on the main thread.
  private func busyRows() {
    let load = Load(threads: 2)
    defer { load.end() }
    let sides = QueuedSides(1)
    latency("a queue, busy", sides) { sides.loop.tickEach($0) }
    let (desk, other) = (Desk(), Desk())
    let actors = QueuedSides(1, at: .actor(desk))
    latency("an actor, busy", actors) { value in Task.detached { await other.tick(actors.loop.boxes[0], value) } }
    let main = QueuedSides(1, at: .mainActor, beside: .main)
    latency("the main actor, busy", main) { main.loop.tickEach($0) }
    stream("on the main actor, busy", main) { main.loop.tickEach($0) }
    for senders in [1, 4] {
      let sides = QueuedSides(1)
      stream("senders, busy: \(senders)", sides, senders: senders) { sides.loop.tickEach($0) }
    }
    fanOut("ten queues, busy") { _ in .queue(DispatchQueue(label: "queued")) }
    fanOut("ten actors, busy") { _ in .actor(Desk()) }
  }

  /// A stream to targets on their own contexts, compared with a block for each message and target.
  private func fanOut(_ name: String, _ delivery: (Int) -> Delivery) {
    let (messages, gates, others) = (100, (0..<10).map { _ in Gate() }, (0..<10).map { _ in Gate() })
    let proxy = MulticastProxy<any Listener>()
    for (index, gate) in gates.enumerated() { proxy.add(gate, delivery: delivery(index)) }
    let loops = others.map { QueuedLoop(boxes: [WeakBox($0)], queue: DispatchQueue(label: "by hand")) }
    compare(
      "stream", name, n: 10, units: messages * 10, messages: messages, goal: .ratio(1),
      ours: { count in
        for _ in 0..<count {
          for value in 1...messages { sendTick(proxy, value == messages ? -1 : value) }
          for gate in gates { gate.wait() }
        }
      },
      reference: { count in
        for _ in 0..<count {
          for value in 1...messages { for loop in loops { loop.tickEach(value == messages ? -1 : value) } }
          for gate in others { gate.wait() }
        }
      })
  }

  private func actorRows() {
    let (desk, other) = (Desk(), Desk())
    let sides = QueuedSides(1, at: .actor(desk))
    let box = sides.loop.boxes[0]
    // Tasks do not keep the order of messages.
    stream("on an actor", sides) { value in Task.detached { await other.tick(box, value) } }
    latency("an actor", sides) { value in Task.detached { await other.tick(box, value) } }
    let queued = QueuedSides(1)
    latency("a queue", queued) { queued.loop.tickEach($0) }
  }

  /// Not called on the main thread.
  private func mainActorRows() {
    let sides = QueuedSides(1, at: .mainActor, beside: .main)
    let box = sides.loop.boxes[0]
    stream("on the main actor", sides) { sides.loop.tickEach($0) }
    // A block has no priority. It is on the main actor only if that actor runs on the main queue.
    latency("the main actor, beside a task", sides) { value in Task.detached { @MainActor in box.target?.tick(value) } }
    latency("the main actor, beside a block", sides) { sides.loop.tickEach($0) }
  }

  /// One message to N targets on one queue, until the last of them has received it.
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
    // With one target both use one block.
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

  private func stream(_ name: String, senders: Int = 1) {
    let sides = QueuedSides(1)
    stream(name, sides, senders: senders) { sides.loop.tickEach($0) }
  }

  /// A thousand messages to one target, until it has received the last of them.
  private func stream(
    _ name: String, _ sides: QueuedSides, senders: Int = 1, goal: Goal = .faster(3),
    byHand: @escaping @Sendable (Int) -> Void
  ) {
    let messages = 1_000
    compare(
      "stream", name, n: 1, per: "ns/message", units: messages, messages: messages, goal: goal,
      ours: { count in
        for _ in 0..<count {
          inTurns(messages, senders) { sendTick(sides.proxy, $0) }
          for _ in 0..<senders { sides.mine.wait() }
        }
      },
      reference: { count in
        for _ in 0..<count {
          inTurns(messages, senders, byHand)
          for _ in 0..<senders { sides.theirs.wait() }
        }
      })
  }

  /// The time from a send to the start of the method, on an idle context.
  private func latency(_ place: String, _ sides: QueuedSides, byHand: (Int) -> Void) {
    guard wants("latency", "to \(place)", 1) else { return }
    func wait(_ gate: Gate, _ send: () -> Void) -> Double {
      // Long enough for the threads of the context to go to sleep.
      usleep(200)
      let start = nanoseconds()
      send()
      gate.wait()
      return (gate.time - start) / 1_000
    }
    var (mine, theirs): ([Double], [Double]) = ([], [])
    for _ in 0..<(isQuick ? 200 : 2_000) {
      mine.append(wait(sides.mine) { sendTick(sides.proxy, -1) })
      theirs.append(wait(sides.theirs) { byHand(-1) })
    }
    for (name, part) in [("p50", 0.5), ("p99", 0.99)] {
      let (ours, reference) = (mine.quantile(part), theirs.quantile(part))
      add(
        Figure(
          row: "latency", name: "\(name) to \(place)", n: 1, ours: ours, reference: reference, unit: "µs",
          ratio: ours / reference, goal: part == 0.5 ? .ratio(1.15) : nil))
    }
  }

  /// The bytes of one message among many that wait.
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

/// Busy threads, like those of other programs.
private final class Load: Sendable {
  private let isOver = Atomic<Bool>(false)

  init(threads: Int) {
    for _ in 0..<threads { startThread { while !self.isOver.load(ordering: .relaxed) {} } }
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}

/// Rows that another thread measures while their creator waits.
private struct Borrowed: @unchecked Sendable {  // only one of the two threads uses it at a time
  let bench: Bench
}

/// Sends numbers from several threads; the last of each thread is negative.
private func inTurns(_ messages: Int, _ senders: Int, _ send: @Sendable (Int) -> Void) {
  @Sendable func sendPart() {
    for value in 1..<messages / senders { send(value) }
    send(-1)
  }
  if senders == 1 { return sendPart() }
  DispatchQueue.concurrentPerform(iterations: senders) { _ in sendPart() }
}
