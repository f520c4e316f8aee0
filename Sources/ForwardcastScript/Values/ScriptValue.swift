// ScriptValue.swift: what a script computes with.

import Forwardcast

/// A value of a script, and the form in which a host program gives and gets values.
///
///     let outcome = session.run("[cart total]")
///     outcome.value            // 12.5
///     outcome.value == 12.5    // true
///
/// Values compare as `==` does in a script: integers and floating point are one kind of number, objects are equal
/// when they are the same object, and different kinds are never equal.
public enum ScriptValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case floating(Double)
  case string(String)
  /// `@[…]`.
  case list([ScriptValue])
  /// `@{…}`.
  case dictionary([String: ScriptValue])
  /// `@selector(…)`.
  case selector(ScriptSelector)
  /// What `signature "…"` gives.
  case signature(MethodSignature)
  /// An object or a proxy.
  case object(ScriptReference)
  /// What `add … as r` names.
  case registration(Registration)
  /// What `before … as h` names.
  case hook(HookRegistration)
  /// What `queue q` makes.
  case queue(ScriptQueue)
  /// A value of the host program that is none of the above: a script can keep it and pass it on.
  case foreign(ScriptForeignValue)
}

/// The name of a message as a script holds it: checked against the grammar and interned only when something answers it.
public struct ScriptSelector: Hashable, Sendable, CustomStringConvertible {
  public let name: String

  /// - Throws: `MessageSelectorError` for a text that names no message.
  public init(_ name: String) throws(MessageSelectorError) {
    _ = try MessageSelector.numberOfArguments(inName: name)
    self.name = name
  }

  init(checked name: String) { self.name = name }

  /// The selector, when some program, table or script has interned it.
  public var known: MessageSelector? { MessageSelector(known: name) }

  public var description: String { name }
}

/// An object as a script holds it, with the text that it prints as.
///
/// Two references are equal when they are to the same object.
public struct ScriptReference: Hashable, @unchecked Sendable, CustomStringConvertible {  // used in one session's turn
  // A script sends to an object that is not Sendable only in the turn of its session, which is not Sendable either, and
  // never on a queue, where `crosses` is looked at;
  // a host that takes `receiver` out of a value on another thread answers for that itself.

  /// The object; a value keeps it alive.
  public let receiver: any MessageReceiver

  /// `<Cook ann>`, `<multicast kitchen>`.
  public let description: String

  /// Whether the object may be used on the queues of a script. One that the host did not say to be `Sendable`, and what
  /// leads to such a one, may not.
  let crosses: Bool

  init(_ receiver: any MessageReceiver, label: String, crosses: Bool) {
    (self.receiver, self.crosses, description) = (receiver, crosses, label)
  }

  public static func == (left: Self, right: Self) -> Bool { left.receiver === right.receiver }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(receiver)) }
}

/// A value of a host program that the language has no word for.
public struct ScriptForeignValue: @unchecked Sendable {  // used in one session's turn
  // As with ScriptReference: it stays in the turn of its session unless its box says that it may cross.

  /// The box that it came in.
  public let box: ArgumentBox
}

extension ScriptValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .floating(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: ScriptValue...) { self = .list(elements) }
  /// Of equal keys the last one stays.
  public init(dictionaryLiteral elements: (String, ScriptValue)...) { self = .dictionary(Dictionary(elements) { $1 }) }
}

extension ScriptValue {
  var kind: String {
    switch self {
    case .null: "nil"
    case .bool: "a Bool"
    case .integer: "an integer"
    case .floating: "a number"
    case .string: "a text"
    case .list: "a list"
    case .dictionary: "a dictionary"
    case .selector: "a selector"
    case .signature: "a signature"
    case .object: "an object"
    case .registration: "a registration"
    case .hook: "a hook"
    case .queue: "a queue"
    case .foreign(let value): "a value of type \(value.box.type)"
    }
  }

  // MARK: Parts; nil for values of another kind

  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  var integer: Int? { if case .integer(let value) = self { value } else { nil } }
  var text: String? { if case .string(let value) = self { value } else { nil } }
  /// The number, with its exact value where it is an integer.
  var number: (integer: Int?, floating: Double)? {
    if case .floating(let value) = self { (nil, value) } else { integer.map { ($0, Double($0)) } }
  }
  var list: [ScriptValue]? { if case .list(let value) = self { value } else { nil } }
  var dictionary: [String: ScriptValue]? { if case .dictionary(let value) = self { value } else { nil } }
  var signature: MethodSignature? { if case .signature(let value) = self { value } else { nil } }
  var reference: ScriptReference? { if case .object(let value) = self { value } else { nil } }
  var registration: Registration? { if case .registration(let value) = self { value } else { nil } }
  var queue: ScriptQueue? { if case .queue(let value) = self { value } else { nil } }

  /// What is wanted of the value.
  /// - Parameters:
  ///   - need: what an error says before the kind of the value, or before what it shows.
  ///   - part: gives `nil` for what is not wanted.
  /// - Throws: `type mismatch`.
  func wanted<Part>(
    _ need: @autoclosure () -> String, showsValue: Bool = false, _ part: (ScriptValue) -> Part?
  ) throws(ScriptFault) -> Part {
    if let part = part(self) { return part }
    throw ScriptFault(.typeMismatch, "\(need()) \(showsValue ? evidence : kind)")
  }

  // MARK: Size

  /// Lists and dictionaries inside one another that a value may have.
  static let depthLimit = 128
  /// Bytes that one value may take.
  static let sizeLimit = 16 << 20

  /// Bytes of a list or dictionary that a message takes or answers, or that is printed: its elements are copied one by one.
  static let copyLimit = 1 << 20

  /// Roughly the bytes that the value takes, counting shared parts each time.
  /// - Throws: `limit exceeded` as soon as ``sizeLimit`` or ``depthLimit`` is passed, so that the count itself is bounded.
  func measure() throws -> Int {
    var size = 0
    try measure(into: &size, depth: 0)
    return size
  }

  private func measure(into size: inout Int, depth: Int) throws {
    size += MemoryLayout<ScriptValue>.stride
    guard depth <= ScriptValue.depthLimit else {
      throw ScriptFault(.limitExceeded, "a value of over \(ScriptValue.depthLimit) lists inside one another")
    }
    switch self {
    case .string(let text): size += text.utf8.count
    case .object(let reference): size += reference.description.utf8.count
    case .signature(let signature): size += signature.description.utf8.count
    case .list(let elements):
      for element in elements { try element.measure(into: &size, depth: depth + 1) }
    case .dictionary(let entries):
      for (key, value) in entries {
        size += 2 * MemoryLayout<String>.stride + key.utf8.count
        try value.measure(into: &size, depth: depth + 1)
      }
    default: break
    }
    guard size <= ScriptValue.sizeLimit else { throw ScriptFault(.limitExceeded, "a value of over 16 MiB") }
  }
}
