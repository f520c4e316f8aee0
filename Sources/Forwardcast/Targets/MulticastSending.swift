// MulticastSending.swift: what sends messages to many targets.

/// Something that sends messages to many targets: a ``MulticastProxy``, its pinned view, an extension point, or an
/// object of your own that holds a proxy and offers its verbs.
///
///     final class Themes: MulticastSending {
///       typealias Interface = any ThemesDelegate
///       let multicast = MulticastProxy<any ThemesDelegate>()
///       func route(for selector: MessageSelector) -> MessageRoute {
///         multicast.route(for: selector)
///       }
///     }
///
/// Such an object among the targets of a proxy is transparent: its targets get the message in its place.
public protocol MulticastSending<Interface> {
  /// What may be added as a target.
  associatedtype Interface

  /// Who would get a message of `selector`. For questions: nothing is made or sent for it.
  func route(for selector: MessageSelector) -> MessageRoute

  /// Who gets a message that begins now. Called once for each message, by the verbs of this protocol. The default is
  /// ``route(for:)``.
  func beginMessage(_ selector: MessageSelector) -> MessageRoute

  /// The same for a message that is over when the verb returns, without a count of references. The default is
  /// ``beginMessage(_:)``.
  func visit(_ selector: MessageSelector) -> MessageVisit
}

extension MulticastSending {
  /// Who would get the message: ``route(for:)``.
  @inlinable
  public func beginMessage(_ selector: MessageSelector) -> MessageRoute { route(for: selector) }

  /// Who gets the message: ``beginMessage(_:)``.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { MessageVisit(beginMessage(selector)) }
}
