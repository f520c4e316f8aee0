// PinnedMulticast.swift: targets held for a burst of messages.
// Layer: Proxy. See DESIGN.md, "Costs".

/// A multicast proxy during ``MulticastProxy/pinned(_:)``: its targets cannot die, so each message goes at the price
/// of strong targets.
public struct PinnedMulticast<Interface> {
  @usableFromInline let proxy: MulticastProxy<Interface>
  @usableFromInline let pins: Pins

  /// As the proxy's own `broadcast`, to targets that are held.
  @inlinable
  @discardableResult
  public func broadcast<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    proxy.broadcast(message, Arguments(values: (repeat each arguments)), along: pins.begin(message.selector))
  }

  /// As the proxy's own `collect`, from targets that are held.
  @inlinable
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try proxy.collect(
      message, Arguments(values: (repeat each arguments)), along: pins.begin(message.selector), returning: policy)
  }
}

extension MulticastProxy {
  /// Holds the targets for a burst of messages: a weak one is loaded once for each selector instead of once for each
  /// message.
  ///
  ///     themes.pinned { themes in
  ///       for color in rainbow { themes.broadcast(.themesColorChanged, color) }
  ///     }
  ///
  /// Everything else is as without: a target that is removed or muted meanwhile is passed over, one that is added gets
  /// the next message. What was held is let go of when `body` ends, or when the targets change.
  ///
  /// - Parameter body: gets the proxy to send through; it must not keep it.
  public func pinned<T>(_ body: (PinnedMulticast<Interface>) throws -> T) rethrows -> T {
    try body(PinnedMulticast(proxy: self, pins: Pins(core)))
  }
}

/// The routes of one burst, each of which keeps its targets alive. Stays with the caller of `pinned`.
@usableFromInline
final class Pins {
  private let core: MulticastCore
  private var routes = RouteTable()

  init(_ core: MulticastCore) { self.core = core }

  @usableFromInline
  func begin(_ selector: MessageSelector) -> RouteWalk {
    if let route = routes.find(selector), core.isCurrent(route) { return RouteWalk(route) }
    let route = core.pinnedRoute(selector)
    _ = routes.set(route)
    return RouteWalk(route)
  }
}
