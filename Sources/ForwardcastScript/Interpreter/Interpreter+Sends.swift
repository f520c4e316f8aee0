// Interpreter+Sends.swift: sends to values, objects and proxies.

import Forwardcast

struct Sending {
  let selector: String
  let arguments: [ScriptValue]
  let offset: Int

  /// The message with its values, as a script writes it.
  var asked: String { Sending.text(selector, arguments.map(\.evidence)) }

  static func text(_ selector: String, _ arguments: [String]) -> String {
    if arguments.isEmpty { return selector }
    // Bytes are split, because a colon and a following combining mark are one character.
    let parts = selector.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    return zip(parts, arguments).map { "\(Substring($0)): \($1)" }.joined(separator: " ")
  }
}

extension Interpreter {
  func send(_ sending: Sending, to receiver: ScriptValue, _ wanted: Step.Wanted) throws -> ScriptValue {
    switch (wanted, receiver, receiver.multicast) {
    case (.answer, .null, _): return .null
    case (.answer, .object(let reference), let proxy): return try answer(of: sending, from: reference, proxy)
    case (.answer, _, _): return try answer(of: sending, from: receiver)
    case (.result(let policy), .object(let reference), let proxy?):
      return try collect(policy, sending, reference, proxy)
    case (.result(let policy), .null, _): return try policy.result([])
    case (.result(let policy), _, _): return try policy.result([send(sending, to: receiver, .answer)])
    case (.errors, _, _), (.report, _, _): return try outcome(of: sending, to: receiver, wanted)
    }
  }

  private func answer(of sending: Sending, from receiver: ScriptValue) throws -> ScriptValue {
    let selector = sending.selector
    if let text = receiver.text, selector != "appending:" { try run.charge(Work.text(text)) }
    if case .dictionary = receiver, let key = sending.arguments.first?.text { try run.charge(Work.text(key)) }
    let answer = try ValueMessages.answer(receiver, selector, sending.arguments.first ?? .null)
    return selector == "adding:" || answer.text != nil ? try bounded(answer) : answer
  }

  /// The answer of an object, or the last answer of a multicast proxy's targets.
  private func answer(
    of sending: Sending, from reference: ScriptReference, _ proxy: (any ScriptedMulticast)?
  ) throws -> ScriptValue {
    try deliver(sending, reference) { call in
      if let proxy {
        let report = try proxy.forward(&call)
        if let failure = report.failures.first { throw failure.error }
        if report.endsQueued { return .null }
      } else {
        try reference.receiver.perform(&call)
      }
      return try call.result.map { try self.value($0) } ?? .null
    }
  }

  func beginSend(policy: CollectPolicy? = nil, to receiver: ScriptReference? = nil) throws -> SendInProgress {
    let depth = frame.depth + 1
    try checkDepth(depth)
    return SendInProgress(run: run, depth: depth, policy: policy, receiver: receiver)
  }

  func checkDepth(_ depth: Int) throws(ScriptError) {
    try ScriptError.limit(depth <= Run.sendLimit, "more than \(Run.sendLimit) sends in progress")
  }

  /// Runs `body`, which queries proxies. Lazy proxies create their targets in this run.
  func querying<T>(at offset: Int, _ body: () throws -> T) throws -> T {
    let query = SendInProgress(run: run, depth: frame.depth + 1)
    let answer = try SendInProgress.$ofTask.withValue(query) {
      try run.budget(at: offset, of: source).charging(body)
    }
    try run.check()
    return answer
  }

  /// Checks a message's depth, sends it by `body`, and emits its events. Errors of `body` get the
  /// names that the script uses. An exceeded limit is thrown even if its error was caught.
  private func deliver<T>(
    _ sending: Sending, _ reference: ScriptReference, policy: CollectPolicy? = nil,
    _ body: (inout Invocation) throws -> T
  ) throws -> T {
    let inProgress = try beginSend(policy: policy, to: reference)
    let arguments = sending.arguments
    let budget = run.budget(at: sending.offset, of: source)
    let selector = try SendInProgress.$ofTask.withValue(inProgress) {
      if let lazy = reference.receiver as? LazyProxy { _ = try lazy.target() }
      let selector = try world.selectorToSend(sending.selector, argumentCount: arguments.count, to: reference.receiver)
      try internSelectors(in: arguments, of: selector, to: reference.receiver, budget)
      return selector
    }
    for argument in arguments { try chargeCopy(of: argument) }
    var call = try Invocation(selector, arguments: arguments.map { try settled($0).box })
    call.budget = budget
    let step = world.isTold ? run.nextEventStep() : 0
    func tell(_ stage: MessageEvent.Stage, _ evidence: @autoclosure () -> String = "") {
      world.tell {
        MessageEvent(
          stage, name: sending.selector, message: sending.asked, sender: clipped(frame.object?.description ?? "script"),
          receiver: clipped(reference.description), evidence: evidence(), step: step)
      }
    }
    tell(.sent)
    do {
      let answer = try SendInProgress.$ofTask.withValue(inProgress) {
        if reference.receiver is ScriptObject { return try body(&call) }
        // The charge includes queries that find targets, or the target behind a chain of proxies.
        return try budget.charging { try body(&call) }
      }
      try run.check()
      tell(.answered, (answer as? ScriptValue ?? (answer as? [ScriptValue]).map(ScriptValue.list))?.evidence ?? "")
      return answer
    } catch {
      try run.check()
      let error = world.naming(sending, to: reference, in: error)
      tell(.failed, clipped(ScriptError(error).text))
      throw error
    }
  }

