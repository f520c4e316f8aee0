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
    broadcast(message, Arguments(values: (repeat each arguments)), crosses: false)
  }

  /// As the proxy's own `collect`, from targets that are held.
  @inlinable
  public func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collect(message, Arguments(values: (repeat each arguments)), policy, crosses: false)
  }

  @inlinable @inline(never)
  func broadcast<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>, crosses: Bool
  ) -> BroadcastSummary {
    let walk = pins.begin(message.selector)
    if walk.hasQueued { return proxy.broadcastQueued(message, arguments, along: walk, crosses: crosses) }
    return proxy.broadcast(message, arguments, along: walk, crosses: crosses)
  }

  @inlinable
  func collect<R, Output, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>,
    _ policy: ReturnPolicy<R, Output>, crosses: Bool
  ) throws -> Output {
    let walk = pins.begin(message.selector)
    if walk.hasQueued { return try proxy.collectQueued(message, arguments, walk, policy, crosses: crosses) }
    return try proxy.collect(message, arguments, along: walk, returning: policy)
  }
}

extension PinnedMulticast where Interface: Sendable {
  /// As the proxy's own `broadcast`, to targets that are held; those on other contexts get their copies.
  @inlinable
  @discardableResult
  public func broadcast<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcast(message, Arguments(values: (repeat each arguments)), crosses: true)
  }

  /// As the proxy's own `collect`, from targets that are held; those on other contexts get their copies.
  @inlinable
  public func collect<R, Output, each A: Sendable>(
    _ message: Message<(repeat each A) -> R>, _ arguments: repeat each A, returning policy: ReturnPolicy<R, Output>
  ) throws -> Output {
    try collect(message, Arguments(values: (repeat each arguments)), policy, crosses: true)
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
