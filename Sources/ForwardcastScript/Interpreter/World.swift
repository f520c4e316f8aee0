// World.swift: the names, receivers and proxies of one session.
// Layer: Script, Interpreter. See DESIGN.md, "The script".

import Forwardcast
import ForwardcastCenters
import Synchronization

/// What the statements of a session share.
///
/// There is no lock around evaluation. Each activation of a row has a ``Frame`` of its own, values are immutable, and
/// what is shared, the names and receivers below, is under one short lock, so rows may run on as many threads as
/// messages are delivered on. No foreign code runs while the lock is held: what a change replaces is let go of outside.
final class World: Sendable {
  /// Names that one session may add to the process's selectors.
  static let internLimit = 10_000
  /// Receivers that may inherit from one another.
  static let inheritanceLimit = 512
  /// Proxies that may stand behind one another: as many as sends may be in progress.
  static let chainLimit = Run.sendLimit - 1

  struct State: Sendable {
    var names: [String: Binding] = [:]
    var tables: [String: SelectorTable] = [:]
    var inheritance: [String: Int] = [:]
    var labels: [ObjectIdentifier: Label] = [:]
    /// The ways from proxies to proxies.
    var ways: [ObjectIdentifier: [Way]] = [:]
    var labelsAtLastSweep = 0
    var internedCount = 0
    /// Whether there are receivers of the host: their tables may be made, or filled by a resolver, only when they are
    /// asked, so that they may answer names that nobody has interned. Or recordings, which keep names.
    var hasForeignReceivers = false
    /// The hooks that texts have installed: they hold the names of the session.
    var hooks: [HookRegistration] = []
  }

  /// What is known of an object beyond itself.
  struct Label: Sendable {
    let object: WeakObject
    let text: String
    /// The longest chain of proxies behind it.
    var height = 0
    /// Proxies that it stands behind.
    var parents: Set<ObjectIdentifier> = []
    /// How a multicast proxy that the session made keeps its targets; `nil` for everything else.
    var ownership: Ownership?
    /// Whether a multicast proxy lets a target be registered several times.
    var allowsDuplicates = false
    /// Registrations that may be some of many of one target.
    var repeatable = 0
    /// Whether the object may be used on queues: it, and all that it leads to, is `Sendable`.
    var crosses = true
  }

  let state = Mutex(State())
  private let queueState = Mutex(QueueState())
  /// Where `service` finds and makes services.
  let services = ServiceCenter()
  let handlers: ScriptHandlers
  let stepLimit: Int

  init(handlers: ScriptHandlers, stepLimit: Int) {
    self.handlers = handlers
    self.stepLimit = stepLimit
    services.onError = { [weak self] failure in
      if let errors = HookErrors.current { errors.add(failure.error) } else { self?.report(failure) }
    }
  }

  /// Reads or changes what is known of the queues.
  func queues<T: Sendable>(_ body: (inout QueueState) -> sending T) -> T { queueState.withLock { body(&$0) } }

  func newRun() -> Run { Run(stepLimit: stepLimit, progress: handlers.progress, isCancelled: handlers.isCancelled) }

  /// Forgets everything and empties the session's proxies, so that objects and proxies that hold one another go.
  func close() {
    let old = state.withLock { state in
      defer { state = State() }
      return state
    }
    services.removeAll()
    for hook in old.hooks.reversed() { hook.cancel() }
    for label in old.labels.values {
      switch label.object.object {
      case let proxy as ScriptMulticast where label.ownership != nil: proxy.removeAll()
      case let holder as LazyTarget: holder.letGo()
      default: break
      }
    }
  }

  /// Hooks that one session may have at a time.
  static let hookLimit = 1000

  var hookCount: Int { state.withLock { $0.hooks.count } }

  /// - Throws: `limit exceeded` when there are as many hooks as there may be.
  func makeRoomForHook() throws {
    let (old, count) = state.withLock { state in
      let old = state.hooks
      if old.count >= World.hookLimit { state.hooks.removeAll { $0.isCancelled } }
      return (old, state.hooks.count)
    }
    withExtendedLifetime(old) {}
    if count >= World.hookLimit { throw ScriptFault(.limitExceeded, "more than \(World.hookLimit) hooks") }
  }

  /// Notes a hook, to be cancelled with the session.
  func keep(_ hook: HookRegistration) { state.withLock { $0.hooks.append(hook) } }

  /// A trace line, made only when somebody listens.
  func trace(_ depth: Int, _ line: () -> String) {
    guard let trace = handlers.trace else { return }
    trace(String(repeating: "  ", count: depth) + line())
  }

  /// A step of a message, made only when somebody listens.
  func tell(_ event: () -> MessageEvent) {
    if let events = handlers.events { events(event()) }
  }

