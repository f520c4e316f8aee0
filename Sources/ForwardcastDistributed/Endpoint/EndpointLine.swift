// EndpointLine.swift: runs one sender's messages in order, one at a time, at most once each.

import Forwardcast

/// A line: the messages of one sender at an endpoint, by number. Isolated to the endpoint.
///
///     base: the first number whose answer the sender awaits
///     passed: the last number that has begun or was given up
///
///         released | answered, running | waiting | not received
///                  ^ base              ^ passed            ^ base + window
///
/// Each message states `base`, and how long it waits for earlier messages that have not arrived.
final class EndpointLine {
  /// The maximum difference between a number and `passed`. Gaps occur when messages are lost.
  static let reach = 1 << 20

  let name: LineName
  let owner: WireName
  var lastUse = 0
  /// The task that starts the next message when ``patience`` has passed.
  var watch: (wakesAt: Deadline, task: Task<Void, Never>)?
  private(set) var passed = 0
  private var base = 1
  /// Numbers above `passed` of messages that the sender no longer awaits.
  private var givenUp: Set<Int> = []
  /// The received messages from `base` on, by number; at most `window`.
  private var messages: [EndpointMessage] = []
  private var isRunning = false
  private let window: Int
  private let memory: EndpointMemory

  init(_ name: LineName, owner: WireName, window: Int, _ memory: EndpointMemory) {
    (self.name, self.owner, self.window, self.memory) = (name, owner, window, memory)
  }

  deinit { watch?.task.cancel() }

  /// True if no message runs. Waiting messages of an idle line wait for messages not yet received.
  var isIdle: Bool { !isRunning }
  var keepsAnswers: Bool { messages.contains { $0.kept != nil } }
  var isClosed: Bool { base == .max }

  private var firstHeld: EndpointMessage? { messages.first { $0.number > passed } }

  // MARK: Receiving

  /// Stores a message, or finds it if it was received before. Throws if the message will not run.
  func place(_ call: WireCall) throws(WireRefusal) -> (EndpointMessage, isSecond: Bool) {
    let number = call.number
    if let message = messages.first(where: { $0.number == number }) { return (message, true) }
    guard number > passed, !givenUp.contains(number) else {
      let evidence = "message \(number) came too late: a later message has begun, or the sender no longer awaits it"
      throw WireRefusal(.superseded, evidence)
    }
    guard (1...number).contains(call.awaited) else {
      throw WireRefusal(
        .ahead, "message \(number) gives \(call.awaited) as the first awaited number; it must be 1 to \(number)")
    }
    guard isWithinReach(number, from: call.awaited) else {
      throw WireRefusal(
        .ahead,
        number - call.awaited < window
          ? "message \(number) is too far ahead of message \(passed), the last one that has begun"
          : "message \(number) is not within \(window) messages of message \(call.awaited), the first one that the sender "
            + "awaits")
    }
    release(below: call.awaited)
    guard memory.take(call.size, for: owner) else {
      givenUp.insert(number)
      goOn()
      throw WireRefusal(.busy, "the sender's messages would exceed MessageLimits.memory of the endpoint")
    }
    let message = EndpointMessage(number, call.patience, size: call.size)
    messages.insert(message, at: messages.firstIndex { $0.number > number } ?? messages.count)
    return (message, false)
  }

  private func isWithinReach(_ number: Int, from awaited: Int) -> Bool {
    number - passed <= EndpointLine.reach && awaited > 0 && awaited <= number + 1 && number - awaited < window
  }

  /// Gives up the messages that are not in `awaited`, up to `number`. Returns `false` if a number
  /// is invalid.
  func keepOnly(_ awaited: [Int], upTo number: Int) -> Bool {
    guard number < .max, awaited.count <= window else { return false }
    let first = awaited.first ?? number + 1
    guard isWithinReach(number, from: first) else { return false }
    release(below: first)
    for other in first..<(number + 1) where other > passed && !awaited.contains(other) { givenUp.insert(other) }
    drop { givenUp.contains($0.number) }
    goOn()
    return true
  }

