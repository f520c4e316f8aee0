// ArgumentBox.swift: one owned value of any type, copied per receiver.

/// One owned, copyable argument or result of any type.
///
/// A box holds numbers, `nil`, optionals, structs of any size, tuples, closures, metatypes, selectors and
/// objects, and copies like the value it holds. Values of up to three words need no heap allocation.
///
///     let box = ArgumentBox(7)
///     try box.unbox(as: Int.self)       // 7
///     try box.unbox(as: UInt8?.self)  // 7: a number that fits, and an optional of it
///     // throws UnboxingError: wanted String, found Int:
///     try box.unbox(as: String.self)
///
/// A reference is kept strongly unless the box is made with ``weak(_:)`` or ``unowned(_:)``.
public struct ArgumentBox {
  @usableFromInline var storage: Any

  /// Whether the value may cross to another isolation: its type was known to be `Sendable` where it was
  /// boxed, or its owner said so with ``init(uncheckedSendable:)``.
  public let isSendable: Bool

  @inlinable
  init(storage: Any, isSendable: Bool) {
    self.storage = storage
    self.isSendable = isSendable
  }

  /// Boxes a value that stays in one isolation: a delivery on another queue refuses it.
  @inlinable
  public init<T>(_ value: T) {
    self.init(storage: value, isSendable: false)
  }

  /// Boxes a value that may cross to another isolation.
  @inlinable
  public init<T: Sendable>(_ value: T) {
    self.init(storage: value, isSendable: true)
  }

  /// Boxes a value whose type is not `Sendable` but of which the caller promises that nobody else touches it,
  /// or that it is safe to touch from any thread.
  @inlinable
  public init<T>(uncheckedSendable value: T) {
    self.init(storage: value, isSendable: true)
  }

  /// A box that does not keep `object` alive; once the object is gone it unboxes as `nil`.
  public static func weak<T: AnyObject>(_ object: T?) -> ArgumentBox {
    ArgumentBox(storage: LooseArgument(object: object, promised: nil), isSendable: false)
  }

  /// A box that does not keep `object` alive. Unboxing it after the object is gone throws.
  ///
  /// Unlike Swift's `unowned` it never traps.
  public static func unowned<T: AnyObject>(_ object: T) -> ArgumentBox {
    ArgumentBox(storage: LooseArgument(object: object, promised: T.self), isSendable: false)
  }

  /// The value as it is now: a weak or unowned reference is read, and is `Optional<AnyObject>.none` when gone.
  public var value: Any {
    guard holdsNoReference, let reference = storage as? LooseArgument else { return storage }
    return reference.object.map { $0 as Any } ?? AnyObject?.none as Any
  }

  /// Whether the box was made weak or unowned, and does not keep what it refers to.
  var holdsNoReference: Bool { holds(LooseArgument.self) }

  /// The type of `value`: of an object its class, not the type that it was boxed as.
  public var type: Any.Type { Swift.type(of: value) }

  /// Whether the box holds `nil`, at any depth of optional, or a reference whose object is gone.
  public var isNil: Bool { isNone(value) }
}

/// A class whose instances want a private copy for each target that is served on another context.
///
/// Values are copied by Swift itself. A reference inside a box is shared between the targets of one message
/// unless its class adopts this protocol; then each asynchronous delivery takes ``argumentCopy()``, made in
/// the sender's turn. Direct deliveries share the original.
public protocol ArgumentCopying: AnyObject {
  /// A copy that shares no mutable state with the receiver.
  func argumentCopy() -> Self
}

extension ArgumentBox {
  /// This box as one more target may own it: an ``ArgumentCopying`` object is copied, all else is copied by value.
  package func copiedForDelivery() -> ArgumentBox {
    guard let object = storage as? any ArgumentCopying else { return self }
    return ArgumentBox(storage: object.argumentCopy(), isSendable: isSendable)
  }
}

/// Why a box could not give the type that was asked for.
public struct UnboxingError: Error, CustomStringConvertible {
  /// The type or encoding that was asked for, as text.
  public var wanted: String { storage.wanted }
  /// The type that the box holds, as text.
  public var found: String { storage.found }
  /// The value, shortened, or what happened to it.
  public var evidence: String { storage.evidence }

  /// One reference, as a ``MessageError`` is.
  private final class Storage: Sendable {
    let wanted, found, evidence: String

    init(_ wanted: String, _ found: String, _ evidence: String) {
      (self.wanted, self.found, self.evidence) = (wanted, found, evidence)
    }
  }

  private let storage: Storage

  @inline(never)
  package init(wanted: String, found: String, evidence: String) { storage = Storage(wanted, found, evidence) }

  /// What was wanted, what was found, and its text.
  public var description: String { "wanted \(wanted), found \(found) \(evidence)" }
}

/// A reference that a box holds without keeping its object alive.
struct LooseArgument {
  weak var object: AnyObject?
  /// Its type, where its owner promised that the object outlives the box.
  let promised: Any.Type?
}

extension ArgumentBox: CustomStringConvertible {
  /// The value as a call shows it: text quoted, `nil` for nothing, everything else as it describes itself.
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

/// Whether `value` is an optional holding nothing, however deeply wrapped.
package func isNone(_ value: Any) -> Bool {
  guard let optional = value as? any OptionalType else { return false }
  return optional.wrapped.map(isNone) ?? true
}

/// What is inside every layer of optional, or `value` itself.
package func unwrapped(_ value: Any) -> Any {
  guard let optional = value as? any OptionalType, let wrapped = optional.wrapped else { return value }
  return unwrapped(wrapped)
}

/// Any optional, seen without its type.
protocol OptionalType {
  static var wrappedType: any Any.Type { get }
  static func nothing<T>(as type: T.Type) -> T?
  static func wrap(_ box: ArgumentBox) -> Any?
  var wrapped: Any? { get }
}

extension Optional: OptionalType {
  static var wrappedType: any Any.Type { Wrapped.self }

  static func nothing<T>(as type: T.Type) -> T? {
    // No cast: one to an optional of `Any` would wrap the nothing up.
    T.self == Self.self ? withUnsafePointer(to: Self.none) { UnsafeRawPointer($0).load(as: T.self) } : nil
  }

  static func wrap(_ box: ArgumentBox) -> Any? {
    guard let wrapped = try? box.unbox(as: Wrapped.self) else { return nil }
    return Self.some(wrapped) as Any
  }

  var wrapped: Any? { map { $0 as Any } }
}
