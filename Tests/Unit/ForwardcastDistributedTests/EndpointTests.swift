// EndpointTests.swift: admission, execution and replies at an endpoint.

import Distributed
import Forwardcast
import PipeActorSystem
import Synchronization
import TestSupport
import Testing

@testable import ForwardcastDistributed

typealias LocalEndpoint = MessageEndpoint<LocalTestingDistributedActorSystem>

extension Message<(Int) -> Int> { static var add: Self { .init("add:") } }
extension Message<(String, [UInt8]) -> Bool> { static var onAddMsg: Self { .init("onAddMsg:msgData:") } }
extension Message<(Tint) -> Tint> { static var paint: Self { .init("paint:") } }
extension Message<() -> Void> { static var rest: Self { .init("rest") } }
extension Message<(Int) -> Int> { static var hold: Self { .init("hold:") } }

/// A gate that a test opens.
final class Gate: Sendable {
  private let state = Locked<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

struct Burnt: Error, CustomStringConvertible {
  let description: String
}

/// A receiver that records its messages.
final class Worker: MessageReceiver, Sendable {
  let ran = Locked<[String]>([])
  let gate = Gate()

  func note(_ word: String) { ran.withLock { $0.append(word) } }
  var words: [String] { ran.withLock { $0 } }

  static let selectorTable = SelectorTable(for: Worker.self) {
    Responds(to: .add) { worker, number in
      worker.note("add \(number)")
      return number + 1
    }
    Responds(to: .onAddMsg) { worker, chat, data in
      worker.note("\(chat) \(data)")
      return true
    }
    Responds(to: .paint) { _, tint in Tint(red: tint.red * 2, name: "painted") }
    Responds(to: "text:") { (_: Worker, text: String) in text }
    Responds(to: "bytes:") { (_: Worker, bytes: [UInt8]) in bytes }
    Responds(to: "tint:") { (_: Worker, tint: Tint) in tint }
    Responds(to: .rest) { worker in worker.note("rest") }
    Responds(to: "swell:") { (_: Worker, size: Int) in String(repeating: "x", count: size) }
    Responds(
      to: .hold,
      async: { worker, number in
        worker.note("begin \(number)")
        await worker.gate.pass()
        worker.note("end \(number)")
        return number
      })
    Responds(to: "burn") { (_: Worker) throws -> Void in throw Burnt(description: "the cook slept") }
    Responds(to: "rant") { (_: Worker) throws -> Void in
      throw Burnt(description: String(repeating: "ö\u{0}", count: 9999))
    }
    Responds(to: "name:") { (_: Worker, selector: MessageSelector) in selector.name }
    Responds(to: "mistake") { (worker: Worker) throws -> Void in
      _ = try worker.send(Message<(Int) -> Int>("missing:"), 1)
    }
    Responds(to: "plain") { (_: Worker) in Unwritten() }
  }
}

struct Unwritten: Sendable {}

/// Answers with a value that cannot be encoded.
private final class Safe: MessageReceiver, Sendable {
  struct Sealed: Encodable, Sendable {
    func encode(to encoder: any Encoder) throws { throw Burnt(description: String(repeating: "ö", count: 9999)) }
  }
  static let selectorTable = SelectorTable(for: Safe.self) { Responds(to: "open") { (_: Safe) in Sealed() } }
}

/// The caller's identity, as an engine provides it.
enum Caller {
  @TaskLocal static var name: String?
}

let knownTypes = KnownTypes(["Tint": Tint.self])

/// A line of an endpoint, with hand-written texts.
private struct HandLine {
  let endpoint: LocalEndpoint
  let name: String

  init(_ endpoint: LocalEndpoint, sender: String = "tests") async throws {
    self.endpoint = endpoint
    let text = "forwardcast:2 {1:k4:open1:o\(sender.utf8.count):\(sender)}"
    let reply = try await endpoint.receive(text)
    guard
      case .opened(let name, _, _) = try WireReply.read(WireFields.read(reply, MessageLimits()), types: knownTypes)
    else {
      throw Burnt(description: reply)
    }
    self.name = name
  }

