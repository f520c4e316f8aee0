// RemoteLine.swift: sends messages to one endpoint, in order, several at a time.

import Forwardcast

/// The messages to one endpoint in the order of their calls, each with a deadline.
///
/// A message waits until the *window* of messages in flight has room, and gets the next number. A
/// task then passes the message to the engine: see ``OutgoingCall``. The message ends with an
/// answer, an error, its deadline, cancellation, or the loss of the other side. If it ends before
/// the engine returns, the line tells the endpoint that nobody awaits the answer.
///
/// After each change of the state, ``goOn()`` sends what ``State/next(_:)`` returns.
final class RemoteLine: Sendable {
  /// The endpoint's answer when the line was opened.
  struct Opening: Sendable {
    var line = ""
    var window = 1
    var messages: [WireName: MethodSignature?] = [:]
    /// The random tag of the line. Replies to the line's messages repeat the tag.
    let tag = Int.random(in: 0 ... .max)
  }

  struct State: Sendable {
    var presence = RemotePresence.lost("the receiver is not connected yet")
    var opening = Opening()
    /// True if the endpoint has lost the line. A new line is opened when no message is in flight.
    var isStale = false
    var isOpening = false
    var number = 0
    var tickets = 0
    var waiting: [OutgoingCall] = []
    /// The calls in flight: messages in order, and questions. (See ``OutgoingCall``.)
    var underWay: [OutgoingCall] = []
    /// The number of ended calls from which the engine has not returned yet.
    var abandoned = 0
    /// Whether a list of awaited messages is in flight, and whether a changed list must follow.
    var isTelling = false
    var mustTell = false
    var failures = 0
    /// True if the last reply to a question had a tag. If so, replies to messages need a tag, too.
    var hasTags = false
    /// The number of replies that belonged to other calls.
    var mismatches = 0
    var registrations: [LineRegistration] = []
    /// The number of registrations at which canceled registrations are removed.
    var mostRegistrations = 8
    var attempts: Task<Void, Never>?
    var watch: (wakesAt: Deadline, task: Task<Void, Never>)?
    var listeners: [Int: AsyncStream<RemotePresence>.Continuation] = [:]
    var lastListener = 0
  }

  /// The number of `abandoned` calls at which new calls are refused.
  static let abandonedLimit = 16

  typealias Exchange = @Sendable (String, Deadline) async throws -> String

  let peer: String
  let options: RemoteOptions
  /// True if the endpoint is in this process. Waiting senders run no jobs of calls to a local
  /// endpoint, because these jobs could run the endpoint's methods.
  private let isLocal: Bool
  private let exchange: Exchange
  let state = Guarded(State())

  init(_ peer: String, _ options: RemoteOptions, isLocal: Bool, exchange: @escaping Exchange) {
    var options = options
    (options.limits, options.window) = (options.limits.bounded, max(options.window, 1))
    (self.peer, self.options, self.isLocal, self.exchange) = (peer, options, isLocal, exchange)
  }

  deinit {
    let (watch, attempts, listeners) = state.withLock { ($0.watch?.task, $0.attempts, Array($0.listeners.values)) }
    watch?.cancel()
    attempts?.cancel()
    for listener in listeners { listener.finish() }
  }

  /// The selectors that the endpoint accepts, with the types that it stated for them.
  var messages: [WireName: MethodSignature?] { state.withLock { $0.opening.messages } }

  // MARK: Calls

