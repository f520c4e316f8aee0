// Connection.swift: the one connection to a heart-rate strap, and what its listeners get to hear.
// Example: Bluetooth.

import Forwardcast

enum LinkState: Sendable {
  case searching, connected, lost
}

/// Whoever wants to hear of the strap. A requirement that is `async` is met by a method wherever its class belongs.
@Forwarded
protocol ConnectionListener: AnyObject, Sendable {
  func linkChanged(to state: LinkState) async
  func heartRate(_ beats: Int) async
}

/// Events of the radio come in on this actor, never on the main one. It knows no listener.
actor Connection {
  /// Sendable as its listeners are: a screen registers without a turn of the actor.
  nonisolated let listeners = ConnectionListenerProxy()
  private var state: LinkState?

  /// A packet of the strap: nothing at all, or the flags and the beats per minute.
  func receive(_ packet: [UInt8]) async {
    guard packet.count >= 2 else { return await change(to: state == nil ? .searching : .lost) }
    await change(to: .connected)
    await listeners.heartRate(Int(packet[1]))
  }

  private func change(to new: LinkState) async {
    guard new != state else { return }
    state = new
    await listeners.linkChanged(to: new)
  }
}
