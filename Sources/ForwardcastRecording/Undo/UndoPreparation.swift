// UndoPreparation.swift: messages as steps of an undo history.

import Forwardcast

/// A stand-in for a target of an ``UndoHistory``: each message to it becomes a step.
///
///     try history.prepare(shape).send(.moveTo, old)          // by key
///     try history.prepare(shape).dynamic.move(to: old)       // by name
///
/// A message is checked when it is registered, not at the undo: the target must respond and accept
/// the arguments. While registration is disabled, a message is checked and dropped.
public struct UndoPreparation {
  let history: UndoHistory
  let target: any MessageReceiver

  /// Registers a message by its key.
  /// - Throws: `MessageError` `unrecognizedSelector`, or the error of arguments that do not fit.
  public func send<R, each A>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A) throws {
    var boxes: [ArgumentBox] = []
    for argument in repeat each arguments { boxes.append(ArgumentBox(argument)) }
    try perform(Invocation(message.selector, arguments: boxes))
  }

  /// Registers a message whose arguments are `Sendable`, so the target may forward it to any
  /// context. Throws as `send(_:_:)`.
  public func send<R, each A: Sendable>(_ message: Message<(repeat each A) -> R>, _ arguments: repeat each A) throws {
    var boxes: [ArgumentBox] = []
    for argument in repeat each arguments { boxes.append(ArgumentBox(argument)) }
    try perform(Invocation(message.selector, arguments: boxes))
  }

  /// Registers a message as a value. Throws as `send(_:_:)`.
  public func perform(_ invocation: Invocation) throws {
    let sent = invocation.asSent
    try sent.check(for: target)
    history.register(
      UndoStep(target: target) { object in
        guard let receiver = object as? any MessageReceiver else { return }
        var message = sent
        try receiver.perform(&message)
      })
  }

  /// Registers messages in call syntax. Each call returns `nil`, or throws as `send(_:_:)`.
  public var dynamic: DynamicSends { UndoStandIn { [self] in try perform($0) }.dynamic }
}

/// Passes every message to a closure, which may check the message and makes it a step.
final class UndoStandIn: MessageForwarding, ForwardingToMany {
  /// The table with the types of messages. Messages that the table lacks have only object types.
  private let table: SelectorTable?
  private let take: (Invocation) throws -> Void

  init(_ table: SelectorTable? = nil, _ take: @escaping (Invocation) throws -> Void) {
    (self.table, self.take) = (table, take)
  }

  func responds(to selector: MessageSelector) -> Bool { true }

  func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    table?.method(for: selector)?.signature ?? .objects(arguments: selector.numberOfArguments)
  }

  func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    try take(invocation)
    return DeliveryReport(answeredBy: self, nil)
  }
}
