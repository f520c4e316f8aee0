// MulticastCore+Replacing.swift: replaces a target while messages are being delivered.

extension MulticastCore {
  /// Replaces the registrations of a target at their positions. Returns their number.
  ///
  /// Replaced registrations stay active, so messages that have begun still reach the old target.
  ///
  /// - Parameter retains: true if the proxy must retain the new target, because it is a value.
  func replace(_ old: AnyObject, with target: AnyObject, retains: Bool) -> Int {
    if old === target { return 0 }
    let canAnswer = table != nil || canAnswer(target)
    defer { if !canAnswer, onError != nil { tellUnreachable() } }
    var count = 0
    for registration in registrations(of: old) where registration.liveTarget === old {
      var options = registration.options
      if retains { options.ownership = .strong }
      let new = Registration(target, core: self, options)
      if registration.isMuted { new.mute() }
      let isReplaced = change { state, garbage in
        guard state.list.contains(registration) else { return false }
        var isDuplicate = false
        if !allowsDuplicates, let there = state.list.registration(like: new)?.targetUnderLock {
          garbage.keep(there)
          isDuplicate = true
        }
        registration.markReplaced()
        let strong = registration.strong
        if isDuplicate {
          _ = state.list.remove(registration, garbage: &garbage)
          // A weak target's step would stay in routes and be active, so all routes are dropped. No
          // step of a strong target then remains to be released.
          state.list.noteChanged()
          garbage.released = []
        } else {
          _ = state.list.replace(registration, with: new, garbage: &garbage)
          if !canAnswer { state.noteUnreachable(new, &garbage) }
        }
        // A route retains the strong target of a direct registration for its messages. Queued
        // messages do not retain a target, so a queued registration still does.
        registration.strong = registration.queued == nil ? nil : strong
        garbage.keep(strong)
        return true
      }
      if isReplaced { count += 1 }
    }
    return count
  }
}
