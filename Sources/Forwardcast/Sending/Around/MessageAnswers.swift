// MessageAnswers.swift: the answers of one message, as its hooks pass them on.
// Layer: Sending. See DESIGN.md, "Around a message".

/// The answers of one message in the order of delivery, of types that only some of its hooks know.
class MessageAnswers {
  /// Each answer in a box.
  var boxes: [ArgumentBox] { [] }

  /// No answer.
  static var none: MessageAnswers { MessageAnswers() }
}

/// Answers of a type that the sender, or a hook, knew.
final class TypedAnswers<R>: MessageAnswers {
  let list: [R]

  init(_ list: [R]) { self.list = list }

  override var boxes: [ArgumentBox] {
    if let boxes = list as? [ArgumentBox] { return boxes }
    return list.map { ArgumentBox(storage: $0, isSendable: false) }
  }
}

extension MessageAnswers {
  /// The answers as values of one type: as they are when they were made as such, else out of boxes.
  ///
  /// - Throws: `typeMismatch` for an answer that is of another type.
  final func typed<R>(as type: R.Type, _ message: HookedMessage) throws -> [R] {
    if let typed = self as? TypedAnswers<R> { return typed.list }
    if let boxes = boxes as? [R], R.self == ArgumentBox.self { return boxes }
    return try boxes.map { box in
      var answered = Invocation(message.selector)
      answered.result = box
      return try typedResult(of: answered, from: message.receiver)
    }
  }
}
