// RemoteReceiverTests.swift: a receiver in another process, on the sender's side.

import Distributed
import Forwardcast
import Foundation
import PipeActorSystem
import Synchronization
import TestSupport
import Testing

@testable import ForwardcastDistributed

/// A deadline for tests that are not about deadlines, long enough for a busy machine.
let unhurried = Duration.seconds(600)

/// Connects to an endpoint; `exchange` may replace its replies.
func connect(
  _ endpoint: LocalEndpoint, name: String = "worker",
  options: RemoteOptions = RemoteOptions(deadline: unhurried, types: knownTypes),
  exchange: (@Sendable (String) async throws -> String?)? = nil
) async throws -> RemoteReceiver {
  let line = RemoteLine(name, options, isLocal: false) { envelope, _ in
    if let exchange, let reply = try await exchange(envelope) { return tagged(reply, as: envelope) }
    return try await endpoint.receive(envelope)
  }
  return try await RemoteReceiver(line, endpoint.id)
}

/// A hand-written reply with the tag of its request.
private func tagged(_ reply: String, as envelope: String) -> String {
  guard reply.hasSuffix("}"), !reply.contains("1:gi"), let tag = envelope.ranges(of: "1:gi").last else { return reply }
  return "\(reply.dropLast())\(envelope[tag.lowerBound...])"
}

/// The error that a call throws.
func remoteError(_ body: () async throws -> Void) async throws -> RemoteError {
  do {
    try await body()
    throw Burnt(description: "it did not throw")
  } catch let error as RemoteError {
    return error
  }
}

/// Identifies the current thread.
private func thisThread() -> [UInt8] { withUnsafeBytes(of: pthread_self()) { Array($0) } }

private func isCall(_ envelope: String) -> Bool { envelope.contains("1:k4:call") }

@Suite("Remote receivers", .whenQuiet, .timeLimit(.minutes(10)))
struct RemoteReceiverTests {
  private let system = LocalTestingDistributedActorSystem()
  private let worker = Worker()

  private func endpoint() -> LocalEndpoint {
    LocalEndpoint(worker, for: Worker.selectorTable, types: knownTypes, actorSystem: system)
  }

  @Test("a remote receiver answers like the receiver itself: numbers, values, Void and asynchronous methods")
  func answers() async throws {
    let remote = try await RemoteReceiver(
      connectingTo: endpoint(), name: "worker", options: RemoteOptions(deadline: unhurried, types: knownTypes))
    try await expect(remote.sendAndWait(.add, 4), equals: 5)
    expect(try await remote.sendAndWait(.onAddMsg, "alice", [1, 2]))
    try await expect(remote.sendAndWait(.paint, Tint(red: 2)), equals: Tint(red: 4, name: "painted"))
    try await remote.sendAndWait(.rest)
    worker.gate.open()
    try await expect(remote.sendAndWait(.hold, 7), equals: 7)
    var call = Invocation("add:", arguments: [ArgumentBox(1)])
    try await remote.performAndWait(&call)
    try expect(call.result?.unbox(as: Int.self), equals: 2)
    expect("\(remote)", equals: "remote worker, 14 messages")
  }

  @Test("an endpoint that is encoded and decoded is the same endpoint")
  func endpointsAreCodable() async throws {
    let remote = try await RemoteReceiver(
      connectingTo: try LocalEndpoint.resolve(id: endpoint().id, using: system),
      options: RemoteOptions(deadline: unhurried))
    expect(remote.name.contains("LocalTestingActorID"))
  }

