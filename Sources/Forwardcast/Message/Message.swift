// Message.swift: a selector that knows its Swift function type.

/// A selector together with the Swift function type of the methods that answer it.
///
/// A typed key is what lets a sender and a row agree at compile time, so that neither boxes anything.
/// Keys are usually declared once, as static members, and then written with a leading dot:
///
///     extension Message<(String, [UInt8]) -> Bool> {
///       static var onAddMsg: Self { .init("onAddMsg:msgData:") }
///     }
///     let accepted = try screen.send(.onAddMsg, "alice", [1, 2])
///
/// A generic function that makes keys says `R: Sendable` where answers are to cross: a key knows what was seen where it was
/// made. The number of parameters of `Function` must be the selector's ``MessageSelector/numberOfArguments``;
/// that is checked where a row enters a table and where a message is sent by boxes.
public struct Message<Function>: Sendable {
  /// The name under which tables are searched.
  public let selector: MessageSelector
  /// Whether the compiler has seen that the answer is `Sendable`, so that it may cross to another isolation in a box.
  @usableFromInline let answerCrosses: Bool

  // Both forms are generic, so that the narrower one is taken where the answer is Sendable, and the other where it is not.

  /// Ties `selector` to `Function`.
  ///
  /// Answers of targets that run by boxes in another isolation are given up: nothing says that they are `Sendable`.
  /// - Parameter selector: with as many colons as the function type has parameters.
  // Generic as the form below, or the compiler would prefer it to that one.
  @inlinable
  public init<R, each A>(_ selector: MessageSelector) where Function == (repeat each A) -> R {
    (self.selector, answerCrosses) = (selector, false)
  }

  /// Ties `selector` to a `Function` whose answer is `Sendable`.
  @inlinable
  public init<R: Sendable, each A>(_ selector: MessageSelector) where Function == (repeat each A) -> R {
    (self.selector, answerCrosses) = (selector, true)
  }

  @inlinable
  init(_ selector: MessageSelector, answerCrosses: Bool) {
    (self.selector, self.answerCrosses) = (selector, answerCrosses)
  }
}
