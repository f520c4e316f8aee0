// MulticastHolding.swift: whoever has the members of a multicast proxy.

/// A multicast proxy, or a class that holds one and offers what it offers: targets, messages, hooks.
///
/// The members of a proxy are written once, for both. An object of your own gets them with one line:
///
///     final class Themes: MulticastHolding {
///       let multicast = MulticastProxy<any ThemesDelegate>()
///     }
///
/// A member of its own that has the name of one of these is the ordinary member and wins.
public protocol MulticastHolding<Interface>: MulticastSending, MessageHooking {
  /// What may be added as a target.
  associatedtype Interface

  /// The proxy that has the targets and sends the messages. A proxy's is itself.
  var multicast: MulticastProxy<Interface> { get }
}

extension MulticastHolding {
  /// Who would get a message of `selector`: the proxy's targets, also where the object is a target of another proxy.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { multicast.route(for: selector) }

  /// Around all of the proxy's targets.
  public var hookPlace: HookPlace { multicast.hookPlace }

  var core: MulticastCore { multicast.core }
}
