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
  func reservePlace(for owner: AnyObject, priority: Int) -> Registration {
    let place = Registration(placeOf: owner, core: self, priority: priority)
    return change { state, garbage in
      state.list.add(place, garbage: &garbage)
      return place
    }
  }

  /// Registers `target` weakly in a place that was reserved, from which whoever had it goes; at the end when the place was
  /// given up. A target that is registered already stays where it is.
  ///
  /// - Returns: the place from now on, and the target's registration.
  func fill(_ place: Registration, with target: AnyObject, scope: Set<MessageSelector>?, queued: QueuedPart?)
    -> (place: Registration, registration: Registration)
  {
    let new = Registration(
      target, core: self, priority: place.priority, strong: false, scope: scope, queued: queued, keepsPlace: true)
    return change { state, garbage in
      if let there = live(new.key, state, &garbage) {
        garbage.keep(new)
        return (there.keepsPlace ? there : place, there)
      }
      place.markCancelled()
      if !state.list.replace(place, with: new, garbage: &garbage) { state.list.add(new, garbage: &garbage) }
      return (new, new)
    }
  }

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
