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
    prepare(target, as: face, in: isolation.map { UndoIsolation($0) })
  }

  /// A stand-in for `target` that is its protocol, which may be shared between threads though the history may not: it takes
  /// calls where it was prepared, on that actor or else in that task or on that thread. What is called elsewhere fails with
  /// `MessageError` `isolationMismatch`, which is thrown, or told to the proxy's `onError`. See the form for one isolation.
  public func prepare<Face: MulticastFacade & Sendable>(
    _ target: Face.Interface, as face: Face, isolation: (any Actor)? = #isolation
  ) -> Face {
    prepare(target, as: face, in: UndoIsolation(isolation))
  }

  private func prepare<Face: MulticastFacade>(_ target: Face.Interface, as face: Face, in isolation: UndoIsolation?)
    -> Face
  {
    let object = targetObject(for: target)
    precondition(!(object is ValueTarget), "\(Swift.type(of: target)) is a value: nobody else has it to be undone")
    let table = face.multicast.interfaceTable
    face.multicast.add(
      forwarding: UndoFaceTarget(history: self, isolation, target: object, table: table) { message, object in
        let proxy = MulticastProxy<Face.Interface>(table: table, options: MulticastOptions(silence: .thrown))
        guard let target = proxy.interface(of: object) else { return }
        proxy.add(target, ownership: .strong)
        var message = message
        if let failure = try proxy.forward(&message).failures.first { throw failure.error }
      })
    return face
  }
}

/// Where a history is used.
private enum UndoIsolation {
  case actor(any Actor)
  case task(Int)
  case thread(ThreadIdentity)

  init(_ isolation: (any Actor)?) {
    self = isolation.map { .actor($0) } ?? UndoIsolation.task.map { .task($0) } ?? .thread(.current)
  }

  private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Whether the caller is there.
  var isCurrent: Bool {
    switch self {
    case .actor(let actor): HeldContext.isOn(actor)
    case .task(let task): UndoIsolation.task == task
    case .thread(let thread): UndoIsolation.task == nil && thread == .current
    }
  }
}

/// Takes the calls of a stand-in as steps.
private final class UndoFaceTarget: MessageForwarding, ForwardingToMany {
  private let history: UndoHistory
  /// Where calls are taken; `nil` where the compiler sees to it.
  private let isolation: UndoIsolation?
  private weak let target: AnyObject?
  private let table: SelectorTable?
  private let send: (Invocation, AnyObject) throws -> Void

  init(
    history: UndoHistory, _ isolation: UndoIsolation?, target: AnyObject, table: SelectorTable?,
    send: @escaping (Invocation, AnyObject) throws -> Void
  ) {
    (self.history, self.isolation, self.target, self.table, self.send) = (history, isolation, target, table, send)
  }

  func responds(to selector: MessageSelector) -> Bool { true }

  func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    table?.method(for: selector)?.signature ?? .objects(arguments: selector.numberOfArguments)
  }

  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    if let isolation, !isolation.isCurrent {
      throw MessageError(
        .isolationMismatch, receiver: "undo history", selector: invocation.selector.name,
        evidence: "the stand-in was prepared on another actor, task or thread")
    }
    guard let target else { throw MessageNotTaken() }
    history.register(UndoStep(target: target) { [message = invocation.asSent, send] in try send(message, $0) })
    // An answer is left to what the proxy gives when nobody responds.
    if methodSignature(for: invocation.selector)?.returnType.kind != .void { throw MessageNotTaken() }
    return DeliveryReport(answeredBy: self, nil)
  }
}
