// MessageNotTaken.swift: what a forwarding hook says of a message that it leaves alone.

/// Thrown by ``MessageForwarding/forward(_:)`` of a target that had to see a message to know that it does not answer it.
///
/// In a multicast the target then counts as one that does not respond.
package struct MessageNotTaken: Error, CustomStringConvertible {
  package init() {}
  package var description: String { "does not respond" }
}

/// A target that leaves messages alone, and says what its user can do about that.
package protocol NotTakenAdvising: AnyObject {
  /// What stands in the error of a message that had to be answered; may be empty.
  func advice(for selector: MessageSelector) -> String
}
