// MulticastCore+Places.swift: places in the order for targets that are made later.
// Layer: Proxy. See DESIGN.md, "Extension points".

extension MulticastCore {
  /// Registers `target` weakly, or gives `nil` when it is registered already.
  func addUnlessThere(
    _ target: AnyObject, priority: Int, scope: Set<MessageSelector>?, queued: QueuedPart? = nil
  ) -> Registration? {
    let new = Registration(target, core: self, priority: priority, strong: false, scope: scope, queued: queued)
    return change { state, garbage in
      if live(new.key, state, &garbage) != nil {
        garbage.keep(new)
        return nil
      }
      state.list.add(new, garbage: &garbage)
      return new
    }
  }

  /// Takes the next place in the order for a target that does not exist yet.
  func reservePlace(priority: Int, scope: Set<MessageSelector>?, delivery: Delivery) -> ReservedPlace {
    let place = ReservedPlace(self, priority: priority, scope: scope, delivery: delivery)
    return change { state, garbage in
      state.list.add(place.registration, garbage: &garbage)
      return place
    }
  }

  /// Registers `target` weakly in a place that was reserved, from which whoever had it goes; at the end when that one gave
  /// the place up by unregistering. A target that is registered already stays where it is; one that was put here before
  /// and has unregistered stays out.
  ///
  /// - Parameter stamp: how new the target is; an older one than was put here before changes nothing.
  /// - Returns: the registration in that place, or `nil` when the target did not take it.
  func fill(_ place: ReservedPlace, with target: AnyObject, stamp: PlaceStamp?) -> Registration? {
    let new = Registration(
      target, core: self, priority: place.priority, strong: false, scope: place.scope,
      queued: queuedPart(place.delivery, .unbounded, .dropPending), keepsPlace: true)
    let vacant = Registration(placeOf: place.identity, core: self, priority: place.priority)
    return change { state, garbage in
      for registration in [new, vacant, place.registration, place.served] {
        if let registration { garbage.keep(registration) }
      }
      if place.isGivenUp { return nil }
      if let stamp {
        if let seen = place.stamp, seen.isNewer(than: stamp) { return nil }
        place.stamp = stamp
      }
      let old = place.served?.targetUnderLock
      if let old { garbage.keep(old) }
      if old === target { return nil }
      let there = live(new.key, state, &garbage)
      let next = there == nil ? new : vacant
      place.served = there ?? new
      place.registration.markCancelled()
      if !state.list.replace(place.registration, with: next, garbage: &garbage) {
        state.list.add(next, garbage: &garbage)
      }
      place.registration = next
      return there == nil ? new : nil
    }
  }

  /// Gives back a place, with the target that has it.
  func giveUp(_ place: ReservedPlace) {
    change { state, garbage in
      place.isGivenUp = true
      place.registration.markCancelled()
      _ = state.list.remove(place.registration, garbage: &garbage)
    }
  }

  /// The registration that stands in a place, with a target or without.
  func registration(in place: ReservedPlace) -> Registration { state.withLock { _ in place.registration } }

  /// How new the target is that was put in a place.
  func stamp(of place: ReservedPlace) -> PlaceStamp? { state.withLock { _ in place.stamp } }

  /// The registration of a target that is alive and not cancelled.
  private func live(_ key: ObjectIdentifier, _ state: State, _ garbage: inout Garbage) -> Registration? {
    for registration in state.list.registrations(of: key) where !registration.isCancelled {
      if let alive = registration.targetUnderLock {
        garbage.keep(alive)
        return registration
      }
    }
    return nil
  }
}

/// A place in the order of one proxy, kept for a target that is made later, and again when it has gone.
final class ReservedPlace: @unchecked Sendable {  // what changes is guarded by the lock of the core
  let priority: Int
  let scope: Set<MessageSelector>?
  let delivery: Delivery
  /// Tells registrations without target from those of other places.
  fileprivate final class Identity: Sendable {}
  fileprivate let identity = Identity()
  /// What stands in the list: without target until there is one.
  fileprivate var registration: Registration
  /// The registration of who was last put here; it stands elsewhere when that one was registered before.
  fileprivate var served: Registration?
  fileprivate var stamp: PlaceStamp?
  fileprivate var isGivenUp = false

  fileprivate init(_ core: MulticastCore, priority: Int, scope: Set<MessageSelector>?, delivery: Delivery) {
    (self.priority, self.scope, self.delivery) = (priority, scope, delivery)
    registration = Registration(placeOf: identity, core: core, priority: priority)
  }
}

/// How new a target is: from which source, and how much that had changed when it was taken from there.
struct PlaceStamp: Hashable, Sendable {
  let source: UInt
  let generation: UInt

  func isNewer(than other: PlaceStamp) -> Bool { source == other.source && generation > other.generation }
}
