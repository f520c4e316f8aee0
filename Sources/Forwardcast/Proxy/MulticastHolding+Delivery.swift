// MulticastHolding+Delivery.swift: targets on contexts, and waiting for queued messages.

extension MulticastHolding where Interface: Sendable {
  /// Registers a target whose messages run where and when `delivery` says.
  ///
  ///     members.add(archive, delivery: .queue(diskQueue))
  ///     members.add(window, delivery: .mainActor, buffer: .latestPerSelector)
  ///
  /// Adding a target again with an equal delivery returns its registration, updated: the priority
  /// if one is given, ownership, buffer, and `whenRemoved` for messages sent from then on.
  /// `selectors` are added to those that it has; without any it is for all messages. With another
  /// delivery the target gets one more registration, and receives each message by both.
  ///
  /// - Parameters:
  ///   - target: the new target.
  ///   - delivery: where and when its messages run.
  ///   - priority: higher comes first; on another context, is queued first. `nil` is 0, and keeps the place of a registered target.
  ///   - ownership: `.weak` drops a target that dies; `.strong` keeps it alive.
  ///   - selectors: the messages that the target gets; `nil` for all that it has.
  ///   - buffer: how many messages may wait. Direct deliveries never wait.
  ///   - pending: what happens to waiting messages when the target is removed.
  @discardableResult
  public func add(
    _ target: Interface, delivery: Delivery, priority: Int? = nil, ownership: Ownership = .weak,
    only selectors: [MessageSelector]? = nil, buffer: DeliveryBuffer = .unbounded,
    whenRemoved pending: PendingDeliveries = .dropPending
  ) -> Registration {
    core.add(
      targetObject(for: target), priority: priority, ownership: isObject(target) ? ownership : .strong,
      scope: selectors.map(Set.init), delivery: (delivery, buffer, pending))
  }

  /// Registers a target for the messages of those keys only.
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

  /// Removes the registrations of a target with that delivery; returns how many there were.
  @discardableResult
  public func remove(_ target: Interface, delivery: Delivery) -> Int {
    core.cancel(core.registrations(of: targetObject(for: target))) { $0.delivery == delivery && $0.isLive }
  }

  /// Removes every target that has that delivery.
  public func removeAll(on delivery: Delivery) { core.cancel(core.registrations) { $0.delivery == delivery } }

  /// Waits until every queued delivery of this proxy and its nested proxies has run, including those queued meanwhile.
  ///
  /// Where targets send through several proxies, drain all of them again until each returns 0.
  ///
  /// - Returns: how many deliveries ran since the call.
  /// - Throws: `CancellationError`; `wouldDeadlock` in a suspending method that would wait for its own end; `timedOut` in a task
  ///   that such a method made: see ``MulticastOptions/deadlockTimeout``.
  @discardableResult
  nonisolated(nonsending) public func drain() async throws -> Int {
    let wait = try core.beginDrain(blocks: false)
    defer { wait?.end() }
    var round = DrainRound(core)
    repeat {
      try Task.checkCancellation()
      let completion = round.begin()
      TimedWait.current?.note(round.lateContexts)
      let timer = wait?.start { completion.fail($0) }
      defer { timer?.cancel() }
      try await completion.wait()
    } while !round.isQuiet()
    return round.turns
  }

  /// As ``drain()``, and waits at most for `timeout`.
  ///
  /// - Parameters:
  ///   - timeout: the longest wait. What has not run by then still runs.
  ///   - clock: measures the timeout, such as a `TestClock`; `nil` for the continuous clock.
  /// - Throws: also `timedOut`, naming the contexts that have not finished.
  @discardableResult
  nonisolated(nonsending) public func drain(timeout: Duration, clock: (any Clock<Duration>)? = nil) async throws -> Int
  {
    try await core.timed(timeout, clock, "drain", isolation: #isolation) { try await drain() }
  }

  /// Renamed to ``drainBlocking(timeout:)``.
  @available(*, deprecated, renamed: "drainBlocking")
  @discardableResult
  public func drain(timeout: Duration) throws -> Int { try drainBlocking(timeout: timeout) }

  /// Blocks until every queued delivery has run, as ``drain()`` does.
  ///
  /// - Parameter timeout: the longest wait. What has not run by then still runs.
  /// - Throws: `wouldDeadlock` when the caller is on one of the contexts, or one of them waits for the
  ///   caller's; `timedOut`, naming the contexts that have not finished.
  @available(*, noasync, message: "it blocks the thread; use drain(timeout:clock:)")
  @discardableResult
  public func drainBlocking(timeout: Duration) throws -> Int {
    let deadline = Deadline(after: timeout)
    let wait = try core.beginDrain(blocks: true)
    defer { wait?.end() }
    var round = DrainRound(core)
    repeat {
      guard round.begin().wait(until: deadline) else {
        let late = round.lateContexts().joined(separator: ", ")
        throw MessageError(.timedOut, of: core, "drain", "not finished in \(timeout): \(late)")
      }
    } while !round.isQuiet()
    return round.turns
  }
}

extension MulticastCore {
  /// Notes that the caller is about to wait for all queued targets.
  fileprivate func beginDrain(blocks: Bool) throws -> SenderWait? {
    let cores = withNested
    if blocks, let deadlock = cores.lazy.flatMap(\.mailboxes).compactMap(\.deadlock).first {
      throw MessageError(.wouldDeadlock, of: self, "drain", deadlock)
    }
    return try SenderWait.begin(
      for: cores.flatMap(\.registrations).filter { $0.queued != nil }, in: self, "drain", blocks: blocks)
  }
}
