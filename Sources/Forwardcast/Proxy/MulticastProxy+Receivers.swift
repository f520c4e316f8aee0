// MulticastProxy+Receivers.swift: receivers that stand for an object which is not of the interface here.

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
