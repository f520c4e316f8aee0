// ScriptSession.swift: runs scripts in a host program.

import Forwardcast

/// A session of the message script. Texts share its names, receivers and proxies.
///
///     let session = ScriptSession()
///     session.register(cart, as: "cart")  // a live Swift object with a selector table
///     session.run("[cart add: \"tea\" price: 3]")
///     session.run("[cart total]").value       // 3
///     session.run("[cart wash]").error?.text  // unrecognized selector 'wash' of Cart
///
/// Everything runs synchronously in the caller, except for deliveries on a `queue`. `run` waits for
/// these, unless it is called in a method on a queue of the session. A session is not `Sendable`,
/// so it accepts receivers that are not `Sendable`. Queues refuse such receivers.
///
/// When a session is deallocated, it releases the registered receivers and values, and empties the
/// proxies that its texts created. Objects and proxies of the host are not changed.
///
/// Texts may come from untrusted sources. Size, depth and steps are limited, and the limit of steps
/// also limits memory, so a text can do harm only through the registered receivers.
public final class ScriptSession {
  /// The default limit of one text's ``ScriptOutcome/steps``.
  public static let defaultStepLimit = 1_000_000

  /// The longest text, in bytes: 16 MiB.
  public static let textLimit = ScriptLimits().text

  /// The limit of work other than steps, in units of ``Work``.
  package static func workLimit(forSteps steps: Int) -> Int {
    let (units, isOver) = steps.multipliedReportingOverflow(by: Run.workPerStep)
    return isOver || units > .max - Run.leastWork ? .max : units + Run.leastWork
  }

  private let world: World

  /// True if the texts are parts of one text. They then share the limits of a run, and
  /// ``checkNext(_:named:firstLine:)`` knows the receivers of the earlier parts.
  package var joinsTexts = false
  private var lastRun: Run?
  private var receivers: Set<String> = []

  /// Creates a session without names.
  ///
  /// - Parameters:
  ///   - stepLimit: the number of ``ScriptOutcome/steps`` after which a run ends with `limit
  ///     exceeded`. In a release build, the default takes less than 20 seconds of processor time,
  ///     plus the time of the host's receivers.
  ///   - handlers: receive output, failed expectations and the trace. Output is printed by default.
  public init(stepLimit: Int = ScriptSession.defaultStepLimit, handlers: ScriptHandlers = ScriptHandlers()) {
    world = World(handlers: handlers, stepLimit: stepLimit)
  }

  deinit { world.close() }

  /// Binds `name` to a receiver, in place of an earlier value. The session retains the receiver
  /// until a text drops the name.
  ///
  /// On a queue, this receiver and every proxy to which it was added are refused with `isolation
  /// mismatch`. The same holds in a script's method or hook that the host calls on another thread
  /// during a run, or through a `Sendable` proxy outside a run. Another overload registers
  /// receivers that are `Sendable`.
  public func register<Receiver: MessageReceiver>(_ receiver: Receiver, as name: String) {
    world.bind(name, .object(world.label(host: receiver, "<\(type(of: receiver)) \(name)>", crosses: false)))
  }

  /// Binds `name` to a receiver that queues of a script may use. If the receiver is a proxy,
  /// scripts can add only their own objects and `Sendable` receivers to it, since the host may use
  /// the proxy on any thread.
  public func register<Receiver: MessageReceiver & Sendable>(_ receiver: Receiver, as name: String) {
    world.bind(name, .object(world.label(host: receiver, "<\(type(of: receiver)) \(name)>", crosses: true)))
  }

  /// Binds `name` to a value, in place of an earlier value.
  public func set(_ value: ScriptValue, as name: String) { world.bind(name, value) }

  /// The value of `name`; `nil` if it is unknown or dropped.
  public func value(of name: String) -> ScriptValue? {
    if case .value(let value) = world.binding(name) { value } else { nil }
  }