  /// - Parameters:
  ///   - awaited: the first awaited number, by default this one.
  ///   - patience: the milliseconds to wait for earlier numbers.
  func call(
    _ number: Int, _ selector: String, _ arguments: String, line: String? = nil, awaited: Int? = nil,
    patience: Int? = nil
  ) async throws -> String {
    let line = line ?? name
    let window = (awaited.map { "1:bi\($0);" } ?? "") + (patience.map { "1:wi\($0);" } ?? "")
    let text =
      "forwardcast:2 {1:k4:call1:l\(line.utf8.count):\(line)1:ni\(number);1:s\(selector.utf8.count):\(selector)1:a[\(arguments)]\(window)}"
    return try await endpoint.receive(text)
  }

  /// Tells the endpoint which messages up to `number` are still awaited.
  func await(_ awaited: [Int], upTo number: Int) async throws -> String {
    try await endpoint.receive(WireRequestText.await(awaited, upTo: number, line: name).text())
  }
}

@Suite("Endpoints", .whenQuiet, .timeLimit(.minutes(10)))
struct EndpointTests {
  private let system = LocalTestingDistributedActorSystem()
  private let worker = Worker()

  private func endpoint(_ limits: MessageLimits = MessageLimits()) -> LocalEndpoint {
    LocalEndpoint(worker, for: Worker.selectorTable, types: knownTypes, limits: limits, actorSystem: system)
  }

  @Test("the documented example is answered byte for byte")
  func documentedExample() async throws {
    let line = try await HandLine(endpoint())
    try await expect(
      line.call(1, "onAddMsg:msgData:", "6:String5:alice7:[UInt8]b3:AQI"),
      equals: "forwardcast:2 {1:k6:answer1:ni1;1:r[4:Boolt]}")
    let mismatch = try await line.call(2, "add:", "6:String3:one")
    expect(
      mismatch,
      equals:
        "forwardcast:2 {1:k5:error1:ni2;1:c13:type mismatch1:w6:Worker1:s4:add:1:e44:argument 0: wanted Int, found String (\"one\")1:xi0;}"
    )
    let refused = try await line.call(3, "reboot", "")
    expect(
      refused,
      equals:
        "forwardcast:2 {1:k7:refused1:ni3;1:c8:selector1:e72:the endpoint does not accept it; add it to the selectors of the endpoint}"
    )
    expect(worker.words, equals: ["alice [1, 2]"])
  }

  @Test("a selector that the endpoint does not list is refused and not interned, even if the receiver has it")
  func onlyListed() async throws {
    let narrow = LocalEndpoint(worker, allowing: [Message.add.selector], actorSystem: system)
    let line = try await HandLine(narrow)
    expect(try await line.call(1, "rest", "").contains("1:c8:selector"))
    expect(try await line.call(2, "neverHeardOf:", "3:Inti1;").contains("1:c8:selector"))
    expect(MessageSelector(known: "neverHeardOf:") == nil)
    expect(try await line.call(3, "add:", "3:Inti1;").contains("1:r[3:Inti2;]"))
    expect(worker.words, equals: ["add 1"])
    let ask = try await narrow.receive(WireRequestText.ask(Message.rest.selector).text())
    expect(ask, equals: "forwardcast:2 {1:k4:told1:rf}")
  }

  @Test("a message with arguments of unknown types, or too many arguments, is refused")
  func unknownArguments() async throws {
    let narrow = LocalEndpoint(worker, for: Worker.selectorTable, actorSystem: system)
    let line = try await HandLine(narrow)
    let reply = try await line.call(1, "paint:", "4:Tint{3:redi1;6:shades[]}")
    expect(reply.contains("1:c8:argument") && reply.contains("unknown type"), "\(reply)")
    expect(try await line.call(2, "add:", "3:Inti1;3:Inti2;").contains("1:c5:count"))
    expect(try await line.call(3, "add:", "").contains("1:c5:count"))
    expect(worker.words.isEmpty)
  }

  @Test("a message that is delivered twice runs once and is answered twice")
  func twice() async throws {
    let line = try await HandLine(endpoint())
    let first = try await line.call(1, "add:", "3:Inti1;")
    try await expect(line.call(1, "add:", "3:Inti1;"), equals: first)
    expect(worker.words, equals: ["add 1"])
  }

