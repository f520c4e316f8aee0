// ArgumentBox.swift: one owned value of any type.

/// One argument or result of any type, including `nil`, optionals, tuples, closures and metatypes.
///
///     let box = ArgumentBox(7)
///     try box.unbox(as: Int.self)       // 7
///     try box.unbox(as: UInt8?.self)    // 7: a number that fits, in an optional
///     try box.unbox(as: String.self)    // throws: wanted String, found Int
///
/// Values of up to three words need no heap allocation. References are strong unless the box is
/// made with `weak(_:)` or `unowned(_:)`.
public struct ArgumentBox {
  @usableFromInline var storage: Any

  /// True if the value may be sent to another isolation: its type was known to be `Sendable` when
  /// it was boxed, or the box was made by ``init(uncheckedSendable:)``.
  public let isSendable: Bool

  @inlinable
  init(storage: Any, isSendable: Bool) {
    self.storage = storage
    self.isSendable = isSendable
  }

  /// Boxes a value that is not `Sendable`. Deliveries on another queue or actor refuse it.
  @inlinable
  public init<T>(_ value: T) {
    self.init(storage: value, isSendable: false)
  }

  /// Boxes a `Sendable` value.
  @inlinable
  public init<T: Sendable>(_ value: T) {
    self.init(storage: value, isSendable: true)
  }

  /// Boxes a value that is not `Sendable`. The caller promises exclusive or thread-safe access.
  @inlinable
  public init<T>(uncheckedSendable value: T) {
    self.init(storage: value, isSendable: true)
  }

  /// A box that does not retain `object`. It unboxes as `nil` after the object is deallocated.
  public static func weak<T: AnyObject>(_ object: T?) -> ArgumentBox {
    ArgumentBox(storage: LooseArgument(object: object, promised: nil), isSendable: false)
  }

  /// A box that may cross isolations. It does not retain `object`.
  public static func weak<T: AnyObject & Sendable>(_ object: T?) -> ArgumentBox {
    ArgumentBox(storage: LooseArgument(object: object, promised: nil), isSendable: true)
  }

  /// A box that does not retain `object`. After the object is deallocated, unboxing throws.
  public static func unowned<T: AnyObject>(_ object: T) -> ArgumentBox {
    ArgumentBox(storage: LooseArgument(object: object, promised: T.self), isSendable: false)
  }

  /// A box that may cross isolations. It does not retain `object`. After the object is deallocated,
  /// unboxing throws.
  public static func unowned<T: AnyObject & Sendable>(_ object: T) -> ArgumentBox {
    ArgumentBox(storage: LooseArgument(object: object, promised: T.self), isSendable: true)
  }

  /// The current value; `Optional<AnyObject>.none` for a reference to a deallocated object.
  public var value: Any {
    guard holdsNoReference, let reference = storage as? LooseArgument else { return storage }
    return reference.object.map { $0 as Any } ?? AnyObject?.none as Any
  }

  var holdsNoReference: Bool { holds(LooseArgument.self) }

  /// The dynamic type of `value`.
  public var type: Any.Type { Swift.type(of: value) }

  /// True if the box holds a reference to a deallocated object, or `nil` at any depth of optional.
  public var isNil: Bool { isNone(value) }
}

/// A class whose instances are copied for each target that runs on another queue or actor.
///
/// The sender makes an ``argumentCopy()`` for each such target, synchronously. Direct targets share
/// the original object. Objects of other classes are always shared.
public protocol ArgumentCopying: AnyObject {
  /// A copy that shares no mutable state with this object.
  func argumentCopy() -> Self
}

extension ArgumentBox {
  /// True if the box holds an ``ArgumentCopying`` object.
  var mayCopy: Bool { mayBeObject(Swift.type(of: storage)) && storage is any ArgumentCopying }

  /// The box for a target on another queue or actor. Copies an ``ArgumentCopying`` object.
  package func copiedForDelivery() -> ArgumentBox {
    guard mayBeObject(Swift.type(of: storage)), let object = storage as? any ArgumentCopying else { return self }
    return ArgumentBox(storage: object.argumentCopy(), isSendable: isSendable)
  }
}

/// The reason why a box cannot be converted to a type.
public struct UnboxingError: Error, CustomStringConvertible {
  /// The wanted type or encoding.
  public var wanted: String { storage.wanted }
  /// The type of the value.
  public var found: String { storage.found }
  /// The value, shortened, or the reason why it is unavailable.
  public var evidence: String { storage.evidence }

  /// One reference, so that copying the error is cheap.
  private final class Storage: Sendable {
    let wanted, found, evidence: String

    init(_ wanted: String, _ found: String, _ evidence: String) {
      (self.wanted, self.found, self.evidence) = (wanted, found, evidence)
    }
  }

  private let storage: Storage

  @inline(never)
  package init(wanted: String, found: String, evidence: String) { storage = Storage(wanted, found, evidence) }

  /// The wanted type, the found type and the evidence in words.
  public var description: String { "wanted \(wanted), found \(found) \(evidence)" }
}

struct LooseArgument {
  weak var object: AnyObject?
  /// The type of an object boxed by `ArgumentBox.unowned(_:)`; `nil` for a weak reference.
  let promised: Any.Type?
}

extension ArgumentBox: CustomStringConvertible {
  /// The value as in a call: text in quotes, `nil`, otherwise its own description.
  public var description: String {
    let value = value
    if isNone(value) { return "nil" }
    if let metatype = value as? Any.Type { return "\(metatype).self" }
    switch unwrapped(value) {
    case let text as String: return text.debugDescription
    case let text as Substring: return text.debugDescription
    case let character as Character: return character.debugDescription
    case let other: return "\(other)"
    }
  }
}

package func isNone(_ value: Any) -> Bool {
  guard let optional = value as? any OptionalType else { return false }
  return optional.wrapped.map(isNone) ?? true
}

package func unwrapped(_ value: Any) -> Any {
  guard let optional = value as? any OptionalType, let wrapped = optional.wrapped else { return value }
  return unwrapped(wrapped)
}

protocol OptionalType {
  static var wrappedType: any Any.Type { get }
  static func nothing<T>(as type: T.Type) -> T?
  static func wrap(_ box: ArgumentBox) -> Any?
  var wrapped: Any? { get }
}

extension Optional: OptionalType {
  static var wrappedType: any Any.Type { Wrapped.self }

  static func nothing<T>(as type: T.Type) -> T? {
    // No cast is used, because a cast would wrap the `nil` in an optional of `Any`.
    T.self == Self.self ? withUnsafePointer(to: Self.none) { UnsafeRawPointer($0).load(as: T.self) } : nil
  }

  static func wrap(_ box: ArgumentBox) -> Any? {
    guard let wrapped = try? box.unbox(as: Wrapped.self) else { return nil }
    return Self.some(wrapped) as Any
  }

  var wrapped: Any? { map { $0 as Any } }
}
