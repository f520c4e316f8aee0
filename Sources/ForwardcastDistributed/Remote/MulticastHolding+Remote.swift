// MulticastHolding+Remote.swift: receivers of other processes as targets.

public import Forwardcast

/// What becomes of a registration when its remote receiver is lost.
public enum RemoteAbsence: Hashable, Sendable {
  /// It stays, and each message to it fails.
  case fails
  /// It is cancelled; what waits for it is dropped.
  case endsRegistration
  /// It stays while the receiver tries to connect again, and each message to it fails at once; what is sent when it is
  /// back arrives. It is cancelled when the receiver has ended.
  case keepsTrying(RemoteBackoff)
}

extension MulticastHolding where Interface: Sendable {
  /// Registers a receiver of another process as a target.
  ///
  ///     room.add(remote: bob, buffer: .keepNewest(100), whenGone: .endsRegistration)
  ///
  /// Its messages leave one after another, and the proxy's other targets do not wait for them. Waiting forms of a send wait
  /// for its answer; errors of a broadcast go to `onError`. Ordinary Swift calls, `broadcast { $0.… }`, do not reach it.
  ///
  /// - Parameters:
  ///   - remote: the receiver. It need not be of the proxy's interface.
  ///   - delivery: where its messages wait; a queue of its own where none is given.
  ///   - priority: higher is queued first.
  ///   - ownership: `.strong` keeps it, which most programs want.
  ///   - selectors: those that it is to get; `nil` for all that it answers.
  ///   - buffer: how many messages may wait, and which go when there are more: what a peer that has stopped costs.
  ///   - absence: what becomes of the registration when the receiver is lost.
  @discardableResult
  public func add(
    remote: RemoteReceiver, delivery: Delivery? = nil, priority: Int = 0, ownership: Ownership = .strong,
    only selectors: [MessageSelector]? = nil, buffer: DeliveryBuffer = .suspendSender(256),
    whenGone absence: RemoteAbsence = .fails
  ) -> Registration {
    let registration = multicast.add(
      receiver: remote, delivery: delivery ?? .queue(remote.queue), priority: priority, ownership: ownership,
      only: selectors, buffer: buffer, whenRemoved: .dropPending)
    remote.line.tie(registration, absence)
    return registration
  }
}
