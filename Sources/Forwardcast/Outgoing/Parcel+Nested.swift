// Parcel+Nested.swift: asynchronous executions of queued targets.

extension Parcel {
  /// Sends the message to the targets of a multicast that is itself a queued target. The multicast
  /// contributes one answer, combined by the rule that its table has for the message.
  ///
  /// Runs synchronously if the outer sender does not wait. Otherwise a task runs the message. This
  /// context executes the task's jobs, so a hook or target that suspends does not block it.
  func send(
    _ message: OutgoingMessage, on multicast: any MulticastSending, _ place: Int, _ target: AnyObject,
    _ mailbox: Mailbox
  ) {
    let route = multicast.beginMessage(message.selector)
    if let error = proxies.refusal(of: route, message.trail, count: 0, target) {
      return settle(place, .failed(error), target)
    }
    let registration = group.steps[place].registration.takeUnretainedValue()
    let path = ProxyChain(route.core, in: proxies, by: registration, isSentAgain: true)
    guard isAwaited else {
      noteBegan(place, target)
      let send = {
        let summary = message.asking(for: .counts).send(along: route, in: path, into: SummarySink())
        self.settle(place, summary.nobodyResponded ? .skipped(.doesNotRespond) : .answered(nil), target)
      }
      if let budget = message.trail?.budget { budget.charging(send) } else { send() }
      return
    }
    let sent = UncheckedSendable((message: message, route: route, target: target))
    suspend(mailbox, place, on: MailboxExecutor(mailbox)) { [self] in
      // Other targets of the context may have run since the task was created.
      let step = group.steps[place]
      guard reasonToDrop(step) == nil, begin(place) else { return drop(place, reasonToDrop(step) ?? .removed) }
      noteBegan(place, sent.value.target)
      let outcome =
        details?.pending != nil
        ? await sent.value.message.answer(along: sent.value.route, in: path)
        : await sent.value.message.room(along: sent.value.route, in: path)
      settle(place, outcome, sent.value.target)
    }
  }

  /// Continues a target's method in a task. The target's next message waits for the task.
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

extension OutgoingMessage {
  fileprivate func asking(for result: DeliveryRequest.Result) -> OutgoingMessage {
    var message = self
    message.request = DeliveryRequest(result: result, keepsAnswers: result != .counts && request.keepsAnswers)
    return message
  }

  /// Awaits a multicast's targets. Combines their answers by the rule that the multicast's table
  /// has for the message; without a rule, returns the last answer.
  nonisolated(nonsending) fileprivate func answer(along route: MessageRoute, in path: ProxyChain) async
    -> StepOutcome
  {
    let rule = route.core.table?.storage.method(for: selector)?.rule ?? .last
    var message = asking(for: .answers)
    message.ask(rule) { box, _ in box }
    let sink = PolicySink(boxes: rule, route.core)
    let (delivery, queue) = message.delivery(along: route, in: path, into: sink, waiting: .suspending)
    let failure = await delivery.deliverAndWait()
    let collected = queue.sink.end(delivery, by: failure?.error)
    if let failure = collected.failure { return .failed(failure.error) }
    let outcomes = delivery.outcomes
    if outcomes.counts.reached == 0, !outcomes.hasRun { return .skipped(.doesNotRespond) }
    // Hooks may have removed every answer. A report still lists the multicast.
    if collected.output == nil, !request.listsEveryTarget { return .answeredAll(.none) }
    return .answered(collected.output)
  }

  nonisolated(nonsending) fileprivate func room(along route: MessageRoute, in path: ProxyChain) async -> StepOutcome {
    do {
      let summary = try await asking(for: .counts).broadcastWhenReady(along: route, in: path)
      return summary.nobodyResponded ? .skipped(.doesNotRespond) : .answered(nil)
    } catch { return .failed(error) }
  }
}

/// Runs a task's jobs on a mailbox's context. Jobs do not count as deliveries.
final class MailboxExecutor: TaskExecutor {
  private let mailbox: Mailbox

  init(_ mailbox: Mailbox) { self.mailbox = mailbox }

  func enqueue(_ job: consuming ExecutorJob) {
    // The level is the job's priority, not the priority of the code that resumes the task.
    let level = mailbox.hasPriority ? Mailbox.level(TaskPriority(rawValue: job.priority.rawValue)) : 0
    mailbox.post(JobEnvelope(UnownedJob(job), self), level)
  }
}

private final class JobEnvelope: Envelope, @unchecked Sendable {  // immutable
  private let job: UnownedJob
  private let executor: MailboxExecutor

  init(_ job: UnownedJob, _ executor: MailboxExecutor) { (self.job, self.executor) = (job, executor) }

  override func open(in mailbox: Mailbox) -> Int {
    job.runSynchronously(on: executor.asUnownedTaskExecutor())
    return 1
  }
}
