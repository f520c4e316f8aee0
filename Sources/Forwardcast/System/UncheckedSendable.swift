// UncheckedSendable.swift: a value that crosses isolations unchecked.

/// A value whose type is not `Sendable`, sent with the promise of exclusive or thread-safe access.
/// For boxes, use ``ArgumentBox/init(uncheckedSendable:)``.
///
///     extension Message<(UncheckedSendable<Bitmap>) -> Void> {
///       static var show: Self { .init("show:") }
///     }
///     // `bitmap` is not used again:
///     members.broadcast(.show, UncheckedSendable(bitmap))
///
/// Check every use when you investigate a data race.
public struct UncheckedSendable<Value>: @unchecked Sendable {  // its creator promises safe access
  /// The value.
  public var value: Value

  /// Wraps `value` without a check.
  @inlinable
  public init(_ value: Value) { self.value = value }
}

extension UncheckedSendable: CustomStringConvertible {
  /// The value's description.
  public var description: String { "\(value)" }
}
