// World.swift: the state of a session.

import Forwardcast
import ForwardcastCenters
import Synchronization

/// The state that the statements of a session share.
///
/// Evaluation takes no lock, because each activation has its own ``Frame`` and values are
/// immutable. A lock guards the shared names and receivers, so methods may run on any thread.
/// Replaced values are released after unlocking, so no foreign code runs under the lock.
final class World: Sendable {
  static let inheritanceLimit = 64

  struct State: Sendable {
    var names: [String: Binding] = [:]
    /// The declared receivers by name, with the number of ancestors.
    var receivers: [String: (table: SelectorTable, depth: Int)] = [:]
    var labels: [ObjectIdentifier: Label] = [:]
    var labelsAtLastSweep = 0
    /// Proxies that hold proxies.
    var holders: [ObjectIdentifier: WeakObject] = [:]
    var internedCount = 0
    /// True if a recording or a receiver of the host may need names that are not interned yet.
    var hasForeignReceivers = false
    /// The hooks that scripts of this session have installed. They retain the session's names.
    var hooks: [HookRegistration] = []
  }

  let state = Mutex(State())
  private let queueState = Mutex(QueueState())
  /// A proxy with a target on each dispatch queue. The targets receive nothing. Draining the proxy
  /// waits for the queues.
  let queueEnds = ScriptMulticast()
  let services = ServiceCenter()
  let handlers: ScriptHandlers
  let stepLimit: Int
  let limits = ScriptLimits.current
  let deepestReceiver = Atomic<Int>(0)

  init(handlers: ScriptHandlers, stepLimit: Int) {
    (self.handlers, self.stepLimit) = (handlers, stepLimit)
    services.onError = { [weak self] failure in
      if let errors = HookErrors.current { errors.add(failure.error) } else { self?.report(failure.error) }
    }
  }

  func queues<T: Sendable>(_ body: (inout QueueState) throws -> sending T) rethrows -> T {
    try queueState.withLock { try body(&$0) }
  }

  /// Releases everything and empties the session's proxies, so that reference cycles end.
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
    if count >= World.hookLimit { throw ScriptError(.limitExceeded, "more than \(World.hookLimit) hooks") }
  }

  // MARK: Events

  var isTold: Bool { handlers.events != nil || handlers.trace != nil }

  func tell(_ event: () -> MessageEvent) {
    guard isTold else { return }
    let event = event()
    handlers.events?(event)
    let depth = SendInProgress.current?.depth ?? (ScriptQueue.current == nil ? 0 : 1)
    handlers.trace?(String(repeating: "  ", count: depth) + event.description)
  }

  /// Emits the events of a proxy's deliveries, except events of a script's methods. A method emits
  /// its own events, with the step number that this proxy passes to the method.
  func trace(_ proxy: some MulticastSending, as name: String) {
    guard isTold else { return }
    let ofRow = "\u{0}"
    let naming: @Sendable (AnyObject) -> String? = { [weak self] target in
      if let object = target as? ScriptObject { return ofRow + clipped(object.description) }
      return (target as? any MessageReceiver).flatMap { self?.reference($0).description }.map { clipped($0) }
    }
    proxy.trace(as: clipped(name), naming: naming) { [weak self] event in
      if event.stage == .sent { return }
      let isOfRow = event.receiver.hasPrefix(ofRow)
      switch event.stage {
      case .began where isOfRow: (SendInProgress.current?.turn ?? self?.currentQueue?.turn)?.begin(event.step)
      case .answered, .failed:
        if isOfRow || event.sender == "sender" { return }
        self?.tell { event }
      default:
        self?.tell {
          isOfRow ? event.renamed(sender: event.sender, receiver: String(event.receiver.dropFirst())) : event
        }
      }
    }
  }

  // MARK: Names

  func binding(_ name: String) -> Binding? { state.withLock { $0.names[name] } }

  func bind(_ name: String, _ value: ScriptValue) {
    // The old value is released after unlocking.
    _ = state.withLock { $0.names.updateValue(.value(value), forKey: name) }
  }

  func drop(_ name: String) {
    _ = state.withLock { state in
      let binding = state.names[name]
      state.names[name] = binding?.afterDrop
      return binding
    }
  }

  func receiver(_ name: String) -> (table: SelectorTable, depth: Int)? { state.withLock { $0.receivers[name] } }

  func table(of receiver: String) throws(ScriptError) -> SelectorTable {
    if let known = self.receiver(receiver) { return known.table }
    throw ScriptError(.unknownName, "receiver \(receiver)", about: .receiver(receiver))
  }

  /// How often a visited registration counts. A lookup may search the tables of all ancestors.
  var weightOfTable: Int { 1 + deepestReceiver.load(ordering: .relaxed) / 8 }
}
