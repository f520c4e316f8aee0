// Vouched.swift: a value that crosses isolations on its user's word.
// Layer: Message. See DESIGN.md, "Delivery".

/// A value whose type is not `Sendable`, sent on the word of its user that nobody else touches it any more, or that it
/// is safe to touch from any thread.
///
/// This is the way out for typed messages, as ``ArgumentBox/init(uncheckedSendable:)`` is for boxes:
///
///     extension Message<(Vouched<Bitmap>) -> Void> { static var show: Self { .init("show:") } }
///     members.broadcast(.show, Vouched(bitmap))      // and `bitmap` is not used again
///
/// The compiler checks nothing about `Value`; every use is a place to look at when a data race is hunted.
public struct Vouched<Value>: @unchecked Sendable {  // protected by the promise of whoever makes it
  /// The value.
  public var value: Value

  /// Vouches for `value`.
  @inlinable
  public init(_ value: Value) { self.value = value }
}

extension Vouched: CustomStringConvertible {
  /// The value as it describes itself.
  public var description: String { "\(value)" }
}

extension ArgumentBox {
  /// The box, known to hold a value that may cross where `crosses` says so.
  func vouched(crosses: Bool) -> ArgumentBox { crosses ? ArgumentBox(storage: storage, isSendable: true) : self }
}
