// MulticastCore.swift: the lock of a multicast proxy, and what is decided under it.
// Layer: Proxy. See DESIGN.md, "Decide under the lock, act outside it".

import Synchronization

/// Everything of a multicast proxy that does not depend on its interface.
///
/// All state is in `state`, under one lock. No foreign code runs while it is held: tables and hooks are asked, targets
/// called and references let go of outside.
@usableFromInline
package final class MulticastCore: Sendable {
  /// Registrations hold targets of any kind, so this is not `Sendable` by itself. The lock that holds it guards it.
  struct State: @unchecked Sendable {
    var list = TargetList()
    var routes = RouteTable()
    var onError: (@Sendable (MulticastFailure) -> Void)?
    /// One mailbox for each context that registrations use; they keep it, not the proxy.
    var mailboxes: [ContextIdentity: WeakMailbox] = [:]
  }

  let state = Guarded(State())
  let table: SelectorTable?
  let options: MulticastOptions
  /// Shared by the registrations, which do not keep the core alive.
  let link = CoreLink()

  init(table: SelectorTable?, options: MulticastOptions) {
    self.table = table
    self.options = options
    link.join(self)
  }

  deinit {
    // Handles may outlive the proxy: they are to keep no target, nor each other. Nobody else reaches the list any more.
    for registration in registrations {
      registration.sibling = nil
      registration.strong = nil
    }
  }

  /// Runs a change under the lock; what it replaced is let go of after the lock.
  func change<T: Sendable>(_ body: (inout State, inout Garbage) -> T) -> T {
    let (result, garbage) = state.withLock { state in
      var garbage = Garbage()
      let generation = state.list.generation
      let result = body(&state, &garbage)
      if state.list.generation != generation {
        for route in state.routes.all { garbage.keep(route) }
        state.routes = RouteTable()
      }
      return (result, garbage)
    }
    withExtendedLifetime(garbage) {}
    return result
  }

  /// Lets the routes go: no further message comes. What is on its way is delivered.
  func close() {
    let routes = state.withLock { state in
      defer { state.routes = RouteTable() }
      return state.routes
    }
    withExtendedLifetime(routes) {}
  }

  // MARK: Registrations

  /// Registers `target`, or gives the registration that it has.
  func add(
    _ target: AnyObject, priority: Int, ownership: Ownership, scope: Set<MessageSelector>?, queued: QueuedPart? = nil
  ) -> Registration {
    let new = Registration(
      target, core: self, priority: priority, strong: ownership == .strong, scope: scope, queued: queued)
    return change { state, garbage in
      if case .refused = options.duplicates {
        for old in state.list.registrations(of: new.key) where !old.isCancelled && old.delivery == new.delivery {
          if let alive = old.targetUnderLock {
            garbage.keep(alive)
            garbage.keep(new)
            return old
          }
        }
      }
      state.list.add(new, garbage: &garbage)
      return new
    }
  }

  /// Takes registrations that were cancelled out of the list.
  func forget(_ registrations: [Registration]) {
    change { state, garbage in
      for registration in registrations { _ = state.list.remove(registration, garbage: &garbage) }
    }
  }

  /// Cancels every registration of a target, which may be in its `deinit`. Gives how many there were.
  func removeAll(of target: ObjectIdentifier) -> Int {
    change { state, garbage in
      var count = 0
      while let registration = state.list.registration(of: target) {
        registration.markCancelled()
        guard state.list.remove(registration, garbage: &garbage) else { break }
        count += 1
      }
      return count
    }
  }

  /// Every registration that is not cancelled, dead targets included, in the order of delivery.
  var registrations: [Registration] { state.withLock { $0.list.all } }

  /// The target of a strong registration, while it lasts.
  func strongTarget(of registration: Registration) -> AnyObject? {
    state.withLock { _ in LoadedTarget(object: registration.strong) }.object
  }

  func registrations(of target: AnyObject) -> [Registration] {
    state.withLock { $0.list.registrations(of: ObjectIdentifier(target)) }
  }

  var slotCount: Int { state.withLock { $0.list.slotCount } }

  /// The mailbox of a context: one for all registrations of this proxy.
  func mailbox(for context: any DeliveryContext) -> Mailbox {
    let identity = context.identity
    let new = Mailbox(context)
    let (mailbox, others) = state.withLock { state -> (Mailbox, [Mailbox]) in
      if let old = state.mailboxes[identity]?.mailbox { return (old, []) }
      // Nobody uses a mailbox that is gone; looking at all when one is added keeps the table as small as its use.
      var seen: [Mailbox] = []
      state.mailboxes = state.mailboxes.filter { entry in
        guard let mailbox = entry.value.mailbox else { return false }
        seen.append(mailbox)
        return true
      }
      state.mailboxes[identity] = WeakMailbox(mailbox: new)
      return (new, seen)
    }
    withExtendedLifetime(others) {}
    return mailbox
  }

  /// The mailboxes that are in use.
  var mailboxes: [Mailbox] { state.withLock { $0.mailboxes.values.compactMap(\.mailbox) } }

  /// Keeps a plan with its route, for the messages that follow.
  func keep(_ plan: DeliveryPlan, for route: Route) {
    let old = state.withLock { _ in
      defer { route.plan = plan }
      return route.plan
    }
    withExtendedLifetime(old) {}
  }

  // MARK: Routes

  /// The route for a message that begins now, and how far it reaches for that message.
  @usableFromInline
  func begin(_ selector: MessageSelector) -> RouteWalk {
    let epoch = TableEpoch.current
    let ready = state.withLock { state -> RouteWalk? in
      guard let route = state.routes.find(selector), route.isCurrent(state.list, epoch) else { return nil }
      return RouteWalk(route)
    }
    return ready ?? makeRoute(selector)
  }

  /// Makes or extends a route. Tables are asked outside of the lock, so the list may change meanwhile: then it is done
  /// again, and after some tries the route serves this one message only.
  private func makeRoute(_ selector: MessageSelector) -> RouteWalk {
    for _ in 0..<8 {
      let epoch = TableEpoch.current
      // How far the old route reaches is read with the list: another message may be extending it.
      let (list, old, covered) = state.withLock { state in
        let old = state.routes.find(selector)
        return (state.list, old, old?.covered ?? 0)
      }
      if let old, old.epoch == epoch, old.generation == list.generation {
        let more = steps(list.joined(since: covered), selector)
        if let walk = extend(old, from: covered, by: more, to: list) { return walk }
        for step in more { step.release() }
      } else {
        let route = Route(selector, epoch: epoch, list: list, steps: steps(list.all, selector))
        if let walk = publish(route) { return walk }
      }
    }
    let list = state.withLock { $0.list }
    return RouteWalk(Route(selector, epoch: 0, list: list, steps: steps(list.all, selector)))
  }

  private func extend(_ old: Route, from covered: Int, by more: [RouteStep], to list: TargetList) -> RouteWalk? {
    change { state, garbage in
      guard state.routes.find(old.selector) === old, old.covered == covered, state.list.version == list.version
      else { return nil }
      if old.extend(by: more, to: list) { return RouteWalk(old) }
      let longer = old.grown(by: more, to: list)
      if let old = state.routes.set(longer) { garbage.keep(old) }
      return RouteWalk(longer)
    }
  }

  private func publish(_ route: Route) -> RouteWalk? {
    change { state, garbage in
      guard state.list.version == route.version else { return nil }
      if let old = state.routes.set(route) { garbage.keep(old) }
      return RouteWalk(route)
    }
  }

  /// Whether nothing has changed that the route does not know of.
  func isCurrent(_ route: Route) -> Bool {
    let epoch = TableEpoch.current
    return state.withLock { route.isCurrent($0.list, epoch) }
  }

  /// A route of the caller's own that keeps every target alive, weak ones included.
  func pinnedRoute(_ selector: MessageSelector) -> Route {
    let epoch = TableEpoch.current
    let list = state.withLock { $0.list }
    return Route(selector, epoch: epoch, list: list, steps: steps(list.all, selector, pinned: true))
  }

  private func steps(_ registrations: [Registration], _ selector: MessageSelector, pinned: Bool = false)
    -> [RouteStep]
  {
    registrations.compactMap { registration in
      guard registration.isFor(selector), let target = registration.target else { return nil }
      let strong = pinned || registration.isStrong ? target : nil
      if target is any MessageForwarding { return RouteStep(registration, method: nil, strong: strong) }
      guard let method = method(of: target, selector) else { return nil }
      return RouteStep(registration, method: method, strong: strong)
    }
  }

  /// The method that a target which does not forward has for `selector`: its own, or the proxy's for its interface.
  func method(of target: AnyObject, _ selector: MessageSelector) -> Method? {
    if let closure = target as? ClosureTarget { return closure.method.selector == selector ? closure.method : nil }
    if let receiver = target as? any MessageReceiver {
      do {
        if let method = try tableMethod(of: receiver, for: selector) { return method }
      } catch {
        // A row that its table refused answers every message of its selector with the reason.
        return RefusedMethod(selector, error)
      }
    }
    return try? table?.storage.method(for: selector, on: target)
  }

  /// After a walk that met dead or removed targets: the dead are taken out, and a route that is mostly useless goes.
  @usableFromInline
  func end(_ walk: RouteWalk, dead: Int, skipped: Int) {
    let mayBeUseless = (dead + skipped) * 2 > walk.count
    guard dead > 0 || mayBeUseless else { return }
    var found: [Registration] = []
    var useless = 0
    for index in 0..<walk.count {
      let registration = walk.route.steps[index].registration.takeUnretainedValue()
      if registration.isCancelled {
        useless += 1
      } else if dead > 0, registration.target == nil {
        useless += 1
        if !registration.keepsPlace { found.append(registration) }
      }
    }
    // A muted target may be let through again: its step is not useless.
    guard !found.isEmpty || useless * 2 > walk.count else { return }
    change { state, garbage in
      for registration in found { _ = state.list.remove(registration, garbage: &garbage) }
      if useless * 2 > walk.count { state.routes.remove(walk.route) }
    }
  }

  // MARK: Questions

  /// Whether a live, unmuted target would get `selector` by its table, and whether there are others to ask.
  func tablesAnswer(_ selector: MessageSelector) -> (isAnswered: Bool, hasForwarders: Bool) {
    let epoch = TableEpoch.current
    let known = state.withLock { state -> (LoadedTarget, Bool)? in
      guard let route = state.routes.find(selector), route.isCurrent(state.list, epoch) else { return nil }
      return (RouteWalk(route).findWitness(), route.hasForwarders)
    }
    if let (witness, hasForwarders) = known { return (witness.object != nil, hasForwarders) }
    let walk = makeRoute(selector)
    let (witness, hasForwarders) = state.withLock { _ in (walk.findWitness(), walk.route.hasForwarders) }
    return (witness.object != nil, hasForwarders)
  }

  /// Whether a live, unmuted target would get `selector` by its own word.
  func forwardersAnswer(_ selector: MessageSelector) -> Bool {
    begin(selector).forwarders.contains { answers($0, selector) }
  }

  func noteUnmuted() {
    state.withLock { state in
      for route in state.routes.all { route.witness = 0 }
    }
  }

  // MARK: Errors

  var onError: (@Sendable (MulticastFailure) -> Void)? {
    get { state.withLock { $0.onError } }
    set {
      let old = state.withLock { state in
        defer { state.onError = newValue }
        return state.onError
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Gives an error of a broadcast to the proxy's handler, or where there is none to standard error.
  @usableFromInline
  func report(_ error: any Error, _ selector: MessageSelector, _ registration: Registration?, receiver: String) {
    let failure = MulticastFailure(selector: selector, receiver: receiver, registration: registration, error: error)
    if let handler = onError { handler(failure) } else { StandardError.write("forwardcast: \(failure)\n") }
  }
}
