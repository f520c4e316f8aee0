// UndoHistory+Facade.swift: calls of a protocol's methods as steps of an undo.

import Forwardcast

extension UndoHistory {
  /// A stand-in for `target` that conforms to the target's protocol. Each call to the stand-in
  /// becomes a step. A call with a result returns what an unanswered call to `proxy` returns.
  ///
  ///     // `shape` is `any Shape`; it needs no table
  ///     history.prepare(shape, as: ShapeProxy()).move(to: old)
  ///
  /// - Parameters:
  ///   - target: an object, referenced weakly. The target's deallocation ends its steps.
  ///   - proxy: a proxy that no other stand-in uses.
  ///   - isolation: the only actor that may call the stand-in; `nil` for no check.
  public func prepare<Proxy: MulticastFacade>(
    _ target: Proxy.Interface, as proxy: Proxy, isolation: (any Actor)? = nil
  ) -> Proxy {
    prepare(target, as: proxy, isolation.map { actor in { HeldContext.isOn(actor) } })
  }

  /// A `Sendable` stand-in for `target`, although the history is not `Sendable`. The stand-in
  /// accepts calls only on the actor that prepared it or, without an actor, in the same task or
  /// thread. Other calls throw `MessageError` `isolationMismatch`, or pass it to `onError`.
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
    precondition(
      !(object is ValueTarget), "\(Swift.type(of: target)) is a value, so undo would change only a copy; pass an object"
    )
    let table = proxy.multicast.interfaceTable
    let standIn = UndoStandIn(table) { [self, weak object] message in
      if isAtHome?() == false {
        throw MessageError(
          .isolationMismatch, receiver: "undo history", selector: message.selector.name,
          evidence:
            "the proxy from 'prepare' accepts calls only on the actor that called 'prepare' or, without an actor, in "
            + "the task or thread that called it; call the proxy there, on your own actor inside 'withHeldActor'")
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
      // This error makes the proxy return its result for a message that no target answers.
      if table?.method(for: message.selector)?.signature.returnType.kind != .void { throw MessageNotTaken() }
    }
    proxy.multicast.add(forwarding: standIn)
    return proxy
  }
}
