// RunCommand.swift: `forwardcast run`.
// Layer: Command. See DESIGN.md, "The script".

import Forwardcast
import ForwardcastRecording
import ForwardcastScript
import Synchronization

/// `forwardcast run FILE… [--trace] [--diagram F] [--steps N]`: each file in a world of its own.
struct RunCommand {
  private var files: [String] = []
  private var traces = false
  /// Where the picture of all messages goes.
  private var diagramPath: String?
  private var stepLimit = ScriptSession.defaultStepLimit

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--trace": traces = true
      case "--steps":
        guard let text = rest.popFirst(), let steps = Int(text), steps > 0 else {
          throw UsageError(text: "--steps needs a number from 1 on")
        }
        stepLimit = steps
      case "--diagram":
        guard let path = rest.popFirst(), path.hasSuffix(".mmd") || path.hasSuffix(".svg") else {
          throw UsageError(text: "--diagram needs the name of a file that ends in .mmd or .svg")
        }
        diagramPath = path
      case "-": files.append(word)
      case _ where word.hasPrefix("-"): throw UsageError(text: "run has no option \(word)")
      default: files.append(word)
      }
    }
    guard !files.isEmpty else { throw UsageError(text: "run needs a file") }
  }

  func run() -> Status {
    let diagram = diagramPath.map { _ in SequenceDiagram() }
    let status = files.reduce(Status.success) { $0.worse(run($1, diagram)) }
    guard let diagram, let path = diagramPath else { return status }
    do throws(FileError) {
      try writeFile(path, path.hasSuffix(".svg") ? diagram.svg : diagram.mermaid)
      return status
    } catch {
      Stream.error.write("forwardcast: \(error.text)\n")
      return status.worse(.usage)
    }
  }

  private func run(_ path: String, _ diagram: SequenceDiagram?) -> Status {
    let file: ScriptFile
    do throws(FileError) {
      file = try ScriptFile(path)
    } catch {
      Stream.error.write("\(error.line)\n")
      return .usage
    }
    let display = ProgressDisplay()
    var handlers = display.handlers(traces: traces)
    if let diagram { handlers.events = { diagram.add($0) } }
    let session = ScriptSession(stepLimit: stepLimit, handlers: handlers)
    let outcome = session.run(file.text, named: file.name)
    display.clear()
    if let error = outcome.error { Stream.error.write("\(display.style.error("\(error)"))\n") }
    if outcome.succeeded { return .success }
    return outcome.isParsed ? .failure : .usage
  }
}

/// The line at the bottom of a terminal that tells how far a long run is.
final class ProgressDisplay: Sendable {
  private struct State {
    var isShown = false
    var next: ContinuousClock.Instant
  }

  private let state = Mutex(State(next: .now + .seconds(1)))
  /// How texts look on standard error.
  let style = Style(.error)
  /// Whether messages are told of, where handlers were asked to.
  let tracing = Atomic<Bool>(true)

  /// Handlers that write to the process's streams, and wipe the line before they do.
  func handlers(traces: Bool) -> ScriptHandlers {
    var handlers = ScriptHandlers(
      output: { [self] text in write(text, to: .output) },
      diagnostics: { [self] error in write("\(style.error("\(error)"))\n", to: .error) })
    if traces {
      handlers.trace = { [self] line in
        if tracing.load(ordering: .relaxed) { write(style.faint(line) + "\n", to: .error) }
      }
    }
    if Stream.error.isTerminal { handlers.progress = { [self] progress in show(progress) } }
    return handlers
  }

  private func write(_ text: String, to stream: Stream) {
    clear()
    stream.write(text)
  }

  /// A new run begins: it is a second until the line is shown.
  func restart() {
    state.withLock { $0.next = .now + .seconds(1) }
  }

  /// Wipes the line.
  func clear() {
    let wasShown = state.withLock { state in
      defer { state.isShown = false }
      return state.isShown
    }
    if wasShown { Stream.error.write("\r\u{1B}[K") }
  }

  /// Draws the line, once a second has gone by and then ten times a second.
  private func show(_ progress: ScriptProgress) {
    let isDue = state.withLock { state in
      let now = ContinuousClock.now
      guard now >= state.next else { return false }
      state.next = now + .milliseconds(100)
      state.isShown = true
      return true
    }
    guard isDue else { return }
    let width = 30
    let share = Double(progress.steps) / Double(progress.stepLimit)
    let filled = min(width, Int(share * Double(width)))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    Stream.error.write("\r\u{1B}[K[\(bar)] \(progress.steps) of \(progress.stepLimit) steps, \(progress.position)")
  }
}
