// Transcript.swift: runs scripts and records their output.

import ForwardcastScript
import Synchronization

/// A session's output, errors and trace, in order.
final class Transcript: Sendable {
  private struct Lines {
    var output: [String] = []
    var failures: [ScriptError] = []
    var trace: [String] = []
  }

  private let lines = Mutex(Lines())

  var handlers: ScriptHandlers {
    ScriptHandlers(
      output: { [self] text in lines.withLock { $0.output.append(text) } },
      diagnostics: { [self] error in lines.withLock { $0.failures.append(error) } })
  }

  var tracingHandlers: ScriptHandlers {
    var handlers = handlers
    handlers.trace = { [self] line in lines.withLock { $0.trace.append(line) } }
    return handlers
  }

  /// The argument of each call of the output handler.
  var pieces: [String] { lines.withLock { $0.output } }
  var output: String { pieces.joined() }
  var failures: [ScriptError] { lines.withLock { $0.failures } }
  var trace: [String] { lines.withLock { $0.trace } }
}

/// The outcome of a script in a new session.
struct Played {
  let output: String
  let outcome: ScriptOutcome

  /// The error that ended it, as `LINE:COLUMN TEXT`.
  var error: String? { outcome.error.map { "\($0.position.line):\($0.position.column) \($0.text)" } }
  /// The failed expectations, in the same form.
  var failures: [String] { outcome.failures.map { "\($0.position.line):\($0.position.column) \($0.text)" } }
}

/// Runs a text in a new session.
func play(_ text: String, steps: Int = ScriptSession.defaultStepLimit) -> Played {
  let transcript = Transcript()
  let session = ScriptSession(stepLimit: steps, handlers: transcript.handlers)
  let outcome = session.run(text, named: "test")
  return Played(output: transcript.output, outcome: outcome)
}

/// The value of an expression after some statements.
func value(_ expression: String, after statements: String = "") throws -> ScriptValue {
  let outcome = ScriptSession().run(statements + "\n" + expression)
  if let error = outcome.error { throw error }
  return outcome.value
}
