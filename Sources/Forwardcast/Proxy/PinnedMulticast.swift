// PinnedMulticast.swift: targets held for a burst of messages.
// Layer: Proxy. See the article "Performance: what a message costs".

/// A multicast proxy during ``MulticastProxy/pinned(_:)``: its targets cannot die, so each message goes at the price
/// of strong targets.
///
/// It sends as the proxy does: see ``MulticastSending``.
public struct PinnedMulticast<Interface>: MulticastSending {
  @usableFromInline let pins: Pins

  /// Who would get a message of `selector`, each of them held.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { pins.begin(selector) }
}

extension MulticastHolding {
  /// Holds the targets for a burst of messages: a weak one is loaded once for each selector instead of once for each
  /// message.
  ///
  ///     themes.pinned { themes in
  ///       for color in rainbow { themes.broadcast(.themesColorChanged, color) }
  ///     }
  ///
  /// Everything else is as without: a target that is removed or muted meanwhile is passed over, one that is added gets
  /// the next message. What was held is released when `body` ends, or when the targets change. A multicast among the targets is
  /// held, and its own targets are as alive as they are without.
  ///
  /// - Parameter body: gets the proxy to send through; it must not keep it.
  public func pinned<T>(_ body: (PinnedMulticast<Interface>) throws -> T) rethrows -> T {
    try body(PinnedMulticast(pins: Pins(core)))
  }
}

/// The routes of one burst, each of which keeps its targets alive. Stays with the caller of `pinned`.
@usableFromInline
final class Pins {
  let core: MulticastCore
  // Used in one turn at a time: `body` does not keep what it gets.
  @exclusivity(unchecked) private var routes = RouteTable()

  init(_ core: MulticastCore) { self.core = core }

  @usableFromInline
  func begin(_ selector: MessageSelector) -> MessageRoute {
    if let route = routes.kept(selector), route._withUnsafeGuaranteedRef({ core.isCurrent($0) }) {
      return MessageRoute(route.takeUnretainedValue())
    }
    let route = core.pinnedRoute(selector)
    _ = routes.set(route)
    return MessageRoute(route)
  }
}
