// ModelPrediction.swift: what a sender gets back, and who is told of what, worked out from a simulation.

extension ModelWorld {
  /// What should be observed when the model's message is sent through `door`.
  ///
  /// - Returns: `nil` where it is not determined: a blocked sender and queues that run beside it may meet either way.
  func predict(_ door: ModelDoor) -> ModelOutcome? {
    if !isDetermined || door.isAsync && sender == .onQueue1 { return nil }
    if hasQueuedProxy, door.policy?.mayStopEarly ?? false || door.blocks && sender == .onQueue1 { return nil }
    guard door.blocks else { return outcome(door, .afterSender) }
    if sender == .onQueue1, root.all.contains(where: { $0.place == .queue1 && $0.condition != .active }) { return nil }
    let (late, early) = (outcome(door, .afterSender), outcome(door, .atOnce))
    return late.differences(from: early, telling: door.telling).isEmpty ? late : nil
  }

  private func outcome(_ door: ModelDoor, _ schedule: ModelSchedule) -> ModelOutcome {
    var simulation = ModelSimulation(self, schedule)
    if door.family == .question {
      simulation.outcome.output = "\(simulation.firstResponder(of: root) != nil)"
      return simulation.outcome
    }
    if let refusal = simulation.refusal(door) {
      simulation.outcome.error = refusal
      return simulation.outcome
    }
    let message = simulation.send(door, number: ModelSimulation.first)
    if door.waits { simulation.runQueues() }
    switch door.family {
    case .summary: simulation.finishSummary(message)
    case .report: simulation.finishReport(message)
    case .output: simulation.finishOutput(message)
    case .answer: simulation.finishAnswer(message)
    case .question: break
    }
    simulation.runQueues()
    simulation.outcome.hidesQueued = hasQueuedProxy && !door.waits
    if hasQueuedProxy {
      // One that is empty is listed itself.
      for target in root.all where target.proxy != nil {
        simulation.outcome.optionalSkips.insert("\(target.name) does not respond")
      }
    }
    return simulation.outcome
  }
}

extension ModelSimulation {
  /// Why nothing is sent at all.
  fileprivate func refusal(_ door: ModelDoor) -> String? {
    let first = firstResponder(of: world.root)
    if door.isChecked, first?.kind == .unfit { return "type mismatch" }
    // A proxy that is to throw on silence does not recognize what nobody would get.
    if door.family == .answer, first == nil, world.root.silence == .thrown { return "nobody responds" }
    let held = responders(of: world.root).contains { $0.place == .queue1 || $0.place == .automatic1 && $0.needsOwnTurn }
    if door.blocks, world.sender == .onQueue1, held {
      return "would deadlock"
    }
    return nil
  }

  /// Whether nobody got the message.
  private func isSilent(_ message: Int) -> Bool {
    !messages[message].entries.contains { $0.result?.isReached ?? false }
  }

  /// What the outermost proxy does about a message that nobody got. `true` when it is an error.
  private mutating func handleSilence() -> Bool {
    switch world.root.silence {
    case .ignored: return false
    case .thrown: return true
    case .handled:
      outcome.silences.append(world.root.name)
      return false
    }
  }

  fileprivate mutating func finishSummary(_ message: Int) {
    var (delivered, queued, failed, skipped) = (0, 0, 0, 0)
    for entry in messages[message].entries {
      switch entry.result {
      case nil: break
      case .answered: delivered += 1
      case .queued: queued += 1
      case .failed: failed += 1
      case .skipped(let reason):
        if entry.isOnRoute, reason != "does not respond" { skipped += 1 }
      }
    }
    outcome.hidesSkipCount = hidesSkipCount
    outcome.output = "delivered \(delivered), queued \(queued), failed \(failed), skipped \(skipped)"
    if isSilent(message), handleSilence() { tell("nobody responds", [world.root]) }
  }

  /// Whether a summary may count, as passed over, targets that had left before the message, and those of which nobody
  /// asked whether they would have responded.
  private var hidesSkipCount: Bool {
    world.root.all.contains { target in
      if world.isWarm, target.condition == .removed || target.condition == .dead { return true }
      guard reasonToSkip(target) != nil else { return false }
      return target.isForwarded && target.kind == .silent || target.proxy.map { responders(of: $0).isEmpty } ?? false
    }
  }

