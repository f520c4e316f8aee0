// MulticastCore+Routes.swift: finds and makes routes.

extension MulticastCore {
  /// The route of a message that begins now, valid until the returned visit ends.
  @usableFromInline
  func visit(_ selector: MessageSelector) -> MessageVisit {
    if StackGuard.hasRoom, let visit = visitBoard(selector) { return visit }
    return visitUnderLock(selector)
  }

  @inline(never)
  private func visitUnderLock(_ selector: MessageSelector) -> MessageVisit { MessageVisit(beginUnderLock(selector)) }

  /// Finds the route without the lock. Returns `nil` if there is no board or valid route, or if the
  /// board has too many visits.
  @inline(__always)
  func visitBoard(_ selector: MessageSelector) -> MessageVisit? {
    let entered = BoardWord(bits: word.wrappingAdd(BoardWord.one, ordering: .acquiring).oldValue)
    guard let board = entered.board, !entered.isCrowded, let route = board.route(of: selector, version) else {
      // Without a board, the count has no effect.
      if entered.board != nil { leaveAmongOthers(entered, entered) }
      return nil
    }
    // The route's core is `self`; loading it from the route takes fewer instructions.
    let visited = route._withUnsafeGuaranteedRef { Unmanaged<Visited>.passUnretained($0.core) }
    return MessageVisit(route, of: visited, entered, begun: changes.load(ordering: .relaxed))
  }

  /// The retained route with its current steps, for queries and for messages without a loop.
  @usableFromInline
  func begin(_ selector: MessageSelector) -> MessageRoute { visit(selector).kept }

  @inline(never)
  func beginUnderLock(_ selector: MessageSelector) -> MessageRoute {
    guard StackGuard.hasRoom else { return refused(selector, StackGuard.tooDeep(selector, receiver: self)) }
    let epoch = TableEpoch.current
    let ready = state.withLock { state -> MessageRoute? in
      guard let route = current(selector, epoch, state), route.isValid(for: version.load(ordering: .relaxed)) else {
        return nil
      }
      return MessageRoute(route, count: route.count)
    }
    return ready ?? makeRoute(selector)
  }

  /// The board's route of a selector, if it is valid or can be extended.
  private func current(_ selector: MessageSelector, _ epoch: UInt, _ state: borrowing State) -> Route? {
    self.state.assertHeld()
    guard let board = state.board, board.epoch == epoch else { return nil }
    return board.find(selector)?.takeUnretainedValue()
  }

  @inline(never)
  private func refused(_ selector: MessageSelector, _ error: any Error) -> MessageRoute {
    let prelude = MessagePrelude(refusal: error)
    return MessageRoute(
      Route(self, selector, steps: RouteSteps(), prelude: prelude), count: 0)
  }

  /// Makes or extends a route. Tables are queried outside the lock. If the list changes during the
  /// queries, the attempt is repeated. After several attempts, the result is a route for this
  /// message only.
  func makeRoute(_ selector: MessageSelector) -> MessageRoute {
    if selector == .ofNobody {
      return MessageRoute(Route(self, selector, steps: RouteSteps()), count: 0)
    }
    if state.withLock({ !($0.rest?.unreachable.isEmpty ?? true) }) { tellUnreachable() }
    for _ in 0..<8 {
      let epoch = TableEpoch.current
      // Read under one lock, since another message may be extending the route.
      let (found, seen, around, isNew) = state.withLock { state in
        let (old, seen) = (current(selector, epoch, state), RouteSource(self))
        let found = old.map { state.list.joined(in: seen.version &- $0.version).map { Candidate($0, selector) } }
        return (
          UncheckedSendable(found ?? state.list.map { Candidate($0, selector) }), seen,
          old == nil ? state.rest?.around(selector) : nil, old == nil
        )
      }
      let candidates = found.value
      if candidates.count >= MulticastCore.fewRegistrations {
        do { try ProxyQuestion.charge(.passed, candidates.count) } catch { return refused(selector, error) }
      }
      let steps = steps(candidates, selector)
      if isNew {
        let surroundings = around.flatMap { RouteSurroundings(hooks: $0, trace: $1) }
        let route = Route(self, selector, version: seen.version, steps: steps, around: surroundings)
        if let found = publish(route, epoch, seen) { return found }
      } else {
        if let found = extend(selector, epoch, seen, by: steps, of: candidates.count) { return found }
        for step in steps.list { step.release() }
      }
    }
    let own = ownRoute(selector)
    return MessageRoute(own, count: own.count)
  }

  private struct RouteSource: Equatable {
    let version: UInt
    let changes: UInt

    init(_ core: MulticastCore) {
      core.state.assertHeld()
      (version, changes) = (core.version.load(ordering: .relaxed), core.changes.load(ordering: .relaxed))
    }
  }

