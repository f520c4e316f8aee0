// Work.swift: what the operations of a script cost beyond their steps, and who is charged.
// Layer: Script, Interpreter. See DESIGN.md, "The script".

import Forwardcast

/// Prices, in the unit of ``Run/workLimit``.
///
/// A step is a statement or a send and takes about a microsecond. What can be made large for one step, a value, a list of
/// targets, an encoding, is charged by its size; the prices are such that a unit takes a few nanoseconds at most.
enum Work {
  /// A step of an expression.
  static let expressionStep = 32
  /// An object, a proxy or an extension point that is made.
  static let object = 1024
  /// A question whether somebody responds.
  static let question = 512
  /// A service that is listed or told that data is cleared.
  static let service = 256
  /// A registration that is looked at or counted.
  static let registration = 16
  /// A registration that a message passes over.
  static let skip = 128
  /// A message that waits on a queue.
  static let queued = 512
  /// A delivery on a queue. Of many queues at once each waits for the session's lock, which can take 0.2 ms of processor time.
  static let turn = 1 << 14
  /// A wait for one queue: two changes of threads.
  static let wait = 1 << 15
  /// A selector that is looked up in a list of names.
  static let listedName = 256
  /// A registration of a proxy that is asked whether one of them responds.
  static let askedRegistration = 64
  /// A target of a proxy inside another proxy, each time that a message passes there.
  static let passedTarget = 256
  /// A byte of a type encoding that is read.
  static let encodingByte = 64
  /// An argument whose place in the frame is computed.
  static let argument = 256
  /// A byte of a text that is compared, hashed or counted…
  static let textByte = 8
  /// … and one of a text that is not ASCII, which goes through Unicode's normal form.
  static let unicodeByte = 128
  /// A byte of a value that is written as text.
  static let shownByte = 8
  /// A recorded call that is written as text.
  static let shownCall = 1024
  /// An error that is shown: what is shown of it is cut, so all take about the same time.
  static let shownError = 1 << 13
  /// For each byte that an element of a list takes: its way into a box, or out of one.
  static let copiedByte = 16
  /// An element of two lists or dictionaries that are compared.
  static let comparison = 128

  /// What it costs to compare, hash or count a text.
  static func text(_ text: String) -> Int {
    let bytes = text.utf8
    return bytes.count * (bytes.allSatisfy { $0 < 0x80 } ? textByte : unicodeByte)
  }

  /// What it costs to look up a name. A short one costs no more than the step that it is in.
  static func name(_ name: String) -> Int { name.utf8.count <= 32 ? 0 : text(name) }
}

extension Expression {
  /// The steps, and the names that they look up.
  init(steps: [Step], offset: Int) {
    (self.steps, self.offset) = (steps, offset)
    work = steps.reduce(0) { work, step in
      let names =
        switch step.action {
        case .name(let name), .alive(let name), .service(let name): Work.name(name)
        case .make(let receiver, _, _): Work.name(receiver)
        case .send(let shape), .collect(_, let shape), .errors(let shape), .report(let shape):
          Work.name(shape.selector)
        case .dictionary(let keys): keys.reduce(0) { $0 + Work.text($1) + Work.comparison }
        default: 0
        }
      return work + Work.expressionStep + names
    }
  }
}

extension ScriptValue {
  /// What it costs to put the value in a box, or to take it out of one. Everything but a list or a dictionary is shared.
  func copyingWork() throws -> Int {
    switch self {
    case .list, .dictionary: try Work.copiedByte * measure()
    default: 0
    }
  }
}

extension Interpreter {
  func chargeSteps(of expression: Expression) throws {
    do { try run.charge(expression.work) } catch {
      throw run.located(error, at: expression.offset, of: source)
    }
  }

  func chargeCopy(of value: ScriptValue) throws { try run.charge(value.copyingWork()) }

  /// A value that was just made, once its size has been found to be within bounds.
  func bounded(_ value: ScriptValue) throws -> ScriptValue {
    try run.charge(value.measure())
    return value
  }

  /// Charges a message to a value for the texts that it looks at.
  func chargeTexts(_ receiver: ScriptValue, _ arguments: [ScriptValue]) throws {
    if case .string(let text) = receiver { try run.charge(Work.text(text)) }
    if case .dictionary = receiver, case .string(let key)? = arguments.first { try run.charge(Work.text(key)) }
  }

  // MARK: Comparisons

  /// Whether a comparison holds, charged for what it looks at.
  func holds(_ left: ScriptValue, _ comparison: Condition.Comparison, _ right: ScriptValue) throws -> Bool {
    switch comparison {
    case .equal: try areEqual(left, right)
    case .notEqual: try !areEqual(left, right)
    case .less: try left.isLess(than: right)
    case .greater: try right.isLess(than: left)
    case .lessOrEqual: try left.isLess(than: right) || left == right
    case .greaterOrEqual: try right.isLess(than: left) || left == right
    }
  }

  /// `==` of values, which ends as soon as it has used up the run's work.
  private func areEqual(_ left: ScriptValue, _ right: ScriptValue) throws -> Bool {
    switch (left, right) {
    case (.list(let left), .list(let right)):
      guard left.count == right.count else { return false }
      for (left, right) in zip(left, right) {
        try run.charge(Work.comparison)
        guard try areEqual(left, right) else { return false }
      }
      return true
    case (.dictionary(let left), .dictionary(let right)):
      guard left.count == right.count else { return false }
      for (key, value) in left {
        try run.charge(2 * Work.comparison + Work.text(key))
        guard let other = right[key], try areEqual(value, other) else { return false }
      }
      return true
    case (.string(let left), .string(let right)):
      try run.charge(Work.textByte * min(left.utf8.count, right.utf8.count))
      if left.utf8.elementsEqual(right.utf8) { return true }
      // Texts of other bytes may still be canonically equal.
      try run.charge(min(Work.text(left), Work.text(right)))
      return left == right
    case (.signature(let left), .signature(let right)):
      guard left.numberOfArguments == right.numberOfArguments else { return false }
      try run.charge(Work.encodingByte * left.description.utf8.count)
      return left == right
    default: return left == right
    }
  }
}

