// RemoteLine.swift: the messages from here to one endpoint, in order, several at a time.
// Layer: Remote. See the article "When one process is not enough".

import Forwardcast

/// The messages from here to one endpoint, in the order in which they were called, each with a deadline.
///
/// A message waits until the window has room, gets the next number, and is given to the engine in a task of its own. It ends in
/// exactly one way: an answer, an error, the deadline, the caller's cancellation, or the loss of the other side. What the
/// engine does with it afterwards is not waited for; the endpoint is told that it is not awaited any more.
///
/// ``goOn()`` decides under the lock what is sent next; whatever changes ends there.
final class RemoteLine: Sendable {
  struct Message: Sendable {
    let call: OutgoingCall
    let text: WireCallText
    /// The order in which messages were called.
    let ticket: Int
    /// Its number on the line; 0 while it waits.
    var number = 0
    /// Whether an endpoint did not know its line, so that it is sent once more.
    var isSecond = false
  }

  /// What an endpoint said when the line was opened.
  struct Opening: Sendable {
    var line = ""
    var window = 1
    var messages: [String: MethodSignature?] = [:]
  }

  struct State: Sendable {
    var presence = RemotePresence.lost("it is not connected yet")
    var opening = Opening()
    /// Whether the endpoint does not know the line any more: another is opened when nothing is under way on this one.
    var isStale = false
    var isOpening = false
    /// The last number that was given.
    var number = 0
    var tickets = 0
    var waiting: [Message] = []
    /// Those whose end is not known, by rising numbers.
    var underWay: [Message] = []
    /// Calls to the endpoint that are no messages.
    var questions: [OutgoingCall] = []
    /// How many calls have ended here and were not given back by the engine.
    var abandoned = 0
    /// Whether the endpoint is being told what is awaited, and whether that has changed since.
    var isTelling = false
    var mustTell = false
    var failures = 0
    var registrations: [LineRegistration] = []
    var backoff: RemoteBackoff?
    var attempts: Task<Void, Never>?
    var watch: (wakesAt: Deadline, task: Task<Void, Never>)?
    var listeners: [Int: AsyncStream<RemotePresence>.Continuation] = [:]
    var lastListener = 0

    /// The first number that is awaited, or the next.
    var base: Int { underWay.first?.number ?? number + 1 }
  }

  /// How many calls an engine may keep without giving them back; then nothing more is sent until it does.
  static let abandonedLimit = 16

  typealias Exchange = @Sendable (MessageEnvelope, Duration) async throws -> MessageEnvelope

  let peer: String
  let options: RemoteOptions
  private let exchange: Exchange
  let state = Guarded(State())

  init(_ peer: String, _ options: RemoteOptions, exchange: @escaping Exchange) {
    (self.peer, self.options, self.exchange) = (peer, options, exchange)
  }

  deinit {
    let (watch, attempts, listeners) = state.withLock { ($0.watch?.task, $0.attempts, Array($0.listeners.values)) }
    watch?.cancel()
    attempts?.cancel()
    for listener in listeners { listener.finish() }
  }

  func error(
    _ code: RemoteError.Code, _ outcome: RemoteError.Outcome, _ selector: String, _ evidence: String,
    argument: Int? = nil
  ) -> RemoteError {
    RemoteError(code, outcome, peer: peer, selector: selector, evidence: evidence, argumentIndex: argument)
  }

  /// What the endpoint stated last: names with their types.
  var messages: [String: MethodSignature?] { state.withLock { $0.opening.messages } }
  var abandonedCount: Int { state.withLock { $0.abandoned } }

  // MARK: Calls

  /// Sends a message when the window has room, and waits for its reply.
  ///
  /// - Throws: ``RemoteError``, `CancellationError`.
  nonisolated(nonsending) func send(_ text: WireCallText, _ call: OutgoingCall) async throws -> WireFields {
    let refused = state.withLock { state -> RemoteError? in
      if let refusal = self.refusal(of: call, state) { return refusal }
      if state.waiting.count >= options.waitingCalls, !(state.waiting.isEmpty && hasRoom(state)) {
        return error(.busy, .didNotRun, call.selector, "\(options.waitingCalls) calls wait for earlier ones")
      }
      state.tickets += 1
      state.waiting.append(Message(call: call, text: text, ticket: state.tickets))
      return nil
    }
    if let refused { throw refused }
    goOn()
    return try await reply(to: call)
  }