  fileprivate mutating func finishReport(_ message: Int) {
    var report = ModelOutcome.Report()
    for target in world.root.all where target.condition == .removed || target.condition == .dead {
      outcome.optionalSkips.formUnion(["\(target.name) removed", "nobody removed", "nobody muted", "nobody dead"])
      mayListInside(target)
    }
    for entry in messages[message].entries {
      let name = entry.target.name
      switch entry.result {
      case .answered(let answer):
        report.answers.append("\(name) = \(answer)\(entry.wasQueued ? " queued" : "")")
        report.result = answer
        report.endsQueued = false
      case .queued:
        report.queued.append(name)
        report.endsQueued = true
      case .failed(let error):
        report.failures.append("\(name): \(error)")
        report.endsQueued = false
      case .skipped(let reason): skip(entry, reason, in: &report)
      case nil where !entry.isOnRoute: passBy(entry, in: &report)
      case nil: stop(entry, in: &report)
      }
    }
    outcome.report = report
    if isSilent(message), handleSilence() { (outcome.error, outcome.report) = ("nobody responds", nil) }
  }

  private mutating func skip(_ entry: ModelEntry, _ reason: String, in report: inout ModelOutcome.Report) {
    let line = reason == "dead" ? "nobody dead" : "\(entry.target.name) \(reason)"
    let reasons = reasonsToSkip(entry.target)
    if Set(reasons + [reason]).count > 1 {
      // There are several reasons, and the first that is found is given; who has died since has no name.
      for reason in reasons + [reason] {
        outcome.optionalSkips.formUnion(["\(entry.target.name) \(reason)", "nobody \(reason)"])
      }
    } else if entry.isOptional {
      outcome.optionalSkips.insert(line)
    }
    report.skipped.append(line)
  }

  /// A target that the message is not for. One that is muted as well may be listed for either reason.
  private mutating func passBy(_ entry: ModelEntry, in report: inout ModelOutcome.Report) {
    skip(entry, entry.target.scope == .other ? "out of scope" : "does not respond", in: &report)
  }

  /// A target that the message did not come to. Of an inner proxy either it or its targets are listed.
  private mutating func stop(_ entry: ModelEntry, in report: inout ModelOutcome.Report) {
    let name = entry.target.name
    let reason = reasonToSkip(entry.target)
    var entry = entry
    // Another context may act on it before the message stops or after.
    let isActedOn = world.root.all.contains { other in
      other.place.queue != nil && [.mute(entry.target.id), .remove(entry.target.id)].contains(other.act)
    }
    if entry.target.proxy != nil || entry.owners.count > 1 || reason == "removed" || reason == "dead" || isActedOn {
      entry.isOptional = true
      for reason in ["stopped", "muted", "removed", "does not respond"] {
        outcome.optionalSkips.insert("\(name) \(reason)")
      }
      outcome.optionalSkips.insert("nobody dead")
      mayListInside(entry.target)
    }
    skip(entry, reason ?? "stopped", in: &report)
  }

  /// A report may list the targets of a proxy in its place.
  private mutating func mayListInside(_ target: ModelTarget) {
    for inner in target.proxy?.all ?? [] {
      for reason in ["removed", "dead", "muted", "out of scope", "does not respond"] {
        outcome.optionalSkips.insert("\(inner.name) \(reason)")
      }
    }
  }

  /// The first error in the order of delivery, of the answers that the policy needs, and every other.
  private func errors(_ message: Int, taken: Int) -> (first: String?, others: [String]) {
    var (first, others, left) = (String?.none, [String](), taken)
    let isEarly = messages[message].door.policy?.isKnown(messages[message].answersInOrder) ?? false
    for entry in messages[message].entries {
      switch entry.result {
      case .answered: left -= 1
      case .failed(let error):
        // A result that is known does not turn into an error for what happened behind it.
        if first == nil, left > 0 || !isEarly { first = error } else { others.append(error) }
      default: break
      }
    }
    return (first, others)
  }

  fileprivate mutating func finishOutput(_ message: Int) {
    guard let policy = messages[message].door.policy else { return }
    let (output, taken) = policy.fold(messages[message].answersInOrder)
    let (first, others) = errors(message, taken: taken)
    for error in others { tell(error, [world.root]) }
    outcome.error = first
    if first == nil { outcome.output = output }
    let results = messages[message].entries.compactMap(\.result)
    if !messages[message].door.waits, !results.contains(where: \.isAsked), results.contains(where: \.isReached) {
      (outcome.error, outcome.output) = ("answers not waited for", nil)
    }
    if isSilent(message), handleSilence() { (outcome.error, outcome.output) = ("nobody responds", nil) }
  }

  fileprivate mutating func finishAnswer(_ message: Int) {
    let (first, others) = errors(message, taken: .max)
    for error in others { tell(error, [world.root]) }
    let answer = messages[message].answersInOrder.last
    let silent = isSilent(message) && handleSilence()
    if let first {
      outcome.error = first
    } else if silent {
      outcome.error = "nobody responds"
    } else if messages[message].door == .perform {
      outcome.output = answer ?? "nil"
    } else if let answer {
      if answer.hasPrefix("text") { outcome.error = "type mismatch" } else { outcome.output = answer }
    } else {
      outcome.error = "nobody responds"
    }
  }
}
