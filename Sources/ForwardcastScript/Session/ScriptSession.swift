// ScriptSession.swift: the door through which a host program runs scripts.

import Forwardcast

/// A conversation in the message script: names, receivers and proxies live on from one text to the next.
///
///     let session = ScriptSession()
///     session.register(cart, as: "cart")  // a live Swift object with a selector table
///     session.run("[cart add: \"tea\" price: 3]")
///     session.run("[cart total]").value                     // 3
///     session.run("[cart wash]").error?.text  // unrecognized selector wash of Cart
///
/// Everything runs in the caller's turn, on the caller's thread, but for what a text delivers on a `queue`; `run` returns
/// when that has run too. A session is not `Sendable`, and so may be given receivers that are not: the compiler keeps them
/// in one isolation, and the session off the queues. Its handlers are `@Sendable`.
///
/// A session releases all that was registered when it is released, and empties the proxies that its texts made. Objects and
/// proxies of the host stay as they are.
///
/// Texts may come from anywhere: they are bounded in size, depth, steps and memory, and the worst that a text can do is
/// to end with an error, as long as the registered receivers allow no more.
public final class ScriptSession {
  /// Statements and sends that one text may take unless the session says otherwise.
  public static let defaultStepLimit = 1_000_000

  /// Bytes of text that are read at most: 16 MiB.
  public static let textLimit = ScriptLimits().text

  /// Units of work that a run may take beside its steps: what grows with a value, an output or the way of a message.
  package static func workLimit(forSteps steps: Int) -> Int {
    let (units, isOver) = steps.multipliedReportingOverflow(by: Run.workPerStep)
    return isOver || units > .max - Run.leastWork ? .max : units + Run.leastWork
  }

  private let world: World

  /// A session with no names.
  ///
  /// - Parameters:
  ///   - stepLimit: statements and sends that each run may take before it ends with `limit exceeded`. A million of them, the
  ///     default, take less than 20 seconds of processor time in a release build, whatever the text; a host's own receivers
  ///     come on top.
  ///   - handlers: who gets output, failed expectations and the trace; by default they go to standard output and
  ///     nowhere.
  public init(stepLimit: Int = ScriptSession.defaultStepLimit, handlers: ScriptHandlers = ScriptHandlers()) {
    world = World(handlers: handlers, stepLimit: stepLimit)
  }

  deinit { world.close() }

  /// Makes a live receiver known to the session's texts, which keep it alive until they drop the name.
  ///
  /// On a queue it is refused with `isolation mismatch`, and with it every proxy that it was added to, unless the compiler
  /// knows it to be `Sendable`.
  /// - Parameters:
  ///   - receiver: the object, which answers scripts by its table.
  ///   - name: a word by which scripts reach it, anew if it is bound.
  public func register<Receiver: MessageReceiver>(_ receiver: Receiver, as name: String) {
    world.bind(name, .object(world.label(host: receiver, "<\(type(of: receiver)) \(name)>", crosses: false)))
  }

  /// Makes a live receiver known that may be used from any thread, also on the queues of a script: see the form for one.
  public func register<Receiver: MessageReceiver & Sendable>(_ receiver: Receiver, as name: String) {
    world.bind(name, .object(world.label(host: receiver, "<\(type(of: receiver)) \(name)>", crosses: true)))
  }

  /// Binds `name` to a value, anew if it is bound.
  public func set(_ value: ScriptValue, as name: String) { world.bind(name, value) }

  /// What `name` is bound to; `nil` when it is unknown or dropped.
  public func value(of name: String) -> ScriptValue? {
    if case .value(let value) = world.binding(name) { value } else { nil }
  }

  /// Runs a text: all of it is parsed, then its statements run one after another up to the first error.
  ///
  /// - Parameters:
  ///   - text: the script, at most ``textLimit`` bytes.
  ///   - name: what positions in errors call the text.
  ///   - firstLine: the number of its first line.
  @discardableResult
  public func run(_ text: String, named name: String = "script", firstLine: Int = 1) -> ScriptOutcome {
    let source = SourceText(text, name: name, firstLine: firstLine)
    let run = Run(world)
    var outcome = ScriptOutcome()
    do {
      let statements = try Parser.parse(source)
      outcome.isParsed = true
      outcome.value = try world.whileInProgress(run) { try execute(statements, of: source, run) }
      try run.check()
    } catch {
      outcome.error = world.hinting(run.located(error, at: 0, of: source))
    }
    (outcome.failureCount, outcome.failures) = run.failures
    outcome.unawaitedErrorCount = run.unawaitedErrors
    outcome.steps = run.stepsTaken
    outcome.work = run.workDone
    return outcome
  }

  /// The value of the last statement when it is an expression. No other statement's value outlives its statement.
  private func execute(_ statements: [Statement], of source: SourceText, _ run: Run) throws -> ScriptValue {
    let frame = Frame(source: source, depth: SendInProgress.current?.depth ?? 0)
    let interpreter = Interpreter(world: world, run: run, frame: frame)
    guard let last = statements.last, case .evaluate(let expression) = last.kind else {
      _ = try interpreter.execute(statements[...])
      return .null
    }
    _ = try interpreter.execute(statements.dropLast())
    try run.step(at: last.offset, of: source)
    return try interpreter.evaluate(expression)
  }

