// RemoteLine+Presence.swift: opening, losing and reopening a line.

import Forwardcast

/// A registration that is canceled when the other side ends or, with `.endsRegistration`, is lost.
struct LineRegistration: Sendable {
  weak let registration: Registration?
  let absence: RemoteAbsence

  var isOver: Bool { registration?.isCancelled ?? true }
}

extension RemoteLine {
  var presence: RemotePresence { state.withLock { $0.presence } }

  var presences: AsyncStream<RemotePresence> {
    let (stream, continuation) = AsyncStream.makeStream(of: RemotePresence.self)
    let id = state.withLock { state in
      continuation.yield(state.presence)
      state.lastListener += 1
      if state.presence.isEnd { continuation.finish() } else { state.listeners[state.lastListener] = continuation }
      return state.lastListener
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
    return stream
  }

  /// Requests a line, and uses it unless another one is open when the reply arrives.
  /// - Throws: ``RemoteError``; `CancellationError`.
  nonisolated(nonsending) func open() async throws {
    let call = OutgoingCall("", .open, within: options.deadline)
    guard case .opened(let name, let window, let listed) = try await send(call, opens: true) else {
      throw error(.malformedAnswer, .unknown, "", "the reply does not open a line")
    }
    var opening = Opening(line: name, window: window)
    for (name, types) in listed {
      do { opening.messages[WireName(name)] = .some(try types.map(MethodSignature.init)) } catch {
        throw self.error(.malformedAnswer, .didNotRun, name, "its types: \(error)")
      }
    }
    let (refusal, attempts) = state.withLock { [opening] state -> (String?, Task<Void, Never>?) in
      if case .ended(let reason) = state.presence { return (reason, nil) }
      if state.presence == .connected, !state.isStale { return (nil, nil) }
      defer { state.attempts = nil }
      (state.opening, state.number, state.failures) = (opening, 0, 0)
      (state.isStale, state.isOpening) = (false, false)
      if state.presence != .connected { state.become(.connected) }
      return (nil, state.attempts)
    }
    if let refusal { throw error(.gone, .didNotRun, "", refusal) }
    // The canceled task may be the current task, which has succeeded.
    attempts?.cancel()
    goOn()
  }

  /// Opens a line in place of a line that the endpoint no longer knows.
  func reopen() async {
    do { try await open() } catch {
      // If the line was lost or opened in the meantime, `isOpening` is already false.
      if state.withLock({ exchange(&$0.isOpening, with: false) }) { lose("\(error)") }
    }
  }

  /// Ends all calls and cancels the registrations that end with the line. Reconnects if another
  /// registration requires this. With `unlessConnected`, does nothing while the line is connected.
  func lose(_ reason: String, forGood: Bool = false, unlessConnected: Bool = false) {
    typealias Lost = (
      calls: [State.Left], registrations: [LineRegistration], listeners: [AsyncStream<RemotePresence>.Continuation]
    )
    let lost = state.withLock { state -> Lost in
      let isConnected = state.presence == .connected
      if state.presence.isEnd || (isConnected ? unlessConnected : !forGood) { return ([], [], []) }
      state.become(forGood ? .ended(reason) : .lost(reason))
      let calls = state.take { _ in true }
      (state.isStale, state.isOpening, state.mustTell) = (false, false, false)
      let registrations = state.registrations.filter { forGood || $0.absence == .endsRegistration }
      state.registrations.removeAll { forGood || $0.absence == .endsRegistration }
      let listeners = forGood ? Array(state.listeners.values) : []
      if forGood { state.listeners = [:] }
      return (calls, registrations, listeners)
    }
    for registration in lost.registrations { registration.registration?.cancel() }
    end(lost.calls) { call, wasSent in error(.gone, wasSent ? .unknown : .didNotRun, call.selector, reason) }
    for listener in lost.listeners { listener.finish() }
    keepTrying()
  }

  /// Tries to reconnect while the other side is lost and a registration requires it.
  private func keepTrying() {
    state.withLock { state in
      guard state.attempts == nil, let backoff = state.backoff else { return }
      state.attempts = Task { [weak self] in
        var number = 0
        while await backoff.wait(before: number) {
          number += 1
          guard let self, self.state.withLock({ $0.goesOnTrying() }) else { return }
          if (try? await open()) != nil { return }
        }
        if Task.isCancelled { return }
        // Another attempt may have succeeded in the meantime.
        let attempts = number == 1 ? "1 attempt" : "\(number) attempts"
        self?.lose("\(attempts) to reconnect failed", forGood: true, unlessConnected: true)
      }
    }
  }

  /// Ties a registration to the line. When the other side is lost, `absence` decides whether the
  /// line cancels the registration or reconnects.
  func tie(_ registration: Registration, _ absence: RemoteAbsence) {
    if absence == .fails { return }
    let isOver = state.withLock { state -> Bool in
      if state.presence.isEnd || (absence == .endsRegistration && state.presence != .connected) { return true }
      if state.registrations.count >= state.mostRegistrations {
        state.registrations.removeAll { $0.isOver }
        state.mostRegistrations = 2 * state.registrations.count + 8
      }
      state.registrations.append(LineRegistration(registration: registration, absence: absence))
      return false
    }
    if isOver { registration.cancel() }
    keepTrying()
  }
}

extension RemoteLine.State {
  /// While the line is lost, the backoff of the newest registration that requires reconnecting.
  var backoff: RemoteBackoff? {
    guard case .lost = presence else { return nil }
    for tied in registrations.reversed() {
      if case .keepsTrying(let backoff) = tied.absence, !tied.isOver { return backoff }
    }
    return nil
  }

  mutating func goesOnTrying() -> Bool {
    if backoff == nil { attempts = nil }
    return attempts != nil
  }

  /// Changes the presence and notifies listeners. Must be called with the lock held, so that
  /// listeners see the changes in order. Yielding runs no foreign code.
  mutating func become(_ presence: RemotePresence) {
    self.presence = presence
    for listener in listeners.values { listener.yield(presence) }
  }
}
