// MulticastSending.swift: what sends messages to many targets.

/// Something that sends messages to many targets: a ``MulticastProxy``, its pinned view, an extension point, or your own object
/// that holds a proxy and offers its verbs.
///
///     final class Themes: MulticastSending {
///       typealias Interface = any ThemesDelegate
///       let multicast = MulticastProxy<any ThemesDelegate>()
///       func route(for selector: MessageSelector) -> MessageRoute {
///         multicast.route(for: selector)
///       }
///     }
///
/// As a target of a proxy such an object is transparent: its targets get the message in its place.
public protocol MulticastSending<Interface> {
  /// The type of targets.
  associatedtype Interface

  /// Who would get a message of `selector`. For questions: nothing is made or sent for it.
  func route(for selector: MessageSelector) -> MessageRoute

  /// Who gets a message that begins now; called once for each by the verbs of this protocol. By default ``route(for:)``.
  func beginMessage(_ selector: MessageSelector) -> MessageRoute

  /// As ``beginMessage(_:)``, its default, for a message that is over when the verb returns: without reference counting.
  func visit(_ selector: MessageSelector) -> MessageVisit
}

extension MulticastSending {
  /// Returns ``route(for:)``.
  @inlinable
  public func beginMessage(_ selector: MessageSelector) -> MessageRoute { route(for: selector) }

  /// Visits ``beginMessage(_:)``.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { MessageVisit(beginMessage(selector)) }
}
