// MulticastSending.swift: the protocol of objects that forward to many targets.

/// An object that forwards messages to many targets: a ``MulticastProxy``, the proxy that
/// ``MulticastHolding/pinned(_:)`` passes to its closure, an extension point, or your own object
/// that wraps a proxy.
///
///     final class Themes: MulticastSending {
///       typealias Interface = any ThemesDelegate
///       let multicast = MulticastProxy<any ThemesDelegate>()
///       func route(for selector: MessageSelector) -> MessageRoute {
///         multicast.route(for: selector)
///       }
///     }
///
/// As a target of a proxy, such an object is transparent: its targets get the message.
public protocol MulticastSending<Interface> {
  /// The type of targets.
  associatedtype Interface

  /// The receivers of a message of `selector`. Must not create targets, since queries call it.
  func route(for selector: MessageSelector) -> MessageRoute

  /// The receivers of a message that begins now. Called once per message, even if the message's
  /// arguments are then refused. By default it returns ``route(for:)``.
  func beginMessage(_ selector: MessageSelector) -> MessageRoute

  /// Like ``beginMessage(_:)``, without reference counting. The result is valid during the message.
  func visit(_ selector: MessageSelector) -> MessageVisit
}

extension MulticastSending {
  /// Returns ``route(for:)``.
  @inlinable
  public func beginMessage(_ selector: MessageSelector) -> MessageRoute { route(for: selector) }

  /// Returns a visit of the route that ``beginMessage(_:)`` returns.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { MessageVisit(beginMessage(selector)) }
}