  /// Adds the steps of the latest registrations to the published route, in place if possible.
  /// `joined` is the number of these registrations. Returns `nil` if the list has changed.
  private func extend(
    _ selector: MessageSelector, _ epoch: UInt, _ seen: RouteSource, by more: RouteSteps, of joined: Int
  ) -> MessageRoute? {
    change { state, garbage in
      guard !state.isClosed, RouteSource(self) == seen, let board = state.board, board.epoch == epoch,
        let found = board.find(selector),
        seen.version &- found._withUnsafeGuaranteedRef({ $0.version }) == joined
      else { return nil }
      state.list.patches = 0
      let isExtended = found._withUnsafeGuaranteedRef { $0.extend(by: more, to: seen.version) }
      if !isExtended {
        // No message has used a stale route, but a query may be reading it.
        let isStale = found._withUnsafeGuaranteedRef(\.isStale)
        let isUnused = isStale && board.isOnlyOwner(of: found)
        let hooks = isStale ? surroundings(of: selector, state) : nil
        let grown = found._withUnsafeGuaranteedRef {
          $0.grown(by: more, to: seen.version, around: isStale ? hooks : $0.around, isUnused: isUnused)
        }
        replace(with: grown, &state, &garbage)
      }
      return current(selector, epoch, state).map { MessageRoute($0, count: $0.count) }
    }
  }

  /// Publishes a route on the board, or on a new one. Returns `nil` if the list has changed.
  private func publish(_ route: Route, _ epoch: UInt, _ seen: RouteSource) -> MessageRoute? {
    change { state, garbage in
      guard !state.isClosed, RouteSource(self) == seen else { return nil }
      if let board = state.board, board.epoch == epoch {
        // Another message may have published a route of this selector before the lock was taken.
        if board.find(route.selector) != nil {
          replace(with: route, &state, &garbage)
        } else if !board.enter(route) {
          put(RouteBoard(board.all + [route], epoch: epoch), &state, &garbage)
        }
      } else {
        put(RouteBoard([route], epoch: epoch), &state, &garbage)
      }
      return MessageRoute(route, count: route.count)
    }
  }

  // MARK: - Patches (called with the lock held) and searches (called without it)

  func put(_ board: RouteBoard?, _ state: inout State, _ garbage: inout Garbage) {
    self.state.assertHeld()
    garbage.keep(state.board)
    state.board = board
    state.list.hasRoutes = board != nil
    replace(by: board)
  }

  /// Replaces the route of the same selector. The board that running messages use retains the old
  /// route.
  private func replace(with new: Route, _ state: inout State, _ garbage: inout Garbage) {
    self.state.assertHeld()
    guard let board = state.board else { return }
    let old = board.exchange(new)
    // Messages that begin from here on find the new route.
    if !isVisited { return garbage.keep(old) }
    board.retire(old)
    put(RouteBoard(board.all, epoch: board.epoch), &state, &garbage)
  }

  /// Patches the routes that retain the strong target of a removed registration. `selector` is the
  /// target's only selector, if the target is known to have only one.
  func dropStep(
    of registration: Registration, only selector: MessageSelector?, _ state: inout State, _ garbage: inout Garbage
  ) {
    assert(registration.strong == nil, "a removed registration owns no target")
    noteChanges()
    var (step, isCopied): (Int?, Bool) = (nil, false)
    func isMeant(_ route: Route) -> Bool {
      step = route.step(of: registration)
      return step != nil
    }
    patch(selector, &state, &garbage, where: isMeant) { route, version, isUnused, garbage in
      if isUnused, let step, route.removeStep(step, version: version, garbage: &garbage) { return nil }
      isCopied = true
      return route.withoutEnded(version: version)
    }
    // A copy costs as much as this number of searches.
    if isCopied { state.list.patches += 16 }
  }

  /// Marks routes as stale because a hook was installed or removed. The next message rebuilds a
  /// stale route, so a series of changes costs one rebuild.
  func noteHooksChanged(for selector: MessageSelector?, _ state: inout State, _ garbage: inout Garbage) {
    noteChanges()
    patch(selector, &state, &garbage, where: { !$0.isStale }) { route, version, isUnused, _ in
      route.stale(version: version, isUnused: isUnused)
    }
  }

  private func surroundings(of selector: MessageSelector, _ state: borrowing State) -> RouteSurroundings? {
    guard let (hooks, trace) = state.rest?.around(selector) else { return nil }
    return RouteSurroundings(hooks: hooks, trace: trace)
  }

  /// The first method on the selector's route, which may be stale. `.some(nil)` if no target has a
  /// method. `nil` if that is unknown, since there is no route or it lacks some targets.
  func knownMethod(for selector: MessageSelector) -> Method?? {
    let found = state.withLock { state -> UncheckedSendable<(route: Route, isWhole: Bool)>? in
      guard let route = current(selector, TableEpoch.current, state) else { return nil }
      return UncheckedSendable((route, route.version == version.load(ordering: .relaxed)))
    }
    guard let (route, isWhole) = found?.value else { return nil }
    for index in 0..<route.count {
      let step = route.steps[index]
      if step.answers, step.isActive, step.target != nil { return step.method?.takeUnretainedValue() }
    }
    return isWhole ? .some(nil) : nil
  }