  /// Removes the messages below `first`. A removed message that has not begun will not run.
  func release(below first: Int) {
    guard first > base else { return }
    base = first
    if first - 1 > passed { drop { $0.number < first && $0.number > passed } }
    while let message = messages.first, message.number < first {
      // The memory of a running message is returned when it ends.
      if message.hasEnded { memory.give(message.size, of: owner) }
      messages.removeFirst()
    }
    if first != .max { pass(first - 1) }
  }

  private func pass(_ number: Int) {
    guard number > passed else { return }
    passed = number
    if !givenUp.isEmpty { givenUp = givenUp.filter { $0 > number } }
  }

  /// The answer to a repeated message; `nil` if none is kept or there is no memory for the wait.
  func answer(
    to call: WireCall, of message: EndpointMessage, isolation: isolated (any Actor)? = #isolation
  ) async -> String? {
    guard !message.hasEnded, memory.take(call.size, for: owner) else { return message.kept }
    message.size += call.size
    return await withCheckedContinuation { message.listeners.append($0) }
  }

  // MARK: Running

  func begins(_ message: EndpointMessage) -> Bool {
    guard !isRunning, message.number == passed + 1 else { return false }
    (isRunning, passed) = (true, message.number)
    return true
  }

  /// Waits until a message may run. Returns `false` if the message will not run.
  func turn(of message: EndpointMessage, isolation: isolated (any Actor)? = #isolation) async -> Bool {
    await withCheckedContinuation {
      message.turn = $0
      goOn()
    }
  }

  /// Stores the answer to the message that ran, and starts the next message.
  func end(_ message: EndpointMessage, with answer: String) {
    memory.give(message.size, of: owner)
    let keeps = messages.contains { $0 === message } && memory.take(answer.utf8.count, for: owner)
    message.size = keeps ? answer.utf8.count : 0
    message.end(with: answer, keeps: keeps)
    isRunning = false
    goOn()
  }

  /// Starts the next message, unless a message runs or the next message waits for missing messages.
  func goOn() {
    guard !isRunning, let next = firstHeld, let turn = next.turn else { return }
    while givenUp.contains(passed + 1) { pass(passed + 1) }
    guard next.number == passed + 1 || next.patience.hasPassed else { return }
    pass(next.number)
    isRunning = true
    next.turn = nil
    turn.resume(returning: true)
  }

  /// Drops the oldest kept answer. If its message is repeated, the message does not run again.
  func dropAnswer() {
    guard let message = messages.first(where: { $0.kept != nil }) else { return }
    memory.give(message.size, of: owner)
    message.dropAnswer()
  }

  /// The time until which the first waiting message waits for earlier messages; `nil` if a message
  /// runs or no message waits.
  var patience: Deadline? { isRunning ? nil : firstHeld?.patience }

  func dropHeld() { drop { $0.number > passed } }

  private func drop(_ isMeant: (EndpointMessage) -> Bool) {
    for message in messages where isMeant(message) {
      memory.give(message.size, of: owner)
      message.drop()
    }
    messages.removeAll(where: isMeant)
  }
}

/// A received message that its sender still awaits.
final class EndpointMessage {
  let number: Int
  /// The bytes that the message takes at the endpoint: its text and repetitions until it has ended,
  /// and its kept answer after that.
  fileprivate(set) var size: Int
  /// The time until which the message waits for earlier messages that were not received.
  let patience: Deadline
  fileprivate var turn: CheckedContinuation<Bool, Never>?
  /// The answer, kept in case the engine delivers the message twice.
  fileprivate private(set) var kept: String?
  fileprivate private(set) var hasEnded = false
  fileprivate var listeners: [CheckedContinuation<String?, Never>] = []

  init(_ number: Int, _ patience: Deadline, size: Int) {
    (self.number, self.patience, self.size) = (number, patience, size)
  }

  fileprivate func end(with answer: String?, keeps: Bool) {
    hasEnded = true
    if keeps { kept = answer }
    for listener in listeners { listener.resume(returning: answer) }
    listeners = []
  }

  fileprivate func dropAnswer() { (kept, size) = (nil, 0) }

  fileprivate func drop() {
    end(with: nil, keeps: false)
    turn?.resume(returning: false)
    turn = nil
  }
}
