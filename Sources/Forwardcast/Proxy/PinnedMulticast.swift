// PinnedMulticast.swift: targets held for a burst of messages.

/// A multicast proxy during ``MulticastProxy/pinned(_:)``: its targets cannot die, so each message goes at the price
/// of strong targets.
///
/// It sends as the proxy does: see ``MulticastSending``.
public struct PinnedMulticast<Interface>: MulticastSending {
  @usableFromInline let pins: Pins

  /// Who would get a message of `selector`, each of them held.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { pins.visit(selector).kept }

  /// Who gets a message that begins now, for as long as it takes.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { pins.visit(selector) }
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
  @exclusivity(unchecked) private var board: Unmanaged<RouteBoard>?

  init(_ core: MulticastCore) { self.core = core }

  deinit { board?._withUnsafeGuaranteedRef { $0.add(-1) } }

  @usableFromInline
  func visit(_ selector: MessageSelector) -> MessageVisit {
    guard let board, let route = board.route(of: selector, core.version) else { return visitFirst(selector) }
    return board.visit(along: route)
  }

  /// Makes the route of a selector.
  @inline(never)
  private func visitFirst(_ selector: MessageSelector) -> MessageVisit {
    guard StackGuard.hasRoom else { return core.visit(selector) }
    let epoch = TableEpoch.current
    let route = core.ownRoute(selector, pinned: true)
    var next = RouteBoard([route], epoch: epoch)
    // All routes of a board know one version of the target list.
    if let board = board?.takeUnretainedValue(), board.epoch == epoch, board.all[0].version == route.version {
      next = board.enter(route) ? board : board.replacing(selector, with: route) ?? next
    }
    if next !== board?.takeUnretainedValue() {
      next.add(1)
      // Messages that are on their way along the old one keep it.
      exchange(&board, with: .passRetained(next))?._withUnsafeGuaranteedRef { $0.add(-1) }
    }
    return Unmanaged.passUnretained(next).visit(along: .passUnretained(route))
  }
}
