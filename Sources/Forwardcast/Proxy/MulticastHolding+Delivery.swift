// MulticastHolding+Delivery.swift: targets on other contexts, and draining.

extension MulticastHolding where Interface: Sendable {
  /// Registers a target with a delivery.
  ///
  ///     members.add(archive, delivery: .queue(diskQueue))
  ///     members.add(window, delivery: .mainActor, buffer: .latestPerSelector)
  ///
  /// Unless the proxy allows duplicates, adding a target again with an equal delivery updates its
  /// registration: ownership, buffer, priority if given, and `whenRemoved` for later messages. New
  /// `selectors` are added to the earlier ones; `nil` selects all messages. With a different
  /// delivery, the target gets a second registration and receives each message twice.
  ///
  /// - Parameters:
  ///   - target: the new target.
  ///   - delivery: the context of its methods.
  ///   - priority: higher priorities are called, or queued, first. `nil` is 0, or the priority of
  ///     the target's earlier registration.
  ///   - ownership: `.weak` drops a target once it is deallocated; `.strong` retains it.
  ///   - selectors: the target's messages; `nil` for all.
  ///   - buffer: the limit of queued messages. Direct deliveries have no queue.
  ///   - pending: what happens to queued messages when the target is removed.
  @discardableResult
  public func add(
    _ target: Interface, delivery: Delivery, priority: Int? = nil, ownership: Ownership = .weak,
    only selectors: [MessageSelector]? = nil, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration {
    core.add(
      targetObject(for: target),
      TargetOptions(
        priority: priority, ownership: isObject(target) ? ownership : .strong, scope: selectors.map(Set.init),
        delivery: delivery, buffer: buffer, pending: pending))
  }

  /// Registers a target for some keys' messages only.
  ///
  ///     members.add(window, delivery: .mainActor, only: .themesColorChanged, .progress)
  @discardableResult
  public func add<each F>(
    _ target: Interface, delivery: Delivery, priority: Int? = nil, ownership: Ownership = .weak,
    only keys: repeat Message<each F>, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration {
    var selectors: [MessageSelector] = []
    for key in repeat each keys { selectors.append(key.selector) }
    return add(
      target, delivery: delivery, priority: priority, ownership: ownership, only: selectors, buffer: buffer,
      whenRemoved: pending)
  }

  /// Removes a target's registrations with that delivery. Returns their number.
  @discardableResult
  public func remove(_ target: Interface, delivery: Delivery) -> Int {
    core.cancel(core.registrations(of: targetObject(for: target))) { $0.delivery == delivery }
  }

  /// Removes every target and closure with that delivery. Returns the number of registrations.
  @discardableResult
  public func removeAll(on delivery: Delivery) -> Int {
    core.cancel(core.registrations) { $0.delivery == delivery }
  }

  /// Waits until all deliveries of this proxy and its nested proxies have run, including deliveries
  /// that are queued during the wait.
  ///
  /// If targets send through several proxies, drain all of them in turn until each drain returns 0.
  ///
  /// - Returns: the number of deliveries since the call, including those of removed targets.
  /// - Throws: `CancellationError`; `wouldDeadlock` if the caller is an asynchronous method of a
  ///   target, or of a target that a delivery waits for; `timedOut` if the caller is a task that such
  ///   a method created, see ``MulticastOptions/deadlockTimeout``.
  @discardableResult
  nonisolated(nonsending) public func drain() async throws -> Int {
    var round = DrainRound(core)
    repeat {
      try Task.checkCancellation()
      let completion = try round.begin()
      let wait = try round.beginWait(blocks: false)
      defer { wait?.end() }
      let number = TimedWait.current?.begin(round.lateContexts)
      defer { if let number { TimedWait.current?.end(number) } }
      let timer = wait?.start { completion.fail($0) }
      defer { timer?.cancel() }
      try await completion.wait()
    } while !round.isQuiet()
    return round.turns
  }

  /// Like ``drain()``, with a timeout.
  ///
  /// - Parameters:
  ///   - timeout: the longest wait. Remaining deliveries still run.
  ///   - clock: measures the timeout, for example a `TestClock`; `nil` for the continuous clock.
  /// - Throws: also `timedOut`, naming the unfinished contexts.
  @discardableResult
  nonisolated(nonsending) public func drain(timeout: Duration, clock: (any Clock<Duration>)? = nil) async throws -> Int
  {
    try await core.timed(timeout, clock, "drain", isolation: #isolation) { try await drain() }
  }

  /// Like ``drain()``, but blocks the thread until every queued delivery has run.
  ///
  /// - Parameter timeout: the longest wait. Remaining deliveries still run.
  /// - Throws: `wouldDeadlock` if the caller is on one of the contexts, or if one of the contexts
  ///   waits for the caller; `timedOut`, naming the unfinished contexts.
  @available(*, noasync, message: "it blocks the thread; use drain(timeout:clock:)")
  @discardableResult
  public func drainBlocking(timeout: Duration) throws -> Int {
    let deadline = Deadline(after: timeout)
    var round = DrainRound(core)
    repeat {
      let completion = try round.begin(blocks: true)
      let wait = try round.beginWait(blocks: true)
      defer { wait?.end() }
      guard completion.wait(until: deadline) else {
        let late = round.lateContexts().joined(separator: ", ")
        throw MessageError(
          .timedOut, of: core, "drain", "no answer in \(timeout)" + (late.isEmpty ? "" : " from \(late)"))
      }
    } while !round.isQuiet()
    return round.turns
  }
}
