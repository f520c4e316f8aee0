// PinnedMulticast.swift: targets held for a burst of messages.

/// A multicast proxy during ``MulticastProxy/pinned(_:)``: its targets cannot die, so messages cost what they cost with strong
/// targets.
public struct PinnedMulticast<Interface>: MulticastSending {
  @usableFromInline let pins: Pins

  /// Who would get a message of `selector`; the targets are retained.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { pins.visit(selector).kept }

  /// Who gets a message that begins now.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { pins.visit(selector) }
}

extension MulticastHolding {
  /// Retains the targets for a burst of messages: a weak one is loaded once for each selector, not for each message.
  ///
  ///     themes.pinned { themes in
  ///       for color in rainbow { themes.broadcast(.themesColorChanged, color) }
  ///     }
  ///
  /// Otherwise as without: removed or muted targets are skipped, an added one gets the next message. Targets are released when
  /// `body` ends or the targets change. A nested multicast is retained, its own targets are not.
  ///
  /// - Parameter body: gets the proxy to send through, and must not keep it.
  public func pinned<T>(_ body: (PinnedMulticast<Interface>) throws -> T) rethrows -> T {
    try body(PinnedMulticast(pins: Pins(core)))
  }
}

/// The routes of one burst, which retain their targets. Stays with the caller of `pinned`.
@usableFromInline
final class Pins {
  let core: MulticastCore
  // Used in one turn at a time: `body` does not keep its parameter.
  @exclusivity(unchecked) private var board: Unmanaged<RouteBoard>?

  init(_ core: MulticastCore) { self.core = core }

  deinit { board?._withUnsafeGuaranteedRef { $0.add(-1) } }

  @usableFromInline
  func visit(_ selector: MessageSelector) -> MessageVisit {
    guard let board, let route = board.route(of: selector, core.changes) else { return visitFirst(selector) }
    return board.visit(along: route)
  }

  @inline(never)
  private func visitFirst(_ selector: MessageSelector) -> MessageVisit {
    guard StackGuard.hasRoom else { return core.visit(selector) }
    let epoch = TableEpoch.current
    let route = core.ownRoute(selector, pinned: true)
    var next = RouteBoard([route], epoch: epoch)
    // All routes of a board are for one version of the target list.
    if let board = board?.takeUnretainedValue(), board.epoch == epoch, board.all[0].version == route.version {
      let others = board.all.filter { $0.selector != selector }
      next = board.enter(route) ? board : RouteBoard(others + [route], epoch: epoch)
    }
    if next !== board?.takeUnretainedValue() {
      next.add(1)
      // Messages on their way keep the old one.
      exchange(&board, with: .passRetained(next))?._withUnsafeGuaranteedRef { $0.add(-1) }
    }
    return Unmanaged.passUnretained(next).visit(along: .passUnretained(route))
  }
}
