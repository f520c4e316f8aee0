// ModelSending.swift: sends the model's message for real and writes down what is observed.

import Dispatch
import Forwardcast
import Synchronization
import TestSupport

/// Runs the jobs of one task on the thread that asks for it: so a test sees when the task waits.
private final class HandExecutor: TaskExecutor {
  private let jobs = Locked<[UnownedJob]>([])
  private let arrivals = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrivals.signal()
  }

  private func runNext() {
    guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
    job.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Runs jobs until there is none: the task waits for others, or has ended.
  func runAll() { while arrivals.wait(timeout: .now()) == .success { runNext() } }

  /// Runs jobs until the task has ended. `false` when nothing came for a minute.
  func run(until isDone: () -> Bool) -> Bool {
    while !isDone() {
      guard arrivals.wait(timeout: .now() + 600) == .success else { return false }
      runNext()
    }
    return true
  }
}

/// Sends messages of cases, one after another.
struct ModelSender {
  let queues = ModelQueues()

  /// Sends the message of a case, and says what was observed.
  func send(_ world: ModelWorld, _ door: ModelDoor) throws -> ModelOutcome {
    let stage = ModelStage(world, queues)
    var outcome = ModelOutcome()
    func note(_ body: () throws -> Void) {
      do { try body() } catch { outcome.error = ModelStage.text(error) }
    }
    func sendOnQueue() {
      queues[.queue1].sync {
        stage.journal.isSending = true
        note { try self.send(door, on: stage, &outcome) }
        stage.journal.isSending = false
      }
    }
    if door.isAsync {
      try whileHeld(world.queues) { release in
        outcome = try wait(for: door, on: stage, release)
      }
    } else if door.blocks {
      if world.sender == .onQueue1 { sendOnQueue() } else { note { try self.send(door, on: stage, &outcome) } }
    } else if world.sender == .onQueue1 {
      whileHeld(world.queues.filter { $0 != .queue1 }) { _ in sendOnQueue() }
    } else {
      whileHeld(world.queues) { _ in note { try self.send(door, on: stage, &outcome) } }
    }
    try stage.drain()
    let lines = stage.journal.all
    (outcome.calls, outcome.told, outcome.silences) = (lines.calls, lines.told, lines.silences)
    return outcome
  }

  /// Holds queues up while `body` runs, or until it calls what it is given.
  private func whileHeld(_ names: [ModelQueue], _ body: (_ release: () -> Void) throws -> Void) rethrows {
    for name in names { queues[name].suspend() }
    var isHeld = true
    func release() {
      guard isHeld else { return }
      isHeld = false
      for name in names { queues[name].resume() }
    }
    defer { release() }
    try body(release)
  }

  /// Sends from a task: it runs on this thread, and the queues run once it waits.
  private func wait(for door: ModelDoor, on stage: ModelStage, _ release: () -> Void) throws -> ModelOutcome {
    let executor = HandExecutor()
    let result = Locked<ModelOutcome?>(nil)
    Task(executorPreference: executor) {
      var outcome = ModelOutcome()
      do { try await Self.send(door, on: stage, &outcome) } catch { outcome.error = ModelStage.text(error) }
      result.withLock { [outcome] in $0 = outcome }
    }
    executor.runAll()
    release()
    guard executor.run(until: { result.withLock { $0 != nil } }), let outcome = result.withLock({ $0 }) else {
      throw MessageError(.timedOut, receiver: "the model's sender", selector: "model:")
    }
    return outcome
  }

  private static func send(_ door: ModelDoor, on stage: ModelStage, _ outcome: inout ModelOutcome) async throws {
    let (root, call) = (stage.root, Invocation("model:", arguments: [ArgumentBox(ModelSimulation.first)]))
    let number = ModelSimulation.first
    switch door {
    case .broadcastWhenReady: outcome.output = "\(try await root.broadcastWhenReady(.model, number))"
    case .forwardAndWait:
      let report = try await root.forwardAndWait(call)
      outcome.report = ModelOutcome.Report(report, result: report.result, stage)
    case .collectAndWait(.any):
      outcome.output = "\(try await root.collectAndWait(.modelAgrees, number, returning: .any))"
    case .collectAndWait(.every):
      outcome.output = "\(try await root.collectAndWait(.modelAgrees, number, returning: .every))"
    case .collectAndWait(.last): outcome.output = text(try await root.collectAndWait(.model, number, returning: .last))
    case .collectAndWait(.first):
      outcome.output = text(try await root.collectAndWait(.model, number, returning: .first))
    case .collectAndWait(.all): outcome.output = "\(try await root.collectAndWait(.model, number, returning: .all))"
    case .collectAndWait(.sum): outcome.output = "\(try await root.collectAndWait(.model, number, returning: .sum))"
    default: preconditionFailure("\(door) does not suspend")
    }
  }

