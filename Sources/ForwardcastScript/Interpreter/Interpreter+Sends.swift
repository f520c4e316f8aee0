// Interpreter+Sends.swift: messages to values, objects and proxies.
// Layer: Script, Interpreter. See the article "How the script works".

import Forwardcast

extension Interpreter {
  /// Sends a message and gives its answer.
  func send(_ shape: SendShape, to receiver: ScriptValue, _ arguments: [ScriptValue], at offset: Int) throws
    -> ScriptValue
  {
    try run.step(at: offset, of: source)
    switch receiver {
    case .null: return .null
    case .object(let reference):
      return try deliver(shape, reference, arguments, at: offset) { receiver, call in
        if let proxy = receiver as? any ScriptedMulticast {
          let report = try forward(&call, through: proxy)
          if let failure = report.failures.first { throw failure.error }
          if report.endsQueued { return .null }
        } else {
          try receiver.perform(&call)
        }
        return try call.result.map { try self.value($0) } ?? .null
      }
    default:
      try chargeTexts(receiver, arguments)
      let answer = try ValueMessages.answer(receiver, shape.selector, arguments)
      if case (.list, .list) = (receiver, answer), shape.selector == "adding:" { return try bounded(answer) }
      if case .string = answer { return try bounded(answer) }
      return answer
    }
  }

  /// Hands a message to the library: counts it, finds its selector, boxes its arguments, and traces it.
  ///
  /// - Throws: what `body` throws, in the script's own words; a limit that was passed further in comes first,
  ///   whoever caught it there.
  private func deliver<T>(
    _ shape: SendShape, _ reference: ScriptReference, _ arguments: [ScriptValue], policy: CollectPolicy? = nil,
    at offset: Int, _ body: (any MessageReceiver, inout Invocation) throws -> T
  ) throws -> T {
    let depth = frame.depth + 1
    if depth > Run.sendLimit { throw ScriptFault(.limitExceeded, "more than \(Run.sendLimit) sends in progress") }
    if let lazy = reference.receiver as? LazyProxy { _ = try lazy.target() }
    let selector = try world.selectorToSend(
      shape.selector, argumentCount: shape.argumentCount, to: reference.receiver)
    let budget = run.budget(at: offset, of: source)
    try internSelectors(in: arguments, of: selector, to: reference.receiver, budget)
    for argument in arguments { try chargeCopy(of: argument) }
    var call = try Invocation(selector, arguments: arguments.map { try settled($0).box })
    call.budget = budget
    world.trace(frame.depth) { "\(reference) is asked \(asked(shape, arguments))" }
    let step = world.handlers.events == nil ? 0 : run.nextEventStep()
    func tell(_ stage: MessageEvent.Stage, _ evidence: String = "") {
      world.tell {
        MessageEvent(
          stage, name: shape.selector, message: asked(shape, arguments),
          sender: frame.object?.reference.description ?? "script", receiver: reference.description,
          evidence: evidence, step: step)
      }
    }
    tell(.sent)
    let result: Result<T, any Error>
    do {
      let sending = SendInProgress(run: run, depth: depth, policy: policy, receiver: reference)
      let answer = try SendInProgress.$current.withValue(sending) {
        if reference.receiver is ScriptObject { return try body(reference.receiver, &call) }
        // A multicast charges the message that it is given, but not for finding who gets it; a chain of others has no message
        // until its end.
        return try budget.charging { try body(reference.receiver, &call) }
      }
      result = .success(answer)
    } catch {
      result = .failure(world.naming(shape, to: reference, in: error))
    }
    try run.check()
    world.trace(frame.depth) {
      switch result {
      case .success(let answer): "\(reference) answers \((answer as? ScriptValue)?.evidence ?? "\(answer)")"
      case .failure(let error): "\(reference) throws \(ScriptFault(error).text)"
      }
    }
    switch result {
    case .success(let answer):
      let value = answer as? ScriptValue ?? (answer as? [ScriptValue]).map(ScriptValue.list)
      tell(.answered, value?.evidence ?? "")
    case .failure(let error): tell(.failed, ScriptFault(error).text)
    }
    return try result.get()
  }

