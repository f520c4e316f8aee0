// Registration.swift: one target's place in a proxy, and its handle.

import Synchronization

/// One target's place in a proxy; also the handle that mutes or cancels it.
///
/// It does not retain its proxy, nor its target unless strong. Releasing the handle cancels nothing; ``scoped()`` gives one that
/// does.
public final class Registration: @unchecked Sendable {
  // `state` is atomic; `link` and `key` never change; `weakTarget` is written once, as said there; the rest is guarded by the lock
  // of `core`.

  /// The target of a weak or queued registration; waiting messages use it, so they do not keep a
  /// removed target alive.
  ///
  /// A strong, direct registration forms no weak reference, which would move the target's reference
  /// count to a side table and make counting expensive. If it becomes weak, it gets one under the
  /// lock, before any route that reads it is made.
  @usableFromInline @exclusivity(unchecked) weak var weakTarget: AnyObject?
  @usableFromInline let state = Atomic<UInt8>(0)
  /// Whether the list finds the target by this registration.
  var isFirst = false
  /// The priority. Guarded by the lock of `core`.
  var storedPriority: Int16 = 0
  private var slotNumber: UInt32 = 0
  /// The target's identity, also after its death.
  let key: ObjectIdentifier
  private let link: CoreLink

  /// The slot in the list's group of its priority.
  var slot: Int {
    get { Int(slotNumber) }
    set { slotNumber = UInt32(newValue) }
  }
  /// The target, if the proxy retains it.
  var strong: AnyObject?

  init(
    _ target: __shared AnyObject, core: __shared MulticastCore, strong: Bool, scope: Set<MessageSelector>?,
    queued: QueuedState? = nil, keepsSlot: Bool = false, livingAs subject: AnyObject? = nil, closure: Method? = nil
  ) {
    // Retains nothing but what is kept: the arguments are the caller's.
    self.weakTarget = strong && queued == nil ? nil : target
    self.strong = strong ? target : nil
    self.key = ObjectIdentifier(closure ?? target)
    let isPlain = scope == nil && queued == nil && !keepsSlot && subject == nil && closure == nil
    self.link =
      isPlain
      ? core.link
      : OwnLink(
        core.link, scope: scope, queued: queued, keepsSlot: keepsSlot, subject: subject, closure: closure)
  }

  /// A slot for a target that does not exist yet, identified by `owner`, which outlives it.
  init(slotOf owner: AnyObject, core: MulticastCore) {
    self.weakTarget = nil
    self.key = ObjectIdentifier(owner)
    self.link = OwnLink(core.link, scope: nil, queued: nil, keepsSlot: true)
    self.strong = nil
  }

  @usableFromInline static let mutedBit: UInt8 = 1
  @usableFromInline static let cancelledBit: UInt8 = 2
  private static let deadBit: UInt8 = 4

  var core: MulticastCore? { link.core }

  func belongs(to core: MulticastCore) -> Bool { link.base === core.link }

  /// Higher comes first; equal ones in the order in which they were added. Kept when the
  /// registration has ended. Between -32,768 and 32,767: what was given beyond that counts as the
  /// nearest of these.
  public var priority: Int { Int(core?.state.withLock { _ in storedPriority } ?? storedPriority) }

  /// Whether the proxy retains the target while the registration lasts.
  public var isStrong: Bool { core?.state.withLock { _ in strong != nil } ?? false }

  @export(implementation) @inline(__always)
  var isActive: Bool { state.load(ordering: .relaxed) == 0 }

  /// Whether a method of the target may start now.
  ///
  /// - Parameter isKept: whether a removed target still gets waiting messages.
  func mayStart(isKept: Bool) -> Bool { isActive || isKept && !isMuted }

  /// Whether the registration was cancelled, or its target removed.
  public var isCancelled: Bool { state.load(ordering: .acquiring) & Registration.cancelledBit != 0 }

  /// Whether it was cancelled, or its target found dead.
  var hasEnded: Bool { state.load(ordering: .acquiring) & ~Registration.mutedBit != 0 }

