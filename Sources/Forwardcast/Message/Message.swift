// Message.swift: a selector with its Swift function type.

/// A key: a selector with the Swift function type of its methods. The compiler checks sender and
/// method against that type, and arguments need no boxes. Keys are usually static members:
///
///     extension Message<(String, [UInt8]) -> Bool> {
///       static var onAddMsg: Self { .init("onAddMsg:msgData:") }
///     }
///     let accepted = try screen.send(.onAddMsg, "alice", [1, 2])
///
/// The function type needs one parameter for each of the selector's arguments
/// (``MessageSelector/numberOfArguments``). This is checked when a method is added to a table and
/// when boxed arguments are sent. If a generic function makes keys whose result is its type
/// parameter `R`, declare `R: Sendable` in that function. Otherwise results cannot be sent to
/// another isolation.
public struct Message<Function>: Sendable {
  /// The message's name.
  public let selector: MessageSelector
  /// True if the result is known to be `Sendable`, so a box of it may cross isolations.
  @usableFromInline let answerCrosses: Bool

  // Both initializers are generic, so that the compiler selects the more constrained initializer.

  /// A key whose result is not known to be `Sendable`, so a boxed result stays in its isolation.
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
