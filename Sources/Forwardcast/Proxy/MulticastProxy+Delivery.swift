// MulticastProxy+Delivery.swift: targets and messages of more than one context.
// Layer: Proxy. See DESIGN.md, "Delivery".

extension MulticastProxy where Interface: Sendable {
  /// Registers a target whose messages run where and when `delivery` says.
  ///
  ///     members.add(archive, delivery: .queue(diskQueue))
  ///     members.add(window, delivery: .mainActor, buffer: .latestPerSelector)
  ///
  /// Adding a target once more with an equal delivery gives the registration that it has; with another delivery it is
  /// registered for both.
  ///
  /// - Parameters:
  ///   - priority: higher comes first; on another context, higher is queued first.
  ///   - ownership: `.weak` drops a target that dies; `.strong` keeps it alive.
  ///   - only: the selectors that the target is to get; `nil` for all that it has.
  ///   - buffer: how many messages may wait, and which go when there are more. A direct delivery has none that wait.
  ///   - whenRemoved: what becomes of messages that wait when the target is removed.
  @discardableResult
  public func add(
    _ target: Interface, delivery: Delivery, priority: Int = 0, ownership: Ownership = .weak,
    only selectors: [MessageSelector]? = nil, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration {
    let isObject = type(of: target as Any) is AnyObject.Type
    return core.add(
      target as AnyObject, priority: priority, ownership: isObject ? ownership : .strong,
      scope: selectors.map(Set.init),
      queued: core.queuedPart(delivery, buffer, pending))
  }

  /// Registers a closure as a target for one message, run where and when `delivery` says.
  @discardableResult
  public func on<R, each A>(
    _ message: Message<(repeat each A) -> R>, delivery: Delivery, priority: Int = 0,
    buffer: DeliveryBuffer = .unbounded, _ body: @escaping @Sendable (repeat each A) throws -> R
  ) -> Registration {
    let method = TypedMethod<R, repeat each A>(message.selector, signature: nil) {
      (_: AnyObject, arguments: Arguments<repeat each A>) throws -> R in
      try body(repeat each arguments.values)
    }
    return core.add(
      ClosureTarget(method), priority: priority, ownership: .strong, scope: nil,
      queued: core.queuedPart(delivery, buffer, .dropPending))
  }

  /// Removes the registrations of a target that have that delivery, and gives how many there were.
  @discardableResult
  public func remove(_ target: Interface, delivery: Delivery) -> Int {
    let found = core.registrations(of: target as AnyObject).filter { $0.delivery == delivery }
    for registration in found { registration.cancel() }
    return found.count
  }

  /// Removes every target that has that delivery.
  public func removeAll(on delivery: Delivery) {
    for registration in core.registrations where registration.delivery == delivery { registration.cancel() }
  }

  /// Sends a message to every live, unmuted target that responds, each where and when its delivery says.
  ///
  /// What is queued leaves first, in order, and then the direct targets run. Every target of another context has its own
  /// copy of the arguments. Errors of targets go to ``onError``, in the turn of the context where they happened.
  ///
  /// - Returns: how many were reached or queued.
  @inlinable
  @discardableResult
  public func broadcast<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A)
    -> BroadcastSummary
  {
    broadcast(message, Arguments(values: (repeat each arguments)), crosses: true)
  }
}

extension MulticastCore {
  func queuedPart(_ delivery: Delivery, _ buffer: DeliveryBuffer, _ pending: PendingDeliveries) -> QueuedPart? {
    guard let context = delivery.context else { return nil }
    return QueuedPart(delivery, mailbox(for: context), buffer: buffer, pending: pending)
  }
}

/// Whether a value of that type may be, or hold, an object that wants to be copied for each target.
@inlinable
func mayCopy<T>(_ type: T.Type) -> Bool {
  // Concrete structs and enums are no such object, and optionals, classes and existentials may be. The kinds are those
  // of the metadata that every Swift binary shares; one that is not known is looked into when it is sent.
  if _isPOD(T.self) { return false }
  let kind = unsafeBitCast(T.self as Any.Type, to: UnsafePointer<UInt>.self).pointee
  return kind != 0x200 && kind != 0x201
}

/// One argument as one more target may own it.
@inlinable
func copied<T>(_ argument: T) -> T {
  guard mayCopy(T.self), let object = argument as? any ArgumentCopying, let copy = object.argumentCopy() as? T else {
    return argument
  }
  return copy
}

extension MulticastProxy {
  /// A broadcast of which some targets are on other contexts.
  ///
  /// - Parameter crosses: whether the arguments are known to be `Sendable`.
  @inlinable @inline(never)
  func broadcastQueued<R, each A>(
    _ message: Message<(repeat each A) -> R>, _ arguments: Arguments<repeat each A>, along walk: RouteWalk,
    crosses: Bool
  ) -> BroadcastSummary {
    let traits = arguments.traits
    return core.broadcastQueued(
      walk, message.selector, crosses: crosses || traits.isEmpty, copies: traits.mayCopy, proxy: self
    ) {
      arguments.door(returning: R.self, copies: $0)
    }
  }
}

extension Arguments {
  /// Whether there are no arguments at all, and whether one may want a copy for each target.
  @inlinable
  var traits: (isEmpty: Bool, mayCopy: Bool) {
    var traits = (isEmpty: true, mayCopy: false)
    for type in repeat (each A).self {
      traits.isEmpty = false
      if Forwardcast.mayCopy(type) { traits.mayCopy = true }
    }
    return traits
  }

  /// The arguments as one more target may own them.
  @inlinable
  var copiedForDelivery: Arguments { Arguments(values: (repeat copied(each values))) }
}
