// MulticastProxy+Forwarding.swift: forwarding objects as targets, for test doubles.

extension MulticastProxy {
  /// Registers an object of any interface. The proxy retains the object and queries it for each
  /// message.
  ///
  /// - Parameter subject: the wrapped object. Once it is deallocated, the registration is dead.
  @discardableResult
  package func add(forwarding target: any MessageForwarding, priority: Int = 0, livingAs subject: AnyObject? = nil)
    -> Registration
  {
    core.add(target, TargetOptions(priority: priority, ownership: .strong), livingAs: subject)
  }

  /// The table for the whole interface, if the proxy has one.
  package var interfaceTable: SelectorTable? { core.table }
}

// `ForwardingToMany` states that each target checks the arguments itself.
extension MulticastProxy: ForwardingToMany {
  package func tell(_ failures: ArraySlice<DeliveryReport.Failure>, of selector: MessageSelector) {
    core.report(failures, of: selector)
  }
}

extension MulticastProxy where Interface: Sendable {
  /// Registers a forwarding receiver of any interface. Typed calls do not reach the receiver.
  package func add(receiver: any MessageForwarding & Sendable, _ options: TargetOptions) -> Registration {
    core.add(receiver, options)
  }
}
