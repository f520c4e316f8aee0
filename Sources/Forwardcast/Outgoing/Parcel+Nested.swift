// Parcel+Nested.swift: long turns of queued targets: nested proxies, and methods that suspend.

extension Parcel {
  /// Serves the targets of a multicast that is queued on this context; until all have ended its next message waits.
  ///
  /// Synchronously if nobody inside has to be waited for, else in a task whose jobs are deliveries of this context: so hooks and
  /// direct targets run here, and the context is free while others are waited for.
  func serve(_ multicast: any MulticastSending, _ place: Int, _ target: AnyObject, _ mailbox: Mailbox) {
    let message = message
    let root: RouteNode
    if let node = details?.node {
      root = node
      // A hook that proceeds twice sends it there twice.
      node.forgetPosted()
    } else {
      let route = multicast.beginMessage(message.selector)
      if let error = proxies.refusal(of: route, message.trail, count: 0, target) {
        return settle(place, .failed(error), target)
      }
      let registration = group.steps[place].registration.takeUnretainedValue()
      root = RouteNode.tree(
        route, ProxyChain(route.core, in: proxies, by: registration), message.trail,
        listsEveryTarget: message.request.listsEveryTarget)
      do { try message.request.wait?.add(root.queuedTargets, in: route.core, message.selector) } catch {
        return settle(place, .failed(error), target)
      }
    }
    root.target = target
    let isAwaited = details?.pending != nil
    let sink = NestedSink(message.request, tells: !isAwaited)
    guard root.mayWait(isAwaited: isAwaited || message.request.waitsForRoom) else {
      let walk = WalkInto(sink, message, to: root, waiting: .nobody, isQueued: true, for: details?.pending)
      let serve = {
        let failure = walk.serveAll()
        self.settle(place, walk, failure, target)
      }
      if let budget = message.trail?.budget { budget.charging(serve) } else { serve() }
      return
    }
    let executor = MailboxExecutor(mailbox)
    let walk = WalkInto(
      sink, message, to: root, waiting: isAwaited ? .suspended : .nobody, isQueued: true, on: executor)
    let sent = UncheckedSendable((walk: walk, target: target))
    suspend(mailbox, place, on: executor) { [self] in
      let failure = await sent.value.walk.serveAllAndWait()
      settle(place, sent.value.walk, failure, sent.value.target)
    }
  }

  private func settle(
    _ place: Int, _ walk: WalkInto<NestedSink>, _ failure: (any Error)?, _ target: AnyObject
  ) {
    details?.pending?.noteDropped(walk.allDropped)
    if let failure { return settle(place, .failed(failure), target) }
    if let details, let trace = details.trace {
      trace.note(.answered(nil), arguments, at: context(place, target), step: details.firstStep + place)
    }
    details?.pending?.settle(slot(place), with: walk.sink.outcomes)
  }

  /// Continues a target's turn in a task; the target's next message waits for its end.
  func suspend(
    _ mailbox: Mailbox, _ place: Int, on executor: MailboxExecutor? = nil,
    _ body: @escaping @Sendable () async -> Void
  ) {
    let registration = group.steps[place].registration.takeUnretainedValue()
    guard let gate = registration.gate else { return }
    keeper = group
    mailbox.close(gate)
    Task(executorPreference: executor) {
      await SuspendedMethod.run(registration) { await body() }
      mailbox.reopen(gate)
    }
  }
}

extension RouteNode {
  /// Whether serving the targets of the proxy, or of one inside, may have to wait.
  ///
  /// - Parameter isAwaited: whether the sender waits for answers, or for room.
  fileprivate func mayWait(isAwaited: Bool) -> Bool {
    all().contains { node in
      if isAwaited, node.hasTurn || node.plan?.suspendsSenders ?? false { return true }
      return (0..<node.route.count).contains { index in
        let step = node.route.steps[index]
        guard step.queued == nil, node.nested(at: index) == nil else { return false }
        // A multicast that has the message by another registration.
        if step.method == nil, node.route.route.hasRepeats, step.target is any MulticastSending { return false }
        // What an object that is asked leads to is not known.
        return !(step.method?.takeUnretainedValue().isolation.isSender ?? false)
      }
    }
  }
}

/// Keeps the outcomes at the targets of a queued proxy.
private struct NestedSink: OutcomeSink {
  let listsEveryTarget: Bool
  /// Tells for each answer whether the sender needs no further one.
  private let isEnough: ((ArgumentBox) -> Bool)?
  /// Whether failures go to the handlers, since nobody waits.
  private let tells: Bool
  private(set) var outcomes: [Outcome] = []
  /// Whether an outcome is open: answers count in their order, so those behind it are not enough.
  private var hasOpen = false

  init(_ request: MessageRequest, tells: Bool) {
    (listsEveryTarget, isEnough, self.tells) = (request.listsEveryTarget, request.makeProbe?(), tells)
  }

  mutating func take(_ outcome: StepOutcome, at context: StepContext) -> Bool {
    if tells {
      if case .failed(let error) = outcome { context.report(error) }
    } else {
      var kept = context
      if case .answered = outcome, context.registration != nil, !listsEveryTarget { kept.target = nil }
      outcomes.append(Outcome(outcome, kept))
    }
    if case .queued(let slot) = outcome, slot >= 0 { hasOpen = true }
    guard !hasOpen, let isEnough else { return true }
    return !outcome.boxes.contains(where: isEnough)
  }

  consuming func end(_ walk: Walk, by failure: (any Error)?) -> [Outcome] { outcomes }
}

/// Runs the jobs of a task on a mailbox's context, each as one of its deliveries.
final class MailboxExecutor: TaskExecutor {
  private let mailbox: Mailbox

  init(_ mailbox: Mailbox) { self.mailbox = mailbox }

  func enqueue(_ job: consuming ExecutorJob) {
    // Not that of whoever lets the task go on.
    let level = mailbox.hasPriority ? Mailbox.level(TaskPriority(rawValue: job.priority.rawValue)) : 0
    mailbox.post(JobEnvelope(UnownedJob(job), self), level)
  }
}

/// One job of a task, on its way to a context.
private final class JobEnvelope: Envelope, @unchecked Sendable {  // immutable
  private let job: UnownedJob
  private let executor: MailboxExecutor

  init(_ job: UnownedJob, _ executor: MailboxExecutor) { (self.job, self.executor) = (job, executor) }

  override func open(in mailbox: Mailbox) -> Int {
    mailbox.noteDeliveries()
    job.runSynchronously(on: executor.asUnownedTaskExecutor())
    return 1
  }
}
