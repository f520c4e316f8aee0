// UncheckedSendable.swift: a value that crosses isolations without the check of the compiler.

/// A value whose type is not `Sendable`, sent because its user promises that nobody else touches it any more, or that it
/// is safe to touch from any thread.
///
/// This is the way out for typed messages, as ``ArgumentBox/init(uncheckedSendable:)`` is for boxes:
///
///     extension Message<(UncheckedSendable<Bitmap>) -> Void> {
///       static var show: Self { .init("show:") }
///     }
///     // `bitmap` is not used again:
///     members.broadcast(.show, UncheckedSendable(bitmap))
///
/// The compiler checks nothing about `Value`; every use is a place to look at when a data race is hunted.
public struct UncheckedSendable<Value>: @unchecked Sendable {  // protected by the promise of whoever makes it
  /// The value.
  public var value: Value

  /// Takes `value` without a check.
  @inlinable
  public init(_ value: Value) { self.value = value }
}

extension UncheckedSendable: CustomStringConvertible {
  /// The value as it describes itself.
  public var description: String { "\(value)" }
}
