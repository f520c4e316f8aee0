// LazyRegistrations.swift: the lazy registrations of one extension point.

import Forwardcast
import Synchronization

final class LazyRegistrations: Sendable {
  private struct State {
    var slots: [ServiceID: LazySlot] = [:]
    var changes = 0
    /// A cache, cleared when a registration is added or removed, and when any table changes.
    var bySelector: [MessageSelector: [LazySlot]] = [:]
    var epoch: UInt = 0
  }

  private let state = Guarded(State())
  /// True once a registration was added. Until then, messages do not take the lock of this object.
  private let isUsed = Atomic<Bool>(false)
  private let core: MulticastCore
  private let scope: Set<MessageSelector>?
  private let services: @Sendable () -> ServiceCenter?

  init(_ core: MulticastCore, scope: Set<MessageSelector>?, services: @escaping @Sendable () -> ServiceCenter?) {
    (self.core, self.scope, self.services) = (core, scope, services)
  }

  private var all: [LazySlot] { state.withLock { $0.slots }.values.sorted { $0.number < $1.number } }

  /// Adds a registration, unless the service has one already or implements no message of the point.
  func add(_ registration: LazyRegistration, priority: Int) -> Bool {
    if let scope, !scope.contains(where: { registration.signature($0) != nil }) { return false }
    let slot = core.reserveSlot(
      TargetOptions(priority: priority, scope: scope, delivery: registration.delivery))
    let added = state.withLock { state in
      guard state.slots[registration.id] == nil else { return false }
      state.changes += 1
      state.slots[registration.id] = LazySlot(registration: registration, slot: slot, number: state.changes)
      state.bySelector = [:]
      return true
    }
    if added { isUsed.store(true, ordering: .releasing) } else { core.giveUp(slot) }
    return added
  }

  func remove(_ id: ServiceID) -> Bool {
    let removed = state.withLock { state -> LazySlot? in
      state.changes += 1
      state.bySelector = [:]
      return state.slots.removeValue(forKey: id)
    }
    if let removed { core.giveUp(removed.slot) }
    return removed != nil
  }

  private func slots(for selector: MessageSelector) -> [LazySlot] {
    let epoch = TableEpoch.current
    let (known, changes) = state.withLock { state in
      (state.epoch == epoch ? state.bySelector[selector] : nil, state.changes)
    }
    if let known { return known }
    if let scope, !scope.contains(selector) { return [] }
    let slots = all.filter { $0.registration.signature(selector) != nil }
    state.withLock { state in
      guard state.changes == changes else { return }
      if state.epoch != epoch { (state.epoch, state.bySelector) = (epoch, [:]) }
      state.bySelector[selector] = slots
    }
    return slots
  }

  /// Fills the slot of the observer's class if the calling thread is creating the observer.
  /// Otherwise returns `nil`.
  func takeSlot(_ observer: AnyObject) -> Registration?? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    let type: any AnyObject.Type = type(of: observer)
    let found = state.withLock { $0.slots[ServiceID(type: ObjectIdentifier(type), name: nil)] }
    guard let found, found.registration.type == type, found.registration.isMaterializing else { return nil }
    return .some(core.fill(found.slot, with: observer, version: nil))
  }

  /// The slots that have no observer: only slots for `selector` or, if `selector` is `nil`, slots
  /// for any message.
  func vacant(for selector: MessageSelector? = nil) -> [LazySlot] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    return (selector.map { slots(for: $0) } ?? all).filter { found in
      guard let target = core.target(of: found.slot), let center = services() else { return true }
      return found.registration.presentObserver(in: center) !== target
    }
  }

  /// Creates the missing observers of a message; if `selector` is `nil`, the missing observers of
  /// all messages. `isMeant` is true for earlier observers and for the created observers, and false
  /// for other observers. If no observer was missing, `isMeant` itself is `nil`.
  func materialize(_ selector: MessageSelector?) -> (failures: [LazyFailure], isMeant: ((Registration) -> Bool)?) {
    let vacant = vacant(for: selector)
    if vacant.isEmpty { return ([], nil) }
    let before = Set(core.registrations)
    var (failures, created): ([LazyFailure], [AnyObject]) = ([], [])
    for found in vacant {
      let registration = found.registration
      do {
        guard let center = services() else {
          throw ServiceError(code: .centerIsGone, service: registration.receiverName, chain: [])
        }
        if let observer = try registration.materialize(in: center, at: found.slot, of: core) {
          created.append(observer)
        }
      } catch {
        failures.append((registration, error))
      }
    }
    let observers = created
    return (failures, { found in before.contains(found) || observers.contains { $0 === found.target } })
  }
}

typealias LazyFailure = (target: AnyObject, error: any Error)

struct LazySlot: Sendable {
  let registration: LazyRegistration
  let slot: TargetSlot
  let number: Int
}
