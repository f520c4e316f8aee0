// MessageVisit.swift: a route as a message sees it that is over when its verb returns.

/// Who gets one message that begins now. Made by ``MulticastSending/visit(_:)`` for the library's typed verbs; it has no public
/// members.
///
/// It retains nothing: it counts as a visit of a board until its scope ends. When a board's last visit ends, what removed targets
/// left there is released.
public struct MessageVisit: ~Copyable {
  /// What keeps the board of the route, and the word found there; `nil` where the visit itself retains the route.
  @usableFromInline let visited: Unmanaged<Visited>?
  @usableFromInline let entered: BoardWord
  @usableFromInline let route: Unmanaged<Route>

  /// Along a route of a board that has been entered.
  @inline(__always)
  init(_ route: Unmanaged<Route>, of visited: Unmanaged<Visited>, _ entered: BoardWord) {
    (self.visited, self.entered, self.route) = (visited, entered, route)
  }

  /// Along a route that the visit itself retains.
  @inline(never)
  init(keeping route: Unmanaged<Route>) { (visited, entered, self.route) = (nil, BoardWord(bits: 0), route.retain()) }

  @usableFromInline
  init(_ route: MessageRoute) { self.init(keeping: .passUnretained(route.route)) }

  @inlinable
  deinit {
    if let visited { visited._withUnsafeGuaranteedRef { $0.leave(entered) } } else { route.release() }
  }

  @usableFromInline var loopType: ObjectIdentifier? {
    @export(implementation) @inline(__always) get { route._withUnsafeGuaranteedRef { $0.loopType } }
  }

  @usableFromInline var steps: UnsafeMutablePointer<RouteStep> {
    @export(implementation) @inline(__always) get { route._withUnsafeGuaranteedRef { $0.steps } }
  }

  /// How many steps there are. A message reads this once, at its beginning.
  @usableFromInline var count: Int {
    @export(implementation) @inline(__always) get { route._withUnsafeGuaranteedRef { $0.count } }
  }

  var typesBehindHooks: RouteTraits.Types? { route._withUnsafeGuaranteedRef { $0.typesBehindHooks } }

  var leavesOut: Bool { route._withUnsafeGuaranteedRef { $0.leavesOut } }

  /// The plan of a typed message that only has to be posted, where every registration is active. The first one makes it.
  @usableFromInline var plainPlan: Unmanaged<DeliveryPlan>? {
    if route._withUnsafeGuaranteedRef({ $0.hasQueued && $0.keptPlan == nil }) { _ = core.plan(kept) }
    guard let plan = route._withUnsafeGuaranteedRef({ $0.keptPlan }) else { return nil }
    let (steps, count) = (steps, count)
    guard plan._withUnsafeGuaranteedRef({ $0.isPlain && $0.count == count }) else { return nil }
    for index in 0..<count where !steps[index].isActive { return nil }
    return plan
  }

  @usableFromInline var core: MulticastCore { route._withUnsafeGuaranteedRef { $0.core } }

  /// Runs the hooks if all are `before` hooks and then only methods of one type, or none, are called.
  ///
  /// - Returns: `false`, with nothing done, where that is not so. Otherwise the message goes the steps counted before: targets that a
  ///   hook adds come later.
  /// - Throws: the error of a hook.
  @usableFromInline @inline(never)
  func passHooks(to type: ObjectIdentifier, _ arguments: () -> MessageArguments) throws -> Bool {
    guard let types = typesBehindHooks, types == .none || types == .one(type) else { return false }
    try runHooks(arguments())
    return true
  }

  /// Runs the hooks, all of which are `before` hooks.
  func runHooks(_ arguments: MessageArguments) throws {
    let route = route.takeUnretainedValue()
    try route.around?.hooks.runBefore(
      HookedMessage(selector: route.selector, receiver: route.core, arguments: arguments))
  }

  /// The route, retained: for more than the loop.
  @usableFromInline var kept: MessageRoute { MessageRoute(route.takeUnretainedValue(), count: count) }
}
