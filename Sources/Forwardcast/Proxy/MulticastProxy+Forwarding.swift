// MulticastProxy+Forwarding.swift: forwarding to many, and what test doubles need.

extension MulticastProxy {
  /// Registers an object that is asked about each message and need not have the proxy's interface. It is kept alive.
  ///
  /// - Parameter subject: the object it stands for, whose death makes the registration dead. Its place is reclaimed when the
  ///   registration is cancelled.
  @discardableResult
  package func add(forwarding target: any MessageForwarding, priority: Int = 0, livingAs subject: AnyObject? = nil)
    -> Registration
  {
    core.add(target, priority: priority, ownership: .strong, scope: nil, livingAs: subject)
  }

  /// The table for the whole interface, if the proxy has one.
  package var interfaceTable: SelectorTable? { core.table }
}

/// Each target checks the arguments itself.
extension MulticastProxy: ForwardingToMany {
  package func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {
    core.report(failures, of: selector)
  }
}

extension MulticastProxy where Interface: Sendable {
  /// Registers a forwarding receiver of any interface: messages reach it by its hooks, typed calls do not.
  package func add(
    receiver: any MessageForwarding & Sendable, delivery: Delivery, priority: Int, ownership: Ownership,
    only selectors: [MessageSelector]?, buffer: DeliveryBuffer, whenRemoved pending: PendingDeliveries
  ) -> Registration {
    core.add(
      receiver, priority: priority, ownership: ownership, scope: selectors.map(Set.init),
      delivery: (delivery, buffer, pending))
  }
}
