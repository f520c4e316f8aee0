// Connection.swift: the connection to a heart-rate strap, and its listener protocol.
// Example: Bluetooth.

import Forwardcast

enum LinkState: Sendable {
  case searching, connected, lost
}

/// A listener of the strap. A method in any isolation can implement an `async` requirement.
@Forwarded
protocol ConnectionListener: AnyObject, Sendable {
  func linkChanged(to state: LinkState) async
  func heartRate(_ beats: Int) async
}

/// Receives the radio's events on this actor. It knows no concrete listener.
actor Connection {
  /// `Sendable` like the protocol, so a screen can register without `await`.
  nonisolated let listeners = ConnectionListenerProxy()
  private var state: LinkState?

  /// Handles a packet of the strap: empty, or the flags and the beats per minute.
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
