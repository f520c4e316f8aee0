// ServiceStore.swift: the services of one center, each created once.

import Forwardcast
import Synchronization

final class ServiceEntry: @unchecked Sendable {  // the store's lock guards `order`; `companions` has a lock
  let name: String
  fileprivate let id: ServiceID
  let service: any Sendable
  let lifecycle: (any ServiceLifecycle)?
  /// The position in the order of creation, set when the entry is published.
  fileprivate var order = 0
  /// Objects that live as long as the service, by owner.
  private let companions = Guarded<[ObjectIdentifier: any AnyObject & Sendable]>([:])
  let since = ContinuousClock.now

  init<Service>(_ key: ServiceKey<Service>, _ service: any Sendable) {
    (name, id, self.service, lifecycle) = (key.name, key.id, service, service as? any ServiceLifecycle)
  }

  var isPersistent: Bool { lifecycle?.isPersistent ?? false }

  func unwrapped<Service: Sendable>() -> Service {
    // Entries are found by an ID that includes the type.
    guard let service = service as? Service else {
      preconditionFailure("internal error: the stored service \(name) is not a \(Service.self)")
    }
    return service
  }

  func companion(of owner: AnyObject) -> (any AnyObject & Sendable)? {
    companions.withLock { $0[ObjectIdentifier(owner)] }
  }

  /// Returns the object of `owner`. If the object is missing or old, retains and returns `new`.
  func keep(_ new: any AnyObject & Sendable, for owner: AnyObject, replacing isOld: (AnyObject) -> Bool)
    -> any AnyObject & Sendable
  {
    let me = ObjectIdentifier(owner)
    // The replaced object is released outside the lock.
    let old = companions.withLock { companions -> (any AnyObject & Sendable)? in
      if let there = companions[me], !isOld(there) { return there }
      return companions.updateValue(new, forKey: me)
    }
    return old.flatMap { isOld($0) ? nil : $0 } ?? new
  }
}

/// The construction of one service by one thread. Other requests for the service wait. `WaitGraph`
/// records the waits, since a cycle can include several centers and calls of `resolveMethod(for:)`.
final class Construction: Sendable {
  typealias Outcome = Result<ServiceEntry, any Error>

  private let work: SharedWork
  private let outcome = Guarded<Outcome?>(nil)

  /// Must be called by the thread that later calls ``begin()`` and ``finish(_:)``.
  init(_ name: String) { work = SharedWork { name } }

  var thread: ThreadIdentity { work.thread }

  func begin() { WaitGraph.begin(work) }

  /// Resumes the waiting threads. Called once, after the construction left `pending`.
  func finish(_ result: Outcome) {
    outcome.withLock { $0 = result }
    WaitGraph.end(work)
  }

  /// Waits for the outcome. Throws `constructionCycle` if the constructing thread is the calling
  /// thread, or waits, directly or indirectly, for the calling thread.
  func wait() throws -> ServiceEntry {
    do { try WaitGraph.wait(for: work) } catch {
      throw ServiceError(code: .constructionCycle, service: work.name, chain: error.chain)
    }
    guard let outcome = outcome.withLock({ $0 }) else {
      preconditionFailure("internal error: the construction of \(work.name) ended with neither a service nor an error")
    }
    return try outcome.get()
  }
}

/// The services of one center, published and under construction. One lock guards `state`.
/// Constructions, callbacks and releases run outside the lock.
final class ServiceStore: Sendable {
  private struct Pending {
    let construction: Construction
    /// The store's `clearings` that the construction has already taken into account.
    var clearings: Int
  }

  private struct State {
    var living: [ServiceID: ServiceEntry] = [:]
    var pending: [ServiceID: Pending] = [:]
    var created = 0
    var clearings = 0
    /// The threads that are clearing. If a callback calls `clear` again, that call returns at once.
    var clearers: Set<ThreadIdentity> = []
  }

  private let state = Guarded(State())
  private let removals = Atomic<UInt>(0)
  private static let stores = Atomic<UInt>(0)

  /// Unique among all stores.
  let number = stores.wrappingAdd(1, ordering: .relaxed).newValue

  /// Incremented directly after every removal, so for a moment it does not show the removal yet.
  var generation: UInt { removals.load(ordering: .acquiring) }

  // MARK: Construction

