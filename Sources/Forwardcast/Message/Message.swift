// Message.swift: a selector with its Swift function type.

/// A selector with the Swift function type of the methods that answer it, so that sender and row agree at compile time and
/// nothing is boxed. Keys are usually static members:
///
///     extension Message<(String, [UInt8]) -> Bool> {
///       static var onAddMsg: Self { .init("onAddMsg:msgData:") }
///     }
///     let accepted = try screen.send(.onAddMsg, "alice", [1, 2])
///
/// The number of parameters must be the selector's ``MessageSelector/numberOfArguments``: that is checked where a row enters a
/// table and where a message is sent in boxes. A generic function that makes keys needs `R: Sendable` for answers that cross.
public struct Message<Function>: Sendable {
  /// The message's name.
  public let selector: MessageSelector
  /// Whether the compiler knows that the answer is `Sendable`, so that it may cross isolations in a box.
  @usableFromInline let answerCrosses: Bool

  // Both initializers are generic: the compiler would prefer one that is not, where now it takes the more constrained one.

  /// A key whose answer is not known to be `Sendable`: it is dropped when it would cross isolations in a box.
  @inlinable
  public init<R, each A>(_ selector: MessageSelector) where Function == (repeat each A) -> R {
    (self.selector, answerCrosses) = (selector, false)
  }

  /// A key whose answer is `Sendable`.
  @inlinable
  public init<R: Sendable, each A>(_ selector: MessageSelector) where Function == (repeat each A) -> R {
    (self.selector, answerCrosses) = (selector, true)
  }

  @inlinable
  init(_ selector: MessageSelector, answerCrosses: Bool) {
    (self.selector, self.answerCrosses) = (selector, answerCrosses)
  }
}