  /// A selector that nobody has interned is a mere name to a row that takes any value; a row that takes a selector
  /// needs a real one.
  private func internSelectors(
    in arguments: [ScriptValue], of message: MessageSelector, to receiver: any MessageReceiver, _ budget: MessageBudget
  ) throws {
    for (index, argument) in arguments.enumerated() {
      guard case .selector(let selector) = argument, selector.known == nil else { continue }
      let signature = budget.charging { receiver.methodSignature(for: message) }
      try run.check()
      guard let types = signature?.argumentTypes, index + 2 < types.count, types[index + 2].kind == .selector else {
        continue
      }
      _ = try world.intern(selector.name)
    }
  }

  /// Forwards a message to every target.
  private func forward(
    _ call: inout Invocation, through proxy: any ScriptedMulticast, waits: Bool = false
  ) throws -> DeliveryReport {
    let report: DeliveryReport
    if waits, let own = proxy as? ScriptMulticast, world.queues(of: own) != nil {
      let message = call
      try run.charge(Work.wait)
      report = try world.waiting(for: own) { try own.forward(message, timeout: World.patience) }
    } else {
      report = try proxy.forward(&call)
    }
    traceForeign(report, of: call, from: world.reference(proxy))
    return report
  }

  /// The message as the script wrote it, with values.
  private func asked(_ shape: SendShape, _ arguments: [ScriptValue]) -> String {
    if arguments.isEmpty { return shape.selector }
    let parts = shape.selector.split(separator: ":", omittingEmptySubsequences: false)
    return zip(parts, arguments).map { "\($0): \($1.evidence)" }.joined(separator: " ")
  }

  /// Traces the targets that are no objects of the script, whose rows trace themselves, and those passed over.
  private func traceForeign(_ report: DeliveryReport, of call: Invocation, from proxy: ScriptReference) {
    guard world.handlers.trace != nil || world.handlers.events != nil else { return }
    func shown(_ target: AnyObject) -> String {
      (target as? any MessageReceiver).map { world.reference($0).description } ?? "\(target)"
    }
    func tell(_ stage: MessageEvent.Stage, _ target: AnyObject, _ evidence: String = "") {
      world.tell {
        MessageEvent(
          stage, name: call.selector.name, message: call.description, sender: proxy.description,
          receiver: shown(target), evidence: evidence, step: run.nextEventStep())
      }
    }
    for answer in report.answers where !(answer.target is ScriptObject) {
      tell(.began, answer.target)
      tell(.answered, answer.target, answer.result.map(\.description) ?? "")
      world.trace(frame.depth + 1) {
        let place = answer.wasQueued ? "on its queue" : "directly"
        return "\(shown(answer.target)) got it, \(place), and answered \(answer.result.map(\.description) ?? "nothing")"
      }
    }
    for failure in report.failures where !(failure.target is ScriptObject) {
      tell(.began, failure.target)
      tell(.failed, failure.target, ScriptFault(failure.error).text)
    }
    for target in report.queued where !(target is ScriptObject) {
      tell(.queued, target)
      world.trace(frame.depth + 1) { "\(shown(target)) will get it on its queue" }
    }
    for skip in report.skipped {
      guard let target = skip.target else { continue }
      tell(.skipped, target, skip.reason.description)
      world.trace(frame.depth + 1) { "\(shown(target)) is passed over: \(skip.reason)" }
    }
  }

  /// The value in a box.
  func value(_ box: ArgumentBox) throws -> ScriptValue {
    let value = try ScriptValue(box, reference: world.reference)
    try chargeCopy(of: value)
    return value
  }
}

// MARK: - Collected answers

extension Interpreter {
  /// `collect POLICY [p …]`.
  func collect(
    _ policy: CollectPolicy, _ shape: SendShape, _ receiver: ScriptValue, _ arguments: [ScriptValue], at offset: Int
  ) throws -> ScriptValue {
    guard case .object(let reference) = receiver, reference.receiver is any ScriptedMulticast else {
      if case .null = receiver { return try policy.result([]) }
      let answer = try send(shape, to: receiver, arguments, at: offset)
      return try policy.result([answer])
    }
    try run.step(at: offset, of: source)
    let (world, run) = (world, run)
    let answers = ReturnPolicy<ArgumentBox, [ScriptValue]>(
      from: [],
      step: { answers, box in
        let answer = try ScriptValue(box, reference: world.reference)
        try run.charge(answer.copyingWork())
        answers.append(answer)
        do { return try policy.needsMore(after: answer) } catch {
          answers.removeLast()
          throw error
        }
      },
      finish: { $0 })
    let collected = try deliver(shape, reference, arguments, policy: policy, at: offset) { receiver, call in
      guard let proxy = receiver as? any ScriptedMulticast else { return [ScriptValue]() }
      if let stated = (proxy as? ScriptPoint)?.selectors, !stated.contains(call.selector) {
        throw proxy.doesNotRecognize(call.selector)
      }
      let message = call
      return try CollectedErrors.$areThrown.withValue(true) {
        guard let own = proxy as? ScriptMulticast, world.queues(of: own) != nil else {
          return try proxy.collect(message, returning: answers)
        }
        try run.charge(Work.wait)
        return try world.waiting(for: own) {
          try own.collect(message, returning: answers, timeout: World.patience)
        }
      }
    }
    return try bounded(policy.result(collected))
  }

