// Connection.swift: the one connection to a heart-rate strap, and what its listeners get to hear.
// Example: Bluetooth.

import Forwardcast

enum LinkState: Sendable {
  case searching, connected, lost
}

/// Whoever wants to hear of the strap, on whatever thread. Each takes the messages that it has methods for.
protocol ConnectionListener: MessageReceiver, Sendable {}
extension Message<(LinkState) -> Void> { static var linkChanged: Self { .init("linkChanged:") } }
extension Message<(Int) -> Void> { static var heartRate: Self { .init("heartRate:") } }

/// Events of the radio come in on this actor, never on the main one. It knows no listener and waits for none.
actor Connection {
  /// Sendable as its listeners are: a screen registers without a turn of the actor.
  nonisolated let listeners = MulticastProxy<any ConnectionListener>()
  private var state: LinkState?

  /// A packet of the strap: nothing at all, or the flags and the beats per minute.
  func receive(_ packet: [UInt8]) {
    guard packet.count >= 2 else { return change(to: state == nil ? .searching : .lost) }
    change(to: .connected)
    listeners.broadcast(.heartRate, Int(packet[1]))
  }

  private func change(to new: LinkState) {
    guard new != state else { return }
    state = new
    listeners.broadcast(.linkChanged, new)
  }
}