// MARK: - Proxies inside proxies

/// A way from a proxy to another: what a message may pass on.
struct Way: Sendable {
  let proxy: WeakObject
  /// The registration by which it leads there; `nil` for one that lasts as long as the proxy.
  let registration: WeakRegistration?

  /// The proxy that a message of `selector` would be passed on to now.
  func end(for selector: MessageSelector) -> (any MessageForwarding)? {
    if let registration {
      guard let registration = registration.registration, !registration.isCancelled, !registration.isMuted,
        registration.scope?.contains(selector) ?? true
      else { return nil }
    }
    return proxy.object as? any MessageForwarding
  }
}

/// A registration that is not kept.
struct WeakRegistration: @unchecked Sendable {  // only loaded; the runtime guards that
  weak var registration: Registration?
}

extension World {
  /// Counts a registration that may be one of many of its target, and gives the price: they are linked to one another, so
  /// that the last of them costs as much as there are.
  func workOfAdding(to proxy: AnyObject, only: [MessageSelector]?) -> Int {
    let id = ObjectIdentifier(proxy)
    return state.withLock { state in
      guard var label = state.labels[id], label.allowsDuplicates || only != nil else { return 0 }
      label.repeatable += 1
      state.labels[id] = label
      return Work.registration * label.repeatable
    }
  }

  /// Notes that messages to `proxy` reach `target`, if that is a proxy too.
  func noteWay(from proxy: AnyObject, to target: any MessageReceiver, by registration: Registration? = nil) {
    guard target is any MessageForwarding else { return }
    let id = ObjectIdentifier(proxy)
    let way = Way(
      proxy: WeakObject(target), registration: registration.map { WeakRegistration(registration: $0) })
    let count = state.withLock { state in
      state.ways[id, default: []].append(way)
      return state.ways[id]?.count ?? 0
    }
    // Each time that there are twice as many, those that were cancelled are forgotten.
    guard count >= 64, count & (count - 1) == 0 else { return }
    let all = ways(from: proxy)
    let lasting = all.filter { way in
      guard let registration = way.registration else { return true }
      return registration.registration.map { !$0.isCancelled } ?? false
    }
    state.withLock { state in
      // Another row may have added one meanwhile.
      if state.ways[id]?.count == all.count { state.ways[id] = lasting }
    }
  }

  func ways(from proxy: AnyObject) -> [Way] {
    let id = ObjectIdentifier(proxy)
    return state.withLock { $0.ways[id] ?? [] }
  }
}

extension Interpreter {
  /// Charges a message, or a question, a step for every proxy that it will pass after the first, and for the targets that
  /// are looked at there. A message is charged as often as it passes a proxy, with a step more for each proxy with hooks
  /// before, which asks what is behind it. A question asks a multicast once, however many ways lead to it, unless it comes
  /// there through proxies with hooks, which ask anew.
  ///
  /// The ways are walked before the message is sent, so that one that would never end is not begun.
  ///
  /// - Throws: `limit exceeded` when the run has not so many steps left, or the proxies stand too deep.
  func chargePassage(
    of selector: MessageSelector, through receiver: any MessageReceiver, isQuestion: Bool = false, at offset: Int
  ) throws {
    guard receiver is any MessageForwarding else { return }
    if isQuestion, let proxy = receiver as? any ScriptedMulticast {
      try run.charge(Work.askedRegistration * proxy.registrations.count)
    }
    let first = world.ways(from: receiver)
    if first.isEmpty { return }
    var targets: [ObjectIdentifier: Int] = [:]
    // The multicasts that each question has asked: that of the script, and those that proxies with hooks ask.
    var asked: [Set<ObjectIdentifier>] = [[ObjectIdentifier(receiver)]]
    var path: [(proxy: AnyObject, ways: [Way], next: Int, question: Int, hooks: Int)] = []
    path.append((receiver, first, 0, 0, receiver is any ScriptedMulticast ? 0 : 1))
    while let top = path.indices.last {
      guard path[top].next < path[top].ways.count else {
        path.removeLast()
        continue
      }
      let way = path[top].ways[path[top].next]
      path[top].next += 1
      try run.charge(Work.registration)
      // A proxy that the message is in already is a cycle, which the library ends there.
      guard let proxy = way.end(for: selector), !path.contains(where: { $0.proxy === proxy }) else { continue }
      let id = ObjectIdentifier(proxy)
      var (question, hooks) = (path[top].question, path[top].hooks)
      if isQuestion, proxy is any ScriptedMulticast {
        guard asked[question].insert(id).inserted else { continue }
      } else if isQuestion {
        question = asked.count
        asked.append([])
      }
      for _ in 0...(isQuestion ? 0 : hooks) { try run.step(at: offset, of: source) }
      if !(proxy is any ScriptedMulticast) { hooks += 1 }
      let count = targets[id] ?? (proxy as? any ScriptedMulticast)?.registrations.count ?? 0
      targets[id] = count
      try run.charge(Work.passedTarget * count)
      guard path.count <= World.chainLimit else {
        throw ScriptFault(.limitExceeded, "more than \(World.chainLimit) proxies behind one another")
      }
      path.append((proxy, world.ways(from: proxy), 0, question, hooks))
    }
  }
}