  /// Replaces routes by successors. If no message uses a route, `successor` can change the route
  /// itself and return `nil`.
  private func patch(
    _ selector: MessageSelector?, _ state: inout State, _ garbage: inout Garbage, where isMeant: (Route) -> Bool,
    _ successor: (_ old: Route, _ version: UInt, _ isUnused: Bool, inout Garbage) -> Route?
  ) {
    self.state.assertHeld()
    guard let board = state.board else { return }
    guard let selector else {
      return board.forEach { route in
        patch(route._withUnsafeGuaranteedRef(\.selector), &state, &garbage, where: isMeant, successor)
      }
    }
    if let route = board.find(selector), route._withUnsafeGuaranteedRef(isMeant) {
      let version = route._withUnsafeGuaranteedRef { $0.close() }
      // Messages that begin from here on find a closed route and wait for the lock.
      let isUnused = !isVisited && board.isOnlyOwner(of: route)
      let new = route._withUnsafeGuaranteedRef { successor($0, version, isUnused, &garbage) }
      if let new { replace(with: new, &state, &garbage) }
    }
  }

  /// A new route for the caller alone. If `pinned`, it retains every target, including weak ones.
  func ownRoute(_ selector: MessageSelector, pinned: Bool = false) -> Route {
    let (candidates, version, around) = state.withLock {
      (
        UncheckedSendable($0.list.map { Candidate($0, selector) }), changes.load(ordering: .relaxed),
        $0.rest?.around(selector)
      )
    }
    return Route(
      self, selector, version: version, steps: steps(candidates.value, selector, pinned: pinned),
      around: around.flatMap { RouteSurroundings(hooks: $0, trace: $1) })
  }

  /// A registration with copies of its guarded properties. All candidates of a route are read under
  /// one lock. So if a target is being replaced, the route has either this target or its successor.
  private struct Candidate {
    let registration: Registration
    /// `nil` if the target is deallocated, or not meant to get the selector's messages.
    let target: AnyObject?
    let isStrong: Bool

    init(_ registration: Registration, _ selector: MessageSelector) {
      self.registration = registration
      target = registration.isForUnderLock(selector) ? registration.targetUnderLock : nil
      isStrong = registration.strong != nil
    }
  }

  private func steps(_ candidates: [Candidate], _ selector: MessageSelector, pinned: Bool = false) -> RouteSteps {
    var steps = RouteSteps()
    steps.list.reserveCapacity(candidates.count)
    var kinds = TargetKinds(self, selector, for: candidates.count)
    for candidate in candidates where !candidate.registration.isRemoved {
      let (registration, isStrong) = (candidate.registration, candidate.isStrong)
      guard let target = candidate.target else {
        steps.traits.leavesOut = true
        continue
      }
      let strong = pinned || isStrong && registration.queued == nil ? target : nil
      let closure = registration.closure
      switch closure.map({ TargetKind.method($0.selector == selector ? $0 : nil) }) ?? kinds.kind(of: target) {
      case .nested:
        steps.traits.hasNested = true
        steps.append(RouteStep(registration, method: nil, strong: strong))
      case .forwarder: steps.append(RouteStep(registration, method: nil, strong: strong))
      case .method(let method?):
        // A closure is its own method, so the step retains it.
        let isKept = isStrong && method === target
        steps.append(RouteStep(registration, method: method, strong: isKept ? target : strong))
      case .method(nil): steps.traits.leavesOut = true
      }
    }
    return steps
  }

  /// A non-forwarding target's method for `selector`, from the target's table or the proxy's table.
  func method(of target: AnyObject, _ selector: MessageSelector) -> Method? {
    if let closure = target as? Method { return closure.selector == selector ? closure : nil }
    if let receiver = target as? any MessageReceiver, let method = method(of: receiver, selector) { return method }
    return interfaceMethod(of: target, selector)?.ifImplemented(by: target)
  }

  /// True if `target` would get `selector` once registered, even by a row that the table refused.
  package func wouldReach(_ target: AnyObject, _ selector: MessageSelector) -> Bool {
    answers(target, selector) || method(of: target, selector) != nil
  }

  /// Removes the dead targets that a message found, and patches a route of mostly useless steps.
  @usableFromInline
  func end(_ route: MessageRoute, dead: Int, skipped: Int) {
    let mayBeUseless = (dead + skipped) * 2 > route.count
    guard dead > 0 || mayBeUseless else { return }
    var found: [Registration] = []
    var useless = 0
    for index in 0..<route.count {
      let registration = route.steps[index].registration.takeUnretainedValue()
      if registration.hasEnded {
        useless += 1
      } else if dead > 0, registration.currentTarget == nil {
        useless += 1
        if !registration.keepsSlot { found.append(registration) }
      }
    }
    // The step of a muted target remains usable.
    guard !found.isEmpty || useless * 2 > route.count else { return }
    for registration in found { registration.markDead() }
    change { state, garbage in
      for registration in found { _ = state.list.remove(registration, garbage: &garbage) }
      if useless * 2 > route.count, state.board?.find(route.selector)?.takeUnretainedValue() === route.route {
        replace(with: route.route.withoutEnded(version: route.route.version), &state, &garbage)
      }
    }
  }
}