  /// Sends what belongs to no line, and waits for the reply.
  ///
  /// - Parameter opens: whether it may be sent to one that is lost.
  /// - Throws: ``RemoteError``, `CancellationError`.
  nonisolated(nonsending) func ask(_ text: String, _ call: OutgoingCall, opens: Bool = false) async throws
    -> WireFields
  {
    let refused = state.withLock { state -> RemoteError? in
      if let refusal = self.refusal(of: call, state, opens: opens) { return refusal }
      state.questions.append(call)
      return nil
    }
    if let refused { throw refused }
    carry(text, call) { line, end in
      let isAwaited = line.state.withLock { state in
        let count = state.questions.count
        state.questions.removeAll { $0 === call }
        if state.questions.count == count { state.abandoned -= 1 }
        return state.questions.count < count
      }
      line.finish(call, end, isAwaited: isAwaited)
    }
    return try await reply(to: call)
  }

  private func refusal(of call: OutgoingCall, _ state: State, opens: Bool = false) -> RemoteError? {
    switch state.presence {
    case .lost where opens, .connected: break
    case .lost(let reason), .ended(let reason): return error(.gone, .didNotRun, call.selector, reason)
    }
    if call.deadline.hasPassed { return error(.timedOut, .didNotRun, call.selector, "it had no time") }
    guard state.abandoned < RemoteLine.abandonedLimit else {
      let evidence = "the engine has not ended \(RemoteLine.abandonedLimit) earlier calls"
      return error(.connectionFailed, .didNotRun, call.selector, evidence)
    }
    return nil
  }

  private nonisolated(nonsending) func reply(to call: OutgoingCall) async throws -> WireFields {
    watch(until: call.deadline)
    let end = await withTaskCancellationHandler {
      await call.end()
    } onCancel: {
      leave({ $0 === call }) { _, _ in .cancelled }
    }
    switch end {
    case .reply(let fields): return fields
    case .failed(let error): throw error
    case .cancelled: throw CancellationError()
    }
  }

  // MARK: The window

  private func hasRoom(_ state: State) -> Bool {
    state.number + 1 - state.base < min(state.opening.window, options.window)
  }

  /// Sends what may be sent now; opens another line where the endpoint does not know this one.
  func goOn() {
    typealias Sending = (message: Message, line: String, awaited: Int, patience: Deadline)
    let (sendings, reopens) = state.withLock { state -> ([Sending], Bool) in
      guard case .connected = state.presence else { return ([], false) }
      if state.isStale {
        guard state.underWay.isEmpty, !state.isOpening else { return ([], false) }
        state.isOpening = true
        return ([], true)
      }
      var sendings: [Sending] = []
      while !state.waiting.isEmpty, hasRoom(state), state.abandoned < RemoteLine.abandonedLimit {
        var message = state.waiting.removeFirst()
        let (awaited, patience) = (state.base, state.underWay.lazy.map(\.call.deadline).max() ?? .now)
        state.number += 1
        message.number = state.number
        state.underWay.append(message)
        sendings.append((message, state.opening.line, awaited, patience))
      }
      return (sendings, false)
    }
    for (message, line, awaited, patience) in sendings {
      let text = message.text.text(line: line, number: message.number, awaited: awaited, patience: patience)
      carry(text, message.call) { line, end in line.ended(message, end) }
    }
    if reopens { Task { await reopen() } }
  }

  /// Gives a text to the engine, and reads what comes back.
  ///
  /// - Parameter ended: takes the end.
  private func carry(
    _ text: String, _ call: OutgoingCall, endsWith ended: @escaping @Sendable (RemoteLine, OutgoingCall.End) -> Void
  ) {
    let task = startNow { [self] in
      let end: OutgoingCall.End
      do {
        let envelope = try await exchange(MessageEnvelope(text: text), call.deadline.remaining)
        do throws(WireRefusal) { end = .reply(try WireFields.read(envelope.text, options.limits)) } catch {
          end = .failed(malformed(error, call.selector))
        }
      } catch {
        end = .failed(self.error(.connectionFailed, .unknown, call.selector, "\(type(of: error)): \(error)"))
      }
      ended(self, end)
    }
    call.isCarried(by: task)
  }

  /// Notes what the end of a call means for the line, and then ends it: who waits for it finds the line as it is now. An
  /// answer that nobody awaits any more shows too that the other side is there.
  private func finish(_ call: OutgoingCall, _ end: OutgoingCall.End, isAwaited: Bool) {
    if case .failed(let error) = end, error.code == .connectionFailed {
      if isAwaited { note(call, answered: false) }
    } else {
      note(call, answered: true)
    }
    if isAwaited { call.end(end) }
  }

  func malformed(_ refusal: WireRefusal, _ selector: String) -> RemoteError {
    error(.malformedAnswer, .unknown, selector, "\(refusal.code.rawValue): \(refusal.evidence)")
  }

