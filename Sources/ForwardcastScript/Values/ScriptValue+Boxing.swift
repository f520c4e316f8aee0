// ScriptValue+Boxing.swift: values to argument boxes and back.

import Forwardcast

extension ScriptValue {
  /// The value in a box for Swift code: an `Int`, `Double`, `Bool` or `String`; an array of one of
  /// these or of `Any`; `[String: Any]`; an interned `MessageSelector`; `Int?.none`; or the object.
  var box: ArgumentBox {
    switch self {
    case .null: ArgumentBox(Int?.none)
    case .bool(let value): ArgumentBox(value)
    case .integer(let value): ArgumentBox(value)
    case .floating(let value): ArgumentBox(value)
    case .string(let value): ArgumentBox(value)
    case .list(let elements): ScriptValue.typed(elements) ?? box(elements.map(\.plain))
    case .dictionary(let entries): box(entries.mapValues(\.plain))
    case .selector(let selector): selector.known.map { ArgumentBox($0) } ?? ArgumentBox(selector)
    case .signature(let signature): ArgumentBox(signature)
    case .object(let reference): box(reference.receiver)
    case .registration(let registration): ArgumentBox(registration)
    case .hook(let hook): ArgumentBox(hook)
    case .queue(let queue): ArgumentBox(queue)
    case .foreign(let value): value.box
    }
  }

  private func box<Plain>(_ plain: Plain) -> ArgumentBox {
    mayCross ? ArgumentBox(uncheckedSendable: plain) : ArgumentBox(plain)
  }

  /// An array of the elements' type if all elements have one type, for parameters such as `[Int]`.
  private static func typed(_ elements: [ScriptValue]) -> ArgumentBox? {
    func all<T: Sendable>(_ get: (ScriptValue) -> T?) -> ArgumentBox? {
      let values = elements.compactMap(get)
      return values.count == elements.count ? ArgumentBox(values) : nil
    }
    return switch elements.first {
    case .integer: all(\.integer)
    case .floating: all { if case .floating(let value) = $0 { value } else { nil } }
    case .string: all(\.text)
    case .bool: all(\.bool)
    default: nil
    }
  }

  /// The value in ``box``, without the box.
  var plain: Any {
    switch self {
    case .list(let elements): ScriptValue.typed(elements)?.value ?? elements.map(\.plain)
    case .dictionary(let entries): entries.mapValues(\.plain)
    case .object(let reference): reference.receiver
    default: box.value
    }
  }

  var mayCross: Bool {
    switch self {
    case .list(let elements): elements.allSatisfy(\.mayCross)
    case .dictionary(let entries): entries.values.allSatisfy(\.mayCross)
    case .object(let reference): reference.crosses
    case .foreign(let value): value.box.isSendable
    default: true
    }
  }

  /// - Throws: `type mismatch` for an integer of over 64 bits; `limit exceeded` for deep nesting.
  init(_ box: ArgumentBox, reference: (any MessageReceiver) -> ScriptReference) throws {
    self = try ScriptValue.value(box.value, in: box, depth: 0, reference)
  }

  private static func value(
    _ value: Any, in box: ArgumentBox, depth: Int, _ reference: (any MessageReceiver) -> ScriptReference
  ) throws -> ScriptValue {
    try ScriptError.limit(depth <= depthLimit, "a value of more than \(depthLimit) nested lists and dictionaries")
    func inner(_ value: Any) throws -> ScriptValue { try Self.value(value, in: box, depth: depth + 1, reference) }
    // This avoids the slow casts of the switch below.
    let type = Swift.type(of: value)
    if let known = try known(value, type, inner) { return known }
    if type is AnyClass, let receiver = value as AnyObject as? any MessageReceiver {
      return .object(reference(receiver))
    }
    let bare = unwrapped(value)
    if Swift.type(of: bare) != type { return try inner(bare) }
    switch value {
    case let value as ScriptValue: return value
    case let value as Bool: return .bool(value)
    case let value as Int: return .integer(value)
    case let value as String: return .string(value)
    case let value as Double: return .floating(value)
    case is Void: return .null
    case _ where isNone(value): return .null
    case let value as any BinaryInteger:
      guard let integer = Int(exactly: value) else {
        throw ScriptError(.typeMismatch, "the integer \(value) does not fit 64 bits")
      }
      return .integer(integer)
    case let value as any BinaryFloatingPoint: return .floating(Double(value))
    case let value as Substring: return .string(String(value))
    case let value as Character: return .string(String(value))
    case let value as MethodSignature: return .signature(value)
    case let value as Registration: return .registration(value)
    case let value as HookRegistration: return .hook(value)
    case let value as ScriptQueue: return .queue(value)
    case let value as [Any]: return .list(try value.map(inner))
    case let value as [String: Any]: return .dictionary(try value.mapValues(inner))
    case _ where depth == 0: return .foreign(ScriptForeignValue(box: box))
    // The parts of a `Sendable` value are `Sendable`.
    default:
      let part = box.isSendable ? ArgumentBox(uncheckedSendable: value) : ArgumentBox(value)
      return .foreign(ScriptForeignValue(box: part))
    }
  }

  private static func known(_ value: Any, _ type: Any.Type, _ inner: (Any) throws -> ScriptValue) rethrows
    -> ScriptValue?
  {
    func exactly<T>(_: T.Type) -> T? { type == T.self ? value as? T : nil }
    if let number = exactly(Int.self) { return .integer(number) }
    if let text = exactly(String.self) { return .string(text) }
    if let number = exactly(Double.self) { return .floating(number) }
    if let bool = exactly(Bool.self) { return .bool(bool) }
    if let object = exactly(ScriptObject.self) { return .object(object.reference) }
    if let elements = exactly([Any].self) { return .list(try elements.map(inner)) }
    if let elements = exactly([Int].self) { return .list(elements.map(ScriptValue.integer)) }
    if let elements = exactly([String].self) { return .list(elements.map(ScriptValue.string)) }
    if let elements = exactly([Double].self) { return .list(elements.map(ScriptValue.floating)) }
    if let elements = exactly([Bool].self) { return .list(elements.map(ScriptValue.bool)) }
    if let entries = exactly([String: Any].self) { return .dictionary(try entries.mapValues(inner)) }
    if let selector = exactly(MessageSelector.self) { return .selector(ScriptSelector(checked: selector.name)) }
    if let selector = exactly(ScriptSelector.self) { return .selector(selector) }
    return type == Int?.self ? (value as? Int).map(ScriptValue.integer) ?? .null : nil
  }
}
