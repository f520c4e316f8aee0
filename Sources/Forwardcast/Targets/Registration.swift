// Registration.swift: a target's registration with a proxy, and its handle.

import Synchronization

/// The options of a registration, as `add` and `on` get them.
package struct TargetOptions: Sendable {
  /// `nil` means 0, or the priority that the target already has.
  var priority: Int?
  var ownership: Ownership
  /// The target's selectors; `nil` for all.
  var scope: Set<MessageSelector>?
  var delivery: Delivery
  var buffer: DeliveryBuffer
  var pending: PendingDeliveries

  package init(
    priority: Int? = nil, ownership: Ownership = .weak, scope: Set<MessageSelector>? = nil,
    delivery: Delivery = .direct, buffer: DeliveryBuffer = .unbounded, pending: PendingDeliveries = .dropPending
  ) {
    (self.priority, self.ownership, self.scope) = (priority, ownership, scope)
    (self.delivery, self.buffer, self.pending) = (delivery, buffer, pending)
  }

  var clampedPriority: Int16 { Int16(clamping: priority ?? 0) }
}

/// A target's registration with a proxy, and the handle that mutes or cancels it.
///
/// Does not retain its proxy. Retains its target only if the registration is strong. Releasing the
/// handle does not cancel the registration. To cancel it on release, use ``scoped()``.
public final class Registration: @unchecked Sendable {
  // `state` is atomic; `link` and `key` are immutable; `weakTarget` is written once after `init`,
  // see below; everything else is guarded by the lock of `core`.

  /// A weak reference to the target. A strong, direct registration has none, since a weak reference
  /// would move the target's reference count to a side table, which makes retains slow. If the
  /// registration becomes weak, one is stored under the lock, before the next route is made.
  @usableFromInline @exclusivity(unchecked) weak var weakTarget: AnyObject?
  /// The bits below. Only the muted bit is ever cleared; the automatic bit is set by `init` only.
  @usableFromInline let state: Atomic<UInt8>
  /// True if this is the registration by which the list finds the target.
  var isFirst = false
  /// Guarded by the lock of `core`.
  var storedPriority: Int16 = 0
  /// The slot. When the registration leaves the list, the number of the core's change replaces the
  /// slot. Written under the lock of `core`.
  private let slotNumber = Atomic<UInt32>(0)
  /// The identity of the target, of its closure or of the object that it wraps, also after the
  /// deallocation of the target.
  let key: ObjectIdentifier
  private let link: CoreLink

  /// The index among the list's registrations of the same priority.
  var slot: Int {
    get { Int(slotNumber.load(ordering: .relaxed)) }
    set { slotNumber.store(UInt32(newValue), ordering: .relaxed) }
  }
  /// The target if the proxy retains it. Set to `nil` when the registration is removed.
  var strong: AnyObject?

  /// - Parameters:
  ///   - keepsSlot: true if the target's position outlives the target.
  ///   - subject: the object that the target wraps.
  init(
    _ target: __shared AnyObject, core: __shared MulticastCore, _ options: __shared TargetOptions,
    keepsSlot: Bool = false, livingAs subject: AnyObject? = nil, closure: Method? = nil
  ) {
    let queued = core.queuedState(options, for: closure ?? target, endingWith: target)
    // Retains only what is stored: the arguments are borrowed.
    self.weakTarget = options.ownership == .strong && queued == nil ? nil : target
    self.strong = options.ownership == .strong ? target : nil
    self.key = ObjectIdentifier(subject ?? closure ?? target)
    self.state = Atomic(queued?.turns == nil ? 0 : Registration.automaticBit)
    let isPlain = options.scope == nil && queued == nil && !keepsSlot && subject == nil && closure == nil
    self.link =
      isPlain
      ? core.link
      : OwnLink(
        core.link, scope: options.scope, queued: queued, keepsSlot: keepsSlot, subject: subject, closure: closure)
  }

