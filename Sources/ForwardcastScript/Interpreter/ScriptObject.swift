// ScriptObject.swift: objects of a script, and their methods.

import Forwardcast
import Synchronization

/// The object that `new Cook` creates. It answers from the table of `receiver Cook { … }`.
final class ScriptObject: MessageReceiver, NamedReceiver, Sendable, CustomStringConvertible {
  static let selectorTable = SelectorTable(for: ScriptObject.self, rows: [])

  private let table: SelectorTable
  let receiverName: String
  let name: String
  /// The text that `print` shows, stored because a name may be long.
  let description: String
  /// True if a proxy that may be used on any thread leads to the object.
  let isShared = Atomic<Bool>(false)

  init(table: SelectorTable, receiver: String, name: String) {
    (self.table, receiverName, self.name) = (table, receiver, name)
    description = "<\(receiver) \(name)>"
  }

  var objectTable: SelectorTable? { table }

  var reference: ScriptReference { ScriptReference(self, label: description, crosses: true) }
}

extension World {
  func define(
    _ name: String, _ parent: String?, _ rows: [RowDefinition], at offset: Int, of source: SourceText
  ) throws {
    if receiver(name) != nil { throw ScriptError(.syntax, "receiver \(name) is already declared") }
    let inherited = try parent.map(table)
    let depth = parent.flatMap(receiver).map { $0.depth + 1 } ?? 0
    let most = World.inheritanceLimit
    try ScriptError.limit(depth < most, "more than \(most) receivers in one chain of inheritance")
    let table = SelectorTable(for: ScriptObject.self, inheriting: inherited, rows: [Responds<ScriptObject>]())
    for row in rows {
      do {
        try table.add(try entry(for: row))
      } catch let error as TypeEncodingError {
        throw ScriptError(error).placed(at: row.encoding?.offset ?? row.offset, of: source)
      } catch let error as MessageError {
        let named = MessageError(error.code, receiver: name, selector: error.selector, evidence: error.evidence)
        throw ScriptError(named).placed(at: row.offset, of: source)
      }
    }
    state.withLock { $0.receivers[name] = (table, depth) }
    deepestReceiver.max(depth, ordering: .relaxed)
  }

  private func entry(for row: RowDefinition) throws -> Responds<ScriptObject> {
    let selector = try intern(row.selector)
    // If the method has no encoding, all its types are objects.
    let encoding = row.encoding?.text ?? "@@:" + String(repeating: "@", count: row.arguments.count)
    let signature = try MethodSignature(encoding)
    let answers = signature.returnType.kind != .void
    return Responds(to: selector, signature: signature) { [self] (object: ScriptObject, call: inout Invocation) in
      let value = try inProgress(isShared: object.isShared.load(ordering: .relaxed)) { send in
        try answer(row, object, call, send)
      }
      call.result = answers ? value.box : nil
    }
  }

  private func answer(
    _ row: RowDefinition, _ object: ScriptObject, _ call: Invocation, _ send: SendInProgress
  ) throws -> ScriptValue {
    let queue = send === SendInProgress.current ? nil : currentQueue
    if queue != nil { queues { $0.turns &+= 1 } }
    let number = send.beginRow()
    // If the message was sent directly to this object, the sender emits the events.
    let isSent = queue == nil && send.receiver.map { $0.receiver === object } ?? false
    let step = isTold ? (queue?.turn ?? send.turn).take() ?? send.run.nextEventStep() : 0
    func tellOf(_ stage: MessageEvent.Stage, _ evidence: @autoclosure () -> String = "") {
      if isSent { return }
      tell {
        MessageEvent(
          stage, name: call.selector.name, message: call.description(upTo: 240),
          sender: queue.map { "queue \($0.name)" } ?? clipped(send.receiver?.description ?? "session"),
          receiver: clipped(object.description), context: queue.map { "queue \($0.name)" } ?? "directly",
          evidence: evidence(), step: step)
      }
    }
    tellOf(.began)
    do {
      // The first method is part of the send's step. Each other method of the message costs a step.
      if number > 1 || queue != nil { try send.run.step(at: row.offset, of: row.source) }
      if queue != nil { try send.run.charge(Work.turn) }
      let own: [String: Binding] = ["self": .value(.object(object.reference)), "name": .value(.string(object.name))]
      let frame = Frame(source: row.source, object: object, depth: send.depth, scopes: [own, [:]])
      let interpreter = Interpreter(world: self, run: send.run, frame: frame)
      for (argument, box) in zip(row.arguments, call.arguments) { frame.bind(argument, try interpreter.value(box)) }
      let value = try row.body(interpreter)
      if queue != nil, !value.mayCross {
        throw ScriptError(.thrown, "isolation mismatch: \(value.evidence) is not Sendable and may not leave its queue")
      }
      try send.run.charge(value.copyingWork())
      tellOf(.answered, value.evidence)
      return value
    } catch {
      let error = send.run.located(error, at: row.offset, of: row.source)
      tellOf(.failed, clipped(error.text))
      throw error
    }
  }
}