  @Test("a running message that is delivered again waits for the one answer each time")
  func againWhileRunning() async throws {
    let line = try await HandLine(endpoint())
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    async let second = line.call(1, "hold:", "3:Inti1;")
    async let third = line.call(1, "hold:", "3:Inti1;")
    for _ in 0..<100 { await Task.yield() }
    worker.gate.open()
    try await expect(
      [first, second, third], equals: Array(repeating: "forwardcast:2 {1:k6:answer1:ni1;1:r[3:Inti1;]}", count: 3))
    expect(worker.words, equals: ["begin 1", "end 1"])
  }

  @Test("a message that is delivered twice before a later one gets its own answer both times")
  func twiceBeforeALaterOne() async throws {
    let line = try await HandLine(endpoint())
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    async let second = line.call(1, "hold:", "3:Inti1;")
    for _ in 0..<100 { await Task.yield() }
    async let later = line.call(2, "add:", "3:Inti2;")
    for _ in 0..<100 { await Task.yield() }
    worker.gate.open()
    let (one, again) = (try await first, try await second)
    expect(one.contains("1:ni1;1:r[3:Inti1;]") && again == one)
    expect(try await later.contains("1:ni2;1:r[3:Inti3;]"))
    expect(worker.words, equals: ["begin 1", "end 1", "add 2"])
  }

  @Test("the owner of a line can neither read nor stop other lines")
  func foreignLines() async throws {
    let endpoint = endpoint()
    let (alice, mallory) = (try await HandLine(endpoint), try await HandLine(endpoint))
    let secret = try await alice.call(1, "onAddMsg:msgData:", "6:String6:secret7:[UInt8]b3:AQI")
    // The names that a counter would have given to the previous line, in each half of the name.
    let number = try #require(UInt128(mallory.name, radix: 16))
    for step in 1...8 as ClosedRange<UInt128> {
      for (guess, code) in [(number &- step, "line"), (number &- step << 32, "kept")] {
        let name = String(guess, radix: 16)
        let line = String(repeating: "0", count: 32 - name.utf8.count) + name
        expect(line != alice.name)
        for number in [1, Int.max] {
          let reply = try await mallory.call(number, "onAddMsg:msgData:", "", line: line)
          expect(reply.contains("1:c4:\(code)") && reply != secret, "\(reply)")
        }
      }
    }
    expect(try await alice.call(2, "add:", "3:Inti1;").contains("answer"))
    expect(alice.name.utf8.count == 32 && alice.name.allSatisfy(\.isHexDigit))
    expect(!alice.name.hasPrefix(mallory.name.prefix(8)))
  }

  @Test("a number far ahead is refused, and the line continues")
  func farAhead() async throws {
    let line = try await HandLine(endpoint())
    for number in [Int.max, 1 << 40] {
      expect(try await line.call(number, "add:", "3:Inti9;").contains("1:c5:ahead"))
    }
    expect(try await line.call(1, "add:", "3:Inti1;").contains("1:r[3:Inti2;]"))
    expect(worker.words, equals: ["add 1"])
  }

  @Test("a message that arrives after a later one does not run")
  func overtaken() async throws {
    let line = try await HandLine(endpoint())
    _ = try await line.call(3, "add:", "3:Inti3;")
    let late = try await line.call(2, "add:", "3:Inti2;")
    expect(late.contains("1:c10:superseded"))
    expect(worker.words, equals: ["add 3"])
  }

  @Test("the next message of a line waits for the previous one to end, but other lines do not")
  func oneAtATime() async throws {
    let endpoint = endpoint(MessageLimits(waiting: 1))
    let (line, other) = (try await HandLine(endpoint), try await HandLine(endpoint))
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    expect(try await other.call(1, "add:", "3:Inti9;").contains("answer"))
    // Of two messages in any order, one finds no slot or was overtaken, and is refused at once.
    try await withThrowingTaskGroup(of: String.self) { group in
      for number in 2...3 { group.addTask { try await line.call(number, "add:", "3:Inti\(number);") } }
      let early = try await group.next() ?? ""
      expect(early.contains("1:c4:busy") || early.contains("1:c10:superseded"), "\(early)")
      worker.gate.open()
      expect(try await group.next()?.contains("answer") == true)
    }
    expect(try await first.contains("1:r[3:Inti1;]"))
    expect(Array(worker.words.prefix(3)), equals: ["begin 1", "add 9", "end 1"])
  }

  // MARK: The window

