// MessageVisit.swift: the route of one message, without reference counting.

/// The receivers of one message during one synchronous call. The library gets a visit from
/// ``MulticastSending/visit(_:)``. A visit has no public members.
///
/// A visit usually retains nothing. The proxy counts the visits of its board of routes until their
/// scopes end. The last visit of a board releases the routes that were replaced during the board's
/// visits. Without a board, the visit retains its route.
public struct MessageVisit: ~Copyable {
  /// The object that counts the visit, and the object's word when the visit began. `visited` is
  /// `nil` if the visit retains the route.
  @usableFromInline let visited: Unmanaged<Visited>?
  @usableFromInline let entered: BoardWord
  @usableFromInline let route: Unmanaged<Route>
  /// The core's ``MulticastCore/changes`` when the message began.
  let begun: UInt

  /// Follows a route of a board whose visit has been counted.
  @inline(__always)
  init(_ route: Unmanaged<Route>, of visited: Unmanaged<Visited>, _ entered: BoardWord, begun: UInt) {
    (self.visited, self.entered, self.route, self.begun) = (visited, entered, route, begun)
  }

  /// Follows a route that the visit itself retains.
  @inline(never)
  init(keeping route: Unmanaged<Route>, begun: UInt) {
    (visited, entered, self.route, self.begun) = (nil, BoardWord(bits: 0), route.retain(), begun)
  }

  @usableFromInline
  init(_ route: MessageRoute) { self.init(keeping: .passUnretained(route.route), begun: route.begun) }

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

  /// The number of steps. A message reads it once, when it begins.
  @usableFromInline var count: Int {
    @export(implementation) @inline(__always) get { route._withUnsafeGuaranteedRef { $0.count } }
  }

  var typesBehindHooks: RouteTraits.Types? { route._withUnsafeGuaranteedRef { $0.typesBehindHooks } }

  var leavesOut: Bool { route._withUnsafeGuaranteedRef { $0.leavesOut } }

  /// The plan, if all steps are active and a typed message needs only posting to the plan's groups.
  @usableFromInline var plainPlan: Unmanaged<DeliveryPlan>? {
    guard route._withUnsafeGuaranteedRef({ $0.hasQueued && !$0.traits.isAutomatic }) else { return nil }
    if route._withUnsafeGuaranteedRef({ $0.keptPlan == nil }) { _ = core.plan(kept) }
    guard let plan = route._withUnsafeGuaranteedRef({ $0.keptPlan }) else { return nil }
    let (steps, count) = (steps, count)
    guard plan._withUnsafeGuaranteedRef({ $0.isPlain && $0.count == count }) else { return nil }
    for index in 0..<count where !steps[index].isActive { return nil }
    return plan
  }

  /// True if a loop can serve the message although some steps have automatic delivery. The sender
  /// is then on their contexts, and no earlier message for their targets is queued or running.
  @usableFromInline @inline(never)
  func runsHere(_ type: ObjectIdentifier, _ count: Int) -> Bool {
    guard route._withUnsafeGuaranteedRef({ $0.automaticType }) == type else { return false }
    let (steps, hasIsolated) = (steps, route._withUnsafeGuaranteedRef { $0.traits.hasIsolated })
    var here: UInt = 0
    for index in 0..<count {
      guard steps[index].runsHere(after: &here) else { return false }
    }
    return !hasIsolated || (0..<count).allSatisfy { steps[$0].queued == nil || steps[$0].hasSendersIsolation }
  }

  @usableFromInline var core: MulticastCore { route._withUnsafeGuaranteedRef { $0.core } }

  /// Runs the hooks if all of them are `before` hooks and all methods have type `type`. Otherwise
  /// runs no hook and returns false. Targets that a hook adds do not get this message.
  @usableFromInline @inline(never)
  func passHooks(to type: ObjectIdentifier, _ arguments: () -> MessageArguments) throws -> Bool {
    guard let types = typesBehindHooks, types == .none || types == .one(type) else { return false }
    try runHooks(arguments())
    return true
  }

  /// Runs the hooks, which must all be `before` hooks.
  func runHooks(_ arguments: MessageArguments) throws {
    let route = route.takeUnretainedValue()
    try route.around?.hooks.runBefore(
      HookedMessage(selector: route.selector, receiver: route.core, arguments: arguments, isOfProxy: true))
  }

  /// The route, retained, for use beyond this call.
  @usableFromInline var kept: MessageRoute { MessageRoute(route.takeUnretainedValue(), count: count, begun: begun) }
}
