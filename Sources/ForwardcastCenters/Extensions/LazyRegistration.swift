// LazyRegistration.swift: an observer that is created by its first message.

import Forwardcast

final class LazyRegistration: NamedReceiver, Sendable {
  let receiverName: String
  let id: ServiceID
  let type: (any AnyObject.Type)?
  let delivery: Delivery
  /// The signature of the observer's method for a selector. The observer need not exist.
  let signature: @Sendable (MessageSelector) -> MethodSignature?
  /// The store that has the service. It belongs to the center or to an outer center.
  private let store: @Sendable (ServiceCenter) throws -> ServiceStore
  private let entry: @Sendable (ServiceCenter) throws -> ServiceEntry
  private let make: @Sendable (ServiceEntry) throws -> AnyObject
  /// The observers, by the `LifetimeToken` of their services.
  private let retained = Guarded<[ObjectIdentifier: UncheckedSendable<AnyObject>]>([:])
  private let threads = Guarded<Set<ThreadIdentity>>([])

  init<Service, Interface>(
    _ key: ServiceKey<Service>, type: (any AnyObject.Type)?, delivery: Delivery,
    signature: @escaping @Sendable (MessageSelector) -> MethodSignature?,
    as observer: @escaping @Sendable (Service) -> Interface
  ) {
    (receiverName, id, self.type, self.delivery, self.signature) = (key.name, key.id, type, delivery, signature)
    store = { try $0.owner(of: key).store }
    entry = { try $0.entry(key) }
    make = { entry in
      let observer = observer(entry.unwrapped())
      guard Swift.type(of: observer as Any) is AnyObject.Type else {
        throw ServiceError(code: .notAnObject, service: key.name, chain: [])
      }
      return observer as AnyObject
    }
  }

  var isMaterializing: Bool { threads.withLock { $0.contains(ThreadIdentity.current) } }

  /// Creates the observer of `slot` if it is missing. Returns `nil` if this thread is already
  /// creating the observer.
  func materialize(in center: ServiceCenter, at slot: TargetSlot, of core: MulticastCore) throws -> AnyObject? {
    let store = try store(center)
    let version = SlotVersion(source: store.number, generation: store.generation)
    // A service does not receive messages that it sends during its own construction.
    if store.isMaking(id) || core.version(of: slot) == version { return core.target(of: slot) }
    let thread = ThreadIdentity.current
    guard threads.withLock({ $0.insert(thread).inserted }) else { return nil }
    defer { threads.withLock { _ = $0.remove(thread) } }
    let service = try entry(center)
    let observer = try observer(of: service, at: slot, of: core)
    _ = core.fill(slot, with: observer, version: version)
    // The service is retained until here, because its release vacates the slot.
    withExtendedLifetime(service) {}
    return observer
  }

  /// The observer: the service itself, or an object made from the service and retained with it.
  private func observer(of entry: ServiceEntry, at slot: TargetSlot, of core: MulticastCore) throws -> AnyObject {
    if let observer = retainedObserver(of: entry) { return observer }
    let observer = try make(entry)
    let token = LifetimeToken(self, slot, core)
    retained.withLock { $0[ObjectIdentifier(token)] = UncheckedSendable(observer) }
    let first = entry.keep(token, for: self) { ($0 as? LifetimeToken)?.registration !== self }
    if first === token { return observer }
    // Another thread was first. This token vacates no slot, because it has no observer.
    _ = retained.withLock { $0.removeValue(forKey: ObjectIdentifier(token)) }
    return (first as? LifetimeToken).flatMap { self.observer(for: $0) } ?? observer
  }

  func presentObserver(in center: ServiceCenter) -> AnyObject? {
    guard let entry = try? store(center).entry(id) else { return nil }
    return retainedObserver(of: entry) ?? (isObject(entry.service) ? entry.service as AnyObject : nil)
  }

  private func retainedObserver(of entry: ServiceEntry) -> AnyObject? {
    (entry.companion(of: self) as? LifetimeToken).flatMap { observer(for: $0) }
  }

  private func observer(for token: LifetimeToken) -> AnyObject? {
    retained.withLock { $0[ObjectIdentifier(token)] }?.value
  }

  /// Lives as long as the service is in its center. The token's `deinit` releases the observer. The
  /// `deinit` also vacates the slot, because the program may still retain the observer.
  private final class LifetimeToken: Sendable {
    fileprivate weak let registration: LazyRegistration?
    private weak let core: MulticastCore?
    private let slot: TargetSlot

    init(_ registration: LazyRegistration, _ slot: TargetSlot, _ core: MulticastCore) {
      (self.registration, self.slot, self.core) = (registration, slot, core)
    }

    deinit {
      // The version is read first, so that an observer that is created later is not removed.
      let version = core?.version(of: slot)
      // The observer is released outside the lock.
      let retained = registration?.retained.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
      guard let core, let observer = retained?.value, core.target(of: slot) === observer else { return }
      // The slot's weak target, `Vacancy()`, is deallocated at once, so the slot is empty.
      _ = core.fill(slot, with: Vacancy(), version: version)
    }
  }

  private final class Vacancy {}
}
