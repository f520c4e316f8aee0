// CallMatch.swift: matches the calls of an expectation or a stub.

import Forwardcast

struct ArgumentMatch: Sendable {
  let description: String
  /// True if the match accepts the argument and its type.
  let accepts: @Sendable (ArgumentBox) -> Bool
  let keep: (@Sendable (ArgumentBox) -> Void)?

  init<Value>(_ match: Match<Value>) {
    description = match.description
    accepts = { box in
      do { return match.accepts(try box.unbox(as: Value.self)) } catch { return false }
    }
    keep = match.capture.map { capture in { @Sendable in capture.keep($0) } }
  }
}

struct CallMatch: Sendable {
  let selector: MessageSelector
  let arguments: [ArgumentMatch]

  init<R, each A>(_ message: Message<(repeat each A) -> R>, _ matches: repeat Match<each A>) {
    selector = message.selector
    var arguments: [ArgumentMatch] = []
    for match in repeat each matches { arguments.append(ArgumentMatch(match)) }
    self.arguments = arguments
  }

  func accepts(_ message: Invocation) -> Bool {
    message.selector == selector && message.arguments.count == arguments.count
      && zip(arguments, message.arguments).allSatisfy { $0.accepts($1) }
  }

  func keepArguments(of message: Invocation) {
    for (match, argument) in zip(arguments, message.arguments) { match.keep?(argument) }
  }

  /// Why a call of the same selector is not accepted: `argument 0 is "b", expected "a"`.
  func difference(from message: Invocation) -> String? {
    guard message.selector == selector else { return nil }
    let count = message.arguments.count
    guard count == arguments.count else { return "has \(count) argument\(count == 1 ? "" : "s")" }
    let differing = zip(arguments, message.arguments).enumerated().filter { !$1.0.accepts($1.1) }
    guard !differing.isEmpty else { return nil }
    return differing.map { "argument \($0) is \($1.1), expected \($1.0.description)" }.joined(separator: "; ")
  }
}
