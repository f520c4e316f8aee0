// UndoHistory+Facade.swift: typed calls as steps of an undo.

import Forwardcast

extension UndoHistory {
  /// A stand-in for `target` that conforms to its protocol. Each call on it becomes a step.
  ///
  ///     // shape: any Shape, without a table:
  ///     history.prepare(shape, as: ShapeProxy()).move(to: old)
  ///
  /// A call that answers returns what the proxy gives when nobody responds.
  ///
  /// - Parameters:
  ///   - target: an object, referenced weakly; its steps end with it.
  ///   - proxy: a proxy that no other stand-in uses.
  ///   - isolation: the only actor on which the stand-in accepts calls; by default that of the
  ///     history.
  public func prepare<Proxy: MulticastFacade>(
    _ target: Proxy.Interface, as proxy: Proxy, isolation: (any Actor)? = nil
  ) -> Proxy {
    prepare(target, as: proxy, isolation.map { actor in { HeldContext.isOn(actor) } })
  }

  /// A stand-in for `target` that conforms to its protocol and may be shared between threads although the history may not. It takes
  /// calls on the actor on which it was prepared, or else in that task or on that thread; others fail with `MessageError`
  /// `isolationMismatch`, thrown or given to the proxy's `onError`. See the overload for one isolation.
  public func prepare<Proxy: MulticastFacade & Sendable>(
    _ target: Proxy.Interface, as proxy: Proxy, isolation: (any Actor)? = #isolation
  ) -> Proxy {
    let place = TracePlace.current
    return prepare(target, as: proxy) { isolation.map { HeldContext.isOn($0) } ?? (place == .current) }
  }

  private func prepare<Proxy: MulticastFacade>(
    _ target: Proxy.Interface, as proxy: Proxy, _ isAtHome: (() -> Bool)?
  ) -> Proxy {
    let object = targetObject(for: target)
    precondition(!(object is ValueTarget), "\(Swift.type(of: target)) is a value: nobody else has it to be undone")
    let table = proxy.multicast.interfaceTable
    let standIn = UndoStandIn(table) { [self, weak object] message in
      if isAtHome?() == false {
        throw MessageError(
          .isolationMismatch, receiver: "undo history", selector: message.selector.name,
          evidence: "the stand-in was prepared on another actor, task or thread")
      }
      guard let object else { throw MessageNotTaken() }
      register(
        UndoStep(target: object) { [sent = message.asSent] object in
          let sender = MulticastProxy<Proxy.Interface>(table: table, options: MulticastOptions(noResponder: .throw))
          guard let target = sender.interface(of: object) else { return }
          sender.add(target, ownership: .strong)
          var message = sent
          if let failure = try sender.forward(&message).failures.first { throw failure.error }
        })
      // The answer is what the proxy gives when nobody responds.
      if table?.method(for: message.selector)?.signature.returnType.kind != .void { throw MessageNotTaken() }
    }
    proxy.multicast.add(forwarding: standIn)
    return proxy
  }
}
