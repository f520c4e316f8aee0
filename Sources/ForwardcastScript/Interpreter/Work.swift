// Work.swift: what the operations of a script cost beyond their steps, and who is charged.

import Forwardcast

/// Prices, in the unit of ``Run/workPerStep``.
///
/// A step is a statement or a send and takes a few microseconds. What can be made large for one step, a value, a list of
/// targets, an encoding, is charged by its size, and what a message passes as it passes it; the prices are such that a unit takes
/// ten nanoseconds at most. Two units are also charged for each byte that is kept, so that all that a run keeps is bounded.
enum Work {
  /// A byte that is compared, hashed, counted, copied or shown.
  static let byte = 8
  /// Something that is looked at: a step of an expression, a registration, an object that a proxy leads to.
  static let look = 32
  /// What is compared, looked up or listed, one of many: an element, a name, a target; a registration that a message passes by.
  static let pass = 256
  /// Something that is made: an object, a proxy, a call as text, an error as value.
  static let make = 1024
  /// A delivery on a queue. Of many queues at once each waits for the session's lock, which can take 0.2 ms of processor time.
  static let turn = 1 << 14

  /// What a message costs on its way, as the library counts it.
  static func price(of item: MessageBudget.Item) -> Int {
    switch item {
    case .proxy, .hook, .question: 2 * pass
    case .target: pass
    case .passed: pass / 2
    case .step: look / 2
    // It takes memory until it has run.
    case .queued: 2 * make
    }
  }

  /// Marks that may stand in a row in a text that is compared: Unicode's order of them takes time by the square of their number.
  static let markLimit = 64

  /// What it costs to compare, hash or count a text. One that is not ASCII goes through Unicode's normal form.
  /// - Throws: `limit exceeded` for a text that would take a single step too long.
  static func text(_ text: String) throws(ScriptFault) -> Int {
    let price = priceOfByte(text)
    guard price > byte else { return price * text.utf8.count }
    guard text.utf8.count <= ScriptValue.copyLimit else {
      throw ScriptFault(.limitExceeded, "a text of over \(ScriptValue.copyLimit >> 20) MiB that is not ASCII")
    }
    var marks = 0
    for scalar in text.unicodeScalars {
      marks = scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
      if marks > markLimit { throw ScriptFault(.limitExceeded, "a text with more than \(markLimit) marks in a row") }
    }
    return price * text.utf8.count
  }

  /// What it costs to look up a name. A short one costs no more than the step that it is in.
  static func name(_ name: String) -> Int { name.utf8.count <= 32 ? 0 : priceOfByte(name) * name.utf8.count }

  private static func priceOfByte(_ text: String) -> Int {
    let isASCII = text.utf8.withContiguousStorageIfAvailable { $0.reduce(0, |) < 0x80 }
    return isASCII ?? text.utf8.allSatisfy { $0 < 0x80 } ? byte : 16 * byte
  }
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
        case .send(let shape, _): Work.name(shape.selector)
        case .dictionary(let keys): keys.reduce(0) { $0 + Work.name($1) + Work.pass }
        default: 0
        }
      return work + Work.look + names
    }
  }
}

extension ScriptValue {
  /// What it costs to put the value in a box, or to take it out of one. Everything but a list or a dictionary is shared.
  /// - Throws: `limit exceeded` for one that would take a single step too long.
  func copyingWork() throws -> Int {
    switch self {
    case .list, .dictionary:
      let size = try measure()
      guard size <= ScriptValue.copyLimit else {
        throw ScriptFault(
          .limitExceeded, "a list or dictionary of over \(ScriptValue.copyLimit >> 20) MiB in a message")
      }
      return Work.byte * size
    default: return 0
    }
  }
}

extension Interpreter {
  func chargeCopy(of value: ScriptValue) throws { try run.charge(value.copyingWork()) }

  /// `value` with the proxies in it marked as what they are now: a message may take them to a queue.
  func settled(_ value: ScriptValue) throws -> ScriptValue {
    switch value {
    case .object(let reference)
    where !(reference.receiver is ScriptObject) && reference.receiver is any MessageForwarding:
      let crosses = try world.mayCross(reference.receiver, decides: false, run)
      return .object(ScriptReference(reference.receiver, label: reference.description, crosses: crosses))
    case .list(let elements): return .list(try elements.map(settled))
    case .dictionary(let entries): return .dictionary(try entries.mapValues(settled))
    default: return value
    }
  }

  /// A value that was just made, once its size has been found to be within bounds. It may be kept.
  func bounded(_ value: ScriptValue) throws -> ScriptValue {
    try run.charge(2 * value.measure())
    return value
  }
}
