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
  /// The version of the target list that all routes of the board know.
  @exclusivity(unchecked) private var version: UInt = 0
  /// How many messages have visited the board.
  @exclusivity(unchecked) private var came = 0

  init(_ core: MulticastCore) { self.core = core }

  deinit { closeBoard() }

  @usableFromInline
  func visit(_ selector: MessageSelector) -> MessageVisit {
    if let board, version == core.version.load(ordering: .acquiring),
      board._withUnsafeGuaranteedRef({ $0.epoch }) == TableEpoch.current,
      let route = board._withUnsafeGuaranteedRef({ $0.find(selector) })
    {
      came &+= 1
      return MessageVisit(route, of: board)
    }
    return visitFirst(selector)
  }

  /// Makes the route of a selector.
  @inline(never)
  private func visitFirst(_ selector: MessageSelector) -> MessageVisit {
    guard StackGuard.hasRoom else { return core.visit(selector) }
    let epoch = TableEpoch.current
    let route = core.ownRoute(selector, pinned: true)
    let next: RouteBoard
    if let board = board?.takeUnretainedValue(), version == route.version, board.epoch == epoch {
      next = board.enter(route) ? board : board.replacing(selector, with: route)
    } else {
      next = RouteBoard([route], epoch: epoch)
    }
    if board?.takeUnretainedValue() !== next {
      closeBoard()
      (board, version, came) = (.passRetained(next), route.version, 0)
    }
    came += 1
    return MessageVisit(.passUnretained(route), of: .passUnretained(next))
  }

  /// Messages that are on their way along the board keep it.
  private func closeBoard() {
    guard let board = board.take()?.takeUnretainedValue() else { return }
    if board.close(came: came) { _ = board.remove() }
  }
}
