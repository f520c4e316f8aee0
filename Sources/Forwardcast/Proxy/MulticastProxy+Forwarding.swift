// MulticastProxy+Forwarding.swift: a proxy as one who forwards to many, and what test doubles need of it.

extension MulticastProxy {
  /// Registers an object that is asked about each message and need not be of the proxy's interface. It is kept alive.
  ///
  /// - Parameter subject: for whom it stands, if the registration counts as dead once that object is gone. Its place is
  ///   taken back when the registration is cancelled.
  @discardableResult
  package func add(forwarding target: any MessageForwarding, priority: Int = 0, livingAs subject: AnyObject? = nil)
    -> Registration
  {
    core.add(target, priority: priority, ownership: .strong, scope: nil, livingAs: subject)
  }

  /// The table for the whole interface, if the proxy has one.
  package var interfaceTable: SelectorTable? { core.table }
}

/// Each target checks the arguments of its message for itself.
extension MulticastProxy: ForwardingToMany {
  package func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {
    core.report(failures, of: selector)
  }
}

extension MulticastProxy where Interface: Sendable {
  /// Registers a receiver that forwards, whatever the interface is: messages reach it by its hooks, typed calls do not.
  package func add(
    receiver: any MessageForwarding & Sendable, delivery: Delivery, priority: Int, ownership: Ownership,
    only selectors: [MessageSelector]?, buffer: DeliveryBuffer, whenRemoved pending: PendingDeliveries
  ) -> Registration {
    core.add(
      receiver, priority: priority, ownership: ownership, scope: selectors.map(Set.init),
      delivery: (delivery, buffer, pending))
  }
}
