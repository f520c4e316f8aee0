// MulticastHolding.swift: the protocol of objects with a multicast proxy's members.

/// A multicast proxy, or an object that holds a proxy and has the proxy's members: targets,
/// messages, hooks.
///
///     final class Themes: MulticastHolding {
///       let multicast = MulticastProxy<any ThemesDelegate>()
///     }
public protocol MulticastHolding<Interface>: MulticastSending, MessageHooking {
  /// The type of targets.
  associatedtype Interface

  /// The proxy with the targets. A proxy returns itself.
  var multicast: MulticastProxy<Interface> { get }
}

extension MulticastHolding {
  /// The receivers of a message of `selector`. Also used if this object is a proxy's target.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }

  /// The proxy's hooks, around all of its targets.
  public var hookPlace: HookPlace { multicast.hookPlace }

  var core: MulticastCore { multicast.core }
}