  /// The options, for a registration that replaces this one.
  var options: TargetOptions {
    TargetOptions(
      priority: priority, ownership: isStrong ? .strong : .weak, scope: selectors, delivery: delivery, buffer: buffer,
      pending: queued?.pending ?? .dropPending)
  }

  /// A reserved position for a target that does not exist yet. `owner` identifies the position and
  /// must outlive the registration.
  init(slotOf owner: AnyObject, core: MulticastCore) {
    self.weakTarget = nil
    self.key = ObjectIdentifier(owner)
    self.state = Atomic(0)
    self.link = OwnLink(core.link, scope: nil, queued: nil, keepsSlot: true)
    self.strong = nil
  }

  @usableFromInline static let mutedBit: UInt8 = 1
  @usableFromInline static let cancelledBit: UInt8 = 2
  @usableFromInline static let deadBit: UInt8 = 4
  /// Set if the delivery is automatic; immutable.
  @usableFromInline static let automaticBit: UInt8 = 8
  /// Set when the registration leaves the list, except if it is only replaced at its position.
  @usableFromInline static let leftBit: UInt8 = 16
  /// Set when another registration takes this one's position. Messages that have begun still reach
  /// the target.
  @usableFromInline static let replacedBit: UInt8 = 32

  var core: MulticastCore? { link.core }

  func belongs(to core: MulticastCore) -> Bool { link.base === core.link }

  /// Targets with higher priorities are called first. Targets with equal priorities are called in
  /// the order of registration. Clamped to -32,768 … 32,767. Stays readable after the registration
  /// has ended.
  public var priority: Int { Int(core?.state.withLock { _ in storedPriority } ?? storedPriority) }

  /// True if the proxy retains the target.
  public var isStrong: Bool { core?.state.withLock { _ in strong != nil } ?? false }

  @export(implementation) @inline(__always)
  var isActive: Bool {
    state.load(ordering: .relaxed) & (Registration.mutedBit | Registration.cancelledBit | Registration.deadBit) == 0
  }

  /// True if a loop can call the target at once: it is active, not automatic and not replaced.
  @export(implementation) @inline(__always)
  var isActiveAnywhere: Bool { state.load(ordering: .relaxed) == 0 }

  /// True if a method of the target may start now; with `isKept`, also after a removal.
  func mayStart(isKept: Bool) -> Bool { isActive || isKept && !isMuted }

  /// True if the registration was canceled, or its target was removed or replaced.
  public var isCancelled: Bool {
    state.load(ordering: .acquiring) & (Registration.cancelledBit | Registration.replacedBit) != 0
  }

  /// True if messages that have begun must skip the target, since it was removed.
  var isRemoved: Bool { state.load(ordering: .acquiring) & Registration.cancelledBit != 0 }

  /// True if the registration was canceled or replaced, or its target was found to be dead.
  var hasEnded: Bool {
    state.load(ordering: .acquiring)
      & (Registration.cancelledBit | Registration.deadBit | Registration.replacedBit | Registration.leftBit) != 0
  }

  /// Records that the registration leaves the list. `change` is the number of the core's change.
  func leave(at change: UInt32) {
    assert(isUnderLock, "a list is guarded by the lock of the proxy")
    slotNumber.store(change, ordering: .relaxed)
    state.bitwiseOr(Registration.leftBit, ordering: .releasing)
  }

  /// True if the registration had ended before a message began. `begun` is the number of the core's
  /// changes when the message began. Such a message does not count or list the target.
  func ended(before begun: UInt) -> Bool {
    let bits = state.load(ordering: .acquiring)
    if bits & Registration.leftBit == 0 { return bits & Registration.deadBit != 0 }
    return Int32(bitPattern: UInt32(truncatingIfNeeded: begun) &- slotNumber.load(ordering: .relaxed)) >= 0
  }

  /// True if messages skip the target.
  public var isMuted: Bool { state.load(ordering: .acquiring) & Registration.mutedBit != 0 }

  /// True if the target is alive and the registration not canceled. The target may be muted.
  public var isLive: Bool { !isCancelled && core != nil && currentTarget != nil }

