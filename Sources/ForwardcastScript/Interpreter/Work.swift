// Work.swift: what operations cost beyond their steps.

import Forwardcast

/// The prices of operations. A run may use ``Run/workPerStep`` units for each allowed step, plus
/// ``Run/leastWork``.
///
/// A step, such as a statement or a send, takes a few microseconds. A unit takes at most ten
/// nanoseconds. Values, lists and encodings are charged by size. Each stored byte costs two more
/// units, which bounds the memory of a run.
enum Work {
  /// A byte that is compared, hashed, counted, copied or shown.
  static let byte = 8
  /// One visit to an expression's step, a registration, or an object behind a proxy.
  static let look = 32
  /// A target of a message, or one of many elements that are compared or listed.
  static let pass = 256
  /// The creation of an object, a proxy, or the text of a call or an error.
  static let make = 1024
  /// A delivery on a queue. Many queues contend for the session's lock.
  static let turn = 1 << 14

  /// The price of something that the library counts while it delivers a message.
  static func price(of item: MessageBudget.Item) -> Int {
    switch item {
    case .proxy, .hook, .question: 2 * pass
    case .target: pass
    case .passed: pass / 2
    case .step: look / 2
    // A queued message takes memory until it has run.
    case .queued: 2 * make
    }
  }

  /// The maximum number of consecutive combining marks in a compared text. Normalizing them
  /// takes quadratic time.
  static let markLimit = 64

  /// The price of comparing, hashing or counting a text. Text that is not ASCII must be normalized.
  /// - Throws: `limit exceeded` for a text that would take too long for one step.
  static func text(_ text: String) throws(ScriptError) -> Int {
    let price = priceOfByte(text)
    guard price > byte else { return price * text.utf8.count }
    let most = ScriptValue.copyLimit
    try ScriptError.limit(text.utf8.count <= most, "a text of over \(most >> 20) MiB that is not ASCII")
    var marks = 0
    for scalar in text.unicodeScalars {
      marks = scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
      try ScriptError.limit(marks <= markLimit, "a text with more than \(markLimit) consecutive combining marks")
    }
    return price * text.utf8.count
  }

  /// The price of looking up a name. The step covers the lookup of a short ASCII name.
  static func name(_ name: String) -> Int {
    let price = priceOfByte(name)
    if name.utf8.count > 32 { return price * name.utf8.count }
    // A short name has few consecutive marks, so its bytes cost less than those of a long name.
    return price == byte ? 0 : 2 * byte * name.utf8.count
  }

  /// The price of looking up a name in one block, which computes the name's hash.
  static func nameInBlock(_ name: String) -> Int { look / 4 + Work.name(name) }

  private static func priceOfByte(_ text: String) -> Int {
    let isASCII = text.utf8.withContiguousStorageIfAvailable { $0.reduce(0, |) < 0x80 }
    return isASCII ?? text.utf8.allSatisfy { $0 < 0x80 } ? byte : 16 * byte
  }
}

extension ScriptValue {
  /// The price of boxing or unboxing the value. Only lists and dictionaries are copied.
  /// - Throws: `limit exceeded` for a value that would take too long for one step.
  func copyingWork() throws -> Int {
    switch self {
    case .list, .dictionary:
      let (size, most) = (try measure(), ScriptValue.copyLimit)
      try ScriptError.limit(size <= most, "a list or dictionary of over \(most >> 20) MiB in a message")
      return Work.byte * size
    default: return 0
    }
  }
}

extension Interpreter {
  func chargeCopy(of value: ScriptValue) throws { try run.charge(value.copyingWork()) }

  /// The value with the current isolation of its proxies. A message can take the value to a queue.
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

  /// Checks and charges the size of a new value, and returns it.
  func bounded(_ value: ScriptValue) throws -> ScriptValue {
    try run.charge(2 * value.measure())
    return value
  }
}