  private func typeName(_ reference: ScriptReference) -> String { "\(type(of: reference.receiver))" }

  // MARK: Names

  func binding(_ name: String) -> Binding? { state.withLock { $0.names[name] } }

  func bind(_ name: String, _ value: ScriptValue) {
    let old = state.withLock { $0.names.updateValue(.value(value), forKey: name) }
    withExtendedLifetime(old) {}
  }

  /// Forgets a name. `false` when there is none.
  func drop(_ name: String) -> Bool {
    let old = state.withLock { state -> Binding? in
      guard let binding = state.names[name] else { return nil }
      state.names[name] = binding.afterDrop
      return binding
    }
    return old != nil
  }

  // MARK: Receivers

  func table(of receiver: String) -> SelectorTable? { state.withLock { $0.tables[receiver] } }

  func setTable(_ table: SelectorTable, of receiver: String) { state.withLock { $0.tables[receiver] = table } }

  func countInheritance(of receiver: String, parent: String?) throws {
    try state.withLock { state in
      let depth = parent.map { (state.inheritance[$0] ?? 0) + 1 } ?? 0
      if depth > World.inheritanceLimit {
        throw ScriptFault(.limitExceeded, "more than \(World.inheritanceLimit) receivers inherit from one another")
      }
      state.inheritance[receiver] = depth
    }
  }

  /// The signature of a row that states none: objects throughout.
  func objectSignature(_ argumentCount: Int) throws -> MethodSignature {
    try MethodSignature("@@:" + String(repeating: "@", count: argumentCount))
  }

  // MARK: Selectors

  /// The selector of that name, interned because something answers it. The number of new ones is bounded.
  func intern(_ name: String) throws -> MessageSelector {
    if name == World.standIn(name.utf8.lazy.filter { $0 == UInt8(ascii: ":") }.count) {
      throw ScriptFault(.invalidSelector, "\(name) stands for the names that nothing answers")
    }
    if let known = MessageSelector(known: name) { return known }
    try state.withLock { state in
      if state.internedCount >= World.internLimit {
        throw ScriptFault(.limitExceeded, "more than \(World.internLimit) selectors")
      }
      state.internedCount += 1
    }
    try InternedNames.makeRoom(for: name)
    return try MessageSelector(name)
  }

  /// The selector to send for a name of the script's text.
  ///
  /// A name that the process does not know is answered by no table. Interning it would let a script fill memory with
  /// names, so a stand-in that no table has takes its place. Only where a receiver of the host may get the message, or a
  /// recording keeps it, is the name interned, within the session's bound.
  func selectorToSend(_ name: String, argumentCount: Int, to receiver: any MessageReceiver) throws -> MessageSelector {
    if let known = MessageSelector(known: name) { return known }
    if !(receiver is ScriptObject), state.withLock({ $0.hasForeignReceivers }) { return try intern(name) }
    return try MessageSelector(World.standIn(argumentCount))
  }

  /// Notes that there is a proxy that keeps what it is sent, answered or not, under its own name.
  func noteRecording() { state.withLock { $0.hasForeignReceivers = true } }

  static func standIn(_ argumentCount: Int) -> String {
    argumentCount == 0 ? "_unknownToEveryTable" : "_unknownToEveryTable" + String(repeating: ":", count: argumentCount)
  }

  /// An error of the library in the script's names: the selector that was written where a stand-in was sent, and the
  /// proxy that was asked where only its class is given and no further proxy can be meant.
  func naming(_ shape: SendShape, to receiver: ScriptReference, in error: any Error) -> any Error {
    guard let error = error as? MessageError else { return error }
    let isStandIn = error.selector == World.standIn(shape.argumentCount)
    let isProxy =
      error.code == .nobodyResponds && height(of: receiver.receiver) == 0
      || error.code == .unrecognizedSelector && receiver.receiver is ScriptPoint && error.receiver == typeName(receiver)
    return MessageError(
      error.code, receiver: isProxy ? receiver.description : error.receiver,
      selector: isStandIn ? shape.selector : error.selector, evidence: error.evidence,
      argumentIndex: error.argumentIndex)
  }
}

// MARK: - Objects and proxies

extension World {
  /// `receiver` as a value, with the text that it prints as.
  func reference(_ receiver: any MessageReceiver) -> ScriptReference {
    if let object = receiver as? ScriptObject { return object.reference }
    let id = ObjectIdentifier(receiver)
    if let label = state.withLock({ $0.labels[id] }), label.object.object === receiver {
      return ScriptReference(receiver, label: label.text, crosses: label.crosses)
    }
    state.withLock { $0.hasForeignReceivers = true }
    return label(receiver, "<\(type(of: receiver))>", crosses: false)
  }

