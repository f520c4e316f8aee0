// ScriptValue+Comparison.swift: equality and order of values.

extension ScriptValue: Hashable {
  /// Equality as in a script: values of different kinds are unequal, and numbers compare exactly.
  public static func == (left: ScriptValue, right: ScriptValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.floating(let left), .floating(let right)): left == right
    case (.integer(let integer), .floating(let number)), (.floating(let number), .integer(let integer)):
      Int(exactly: number) == integer
    case (.string(let left), .string(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    case (.selector(let left), .selector(let right)): left == right
    case (.signature(let left), .signature(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.registration(let left), .registration(let right)): left === right
    case (.hook(let left), .hook(let right)): left === right
    case (.queue(let left), .queue(let right)): left === right
    case (.foreign(let left), .foreign(let right)): left.isCopy(of: right)
    default: false
    }
  }

  /// Equality of kind and content. Takes linear time, unlike `==`, which also finds texts equal
  /// that encode the same characters in another way.
  func isIdentical(to other: ScriptValue) -> Bool {
    switch (self, other) {
    case (.integer, .floating), (.floating, .integer): false
    case (.floating(let left), .floating(let right)): left.bitPattern == right.bitPattern
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.list(let left), .list(let right)): left.elementsEqual(right) { $0.isIdentical(to: $1) }
    case (.dictionary(let left), .dictionary(let right)):
      // Copies have the same order.
      left.elementsEqual(right) { $0.key.utf8.elementsEqual($1.key.utf8) && $0.value.isIdentical(to: $1.value) }
    default: self == other
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .floating(let value):
      if let integer = Int(exactly: value) { hasher.combine(integer) } else { hasher.combine(value) }
    case .string(let value): hasher.combine(value)
    case .list(let value): hasher.combine(value)
    case .dictionary(let value): hasher.combine(value)
    case .selector(let value): hasher.combine(value)
    case .signature(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .null, .registration, .hook, .queue, .foreign: hasher.combine(0)
    }
  }

  /// True if this number is less than `other`, by exact value.
  /// - Throws: `type mismatch` unless both are numbers.
  func isLess(than other: ScriptValue) throws -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    case (.floating(let left), .floating(let right)): left < right
    case (.integer(let left), .floating(let right)): Self.isLess(left, right)
    case (.floating(let left), .integer(let right)):
      !left.isNaN && !Self.isLess(right, left) && Int(exactly: left) != right
    default: throw ScriptError(.typeMismatch, "\(kind) and \(other.kind) have no order; compare two numbers")
    }
  }

  private static func isLess(_ integer: Int, _ number: Double) -> Bool {
    if number.isNaN { return false }
    let floor = number.rounded(.down)
    guard let whole = Int(exactly: floor) else { return number > 0 }
    return integer < whole || (integer == whole && number > floor)
  }
}
