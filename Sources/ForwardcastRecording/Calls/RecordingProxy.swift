// RecordingProxy.swift: a proxy that keeps every call to its target.

import Forwardcast

/// A proxy in front of a receiver, or of another proxy, that keeps every call with what came of it.
///
///     let recorded = RecordingProxy(of: screen, as: "screen")
///     try recorded.send(.setTitle, "a")          // screen gets it
///     print(recorded.recorder.recording)         // [screen setTitle: "a"]
///
/// Several proxies may share one recorder, which then keeps their calls in one order. A call that the receiver of another
/// call makes through a proxy of the same recorder is noted as inside of that one: see ``RecordedCall/depth``.
///
/// Messages arrive as they were sent, unconverted. Those that nobody answers are kept too, with their error. The proxy is
/// `Sendable` exactly when its target is.
public final class RecordingProxy<Target>: ForwardingProxy, ForwardingToMany {
  /// Who gets the messages.
  public let target: Target
  /// The name under which the target is recorded.
  public let name: String
  /// Who keeps the calls, perhaps those of other proxies too.
  public let recorder: CallRecorder

  private let receiver: any MessageReceiver
  /// Whether the target may be used in another isolation, where the sender waits.
  private let crosses: Bool
  private let lease = Guarded<Lease?>(nil)

  /// The proxy's registration, and the object with whose life it ends.
  private struct Lease: @unchecked Sendable {  // the lock guards it; both are only compared with `nil` or cancelled
    weak var registration: Registration?
    weak var object: AnyObject?
  }

  init(_ target: Target, _ receiver: any MessageReceiver, _ name: String?, _ recorder: CallRecorder, _ crosses: Bool) {
    (self.target, self.receiver, self.recorder, self.crosses) = (target, receiver, recorder, crosses)
    self.name = name ?? typeName(of: receiver)
    super.init()
  }

  /// Whether the target answers `selector`.
  public override func responds(to selector: MessageSelector) -> Bool {
    // A message that came through here before is let in, to find the cycle.
    if ProxyQuestion.isOnItsWay(selector, through: self) { return true }
    let isAnswered = ProxyQuestion.ask(self, selector, otherwise: false) { answers(receiver, selector) }
    if !isAnswered, let lease = lease.withLock({ $0 }), lease.object == nil { lease.registration?.cancel() }
    return isAnswered
  }

  /// Cancels `registration` with the first message after `object` is gone.
  func cancel(_ registration: Registration, whenGone object: AnyObject) {
    let new = Lease(registration: registration, object: object)
    lease.withLock { $0 = new }
  }

  /// The types of the message as the target states them. Where it states none they are objects throughout, so that a
  /// message that nobody answers is recorded too.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    ProxyQuestion.ask(self, selector, otherwise: nil) { signature(of: receiver, selector) }
      ?? .objects(arguments: selector.numberOfArguments)
  }

  /// Nobody gets a message past the proxy.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Sends the message to the target, and keeps it with what came of it.
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

  /// Sends the message to the target, waits for it, and keeps it with what came of it.
  nonisolated(nonsending) public override func forwardAndWait(_ invocation: Invocation) async throws -> DeliveryReport {
    guard crosses else { return try forwardInTurn(invocation) }
    var answered = invocation
    let trail = try lay(&answered)
    defer { trail.end() }
    let answer = try await recorder.recordAndWait(invocation, to: name) {
      try await performWaiting(&answered, on: receiver)
      return answered.result
    }
    return DeliveryReport(answeredBy: self, answer)
  }

  /// Notes on the message that it came through here.
  /// - Throws: `proxyCycle` when it did before.
  private func lay(_ invocation: inout Invocation) throws(MessageError) -> ProxyTrail {
    if let trail = invocation.route, trail.contains(self) { throw .cycle(invocation.selector, through: self) }
    let trail = ProxyTrail(self, after: invocation.route)
    invocation.route = trail
    return trail
  }
}

// Immutable but for the recorder and the lease, which have locks; and the target is Sendable.
extension RecordingProxy: @unchecked Sendable where Target: Sendable {}

extension RecordingProxy where Target: MessageReceiver {
  /// A proxy in front of `target`, kept alive.
  ///
  /// - Parameters:
  ///   - target: who gets the messages.
  ///   - name: the name under which the target is recorded; that of its type unless given.
  ///   - recorder: what keeps the calls; one of its own unless given.
  public convenience init(of target: Target, as name: String? = nil, into recorder: CallRecorder = CallRecorder()) {
    self.init(target, target, name, recorder, false)
  }
}

extension RecordingProxy where Target: MessageReceiver & Sendable {
  /// A proxy in front of `target`, kept alive, that a sender may wait for wherever the target's methods run: see the
  /// form for one isolation.
  public convenience init(of target: Target, as name: String? = nil, into recorder: CallRecorder = CallRecorder()) {
    self.init(target, target, name, recorder, true)
  }
}

extension RecordingProxy where Target == any MessageReceiver {
  /// A proxy in front of any receiver, kept alive: see the form of a known type.
  // Generic, so that of a receiver that may be shared the form below is the better one, and not merely another.
  public convenience init<Receiver: MessageReceiver>(
    of target: Receiver, as name: String? = nil, into recorder: CallRecorder = CallRecorder()
  ) {
    self.init(target, target, name, recorder, false)
  }
}

extension RecordingProxy where Target == any MessageReceiver & Sendable {
  /// A proxy in front of any receiver that may be shared, kept alive: see the form of a known type.
  public convenience init(of target: Target, as name: String? = nil, into recorder: CallRecorder = CallRecorder()) {
    self.init(target, target, name, recorder, true)
  }
}