  /// Sends a call and waits for the reply. With `opens`, also sends it if the other side is lost.
  /// - Throws: ``RemoteError``, also for a refusal; `CancellationError`.
  nonisolated(nonsending) func send(_ call: OutgoingCall, opens: Bool = false) async throws -> WireReply {
    try Task.checkCancellation()
    let isOnActor = isActor(#isolation)
    let fields = try await withTaskCancellationHandler {
      begin(call, opens: opens)
      if Task.isCancelled { leave({ $0 === call }) { _, _ in CancellationError() } }
      return try await call.value(startsJobs: !isLocal, runsJobs: !isLocal && !isOnActor)
    } onCancel: {
      leave({ $0 === call }) { _, _ in CancellationError() }
    }
    let reply: WireReply
    do throws(WireRefusal) { reply = try WireReply.read(fields, types: options.types) } catch {
      throw malformed(error, call.selector)
    }
    if case .refused(_, let refusal) = reply { throw error(refusal, call.selector) }
    return reply
  }

  private func begin(_ call: OutgoingCall, opens: Bool) {
    let refusal = state.withLock { state -> RemoteError? in
      if let refusal = self.refusal(of: call, state, opens: opens) { return refusal }
      if call.isMessage {
        state.tickets += 1
        call.ticket = state.tickets
        state.waiting.append(call)
      } else {
        state.underWay.append(call)
      }
      return nil
    }
    if let refusal { return call.end(.failure(refusal)) }
    watch(until: call.deadline)
    if call.isMessage { goOn() } else { carry(call, .random(in: 0 ... .max)) }
  }

  private func refusal(of call: OutgoingCall, _ state: State, opens: Bool) -> RemoteError? {
    switch state.presence {
    case .lost where opens, .connected: break
    case .lost(let reason), .ended(let reason): return error(.gone, .didNotRun, call.selector, reason)
    }
    if call.deadline == .now {
      return error(.timedOut, .didNotRun, call.selector, "the deadline had passed before the message was sent")
    }
    if state.abandoned >= RemoteLine.abandonedLimit {
      let evidence = "\(RemoteLine.abandonedLimit) earlier calls of the engine have not returned"
      return error(.connectionFailed, .didNotRun, call.selector, evidence)
    }
    guard call.isMessage, state.waiting.count >= options.waitingCalls,
      !state.waiting.isEmpty || !state.hasRoom(options.window)
    else { return nil }
    let evidence = "\(options.waitingCalls) calls already wait for earlier ones, as many as waitingCalls allows"
    return error(.busy, .didNotRun, call.selector, evidence)
  }

  // MARK: The window

  /// Sends the messages for which the window has room, or opens a new line if this line is stale.
  func goOn() {
    while let next = state.withLock({ $0.next(options.window) }) {
      switch next {
      case .message(let call, let tag, let place): carry(call, tag, place)
      case .line: Task { await reopen() }
      }
    }
  }

  /// Passes a call to the engine, and reads the reply, which repeats the tag of the request.
  func carry(_ call: OutgoingCall, _ tag: Int, _ place: WireRequestText.Place? = nil) {
    let text = call.text.text(tag, place)
    // A call is sent at most twice, so `isSecond` distinguishes its two tasks.
    let isSecond = call.isSecond
    let task = Task(executorPreference: call) { [self] in
      let end: Result<WireFields, any Error>
      do {
        let reply = try await WireFields.read(exchange(text, call.deadline), options.limits)
        end = isReply(reply, to: call, tag) ? .success(reply) : .failure(otherCall(call))
      } catch let refusal as WireRefusal {
        end = .failure(malformed(refusal, call.selector))
      } catch {
        // An engine that has the same deadline may end the call before `endLateCalls` does.
        end = .failure(
          call.deadline.hasPassed
            ? timedOut(call)
            : self.error(.connectionFailed, .unknown, call.selector, "\(Swift.type(of: error)): \(error)"))
      }
      ended(call, end)
    }
    let isOver = state.withLock { _ in
      if call.isSecond == isSecond { call.task = task }
      return call.hasEnded
    }
    if isOver { task.cancel() }
  }

  /// Whether a reply belongs to a call. A reply has no tag if the request could not be read, or if
  /// the endpoint uses an earlier version of the library.
  private func isReply(_ reply: WireFields, to call: OutgoingCall, _ tag: Int) -> Bool {
    state.withLock { state in
      let isUnread = [.unknownVersion, .malformed, .tooLarge].contains(reply.refusal)
      let isReply = reply.tag.map { $0 == tag } ?? (isUnread || !call.isMessage || !state.hasTags)
      if !isReply { state.mismatches += 1 } else if !call.isMessage { state.hasTags = reply.tag != nil }
      return isReply
    }
  }

  private func otherCall(_ call: OutgoingCall) -> RemoteError {
    error(.malformedAnswer, .unknown, call.selector, "the engine delivered the answer of another call")
  }

  /// Handles the return of the engine from a call.
  private func ended(_ call: OutgoingCall, _ end: Result<WireFields, any Error>) {
    var end = end
    let fields = try? end.get()
    let (refusal, number) = (fields?.refusal, fields?.integer("n"))
    let hasFailed =
      if case .failure(let error as RemoteError) = end { error.code != .malformedAnswer } else { false }
    let isEnd = state.withLock { state in
      if call.counts, !hasFailed { state.failures = 0 }
      guard let index = state.underWay.firstIndex(where: { $0 === call }) else {
        state.abandoned -= 1
        return false
      }
      state.underWay.remove(at: index)
      if call.number == 0 { return true }
      if refusal == .unknownLine || refusal == .answerNotKept {
        state.isStale = true
        if refusal == .unknownLine, !call.isSecond {
          (call.number, call.isSecond) = (0, true)
          let place = state.waiting.firstIndex { $0.ticket > call.ticket } ?? state.waiting.count
          state.waiting.insert(call, at: place)
          return false
        }
      }
      if number == nil { state.mustTell = true }
      if let number, number != call.number {
        state.mismatches += 1
        end = .failure(otherCall(call))
      }
      return true
    }
    // The state changes before the call ends, so that the caller sees the new state.
    if hasFailed, isEnd { noteUnanswered(call) }
    if refusal == .closed, isEnd { lose(fields?.text("e") ?? "the endpoint is closed") }
    if isEnd { call.end(end) }
    // Without this, later messages would wait for a message that the endpoint did not read.
    if number == nil { tell() }
    goOn()
  }

  /// Ends calls that got no reply. With `isUnanswered`, sent calls count toward `givesUpAfter`. The
  /// second argument of `error` tells whether the call was sent.
  private func leave(
    _ isMeant: (OutgoingCall) -> Bool, isUnanswered: Bool = false, _ error: (OutgoingCall, Bool) -> any Error
  ) {
    let left = state.withLock { $0.take(isMeant) }
    if isUnanswered { for left in left where left.wasSent { noteUnanswered(left.call) } }
    end(left, error)
    tell()
    goOn()
  }

  func end(_ left: [State.Left], _ error: (OutgoingCall, Bool) -> any Error) {
    for (call, wasSent) in left {
      call.end(.failure(error(call, wasSent)))
      // If `carry` has not stored its task yet, it cancels the task itself: the call has ended.
      state.withLock { _ in call.task }?.cancel()
    }
  }

  /// Sends the endpoint the list of awaited messages, so that it starts no other messages.
  private func tell() {
    let text = state.withLock { state -> WireRequestText? in
      guard state.mustTell, !state.isTelling, !state.isStale, case .connected = state.presence else { return nil }
      (state.mustTell, state.isTelling) = (false, true)
      return .await(state.messages.map(\.number), upTo: state.number, line: state.opening.line)
    }
    guard let text else { return }
    Task {
      _ = try? await send(OutgoingCall("", text, within: options.deadline, counts: false))
      state.withLock { $0.isTelling = false }
      tell()
    }
  }

  // MARK: Deadlines

  /// Ends calls at their deadlines. One task serves all calls.
  private func watch(until deadline: Deadline) {
    let old = state.withLock { state -> Task<Void, Never>? in
      guard deadline < state.watch?.wakesAt ?? .never else { return nil }
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

  /// Ends late calls. Returns the next deadline; `nil` if this task need not wait for a deadline.
  private func endLateCalls() -> Deadline? {
    let now = Deadline.present
    leave({ $0.deadline <= now }, isUnanswered: true) { call, wasSent in
      wasSent
        ? timedOut(call)
        : error(.timedOut, .didNotRun, call.selector, "waited \(call.time) for earlier calls")
    }
    if Task.isCancelled { return nil }
    return state.withLock { state in
      let next = (state.waiting + state.underWay).map(\.deadline).filter { $0 != .never }.min()
      state.watch = next.flatMap { next in state.watch.map { (next, $0.task) } }
      return next
    }
  }

  private func timedOut(_ call: OutgoingCall) -> RemoteError {
    error(.timedOut, .unknown, call.selector, "no answer in \(call.time)")
  }

  private func noteUnanswered(_ call: OutgoingCall) {
    guard call.counts, let most = options.givesUpAfter else { return }
    let failures = state.withLock { state in
      state.failures += 1
      return state.failures
    }
    if failures >= most { lose("\(most) call\(most == 1 ? " was" : "s in a row were") not answered") }
  }
}

extension RemoteLine.State {
  /// A call that was removed from the line, and whether it was sent.
  typealias Left = (call: OutgoingCall, wasSent: Bool)

  enum Next: Sendable {
    case message(OutgoingCall, tag: Int, WireRequestText.Place)
    case line
  }

  var messages: [OutgoingCall] { underWay.filter { $0.number > 0 } }

  /// The first awaited number; if no number is awaited, the number of the next message.
  private var base: Int { underWay.first { $0.number > 0 }?.number ?? number + 1 }

  func hasRoom(_ most: Int) -> Bool { number + 1 - base < min(opening.window, most) }

  /// Gives the next message its number, or requests a new line.
  mutating func next(_ window: Int) -> Next? {
    guard case .connected = presence else { return nil }
    if isStale {
      guard !isOpening, messages.isEmpty else { return nil }
      isOpening = true
      return .line
    }
    guard let call = waiting.first, hasRoom(window),
      abandoned + messages.count < max(RemoteLine.abandonedLimit, window)
    else { return nil }
    waiting.removeFirst()
    let patience = underWay.lazy.filter { $0.number > 0 }.map(\.deadline).max() ?? .now
    let place = WireRequestText.Place(line: opening.line, number: number + 1, awaited: base, patience: patience)
    (number, call.number) = (place.number, place.number)
    underWay.append(call)
    return .message(call, tag: opening.tag, place)
  }

  /// Removes calls. The caller must end them.
  mutating func take(_ isMeant: (OutgoingCall) -> Bool) -> [Left] {
    var left: [Left] = waiting.filter(isMeant).map { ($0, false) }
    let sent = underWay.filter(isMeant)
    waiting.removeAll(where: isMeant)
    underWay.removeAll(where: isMeant)
    abandoned += sent.count
    mustTell = mustTell || sent.contains { $0.number > 0 }
    left += sent.map { ($0, true) }
    return left
  }
}

/// Not inlined, because otherwise the optimizer of Swift 6.3 crashes.
@inline(never)
private func isActor(_ isolation: (any Actor)?) -> Bool { isolation != nil }
