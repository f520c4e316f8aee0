// UncheckedSendable.swift: a value that crosses isolations unchecked.

/// A value whose type is not `Sendable`, sent because its user promises that nobody else touches it, or that it is thread-safe. For
/// boxes, use ``ArgumentBox/init(uncheckedSendable:)``.
///
///     extension Message<(UncheckedSendable<Bitmap>) -> Void> {
///       static var show: Self { .init("show:") }
///     }
///     // `bitmap` is not used again:
///     members.broadcast(.show, UncheckedSendable(bitmap))
///
/// Every use is a place to look at when a data race is hunted.
public struct UncheckedSendable<Value>: @unchecked Sendable {  // protected by the promise of whoever makes it
  /// The value.
  public var value: Value

  /// Takes `value` without a check.
  @inlinable
  public init(_ value: Value) { self.value = value }
}

extension UncheckedSendable: CustomStringConvertible {
  /// The value's description.
  public var description: String { "\(value)" }
}
