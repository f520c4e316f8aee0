// Work.swift: what the operations of a script cost beyond their steps, and who is charged.
// Layer: Script, Interpreter. See the article "How the script works".

import Forwardcast

/// Prices, in the unit of ``Run/workPerStep``.
///
/// A step is a statement or a send and takes a few microseconds. What can be made large for one step, a value, a list of
/// targets, an encoding, is charged by its size, and what a message passes as it passes it; the prices are such that a unit takes
/// ten nanoseconds at most.
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
  /// A priority of a proxy that another one is put among.
  static let priority = 4
  /// An object that a proxy leads to, when it is asked whether all may be used on queues.
  static let reached = 32
  /// A target that becomes an element of a list.
  static let listedTarget = 128
  /// A delivery on a queue. Of many queues at once each waits for the session's lock, which can take 0.2 ms of processor time.
  static let turn = 1 << 14
  /// A wait for one queue: two changes of threads.
  static let wait = 1 << 15
  /// A selector that is looked up in a list of names.
  static let listedName = 256
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
  static let copiedByte = 32
  /// An element of two lists or dictionaries that are compared.
  static let comparison = 128

  /// What a message costs on its way, as the library counts it.
  static func price(of item: MessageBudget.Item) -> Int {
    switch item {
    case .proxy, .hook, .question: 512
    case .target: 256
    case .passed: 128
    case .step: 16
    // It takes memory until it has run.
    case .queued: 512
    }
  }

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
  ///
  /// - Throws: `limit exceeded` for one that would take a single step too long.
  func copyingWork() throws -> Int {
    switch self {
    case .list, .dictionary:
      let size = try measure()
      guard size <= ScriptValue.copyLimit else {
        throw ScriptFault(
          .limitExceeded, "a list or dictionary of over \(ScriptValue.copyLimit >> 20) MiB in a message")
      }
      return Work.copiedByte * size
    default: return 0
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

  /// Whether an object may be used on queues, charged for what it leads to.
  func mayCross(_ receiver: any MessageReceiver, decides: Bool = true) throws -> Bool {
    let (answer, looked) = world.mayCross(receiver, decides: decides)
    try run.charge(Work.reached * looked)
    try world.refuse(looked: looked)
    return answer
  }

  /// `value` with the proxies in it marked as what they are now: a message may take them to a queue.
  func settled(_ value: ScriptValue) throws -> ScriptValue {
    switch value {
    case .object(let reference)
    where !(reference.receiver is ScriptObject) && reference.receiver is any MessageForwarding:
      let crosses = try mayCross(reference.receiver, decides: false)
      return .object(ScriptReference(reference.receiver, label: reference.description, crosses: crosses))
    case .list(let elements): return .list(try elements.map(settled))
    case .dictionary(let entries): return .dictionary(try entries.mapValues(settled))
    default: return value
    }
  }

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
}
