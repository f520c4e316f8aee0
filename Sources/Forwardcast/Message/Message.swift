// Message.swift: a selector with its Swift function type.

/// A selector with the Swift function type of its methods, so sender and row agree at compile time
/// and nothing is boxed. Keys are usually static members:
///
///     extension Message<(String, [UInt8]) -> Bool> {
///       static var onAddMsg: Self { .init("onAddMsg:msgData:") }
///     }
///     let accepted = try screen.send(.onAddMsg, "alice", [1, 2])
///
/// The number of parameters must be the selector's ``MessageSelector/numberOfArguments``. That is
/// checked when a row is added to a table and when a message is sent in boxes. A generic function
/// that makes keys needs `R: Sendable` if results are sent to another isolation.
public struct Message<Function>: Sendable {
  /// The message's name.
  public let selector: MessageSelector
  /// True if the result is known to be `Sendable`, so that a box of it may be sent to another
  /// isolation.
  @usableFromInline let answerCrosses: Bool

  // Both initializers are generic, so that the compiler selects the more constrained one.

  /// A key whose result is not known to be `Sendable`. Boxes of it are not sent to another
  /// isolation.
  @inlinable
  public init<R, each A>(_ selector: MessageSelector) where Function == (repeat each A) -> R {
    (self.selector, answerCrosses) = (selector, false)
  }

  /// A key whose result is `Sendable`.
  @inlinable
  public init<R: Sendable, each A>(_ selector: MessageSelector) where Function == (repeat each A) -> R {
    (self.selector, answerCrosses) = (selector, true)
  }

  @inlinable
  init(_ selector: MessageSelector, answerCrosses: Bool) {
    (self.selector, self.answerCrosses) = (selector, answerCrosses)
  }
}
