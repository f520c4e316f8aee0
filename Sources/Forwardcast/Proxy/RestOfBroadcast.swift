// RestOfBroadcast.swift: what a typed broadcast does beside calling typed methods.
// Layer: Proxy. See DESIGN.md, "Two doors".

/// The slow half of one typed broadcast: boxes, errors, counts. Kept out of the loop that calls typed methods, so that
/// the loop stays in registers.
@usableFromInline
struct RestOfBroadcast {
  @usableFromInline var boxes: [ArgumentBox]?
  @usableFromInline var dead = 0
  @usableFromInline var skipped = 0
  @usableFromInline var failed = 0
  @usableFromInline var silent = 0

  /// Whether the arguments are known to be `Sendable`: a target that forwards may have to know.
  @usableFromInline let crosses: Bool

  @inlinable
  init(crosses: Bool) { self.crosses = crosses }

  /// Serves a step that the typed door does not fit. `true` when the broadcast is to end.
  @usableFromInline
  mutating func serve<each A>(
    _ step: RouteStep, _ arguments: Arguments<repeat each A>, _ selector: MessageSelector, _ core: MulticastCore,
    through proxy: AnyObject
  ) -> Bool {
    guard step.isActive else {
      skipped += 1
      return false
    }
    guard let target = step.target else {
      dead += 1
      return false
    }
    let boxes = self.boxes ?? arguments.boxes(crossing: crosses)
    self.boxes = boxes
    do {
      if try core.sendBoxes(boxes, selector, step, target, through: proxy) == nil { silent += 1 }
      return false
    } catch {
      return fail(error, step, selector, core)
    }
  }

  /// Reports a target's error. `true` when the broadcast is to end.
  @usableFromInline
  mutating func fail(
    _ error: any Error, _ step: RouteStep, _ selector: MessageSelector, _ core: MulticastCore
  ) -> Bool {
    failed += 1
    return core.report(error, selector, step)
  }

  /// Cleans up after the walk and counts it.
  @inlinable @inline(__always)
  func end(
    _ walk: RouteWalk, reached: Int, _ selector: MessageSelector, _ core: MulticastCore, through proxy: AnyObject
  ) -> BroadcastSummary {
    // The steps that were walked live as long as their route.
    defer { withExtendedLifetime(walk.route) {} }
    if dead &+ skipped > 0 { core.end(walk, dead: dead, skipped: skipped) }
    let summary = BroadcastSummary(
      delivered: reached &- dead &- skipped &- failed &- silent, failed: failed, skipped: dead &+ skipped)
    if summary.nobodyResponded { core.silence(selector, proxy) }
    return summary
  }
}

extension Arguments {
  /// Each argument in a box.
  @usableFromInline
  var boxes: [ArgumentBox] { boxes(crossing: false) }

  /// Each argument in a box.
  ///
  /// - Parameter crosses: whether all of them are known to be `Sendable`.
  @usableFromInline
  func boxes(crossing crosses: Bool) -> [ArgumentBox] {
    var boxes: [ArgumentBox] = []
    for value in repeat each values { boxes.append(ArgumentBox(storage: value, isSendable: crosses)) }
    return boxes
  }
}
