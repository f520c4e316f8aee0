// RecordingProxy.swift: a proxy that records every call to its target.

import Forwardcast

/// A proxy that records every call to a receiver, or to another proxy, with the call's outcome.
///
///     let recorded = RecordingProxy(of: screen, as: "screen")
///     try recorded.send(.setTitle, "a")          // screen receives it
///     print(recorded.recorder.recording)         // [screen setTitle: "a"]
///
/// Proxies may share a recorder, which keeps their calls in one order. A call that a receiver makes
/// during a recorded call is nested in the recorded call: see ``RecordedCall/depth``. The proxy is
/// `Sendable` if its target is. Unanswered messages are recorded too, with their error, if any.
public final class RecordingProxy<Target>: ForwardingProxy, ForwardingToMany {
  /// The receiver of the messages.
  public let target: Target
  /// The name of the target in the recording.
  public let name: String
  /// The recorder, which other proxies may share.
  public let recorder: CallRecorder

  private let receiver: any MessageReceiver
  /// True if a sender may wait for a target that is in another isolation.
  private let isSendable: Bool
  private let lease = Guarded(Lease())

  /// The registration, which is canceled once its target is deallocated.
  private struct Lease: Sendable { weak var registration: Registration? }

  init(_ target: Target, _ receiver: any MessageReceiver, _ name: String?, _ recorder: CallRecorder, _ isSendable: Bool)
  {
    (self.target, self.receiver, self.recorder, self.isSendable) = (target, receiver, recorder, isSendable)
    self.name = name ?? typeName(of: receiver)
    super.init()
  }

  public override func responds(to selector: MessageSelector) -> Bool {
    // True for a message that already passed this proxy, so that `forward` reports the cycle.
    if ProxyQuestion.isOnItsWay(selector, through: self) { return true }
    let isAnswered = ProxyQuestion.ask(self, selector, otherwise: false) { answers(receiver, selector) }
    if isAnswered { return true }
    if let registration = lease.withLock({ $0.registration }), !registration.isLive { registration.cancel() }
    return false
  }

  /// Cancels `registration` at the first message after the deallocation of its target.
  func cancelWhenDead(_ registration: Registration) { lease.withLock { $0.registration = registration } }

  /// The target's signature for the message. If the target has none, all types are objects, so
  /// unanswered messages are recorded too.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    ProxyQuestion.ask(self, selector, otherwise: nil) { signature(of: receiver, selector) }
      ?? .objects(arguments: selector.numberOfArguments)
  }

  /// Always `nil`, since messages must not bypass the proxy.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Sends the message to the target and records it.
  @discardableResult
  public override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    let trail = try lay(&invocation)
    defer { trail.end() }
    let answer = try recorder.record(invocation, to: name) {
      try receiver.perform(&invocation)
      return invocation.result
    }
    return DeliveryReport(answeredBy: self, answer)
  }

  /// Sends the message to the target, waits for it, and records it.
  nonisolated(nonsending) public override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    guard isSendable else { return try forwardInTurn(invocation) }
    var answered = invocation
    let trail = try lay(&answered)
    defer { trail.end() }
    let answer = try await recorder.recordAndWait(invocation, to: name) {
      try await performWaiting(&answered, on: receiver)
      return answered.result
    }
    return DeliveryReport(answeredBy: self, answer)
  }

  /// Adds this proxy to the message's trail. Throws `proxyCycle` if the trail already has the
  /// proxy.
  private func lay(_ invocation: inout Invocation) throws(MessageError) -> ProxyTrail {
    if let trail = invocation.route, trail.contains(self) { throw .cycle(invocation.selector, through: self) }
    let trail = ProxyTrail(self, after: invocation.route)
    invocation.route = trail
    return trail
  }
}

extension RecordingProxy: @unchecked Sendable where Target: Sendable {}  // its recorder and its lease have locks

extension RecordingProxy: NamedReceiver {
  public var receiverName: String { name }
}

extension RecordingProxy where Target: MessageReceiver {
  /// Creates a proxy that retains `target`. By default, `recorder` is new, and `name` is the name
  /// of the target's type.
  public convenience init(of target: Target, as name: String? = nil, into recorder: CallRecorder = CallRecorder()) {
    self.init(target, target, name, recorder, false)
  }
}

extension RecordingProxy where Target: MessageReceiver & Sendable {
  /// Creates a proxy that retains `target`. Waiting senders can call methods of any isolation.
  public convenience init(of target: Target, as name: String? = nil, into recorder: CallRecorder = CallRecorder()) {
    self.init(target, target, name, recorder, true)
  }
}

extension RecordingProxy where Target == any MessageReceiver {
  /// Creates a proxy that retains any receiver: see the initializer for a known type.
  // Generic, so that the next overload is preferred for a Sendable receiver.
  public convenience init<Receiver: MessageReceiver>(
    of target: Receiver, as name: String? = nil, into recorder: CallRecorder = CallRecorder()
  ) {
    self.init(target, target, name, recorder, false)
  }
}

extension RecordingProxy where Target == any MessageReceiver & Sendable {
  /// Creates a proxy that retains any Sendable receiver: see the initializer for a known type.
  public convenience init(of target: Target, as name: String? = nil, into recorder: CallRecorder = CallRecorder()) {
    self.init(target, target, name, recorder, true)
  }
}