  @Test("concurrent messages of a line run in the order of their numbers, whichever arrives first")
  func windowInOrder() async throws {
    let line = try await HandLine(endpoint())
    for order in [[3, 2, 1], [2, 3, 1], [2, 1, 3], [1, 3, 2]] {
      let base = worker.words.count
      try await withThrowingTaskGroup(of: Void.self) { group in
        for step in order {
          let number = base + step
          group.addTask {
            let reply = try await line.call(number, "add:", "3:Inti\(number);", awaited: base + 1)
            expect(reply.contains("1:ni\(number);1:r[3:Inti\(number + 1);]"))
          }
          for _ in 0..<20 { await Task.yield() }
        }
        try await group.waitForAll()
      }
      expect(worker.words.dropFirst(base), equals: ArraySlice((1...3).map { "add \(base + $0)" }))
    }
  }

  @Test("a message waits for a lost one as long as its sender does, and the lost one does not run if it arrives later")
  func lostInWindow() async throws {
    let line = try await HandLine(endpoint())
    expect(try await line.call(2, "add:", "3:Inti2;", awaited: 1, patience: 20).contains("1:r[3:Inti3;]"))
    expect(try await line.call(1, "add:", "3:Inti1;").contains("1:c10:superseded"))
    expect(worker.words, equals: ["add 2"])
  }

  @Test("a message waits for a lost one no longer than its own sender does, even if a later message waits longer")
  func hastyInWindow() async throws {
    let line = try await HandLine(endpoint())
    async let third = line.call(3, "add:", "3:Inti3;", awaited: 1, patience: 3_600_000)
    for _ in 0..<100 { await Task.yield() }
    expect(try await line.call(2, "add:", "3:Inti2;", awaited: 1, patience: 20).contains("1:r[3:Inti3;]"))
    expect(try await third.contains("1:r[3:Inti4;]"))
    expect(worker.words, equals: ["add 2", "add 3"])
  }

  @Test("an abandoned call does not start, and no other message waits for it")
  func givenUp() async throws {
    let line = try await HandLine(endpoint())
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    async let second = line.call(2, "add:", "3:Inti2;", awaited: 1)
    async let fourth = line.call(4, "add:", "3:Inti4;", awaited: 1)
    for _ in 0..<100 { await Task.yield() }
    // 2 waits, and 3 has not arrived.
    expect(try await line.await([1, 4], upTo: 4).contains("1:rt"))
    worker.gate.open()
    expect(try await first.contains("answer"))
    // This query is answered after the messages that ran when 1 ended.
    expect(try await line.await([1, 4], upTo: 4).contains("1:rt"))
    expect(worker.words.last, equals: "add 4")
    expect(try await second.contains("1:c10:superseded"))
    expect(try await fourth.contains("1:r[3:Inti5;]"))
    expect(try await line.call(3, "add:", "3:Inti3;", awaited: 1).contains("1:c10:superseded"))
    expect(worker.words, equals: ["begin 1", "end 1", "add 4"])
  }

  @Test("numbers beyond the window are refused, and so are those that no sender would claim to await")
  func beyondWindow() async throws {
    let line = try await HandLine(endpoint(MessageLimits(waiting: 4)))
    expect(try await line.call(5, "add:", "3:Inti5;", awaited: 1).contains("1:c5:ahead"))
    let words = WireRequestText.await([], upTo: 3, line: line.name).text().replacing("1:a[]", with: "1:a[1:1d1;]")
    expect(try await line.endpoint.receive(words).contains("1:rf"))
    for (awaited, number) in [([1], 5), ([Int](), Int.max), ([0], 3), ([-7], 1), ([9], 3)] {
      expect(try await line.await(awaited, upTo: number).contains("1:rf"), "\(awaited) \(number)")
    }
    for awaited in [0, -1, 2, 3, Int.min, Int.max] {
      expect(try await line.call(1, "add:", "3:Inti1;", awaited: awaited).contains("1:c5:ahead"), "\(awaited)")
    }
    expect(try await line.call(1, "add:", "3:Inti1;").contains("answer"))
    expect(worker.words, equals: ["add 1"])
  }