  /// Interns arguments of selector parameters. Other parameters need only the selector's name.
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

  func value(_ box: ArgumentBox) throws -> ScriptValue {
    let value = try ScriptValue(box, reference: world.reference)
    try chargeCopy(of: value)
    return value
  }

  private func collect(
    _ policy: CollectPolicy, _ sending: Sending, _ reference: ScriptReference, _ proxy: any ScriptedMulticast
  ) throws -> ScriptValue {
    let (world, run) = (world, run)
    let answers = ReturnPolicy<ArgumentBox, [ScriptValue]>(
      from: [],
      step: { answers, box in
        let answer = try ScriptValue(box, reference: world.reference)
        try run.charge(answer.copyingWork())
        let goesOn = try policy.needsMore(after: answer)
        answers.append(answer)
        return goesOn
      }, finish: { $0 })
    let collected = try deliver(sending, reference, policy: policy) { call in
      try waiting(for: proxy, call) { try $0.collectBlocking($1, returning: answers, timeout: World.patience) }
        ?? proxy.collect(call, returning: answers)
    }
    return try bounded(policy.result(collected))
  }

  /// The value of `errors` or `report`: texts of errors, or numbers of targets.
  private func outcome(of sending: Sending, to receiver: ScriptValue, _ wanted: Step.Wanted) throws -> ScriptValue {
    var (errors, delivered, queued, skipped) = ([any Error](), 0, 0, 0)
    do {
      if let reference = receiver.reference, let proxy = receiver.multicast {
        let report = try deliver(sending, reference) { call in
          try waiting(for: proxy, call) { try $0.forwardBlocking($1, timeout: World.patience) } ?? proxy.forward(&call)
        }
        errors = report.failures.map { world.naming(sending, to: reference, in: $0.error) }
        let waited = report.answers.count { $0.wasQueued }
        (delivered, queued) = (report.delivered - waited, report.queued.count + waited)
        skipped = report.skipped.count { $0.reason != .dead && $0.reason != .removed }
      } else {
        _ = try send(sending, to: receiver, .answer)
        delivered = receiver == .null ? 0 : 1
      }
    } catch {
      try run.check()
      if wanted == .report, receiver.multicast != nil { throw error }
      let error = run.located(error, at: sending.offset, of: source)
      if error.code == .limitExceeded { throw error }
      errors = [error]
    }
    guard wanted == .errors else {
      let counts = ["delivered": delivered, "failed": errors.count, "queued": queued, "skipped": skipped]
      return .dictionary(counts.mapValues { .integer($0) })
    }
    try run.charge(2 * Work.make * errors.count)
    return try bounded(.list(errors.map { .string(ScriptError($0).text) }))
  }

  /// Runs `body`, which waits for a proxy's targets. Returns `nil` if no target ever had a queue.
  /// - Throws: errors of `body`; `unrecognized selector` if an extension point lacks the message.
  private func waiting<T>(
    for proxy: any ScriptedMulticast, _ call: Invocation,
    _ body: (any MulticastSending<any MessageReceiver & Sendable>, Invocation) throws -> T
  ) throws -> T? {
    if let stated = (proxy as? ScriptPoint)?.selectors, !stated.contains(call.selector) {
      throw proxy.doesNotRecognize(call.selector)
    }
    guard world.queues(of: proxy) != nil,
      let own = proxy as? any MulticastSending<any MessageReceiver & Sendable>
    else { return nil }
    try run.charge(2 * Work.turn)
    try world.refuseWhileMaking()
    return try body(own, call)
  }
}

extension CollectPolicy {
  /// Whether further answers can change the result.
  /// - Throws: `type mismatch` for an answer of the wrong kind.
  func needsMore(after answer: ScriptValue) throws -> Bool {
    switch (self, answer) {
    case (.first, _): return false
    case (.any, .bool(let value)): return !value
    case (.every, .bool(let value)): return value
    case (.any, _), (.every, _):
      throw ScriptError(.typeMismatch, "\"\(rawValue)\" combines answers of type Bool, not \(answer.kind)")
    case (.sum, .integer), (.sum, .floating), (.last, _), (.all, _): return true
    case (.sum, _): throw ScriptError(.typeMismatch, "\"sum\" adds answers that are numbers, not \(answer.kind)")
    }
  }

  /// The result of all answers in the order of delivery. Without answers, the policy's empty value.
  func result(_ answers: [ScriptValue]) throws -> ScriptValue {
    for answer in answers { _ = try needsMore(after: answer) }
    switch self {
    case .last: return answers.last ?? .null
    case .first: return answers.first ?? .null
    case .all: return .list(answers)
    case .any: return .bool(answers.contains(true))
    case .every: return .bool(!answers.contains(false))
    case .sum: return try answers.reduce(.integer(0)) { try ValueMessages.answer($0, "add:", $1) }
    }
  }
}
