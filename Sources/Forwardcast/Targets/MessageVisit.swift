// MessageVisit.swift: a route as a message sees it that goes along it at once.

/// Who gets one message that begins now, kept for as long as the message takes.
///
/// What ``MulticastSending/visit(_:)`` gives to the typed verbs of the library; it has no members of its own to use. It counts no
/// reference: it ends with the scope that has it. When the last visit of a board ends, what removed targets left is released.
public struct MessageVisit: ~Copyable {
  /// By what the board is kept that keeps the route, and the word that it found there; `nil` where the visit itself keeps it.
  @usableFromInline let visited: Unmanaged<Visited>?
  @usableFromInline let entered: BoardWord
  @usableFromInline let route: Unmanaged<Route>

  /// Along a route of a board that has been entered.
  @inline(__always)
  init(_ route: Unmanaged<Route>, of visited: Unmanaged<Visited>, _ entered: BoardWord) {
    (self.visited, self.entered, self.route) = (visited, entered, route)
  }

  /// Along a route that the visit itself keeps.
  @inline(never)
  init(keeping route: Unmanaged<Route>) { (visited, entered, self.route) = (nil, BoardWord(bits: 0), route.retain()) }

  @usableFromInline
  init(_ route: MessageRoute) { self.init(keeping: .passUnretained(route.route)) }

  @inlinable
  deinit {
    if let visited { visited._withUnsafeGuaranteedRef { $0.leave(entered) } } else { route.release() }
  }

  /// The function type of all methods, where a loop over them is all that the message takes.
  @usableFromInline var loopType: ObjectIdentifier? {
    @export(implementation) @inline(__always) get { route._withUnsafeGuaranteedRef { $0.loopType } }
  }

  @usableFromInline var steps: UnsafeMutablePointer<RouteStep> {
    @export(implementation) @inline(__always) get { route._withUnsafeGuaranteedRef { $0.steps } }
  }

  /// How many steps there are. A message asks at its beginning, and goes no further.
  @usableFromInline var count: Int {
    @export(implementation) @inline(__always) get { route._withUnsafeGuaranteedRef { $0.count } }
  }

  /// The function types of the methods, where a loop is all that the message takes behind its hooks.
  var typesBehindHooks: RouteTraits.Types? { route._withUnsafeGuaranteedRef { $0.typesBehindHooks } }

  /// Whether some registration is not among the steps.
  var leavesOut: Bool { route._withUnsafeGuaranteedRef { $0.leavesOut } }

  /// How a typed message is posted, where that is all that it takes and every target is to get it.
  @usableFromInline var plainPlan: Unmanaged<DeliveryPlan>? {
    guard let plan = route._withUnsafeGuaranteedRef({ $0.keptPlan }) else { return nil }
    let (steps, count) = (steps, count)
    guard plan._withUnsafeGuaranteedRef({ $0.isPlain && $0.count == count }) else { return nil }
    for index in 0..<count where !steps[index].isActive { return nil }
    return plan
  }

  @usableFromInline var core: MulticastCore { route._withUnsafeGuaranteedRef { $0.core } }

  /// Runs the hooks around the message where all of them come before it, and only methods of one type are called then, or
  /// none.
  ///
  /// - Parameter type: that of the methods.
  /// - Returns: `false`, and nothing done, where that is not so. Else the message goes as many steps as there were: what a hook adds
  ///   comes later.
  /// - Throws: the error of a hook.
  @usableFromInline @inline(never)
  func passHooks(to type: ObjectIdentifier, _ arguments: () -> MessageArguments) throws -> Bool {
    guard let types = typesBehindHooks, types == .none || types == .one(type) else { return false }
    try runHooks(arguments())
    return true
  }

  /// Runs the hooks, all of which come before the message.
  func runHooks(_ arguments: MessageArguments) throws {
    let route = route.takeUnretainedValue()
    try route.around?.hooks.runBefore(
      HookedMessage(selector: route.selector, receiver: route.core, arguments: arguments))
  }

  /// The route, retained: for what takes more than the loop.
  @usableFromInline var kept: MessageRoute { MessageRoute(route.takeUnretainedValue(), count: count) }
}
