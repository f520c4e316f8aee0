// MulticastCore+Routes.swift: finds and makes routes.

extension MulticastCore {
  /// The route of a message that begins now, for as long as the message takes.
  @usableFromInline
  func visit(_ selector: MessageSelector) -> MessageVisit {
    if StackGuard.hasRoom, let visit = visitBoard(selector) { return visit }
    return visitUnderLock(selector)
  }

  @inline(never)
  private func visitUnderLock(_ selector: MessageSelector) -> MessageVisit { MessageVisit(beginUnderLock(selector)) }

  /// As above without the lock; `nil` without a board, or when the board has no valid route of the selector.
  @inline(__always)
  func visitBoard(_ selector: MessageSelector) -> MessageVisit? {
    let entered = BoardWord(bits: word.wrappingAdd(BoardWord.one, ordering: .acquiring).oldValue)
    guard let board = entered.board, !entered.isCrowded, let route = board.route(of: selector, version) else {
      // Without a board nothing is counted.
      if entered.board != nil { leaveAmongOthers(entered, entered) }
      return nil
    }
    // The route's core is `self`, and takes fewer instructions to read.
    return MessageVisit(route, of: route._withUnsafeGuaranteedRef { .passUnretained($0.core) }, entered)
  }

  /// The retained route with its present end, for questions and messages that take more than a loop.
  @usableFromInline
  func begin(_ selector: MessageSelector) -> MessageRoute { visit(selector).kept }

  @inline(never)
  func beginUnderLock(_ selector: MessageSelector) -> MessageRoute {
    guard StackGuard.hasRoom else { return refused(selector, StackGuard.tooDeep(selector, receiver: self)) }
    let epoch = TableEpoch.current
    let ready = state.withLock { state -> MessageRoute? in
      guard let route = current(selector, epoch, state), route.version == reach(state).version else { return nil }
      return MessageRoute(route, count: route.count)
    }
    return ready ?? makeRoute(selector)
  }

  /// How far a route that is made now reaches. Called under the lock.
  private func reach(_ state: borrowing State) -> RouteReach {
    RouteReach(version: version.load(ordering: .relaxed), end: UInt32(state.list.end))
  }

  /// The route of a selector, if it is valid or can be extended. Called under the lock.
  private func current(_ selector: MessageSelector, _ epoch: UInt, _ state: borrowing State) -> Route? {
    guard let board = state.board, board.epoch == epoch else { return nil }
    return board.find(selector)?.takeUnretainedValue()
  }

  @inline(never)
  private func refused(_ selector: MessageSelector, _ error: any Error) -> MessageRoute {
    let prelude = MessagePrelude(refusal: error)
    return MessageRoute(
      Route(self, selector, reach: .init(), steps: RouteSteps(), prelude: prelude), count: 0)
  }

  /// Makes or extends a route. Tables are asked outside of the lock, so the list may change meanwhile: then it is repeated, and
  /// after some tries the route serves this message only.
  func makeRoute(_ selector: MessageSelector) -> MessageRoute {
    if selector == .ofNobody {
      return MessageRoute(Route(self, selector, reach: .init(), steps: RouteSteps()), count: 0)
    }
    if state.withLock({ !($0.rest?.unreachable.isEmpty ?? true) }) { tellUnreachable() }
    for _ in 0..<8 {
      let epoch = TableEpoch.current
      // The end of the old route is read together with the list: another message may be extending the route.
      let (list, seen, around, old, covered) = state.withLock { state in
        let old = current(selector, epoch, state)
        return (state.list, reach(state), old == nil ? state.rest?.around(selector) : nil, old, old?.covered ?? 0)
      }
      let joined = old == nil ? list.all : list.joined(since: Int(covered))
      if joined.count >= MulticastCore.fewRegistrations {
        do { try ProxyQuestion.charge(.passed, joined.count) } catch { return refused(selector, error) }
      }
      let steps = steps(joined, selector, in: list)
      let surroundings = around.flatMap { RouteSurroundings(hooks: $0, trace: $1) }
      let route = old ?? Route(self, selector, reach: seen, steps: steps, around: surroundings)
      if let found = publish(route, epoch, seen, adding: old == nil ? nil : steps, from: covered) { return found }
      if old != nil { for step in steps.list { step.release() } }
    }
    let own = ownRoute(selector)
    return MessageRoute(own, count: own.count)
  }