  /// The registered object or closure, or an object that wraps the registered value. `nil` after
  /// cancellation, or once the target, the closure's owner or the proxy is deallocated.
  public var target: AnyObject? { liveTarget }

  var queued: QueuedState? { link.own?.queued }

  /// Calls `body` with the queued state of an automatic registration, without reference counting.
  @inline(__always)
  func withAutomatic<T>(_ body: (QueuedState) -> T) -> T {
    assert(queued?.turns != nil, "the delivery is automatic")
    return Unmanaged.passUnretained(unsafeDowncast(link, to: OwnLink.self))._withUnsafeGuaranteedRef { own in
      Unmanaged.passUnretained(own.queued.unsafelyUnwrapped)._withUnsafeGuaranteedRef(body)
    }
  }

  var isAutomatic: Bool { state.load(ordering: .relaxed) & Registration.automaticBit != 0 }

  /// The selectors that the registration is limited to; `nil` for all.
  public var selectors: Set<MessageSelector>? {
    guard let own = link.own else { return nil }
    return core?.state.withLock { _ in own.scope } ?? own.scope
  }

  /// The former name of ``selectors``.
  @available(*, deprecated, renamed: "selectors")
  public var scope: Set<MessageSelector>? { selectors }

  /// Adds selectors to the limit; `nil` removes the limit. Returns true if the limit changed.
  func widen(to scope: Set<MessageSelector>?) -> Bool {
    assert(isUnderLock, "a scope is guarded by the lock of the proxy")
    guard let own = link.own, let old = own.scope, !(scope?.isSubset(of: old) ?? false) else { return false }
    if let scope { own.scope?.formUnion(scope) } else { own.scope = nil }
    return true
  }

  /// True if the position is kept for a new target after the target's deallocation.
  var keepsSlot: Bool { link.own?.keepsSlot ?? false }

  /// Ends the registration, also for messages being delivered. Queued messages still run if the
  /// target was added with ``PendingDeliveries/deliverPending``. Senders that wait for the target's
  /// buffer resume. May be called repeatedly.
  @inline(never)
  public func cancel() {
    let isFirst = setCancelled()
    RoomWait.look(at: self)
    guard let core else {
      // The proxy's `deinit` released the listed targets. A replaced registration is not listed.
      if isFirst, state.load(ordering: .acquiring) & Registration.replacedBit != 0 { strong = nil }
      return
    }
    core.change { state, garbage in
      _ = state.list.remove(self, garbage: &garbage)
      // A replaced registration has left the list, but may still retain its target.
      garbage.keep(strong)
      strong = nil
    }
  }

  func markCancelled() { end(Registration.cancelledBit) }

  /// Sets the canceled bit. Returns true for the first caller. Each caller then calls
  /// ``RoomWait/look(at:)``, without a lock.
  @discardableResult
  func setCancelled() -> Bool {
    let old = state.bitwiseOr(Registration.cancelledBit, ordering: .sequentiallyConsistent).oldValue
    return old & Registration.cancelledBit == 0
  }

  func markReplaced() { state.bitwiseOr(Registration.replacedBit, ordering: .sequentiallyConsistent) }

  /// Records that the target was found dead, so existing routes skip it.
  func markDead() { end(Registration.deadBit) }

  @inline(never) private func end(_ bit: UInt8) {
    state.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    RoomWait.look(at: self)
  }

  /// Skips the target until ``unmute()``, also in messages being delivered. Senders that wait for
  /// the target's buffer resume.
  public func mute() {
    state.bitwiseOr(Registration.mutedBit, ordering: .sequentiallyConsistent)
    RoomWait.look(at: self)
  }

  /// Ends the effect of ``mute()``.
  public func unmute() {
    state.bitwiseAnd(~Registration.mutedBit, ordering: .acquiringAndReleasing)
    core?.noteUnmuted()
  }

  /// A handle that cancels the registration when released.
  public func scoped() -> ScopedRegistration { ScopedRegistration(self) }

  /// The registered closure, if it has an owner. The owner is then the target.
  var closure: Method? { link.own?.closure }