  @Test("an answer is kept until its sender awaits a later one")
  func keptInWindow() async throws {
    let line = try await HandLine(endpoint())
    let first = try await line.call(1, "add:", "3:Inti1;")
    let second = try await line.call(2, "add:", "3:Inti2;", awaited: 1)
    try await expect(line.call(1, "add:", "3:Inti1;"), equals: first)
    try await expect(line.call(2, "add:", "3:Inti2;"), equals: second)
    _ = try await line.call(3, "add:", "3:Inti3;", awaited: 2)
    expect(try await line.call(1, "add:", "3:Inti1;").contains("1:c10:superseded"))
    try await expect(line.call(2, "add:", "3:Inti2;"), equals: second)
    expect(worker.words, equals: ["add 1", "add 2", "add 3"])
  }

  @Test("releasing an answer that its sender no longer awaits frees memory for the next")
  func keptAnswersAreReleased() async throws {
    let line = try await HandLine(endpoint(MessageLimits(memory: 40_000)))
    for number in 1...5 {
      let answer = try await line.call(number, "swell:", "3:Inti15000;")
      try await expect(line.call(number, "swell:", "3:Inti15000;"), equals: answer)
    }
  }

  @Test("an abandoned call does not run on arrival, even if no later call has started")
  func givenUpBeforeItComes() async throws {
    let line = try await HandLine(endpoint())
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    expect(try await line.await([1], upTo: 3).contains("1:rt"))
    let answers = Locked<[String]>([])
    let calls = (2...3).map { number in
      Task {
        let answer = try await line.call(number, "add:", "3:Inti\(number);", awaited: 1)
        answers.withLock { $0.append(answer) }
      }
    }
    // At once, and not after the first has ended.
    for _ in 0..<100_000 where answers.withLock({ $0.count < 2 }) { await Task.yield() }
    expect(answers.withLock { $0.count { $0.contains("1:c10:superseded") } }, equals: 2)
    worker.gate.open()
    expect(try await first.contains("answer"))
    expect(try await line.call(4, "add:", "3:Inti4;", awaited: 4).contains("1:r[3:Inti5;]"))
    for call in calls { try await call.value }
    expect(worker.words, equals: ["begin 1", "end 1", "add 4"])
  }

  // MARK: Memory

  @Test("a message that exceeds the memory limit does not run and delays no later message")
  func full() async throws {
    let line = try await HandLine(endpoint(MessageLimits(memory: 40_000)))
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    let long = "6:String9000:" + String(repeating: "x", count: 9000)
    expect(try await line.call(2, "add:", long, awaited: 1).contains("1:c4:busy"))
    async let third = line.call(3, "add:", "3:Inti3;", awaited: 1)
    async let again = line.call(2, "add:", "3:Inti2;", awaited: 1)
    for _ in 0..<100 { await Task.yield() }
    worker.gate.open()
    expect(try await again.contains("1:c10:superseded"))
    expect(try await first.contains("answer"))
    expect(try await third.contains("1:r[3:Inti4;]"))
    expect(try await line.call(4, "add:", "3:Inti4;").contains("1:r[3:Inti5;]"))
    expect(worker.words, equals: ["begin 1", "end 1", "add 3", "add 4"])
  }

  @Test("a sender that uses all the memory it can get leaves an equal share to others")
  func shares() async throws {
    let endpoint = endpoint(MessageLimits(lines: 40, memory: 200_000))
    let long = "6:String9000:" + String(repeating: "x", count: 9000)
    let mallory = try await HandLine(endpoint, sender: "mallory")
    let alice = try await HandLine(endpoint, sender: "alice")
    try await withThrowingTaskGroup(of: Int.self) { group in
      // They wait for the first, which arrives last.
      for number in 2...16 {
        group.addTask { try await mallory.call(number, "add:", long, awaited: 1).contains("1:c4:busy") ? 1 : 0 }
      }
      // Each takes 22 KB, so four fit into half of the memory.
      for _ in 2...12 { try await expect(group.next(), equals: 1) }
      expect(try await alice.call(1, "add:", long).contains("type mismatch"))
      expect(try await mallory.call(1, "add:", "3:Inti1;").contains("answer"))
      for try await isBusy in group { expect(isBusy, equals: 0) }
    }
    // All the memory is free again.
    expect(try await mallory.call(17, "swell:", "3:Inti90000;").contains("answer"))
    expect(try await mallory.call(17, "swell:", "3:Inti90000;").contains("answer"))
  }