  /// Enters a route into the board, or puts up a new board with it. `nil` when the list has changed.
  ///
  /// - Parameters:
  ///   - more: steps to add first to a route on the board.
  ///   - covered: how far that route reached.
  private func publish(
    _ route: Route, _ epoch: UInt, _ seen: RouteReach, adding more: RouteSteps?, from covered: UInt32
  ) -> MessageRoute? {
    change { state, garbage in
      guard !state.isClosed, reach(state).version == seen.version else { return nil }
      var route = route
      if let more {
        guard current(route.selector, epoch, state) === route, route.covered == covered else { return nil }
        if route.extend(by: more, to: seen) { return MessageRoute(route, count: route.count) }
        route = route.grown(by: more, to: seen)
      }
      if let board = state.board, board.epoch == epoch {
        if !board.enter(route) { put(board.replacing(route.selector, with: route), &state, &garbage) }
      } else {
        put(RouteBoard([route], epoch: epoch), &state, &garbage)
      }
      return MessageRoute(route, count: route.count)
    }
  }

  /// Replaces the board. Called under the lock.
  func put(_ board: RouteBoard?, _ state: inout State, _ garbage: inout Garbage) {
    garbage.keep(state.board)
    state.board = board
    replace(by: board)
  }

  /// A new route, for the caller only.
  ///
  /// - Parameter pinned: whether it retains every target, including weak ones.
  func ownRoute(_ selector: MessageSelector, pinned: Bool = false) -> Route {
    let (list, seen, around) = state.withLock { ($0.list, reach($0), $0.rest?.around(selector)) }
    return Route(
      self, selector, reach: seen, steps: steps(list.all, selector, in: list, pinned: pinned),
      around: around.flatMap { RouteSurroundings(hooks: $0, trace: $1) })
  }

  private func steps(
    _ registrations: [Registration], _ selector: MessageSelector, in list: TargetList, pinned: Bool = false
  ) -> RouteSteps {
    var steps = RouteSteps()
    steps.list.reserveCapacity(registrations.count)
    if case .refused = options.duplicates { steps.traits.hasRepeats = list.hasRepeats }
    var kinds = TargetKinds(self, selector, for: registrations.count)
    for registration in registrations {
      let (loaded, isStrong) = state.withLock { _ in
        (UncheckedSendable(registration.targetUnderLock), registration.strong != nil)
      }
      guard registration.isFor(selector), let target = loaded.value else {
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
      case .method(let method?): steps.append(RouteStep(registration, method: method, strong: strong))
      case .method(nil): steps.traits.leavesOut = true
      }
    }
    return steps
  }

  /// The method that a target which does not forward has for `selector`: its own, or that of the proxy's table.
  func method(of target: AnyObject, _ selector: MessageSelector) -> Method? {
    if let closure = target as? Method { return closure.selector == selector ? closure : nil }
    if let receiver = target as? any MessageReceiver, let method = method(of: receiver, selector) { return method }
    return interfaceMethod(of: target, selector)?.unlessLeftOut(by: target)
  }

  /// Whether a message of `selector` would reach `target` if it were registered: its answer, or why a row was refused.
  package func wouldReach(_ target: AnyObject, _ selector: MessageSelector) -> Bool {
    answers(target, selector) || method(of: target, selector) != nil
  }

  /// Called after a message that met dead or removed targets: takes the dead out, and removes a route that is mostly useless.
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
    // The step of a muted target is not useless.
    guard !found.isEmpty || useless * 2 > route.count else { return }
    change { state, garbage in
      for registration in found { _ = state.list.remove(registration, garbage: &garbage) }
      if useless * 2 > route.count, let board = state.board,
        board.find(route.selector)?.takeUnretainedValue() === route.route
      {
        put(board.replacing(route.selector, with: nil), &state, &garbage)
      }
    }
  }
}
