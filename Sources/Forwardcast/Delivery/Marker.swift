// Marker.swift: finds out when everything before it has run.
// Layer: Delivery. See DESIGN.md, "Delivery".

/// An envelope without a message: when it is opened, everything that was posted before it has had its turn.
///
/// It also waits behind the messages of targets that were busy when its own turn came.
package final class Marker: Envelope, @unchecked Sendable {  // `lanes` belongs to the context
  private let reply: Gathering<Int>
  private let index: Int
  private var lanes = 0

  /// - Parameter reply: gets the number of turns that the mailbox has seen by then, in place `index`.
  package init(_ reply: Gathering<Int>, _ index: Int) {
    (self.reply, self.index) = (reply, index)
    super.init()
  }

  deinit { reply.skip(index, .lost) }

  package override func open(in mailbox: Mailbox) -> Int {
    for lane in mailbox.busyLanes where mailbox.park(self, 0, in: lane) { lanes += 1 }
    if lanes == 0 { reply.answer(index, mailbox.delivered) }
    return 0
  }

  package override func resume(_ index: Int, in mailbox: Mailbox) {
    lanes -= 1
    if lanes == 0 { reply.answer(self.index, mailbox.delivered) }
  }
}