  func entry<Service>(_ key: ServiceKey<Service>, in center: ServiceCenter) throws -> ServiceEntry {
    let entry = state.withLock { state -> @Sendable () throws -> ServiceEntry in
      if let entry = state.living[key.id] { return { entry } }
      if let pending = state.pending[key.id]?.construction { return { try pending.wait() } }
      let mine = Construction(key.name)
      state.pending[key.id] = Pending(construction: mine, clearings: state.clearings)
      return { try self.make(key, in: center, mine) }
    }
    return try entry()
  }

  private func make<Service>(_ key: ServiceKey<Service>, in center: ServiceCenter, _ mine: Construction) throws
    -> ServiceEntry
  {
    mine.begin()
    do {
      let entry = try build(key, in: center)
      mine.finish(.success(entry))
      return entry
    } catch {
      _ = state.withLock { $0.pending.removeValue(forKey: key.id) }
      mine.finish(.failure(error))
      throw error
    }
  }

  /// Creates and publishes the service. If a concurrent `clear` may have removed services that the
  /// new service depends on, the service is cleared and, unless it is persistent, created again.
  private func build<Service>(_ key: ServiceKey<Service>, in center: ServiceCenter) throws -> ServiceEntry {
    while true {
      let entry = ServiceEntry(key, try key.make(center))
      try entry.lifecycle?.serviceDidInit(in: center)
      var keep = true
      while keep {
        if publish(entry, key.id) { return entry }
        center.call("serviceWillClearData", on: entry) { try $0.serviceWillClearData() }
        keep = entry.isPersistent
      }
    }
  }

  private func publish(_ entry: ServiceEntry, _ id: ServiceID) -> Bool {
    let ended = state.withLock { state -> Pending? in
      guard let pending = state.pending[id], pending.clearings == state.clearings else {
        state.pending[id]?.clearings = state.clearings
        return nil
      }
      state.created += 1
      entry.order = state.created
      state.living[id] = entry
      return state.pending.removeValue(forKey: id)
    }
    return ended != nil
  }

  // MARK: Look-up

  func entry(_ id: ServiceID) -> ServiceEntry? { state.withLock { $0.living[id] } }

  func isMaking(_ id: ServiceID) -> Bool {
    state.withLock { $0.pending[id]?.construction.thread } == ThreadIdentity.current
  }

  var entries: [ServiceEntry] { state.withLock { $0.living.values.sorted { $0.order < $1.order } } }

  // MARK: Removal

  func remove(_ id: ServiceID) -> Bool {
    let entry = state.withLock { $0.living.removeValue(forKey: id) }
    if entry != nil { noteRemoval() }
    return entry != nil
  }

  func removeAll() {
    var removed = state.withLock { exchange(&$0.living, with: [:]) }.values.sorted { $0.order < $1.order }
    release(&removed)
  }

  /// Calls `hook` on all published services, including services that `hook` creates. Then removes
  /// the non-persistent services and releases them in reverse order of creation. Of several
  /// services of one key, only the first is passed to `hook`.
  func clear(calling hook: (ServiceEntry) -> Void) {
    let me = ThreadIdentity.current
    guard state.withLock({ $0.clearers.insert(me).inserted }) else { return }
    // The processed services: the key is a service's position in the order of creation; the value
    // is true if the service is persistent.
    var told: [Int: Bool] = [:]
    var keys: Set<ServiceID> = []
    while true {
      for entry in entries where told[entry.order] == nil {
        // Without this check, a callback that replaces its own service would be called forever.
        if keys.insert(entry.id).inserted { hook(entry) }
        told[entry.order] = entry.isPersistent
      }
      var outcome = leave(told, me)
      guard outcome.isOver else { continue }
      return release(&outcome.removed)
    }
  }

  /// Ends the call of `clear` if `told` has every published service.
  private func leave(_ told: [Int: Bool], _ me: ThreadIdentity) -> (isOver: Bool, removed: [ServiceEntry]) {
    state.withLock { state in
      guard state.living.values.allSatisfy({ told[$0.order] != nil }) else { return (false, []) }
      state.clearers.remove(me)
      state.clearings += 1
      for (id, pending) in state.pending where pending.construction.thread == me {
        state.pending[id]?.clearings = state.clearings
      }
      let removed = state.living.filter { told[$0.value.order] == false }
      for id in removed.keys { state.living[id] = nil }
      return (true, removed.values.sorted { $0.order < $1.order })
    }
  }

  /// Releases the last entry first. The caller must hold the only reference to the list.
  private func release(_ entries: inout [ServiceEntry]) {
    noteRemoval()
    while !entries.isEmpty { entries.removeLast() }
  }

  private func noteRemoval() { removals.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
