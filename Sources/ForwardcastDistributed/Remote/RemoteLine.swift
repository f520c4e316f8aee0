// RemoteLine.swift: the messages from here to one endpoint, one after another.
// Layer: Remote. See DESIGN.md, "Other processes".

import Forwardcast

/// The messages from here to one endpoint: one at a time, in the order in which they were called, each with a deadline.
///
/// A call ends in exactly one way: an answer, an error, the deadline, the caller's cancellation or the end of the line. What
/// the engine does afterwards with its own call is not waited for; the endpoint does not run what comes late.
final class RemoteLine: Sendable {
  /// How a call to the engine ended.
  enum End: Sendable {
    case reply(MessageEnvelope)
    case failed(String)
    case late
    case cancelled
    case gone
  }

  /// How a wait for the line ended.
  enum Admission: Sendable {
    case granted, late, cancelled, gone
  }

  private struct Waiter: Sendable {
    let deadline: Deadline
    let place: Settlement<Admission>
  }

  private struct State: Sendable {
    var number = 0
    var isTaken = false
    var waiters: [Waiter] = []
    /// The calls that are with the engine and not settled here: that of the line, and questions.
    var pending: [(id: Int, deadline: Deadline, end: Settlement<End>)] = []
    var nextID = 0
    /// How many calls the engine has not given back, settled here or not.
    var outstanding = 0
    var failures = 0
    var gone: String?
    var registrations: [WeakRegistration] = []
    var watch: (wakesAt: Deadline, task: Task<Void, Never>)?
  }

  /// How many calls an engine may keep without giving them back; then nothing more is sent until it does.
  static let outstandingLimit = 16

  let peer: String
  private let exchange: @Sendable (MessageEnvelope) async throws -> MessageEnvelope
  private let waitingLimit: Int
  private let givesUpAfter: Int?
  private let state = Guarded(State())

  init(
    _ peer: String, _ options: RemoteOptions,
    exchange: @escaping @Sendable (MessageEnvelope) async throws -> MessageEnvelope
  ) {
    (self.peer, self.exchange) = (peer, exchange)
    (waitingLimit, givesUpAfter) = (options.waitingCalls, options.givesUpAfter)
  }

  deinit { state.withLock { $0.watch?.task }?.cancel() }

  func error(
    _ code: RemoteError.Code, _ outcome: RemoteError.Outcome, _ selector: String, _ evidence: String,
    argument: Int? = nil
  ) -> RemoteError {
    RemoteError(code, outcome, peer: peer, selector: selector, evidence: evidence, argumentIndex: argument)
  }

  // MARK: The line

  /// Waits for the line, first come first served.
  ///
  /// - Throws: ``RemoteError`` `timedOut`, `gone` or `busy`, `CancellationError`: nothing was sent then.
  nonisolated(nonsending) func enter(_ selector: String, by deadline: Deadline, in time: Duration)
    async throws
  {
    let place = Settlement<Admission>()
    let (refusal, waits) = state.withLock { state -> (RemoteError?, Bool) in
      if let gone = state.gone { return (error(.gone, .didNotRun, selector, gone), false) }
      if deadline.hasPassed { return (error(.timedOut, .didNotRun, selector, "it had no time"), false) }
      guard state.isTaken else {
        state.isTaken = true
        return (nil, false)
      }
      guard state.waiters.count < waitingLimit else {
        return (error(.busy, .didNotRun, selector, "\(waitingLimit) calls wait for an earlier one"), false)
      }
      state.waiters.append(Waiter(deadline: deadline, place: place))
      return (nil, true)
    }
    if let refusal { throw refusal }
    guard waits else { return }
    watch(until: deadline)
    let admission = await withTaskCancellationHandler {
      await place.value()
    } onCancel: {
      if place.settle(.cancelled) { forget(place) }
    }
    switch admission {
    case .granted: return
    case .cancelled: throw CancellationError()
    case .late: throw error(.timedOut, .didNotRun, selector, "earlier calls took all of \(time)")
    case .gone: throw error(.gone, .didNotRun, selector, goneReason)
    }
  }

  private func forget(_ place: Settlement<Admission>) {
    state.withLock { state in state.waiters.removeAll { $0.place === place } }
  }

  /// Lets the next call have the line.
  func leave() {
    while true {
      let next = state.withLock { state -> Waiter? in
        guard !state.waiters.isEmpty else {
          state.isTaken = false
          return nil
        }
        return state.waiters.removeFirst()
      }
      guard let next else { return }
      if next.place.settle(.granted) { return }
    }
  }

  /// The number of the call that has the line.
  func nextNumber() -> Int {
    state.withLock { state in
      state.number += 1
      return state.number
    }
  }

  // MARK: The engine

