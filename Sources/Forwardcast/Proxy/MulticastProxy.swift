// MulticastProxy.swift: one object that stands for many.
// Layer: Proxy. See DESIGN.md, "Life of one message".

/// A proxy that forwards each message to every target that responds to it.
///
///     let themes = MulticastProxy<any ThemesDelegate>()
///     themes.add(screen)                                          // weak, in order, synchronous
///     let token = themes.on(.themesColorChanged) { print($0) }    // a closure as target
///     themes.broadcast(.themesColorChanged, .red)
///
/// `Interface` is what may be added: the existential of a protocol, or `any MessageReceiver` for whatever has a table.
/// The proxy is `Sendable` exactly when its interface is; so the compiler keeps a proxy with targets that are not inside
/// one isolation. Every member may then be called from any thread, and by the targets themselves while a message is on
/// its way: a target that is removed gets nothing further, one that is added gets the next message.
public final class MulticastProxy<Interface>: ForwardingProxy {
  @usableFromInline let core: MulticastCore

  /// A proxy whose targets bring tables of their own.
  public override init() {
    core = MulticastCore(table: nil, options: MulticastOptions())
    super.init()
  }

  /// A proxy with options, and perhaps with a table for its whole interface.
  ///
  /// - Parameter table: methods for every target, whose own tables come first. With it a target needs no table.
  public init(table: SelectorTable? = nil, options: MulticastOptions) {
    core = MulticastCore(table: table, options: options)
    super.init()
  }

  /// A proxy with one table for its whole interface: targets need none of their own.
  public convenience init(table: SelectorTable) {
    self.init(table: table, options: MulticastOptions())
  }

  deinit { core.close() }

  /// What the proxy does about duplicates, silence and errors.
  public var options: MulticastOptions { core.options }

  /// Whether a live, unmuted target would get `selector`.
  ///
  /// - Complexity: constant, whatever the number of targets, but for those that are asked each time.
  public override func responds(to selector: MessageSelector) -> Bool {
    let (isAnswered, hasForwarders) = core.tablesAnswer(selector)
    if isAnswered || !hasForwarders { return isAnswered }
    if ProxyQuestion.isOnItsWay(selector, through: core) { return true }
    return ProxyQuestion.ask(self, selector, otherwise: false) { core.forwardersAnswer(selector) }
  }

  /// The types of the first target that would get `selector`. Where there is none: nothing returned and objects taken,
  /// so that the message is let through and reaches nobody; `nil` when silence is an error.
  public override func methodSignature(for selector: MessageSelector) -> MethodSignature? {
    let found = ProxyQuestion.ask(self, selector, otherwise: nil) { core.firstSignature(for: selector) }
    if let found { return found }
    if case .thrown = options.silence { return nil }
    return .objects(arguments: selector.numberOfArguments, returningVoid: true)
  }

  /// No single receiver stands behind a multicast.
  public override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { nil }

  /// Forwards a message to every live, unmuted target that responds, in order, and says what became of it at each.
  ///
  /// First the arguments are checked against the first target that would get the message; nothing is delivered when they
  /// do not fit. Each target then has its own copy of the invocation. `invocation.result` becomes the last answer.
  ///
  /// - Throws: ``MessageError`` `typeMismatch` or `wrongArgumentCount` from that check, `proxyCycle` when the message came
  ///   through this proxy before, `nobodyResponds` where silence is an error. Errors of targets are in the report.
  @discardableResult
  public override func forward(_ invocation: inout Invocation) throws -> DeliveryReport {
    var report = DeliveryReport()
    var met: Set<ObjectIdentifier> = []
    invocation.result = nil
    let tally = try core.fanOut(invocation, through: self) { step in
      met.insert(ObjectIdentifier(step.registration))
      switch step.outcome {
      case .skipped: break
      case .queued: report.endsQueued = true
      case .answered, .failed: report.endsQueued = false
      }
      switch step.outcome {
      case .answered(let target, let result): report.answers.append(.init(target: target, result: result))
      case .queued(let target): report.queued.append(target)
      case .failed(let target, let error):
        report.failures.append(.init(target: target, error: error))
        return !core.stopsAtFirst
      case .skipped(let target, let reason): report.skipped.append(.init(target: target, reason: reason))
      }
      return true
    }
    report.dropped = tally.dropped
    core.explainOthers(
      invocation.selector, except: met, stopped: core.stopsAtFirst && !report.failures.isEmpty, in: &report)
    invocation.result = report.result
    if report.nobodyResponded { try core.silenceOrThrow(invocation.selector, self) }
    return report
  }

  /// `nobodyResponds`: only a proxy that is to throw on silence does not recognize a message.
  public override func doesNotRecognize(_ selector: MessageSelector) -> any Error {
    MessageError.nobody(selector, self)
  }
}

// The core's lock guards all state, and an interface that is Sendable has Sendable targets only.
extension MulticastProxy: @unchecked Sendable where Interface: Sendable {}

extension MulticastProxy: CoreHolder {}

extension MulticastProxy: CustomStringConvertible {
  /// The interface and how many live registrations there are: `multicast of ThemesDelegate, 3 targets`.
  public var description: String {
    let count = count
    return "multicast of \(Interface.self), \(count) target\(count == 1 ? "" : "s")"
  }
}

extension MessageError {
  static func nobody(_ selector: MessageSelector, _ proxy: AnyObject) -> MessageError {
    MessageError(.nobodyResponds, receiver: typeName(of: proxy), selector: selector.name)
  }
}