  /// Whether messages are kept from the target.
  public var isMuted: Bool { state.load(ordering: .acquiring) & Registration.mutedBit != 0 }

  /// Whether messages can still reach the target: not cancelled, target alive, proxy there; it may be muted.
  public var isLive: Bool { !isCancelled && core != nil && currentTarget != nil }

  /// The registered object or value; `nil` once the target is dead, the proxy gone or the registration cancelled.
  public var target: AnyObject? { liveTarget }

  /// What the registration needs for queued deliveries; `nil` when they are direct.
  var queued: QueuedState? { link.own?.queued }

  /// The selectors that the registration is for; `nil` for all that the target has.
  public var selectors: Set<MessageSelector>? {
    guard let own = link.own else { return nil }
    return core?.state.withLock { _ in own.scope } ?? own.scope
  }

  /// The former name of ``selectors``.
  @available(*, deprecated, renamed: "selectors")
  public var scope: Set<MessageSelector>? { selectors }

  /// Adds selectors to those that the registration is for, or makes it for all. Called under the
  /// lock of `core`.
  ///
  /// - Returns: whether that is a change.
  func widen(to scope: Set<MessageSelector>?) -> Bool {
    assert(isUnderLock, "a scope is guarded by the lock of the proxy")
    guard let own = link.own, let old = own.scope, !(scope?.isSubset(of: old) ?? false) else { return false }
    if let scope { own.scope?.formUnion(scope) } else { own.scope = nil }
    return true
  }

  /// Whether the slot in the order outlives the target, for another one.
  var keepsSlot: Bool { link.own?.keepsSlot ?? false }

  /// Ends the registration: the target gets no further message through it, not even from a broadcast on its way, except waiting
  /// ones if it was added with ``PendingDeliveries/deliverPending``. Senders that wait for room in its buffer continue. May be
  /// called repeatedly.
  @inline(never)
  public func cancel() {
    markCancelled()
    core?.change { state, garbage in _ = state.list.remove(self, garbage: &garbage) }
  }

  func markCancelled() { end(Registration.cancelledBit) }

  /// Notes that the target was found dead: existing routes skip it.
  func markDead() { end(Registration.deadBit) }

  @inline(never) private func end(_ bit: UInt8) {
    state.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    RoomWait.look(at: self)
  }

  /// Keeps messages from the target until ``unmute()``, also those of a broadcast on its way. Senders that wait for room in its
  /// buffer continue.
  public func mute() {
    state.bitwiseOr(Registration.mutedBit, ordering: .sequentiallyConsistent)
    RoomWait.look(at: self)
  }

  /// Lets messages through again.
  public func unmute() {
    state.bitwiseAnd(~Registration.mutedBit, ordering: .acquiringAndReleasing)
    core?.noteUnmuted()
  }

  /// A handle that cancels the registration when it is released.
  public func scoped() -> ScopedRegistration { ScopedRegistration(self) }

  /// The closure, if its owner is the target.
  var closure: Method? { link.own?.closure }

  /// The target, even if cancelled: a closure itself rather than its owner. `nil` once it, its
  /// owner, or the object that it stands for, is deallocated.
  @inline(never) var currentTarget: AnyObject? {
    guard let own = link.own else { return core?.target(of: self) }
    return own.isOver ? nil : core?.target(of: self).map { own.closure ?? $0 }
  }

  /// As above, for holders of the lock of `core`.
  var targetUnderLock: AnyObject? {
    assert(isUnderLock, "a strong target is guarded by the lock of the proxy")
    return strong ?? weakTarget
  }

  /// Whether the calling thread holds the lock of the proxy, or that is gone. For assertions.
  private var isUnderLock: Bool { core?.state.isHeld ?? true }

  /// The target if alive and not cancelled.
  @inline(never) var liveTarget: AnyObject? { isCancelled ? nil : currentTarget }

  /// Whether adding the same target like `other` returns this registration.
  func isLike(_ other: Registration) -> Bool {
    !isCancelled && (link === other.link || delivery == other.delivery)
  }

