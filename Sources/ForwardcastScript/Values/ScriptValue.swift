// ScriptValue.swift: values of a script.

import Forwardcast

/// A value of a script, which scripts and host programs exchange.
///
///     let outcome = session.run("[cart total]")
///     outcome.value            // 12.5
///     outcome.value == 12.5    // true
///
/// `==` compares as scripts do: integers and floating-point numbers are one kind of value, objects
/// compare by identity, a foreign value equals only its copies, and values of different kinds are
/// never equal.
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
  /// The value of `signature "…"`.
  case signature(MethodSignature)
  /// An object or a proxy.
  case object(ScriptReference)
  /// The registration of `add … as r`.
  case registration(Registration)
  /// The hook of `before … as h`.
  case hook(HookRegistration)
  /// The queue of `queue q`.
  case queue(ScriptQueue)
  /// The host program's value of any other type. A script can store it and pass it to methods.
  case foreign(ScriptForeignValue)
}

/// A selector's name, checked against the grammar. A `ScriptSelector` does not intern its name.
public struct ScriptSelector: Hashable, Sendable, CustomStringConvertible {
  /// The selector's name, such as `add:to:`.
  public let name: String

  /// - Throws: `MessageSelectorError` for a text that is not a selector.
  public init(_ name: String) throws(MessageSelectorError) {
    _ = try MessageSelector.numberOfArguments(inName: name)
    self.name = name
  }

  init(checked name: String) { self.name = name }

  /// The selector, if it was interned.
  public var known: MessageSelector? { MessageSelector(known: name) }

  public var description: String { name }
}

/// An object of a script with its label. References are equal if they refer to the same object.
public struct ScriptReference: Hashable, @unchecked Sendable, CustomStringConvertible {  // used in one isolation
  // The object might not be Sendable. A script sends to it in the isolation of its session and, if
  // `crosses`, on queues. If a host uses it on another thread, the host must ensure safety.

  /// The object, kept alive.
  public let receiver: any MessageReceiver

  /// The label: `<Cook ann>`, `<multicast kitchen>`.
  public let description: String

  /// True if the object and every object behind it are `Sendable`, so it may be used on queues.
  let crosses: Bool

  init(_ receiver: any MessageReceiver, label: String, crosses: Bool) {
    (self.receiver, self.crosses, description) = (receiver, crosses, label)
  }

  public static func == (left: Self, right: Self) -> Bool { left.receiver === right.receiver }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(receiver)) }
}

/// A value of the host program, of a type that the language does not have.
public struct ScriptForeignValue: @unchecked Sendable {  // used in one isolation
  // It is used on a queue only if its box is Sendable.

  /// The box, in an object that identifies the copies of this value.
  private let storage: Storage

  private final class Storage {
    let box: ArgumentBox
    init(_ box: ArgumentBox) { self.box = box }
  }

  init(box: ArgumentBox) { storage = Storage(box) }

  /// The box of the value.
  public var box: ArgumentBox { storage.box }

  func isCopy(of other: ScriptForeignValue) -> Bool { storage === other.storage }
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
  /// If several keys are equal, the last of them is used.
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

  // MARK: Parts, nil for other kinds

  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  var integer: Int? { if case .integer(let value) = self { value } else { nil } }
  var text: String? { if case .string(let value) = self { value } else { nil } }
  /// The number, with its exact value if it is an integer.
  var number: (integer: Int?, floating: Double)? {
    if case .floating(let value) = self { (nil, value) } else { integer.map { ($0, Double($0)) } }
  }
  var list: [ScriptValue]? { if case .list(let value) = self { value } else { nil } }
  var dictionary: [String: ScriptValue]? { if case .dictionary(let value) = self { value } else { nil } }
  var signature: MethodSignature? { if case .signature(let value) = self { value } else { nil } }
  var reference: ScriptReference? { if case .object(let value) = self { value } else { nil } }
  var registration: Registration? { if case .registration(let value) = self { value } else { nil } }
  var queue: ScriptQueue? { if case .queue(let value) = self { value } else { nil } }

  /// The result of `part`. If it is `nil`, throws `type mismatch` with a text that begins with
  /// `need` and ends with the kind of the value, or with the value itself.
  func wanted<Part>(
    _ need: @autoclosure () -> String, showsValue: Bool = false, _ part: (ScriptValue) -> Part?
  ) throws(ScriptError) -> Part {
    if let part = part(self) { return part }
    let isFacade = showsValue && reference?.receiver is any MulticastFacade
    throw ScriptError(
      .typeMismatch, "\(need()) \(showsValue ? evidence : kind)", about: isFacade ? .advice(Advice.facade) : nil)
  }

  static let depthLimit = 128
  /// The maximum size of one value, in bytes.
  static let sizeLimit = 16 << 20

  /// The maximum size of a list or dictionary that a message or `print` copies, in bytes.
  static let copyLimit = 1 << 20

  /// The approximate size of the value in bytes. Shared parts are counted each time.
  /// - Throws: `limit exceeded` beyond ``sizeLimit`` or ``depthLimit``, which bounds the cost.
  func measure() throws -> Int {
    var size = 0
    try measure(into: &size, depth: 0)
    return size
  }

  private func measure(into size: inout Int, depth: Int) throws {
    size += MemoryLayout<ScriptValue>.stride
    let deepest = ScriptValue.depthLimit
    try ScriptError.limit(depth <= deepest, "a value of more than \(deepest) nested lists and dictionaries")
    switch self {
    case .string(let text): size += text.utf8.count
    case .object(let reference): size += reference.description.utf8.count
    case .signature(let signature): size += signature.description.utf8.count
    case .list(let elements): for element in elements { try element.measure(into: &size, depth: depth + 1) }
    case .dictionary(let entries):
      for (key, value) in entries {
        size += 2 * MemoryLayout<String>.stride + key.utf8.count
        try value.measure(into: &size, depth: depth + 1)
      }
    default: break
    }
    try ScriptError.limit(size <= ScriptValue.sizeLimit, "a value of over 16 MiB")
  }
}
