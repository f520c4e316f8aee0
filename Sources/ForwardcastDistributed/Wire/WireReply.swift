// WireReply.swift: replies of an endpoint.

import Forwardcast

enum WireReply {
  /// A new line, its window, and the accepted selectors, with types if the receiver responds.
  case opened(line: String, window: Int, messages: [(name: String, signature: String?)])
  /// Whether the receiver responds at present, or whether a list of awaited messages was valid.
  case told(Bool)
  /// The answer to a message; `nil` if its method has no result.
  case answer(number: Int, ArgumentBox?)
  case messageError(number: Int, MessageError)
  case foreignError(number: Int, type: String, text: String)
  /// The endpoint did not run the message, or cannot provide its answer.
  case refused(number: Int?, WireRefusal)
}

/// The maximum length in bytes of a text in an error.
let longestText = 4096

extension WireReply {
  /// Encodes the reply with the tag of its request. Throws if the answer cannot be encoded.
  func text(_ tag: Int? = nil) throws(WireValueError) -> String {
    switch self {
    case .opened(let line, let window, let messages):
      WireWriter.message("opened", tag: tag) {
        $0.field("l", line)
        $0.field("w", window)
        $0.name("m")
        $0.list {
          for (name, signature) in messages {
            $0.text(name)
            if let signature { $0.text(signature) } else { $0.null() }
          }
        }
      }
    case .told(let answers):
      WireWriter.message("told", tag: tag) {
        $0.name("r")
        $0.bool(answers)
      }
    case .answer(let number, let answer):
      try WireWriter.message("answer", number, tag: tag) { writer throws(WireValueError) in
        writer.name("r")
        try writer.list { list throws(WireValueError) in
          if let answer { try list.box(answer, role: "the answer") }
        }
      }
    case .messageError(let number, let error):
      WireWriter.message("error", number, tag: tag) {
        $0.field("c", error.code.description)
        $0.field("w", cut(error.receiver))
        $0.field("s", cut(error.selector))
        $0.field("e", cut(error.evidence))
        if let index = error.argumentIndex { $0.field("x", index) }
      }
    case .foreignError(let number, let type, let text):
      WireWriter.message("error", number, tag: tag) {
        $0.field("t", cut(type))
        $0.field("e", cut(text))
      }
    case .refused(let number, let refusal):
      WireWriter.message("refused", number, tag: tag) {
        $0.field("c", refusal.code.rawValue)
        $0.field("e", cut(refusal.evidence))
        if let index = refusal.argumentIndex { $0.field("x", index) }
      }
    }
  }

  /// Reads a reply. The type of an answer is a standard type or one of `types`.
  static func read(_ message: WireFields, types: KnownTypes) throws(WireRefusal) -> WireReply {
    switch message.word("k") {
    case "opened"?:
      let line = try message.wanted("l", message.word("l"))
      let window = try message.wanted("w", message.positive("w"))
      return .opened(line: line, window: window, messages: try messages(message))
    case "told"?: return .told(try message.wanted("r", message.bool("r")))
    case "answer"?:
      let number = try message.wanted("n", message.integer("n"))
      let answer = try message.wanted("r", message.pairs("r").flatMap { $0.count <= 2 ? $0 : nil })
      if answer.isEmpty { return .answer(number: number, nil) }
      let reading = WireReading(message.tree, types)
      do throws(WireValueError) {
        let box = try reading.box(type: answer[0], value: answer[1], in: "types of RemoteOptions")
        return .answer(number: number, box)
      } catch {
        // Reported as if the other side could not encode the answer.
        return .refused(number: number, WireRefusal(.answerCannotCross, "the answer: \(error)"))
      }
    case "error"?:
      let number = try message.wanted("n", message.integer("n"))
      if let code = message.word("c").flatMap({ knownCodes[$0] }) {
        let error = MessageError(
          code, receiver: message.text("w") ?? "", selector: message.text("s") ?? "",
          evidence: message.text("e") ?? "", argumentIndex: message.integer("x"))
        return .messageError(number: number, error)
      }
      // A code of a later version is treated as a foreign error.
      let type = message.text("t") ?? "MessageError"
      let words = [message.text("c"), message.text("e")].compactMap { $0 }
      return .foreignError(number: number, type: type, text: words.joined(separator: ": "))
    case "refused"?:
      guard let code = message.refusal else { throw message.lacks("c") }
      let refusal = WireRefusal(code, message.text("e") ?? "", argumentIndex: message.integer("x"))
      return .refused(number: message.integer("n"), refusal)
    case let kind: throw WireRefusal(.malformed, "unknown reply \(kind.map(WireRefusal.quoted) ?? "without a kind")")
    }
  }

  private static func messages(_ message: WireFields) throws(WireRefusal) -> [(name: String, signature: String?)] {
    let (tree, list) = (message.tree, try message.wanted("m", message.pairs("m")))
    var messages: [(name: String, signature: String?)] = []
    for index in stride(from: 0, to: list.count, by: 2) {
      let (name, signature) = (list[index], list[index + 1])
      guard tree.kind(name) == .text, [.text, .null].contains(tree.kind(signature)) else { throw message.lacks("m") }
      messages.append((tree.text(name), tree.kind(signature) == .text ? tree.text(signature) : nil))
    }
    return messages
  }
}

/// The beginning of a text, which keeps an error small enough to send.
func cut(_ text: String, to longest: Int = longestText) -> String {
  guard text.utf8.count > longest else { return text }
  var kept = ""
  for scalar in text.unicodeScalars {
    guard kept.utf8.count < longest - 8 else { break }
    kept.unicodeScalars.append(scalar)
  }
  return kept + "…"
}

/// The library's error codes by their names on the wire.
private let knownCodes: [String: MessageError.Code] = {
  let codes: [MessageError.Code] = [
    .unrecognizedSelector, .resolverAddedNothing, .typeMismatch, .wrongArgumentCount, .invalidTypeEncoding,
    .nobodyResponds, .isolationMismatch, .proxyCycle, .tooManyProxies, .noSelectorTable, .alreadyInTable,
    .wouldDeadlock, .tooDeep, .timedOut, .hookEnded, .notAwaited, .cancelled,
  ]
  return Dictionary(uniqueKeysWithValues: codes.map { ($0.description, $0) })
}()
