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
  ///   - face: a proxy that no other stand-in uses.
  ///   - isolation: the only actor on which the stand-in accepts calls; by default that of the
  ///     history.
  public func prepare<Face: MulticastFacade>(
    _ target: Face.Interface, as face: Face, isolation: (any Actor)? = nil
  ) -> Face {
    prepare(target, as: face, isolation.map { actor in { HeldContext.isOn(actor) } })
  }

  /// A stand-in for `target` that conforms to its protocol and may be shared between threads although the history may not. It takes
  /// calls on the actor on which it was prepared, or else in that task or on that thread; others fail with `MessageError`
  /// `isolationMismatch`, thrown or given to the proxy's `onError`. See the overload for one isolation.
  public func prepare<Face: MulticastFacade & Sendable>(
    _ target: Face.Interface, as face: Face, isolation: (any Actor)? = #isolation
  ) -> Face {
    let place = TracePlace.current
    return prepare(target, as: face) { isolation.map { HeldContext.isOn($0) } ?? (place == .current) }
  }

  private func prepare<Face: MulticastFacade>(
    _ target: Face.Interface, as face: Face, _ isAtHome: (() -> Bool)?
  ) -> Face {
    let object = targetObject(for: target)
    precondition(!(object is ValueTarget), "\(Swift.type(of: target)) is a value: nobody else has it to be undone")
    let table = face.multicast.interfaceTable
    let standIn = UndoStandIn(table) { [self, weak object] message in
      if isAtHome?() == false {
        throw MessageError(
          .isolationMismatch, receiver: "undo history", selector: message.selector.name,
          evidence: "the stand-in was prepared on another actor, task or thread")
      }
      guard let object else { throw MessageNotTaken() }
      register(
        UndoStep(target: object) { [sent = message.asSent] object in
          let proxy = MulticastProxy<Face.Interface>(table: table, options: MulticastOptions(noResponder: .throw))
          guard let target = proxy.interface(of: object) else { return }
          proxy.add(target, ownership: .strong)
          var message = sent
          if let failure = try proxy.forward(&message).failures.first { throw failure.error }
        })
      // The answer is what the proxy gives when nobody responds.
      if table?.method(for: message.selector)?.signature.returnType.kind != .void { throw MessageNotTaken() }
    }
    face.multicast.add(forwarding: standIn)
    return face
  }
}
