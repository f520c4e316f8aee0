// World+Objects.swift: what a session knows of objects and proxies: texts, isolation, where they lead.

import Forwardcast

struct Label: Sendable {
  enum Isolation {
    /// On queues too.
    case anywhere
    /// In the session's turn only: it is not `Sendable`, or leads to what is not.
    case session
    /// A proxy that was not used on a queue yet: its first use there needs all that it leads to to be `Sendable`, and makes it
    /// `anywhere`.
    case undecided
  }

  let object: WeakObject
  let text: String
  var isolation: Isolation
  var target: WeakObject?
  /// How a multicast proxy that the session made keeps its targets; `nil` for everything else.
  var ownership: Ownership?
  /// How many registrations there were of targets that may be registered several times.
  var repeatable = 0
  /// Priorities that its registrations have or had.
  var priorities: Set<Int> = []
  /// Whether it was put before another proxy.
  var leadsToProxies = false
}

extension World {
  /// Proxies that may hold proxies strongly. Each of a chain takes a part of the stack of whoever releases the first.
  static let holderLimit = 255

  /// `receiver` as a value, with the text that it prints as.
  func reference(_ receiver: any MessageReceiver) -> ScriptReference {
    if let object = receiver as? ScriptObject { return object.reference }
    if let label = label(of: receiver) {
      return ScriptReference(receiver, label: label.text, crosses: label.isolation != .session)
    }
    return label(host: receiver, "<\(type(of: receiver))>", crosses: false)
  }

  func label(of object: AnyObject) -> Label? {
    let label = state.withLock { $0.labels[ObjectIdentifier(object)] }
    return label?.object.object === object ? label : nil
  }

  /// Notes what an object prints as, and where it may be used.
  @discardableResult
  func label(
    _ receiver: any MessageReceiver, _ text: String, _ isolation: Label.Isolation = .undecided,
    before target: (any MessageReceiver)? = nil, ownership: Ownership? = nil
  ) -> ScriptReference {
    let label = Label(
      object: WeakObject(receiver), text: text, isolation: isolation, target: target.map { WeakObject($0) },
      ownership: ownership)
    _ = state.withLock { state in
      let living = state.sweep()
      state.labels[ObjectIdentifier(receiver)] = label
      return living
    }
    return ScriptReference(receiver, label: text, crosses: isolation != .session)
  }

  func label(host receiver: any MessageReceiver, _ text: String, crosses: Bool) -> ScriptReference {
    state.withLock { $0.hasForeignReceivers = true }
    let isProxy = receiver is any ScriptedMulticast
    return label(receiver, text, !crosses ? .session : isProxy ? .undecided : .anywhere)
  }

  // MARK: Isolation

  /// Whether an object may be used on queues: it, and all that it leads to, is `Sendable`. The run pays for the look.
  /// - Parameter decides: whether the proxies that were looked at become `anywhere` by a yes. Such a proxy takes no target for
  ///   which the answer is no.
  func mayCross(_ receiver: any MessageReceiver, decides: Bool = true, _ run: Run) throws -> Bool {
    if receiver is ScriptObject { return true }
    let (answer, seen) = state.withLock { $0.mayCross(receiver, decides: decides, atMost: limits.registrations) }
    try run.charge(Work.look * seen.objects.count)
    try check(seen)
    return answer
  }

  /// - Throws: `limit exceeded` where a value leads to so many objects that nobody looked at all of them.
  private func check(_ seen: Seen) throws(ScriptFault) {
    if seen.objects.count > limits.registrations {
      throw ScriptFault(.limitExceeded, "a value that leads to more than \(limits.registrations) targets")
    }
  }

