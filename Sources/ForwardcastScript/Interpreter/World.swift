// World.swift: the names, receivers and proxies of one session.

import Forwardcast
import ForwardcastCenters
import Synchronization

/// What the statements of a session share.
///
/// There is no lock around evaluation. Each activation of a row has a ``Frame`` of its own, values are immutable, and
/// what is shared, the names and receivers below, is under one short lock, so rows may run on as many threads as
/// messages are delivered on. No foreign code runs while the lock is held: what a change replaces is released outside.
final class World: Sendable {
  static let inheritanceLimit = 64

  struct State: Sendable {
    var names: [String: Binding] = [:]
    /// With how many receivers each inherits from.
    var receivers: [String: (table: SelectorTable, depth: Int)] = [:]
    var labels: [ObjectIdentifier: Label] = [:]
    var labelsAtLastSweep = 0
    /// Proxies that hold proxies.
    var holders: [ObjectIdentifier: WeakObject] = [:]
    var internedCount = 0
    /// Whether there are receivers of the host: their tables may be made, or filled by a resolver, only when they are
    /// asked, so that they may answer names that nobody has interned. Or recordings, which keep names.
    var hasForeignReceivers = false
    /// The hooks that texts have installed: they hold the names of the session.
    var hooks: [HookRegistration] = []
  }

  let state = Mutex(State())
  private let queueState = Mutex(QueueState())
  let services = ServiceCenter()
  let handlers: ScriptHandlers
  let stepLimit: Int
  let limits = ScriptLimits.current
  private let deepestReceiver = Atomic<Int>(0)

  init(handlers: ScriptHandlers, stepLimit: Int) {
    (self.handlers, self.stepLimit) = (handlers, stepLimit)
    services.onError = { [weak self] failure in
      if let errors = HookErrors.current { errors.add(failure.error) } else { self?.report(failure.error) }
    }
  }

  func queues<T: Sendable>(_ body: (inout QueueState) -> sending T) -> T { queueState.withLock { body(&$0) } }

  /// Forgets everything and empties the session's proxies, so that objects and proxies that hold one another go.
  func close() {
    let old = state.withLock { exchange(&$0, with: State()) }
    services.removeAll()
    for hook in old.hooks.reversed() { hook.cancel() }
    for label in old.labels.values {
      switch label.object.object {
      case let proxy as ScriptMulticast where label.ownership != nil: proxy.removeAll()
      case let holder as LazyTarget: holder.release()
      default: break
      }
    }
  }

  static let hookLimit = 1000

  var hookCount: Int { state.withLock { $0.hooks.count } }

  func makeRoomForHook() throws {
    let (_, count) = state.withLock { state in
      let old = state.hooks
      if old.count >= World.hookLimit { state.hooks.removeAll { $0.isCancelled } }
      return (old, state.hooks.count)
    }
    if count >= World.hookLimit { throw ScriptFault(.limitExceeded, "more than \(World.hookLimit) hooks") }
  }

  func keep(_ hook: HookRegistration) { state.withLock { $0.hooks.append(hook) } }

  // MARK: Messages that are told of

  var isTold: Bool { handlers.events != nil || handlers.trace != nil }

  /// Tells of a step of a message, which is made only when somebody listens.
  func tell(_ event: () -> MessageEvent) {
    guard isTold else { return }
    let event = event()
    handlers.events?(event)
    let depth = SendInProgress.current?.depth ?? (ScriptQueue.current == nil ? 0 : 1)
    handlers.trace?(String(repeating: "  ", count: depth) + event.description)
  }

  /// Has a proxy of the session tell what its targets get. Of the message its sender tells, and of a row's turn the row, under
  /// the number that the proxy gives the turn.
  func trace(_ proxy: some MulticastSending, as name: String) {
    guard isTold else { return }
    let ofRow = "\u{0}"
    let naming: @Sendable (AnyObject) -> String? = { [weak self] target in
      if let object = target as? ScriptObject { return ofRow + object.description }
      return (target as? any MessageReceiver).flatMap { self?.reference($0).description }
    }
    proxy.trace(as: name, naming: naming) { [weak self] event in
      let isOfRow = event.receiver.hasPrefix(ofRow)
      switch event.stage {
      case .sent: return
      case .began where isOfRow:
        (SendInProgress.current?.turn ?? ScriptQueue.current?.turn)?.begin(event.step)
      case .answered, .failed:
        if isOfRow || event.sender == "sender" { return }
        self?.tell { event }
      case .began, .queued, .skipped:
        var event = event
        if isOfRow { event.receiver.removeFirst() }
        self?.tell { event }
      }
    }
  }

  // MARK: Names

  func binding(_ name: String) -> Binding? { state.withLock { $0.names[name] } }

  func bind(_ name: String, _ value: ScriptValue) {
    // What it was bound to is released after the lock.
    _ = state.withLock { $0.names.updateValue(.value(value), forKey: name) }
  }

  func drop(_ name: String) {
    _ = state.withLock { state in
      let binding = state.names[name]
      state.names[name] = binding?.afterDrop
      return binding
    }
  }

  // MARK: Receivers

  func receiver(_ name: String) -> (table: SelectorTable, depth: Int)? { state.withLock { $0.receivers[name] } }

  func table(of receiver: String) throws(ScriptFault) -> SelectorTable {
    if let known = self.receiver(receiver) { return known.table }
    throw ScriptFault(.unknownName, "receiver \(receiver)", about: .receiver(receiver))
  }

  /// - Parameter depth: how many receivers it inherits from.
  func setTable(_ table: SelectorTable, of receiver: String, depth: Int) {
    state.withLock { $0.receivers[receiver] = (table, depth) }
    deepestReceiver.max(depth, ordering: .relaxed)
  }

  /// As how many registrations one counts that is looked at or passed by. That a receiver does not answer is known when each
  /// table that it inherits from has been searched.
  var weightOfTable: Int { 1 + deepestReceiver.load(ordering: .relaxed) / 8 }
}
