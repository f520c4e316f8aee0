// PinnedMulticast.swift: targets retained for a burst of messages.

/// The proxy that ``MulticastHolding/pinned(_:)`` passes to its closure. It retains the targets, so
/// messages cost as much as with strong targets.
public struct PinnedMulticast<Interface>: MulticastSending {
  @usableFromInline let pins: Pins

  /// The receivers of a message of `selector`, retained.
  @inlinable
  public func route(for selector: MessageSelector) -> MessageRoute { pins.visit(selector).kept }

  /// The receivers of a message that is about to be sent.
  @inlinable
  public func visit(_ selector: MessageSelector) -> MessageVisit { pins.visit(selector) }
}

extension MulticastHolding {
  /// Retains the targets for a burst of messages, and loads each weak target only once per
  /// selector.
  ///
  ///     themes.pinned { themes in
  ///       for color in rainbow { themes.broadcast(.themesColorChanged, color) }
  ///     }
  ///
  /// Removed or muted targets are skipped, and an added target gets the next message. Targets are
  /// released when `body` ends, or by the next message after a change of the list of targets.
  /// Targets of nested multicasts are not retained.
  ///
  /// - Parameter body: receives the pinned proxy to send through. The pinned proxy must not escape.
  public func pinned<T>(_ body: (PinnedMulticast<Interface>) throws -> T) rethrows -> T {
    try body(PinnedMulticast(pins: Pins(core)))
  }
}

/// The routes of one burst, which retain their targets. Used only in the `body` of `pinned`.
@usableFromInline
final class Pins {
  let core: MulticastCore
  // Never used concurrently: `body` does not let its parameter escape.
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
    // All routes of a board have the same version of the target list.
    if let board = board?.takeUnretainedValue(), board.epoch == epoch, board.all[0].version == route.version {
      let others = board.all.filter { $0.selector != selector }
      next = board.enter(route) ? board : RouteBoard(others + [route], epoch: epoch)
    }
    if next !== board?.takeUnretainedValue() {
      next.add(1)
      // Running messages retain the old board.
      exchange(&board, with: .passRetained(next))?._withUnsafeGuaranteedRef { $0.add(-1) }
    }
    return Unmanaged.passUnretained(next).visit(along: .passUnretained(route))
  }
}
