// World+Objects.swift: labels of objects and proxies, and where the objects may be used.

import Forwardcast

struct Label: Sendable {
  enum Isolation {
    /// The object may be used in the session and on queues.
    case anywhere
    /// The object may be used only in the session: it, or an object behind it, is not `Sendable`.
    case session
    /// The object is a proxy that was not used on a queue yet. Its first use on a queue requires
    /// that every object behind it is `Sendable`, and makes the proxy `anywhere`.
    case undecided
  }

  let object: WeakObject
  let text: String
  var isolation: Isolation
  /// The target of a proxy with one target.
  var target: WeakObject?
  /// How a multicast proxy of the session holds its targets; `nil` for other objects.
  var ownership: Ownership?
  /// The number of registrations that were checked for duplicates.
  var repeatable = 0
  var priorities: Set<Int> = []
  var leadsToProxies = false
}

extension World {
  /// The maximum number of proxies that hold other proxies strongly. If such proxies form a chain,
  /// releasing it uses stack for each proxy.
  static let holderLimit = 255

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

  @discardableResult
  func label(
    _ receiver: any MessageReceiver, _ text: String, _ isolation: Label.Isolation = .undecided,
    ownership: Ownership? = nil
  ) -> ScriptReference {
    let label = Label(object: WeakObject(receiver), text: text, isolation: isolation, ownership: ownership)
    _ = state.withLock { state in
      let living = state.sweep()
      state.labels[ObjectIdentifier(receiver)] = label
      return living
    }
    return ScriptReference(receiver, label: text, crosses: isolation != .session)
  }

  func label(host receiver: any MessageReceiver, _ text: String, crosses: Bool) -> ScriptReference {
    state.withLock { $0.hasForeignReceivers = true }
    return label(receiver, text, crosses ? .anywhere : .session)
  }

  // MARK: Isolation

  /// True if an object and every object behind it are `Sendable`, so it may be used on queues. If
  /// `decides` is also true, the script's objects among them become `isShared`, and the proxies
  /// become `anywhere`. Such proxies refuse targets that are not `Sendable`.
  func mayCross(_ receiver: any MessageReceiver, decides: Bool = true, _ run: Run) throws -> Bool {
    if receiver is ScriptObject { return true }
    let (answer, seen) = state.withLock { $0.mayCross(receiver, decides: decides, atMost: limits.registrations) }
    try run.charge(Work.look * seen.objects.count)
    try check(seen)
    return answer
  }

  /// - Throws: `limit exceeded` if the search ended early because of too many objects.
  private func check(_ seen: Seen) throws(ScriptError) {
    let most = limits.registrations
    try ScriptError.limit(seen.objects.count <= most, "a value that leads to more than \(most) targets")
  }

  /// Records that `proxy` will lead to `target`. Throws `isolation mismatch` if the proxy may be
  /// used on queues but the target may not, and `limit exceeded` if too many proxies hold proxies.
  func link(_ proxy: any MessageReceiver, to target: any MessageReceiver, strongly: Bool) throws {
    let id = ObjectIdentifier(proxy)
    let isProxy = target is any MessageForwarding
    let isConfined = reference(target).crosses == false
    let (fits, seen) = state.withLock { state -> (Bool, Seen) in
      if isProxy { state.labels[id]?.leadsToProxies = true }
      if !(proxy is any ScriptedMulticast) { state.labels[id]?.target = WeakObject(target) }
      if state.labels[id]?.isolation == .anywhere {
        return state.mayCross(target, decides: true, atMost: limits.registrations)
      }
      if isConfined { state.labels[id]?.isolation = .session }
      return (true, Seen())
    }
    try check(seen)
    if !fits {
      let (target, proxy) = (reference(target), reference(proxy))
      throw ScriptError(.thrown, "isolation mismatch: \(target) is not Sendable, but \(proxy) may be used on queues")
    }
    guard isProxy, strongly else { return }
    let (_, isFull) = state.withLock { state in
      let old = state.holders
      if old.count >= World.holderLimit { state.holders = old.filter { $0.value.object != nil } }
      let isFull = state.holders.count >= World.holderLimit && state.holders[id] == nil
      if !isFull { state.holders[id] = WeakObject(proxy) }
      return (old, isFull)
    }
    try ScriptError.limit(!isFull, "more than \(World.holderLimit) proxies that hold proxies")
  }

  /// Counts a registration, and returns its price. If the priority is new to the proxy, the price
  /// grows with the number of the proxy's priorities. If duplicates are possible, the price also
  /// grows with the number of registrations to compare.
  func workOfAdding(to proxy: any ScriptedMulticast, _ terms: RegistrationTerms) -> Int {
    let id = ObjectIdentifier(proxy)
    let isRepeatable = terms.only != nil || proxy.holder.options.duplicates == .allowed
    return state.withLock { state in
      var work = 0
      if state.labels[id]?.priorities.insert(terms.priority ?? 0).inserted ?? false {
        work += Work.look * (state.labels[id]?.priorities.count ?? 0) / 8
      }
      if isRepeatable {
        state.labels[id]?.repeatable += 1
        // Lists of selectors are compared as well.
        work += Work.look * (state.labels[id]?.repeatable ?? 0) * (8 + (terms.only?.count ?? 0)) / 16
      }
      return work
    }
  }

  /// Objects that were found under the lock, retained so that none is released before unlocking.
  struct Seen: @unchecked Sendable {  // owned by the one call that collects it
    fileprivate(set) var objects: [AnyObject] = []

    mutating func add(_ place: WeakObject) -> Bool {
      guard let object = place.object else { return false }
      objects.append(object)
      return true
    }
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
    if decides {
      for id in undecided { labels[id]?.isolation = .anywhere }
      for case let object as ScriptObject in seen.objects { object.isShared.store(true, ordering: .relaxed) }
    }
    return (true, seen)
  }

  /// Removes the labels of deallocated objects if the number of labels has doubled since the last
  /// sweep.
  fileprivate mutating func sweep() -> World.Seen {
    var living = World.Seen()
    guard labels.count > 2 * labelsAtLastSweep + 64 else { return living }
    labels = labels.filter { living.add($0.value.object) }
    labelsAtLastSweep = labels.count
    return living
  }
}