  @Test(
    "a message without memory evicts the oldest answers of idle lines, and only as many as it needs",
    arguments: [500, 15_000])
  func visitors(size: Int) async throws {
    let endpoint = endpoint(MessageLimits(lines: 100, memory: 24_000 + 12 * size))
    let resident = try await HandLine(endpoint, sender: "resident")
    let kept = try await resident.call(1, "swell:", "3:Inti\(size);")
    async let running = resident.call(2, "hold:", "3:Inti2;", awaited: 1)
    await until(!worker.words.isEmpty)
    var lines: [HandLine] = []
    for number in 1...50 {
      let line = try await HandLine(endpoint, sender: "visitor \(number)")
      let answer = try await line.call(1, "swell:", "3:Inti\(size);")
      expect(answer.contains("1:k6:answer"), "visitor \(number): \(answer.prefix(80))")
      lines.append(line)
    }
    // Repeated messages do not run again; they get the answers that were kept.
    var repeated: [String] = []
    for line in lines { repeated.append(try await line.call(1, "swell:", "3:Inti1;")) }
    let left = repeated.map { $0.contains("1:k6:answer") }
    expect(left.count { $0 } > 3 && left.drop { !$0 }.allSatisfy { $0 }, "\(left)")
    expect(repeated.prefix { !$0.contains("answer") }.allSatisfy { $0.contains("1:c4:kept") })
    try await expect(resident.call(1, "swell:", "3:Inti\(size);"), equals: kept)
    worker.gate.open()
    expect(try await running.contains("answer"))
  }

  @Test("a message larger than the whole memory evicts no answers")
  func tooLargeForAll() async throws {
    let endpoint = endpoint(MessageLimits(memory: 60_000))
    let (alice, bob) = (try await HandLine(endpoint, sender: "alice"), try await HandLine(endpoint, sender: "bob"))
    let answer = try await alice.call(1, "swell:", "3:Inti15000;")
    let long = "6:String20000:" + String(repeating: "x", count: 20_000)
    expect(try await bob.call(1, "add:", long).contains("1:c4:busy"))
    try await expect(alice.call(1, "swell:", "3:Inti15000;"), equals: answer)
  }

  @Test("each copy of a message that arrives while it waits uses memory")
  func againAndAgain() async throws {
    let line = try await HandLine(endpoint(MessageLimits(memory: 60_000)))
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<20 { group.addTask { try await line.call(1, "hold:", "3:Inti1;").contains("1:c4:kept") } }
      for _ in 0..<15 { try await expect(group.next(), equals: true) }
      worker.gate.open()
      for try await isRefused in group { expect(!isRefused) }
    }
    expect(try await first.contains("answer"))
    expect(worker.words, equals: ["begin 1", "end 1"])
  }

  // MARK: Many senders

  @Test("opening many lines closes only idle lines of the same owner")
  func manyLines() async throws {
    let endpoint = endpoint(MessageLimits(lines: 4))
    let alice = try await HandLine(endpoint, sender: "alice")
    _ = try await alice.call(1, "add:", "3:Inti1;")
    for _ in 0..<20 { _ = try await HandLine(endpoint, sender: "mallory") }
    expect(try await alice.call(2, "add:", "3:Inti2;").contains("1:r[3:Inti3;]"))
    // A further sender takes a line from the sender with the most.
    let bob = try await HandLine(endpoint, sender: "bob")
    expect(try await bob.call(1, "add:", "3:Inti3;").contains("answer"))
    expect(try await alice.call(3, "add:", "3:Inti4;").contains("answer"))
  }

  @Test("a new line closes lines whose messages wait for lost ones, and those messages do not run")
  func waitingLines() async throws {
    let endpoint = endpoint(MessageLimits(lines: 1))
    let mallory = try await HandLine(endpoint, sender: "mallory")
    async let waiting = mallory.call(2, "add:", "3:Inti2;", awaited: 1)
    for _ in 0..<100 { await Task.yield() }
    let alice = try await HandLine(endpoint, sender: "alice")
    expect(try await waiting.contains("1:c4:line"))
    expect(try await alice.call(1, "add:", "3:Inti1;").contains("answer"))
    expect(worker.words, equals: ["add 1"])
  }

