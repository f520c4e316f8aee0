// Recording+Script.swift: recorded calls as a message script.

import Forwardcast
import ForwardcastRecording

extension Recording {
  /// The recording as a message script that repeats the messages and expects the same outcomes.
  ///
  ///     expect [cart add: "tea" price: 3] == 1
  ///     [cart note: @["a", @{"b": nil}]]
  ///     #   [log note: "noted"]
  ///     expect [cart wash] throws "unrecognized selector 'wash' of Cart"
  ///
  /// Each outermost call is a line. Nested calls follow as comments, since the receiver makes them
  /// again. If a call has no answer, or its answer has no literal, the line has no expectation.
  ///
  /// To replay, register the receivers under their recorded names and run the text:
  ///
  ///     session.register(Cart(), as: "cart")
  ///     session.run(try recording.script()).succeeded
  ///
  /// Values are sent as the script's types: `Int`, `Double`, `Bool`, `String`, and lists and
  /// dictionaries of these. Methods with other parameter types receive converted values.
  ///
  /// - Parameter objects: objects among arguments and answers, under their names in the script.
  /// - Throws: ``ScriptWritingError`` for the first argument without a literal, for a receiver or
  ///   argument whose name is not valid in a script, and for a wrong number of arguments.
  public func script(objects: KeyValuePairs<String, any MessageReceiver> = [:]) throws(ScriptWritingError) -> String {
    let literal = ScriptLiteral(names: Dictionary(objects.map { (ObjectIdentifier($0.value), $0.key) }) { $1 })
    return try calls.map { call throws(ScriptWritingError) in try call.line(literal) + "\n" }.joined()
  }
}

extension RecordedCall {
  /// The call as a statement of a message script: see ``Recording/script(objects:)``.
  /// - Throws: ``ScriptWritingError``.
  public func statement() throws(ScriptWritingError) -> String { try statement(ScriptLiteral(names: [:])) }

  fileprivate func line(_ literal: ScriptLiteral) throws(ScriptWritingError) -> String {
    guard depth > 0 else { return try statement(literal) }
    // A comment may contain values without a literal.
    let text = (try? statement(literal)) ?? "\(self)"
    let oneLine = text.unicodeScalars.map { $0 == "\n" || $0 == "\r" ? " " : String($0) }.joined()
    return "#" + indentation + " " + oneLine
  }

  private func statement(_ literal: ScriptLiteral) throws(ScriptWritingError) -> String {
    let message = try message.scriptText(to: receiver, literal)
    switch outcome {
    case .inProgress: return "\(message)  # had not ended"
    case .failed(let error): return "expect \(message) throws \(ScriptLiteral.quoted(error.description))"
    case .answered(let box):
      guard let box, !(box.value is Void) else { return message }
      do { return "expect \(message) == \(try literal.text(for: box.value))" } catch {
        return "\(message)  # answered a value of type \(error.type)"
      }
    }
  }
}

extension Invocation {
  fileprivate func scriptText(to receiver: String, _ literal: ScriptLiteral) throws(ScriptWritingError) -> String {
    func refusal(_ reason: String, argument: Int? = nil, type: String? = nil) -> ScriptWritingError {
      ScriptWritingError(selector: selector.name, argumentIndex: argument, type: type, reason: reason)
    }
    guard ScriptLiteral.isName(receiver) else {
      throw refusal("was sent to \"\(receiver)\", which is not a valid name in a script")
    }
    let (count, sent) = (arguments.count, selector.numberOfArguments)
    guard count == sent else {
      throw refusal("has \(count) argument\(count == 1 ? "" : "s"), but its selector takes \(sent)")
    }
    var texts: [String] = []
    for (index, argument) in arguments.enumerated() {
      do { texts.append(try literal.text(for: argument.value)) } catch {
        throw refusal(error.reason, argument: index, type: error.type)
      }
    }
    return "[\(receiver) \(Sending.text(selector.name, texts))]"
  }
}

/// A recorded script error has no position, like an error of a Swift method.
extension ScriptError: RecordableError {
  package var recordedText: String { text }
}