  /// Notes that `proxy` is about to lead to `target`.
  /// - Throws: `isolation mismatch` where the proxy is used on queues and the target may not be; `limit exceeded` for a
  ///   proxy that holds a proxy, when there are as many of those as there may be.
  func link(_ proxy: any MessageReceiver, to target: any MessageReceiver, strongly: Bool) throws {
    let id = ObjectIdentifier(proxy)
    let isProxy = target is any MessageForwarding
    if !(target is ScriptObject) {
      let isConfined = reference(target).crosses == false
      let (fits, seen) = state.withLock { state -> (Bool, Seen) in
        if isProxy { state.labels[id]?.leadsToProxies = true }
        if state.labels[id]?.isolation == .anywhere {
          return state.mayCross(target, decides: true, atMost: limits.registrations)
        }
        if isConfined { state.labels[id]?.isolation = .session }
        return (true, Seen())
      }
      try check(seen)
      if !fits {
        throw ScriptFault(
          .thrown, "isolation mismatch: \(reference(target)) is not Sendable and \(reference(proxy)) is used on queues")
      }
    }
    guard isProxy, strongly else { return }
    let (_, isFull) = state.withLock { state in
      let old = state.holders
      if old.count >= World.holderLimit { state.holders = old.filter { $0.value.object != nil } }
      let isFull = state.holders.count >= World.holderLimit && state.holders[id] == nil
      if !isFull { state.holders[id] = WeakObject(proxy) }
      return (old, isFull)
    }
    if isFull { throw ScriptFault(.limitExceeded, "more than \(World.holderLimit) proxies that hold proxies") }
  }

  /// Counts a registration, and gives its price. Where a target may be registered several times, all such registrations are
  /// compared, and a priority that is new in the proxy moves those that are lower: so the price grows with their number.
  func workOfAdding(to proxy: any ScriptedMulticast, _ terms: RegistrationTerms) -> Int {
    let id = ObjectIdentifier(proxy)
    let isRepeatable = terms.only != nil || proxy.holder.options.duplicates == .allowed
    return state.withLock { state in
      var work = 0
      if state.labels[id]?.priorities.insert(terms.priority).inserted ?? false {
        work += Work.look * (state.labels[id]?.priorities.count ?? 0) / 8
      }
      if isRepeatable {
        state.labels[id]?.repeatable += 1
        // The lists of selectors are compared, too.
        work += Work.look * (state.labels[id]?.repeatable ?? 0) * (8 + (terms.only?.count ?? 0)) / 16
      }
      return work
    }
  }

  /// Objects that were found under the lock, to be released after it.
  struct Seen: @unchecked Sendable {  // owned by the one call that collects it
    fileprivate var objects: [AnyObject] = []
  }
}

extension World.State {
  fileprivate mutating func mayCross(
    _ receiver: any MessageReceiver, decides: Bool, atMost limit: Int
  ) -> (Bool, World.Seen) {
    var (seen, work, undecided) = (World.Seen(), [receiver as AnyObject], Set<ObjectIdentifier>())
    while let next = work.popLast() {
      seen.objects.append(next)
      if next is ScriptObject { continue }
      let id = ObjectIdentifier(next)
      guard let label = labels[id], label.object.object === next, label.isolation != .session else {
        return (false, seen)
      }
      guard label.isolation == .undecided, undecided.insert(id).inserted else { continue }
      if let proxy = next as? any ScriptedMulticast {
        let targets = proxy.holder.liveTargets
        seen.objects += targets
        if seen.objects.count > limit { return (false, seen) }
        work += targets.filter { !($0 is ScriptObject) }
      }
      if let target = label.target?.object { work.append(target) }
    }
    if decides { for id in undecided { labels[id]?.isolation = .anywhere } }
    return (true, seen)
  }

  /// Forgets the labels of dead objects whenever there are twice as many as at the last sweep.
  fileprivate mutating func sweep() -> World.Seen {
    var living = World.Seen()
    guard labels.count > 2 * labelsAtLastSweep + 64 else { return living }
    labels = labels.filter { _, label in
      guard let object = label.object.object else { return false }
      living.objects.append(object)
      return true
    }
    labelsAtLastSweep = labels.count
    return living
  }
}
