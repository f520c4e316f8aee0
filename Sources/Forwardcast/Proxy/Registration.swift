// Registration.swift: one target's place in a proxy, and the handle that cancels it.
// Layer: Proxy. See DESIGN.md, "Registrations".

import Synchronization

/// One target's place in a proxy; also the handle that mutes or cancels it.
///
/// A registration does not keep its proxy alive, nor, unless it was made strong, its target. Letting the handle go
/// cancels nothing.
public final class Registration: @unchecked Sendable {
  // `weakTarget` and `extras` never change; `state` is atomic; the rest is guarded by the lock of `core`.

  /// The target of a weak registration. A strong one forms no weak reference: that would move the target's count of
  /// references aside and make every later one dear.
  @usableFromInline weak let weakTarget: AnyObject?
  @usableFromInline let state = Atomic<UInt8>(0)
  /// Whether the proxy keeps the target alive while the registration lasts.
  public let isStrong: Bool
  private var place: UInt32 = 0
  /// The identity of the target, which outlives it.
  let key: ObjectIdentifier
  private let link: CoreLink
  private let extras: Extras?

  /// Where the registration stands in its priority's part of the list.
  var slot: Int {
    get { Int(place) }
    set { place = UInt32(newValue) }
  }
  /// The next registration of the same target.
  var sibling: Registration?
  /// The target, when the proxy keeps it alive.
  var strong: AnyObject?

  /// What few registrations have.
  private struct Rare {
    var priority = 0
    var scope: Set<MessageSelector>?
    var queued: QueuedPart?
    var keepsPlace = false
  }
  private final class Extras: Sendable {
    let rare: Rare
    init(_ rare: Rare) { self.rare = rare }
  }

  init(
    _ target: AnyObject, core: MulticastCore, priority: Int, strong: Bool, scope: Set<MessageSelector>?,
    queued: QueuedPart? = nil, keepsPlace: Bool = false
  ) {
    self.weakTarget = strong ? nil : target
    self.key = ObjectIdentifier(target)
    self.link = core.link
    self.isStrong = strong
    self.strong = strong ? target : nil
    let isPlain = priority == 0 && scope == nil && queued == nil && !keepsPlace
    self.extras =
      isPlain ? nil : Extras(Rare(priority: priority, scope: scope, queued: queued, keepsPlace: keepsPlace))
  }

  /// A place for a target that does not exist yet; `owner` tells it from others and outlives it.
  init(placeOf owner: AnyObject, core: MulticastCore, priority: Int) {
    self.weakTarget = nil
    self.key = ObjectIdentifier(owner)
    self.link = core.link
    self.isStrong = false
    self.strong = nil
    self.extras = Extras(Rare(priority: priority, keepsPlace: true))
  }

  @usableFromInline static let mutedBit: UInt8 = 1
  @usableFromInline static let cancelledBit: UInt8 = 2

  private var core: MulticastCore? { link.core }

  /// Higher comes first; equal ones in the order in which they were added.
  public var priority: Int { extras?.rare.priority ?? 0 }

  /// Whether messages are let through.
  @inlinable @inline(__always)
  var isActive: Bool { state.load(ordering: .relaxed) == 0 }

  /// Whether the registration was cancelled, or its target removed.
  public var isCancelled: Bool { state.load(ordering: .acquiring) & Registration.cancelledBit != 0 }

  /// Whether messages are kept from the target at present.
  public var isMuted: Bool { state.load(ordering: .acquiring) & Registration.mutedBit != 0 }

  /// What the registration needs for deliveries on another context; `nil` when they are direct.
  var queued: QueuedPart? { extras?.rare.queued }

  /// The selectors that the registration is for, or `nil` for every selector that the target has.
  public var scope: Set<MessageSelector>? { extras?.rare.scope }

  /// Whether the place in the order stays when the target dies, for another to take.
  var keepsPlace: Bool { extras?.rare.keepsPlace ?? false }

  /// Ends the registration: the target gets no further message through it, not even later in a broadcast that is under
  /// way. Cancelling twice is harmless.
  public func cancel() {
    markCancelled()
    core?.forget([self])
  }

  func markCancelled() { state.bitwiseOr(Registration.cancelledBit, ordering: .acquiringAndReleasing) }

  /// Keeps messages from the target until ``unmute()``, from now on and also later in a broadcast that is under way.
  public func mute() { state.bitwiseOr(Registration.mutedBit, ordering: .acquiringAndReleasing) }

  /// Lets messages through again.
  public func unmute() {
    state.bitwiseAnd(~Registration.mutedBit, ordering: .acquiringAndReleasing)
    core?.noteUnmuted()
  }

  /// Who is registered; `nil` once it is gone.
  var target: AnyObject? { isStrong ? core?.strongTarget(of: self) : weakTarget }

  /// The same, for who holds the lock of `core`.
  var targetUnderLock: AnyObject? { strong ?? weakTarget }

  /// The target if it is alive and the registration is not cancelled.
  var liveTarget: AnyObject? { isCancelled ? nil : target }

  func isFor(_ selector: MessageSelector) -> Bool { scope?.contains(selector) ?? true }
}

/// The way from all registrations of a proxy back to it: one weak reference instead of one for each.
final class CoreLink: @unchecked Sendable {  // set once, before the core is used; then only read
  fileprivate weak var core: MulticastCore?

  func join(_ core: MulticastCore) { self.core = core }
}

extension Registration: Hashable {
  public static func == (left: Registration, right: Registration) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Registration: CustomStringConvertible {
  /// What is registered and how: `registration of Screen, priority 2, muted`.
  public var description: String {
    var words = ["registration of \(target.map { typeName(of: $0) } ?? "a dead target")"]
    if priority != 0 { words.append("priority \(priority)") }
    if let scope { words.append("only " + scope.map(\.name).sorted().joined(separator: " ")) }
    if let queued { words.append("\(queued.delivery)") }
    if isMuted { words.append("muted") }
    if isCancelled { words.append("cancelled") }
    return words.joined(separator: ", ")
  }
}
