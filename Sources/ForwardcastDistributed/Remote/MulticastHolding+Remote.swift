// MulticastHolding+Remote.swift: registers remote receivers as targets.

public import Forwardcast

/// What happens to a registration when its remote receiver is lost.
public enum RemoteAbsence: Hashable, Sendable {
  /// The registration stays, and each message to it fails.
  case fails
  /// The registration is canceled, and waiting messages are dropped.
  case endsRegistration
  /// The registration stays while the receiver tries to reconnect. Until the receiver is
  /// connected, messages to it fail at once. The registration is canceled when the receiver has
  /// ended.
  case keepsTrying(RemoteBackoff)
}

extension MulticastHolding where Interface: Sendable {
  /// Registers a remote receiver as a target.
  ///
  ///     room.add(remote: bob, buffer: .keepNewest(100), whenGone: .endsRegistration)
  ///
  /// Messages to the remote receiver are sent one after another, and other targets do not wait for
  /// them. Senders that wait get the receiver's answers. Errors of a broadcast go to `onError`.
  /// Typed Swift calls, such as `broadcast { $0.… }`, do not reach the receiver.
  ///
  /// - Parameters:
  ///   - remote: the receiver. It need not conform to the proxy's interface.
  ///   - delivery: the context on which messages to the receiver wait; by default its own queue.
  ///   - priority: targets of higher priority are first.
  ///   - ownership: `.strong`, the default, retains the receiver.
  ///   - selectors: the messages for the receiver; `nil` means all messages that it responds to.
  ///   - buffer: how many messages may wait, and what happens to further messages. The buffer
  ///     bounds the cost of a peer that does not answer.
  ///   - absence: what happens to the registration when the receiver is lost.
  @discardableResult
  public func add(
    remote: RemoteReceiver, delivery: Delivery? = nil, priority: Int = 0, ownership: Ownership = .strong,
    only selectors: [MessageSelector]? = nil, buffer: DeliveryBuffer = .suspendSender(256),
    whenGone absence: RemoteAbsence = .fails
  ) -> Registration {
    let registration = multicast.add(
      receiver: remote,
      TargetOptions(
        priority: priority, ownership: ownership, scope: selectors.map(Set.init),
        delivery: delivery ?? .queue(remote.queue), buffer: buffer))
    remote.line.tie(registration, absence)
    return registration
  }
}
