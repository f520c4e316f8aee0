// Message.swift: a selector that knows its Swift function type.
// Layer: Message. See DESIGN.md, "Life of one message".

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
/// The number of parameters of `Function` must be the selector's ``MessageSelector/numberOfArguments``;
/// that is checked where a row enters a table and where a message is sent by boxes.
public struct Message<Function>: Sendable {
  /// The name under which tables are searched.
  public let selector: MessageSelector

  /// Ties `selector` to `Function`.
  @inlinable
  public init(_ selector: MessageSelector) {
    self.selector = selector
  }
}
