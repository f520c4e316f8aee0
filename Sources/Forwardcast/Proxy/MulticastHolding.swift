// MulticastHolding.swift: what has the members of a multicast proxy.

/// A multicast proxy, or a class that holds one and offers its members: targets, messages, hooks.
///
///     final class Themes: MulticastHolding {
///       let multicast = MulticastProxy<any ThemesDelegate>()
///     }
public protocol MulticastHolding<Interface>: MulticastSending, MessageHooking {
  /// The type of targets.
  associatedtype Interface

  /// The proxy that has the targets and sends the messages; a proxy itself.
  var multicast: MulticastProxy<Interface> { get }
}

extension MulticastHolding {
  /// Who would get a message of `selector`; the same when the object is a target of another proxy.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }

  /// The proxy's hooks, around all of its targets.
  public var hookPlace: HookPlace { multicast.hookPlace }

  var core: MulticastCore { multicast.core }
}