  /// Notes what an object prints as.
  @discardableResult
  func label(_ receiver: any MessageReceiver, _ text: String, crosses: Bool = true) -> ScriptReference {
    let dead = sweep()
    withExtendedLifetime(dead) {}
    let label = Label(object: WeakObject(receiver), text: text, crosses: crosses)
    let id = ObjectIdentifier(receiver)
    // Ways that are still there are those of a dead object that had the same address.
    let old = state.withLock { state in
      state.labels[id] = label
      return state.ways.removeValue(forKey: id)
    }
    withExtendedLifetime(old) {}
    return ScriptReference(receiver, label: text, crosses: crosses)
  }

  func setOptions(of proxy: ScriptMulticast, _ ownership: Ownership, allowsDuplicates: Bool) {
    let id = ObjectIdentifier(proxy)
    state.withLock { state in
      state.labels[id]?.ownership = ownership
      state.labels[id]?.allowsDuplicates = allowsDuplicates
    }
  }

  /// How `add` keeps the targets of a proxy.
  func ownership(of proxy: any ScriptedMulticast) -> Ownership {
    let id = ObjectIdentifier(proxy)
    return state.withLock { $0.labels[id]?.ownership ?? .weak }
  }

  /// Notes a receiver of the host.
  func label(host receiver: any MessageReceiver, _ name: String, crosses: Bool) -> ScriptReference {
    state.withLock { $0.hasForeignReceivers = true }
    return label(receiver, "<\(type(of: receiver)) \(name)>", crosses: crosses)
  }

  /// Forgets the labels of dead objects whenever there are twice as many as at the last sweep. What was read is handed
  /// out, to be let go of after the lock.
  private func sweep() -> Swept {
    state.withLock { state in
      var swept = Swept()
      guard state.labels.count > 2 * state.labelsAtLastSweep + 64 else { return swept }
      for (id, label) in state.labels {
        if let object = label.object.object {
          swept.objects.append(object)
        } else {
          state.labels[id] = nil
          if let ways = state.ways.removeValue(forKey: id) { swept.ways.append(ways) }
        }
      }
      state.labelsAtLastSweep = state.labels.count
      return swept
    }
  }

  private struct Swept: @unchecked Sendable {  // owned by the one call that collects it
    var objects: [AnyObject] = []
    var ways: [[Way]] = []
  }

  /// How many proxies a message to `receiver` may pass one after another, beyond the first.
  func height(of receiver: any MessageReceiver) -> Int {
    guard receiver is any MessageForwarding else { return 0 }
    let id = ObjectIdentifier(receiver)
    return state.withLock { $0.labels[id]?.height ?? 0 }
  }

  /// Notes that `proxy` leads to `target`.
  ///
  /// - Throws: `limit exceeded` when the chain of proxies would become so long that a message, or the release of the
  ///   chain, could use up the stack.
  func link(_ proxy: AnyObject, to target: any MessageReceiver) throws {
    let proxy = ObjectIdentifier(proxy)
    let reference = reference(target)
    if !reference.crosses { state.withLock { $0.confine(proxy) } }
    guard target is any MessageForwarding else { return }
    let child = ObjectIdentifier(target)
    try state.withLock { state in
      state.labels[child]?.parents.insert(proxy)
      var raised: Set<ObjectIdentifier> = [child]
      var work = [(proxy, (state.labels[child]?.height ?? 0) + 1)]
      while let (id, height) = work.popLast() {
        guard let label = state.labels[id], label.height < height, raised.insert(id).inserted else { continue }
        if height > World.chainLimit {
          throw ScriptFault(.limitExceeded, "more than \(World.chainLimit) proxies behind one another")
        }
        state.labels[id]?.height = height
        for parent in label.parents { work.append((parent, height + 1)) }
      }
    }
  }
}

extension World.State {
  /// Notes that a proxy leads to an object that stays in the session's turn, and with it all that lead to the proxy.
  fileprivate mutating func confine(_ proxy: ObjectIdentifier) {
    var work = [proxy]
    while let id = work.popLast() {
      guard let label = labels[id], label.crosses else { continue }
      labels[id]?.crosses = false
      work += label.parents
    }
  }
}

extension World {
  /// Whether the object may be used on queues at this moment.
  func crosses(_ receiver: any MessageReceiver) -> Bool { reference(receiver).crosses }

  /// Whether the session made the proxy.
  func isOwn(_ proxy: ScriptMulticast) -> Bool {
    let id = ObjectIdentifier(proxy)
    return state.withLock { $0.labels[id]?.ownership != nil }
  }

  /// The living multicast proxies of the session that have targets on queues.
  var queueingProxies: [ScriptMulticast] {
    let labels = state.withLock { state in state.labels.values.filter { $0.ownership != nil } }
    return labels.compactMap { $0.object.object as? ScriptMulticast }.filter(hasQueues)
  }
}