  /// Gives a text to the engine and waits for its end, the deadline, or the caller's cancellation.
  ///
  /// - Throws: ``RemoteError`` `gone`, and `connectionFailed` when the engine keeps too many calls: nothing was sent then.
  nonisolated(nonsending) func send(_ text: String, _ selector: String, by deadline: Deadline)
    async throws -> End
  {
    let end = Settlement<End>()
    let id: Int
    switch admit(end, deadline, selector) {
    case .success(let admitted): id = admitted
    case .failure(let refusal): throw refusal
    }
    let task = startNow { [exchange] in
      do { end.settle(.reply(try await exchange(MessageEnvelope(text: text)))) } catch {
        end.settle(.failed("\(type(of: error)): \(error)"))
      }
      self.state.withLock { $0.outstanding -= 1 }
    }
    watch(until: deadline)
    let ended = await withTaskCancellationHandler {
      await end.value()
    } onCancel: {
      end.settle(.cancelled)
    }
    state.withLock { state in state.pending.removeAll { $0.id == id } }
    switch ended {
    case .reply, .failed: break
    case .late, .cancelled, .gone: task.cancel()
    }
    return ended
  }

  private func admit(_ end: Settlement<End>, _ deadline: Deadline, _ selector: String)
    -> Result<Int, RemoteError>
  {
    state.withLock { state in
      if let gone = state.gone { return .failure(error(.gone, .didNotRun, selector, gone)) }
      guard state.outstanding < RemoteLine.outstandingLimit else {
        let evidence = "the engine has not ended \(RemoteLine.outstandingLimit) earlier calls"
        return .failure(error(.connectionFailed, .didNotRun, selector, evidence))
      }
      state.outstanding += 1
      state.nextID += 1
      state.pending.append((state.nextID, deadline, end))
      return .success(state.nextID)
    }
  }

  /// How many calls the engine has not given back.
  var outstandingCount: Int { state.withLock { $0.outstanding } }

  /// Counts a call of which it is unknown whether it arrived, or one that was answered.
  func note(answered: Bool) {
    let isOver = state.withLock { state -> Bool in
      state.failures = answered ? 0 : state.failures + 1
      return givesUpAfter.map { state.failures >= $0 } ?? false
    }
    if isOver, let givesUpAfter { end("\(givesUpAfter) calls in a row were not answered") }
  }

  /// How many calls have the line or wait for it.
  var standing: Int { state.withLock { $0.waiters.count + ($0.isTaken ? 1 : 0) } }

  // MARK: Deadlines

  /// Sees to it that somebody looks when a deadline has passed. One task serves all calls.
  private func watch(until deadline: Deadline) {
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

  /// Ends what is late, and gives the next deadline; `nil` when nothing is under way, or another task watches.
  private func endLateCalls() -> Deadline? {
    let now = Deadline.time(.now)
    let (waiters, ends, next) = state.withLock { state in
      let waiters = state.waiters.filter { $0.deadline <= now }
      state.waiters.removeAll { $0.deadline <= now }
      let ends = state.pending.filter { $0.deadline <= now }.map(\.end)
      let deadlines = state.waiters.map(\.deadline) + state.pending.map(\.deadline).filter { $0 > now }
      let next = Task.isCancelled ? nil : deadlines.min()
      if !Task.isCancelled { state.watch = next.flatMap { next in state.watch.map { (next, $0.task) } } }
      return (waiters, ends, next)
    }
    for waiter in waiters { waiter.place.settle(.late) }
    for end in ends { end.settle(.late) }
    return next
  }

  // MARK: The end

  var goneReason: String { state.withLock { $0.gone } ?? "" }
  var isGone: Bool { state.withLock { $0.gone != nil } }

  /// Ends the line: calls that wait and calls under way end now, and registrations that are to end with it do.
  func end(_ reason: String) {
    let (waiters, ends, registrations) = state.withLock { state in
      guard state.gone == nil else { return ([Waiter](), [Settlement<End>](), [WeakRegistration]()) }
      state.gone = reason
      defer { (state.waiters, state.registrations) = ([], []) }
      return (state.waiters, state.pending.map(\.end), state.registrations)
    }
    for waiter in waiters { waiter.place.settle(.gone) }
    for end in ends { end.settle(.gone) }
    for registration in registrations { registration.object?.cancel() }
  }

  /// Cancels a registration when the line ends, at once where it has.
  func endWithLine(_ registration: Registration) {
    let isOver = state.withLock { state -> Bool in
      if state.gone != nil { return true }
      state.registrations.removeAll { $0.object == nil }
      state.registrations.append(WeakRegistration(object: registration))
      return false
    }
    if isOver { registration.cancel() }
  }
}

/// Starts a task on the caller's thread where the system can: that spares a message one hop.
private func startNow(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { return Task.immediate { await body() } }
  return Task { await body() }
}

private struct WeakRegistration: Sendable {
  weak let object: Registration?
}
