// ScriptSession.swift: runs scripts in a host program.

import Forwardcast

/// A session of the message script. Names, receivers and proxies live from one text to the next.
///
///     let session = ScriptSession()
///     session.register(cart, as: "cart")  // a live Swift object with a selector table
///     session.run("[cart add: \"tea\" price: 3]")
///     session.run("[cart total]").value                     // 3
///     session.run("[cart wash]").error?.text  // unrecognized selector 'wash' of Cart
///
/// Everything runs in the caller's turn, except for deliveries on a `queue`; `run` returns when these are done, too. A session
/// is not `Sendable`, so it takes receivers that are not: the compiler keeps them in one isolation, and the session keeps them
/// off the queues. Its handlers are `@Sendable`.
///
/// When a session is released, it releases all that was registered, and empties the proxies that its texts created. Objects
/// and proxies of the host stay as they are.
///
/// Texts may come from untrusted sources: size, depth, steps and memory are limited, and the worst that a text can do is to
/// end with an error, as long as the registered receivers allow no more.
public final class ScriptSession {
  /// The default limit of statements and sends of one text.
  public static let defaultStepLimit = 1_000_000

  /// The longest text, in bytes: 16 MiB.
  public static let textLimit = ScriptLimits().text

  /// The limit of work, in units of ``Work``, beside the steps.
  package static func workLimit(forSteps steps: Int) -> Int {
    let (units, isOver) = steps.multipliedReportingOverflow(by: Run.workPerStep)
    return isOver || units > .max - Run.leastWork ? .max : units + Run.leastWork
  }

  private let world: World

  /// A session without names.
  ///
  /// - Parameters:
  ///   - stepLimit: statements and sends that each run may take before it ends with `limit exceeded`. The default, a million,
  ///     takes less than 20 seconds of processor time in a release build, whatever the text, plus that of the host's receivers.
  ///   - handlers: take output, failed expectations and the trace; by default they go to standard output and nowhere.
  public init(stepLimit: Int = ScriptSession.defaultStepLimit, handlers: ScriptHandlers = ScriptHandlers()) {
    world = World(handlers: handlers, stepLimit: stepLimit)
  }

  deinit { world.close() }

  /// Makes a receiver known to the session's texts as `name`, in place of an earlier value. It is kept alive until they drop the
  /// name.
  ///
  /// Unless it is known to the compiler to be `Sendable`, it is refused on a queue with `isolation mismatch`, as is every proxy
  /// to which it was added.
  public func register<Receiver: MessageReceiver>(_ receiver: Receiver, as name: String) {
    world.bind(name, .object(world.label(host: receiver, "<\(type(of: receiver)) \(name)>", crosses: false)))
  }

  /// Makes a receiver known that may also be used on queues of a script. A proxy of the host takes only such receivers, and
  /// objects of scripts: the host may use it on any thread.
  public func register<Receiver: MessageReceiver & Sendable>(_ receiver: Receiver, as name: String) {
    world.bind(name, .object(world.label(host: receiver, "<\(type(of: receiver)) \(name)>", crosses: true)))
  }

  /// Binds `name` to a value, in place of an earlier one.
  public func set(_ value: ScriptValue, as name: String) { world.bind(name, value) }

  /// The value of `name`; `nil` when it is unknown or dropped.
  public func value(of name: String) -> ScriptValue? {
    if case .value(let value) = world.binding(name) { value } else { nil }
  }

  /// Runs a text of at most ``textLimit`` bytes: parses all of it, then runs its statements up to the first error. Positions of
  /// errors use `name` and count lines from `firstLine`.
  @discardableResult
  public func run(_ text: String, named name: String = "script", firstLine: Int = 1) -> ScriptOutcome {
    let source = SourceText(text, name: name, firstLine: firstLine)
    let run = Run(world)
    var outcome = ScriptOutcome()
    do {
      let statements = try Parser.parse(source)
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

  /// Parses a text without running it; returns the error, if any. The parameters are those of ``run(_:named:firstLine:)``.
  public static func check(_ text: String, named name: String = "script", firstLine: Int = 1) -> ScriptError? {
    let source = SourceText(text, name: name, firstLine: firstLine)
    do {
      _ = try Parser.parse(source)
      return nil
    } catch {
      return World(handlers: ScriptHandlers(), stepLimit: 0).hinting(ScriptError(error).placed(at: 0, of: source))
    }
  }

  /// Completions for an editor: bound names, receivers, and selectors of their rows; at most a few thousand, in no order.
  public var completions: [String] { world.completions }
}

/// The outcome of running one text.
///
/// Check ``succeeded``: a failed expectation ends nothing and is not the ``error``. As text, an outcome is all that went wrong,
/// or its value.
public struct ScriptOutcome: Sendable, CustomStringConvertible {
  /// The value of the last statement if it is an expression, else `nil`.
  public fileprivate(set) var value = ScriptValue.null
  /// The error that ended the text.
  public fileprivate(set) var error: ScriptError?
  /// The failed expectations in order; the first thousand of them.
  public fileprivate(set) var failures: [ScriptError] = []
  /// The number of failed expectations.
  public fileprivate(set) var failureCount = 0
  /// The number of errors on queues that nobody waited for; each was given to ``ScriptHandlers/diagnostics``.
  public fileprivate(set) var unawaitedErrorCount = 0
  /// The number of statements, sends, and proxies inside proxies that messages and questions passed.
  public fileprivate(set) var steps = 0
  /// The work beside steps, in units of `Work`.
  package fileprivate(set) var work = 0
  /// Whether the text could be parsed; if not, nothing of it ran.
  public fileprivate(set) var isParsed = false

  /// Whether the text ran to its end, and no expectation and no delivery on a queue failed.
  public var succeeded: Bool { error == nil && failureCount == 0 && unawaitedErrorCount == 0 }

  /// The failed expectations and the error, or the value if all went well.
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
/// Each is called in the turn of the statement that causes it, on whatever thread that runs, and never under a lock.
public struct ScriptHandlers: Sendable {
  /// Takes the line of each `print`, with its newline.
  public var output: @Sendable (String) -> Void
  /// Takes each failed expectation, and each error on a queue that nobody waits for, as it happens.
  public var diagnostics: @Sendable (ScriptError) -> Void
  /// Takes a line for each step of each message; `nil` costs nothing.
  public var trace: (@Sendable (String) -> Void)?
  /// Takes each step of each message as an event, for a `SequenceDiagram` or a tracer; `nil` costs nothing.
  public var events: (@Sendable (MessageEvent) -> Void)?
  /// Takes the progress of a run now and then.
  public var progress: (@Sendable (ScriptProgress) -> Void)?
  /// Asked at every statement and send whether to end the run there, with an error that no script catches.
  public var isCancelled: (@Sendable () -> Bool)?
  /// Returns the delivery of a new queue, in place of one on a dispatch queue. Each delivery must
  /// run within the given function. Tests use it to run a script in every order:
  ///
  ///     handlers.delivers = { name, within in schedule.queue(name, within: within) }
  public var delivers: (@Sendable (_ queue: String, _ within: @escaping @Sendable (() -> Void) -> Void) -> Delivery)?

  /// Handlers. Output goes to standard output by default, the rest nowhere. The parameters are the properties of these names.
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
  /// The statements and sends so far.
  public let steps: Int
  /// The limit of them.
  public let stepLimit: Int
  let source: SourceText
  let offset: Int
  /// The statement or send that runs next. Computed on demand.
  public var position: ScriptPosition { source.position(at: offset) }
}