  /// Why its target is in no route for `selector`.
  func reasonToLeaveOut(_ selector: MessageSelector) -> DeliveryReport.SkipReason {
    isCancelled ? .removed : isMuted ? .muted : isFor(selector) ? .doesNotRespond : .outOfScope
  }

  @inline(never) func isFor(_ selector: MessageSelector) -> Bool { selectors?.contains(selector) ?? true }

  /// As above, for holders of the lock of `core`.
  func isForUnderLock(_ selector: MessageSelector) -> Bool {
    assert(isUnderLock, "a scope is guarded by the lock of the proxy")
    return link.own?.scope?.contains(selector) ?? true
  }
}

/// Cancels a registration when released.
///
///     // ends with `self`:
///     themes.on(.themesColorChanged) { … }.store(in: &listening)
///
/// A closure that only needs one object takes it as its owner instead:
/// `themes.on(.themesColorChanged, owner: self) { … }`.
public final class ScopedRegistration: Sendable {
  /// The registration.
  public let registration: Registration

  /// Takes a registration over.
  public init(_ registration: Registration) { self.registration = registration }

  deinit { registration.cancel() }
}

extension ScopedRegistration: Hashable {
  /// Whether both are the same handle.
  public static func == (left: ScopedRegistration, right: ScopedRegistration) -> Bool { left === right }
  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Registration {
  /// Adds a handle to `handles` that cancels the registration when it is released: removed from the
  /// set, or with it.
  public func store(in handles: inout Set<ScopedRegistration>) { handles.insert(scoped()) }
}

/// The way from all registrations of a proxy back to it: one shared weak reference.
class CoreLink: @unchecked Sendable {  // only read
  private weak let proxy: MulticastCore?

  init(_ proxy: MulticastCore?) { self.proxy = proxy }

  fileprivate var base: CoreLink { self }
  /// What this registration has of its own.
  fileprivate var own: OwnLink? { nil }

  final var core: MulticastCore? { base.proxy }

  static func at(_ address: UInt) -> Unmanaged<CoreLink> {
    guard let pointer = UnsafeRawPointer(bitPattern: address) else { preconditionFailure("no link has that address") }
    return .fromOpaque(pointer)
  }
}

/// The link of a registration with a scope, a queue, a reserved slot, a subject or an owner's
/// closure.
// `scope` is guarded by the lock of the core, the rest is immutable.
private final class OwnLink: CoreLink, @unchecked Sendable {
  private let shared: CoreLink
  var scope: Set<MessageSelector>?
  let queued: QueuedState?
  let keepsSlot: Bool
  private let hasSubject: Bool
  /// The object that the target stands for, whose life the registration shares.
  private weak let subject: AnyObject?
  let closure: Method?

  init(
    _ shared: CoreLink, scope: Set<MessageSelector>?, queued: QueuedState?, keepsSlot: Bool,
    subject: AnyObject? = nil, closure: Method? = nil
  ) {
    (self.shared, self.scope, self.queued, self.keepsSlot) = (shared, scope, queued, keepsSlot)
    self.closure = closure
    (self.subject, hasSubject) = (subject, subject != nil)
    super.init(nil)
  }

  override var base: CoreLink { shared }
  override var own: OwnLink? { self }

  /// Whether the subject is gone. Not to be asked under the lock: the loaded reference may be the last one.
  var isOver: Bool { hasSubject && subject == nil }
}

extension Registration: Hashable {
  /// Whether both are the same registration.
  public static func == (left: Registration, right: Registration) -> Bool { left === right }
  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Registration: CustomStringConvertible {
  /// For example `registration of Screen, priority 2, muted`.
  public var description: String {
    var words = ["registration of \(currentTarget.map { typeName(of: $0) } ?? "a dead target")"]
    let priority = priority
    if priority != 0 { words.append("priority \(priority)") }
    if let selectors { words.append("only " + inOrder(selectors.map(\.name)) { $0 }.joined(separator: " ")) }
    if let queued { words.append("\(queued.delivery)") }
    if isMuted { words.append("muted") }
    if isCancelled { words.append("cancelled") }
    return words.joined(separator: ", ")
  }
}