  /// Parses a text of at most ``textLimit`` bytes, then runs its statements up to the first error.
  /// Positions of errors use `name` and count lines from `firstLine`.
  @discardableResult
  public func run(_ text: String, named name: String = "script", firstLine: Int = 1) -> ScriptOutcome {
    let source = SourceText(text, name: name, firstLine: firstLine)
    let run = Run(world, after: lastRun)
    if joinsTexts { lastRun = run }
    var outcome = ScriptOutcome()
    do {
      let statements = try joinsTexts ? Parser.parse(source, after: &receivers) : Parser.parse(source)
      outcome.isParsed = true
      let frame = Frame(source: source, depth: SendInProgress.current?.depth ?? 0)
      let interpreter = Interpreter(world: world, run: run, frame: frame)
      outcome.value = try world.whileInProgress(run) { try interpreter.execute(statements) ?? .null }
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

  /// Parses a text without running it. Returns the error, if any. See ``run(_:named:firstLine:)``.
  public static func check(_ text: String, named name: String = "script", firstLine: Int = 1) -> ScriptError? {
    ScriptSession().checkNext(text, named: name, firstLine: firstLine)
  }

  /// Parses the next part of a text without running it, see ``joinsTexts``.
  package func checkNext(_ text: String, named name: String, firstLine: Int) -> ScriptError? {
    let source = SourceText(text, name: name, firstLine: firstLine)
    do {
      _ = try Parser.parse(source, after: &receivers)
      return nil
    } catch {
      return World(handlers: ScriptHandlers(), stepLimit: 0).hinting(ScriptError(error).placed(at: 0, of: source))
    }
  }

  /// Completions for an editor: at most a few thousand unordered names, receivers and selectors.
  public var completions: [String] { world.completions }
}

/// The outcome of running one text.
///
/// Check ``succeeded``, since a failed expectation does not end the text and is not the ``error``.
public struct ScriptOutcome: Sendable, CustomStringConvertible {
  /// The value of the last statement; ``ScriptValue/null`` if it is not an expression or if the
  /// text ended with an error.
  public fileprivate(set) var value = ScriptValue.null
  /// The error that ended the text.
  public fileprivate(set) var error: ScriptError?
  /// The first thousand failed expectations, in order.
  public fileprivate(set) var failures: [ScriptError] = []
  /// The number of failed expectations.
  public fileprivate(set) var failureCount = 0
  /// The number of errors that no sender waited for: see ``ScriptHandlers/diagnostics``.
  public fileprivate(set) var unawaitedErrorCount = 0
  /// The number of steps. Each statement, empty round of `repeat`, send, `service`, hook call,
  /// `proceed` and method call is a step. The first method of a message is part of the send's step,
  /// unless it runs on a queue.
  public fileprivate(set) var steps = 0
  /// The work other than steps, in units of `Work`.
  package fileprivate(set) var work = 0
  /// True if the text could be parsed. Otherwise no statement ran.
  public fileprivate(set) var isParsed = false

  /// True if the text ran to its end, and no expectation and no delivery on a queue failed.
  public var succeeded: Bool { error == nil && failureCount == 0 && unawaitedErrorCount == 0 }

  /// The failed expectations, the error and the number of errors on queues, or the value if nothing
  /// failed.
  public var description: String {
    var lines = failures.map(\.description) + (error.map { ["\($0)"] } ?? [])
    if failureCount > failures.count { lines.append("\(failureCount) expectations did not hold") }
    let unawaited = unawaitedErrorCount
    if unawaited > 0 { lines.append("\(unawaited) error\(unawaited == 1 ? "" : "s") on queues") }
    return lines.isEmpty ? value.debugDescription : lines.joined(separator: "\n")
  }
}

/// The handlers of a session's output.
///
/// Each handler is called on the thread of the statement that causes the call, never under a lock.
public struct ScriptHandlers: Sendable {
  /// Receives the line of each `print`, with its newline.
  public var output: @Sendable (String) -> Void
  /// Receives failed expectations, and errors that no sender waits for, such as those on queues.
  public var diagnostics: @Sendable (ScriptError) -> Void
  /// Receives a line for each event of a message and for each hook call. If this handler and
  /// ``events`` are `nil`, tracing costs nothing.
  public var trace: (@Sendable (String) -> Void)?
  /// Receives the events of messages, for example for a `SequenceDiagram`.
  public var events: (@Sendable (MessageEvent) -> Void)?
  /// Receives the progress of a run at intervals.
  public var progress: (@Sendable (ScriptProgress) -> Void)?
  /// Called at least once a step. If it returns true, the run ends; no script can catch the error.
  public var isCancelled: (@Sendable () -> Bool)?
  /// Returns the delivery for a new queue of a script, in place of a dispatch queue. Each message
  /// must run inside the function `within`. Tests use this to run a script in every order:
  ///
  ///     handlers.delivers = { name, within in schedule.queue(name, within: within) }
  public var delivers: (@Sendable (_ queue: String, _ within: @escaping @Sendable (() -> Void) -> Void) -> Delivery)?

  /// Creates handlers. By default, output goes to standard output and everything else is ignored.
  public init(
    output: @escaping @Sendable (String) -> Void = { print($0, terminator: "") },
    diagnostics: @escaping @Sendable (ScriptError) -> Void = { _ in }, trace: (@Sendable (String) -> Void)? = nil,
    progress: (@Sendable (ScriptProgress) -> Void)? = nil
  ) {
    (self.output, self.diagnostics, self.trace, self.progress) = (output, diagnostics, trace, progress)
  }
}

/// The progress of a run.
public struct ScriptProgress: Sendable {
  /// The steps so far, counted as in ``ScriptOutcome/steps``.
  public let steps: Int
  /// The limit of ``steps``.
  public let stepLimit: Int
  let source: SourceText
  let offset: Int
  /// The position of the statement or send that runs next. Computed on demand.
  public var position: ScriptPosition { source.position(at: offset) }
}