  /// The engine has given a message back.
  private func ended(_ message: Message, _ end: OutgoingCall.End) {
    var (end, refusal) = (end, WireRefusal.Code?.none)
    if case .reply(let fields) = end {
      refusal = fields.refusal
      if let number = fields.integer("n"), number != message.number {
        end = .failed(error(.malformedAnswer, .unknown, message.call.selector, "the answer of another message"))
      }
    }
    let ends = state.withLock { state -> Bool in
      guard let index = state.underWay.firstIndex(where: { $0.call === message.call }) else {
        state.abandoned -= 1
        return false
      }
      state.underWay.remove(at: index)
      guard refusal == .unknownLine else { return true }
      state.isStale = true
      guard !message.isSecond else { return true }
      var again = message
      (again.number, again.isSecond) = (0, true)
      let place = state.waiting.firstIndex { $0.ticket > again.ticket } ?? state.waiting.count
      state.waiting.insert(again, at: place)
      return false
    }
    if refusal == .closed, case .reply(let fields) = end { lose(fields.text("e") ?? "it takes nothing any more") }
    finish(message.call, end, isAwaited: ends)
    goOn()
  }

  /// Ends calls that have no reply.
  ///
  /// - Parameters:
  ///   - isUnanswered: whether those that were sent count as calls that were not answered.
  ///   - end: how a call ends, and whether it was sent.
  func leave(
    _ isMeant: (OutgoingCall) -> Bool, isUnanswered: Bool = false, _ end: (OutgoingCall, Bool) -> OutgoingCall.End
  ) {
    let (unsent, sent) = state.withLock { state -> ([OutgoingCall], [OutgoingCall]) in
      let unsent = state.waiting.map(\.call).filter(isMeant)
      let messages = state.underWay.map(\.call).filter(isMeant)
      let sent = messages + state.questions.filter(isMeant)
      state.waiting.removeAll { isMeant($0.call) }
      state.underWay.removeAll { isMeant($0.call) }
      state.questions.removeAll(where: isMeant)
      state.abandoned += sent.count
      state.mustTell = state.mustTell || !messages.isEmpty
      return (unsent, sent)
    }
    if isUnanswered { for call in sent { note(call, answered: false) } }
    for call in unsent { call.end(end(call, false)) }
    for call in sent {
      call.end(end(call, true))
      call.cancelCarrying()
    }
    tell()
    goOn()
  }

  /// Tells the endpoint which messages are still awaited: others that have not begun will not. One such text is under way.
  private func tell() {
    let text = state.withLock { state -> String? in
      guard state.mustTell, !state.isTelling, !state.isStale, case .connected = state.presence else { return nil }
      (state.mustTell, state.isTelling) = (false, true)
      return WireRequest.awaitText(state.underWay.map(\.number), upTo: state.number, line: state.opening.line)
    }
    guard let text else { return }
    Task {
      _ = try? await ask(text, OutgoingCall("", within: options.deadline, counts: false))
      state.withLock { $0.isTelling = false }
      tell()
    }
  }

  // MARK: Deadlines

  /// Sees to it that somebody looks when a deadline has passed. One task serves all calls.
  private func watch(until deadline: Deadline) {
    guard deadline != .never else { return }
    let old = state.withLock { state -> Task<Void, Never>? in
      if let watch = state.watch, watch.wakesAt <= deadline { return nil }
      let old = state.watch?.task
      let task = Task { [weak self] in
        var wakesAt = deadline
        while true {
          do { try await wakesAt.sleep() } catch { return }
          guard let next = self?.endLateCalls() else { return }
          wakesAt = next
        }
      }
      state.watch = (deadline, task)
      return old
    }
    old?.cancel()
  }

  /// Ends what is late, and gives the next deadline; `nil` when there is none, or another task watches.
  private func endLateCalls() -> Deadline? {
    let now = Deadline.time(.now)
    leave({ $0.deadline <= now }, isUnanswered: true) { call, wasSent in
      .failed(
        wasSent
          ? error(.timedOut, .unknown, call.selector, "no answer in \(call.time)")
          : error(.timedOut, .didNotRun, call.selector, "earlier calls took all of \(call.time)"))
    }
    if Task.isCancelled { return nil }
    return state.withLock { state in
      let calls = state.waiting.map(\.call) + state.underWay.map(\.call) + state.questions
      let next = calls.map(\.deadline).filter { $0 != .never }.min()
      state.watch = next.flatMap { next in state.watch.map { (next, $0.task) } }
      return next
    }
  }
}

extension WireFields {
  /// Why an endpoint did not run a message, where that is what it says.
  fileprivate var refusal: WireRefusal.Code? {
    text("k") == "refused" ? text("c").flatMap(WireRefusal.Code.init(rawValue:)) : nil
  }
}

/// Starts a task on the caller's thread where the system can: that spares a message one hop.
private func startNow(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return Task.immediate { await body() } }
  return Task { await body() }
}
