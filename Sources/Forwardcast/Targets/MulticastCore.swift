// MulticastCore.swift: a multicast proxy's state, its lock, and registrations.

import Synchronization

#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// The part of a multicast proxy that does not depend on its interface. `state` holds everything
/// mutable under one lock. Foreign code (queries, hooks, targets, `deinit`) runs outside the lock.
@usableFromInline
package final class MulticastCore: Visited, @unchecked Sendable {  // immutable, atomic, or in `state`
  struct State: @unchecked Sendable {  // guarded by the lock around it; targets need not be Sendable
    var list = TargetList()
    /// True once the proxy is deallocated. A closed core caches no routes, since routes retain it.
    var isClosed = false
    /// The cached routes. The board is dropped if its routes cannot be patched after a change.
    var board: RouteBoard?
    private(set) var rest: Rest?
    var madeRest: Rest {
      @inline(never) mutating get {
        let made = rest ?? Rest()
        rest = made
        return made
      }
    }

    mutating func noteUnreachable(_ registration: Registration, _ garbage: inout Garbage) {
      let rest = madeRest
      if rest.unreachable.count > 16, rest.unreachable.count > list.count * 2 {
        for known in exchange(&rest.unreachable, with: []) {
          if list.contains(known) { rest.unreachable.append(known) } else { garbage.keep(known) }
        }
      }
      rest.unreachable.append(registration)
    }
  }

  /// State that most proxies do not need.
  final class Rest {
    var onError: (@Sendable (MulticastFailure) -> Void)?
    /// The mailboxes of the contexts, and the gates of targets. Grows when targets are added.
    var mailboxes = MailboxTable()
    var unreachable: [Registration] = []
    var hooks = FirstInFirstOut<Hook>()
    /// The hooks of streams.
    var listeners = FirstInFirstOut<Hook>()
    var lastError: String?
    /// The trace, and the token by which the trace's handle ends the trace.
    var trace: (token: Hook, trace: MessageTrace)?
    /// The hooks of a selector, innermost first, and the trace. Hooks of streams are innermost.
    func around(_ selector: MessageSelector) -> (hooks: [Hook], trace: MessageTrace?) {
      let lines = [listeners, hooks]
      return (lines.flatMap { $0.filter { $0.isFor(selector) } }, trace?.trace)
    }
  }

  let state = Guarded(State())
  private let interface: any Any.Type
  /// The proxy's table and options in one word; default options allocate nothing.
  private let setup: Setup
  private enum Setup: Sendable { case plain, table(SelectorTable), stated(Stated) }
  private final class Stated: Sendable {
    let values: (table: SelectorTable?, options: MulticastOptions)
    init(_ table: SelectorTable?, _ options: MulticastOptions) { values = (table, options) }
  }
  /// The address of ``link``, retained, or 0.
  private let madeLink = Atomic<UInt>(0)
  /// The version of the target list. Grows, under the lock, when registrations join or routes end.
  let version = Atomic<UInt>(0)
  /// Grows with `version`, and also with each removal and each patch of routes. Routes that are not
  /// on the board compare this number to find out whether they are outdated. A message reads the
  /// number when it begins, so it knows which targets were removed during the message.
  let changes = Atomic<UInt>(0)

  init(_ interface: any Any.Type, table: SelectorTable?, options: MulticastOptions?) {
    self.interface = interface
    setup = options.map { .stated(Stated(table, $0)) } ?? table.map { .table($0) } ?? .plain
  }

  var table: SelectorTable? {
    switch setup {
    case .plain: nil
    case .table(let table): table
    case .stated(let stated): stated.values.table
    }
  }

  var options: MulticastOptions { if case .stated(let stated) = setup { stated.values.options } else { .init() } }

  @inline(never) var name: String { "MulticastProxy<\(writtenName(of: interface))>" }

  deinit {
    // Handles may outlive the proxy but must not retain targets. There is no other reference to the
    // core, so the lock is not needed.
    var targets: [AnyObject] = []
    for registration in registrations {
      if let target = exchange(&registration.strong, with: nil) { targets.append(target) }
    }
    if !targets.isEmpty { FlatRelease.release(&targets) }
    let made = madeLink.load(ordering: .relaxed)
    if made != 0 { CoreLink.at(made).release() }
  }

  /// The weak reference that registrations and hooks share. It is created when first needed.
  var link: CoreLink {
    var made = madeLink.load(ordering: .acquiring)
    if made == 0 {
      let new = Unmanaged.passRetained(CoreLink(self))
      let word = UInt(bitPattern: new.toOpaque())
      made = madeLink.compareExchange(expected: 0, desired: word, ordering: .acquiringAndReleasing).original
      if made == 0 { return new.takeUnretainedValue() }
      new.release()
    }
    return CoreLink.at(made).takeUnretainedValue()
  }

  /// Runs a change with the lock held, then releases the objects that the change replaced.
  func change<T: Sendable>(_ body: (inout State, inout Garbage) -> T) -> T {
    let (result, garbage) = state.withLock { state in
      var garbage = Garbage()
      let result = body(&state, &garbage)
      endChange(&state, &garbage)
      return (result, garbage)
    }
    garbage.release()
    return result
  }

  // Not inlined into `change`, which is specialized for each body.
  @inline(never)
  private func endChange(_ state: inout State, _ garbage: inout Garbage) {
    self.state.assertHeld()
    let (endsRoutes, versions, hasLosses) = state.list.takeChanges()
    if hasLosses { noteChanges() }
    if endsRoutes, state.board != nil { put(nil, &state, &garbage) }
    for (registration, selector) in garbage.released { dropStep(of: registration, only: selector, &state, &garbage) }
    assert(state.list.hasRoutes == (state.board != nil), "the list notes who joins while there is a board")
    if versions > 0 {
      noteChanges(versions)
      // The version is stored last, so a message that reads it also sees the changed routes.
      version.store(version.load(ordering: .relaxed) &+ versions, ordering: .releasing)
    }
    state.list.nextChange = UInt32(truncatingIfNeeded: changes.load(ordering: .relaxed) &+ 1)
  }

  /// Invalidates unpublished routes.
  func noteChanges(_ count: UInt = 1) {
    state.assertHeld()
    changes.store(changes.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }

  /// Releases the routes and ends the streams. Running messages are still delivered.
  func close() {
    let (garbage, listeners) = state.withLock { state in
      var (garbage, listeners) = (Garbage(), [Hook]())
      state.isClosed = true
      put(nil, &state, &garbage)
      while let listener = state.rest?.listeners.next() { listeners.append(listener) }
      return (garbage, listeners)
    }
    for listener in listeners { listener.finish?() }
    garbage.release()
  }

  // MARK: - Registrations

  /// Registers `target`. If the target already has a registration with the same delivery, and the
  /// proxy refuses duplicates, updates that registration and returns it.
  ///
  /// - Parameter closure: called instead of the target, which owns the closure. A closure always
  ///   gets a new registration.
  @inline(never) func add(
    _ target: AnyObject, _ asked: TargetOptions, livingAs subject: AnyObject? = nil, closure: Method? = nil
  ) -> Registration {
    let new = Registration(target, core: self, asked, livingAs: subject, closure: closure)
    let canAnswer = closure != nil || table != nil || canAnswer(target)
    let old = change { state, garbage -> Registration? in
      if closure == nil, case .refused = options.duplicates, let old = state.list.registration(like: new),
        let alive = old.targetUnderLock
      {
        garbage.keep(alive)
        garbage.keep(new)
        if asked.priority != nil { state.list.move(old, to: asked.clampedPriority, garbage: &garbage) }
        if old.widen(to: asked.scope) { state.list.noteChanged() }
        if (old.strong == nil) != (asked.ownership == .weak) {
          // Routes made while the target was strong do not load the weak reference.
          if asked.ownership == .weak, old.weakTarget == nil { old.weakTarget = alive }
          old.strong = asked.ownership == .strong ? alive : nil
          state.list.noteChanged()
        }
        return old
      }
      state.list.add(new, priority: asked.clampedPriority, garbage: &garbage)
      if !canAnswer { state.noteUnreachable(new, &garbage) }
      return nil
    }
    let registration = old ?? new
    if registration !== new, let queued = registration.queued, queued.change(to: asked, of: registration) {
      change { state, _ in state.list.noteChanged() }
    }
    if !canAnswer, onError != nil { tellUnreachable() }
    if old == nil, closure == nil, ClassKind.of(target) == .other { checkPartial(target, registration) }
    return registration
  }

  /// True if messages can reach a target although the proxy has no table.
  func canAnswer(_ target: AnyObject) -> Bool {
    switch ClassKind.of(target) {
    case .plain: false
    case .receiver: true
    case .other: target is Method || target is any MessageReceiver || target is any MulticastSending
    }
  }

  /// Reports targets that no message can reach.
  func tellUnreachable() {
    for registration in state.withLock({ state in state.rest.map { exchange(&$0.unreachable, with: []) } ?? [] }) {
      guard let target = registration.liveTarget else { continue }
      let error = MessageError(
        .noSelectorTable, receiver: typeName(of: target), selector: "",
        evidence: "only typed calls reach the target, because its proxy has no table either")
      report(error, "add", registration, receiver: typeName(of: target))
    }
  }

  @inline(never) func forget(_ registrations: [Registration]) {
    change { state, garbage in
      for registration in registrations { _ = state.list.remove(registration, garbage: &garbage) }
    }
  }

  /// Cancels all registrations of a target, which may be in its `deinit`. Returns their number.
  func removeAll(of target: AnyObject) -> Int {
    let (count, leavesDead) = removeAll(of: target, isEnding: false)
    // The dead registrations may be those of an earlier target at this address. They belong to this
    // target if it is in its own `deinit`, which is assumed of every `NSObject`.
    guard leavesDead, WeakReference.isEnding(target) else { return count }
    return count + removeAll(of: target, isEnding: true).count
  }

  /// Cancels the registrations of a target. With `isEnding`, the target is in its `deinit`.
  private func removeAll(of target: AnyObject, isEnding: Bool) -> (count: Int, leavesDead: Bool) {
    let key = ObjectIdentifier(target)
    let (first, more, leavesDead): (Registration?, [Registration], Bool) = change { state, garbage in
      var (first, more): (Registration?, [Registration]) = (nil, [])
      while let found = state.list.registration(of: key) {
        if let alive = found._withUnsafeGuaranteedRef({ $0.targetUnderLock }) {
          garbage.keep(alive)
        } else if !isEnding {
          return (first, more, true)
        }
        let taken = found._withUnsafeGuaranteedRef { state.list.take($0, garbage: &garbage) }
        guard let taken else { break }
        if first == nil { first = taken } else { more.append(taken) }
      }
      return (first, more, false)
    }
    guard let first else { return (0, leavesDead) }
    first.markCancelled()
    for registration in more { registration.markCancelled() }
    return (more.count + 1, leavesDead)
  }

  @discardableResult
  @inline(never) func cancel(_ registrations: [Registration], where isMeant: (Registration) -> Bool) -> Int {
    let meant = registrations.filter(isMeant)
    let count = meant.count(where: \.isLive)
    for registration in meant { registration.cancel() }
    return count
  }

  func removeDead(_ registrations: [Registration]) {
    for registration in registrations { registration.markDead() }
    forget(registrations.filter { !$0.keepsSlot })
  }

  /// The registrations that are not canceled, in delivery order. Their targets may be dead.
  @inline(never) package var registrations: [Registration] { state.withLock { $0.list.all } }

  var registrationCount: Int { state.withLock { $0.list.count } }

  func target(of registration: Registration) -> AnyObject? {
    state.withLock { _ in UncheckedSendable(registration.targetUnderLock) }.value
  }

  @inline(never) func registrations(of target: AnyObject) -> [Registration] {
    state.withLock { $0.list.registrations(of: ObjectIdentifier(target)) }
  }

  var slotCount: Int { state.withLock { $0.list.slotCount } }

  /// The queue state of a registration; `nil` for direct delivery.
  @inline(never)
  func queuedState(_ options: TargetOptions, for target: AnyObject, endingWith owner: AnyObject) -> QueuedState? {
    guard let (context, actor) = options.delivery.context?.forMailbox(of: owner) else { return nil }
    let mailbox = mailbox(for: context, target)
    let needsGate = options.delivery.isAutomatic || options.buffer != .unbounded
    let gate = needsGate ? gate(of: ObjectIdentifier(target), mailbox) : nil
    return QueuedState(options, mailbox, gate, retaining: actor)
  }

  /// The gate that all registrations of a target share on a context.
  func gate(of target: ObjectIdentifier, _ mailbox: Mailbox) -> SerialGate {
    // The mailbox's identity is a valid key: every user of the gate retains the mailbox.
    enter(SerialGate(), for: MailboxKey(context: ObjectIdentifier(mailbox), target: target))
  }

  /// The mailbox of a context; on a concurrent context, the mailbox of one target.
  private func mailbox(for context: any DeliveryContext, _ target: AnyObject) -> Mailbox {
    let key = MailboxKey(context: context.identity, target: context.isConcurrent ? ObjectIdentifier(target) : nil)
    return enter(Mailbox(context), for: key)
  }

  private func enter<Object: AnyObject & Sendable>(_ new: Object, for key: MailboxKey) -> Object {
    let (object, seen) = state.withLock { $0.madeRest.mailboxes.enter(new, for: key) }
    withExtendedLifetime(seen) {}
    return object
  }

  var mailboxes: [Mailbox] { mailboxesAndGates.compactMap { $0 as? Mailbox } }

  /// The mailboxes and the gates of targets, also of removed ones whose messages still run.
  var mailboxesAndGates: [any AnyObject & Sendable] { state.withLock { $0.rest?.mailboxes.all ?? [] } }

  /// The plan of the route, made now unless the route has one.
  @inline(never)
  func plan(_ route: MessageRoute) -> DeliveryPlan {
    if let plan = route.plan, plan.count == route.count { return plan }
    let plan = DeliveryPlan(self, route)
    state.withLock { _ in route.route.keep(plan) }
    return plan
  }

  // MARK: - Queries

  /// Queries of fewer registrations are not charged: charging would cost as much as the query.
  static let fewRegistrations = 4

  /// Whether a live, unmuted target's table has `selector`; whether any target must be queried.
  func tablesAnswer(_ selector: MessageSelector) -> (isAnswered: Bool, hasForwarders: Bool) {
    if let visit = visitBoard(selector) { return tableAnswers(visit.route) }
    return withExtendedLifetime(beginUnderLock(selector)) { tableAnswers(.passUnretained($0.route)) }
  }

  @inline(__always)
  private func tableAnswers(_ route: Unmanaged<Route>) -> (isAnswered: Bool, hasForwarders: Bool) {
    route._withUnsafeGuaranteedRef { route in
      let (witness, passed) = route.findWitness()
      if passed >= MulticastCore.fewRegistrations {
        do { try ProxyQuestion.charge(.step, passed) } catch { return (false, false) }
      }
      return (witness != nil, route.hasForwarders)
    }
  }

  func noteUnmuted() {
    state.withLock { state in
      state.board?.forEach { $0._withUnsafeGuaranteedRef { $0.forgetWitness() } }
    }
  }

  // MARK: - Errors

  var onError: (@Sendable (MulticastFailure) -> Void)? {
    get { state.withLock { $0.rest?.onError } }
    set {
      let old = state.withLock { exchange(&$0.madeRest.onError, with: newValue) }
      withExtendedLifetime(old) {}
    }
  }

  @usableFromInline
  var stopsAtFirst: Bool { if case .stopAtFirst = options.errors { true } else { false } }

  var allowsDuplicates: Bool { if case .allowed = options.duplicates { true } else { false } }

  var ignoresSilence: Bool { if case .ignore = options.noResponder { true } else { false } }

  /// Applies the `noResponder` option. Throws `nobodyResponds` if the option is `throw`.
  @inline(never) func answerSilence(_ selector: MessageSelector) throws {
    switch options.noResponder {
    case .ignore: break
    case .throw: throw MessageError(.nobodyResponds, receiver: name, selector: selector.name)
    case .handle(let handler): handler(selector)
    }
  }
}

/// A weak reference to an object. The reference is `nil` if the object is in its `deinit`.
private final class WeakReference {
  weak var object: AnyObject?

  @inline(never)
  private init(_ object: AnyObject) { self.object = object }

  /// True if the object is in its `deinit`. A weak reference to an `NSObject` in `deinit` traps, so
  /// the result is true for every `NSObject`, even a live one.
  static func isEnding(_ object: AnyObject) -> Bool {
    #if canImport(ObjectiveC)
      if object is NSObject { return true }
    #endif
    return WeakReference(object).object == nil
  }
}

extension MulticastCore: NamedReceiver {
  @usableFromInline package var receiverName: String { name }
}