  @Test("a number of another width is converted before sending, and one that does not fit is not sent")
  func conversions() async throws {
    let sent = Locked(0)
    let remote = try await connect(endpoint()) { envelope in
      if isCall(envelope) { sent.withLock { $0 += 1 } }
      return nil
    }
    try await expect(remote.sendAndWait(Message<(UInt8) -> Int>("add:"), 4), equals: 5)
    await #expect(throws: MessageError.self) {
      try await remote.sendAndWait(Message<(String) -> Int>("add:"), "four")
    }
    expect(sent.withLock { $0 }, equals: 1)
  }

  @Test("errors arrive with code, selector and text")
  func errors() async throws {
    let remote = try await connect(endpoint())
    let own = try await #require(throws: MessageError.self) {
      try await remote.sendAndWait(Message<() -> Void>("mistake"))
    }
    expect(own.code, equals: .unrecognizedSelector)
    expect(own.selector, equals: "missing:")
    expect(own.receiver, equals: "Worker")
    let foreign = try await remoteError { try await remote.sendAndWait(Message<() -> Void>("burn")) }
    expect(foreign.code, equals: .foreignError)
    expect(foreign.foreignType, equals: "Burnt")
    expect(foreign.outcome, equals: .ran)
    expect("\(foreign)", equals: "foreign error: 'burn' of worker: Burnt: the cook slept; the message ran")
    let unwritten = try await remoteError { try await remote.sendAndWait(Message<() -> Void>("plain")) }
    expect(unwritten.code, equals: .cannotCross)
    expect(unwritten.outcome, equals: .ran)
  }

  @Test("an error of the library arrives as itself, whatever its code")
  func errorCodes() throws {
    let source = try String(
      contentsOf: packageFolder("Sources/Forwardcast/Message/MessageError.swift"), encoding: .utf8)
    let codes = source.matches(of: /Code\(\s*description: "([^"]+)"/).map { String($0.output.1) }
    expect(codes.count > 16)
    for code in codes {
      let text = "forwardcast:2 {1:k5:error1:ni1;1:c\(code.utf8.count):\(code)}"
      guard
        case .messageError(1, let error) = try WireReply.read(WireFields.read(text, MessageLimits()), types: knownTypes)
      else { throw Burnt(description: code) }
      expect(error.code.description, equals: code)
    }
  }

  @Test("a selector that the endpoint does not allow is not sent")
  func unknownSelectors() async throws {
    let remote = try await connect(endpoint())
    expect(remote.responds(to: "add:"))
    expect(!remote.responds(to: "reboot"))
    expect(remote.methodSignature(for: "add:")?.description, equals: "q@:q")
    let error = try await #require(throws: MessageError.self) {
      try await remote.sendAndWait(Message<() -> Void>("reboot"))
    }
    expect(error.code, equals: .unrecognizedSelector)
    expect(error.receiver, equals: "remote worker")
  }

  @Test("a receiver is queried once for fixed answers, and each time otherwise")
  func questions() async throws {
    let proxy = MulticastProxy<any MessageReceiver & Sendable>()
    let changing = LocalEndpoint(proxy, allowing: [Message.add.selector], actorSystem: system)
    let once = try await connect(changing)
    let each = try await connect(changing, options: RemoteOptions(deadline: unhurried, questions: .askedEachTime))
    expect(!once.responds(to: "add:"))
    expect(each.responds(to: "add:"))
    expect(try await each.respondsNow(to: "add:") == false)
    proxy.add(worker)
    expect(!once.responds(to: "add:"))
    expect(try await once.respondsNow(to: "add:"))
    try await expect(each.sendAndWait(.add, 1), equals: 2)
    withExtendedLifetime(worker) {}
  }

  @Test("a synchronous send is refused, since a remote call must be awaited")
  func synchronous() async throws {
    let remote = try await connect(endpoint())
    let error = try #require(throws: MessageError.self) { try remote.send(.add, 1) }
    expect(error.code, equals: .isolationMismatch)
    expect(worker.words.isEmpty)
  }

  @Test("a message with an argument that cannot be encoded is not sent")
  func unwritten() async throws {
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried, questions: .askedEachTime))
    var call = Invocation("add:", arguments: [ArgumentBox(Unwritten())])
    let error = try await remoteError { try await remote.performAndWait(&call) }
    expect(error.code == .cannotCross && error.outcome == .didNotRun)
    expect("\(error)".contains("argument 0 is not Encodable: Unwritten"))
  }

  @Test(
    "calls run in calling order, and no more are pending than the window allows", arguments: [1, 5, 99])
  func order(window: Int) async throws {
    let (underWay, most) = (Counter(), Counter())
    let endpoint = endpoint()
    let remote = try await connect(endpoint, options: RemoteOptions(deadline: unhurried, window: window)) { envelope in
      most.raise(to: underWay.add(1))
      defer { underWay.add(-1) }
      await Task.yield()
      return try await endpoint.receive(envelope)
    }
    let count = 200
    // All calls wait before the first one runs.
    let first = Task { try await remote.sendAndWait(.hold, 0) }
    await until(!worker.words.isEmpty)
    var calls: [Task<Int, any Error>] = []
    for number in 1...count {
      calls.append(Task { try await remote.sendAndWait(.add, number) })
      await until(remote.standing > number)
    }
    worker.gate.open()
    try await expect(first.value, equals: 0)
    for (index, call) in calls.enumerated() { try await expect(call.value, equals: index + 2) }
    expect(worker.words, equals: ["begin 0", "end 0"] + (1...count).map { "add \($0)" })
    // The endpoint's own window is 16.
    expect(most.value, equals: min(window, 16))
  }

  @Test(
    "a call that is canceled or times out while it waits at the endpoint does not start there",
    arguments: [true, false])
  func givenUp(isCancelled: Bool) async throws {
    let remote = try await connect(endpoint())
    let first = Task { try await remote.sendAndWait(.hold, 1) }
    await until(!worker.words.isEmpty)
    let second = Task {
      try await remote.with(deadline: isCancelled ? unhurried : .milliseconds(20)).sendAndWait(.add, 2)
    }
    await until(remote.called >= 2)
    if isCancelled { second.cancel() }
    _ = await second.result
    let third = Task { try await remote.sendAndWait(.add, 3) }
    await until(!remote.isTelling)
    worker.gate.open()
    try await expect(first.value, equals: 1)
    try await expect(third.value, equals: 4)
    expect(worker.words, equals: ["begin 1", "end 1", "add 3"])
  }

  // MARK: Ends of calls

  @Test("an unanswered call times out, unknown whether it arrived, and the next one works")
  func deadline() async throws {
    let silent = Locked(true)
    let remote = try await connect(endpoint()) { envelope in
      guard isCall(envelope), silent.withLock({ $0 }) else { return nil }
      try await Task.sleep(for: .seconds(600))
      return nil
    }
    let error = try await remoteError { try await remote.with(deadline: .milliseconds(30)).sendAndWait(.add, 1) }
    expect(error.code == .timedOut && error.outcome == .unknown)
    expect(
      "\(error)".hasPrefix(
        "timed out: 'add:' of worker: no answer in 0.03 seconds; unknown whether the message ran")
    )
    silent.withLock { $0 = false }
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
    expect(worker.words, equals: ["add 2"])
  }

  @Test(
    "any duration is a valid deadline",
    arguments: [Duration.seconds(Int64.max), .seconds(-Int64.max), Duration(attoseconds: .max), .zero])
  func anyDuration(time: Duration) async throws {
    let remote = try await connect(endpoint()).with(deadline: time)
    if time > .zero {
      try await expect(remote.sendAndWait(.add, 1), equals: 2)
    } else {
      try await expect(remoteError { try await remote.sendAndWait(.add, 1) }.code, equals: .timedOut)
      expect(worker.words, equals: [])
    }
  }

  @Test("if the type of an answer is not registered, the error says that the message ran and what to add")
  func unnamedAnswer() async throws {
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried))
    let error = try await remoteError { try await remote.sendAndWait(.paint, Tint(red: 2)) }
    expect(error.code == .cannotCross && error.outcome == .ran)
    expect(
      "\(error)",
      equals:
        "cannot cross: 'paint:' of worker: the answer: unknown type \"Tint\"; add it to the types of RemoteOptions; "
        + "the message ran"
    )
  }

  @Test(
    "if an answer does not decode as its type, the error says that the message ran",
    arguments: ["3:Int2:no", "6:Secret{}"])
  func unreadableAnswer(value: String) async throws {
    let remote = try await connect(endpoint()) { envelope in
      isCall(envelope) ? "forwardcast:2 {1:k6:answer1:ni1;1:r[\(value)]}" : nil
    }
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect(error.code == .cannotCross && error.outcome == .ran, "\(error)")
  }

  @Test("the reply of the actor system is handled by the waiting caller, or on a queue for an actor")
  func answerWakesOneThread() async throws {
    let reader = Locked<[UInt8]>([])
    let remote = try await connect(endpoint()) { envelope in
      guard isCall(envelope) else { return nil }
      await withCheckedContinuation { engine in Thread.detachNewThread { engine.resume() } }
      reader.withLock { $0 = thisThread() }
      let number = envelope.split(separator: "1:ni")[1].prefix { $0 != ";" }
      return "forwardcast:2 {1:k6:answer1:ni\(number);1:r[3:Inti7;]}"
    }
    func readsItself() async throws -> Bool {
      try await expect(remote.sendAndWait(.add, 1), equals: 7)
      return reader.withLock { $0 } == thisThread()
    }
    @MainActor func readsItselfOnActor() async throws -> Bool {
      try await expect(remote.sendAndWait(.add, 1), equals: 7)
      return reader.withLock { $0 } == thisThread()
    }
    for _ in 0..<20 { expect(try await readsItself()) }
    expect(try await !readsItselfOnActor())
  }

  @Test(
    "a call that ends without a reply delays no later one",
    arguments: ["the engine fails", "the answer is none", "it is too large"])
  func endedUnheard(way: String) async throws {
    let narrow = LocalEndpoint(
      worker, for: Worker.selectorTable, types: knownTypes, limits: MessageLimits(bytes: 1000), actorSystem: system)
    let options = RemoteOptions(deadline: .seconds(Int64.max), types: knownTypes)
    let remote = try await connect(narrow, options: options) { envelope in
      guard isCall(envelope), envelope.contains("1:ni2;"), way != "it is too large" else { return nil }
      if way == "the engine fails" { throw Burnt(description: "no route") }
      return "nothing"
    }
    async let first = remote.sendAndWait(.hold, 1)
    await until(!worker.words.isEmpty)
    let error = try await remoteError {
      _ = try await remote.sendAndWait(.onAddMsg, "alice", [UInt8](repeating: 0, count: 1000))
    }
    expect(error.code != .timedOut)
    async let third = remote.sendAndWait(.add, 3)
    await until(remote.standing == 2)
    worker.gate.open()
    try await expect(first, equals: 1)
    try await expect(third, equals: 4)
  }

  @Test("a call that waits for an earlier one until its deadline does not run")
  func deadlineInLine() async throws {
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried, window: 1))
    async let first = remote.sendAndWait(.hold, 1)
    await until(!worker.words.isEmpty)
    let error = try await remoteError { try await remote.with(deadline: .milliseconds(30)).sendAndWait(.add, 2) }
    expect(error.code == .timedOut && error.outcome == .didNotRun)
    worker.gate.open()
    try await expect(first, equals: 1)
    try await expect(remote.sendAndWait(.add, 3), equals: 4)
    expect(worker.words, equals: ["begin 1", "end 1", "add 3"])
  }

  @Test("an engine whose calls never return gets at most sixteen of them")
  func outstanding() async throws {
    let (begun, never) = (Counter(), Gate())
    let remote = try await connect(endpoint()) { envelope in
      guard isCall(envelope) else { return nil }
      begun.add(1)
      await never.pass()
      return nil
    }
    let hasty = remote.with(deadline: .milliseconds(1))
    // On a busy machine a call may time out unsent, or the engine may start it too late.
    while remote.abandoned < RemoteLine.abandonedLimit {
      try await expect(remoteError { try await hasty.sendAndWait(.add, 1) }.code, equals: .timedOut)
    }
    let refused = try await remoteError { try await hasty.sendAndWait(.add, 1) }
    expect(refused.code == .connectionFailed && refused.outcome == .didNotRun)
    await until(begun.value >= RemoteLine.abandonedLimit)
    expect(begun.value, equals: RemoteLine.abandonedLimit)
    never.open()
    await until(remote.abandoned == 0)
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
    // The endpoint refused late messages: they were overtaken or had run before.
    let numbers = worker.words
    expect(numbers.last == "add 2" && numbers.count <= RemoteLine.abandonedLimit + 1)
  }

  @Test("pending messages count toward the sixteen calls that an engine may hold")
  func outstandingInWindow() async throws {
    let (begun, never) = (Counter(), Gate())
    let remote = try await connect(endpoint()) { envelope in
      guard isCall(envelope) else { return nil }
      begun.add(1)
      await never.pass()
      return nil
    }
    let hasty = remote.with(deadline: .milliseconds(1))
    while remote.abandoned < RemoteLine.abandonedLimit - 1 {
      _ = try await remoteError { try await hasty.sendAndWait(.add, 1) }
    }
    let calls = (0..<16).map { number in Task { try await remote.sendAndWait(.add, number) } }
    await until(remote.standing == 16 && begun.value >= RemoteLine.abandonedLimit)
    expect(begun.value, equals: RemoteLine.abandonedLimit)
    never.open()
    for (number, call) in calls.enumerated() { try await expect(call.value, equals: number + 1) }
  }

  @Test("after an error of the engine it is unknown whether the message ran")
  func engineFails() async throws {
    let remote = try await connect(endpoint()) { envelope in
      if isCall(envelope) { throw Burnt(description: "no route") }
      return nil
    }
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect(
      "\(error)", equals: "connection failed: 'add:' of worker: Burnt: no route; unknown whether the message ran")
  }

  @Test("canceling ends the wait of a queued or pending call, and other calls continue")
  func cancellation() async throws {
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried, window: 1))
    let first = Task { try await remote.sendAndWait(.hold, 1) }
    await until(!worker.words.isEmpty)
    let inLine = Task { try await remote.sendAndWait(.add, 2) }
    await until(remote.standing >= 2)
    inLine.cancel()
    await #expect(throws: CancellationError.self) { try await inLine.value }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    let last = Task { try await remote.sendAndWait(.add, 3) }
    worker.gate.open()
    try await expect(last.value, equals: 4)
    expect(worker.words, equals: ["begin 1", "end 1", "add 3"])
  }

  @Test("a call that is canceled while its task is being created is canceled at the engine")
  func cancelledBeforeItsTask() async throws {
    let line = RemoteLine("stage", RemoteOptions(deadline: unhurried), isLocal: false) { _, _ in
      try await Task.sleep(for: unhurried)
      return ""
    }
    let call = OutgoingCall("add:", .ask("add:"), within: unhurried)
    // The order of two threads: the call is in flight, it is removed, its task starts, it ends.
    let left = line.state.withLock { state in
      state.underWay.append(call)
      return state.take { $0 === call }
    }
    line.carry(call, 1)
    line.end(left) { _, _ in CancellationError() }
    await #expect(throws: CancellationError.self) { try await call.value(startsJobs: false, runsJobs: false) }
    await until(line.state.withLock { $0.abandoned } == 0)
  }

  @Test("calls beyond the limit of waiting calls are refused")
  func busy() async throws {
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried, window: 1, waitingCalls: 1))
    let first = Task { try await remote.sendAndWait(.hold, 1) }
    await until(!worker.words.isEmpty)
    let second = Task { try await remote.sendAndWait(.add, 2) }
    await until(remote.standing >= 2)
    let error = try await remoteError { try await remote.sendAndWait(.add, 3) }
    expect(error.code == .busy && error.outcome == .didNotRun)
    worker.gate.open()
    try await expect(first.value, equals: 1)
    try await expect(second.value, equals: 3)
  }

  @Test(
    "a malformed reply is an error and does not trap",
    arguments: [
      "", "x", "forwardcast:9 {}", "forwardcast:2 {1:k6:answer1:ni9;1:r[]}", "forwardcast:2 {1:k6:answer1:ni1;1:r[n]}",
      "forwardcast:2 {1:k6:answer1:ni9;1:r[6:Secret{}]}", "forwardcast:2 {1:k4:told1:rt}",
      "forwardcast:2 {1:k6:opened1:l1:x1:m[]}", "forwardcast:2 {1:k7:refused1:ni1;1:c5:novel}",
    ])
  func malformedAnswers(text: String) async throws {
    let remote = try await connect(endpoint()) { isCall($0) ? text : nil }
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect(error.code == .malformedAnswer && error.outcome == .unknown, "\(error)")
  }

  @Test(
    "connecting fails if the endpoint's first reply is malformed",
    arguments: [
      "forwardcast:2 {1:k4:told1:rt}", "forwardcast:2 {1:k6:opened1:l1:x1:wi1;1:m[5:note:3:q@!]}",
      "forwardcast:2 {1:k6:opened1:l1:x1:wi1;1:m[5:note:]}",
      "forwardcast:2 {1:k6:opened1:l1:x1:wi1;1:m[i1;n]}", "forwardcast:2 {1:k6:opened1:l1:x1:wi1;1:m[5:note:i1;]}",
      "forwardcast:2 {1:k6:opened1:l1:x1:m[]}",
      "forwardcast:7 x",
    ])
  func malformedOpening(text: String) async throws {
    let error = try await remoteError {
      _ = try await connect(endpoint()) { _ in text }
    }
    expect(error.code, equals: .malformedAnswer, "\(error)")
  }

  @Test("a query whose reply is neither yes nor no throws an error")
  func malformedTelling() async throws {
    let isWrong = Locked(false)
    let remote = try await connect(endpoint()) { _ in
      isWrong.withLock { $0 } ? "forwardcast:2 {1:k6:opened1:l1:x1:wi1;1:m[]}" : nil
    }
    expect(try await remote.respondsNow(to: "add:"))
    isWrong.withLock { $0 = true }
    let error = try await remoteError { _ = try await remote.respondsNow(to: "add:") }
    expect("\(error)".hasPrefix("malformed answer: 'add:' of worker: the reply is neither yes nor no"), "\(error)")
  }

  @Test("a reply that the engine delivers to the wrong caller is rejected and counted")
  func mixedUpReplies() async throws {
    let (endpoint, swap) = (endpoint(), Swap())
    let exchange: @Sendable (String) async throws -> String? = { envelope in
      isCall(envelope) ? await swap.exchange(try await endpoint.receive(envelope)) : nil
    }
    let one = try await connect(endpoint, name: "one", exchange: exchange)
    let other = try await connect(endpoint, name: "other", exchange: exchange)
    for number in 0..<20 {
      async let first = remoteError { _ = try await one.sendAndWait(.add, number) }
      async let second = remoteError { _ = try await other.sendAndWait(.add, 100 + number) }
      for error in try await [first, second] {
        expect(error.code == .malformedAnswer && error.outcome == .unknown, "\(error)")
        expect(error.evidence, equals: "the engine delivered the answer of another call")
      }
    }
    expect([one, other].map(\.misdeliveredReplies), equals: [20, 20])
    expect(Set(worker.words).count == 40 && worker.words.count == 40)
  }

  @Test("a late answer or refusal of a replaced endpoint is not taken for a reply on the new line")
  func lateReplyOfReplaced() async throws {
    let (old, new) = (endpoint(), endpoint())
    let (stale, calls) = (Locked(""), Counter())
    let remote = try await connect(old) { envelope in
      guard isCall(envelope) else { return try await (calls.value == 0 ? old : new).receive(envelope) }
      switch calls.add(1) {
      case 1:
        let reply = try await old.receive(envelope)
        stale.withLock { $0 = reply }
        return reply
      // The message that is sent again has the number of the first one on the old line.
      case 3: return stale.withLock { $0 }
      case 4: return "forwardcast:2 {1:k7:refused1:ni2;1:c4:line1:e4:none1:gi7;}"
      default: return try await new.receive(envelope)
      }
    }
    try await expect(remote.sendAndWait(.add, 1), equals: 2)
    for _ in 0..<2 {
      let error = try await remoteError { try await remote.sendAndWait(.add, 2) }
      expect(error.code == .malformedAnswer && error.outcome == .unknown, "\(error)")
    }
    expect(remote.misdeliveredReplies, equals: 2)
    try await expect(remote.sendAndWait(.add, 3), equals: 4)
    expect(calls.value == 5 && remote.misdeliveredReplies == 2)
  }

  @Test("an endpoint of an earlier version, which sends replies without tags, still works")
  func withoutTags() async throws {
    let endpoint = endpoint()
    let line = RemoteLine("worker", RemoteOptions(deadline: unhurried), isLocal: false) { envelope, _ in
      let reply = try await endpoint.receive(envelope)
      guard let tag = reply.ranges(of: "1:gi").last else { return reply }
      return "\(reply[..<tag.lowerBound])}"
    }
    let remote = try await RemoteReceiver(line, endpoint.id)
    for number in 0..<3 { try await expect(remote.sendAndWait(.add, number), equals: number + 1) }
    expect(remote.misdeliveredReplies, equals: 0)
  }

  @Test("an error code of a later version arrives as a foreign error with its text")
  func laterCodes() async throws {
    let remote = try await connect(endpoint()) { envelope in
      isCall(envelope) ? "forwardcast:2 {1:k5:error1:ni1;1:c9:too heavy1:e4:5 kg}" : nil
    }
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect("\(error)", equals: "foreign error: 'add:' of worker: MessageError: too heavy: 5 kg; the message ran")
  }

  // MARK: Ends of a receiver

  @Test("when a receiver ends, every call fails: pending ones with an unknown outcome, waiting ones as not run")
  func gone() async throws {
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried, window: 1))
    let first = Task { try await remote.sendAndWait(.hold, 1) }
    await until(!worker.words.isEmpty)
    let second = Task { try await remote.sendAndWait(.add, 2) }
    await until(remote.standing >= 2)
    remote.end("the node left")
    let underWay = try await remoteError { _ = try await first.value }
    expect(
      "\(underWay)", equals: "receiver gone: 'hold:' of worker: the node left; unknown whether the message ran")
    let waiting = try await remoteError { _ = try await second.value }
    expect(waiting.code == .gone && waiting.outcome == .didNotRun)
    try await expect(remoteError { try await remote.sendAndWait(.add, 3) }.outcome, equals: .didNotRun)
    try await expect(remoteError { _ = try await remote.respondsNow(to: "add:") }.code, equals: .gone)
    expect(remote.isGone)
    worker.gate.open()
  }

  @Test("a receiver connects to the replacement of its endpoint, where messages that had not run run once")
  func replaced() async throws {
    let (old, new, later) = (endpoint(), endpoint(), Worker())
    let narrow = LocalEndpoint(later, allowing: [Message.add.selector], actorSystem: system)
    let present = Locked(old)
    let remote = try await connect(old) { envelope in try await present.withLock { $0 }.receive(envelope) }
    try await expect(remote.sendAndWait(.add, 1), equals: 2)
    present.withLock { $0 = new }
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
    present.withLock { $0 = narrow }
    // The allowed selectors are queried again.
    expect(remote.responds(to: "rest"))
    try await expect(remote.sendAndWait(.add, 3), equals: 4)
    expect(!remote.responds(to: "rest") && remote.presence == .connected)
    expect(worker.words == ["add 1", "add 2"] && later.words == ["add 3"])
  }

  @Test("a line that was closed for others is reopened, and each message runs once, in order")
  func closedLine() async throws {
    let crowded = LocalEndpoint(
      worker, for: Worker.selectorTable, types: knownTypes, limits: MessageLimits(lines: 1), actorSystem: system)
    let (one, two) = (try await connect(crowded, name: "one"), try await connect(crowded, name: "two"))
    for number in 0..<10 {
      try await expect((number % 2 == 0 ? one : two).sendAndWait(.add, number), equals: number + 1)
    }
    expect(worker.words, equals: (0..<10).map { "add \($0)" })
    // Several calls are pending when their line becomes unknown.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 10..<26 {
        group.addTask {
          let answer = try await one.sendAndWait(.add, number)
          expect(answer, equals: number + 1)
        }
        await until(one.called >= number - 10 + 6)
      }
      try await group.waitForAll()
    }
    expect(worker.words.dropFirst(10), equals: ArraySlice((10..<26).map { "add \($0)" }))
  }

  @Test("a message that is delivered again after its line was forgotten runs once, and its outcome is unknown")
  func forgottenLine() async throws {
    let crowded = LocalEndpoint(
      worker, for: Worker.selectorTable, types: knownTypes, limits: MessageLimits(lines: 1), actorSystem: system)
    let isFirst = Locked(true)
    let remote = try await connect(crowded) { envelope in
      guard isCall(envelope), isFirst.withLock({ $0 }) else { return nil }
      isFirst.withLock { $0 = false }
      // The answer is lost, others open lines, and the message arrives again.
      expect(try await crowded.receive(envelope).contains("1:k6:answer"))
      for _ in 0..<40 { _ = try await crowded.receive(WireRequestText.open.text()) }
      return nil
    }
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect(error.outcome, equals: .unknown, "\(error)")
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
    expect(worker.words, equals: ["add 1", "add 2"])
  }

  @Test("an endpoint's names that consist of combining marks are compared as bytes")
  func namesOfMarks() async throws {
    let mark = HostilePeer.marks(400_000)
    let remote = try await connect(endpoint()) { _ in
      let names = [mark + "a", mark + "b", "cafe\u{301}"].map { "\($0.utf8.count):\($0)n" }.joined()
      return "forwardcast:2 {1:k6:opened1:l1:x1:wi1;1:m[\(names)]}"
    }
    expect(remote.allowedNames.map(\.utf8.count), equals: [6, 400_001, 400_001])
    expect(!remote.responds(to: "add:") && remote.methodSignature(for: "caf\u{e9}") == nil)
  }

  @Test("an endpoint that does not know the line it has just opened is retried once only")
  func neverKnown() async throws {
    let sent = Counter()
    let remote = try await connect(endpoint()) { envelope in
      guard isCall(envelope) else { return nil }
      sent.add(1)
      return "forwardcast:2 {1:k7:refused1:c4:line1:e4:none}"
    }
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect(error.code == .gone && error.outcome == .didNotRun && sent.value == 2)
  }

  @Test("a query that is refused for an unknown line fails at once, and messages still work")
  func questionWithoutLine() async throws {
    let refusal = "forwardcast:2 {1:k7:refused1:c4:line1:e4:none}"
    let remote = try await connect(endpoint()) { $0.contains("1:k3:ask") ? refusal : nil }
    try await expect(remoteError { _ = try await remote.respondsNow(to: "add:") }.code, equals: .gone)
    try await expect(remote.sendAndWait(.add, 1), equals: 2)
    try await expect(remoteError { _ = try await connect(endpoint()) { _ in refusal } }.code, equals: .gone)
  }

  @Test("an endpoint that forgets its line and opens no new one is lost, and its calls fail")
  func failingReopen() async throws {
    let isAway = Locked(false)
    let options = RemoteOptions(deadline: .seconds(20), types: knownTypes)
    let remote = try await connect(endpoint(), options: options) { envelope in
      guard isAway.withLock({ $0 }) else { return nil }
      if isCall(envelope) { return "forwardcast:2 {1:k7:refused1:c4:line1:e4:none}" }
      throw Burnt(description: "no route")
    }
    isAway.withLock { $0 = true }
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect(error.code == .gone && error.outcome == .didNotRun && error.evidence.contains("no route"), "\(error)")
    guard case .lost(let reason) = remote.presence else { return expect(remote.presence == .lost("no route")) }
    expect(reason.contains("no route"))
    isAway.withLock { $0 = false }
    try await remote.reconnect()
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
  }

  // MARK: Losing and finding a receiver

  @Test("a lost receiver reports it, fails at once, and works again when it is reachable")
  func lostAndBack() async throws {
    let isAway = Locked(false)
    let options = RemoteOptions(deadline: unhurried, givesUpAfter: 1)
    let remote = try await connect(endpoint(), options: options) { _ in
      if isAway.withLock({ $0 }) { throw Burnt(description: "no route") }
      return nil
    }
    var presences = remote.presences.makeAsyncIterator()
    await expect(presences.next(), equals: .connected)
    isAway.withLock { $0 = true }
    try await expect(remoteError { try await remote.sendAndWait(.add, 1) }.outcome, equals: .unknown)
    await expect(presences.next(), equals: .lost("1 call was not answered"))
    try await expect(remoteError { try await remote.sendAndWait(.add, 2) }.code, equals: .gone)
    try await expect(remoteError { try await remote.reconnect() }.code, equals: .connectionFailed)
    isAway.withLock { $0 = false }
    try await remote.reconnect()
    await expect(presences.next(), equals: .connected)
    try await expect(remote.sendAndWait(.add, 3), equals: 4)
    remote.end("closed down")
    await expect(presences.next(), equals: .ended("closed down"))
    expect(await presences.next() == nil)
    // A later observer sees only the end.
    var later = remote.presences.makeAsyncIterator()
    await expect(later.next(), equals: .ended("closed down"))
    expect(await later.next() == nil)
    expect("\(remote)", equals: "remote worker, 14 messages, gone")
    try await expect(remoteError { try await remote.reconnect() }.code, equals: .gone)
    expect(worker.words, equals: ["add 3"])
  }

  @Test("an observer of a receiver is notified when the receiver ends or is released")
  func releasedReceiver() async throws {
    var remote: RemoteReceiver? = try await connect(endpoint())
    var presences = remote?.presences.makeAsyncIterator()
    await expect(presences?.next(), equals: .connected)
    remote = nil
    expect(await presences?.next() == nil)
  }

  @Test("a closed endpoint is lost at once, without waiting for a deadline")
  func closedEndpoint() async throws {
    let endpoint = endpoint()
    let remote = try await connect(endpoint)
    await endpoint.close("it goes to sleep")
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect("\(error)", equals: "receiver gone: 'add:' of worker: it goes to sleep; the message did not run")
    expect(remote.presence, equals: .lost("it goes to sleep"))
  }

  @Test("a refusal that exceeds the size limit keeps its code, and its text is shortened")
  func longRefusal() async throws {
    let narrow = LocalEndpoint(
      worker, allowing: [Message.add.selector], limits: MessageLimits(bytes: 512), actorSystem: system)
    let remote = try await connect(narrow)
    await narrow.close(String(repeating: "z", count: 600))
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect(error.code == .gone && error.outcome == .didNotRun, "\(error)")
    expect(error.evidence.hasPrefix("zzz") && error.evidence.hasSuffix("z…"), "\(error)")
    expect(remote.presence, equals: .lost(error.evidence))
  }

  @Test("a late reply of a closed endpoint does not end the connection to its replacement")
  func lateClosing() async throws {
    let (old, new, late) = (endpoint(), endpoint(), Gate())
    let present = Locked(old)
    let options = RemoteOptions(deadline: unhurried, givesUpAfter: 1)
    let remote = try await connect(old, options: options) { envelope in
      let endpoint = present.withLock { $0 }
      let reply = try await endpoint.receive(envelope)
      if endpoint == old, isCall(envelope) { await late.pass() }
      return reply
    }
    await old.close("it leaves")
    let error = try await remoteError { try await remote.with(deadline: .milliseconds(20)).sendAndWait(.add, 1) }
    expect(error.code == .timedOut && remote.isGone)
    present.withLock { $0 = new }
    try await remote.reconnect()
    late.open()
    await until(remote.abandoned == 0)
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
    expect(remote.presence, equals: .connected)
  }

  @Test("a failed attempt to open a line does not end a connection that was made meanwhile")
  func lateFailure() async throws {
    let (opened, turns, never) = (Counter(), HeldTurns(), Gate())
    let remote = try await connect(endpoint()) { envelope in
      if envelope.contains("1:k4:open"), opened.add(1) == 2 { await never.pass() }
      return nil
    }
    remote.line.state.withLock { ($0.isStale, $0.isOpening) = (true, true) }
    let attempt = Task(executorPreference: turns) { await remote.line.reopen() }
    await until(opened.value == 2)
    remote.line.lose("it did not answer")
    try await remote.reconnect()
    turns.release()
    await attempt.value
    never.open()
    expect(remote.presence, equals: .connected)
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
  }

  @Test("the last failed attempt does not end a connection that was made meanwhile, but a lost one")
  func lateLastAttempt() async throws {
    let remote = try await connect(endpoint())
    remote.line.lose("3 attempts failed", forGood: true, unlessConnected: true)
    try await expect(remote.sendAndWait(.add, 2), equals: 3)
    remote.line.lose("it did not answer")
    remote.line.lose("3 attempts failed", forGood: true, unlessConnected: true)
    expect(remote.presence, equals: .ended("3 attempts failed"))
  }

  @Test("a call is deallocated when it has ended")
  func callsEnd() async throws {
    let remote = try await connect(endpoint())
    weak var ended: OutgoingCall?
    do {
      let invocation = Invocation("add:", arguments: [ArgumentBox(1)])
      let call = OutgoingCall("add:", try .call(invocation), within: unhurried, isMessage: true)
      ended = call
      _ = try await remote.line.send(call)
    }
    await until(ended == nil)
  }

  @Test("the delays of a backoff double up to the longest, and attempts are limited", arguments: [0, 1, 3])
  func backoff(attempts: Int) async throws {
    let backoff = RemoteBackoff(first: .zero, longest: .seconds(Int64.max), attempts: attempts)
    for number in 0..<attempts { expect(await backoff.wait(before: number)) }
    expect(await backoff.wait(before: attempts) == false)
    let long = Task { await RemoteBackoff(first: .seconds(600), longest: .seconds(Int64.max)).wait(before: .max) }
    long.cancel()
    expect(await long.value == false)
  }

  @Test("an engine with a time limit of its own receives the deadline of each call")
  func engineTimeout() async throws {
    let limits = Locked<[Duration]>([])
    var options = RemoteOptions(deadline: unhurried, types: knownTypes)
    options.engineTimeout = { time, call in
      limits.withLock { $0.append(time) }
      return try await call()
    }
    let remote = try await RemoteReceiver(connectingTo: endpoint(), options: options)
    try await expect(remote.with(deadline: .seconds(Int64.max)).sendAndWait(.add, 1), equals: 2)
    let told = limits.withLock { $0 }
    expect(told.count == 2 && told[0] <= unhurried && told[0] > .zero && told[1] > .seconds(1 << 30))
  }

  @Test("a call that the engine ends at the deadline has timed out, whichever of the two notices first")
  func engineEndsAtDeadline() async throws {
    var options = RemoteOptions(deadline: unhurried, types: knownTypes)
    options.engineTimeout = { time, call in
      if time > .seconds(1) { return try await call() }
      let end = ContinuousClock.now + time
      while ContinuousClock.now < end { await Task.yield() }
      throw CancellationError()
    }
    let remote = try await RemoteReceiver(connectingTo: endpoint(), name: "worker", options: options)
    for _ in 0..<20 {
      let error = try await remoteError { try await remote.with(deadline: .milliseconds(2)).sendAndWait(.add, 1) }
      expect(error.code, equals: .timedOut, "\(error)")
    }
  }

  @Test("a receiver that fails to answer several times in a row ends, if its options say so")
  func givesUp() async throws {
    let answers = Locked(false)
    let remote = try await connect(endpoint(), options: RemoteOptions(deadline: unhurried, givesUpAfter: 3)) {
      envelope in
      if isCall(envelope), !answers.withLock({ $0 }) { throw Burnt(description: "no route") }
      return nil
    }
    for _ in 0..<2 { _ = try await remoteError { try await remote.sendAndWait(.add, 1) } }
    answers.withLock { $0 = true }
    _ = try await remote.sendAndWait(.add, 1)
    answers.withLock { $0 = false }
    for _ in 0..<3 {
      expect(!remote.isGone)
      _ = try await remoteError { try await remote.sendAndWait(.add, 1) }
    }
    expect(remote.isGone)
    let error = try await remoteError { try await remote.sendAndWait(.add, 1) }
    expect("\(error)".contains("3 calls in a row were not answered"))
  }
}

/// Runs its first job at once, and the others on request.
private final class HeldTurns: TaskExecutor {
  private let held = Locked<(isHolding: Bool, jobs: [UnownedJob])?>((false, []))

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let runs = held.withLock { held in
      defer { held?.isHolding = true }
      if held?.isHolding == true { held?.jobs.append(job) }
      return held?.isHolding != true
    }
    if runs { run(job) }
  }

  func release() {
    let jobs = held.withLock { held in
      defer { held = nil }
      return held?.jobs ?? []
    }
    for job in jobs { run(job) }
  }

  private func run(_ job: UnownedJob) {
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Exchanges the values of two callers.
private actor Swap {
  private var waiting: (text: String, caller: CheckedContinuation<String, Never>)?

  func exchange(_ text: String) async -> String {
    if let (other, caller) = waiting {
      waiting = nil
      caller.resume(returning: text)
      return other
    }
    return await withCheckedContinuation { waiting = (text, $0) }
  }
}

/// A number that any thread may change.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .acquiring) }
  @discardableResult
  func add(_ number: Int) -> Int { count.add(number, ordering: .acquiringAndReleasing).newValue }
  func raise(to number: Int) { _ = count.max(number, ordering: .acquiringAndReleasing) }
}