  @Test("if the engine identifies callers, a caller cannot use another's line, whatever name it gives")
  func callers() async throws {
    let endpoint = LocalEndpoint(
      worker, for: Worker.selectorTable, limits: MessageLimits(lines: 2), caller: { Caller.name }, actorSystem: system)
    let alice = try await Caller.$name.withValue("alice") { try await HandLine(endpoint, sender: "x") }
    try await Caller.$name.withValue("mallory") {
      for sender in ["x", "alice", "y", "z"] { _ = try await HandLine(endpoint, sender: sender) }
      expect(try await alice.call(1, "add:", "3:Inti9;").contains("1:c4:kept"))
      expect(try await alice.await([], upTo: 5).contains("1:rf"))
    }
    let own = try await Caller.$name.withValue("alice") { try await alice.call(1, "add:", "3:Inti1;") }
    expect(own.contains("answer"))
    expect(worker.words, equals: ["add 1"])
  }

  @Test("a message that ran on a line that was then closed is not reported as one that did not run")
  func ranOnClosedLine() async throws {
    let endpoint = endpoint(MessageLimits(lines: 1))
    let first = try await HandLine(endpoint)
    _ = try await first.call(1, "add:", "3:Inti1;")
    _ = try await HandLine(endpoint)
    expect(try await first.call(1, "add:", "3:Inti1;").contains("1:c4:kept"))
    expect(try await first.call(2, "add:", "3:Inti2;").contains("1:c4:line"))
    expect(worker.words, equals: ["add 1"])
  }

  @Test("a closed endpoint refuses new and waiting messages at once, and running ones end")
  func closed() async throws {
    let endpoint = endpoint()
    let line = try await HandLine(endpoint)
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    async let second = line.call(2, "add:", "3:Inti2;", awaited: 1)
    for _ in 0..<100 { await Task.yield() }
    await endpoint.close("it goes to sleep")
    expect(try await second.contains("1:c6:closed1:e16:it goes to sleep"))
    await endpoint.close("once more")
    expect(try await line.call(3, "add:", "3:Inti3;", awaited: 1).contains("1:c6:closed1:e16:it goes to sleep"))
    worker.gate.open()
    expect(try await first.contains("answer"))
    expect(worker.words, equals: ["begin 1", "end 1"])
  }

  @Test("an unknown line is refused: that of another endpoint or a closed one")
  func unknownLines() async throws {
    let endpoint = endpoint(MessageLimits(lines: 2))
    let first = try await HandLine(endpoint)
    _ = try await HandLine(endpoint)
    _ = try await HandLine(endpoint)
    expect(try await first.call(1, "add:", "3:Inti1;").contains("1:c4:line"))
    let elsewhere = try await HandLine(self.endpoint())
    expect(try await elsewhere.call(1, "add:", "3:Inti1;", line: first.name).contains("1:c4:line"))
    expect(worker.words.isEmpty)
  }

  @Test("lines with running messages are not closed for new lines")
  func busyLines() async throws {
    let endpoint = endpoint(MessageLimits(lines: 1))
    let line = try await HandLine(endpoint)
    async let first = line.call(1, "hold:", "3:Inti1;")
    await until(!worker.words.isEmpty)
    let refused = try await endpoint.receive(WireRequestText.open.text())
    expect(refused.contains("1:c4:busy"))
    worker.gate.open()
    expect(try await first.contains("answer"))
  }

  @Test("a message whose answer was not kept does not run a second time")
  func notKept() async throws {
    let line = try await HandLine(endpoint(MessageLimits(memory: 40_000)))
    _ = try await line.call(1, "swell:", "3:Inti21000;")
    expect(try await line.call(1, "swell:", "3:Inti1;").contains("1:c4:kept"))
  }

  @Test("an answer that exceeds the size limit is not sent")
  func largeAnswer() async throws {
    let line = try await HandLine(endpoint(MessageLimits(bytes: 4000)))
    expect(try await line.call(1, "swell:", "3:Inti5000;").contains("1:c6:answer"))
  }

  @Test("a reply with the error of an answer that cannot be encoded keeps the size limit", arguments: [150, 4096])
  func longRefusals(limit: Int) async throws {
    let endpoint = LocalEndpoint(
      Safe(), for: Safe.selectorTable, limits: MessageLimits(bytes: limit), actorSystem: system)
    let reply = try await HandLine(endpoint).call(1, "open", "")
    expect(reply.contains("1:c6:answer") && reply.utf8.count <= limit, "\(reply)")
  }

