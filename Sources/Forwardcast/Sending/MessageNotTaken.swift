// MessageNotTaken.swift: what a forwarding hook says of a message that it leaves alone.
// Layer: Sending. See the article "How doubles work".

/// Thrown by ``MessageForwarding/forward(_:)`` of a target that had to see a message to know that it does not answer it.
///
/// In a multicast the target then counts as one that does not respond.
package struct MessageNotTaken: Error, CustomStringConvertible {
  package init() {}
  package var description: String { "does not respond" }
}
