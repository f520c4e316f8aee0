// Match.swift: matches for arguments.

import Forwardcast

/// The values that an argument may have, in stubs and expectations.
///
///     store.stub(Messages.save, "a", .any)  // a literal means equal
///     store.verify(Messages.save, .equal(name), .where("positive") { $0 > 0 })
///     store.verify(Messages.save, .captured(by: names), .any)
public struct Match<Value>: @unchecked Sendable, CustomStringConvertible {  // immutable; conditions are @Sendable
  // Closures other than conditions only compare values, by `==`, by identity or with `nil`.

  /// The match in words, for failures.
  public let description: String
  let accepts: (Value) -> Bool
  let capture: Capture<Value>?

  private init(_ description: String, capture: Capture<Value>? = nil, _ accepts: @escaping (Value) -> Bool) {
    (self.description, self.capture, self.accepts) = (description, capture, accepts)
  }

  /// Any value, including `nil`.
  public static var any: Match { Match("any") { _ in true } }

  /// A value for which a condition holds. Failures print `words` as its description.
  public static func `where`(_ words: String = "a condition", _ condition: @escaping @Sendable (Value) -> Bool) -> Match
  {
    Match("(\(words))", condition)
  }

  /// Any value. `capture` stores it for each call that a stub answers or a verification counts.
  public static func captured(by capture: Capture<Value>) -> Match { .captured(by: capture, .any) }

  /// A value that `match` accepts. `capture` stores the value.
  public static func captured(by capture: Capture<Value>, _ match: Match) -> Match {
    Match(match.description, capture: capture, match.accepts)
  }
}

extension Match where Value: Equatable {
  /// An argument that equals `value`.
  public static func equal(_ value: Value) -> Match { Match(ArgumentBox(value).description) { $0 == value } }
}

extension Match where Value: AnyObject {
  /// The given object, compared by identity.
  public static func same(as object: Value) -> Match { Match("the same \(type(of: object))") { $0 === object } }
}

/// Captures the values of an argument. If the values are not `Sendable`, read them in the isolation
/// that sent them.
///
///     let names = Capture<String>()
///     store.verify(Messages.save, .captured(by: names), .any)
///     #expect(names.values == ["a", "b"])
public final class Capture<Value>: @unchecked Sendable {  // a lock guards the list
  private let state = Guarded(UncheckedSendable<[Value]>([]))

  /// Creates a capture without values.
  public init() {}

  /// The values in the order of capture.
  public var values: [Value] { state.withLock { $0 }.value }

  /// The value captured last; `nil` if there is none.
  public var last: Value? { values.last }

  /// Stores an argument. The match has accepted it, so it can be unboxed.
  func keep(_ box: ArgumentBox) {
    do {
      let value = UncheckedSendable(try box.unbox(as: Value.self))
      state.withLock { $0.value.append(value.value) }
    } catch {}
  }
}

// MARK: Literals

extension Match: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
  ExpressibleByStringLiteral
where Value: ExpressibleByStringLiteral & Equatable {
  public init(stringLiteral value: Value.StringLiteralType) { self = .equal(Value(stringLiteral: value)) }
}

extension Match: ExpressibleByIntegerLiteral where Value: ExpressibleByIntegerLiteral & Equatable {
  public init(integerLiteral value: Value.IntegerLiteralType) { self = .equal(Value(integerLiteral: value)) }
}

extension Match: ExpressibleByFloatLiteral where Value: ExpressibleByFloatLiteral & Equatable {
  public init(floatLiteral value: Value.FloatLiteralType) { self = .equal(Value(floatLiteral: value)) }
}

extension Match: ExpressibleByBooleanLiteral where Value: ExpressibleByBooleanLiteral & Equatable {
  public init(booleanLiteral value: Value.BooleanLiteralType) { self = .equal(Value(booleanLiteral: value)) }
}

extension Match: ExpressibleByArrayLiteral where Value: RangeReplaceableCollection & Equatable {
  /// A collection of equal elements in the same order.
  public init(arrayLiteral elements: Value.Element...) { self = .equal(Value(elements)) }
}

extension Match: ExpressibleByNilLiteral where Value: ExpressibleByNilLiteral {
  public init(nilLiteral: ()) { self = Match("nil") { ArgumentBox($0).isNil } }
}