  /// `errors [p …]`: the texts of what the targets threw.
  func errors(_ shape: SendShape, _ receiver: ScriptValue, _ arguments: [ScriptValue], at offset: Int) throws
    -> ScriptValue
  {
    do {
      guard case .object(let reference) = receiver, reference.receiver is any ScriptedMulticast else {
        _ = try send(shape, to: receiver, arguments, at: offset)
        return .list([])
      }
      return try bounded(
        .list(
          report(of: shape, reference, arguments, at: offset).failures.map { failure in
            .string(ScriptFault(world.naming(shape, to: reference, in: failure.error)).text)
          }))
    } catch {
      try run.check()
      let error = run.located(error, at: offset, of: source)
      if error.code == .limitExceeded { throw error }
      return .list([.string(error.text)])
    }
  }

  /// `report [p …]`: how many targets got the message, failed, and were passed over.
  func report(_ shape: SendShape, _ receiver: ScriptValue, _ arguments: [ScriptValue], at offset: Int) throws
    -> ScriptValue
  {
    var (delivered, failed, queued, skipped) = (0, 0, 0, 0)
    if case .object(let reference) = receiver, reference.receiver is any ScriptedMulticast {
      let report = try report(of: shape, reference, arguments, at: offset)
      queued = report.queued.count + report.answers.count { $0.wasQueued }
      delivered = report.answers.count { !$0.wasQueued }
      failed = report.failures.count
      skipped = report.skipped.count { $0.reason != .dead && $0.reason != .removed }
    } else {
      do {
        _ = try send(shape, to: receiver, arguments, at: offset)
        if case .null = receiver {} else { delivered = 1 }
      } catch {
        try run.check()
        failed = 1
      }
    }
    return .dictionary([
      "delivered": .integer(delivered), "failed": .integer(failed), "queued": .integer(queued),
      "skipped": .integer(skipped),
    ])
  }

  private func report(
    of shape: SendShape, _ reference: ScriptReference, _ arguments: [ScriptValue], at offset: Int
  ) throws -> DeliveryReport {
    try run.step(at: offset, of: source)
    return try deliver(shape, reference, arguments, at: offset) { receiver, call in
      guard let proxy = receiver as? any ScriptedMulticast else { return DeliveryReport() }
      return try forward(&call, through: proxy, waits: true)
    }
  }
}

extension CollectPolicy {
  /// Whether a further answer can change the result.
  ///
  /// - Throws: `type mismatch` for an answer that the policy cannot take.
  func needsMore(after answer: ScriptValue) throws -> Bool {
    switch (self, answer) {
    case (.first, _): return false
    case (.any, .bool(let value)): return !value
    case (.every, .bool(let value)): return value
    case (.any, _), (.every, _):
      throw ScriptFault(.typeMismatch, "\(rawValue) takes answers that are Bools, not \(answer.kind)")
    case (.sum, .integer), (.sum, .floating), (.last, _), (.all, _): return true
    case (.sum, _): throw ScriptFault(.typeMismatch, "sum takes answers that are numbers, not \(answer.kind)")
    }
  }

  /// One result of all answers in the order of delivery, or the empty value where there is none.
  func result(_ answers: [ScriptValue]) throws -> ScriptValue {
    for answer in answers { _ = try needsMore(after: answer) }
    switch self {
    case .last: return answers.last ?? .null
    case .first: return answers.first ?? .null
    case .all: return .list(answers)
    case .any: return .bool(answers.contains(true))
    case .every: return .bool(!answers.contains(false))
    case .sum: return try ValueMessages.sum(answers)
    }
  }
}