  private func send(_ door: ModelDoor, on stage: ModelStage, _ outcome: inout ModelOutcome) throws {
    let (root, number, timeout) = (stage.root, ModelSimulation.first, Duration.seconds(600))
    var call = Invocation("model:", arguments: [ArgumentBox(number)])
    switch door {
    case .broadcast: outcome.output = "\(root.broadcast(.model, number))"
    case .broadcastBoxed: outcome.output = "\(root.broadcast(call))"
    case .broadcastPinned: outcome.output = root.pinned { "\($0.broadcast(.model, number))" }
    case .forward:
      let report = try root.forward(&call)
      outcome.report = ModelOutcome.Report(report, result: call.result, stage)
    case .forwardBlocking:
      let report = try root.forward(call, timeout: timeout)
      outcome.report = ModelOutcome.Report(report, result: report.result, stage)
    case .collect(let policy):
      outcome.output = try collect(
        policy, { try root.collect(.model, number, returning: $0) },
        { try root.collect(.model, number, returning: $0) },
        { try root.collect(.model, number, returning: $0) }, { try root.collect(.modelAgrees, number, returning: $0) })
    case .collectPinned(let policy):
      outcome.output = try root.pinned { root in
        try collect(
          policy, { try root.collect(.model, number, returning: $0) },
          { try root.collect(.model, number, returning: $0) },
          { try root.collect(.model, number, returning: $0) }, { try root.collect(.modelAgrees, number, returning: $0) }
        )
      }
    case .collectBlocking(let policy):
      outcome.output = try collect(
        policy, { try root.collect(.model, number, returning: $0, timeout: timeout) },
        { try root.collect(.model, number, returning: $0, timeout: timeout) },
        { try root.collect(.model, number, returning: $0, timeout: timeout) },
        { try root.collect(.modelAgrees, number, returning: $0, timeout: timeout) })
    case .collectBoxed(let policy):
      outcome.output = try collectBoxes(
        policy, { try root.collect(call, returning: $0) }, { try root.collect(call, returning: $0) })
    case .collectBoxedBlocking(let policy):
      outcome.output = try collectBoxes(
        policy, { try root.collect(call, returning: $0, timeout: timeout) },
        { try root.collect(call, returning: $0, timeout: timeout) })
    case .send: outcome.output = "\(try root.send(.model, number))"
    case .perform:
      try root.perform(&call)
      outcome.output = call.result.map { "\($0.value)" } ?? "nil"
    case .responds: outcome.output = "\(root.responds(to: "model:"))"
    case .broadcastWhenReady, .forwardAndWait, .collectAndWait: preconditionFailure("\(door) suspends")
    }
  }

  private func collect(
    _ policy: ModelPolicy, _ one: (ReturnPolicy<Int, Int?>) throws -> Int?,
    _ many: (ReturnPolicy<Int, [Int]>) throws -> [Int], _ sum: (ReturnPolicy<Int, Int>) throws -> Int,
    _ agree: (ReturnPolicy<Bool, Bool>) throws -> Bool
  ) throws -> String {
    switch policy {
    case .last: Self.text(try one(.last))
    case .first: Self.text(try one(.first))
    case .all: "\(try many(.all))"
    case .sum: "\(try sum(.sum))"
    case .any: "\(try agree(.any))"
    case .every: "\(try agree(.every))"
    }
  }

  private func collectBoxes(
    _ policy: ModelPolicy, _ one: (ReturnPolicy<ArgumentBox, ArgumentBox?>) throws -> ArgumentBox?,
    _ many: (ReturnPolicy<ArgumentBox, [ArgumentBox]>) throws -> [ArgumentBox]
  ) throws -> String {
    switch policy {
    case .last: try one(.last).map { "\($0.value)" } ?? "nil"
    case .first: try one(.first).map { "\($0.value)" } ?? "nil"
    default: "[" + (try many(.all)).map { "\($0.value)" }.joined(separator: ", ") + "]"
    }
  }

  private static func text(_ answer: Int?) -> String { answer.map { "\($0)" } ?? "nil" }
}

extension ModelOutcome.Report {
  fileprivate init(_ report: DeliveryReport, result: ArgumentBox?, _ stage: ModelStage) {
    answers = report.answers.map { answer in
      "\(stage.name(answer.target)) = \(answer.result.map { "\($0.value)" } ?? "nil")"
        + (answer.wasQueued ? " queued" : "")
    }
    queued = report.queued.map(stage.name)
    failures = report.failures.map { "\(stage.name($0.target)): \(ModelStage.text($0.error))" }
    skipped = report.skipped.map { "\(stage.name($0.target)) \($0.reason)" }
    self.result = result.map { "\($0.value)" } ?? "nil"
    endsQueued = report.endsQueued
  }
}
