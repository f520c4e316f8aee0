// UndoHistory+Facade.swift: typed calls that are steps of an undo.

import Forwardcast

extension UndoHistory {
  /// A stand-in for `target` that is its protocol: what is called on it is kept as a step.
  ///
  ///     // shape: any Shape, without a table:
  ///     history.prepare(shape, as: ShapeProxy()).move(to: old)
  ///
  /// A call that answers gives what the proxy gives when nobody responds.
  ///
  /// - Parameters:
  ///   - target: an object. It is not kept alive; once it is gone, so are its steps.
  ///   - face: a proxy of its own for each stand-in.
  ///   - isolation: where alone the stand-in takes calls; unless given, where the compiler lets them come from, which is
  ///     where the history is.
  public func prepare<Face: MulticastFacade>(
    _ target: Face.Interface, as face: Face, isolation: (any Actor)? = nil
  ) -> Face {
    prepare(target, as: face, in: isolation.map { UndoIsolation(actor: $0) })
  }

  /// A stand-in for `target` that is its protocol, which may be shared between threads though the history may not: it takes
  /// calls where it was prepared, on that actor or else in that task or on that thread. What is called elsewhere fails with
  /// `MessageError` `isolationMismatch`, which is thrown, or told to the proxy's `onError`. See the form for one isolation.
  public func prepare<Face: MulticastFacade & Sendable>(
    _ target: Face.Interface, as face: Face, isolation: (any Actor)? = #isolation
  ) -> Face {
    prepare(target, as: face, in: UndoIsolation(actor: isolation))
  }

  private func prepare<Face: MulticastFacade>(_ target: Face.Interface, as face: Face, in isolation: UndoIsolation?)
    -> Face
  {
    let object = targetObject(for: target)
    precondition(!(object is ValueTarget), "\(Swift.type(of: target)) is a value: nobody else has it to be undone")
    let table = face.multicast.interfaceTable
    let standIn = UndoStandIn(table) { [self, weak object] message in
      if let isolation, !isolation.isCurrent {
        throw MessageError(
          .isolationMismatch, receiver: "undo history", selector: message.selector.name,
          evidence: "the stand-in was prepared on another actor, task or thread")
      }
      guard let object else { throw MessageNotTaken() }
      register(
        UndoStep(target: object) { [sent = message.asSent] object in
          let proxy = MulticastProxy<Face.Interface>(table: table, options: MulticastOptions(silence: .thrown))
          guard let target = proxy.interface(of: object) else { return }
          proxy.add(target, ownership: .strong)
          var message = sent
          if let failure = try proxy.forward(&message).failures.first { throw failure.error }
        })
      // An answer is left to what the proxy gives when nobody responds.
      if table?.method(for: message.selector)?.signature.returnType.kind != .void { throw MessageNotTaken() }
    }
    face.multicast.add(forwarding: standIn)
    return face
  }
}

/// Where a history is used: on an actor, or else in a task or on a thread.
private struct UndoIsolation {
  let actor: (any Actor)?
  private let place = TracePlace.current

  var isCurrent: Bool { actor.map { HeldContext.isOn($0) } ?? (place == .current) }
}