  @Test("errors of the library are sent with code, selector and evidence, others with type and text")
  func errors() async throws {
    let line = try await HandLine(endpoint())
    let foreign = try await line.call(1, "burn", "")
    expect(foreign, equals: "forwardcast:2 {1:k5:error1:ni1;1:t5:Burnt1:e14:the cook slept}")
    let own = try await line.call(2, "mistake", "")
    expect(own.contains("1:c21:unrecognized selector") && own.contains("1:s8:missing:"), "\(own)")
    let unwritten = try await line.call(3, "plain", "")
    expect(unwritten.contains("1:c6:answer") && unwritten.contains("not Encodable: Unwritten"), "\(unwritten)")
  }

  @Test("only the beginning of a long error text is sent")
  func longErrors() async throws {
    let line = try await HandLine(endpoint())
    let reply = try await line.call(1, "rant", "")
    let text = String(repeating: "ö\u{0}", count: 1362) + "ö…"
    expect(reply, equals: "forwardcast:2 {1:k5:error1:ni1;1:t5:Burnt1:e\(text.utf8.count):\(text)}")
  }

  @Test("a selector among the arguments is refused unless the endpoint allows it")
  func selectorsAsArguments() async throws {
    let line = try await HandLine(endpoint())
    expect(try await line.call(1, "name:", "15:MessageSelector4:add:").contains("1:r[6:String4:add:]"))
    _ = MessageSelector("knownToNoTable:")
    let reply = try await line.call(2, "name:", "15:MessageSelector15:knownToNoTable:")
    expect(reply.contains("1:c8:argument"), "\(reply)")
  }

  @Test("names are compared as bytes, and keys that are slow to compare are refused")
  func bytes() async throws {
    let receiver = MulticastProxy<any MessageReceiver & Sendable>()
    let endpoint = LocalEndpoint(receiver, allowing: ["caf\u{e9}:"], actorSystem: system)
    let line = try await HandLine(endpoint)
    expect(try await line.call(1, "cafe\u{301}:", "3:Inti1;").contains("1:c8:selector"))
    expect(try await !line.call(2, "caf\u{e9}:", "3:Inti1;").contains("1:c8:selector"))
    let adder = LocalEndpoint(Adder(), for: Adder.selectorTable, actorSystem: system)
    let peer = HostilePeer { try await adder.receive($0) }
    try await expect(peer.make(.marks), equals: ["told": 1, "malformed": 3, "selector": 1, "argument": 2])
  }

  @Test("malformed input is refused without side effects")
  func hostile() async throws {
    let endpoint = endpoint(MessageLimits(bytes: 400))
    for text in ["", "x", "forwardcast:9 {}", String(repeating: "[", count: 150), String(repeating: "x", count: 401)] {
      let reply = try await endpoint.receive(text)
      expect(reply.hasPrefix("forwardcast:2 {1:k7:refused"), "\(reply)")
    }
    let line = try await HandLine(endpoint)
    expect(try await line.call(1, "add:", "3:Inti1;").contains("answer"))
  }

  @Test("limits and windows out of range are clamped to the nearest possible value", arguments: [Int.min, 0, .max])
  func limitsOfAnySize(size: Int) async throws {
    var limits = MessageLimits()
    (limits.depth, limits.lines, limits.waiting) = (max(size, 2), size, size)
    if size > 0 { (limits.bytes, limits.items, limits.memory) = (size, size, size) }
    var options = RemoteOptions(deadline: .seconds(10), limits: limits)
    options.window = size
    let system = LocalTestingDistributedActorSystem()
    let door = MessageEndpoint(Worker(), for: Worker.selectorTable, limits: limits, actorSystem: system)
    let remote = try await RemoteReceiver(connectingTo: door, options: options)
    for number in 0..<3 { try await expect(remote.sendAndWait(.add, number), equals: number + 1) }
    limits.memory = .min
    let full = MessageEndpoint(Worker(), for: Worker.selectorTable, limits: limits, actorSystem: system)
    let other = try await RemoteReceiver(connectingTo: full, options: options)
    let error = await #expect(throws: RemoteError.self) { try await other.sendAndWait(.add, 1) }
    expect(error?.code, equals: .busy)
  }
}
