// DrainMarker.swift: reports when everything posted before it has run.

/// An envelope without a message. Reports when everything posted before it has run, except the rest
/// of a ``BufferedLine``. A busy target defers the marker behind its earlier deferred messages.
package final class DrainMarker: Envelope, @unchecked Sendable {  // `gates` and `report` belong to the context
  private var report: (@Sendable (Int?) -> Void)?
  private var gates = 0

  /// - Parameter report: called once: with the mailbox's delivery count, or with `nil` if the
  ///   marker was deallocated before it ran.
  init(_ report: @escaping @Sendable (Int?) -> Void) {
    self.report = report
    super.init()
  }

  deinit { report?(nil) }

  override func open(in mailbox: Mailbox) -> Int {
    for gate in mailbox.closedGates where mailbox.park(self, 0, at: gate) { gates += 1 }
    if gates == 0 { finish(mailbox) }
    return 0
  }

  override func resume(_ index: Int, in mailbox: Mailbox) {
    assert(gates > 0, "a marker continues at gates where it waits")
    gates -= 1
    if gates == 0 { finish(mailbox) }
  }

  private func finish(_ mailbox: Mailbox) {
    report?(mailbox.delivered)
    report = nil
  }
}
