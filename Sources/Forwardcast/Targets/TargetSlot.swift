// TargetSlot.swift: slots in the delivery order for lazily created targets.

extension MulticastCore {
  /// Registers `target` weakly; `nil` if it is already registered.
  package func addUnlessThere(_ target: AnyObject, _ options: TargetOptions) -> Registration? {
    let new = Registration(target, core: self, options)
    let canAnswer = table != nil || canAnswer(target)
    defer { if !canAnswer, onError != nil { tellUnreachable() } }
    return change { state, garbage in
      if live(new.key, state, &garbage) != nil {
        garbage.keep(new)
        return nil
      }
      state.list.add(new, priority: options.clampedPriority, garbage: &garbage)
      if !canAnswer { state.noteUnreachable(new, &garbage) }
      return new
    }
  }

  /// Reserves the next slot in the order for a target that does not exist yet.
  package func reserveSlot(_ options: TargetOptions) -> TargetSlot {
    let slot = TargetSlot(self, options)
    return change { state, garbage in
      state.list.add(slot.registration, priority: options.clampedPriority, garbage: &garbage)
      return slot
    }
  }

  /// Registers `target` weakly in a slot, in place of the previous target. If the previous target
  /// was removed from the proxy, `target` is appended to the order instead. Returns `nil` if the
  /// slot was given up, or if `target` is already registered or older than the previous target.
  package func fill(_ slot: TargetSlot, with target: AnyObject, version: SlotVersion?) -> Registration? {
    let new = Registration(target, core: self, slot.options, keepsSlot: true)
    let vacant = Registration(slotOf: slot.identity, core: self)
    let (made, ended) = change { state, garbage -> (Registration?, Registration?) in
      for registration in [new, vacant, slot.registration, slot.served] {
        if let registration { garbage.keep(registration) }
      }
      if slot.isGivenUp { return (nil, nil) }
      if let version {
        if let seen = slot.version, seen.isNewer(than: version) { return (nil, nil) }
        slot.version = version
      }
      let old = slot.served?.targetUnderLock
      if let old { garbage.keep(old) }
      if old === target { return (nil, nil) }
      let there = live(new.key, state, &garbage)
      let next = there == nil ? new : vacant
      slot.served = there ?? new
      let ended = slot.registration
      ended.setCancelled()
      if !state.list.replace(slot.registration, with: next, garbage: &garbage) {
        state.list.add(next, priority: slot.options.clampedPriority, garbage: &garbage)
      }
      slot.registration = next
      return (there == nil ? new : nil, ended)
    }
    if let ended { RoomWait.look(at: ended) }
    return made
  }

  package func giveUp(_ slot: TargetSlot) {
    let ended = change { state, garbage in
      slot.isGivenUp = true
      slot.registration.setCancelled()
      _ = state.list.remove(slot.registration, garbage: &garbage)
      return slot.registration
    }
    RoomWait.look(at: ended)
  }

  package func registration(in slot: TargetSlot) -> Registration { state.withLock { _ in slot.registration } }

  /// The latest target of a slot, if alive, even if no longer registered.
  package func target(of slot: TargetSlot) -> AnyObject? { state.withLock { _ in slot.served?.targetUnderLock } }

  package func version(of slot: TargetSlot) -> SlotVersion? { state.withLock { _ in slot.version } }

  /// The registration of a target, if the target is alive and the registration is not canceled.
  private func live(_ key: ObjectIdentifier, _ state: State, _ garbage: inout Garbage) -> Registration? {
    for registration in state.list.registrations(of: key) where !registration.isCancelled && !registration.isWrapper {
      if let alive = registration.targetUnderLock {
        garbage.keep(alive)
        return registration
      }
    }
    return nil
  }
}

/// A slot in one proxy's order for a target that is created later, possibly repeatedly.
package final class TargetSlot: @unchecked Sendable {  // what changes is guarded by the lock of the core
  fileprivate let options: TargetOptions
  /// Identifies the slot's registrations while it has no target.
  fileprivate final class Identity: Sendable {}
  fileprivate let identity = Identity()
  /// The slot's entry in the list. It has no target until one is created.
  fileprivate var registration: Registration
  /// The latest target's registration. If the target was registered before, this registration is
  /// not in the slot.
  fileprivate var served: Registration?
  fileprivate var version: SlotVersion?
  fileprivate var isGivenUp = false

  fileprivate init(_ core: MulticastCore, _ options: TargetOptions) {
    self.options = options
    registration = Registration(slotOf: identity, core: core)
  }
}

/// The age of a target: its source's number, and the source's generation at the target's creation.
package struct SlotVersion: Hashable, Sendable {
  let source: UInt
  let generation: UInt

  package init(source: UInt, generation: UInt) { (self.source, self.generation) = (source, generation) }

  func isNewer(than other: SlotVersion) -> Bool { source == other.source && generation > other.generation }
}
