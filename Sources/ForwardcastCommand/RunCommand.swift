// RunCommand.swift: `forwardcast run`.

import Forwardcast
import ForwardcastRecording
import ForwardcastScript
import Synchronization

/// `forwardcast run FILE… [--trace] [--diagram F] [--trace-file F] [--steps N]`
struct RunCommand {
  let call: Arguments

  func run() -> Status {
    let diagramPath = call.value(of: "--diagram")
    let diagram = diagramPath.map { _ in SequenceDiagram() }
    var status = Status.success
    Interruption.begin()
    // Raises the signal again, so that the parent process sees it. The files are complete by then.
    defer { if Interruption.isAsked { Interruption.passOn() } }
    do throws(FileError) {
      let tracePath = call.value(of: "--trace-file")
      let output = try tracePath.map { path throws(FileError) in try Stream(path: path) }
      let trace = output.map { output in TraceFile { output.write($0) } }
      for file in call.operands {
        // If output cannot be written, the output of further scripts would be lost, too.
        if Stream.hasFailed || Interruption.isAsked { break }
        status = status.worse(run(file, diagram, trace))
      }
      trace?.finish()
      if let tracePath { try output?.finish(tracePath) }
      if let diagram, let path = diagramPath {
        try writeFile(path, path.hasSuffix(".svg") ? diagram.svg : diagram.mermaid)
      }
      return status
    } catch {
      Stream.error.write("\(error.line)\n")
      return status.worse(.failure)
    }
  }

  private func run(_ path: String, _ diagram: SequenceDiagram?, _ trace: TraceFile?) -> Status {
    // Control-C during the wait for input ends the program, unless files must be completed.
    let endsProgram = path == "-" && diagram == nil && trace == nil
    if endsProgram { Interruption.end() }
    let text = scriptText(path)
    if endsProgram { Interruption.begin() }
    guard let text else { return .usage }
    let display = ProgressDisplay()
    var handlers = display.handlers(traces: call.has("--trace"))
    if diagram != nil || trace != nil {
      handlers.events = { event in
        diagram?.add(event)
        trace?.add(event)
      }
    }
    let stepLimit = call.value(of: "--steps").flatMap(Int.init) ?? ScriptSession.defaultStepLimit
    return display.status(of: ScriptSession(stepLimit: stepLimit, handlers: handlers).run(text, named: path))
  }
}

final class ProgressDisplay: Sendable {
  private let state = Mutex((isShown: false, next: ContinuousClock.now + .seconds(1)))
  let style = Style(.error)
  /// Whether to print the trace, for handlers that were created with `traces`.
  let tracing = Atomic<Bool>(true)

  func handlers(traces: Bool) -> ScriptHandlers {
    var handlers = ScriptHandlers(
      output: { [self] text in write(text, to: .output) },
      diagnostics: { [self] error in write("\(style.error("\(error)"))\n", to: .error) })
    if traces {
      handlers.trace = { [self] line in
        if tracing.load(ordering: .relaxed) { write(style.faint(ShownText.shown(line)) + "\n", to: .error) }
      }
    }
    handlers.isCancelled = { Stream.hasFailed || Interruption.isAsked }
    if Stream.error.isTerminal { handlers.progress = { [self] progress in show(progress) } }
    return handlers
  }

  func status(of outcome: ScriptOutcome) -> Status {
    clear()
    if Stream.hasFailed { return .failure }
    if let error = outcome.error { Stream.error.write("\(style.error("\(error)"))\n") }
    if outcome.succeeded { return .success }
    return outcome.isParsed && outcome.error?.code != .syntax ? .failure : .usage
  }

  private func write(_ text: String, to stream: Stream) {
    clear()
    stream.write(text)
  }

  /// Begins a new run. Its progress is shown after a second.
  func restart() { state.withLock { $0.next = .now + .seconds(1) } }

  /// Clears the progress line and the terminal's echo of control-C.
  func clear() {
    let isShown = state.withLock { exchange(&$0.isShown, with: false) }
    if isShown || (Interruption.isAsked && Stream.error.isTerminal) { Stream.error.write("\r\u{1B}[K") }
  }

  /// Draws the progress line, at most ten times a second.
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
    let position = ShownText.shown("\(progress.position)")
    let line = "[\(bar)] \(progress.steps) of \(progress.stepLimit) steps, \(position)"
    // A wrapped line could not be cleared completely.
    Stream.error.write("\r\u{1B}[K\(line.prefix(terminalWidth(Stream.error) - 1))")
  }
}
