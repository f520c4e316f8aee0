// Recording+Replay.swift: sends recorded calls again.

import Forwardcast

/// The reason why a recording was not replayed. Nothing was sent.
public struct ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why a call cannot be replayed.
  public enum Reason: Hashable, Sendable {
    /// No receiver of that name was given.
    case unknownReceiver
    /// An argument was redacted when the call was recorded.
    case redacted
  }

  /// The index of the call in ``Recording/outermostCalls``.
  public let index: Int
  /// The name of the call's receiver in the recording.
  public let receiver: String
  /// The selector of the call.
  public let selector: String
  /// Why the call cannot be sent.
  public let reason: Reason

  public var description: String {
    switch reason {
    case .unknownReceiver:
      "call \(index), \"\(selector)\", was sent to \"\(receiver)\", but the replay has no receiver of that name; add it to replay(into:)"
    case .redacted:
      "call \(index), \"\(selector)\" to \"\(receiver)\", has a redacted argument; replace it with a value before the replay"
    }
  }
}

extension Recording {
  /// Sends the outermost calls again, in order, to the receivers with the recorded names.
  ///
  ///     let again = try recording.replay(into: ["cart": Cart()])
  ///     // whether the outcomes are the same:
  ///     again.isEqual(to: Recording(recording.outermostCalls))
  ///
  /// Nested calls are not sent, because the receivers make them again. (Filter out calls that the
  /// receivers make through queues: these are outermost calls too.) A call that fails does not
  /// stop the replay. A call to a multicast that has no target for it fails with `nobodyResponds`.
  /// Returns the calls with their new outcomes.
  /// - Throws: ``ReplayError``, before anything is sent.
  @discardableResult
  public func replay(into receivers: [String: any MessageReceiver]) throws(ReplayError) -> Recording {
    let calls = try replayed { receivers[$0] }
    var replayed: [RecordedCall] = []
    for (call, receiver) in calls {
      let (recorder, isUnanswered) = (CallRecorder(), isUnanswered(call, by: receiver))
      var message = call.message
      _ = try? RecordingProxy(of: receiver, as: call.receiver, into: recorder).forward(&message)
      replayed += outcome(recorder, isUnanswered)
    }
    return Recording(replayed)
  }

  /// Sends all outermost calls again to one receiver. Throws only `redacted`, before any send.
  @discardableResult
  public func replay(into receiver: any MessageReceiver) throws(ReplayError) -> Recording {
    try replay(into: Dictionary(outermostCalls.map { ($0.receiver, receiver) }) { first, _ in first })
  }

  /// Sends the outermost calls again, like ``replay(into:)-([String:MessageReceiver])``, and waits
  /// for each call. The receivers may have any isolation.
  @discardableResult
  nonisolated(nonsending) public func replayAndWait(into receivers: [String: any MessageReceiver & Sendable])
    async throws(ReplayError) -> Recording
  {
    let calls = try replayed { receivers[$0] }
    var replayed: [RecordedCall] = []
    for (call, receiver) in calls {
      let (recorder, isUnanswered) = (CallRecorder(), isUnanswered(call, by: receiver))
      _ = try? await RecordingProxy(of: receiver, as: call.receiver, into: recorder).forwardAndWait(call.message)
      replayed += outcome(recorder, isUnanswered)
    }
    return Recording(replayed)
  }

  /// Sends all outermost calls again to one receiver and waits for each. Throws only `redacted`.
  @discardableResult
  nonisolated(nonsending) public func replayAndWait(into receiver: any MessageReceiver & Sendable)
    async throws(ReplayError) -> Recording
  {
    try await replayAndWait(into: Dictionary(outermostCalls.map { ($0.receiver, receiver) }) { first, _ in first })
  }

  /// True if no target of a multicast would get the call.
  private func isUnanswered(_ call: RecordedCall, by receiver: any MessageReceiver) -> Bool {
    receiver is any MulticastSending && !answers(receiver, call.selector)
  }

  /// The recorded call. A call without a target has failed, unless a hook has answered it.
  private func outcome(_ recorder: CallRecorder, _ isUnanswered: Bool) -> [RecordedCall] {
    recorder.recording.outermostCalls.map { call in
      guard isUnanswered, case .answered(nil) = call.outcome else { return call }
      var call = call
      let error = MessageError(.nobodyResponds, receiver: call.receiver, selector: call.selector.name)
      call.outcome = .failed(RecordedError(error))
      return call
    }
  }

  private func replayed<Receiver>(_ receiver: (String) -> Receiver?) throws(ReplayError) -> [(RecordedCall, Receiver)] {
    var found: [(RecordedCall, Receiver)] = []
    for (index, call) in outermostCalls.enumerated() {
      func refusal(_ reason: ReplayError.Reason) -> ReplayError {
        ReplayError(index: index, receiver: call.receiver, selector: call.selector.name, reason: reason)
      }
      guard let receiver = receiver(call.receiver) else { throw refusal(.unknownReceiver) }
      if call.arguments.contains(where: { $0.value is RedactedValue }) { throw refusal(.redacted) }
      found.append((call, receiver))
    }
    return found
  }
}