  /// The target, even if the registration is canceled. For a closure, this is the closure itself.
  /// `nil` once the target, the closure's owner, the wrapped object or the proxy is deallocated.
  @inline(never) var currentTarget: AnyObject? {
    guard let own = link.own else { return core?.target(of: self) }
    return own.isOver ? nil : core?.target(of: self).map { own.closure ?? $0 }
  }

  var targetUnderLock: AnyObject? {
    assert(isUnderLock, "a strong target is guarded by the lock of the proxy")
    return strong ?? weakTarget
  }

  /// For assertions: true if this thread holds the proxy's lock, or the proxy is deallocated.
  private var isUnderLock: Bool { core?.state.isHeld ?? true }

  @inline(never) var liveTarget: AnyObject? { isCancelled ? nil : currentTarget }

  /// The live target, or the object that it wraps.
  var liveSubject: AnyObject? { liveTarget.map { link.own?.subject ?? $0 } }

  /// True if the target wraps another object.
  var isWrapper: Bool { link.own?.hasSubject ?? false }

  /// True if `other`, a registration of the same target, is a duplicate of this registration.
  func isLike(_ other: Registration) -> Bool {
    !isCancelled && (link === other.link || !isWrapper && !other.isWrapper && delivery == other.delivery)
  }

  /// The skip reason that a report gives if no route of `selector` includes the target.
  func reasonToLeaveOut(_ selector: MessageSelector) -> DeliveryReport.SkipReason {
    isCancelled ? .removed : isMuted ? .muted : isFor(selector) ? .doesNotRespond : .outOfScope
  }

  @inline(never) func isFor(_ selector: MessageSelector) -> Bool { selectors?.contains(selector) ?? true }

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
/// For a closure that needs a single object, pass the object as the owner instead:
/// `themes.on(.themesColorChanged, owner: self) { … }`.
public final class ScopedRegistration: Sendable {
  /// The registration.
  public let registration: Registration

  /// Cancels `registration` when this handle is released.
  public init(_ registration: Registration) { self.registration = registration }

  deinit { registration.cancel() }
}

extension ScopedRegistration: Hashable {
  /// True if `left` and `right` are the same handle.
  public static func == (left: ScopedRegistration, right: ScopedRegistration) -> Bool { left === right }
  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Registration {
  /// Adds to `handles` a handle that cancels the registration when the handle is released.
  public func store(in handles: inout Set<ScopedRegistration>) { handles.insert(scoped()) }
}

/// A weak reference to the proxy, shared by its registrations.
class CoreLink: @unchecked Sendable {  // only read
  private weak let proxy: MulticastCore?

  init(_ proxy: MulticastCore?) { self.proxy = proxy }

  fileprivate var base: CoreLink { self }
  fileprivate var own: OwnLink? { nil }

  final var core: MulticastCore? { base.proxy }

  static func at(_ address: UInt) -> Unmanaged<CoreLink> {
    guard let pointer = UnsafeRawPointer(bitPattern: address) else { preconditionFailure("no link has that address") }
    return .fromOpaque(pointer)
  }
}

/// The link of a registration with rarely used properties: a limit of selectors, a delivery, a
/// reserved position, an object whose deallocation ends the registration, or a closure that the
/// target owns.
// `scope` is guarded by the lock of the core, the rest is immutable.
private final class OwnLink: CoreLink, @unchecked Sendable {
  private let shared: CoreLink
  var scope: Set<MessageSelector>?
  let queued: QueuedState?
  let keepsSlot: Bool
  let hasSubject: Bool
  /// The object that the target wraps. Its deallocation ends the registration.
  weak let subject: AnyObject?
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

  /// True if the subject was deallocated. Not called under the lock, since this may release the
  /// last reference, which would run a `deinit`.
  var isOver: Bool { hasSubject && subject == nil }
}

extension Registration: Hashable {
  /// True if `left` and `right` are the same registration.
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
    if isCancelled { words.append("canceled") }
    return words.joined(separator: ", ")
  }
}