  /// Parses a text without running any of it; the error, or `nil` when there is none.
  /// The parameters are those of ``run(_:named:firstLine:)``.
  public static func check(_ text: String, named name: String = "script", firstLine: Int = 1) -> ScriptError? {
    let source = SourceText(text, name: name, firstLine: firstLine)
    do {
      _ = try Parser.parse(source)
      return nil
    } catch {
      var found = (error as? ScriptError) ?? ScriptError(ScriptFault(error), at: 0, of: source)
      found.hint = World.hint(about: found.subject)
      return found
    }
  }

  /// Names that a person may be about to write: those that are bound, receivers, and selectors of their rows.
  ///
  /// At most a few thousand are given, in no order.
  public var completions: [String] { world.completions }
}

/// What came of running one text.
///
/// A host looks at ``succeeded``: an expectation that does not hold ends nothing, and is not the ``error``. As text, an outcome
/// is all that went wrong, or its value.
public struct ScriptOutcome: Sendable, CustomStringConvertible {
  /// The value of the last statement when that is an expression, else `nil`.
  public fileprivate(set) var value = ScriptValue.null
  /// The error that ended the text. Expectations that did not hold are ``failures``.
  public fileprivate(set) var error: ScriptError?
  /// Expectations that did not hold, in order; the first thousand of them.
  public fileprivate(set) var failures: [ScriptError] = []
  /// How many expectations did not hold.
  public fileprivate(set) var failureCount = 0
  /// How many targets on queues threw what nobody waited for; each was given to ``ScriptHandlers/diagnostics``.
  public fileprivate(set) var unawaitedErrorCount = 0
  /// Statements and sends that were counted, and proxies inside proxies that messages and questions passed.
  public fileprivate(set) var steps = 0
  /// What was charged beside steps, in units of `Work`.
  package fileprivate(set) var work = 0
  /// Whether the text was parsed whole; if not, nothing of it ran.
  public fileprivate(set) var isParsed = false

  /// Whether the text ran to its end, every expectation held, and no error on a queue went unheard.
  public var succeeded: Bool { error == nil && failureCount == 0 && unawaitedErrorCount == 0 }

  /// The expectations that did not hold and the error, or the value where all went well.
  public var description: String {
    var lines = failures.map(\.description) + (error.map { ["\($0)"] } ?? [])
    if failureCount > failures.count { lines.append("\(failureCount) expectations did not hold") }
    if unawaitedErrorCount > 0 { lines.append("\(unawaitedErrorCount) errors on queues") }
    return lines.isEmpty ? value.debugDescription : lines.joined(separator: "\n")
  }
}

/// Who gets what a session has to say.
///
/// Each is called in the turn of the statement that it comes from, wherever that runs, and never under a lock.
public struct ScriptHandlers: Sendable {
  /// Gets each `print` whole, with its newline.
  public var output: @Sendable (String) -> Void
  /// Gets each expectation that did not hold, and each error on a queue that nobody waits for, when it is met.
  public var diagnostics: @Sendable (ScriptError) -> Void
  /// Gets a line for each step of each message; `nil` costs nothing.
  public var trace: (@Sendable (String) -> Void)?
  /// Gets each step of each message as an event, for a `SequenceDiagram` or a tracer; `nil` costs nothing.
  public var events: (@Sendable (MessageEvent) -> Void)?
  /// Is told now and then how far a run is.
  public var progress: (@Sendable (ScriptProgress) -> Void)?
  /// Is asked at every statement and send whether the run is to end there, with an error that no script catches.
  public var isCancelled: (@Sendable () -> Bool)?
  /// Where the deliveries of a queue run in place of the queue, for who runs a script in every order. It is to run each in
  /// `within`.
  package var delivers: (@Sendable (_ queue: String, _ within: @escaping @Sendable (() -> Void) -> Void) -> Delivery)?

  /// Handlers; output goes to standard output unless something else is said, all else nowhere.
  /// The parameters are the properties of these names.
  public init(
    output: @escaping @Sendable (String) -> Void = { print($0, terminator: "") },
    diagnostics: @escaping @Sendable (ScriptError) -> Void = { _ in },
    trace: (@Sendable (String) -> Void)? = nil,
    progress: (@Sendable (ScriptProgress) -> Void)? = nil
  ) {
    (self.output, self.diagnostics, self.trace, self.progress) = (output, diagnostics, trace, progress)
  }
}

/// How far a run is.
public struct ScriptProgress: Sendable {
  /// Statements and sends so far.
  public let steps: Int
  /// How many there may be.
  public let stepLimit: Int
  let source: SourceText
  let offset: Int
  /// The statement or send that is about to run. Found when it is asked for.
  public var position: ScriptPosition { source.position(at: offset) }
}
