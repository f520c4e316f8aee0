// LazyMark.swift: a lazy registration.

import Forwardcast

/// One lazy registration: what to make, for which selectors.
final class LazyMark: NamedReceiver, Sendable {
  /// The name of the observer in errors and lists.
  let receiverName: String
  let id: ServiceID
  let type: (any AnyObject.Type)?
  let delivery: Delivery
  /// The types of the future observer's method for a selector.
  let signature: @Sendable (MessageSelector) -> MethodSignature?
  /// The store, of a center or an outer one, in which the service lives.
  private let store: @Sendable (ServiceCenter) throws -> ServiceStore
  private let entry: @Sendable (ServiceCenter) throws -> ServiceEntry
  /// Makes the observer for a service.
  private let make: @Sendable (ServiceEntry) throws -> AnyObject
  /// Observers that were made for services and that nobody else keeps, by what ends with the service.
  private let kept = Guarded<[ObjectIdentifier: Kept]>([:])
  private let wakers = Guarded<Set<ThreadIdentity>>([])

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

  var isWaking: Bool { wakers.withLock { $0.contains(ThreadIdentity.current) } }

  /// Ensures that the observer exists in its place.
  /// - Throws: ``ServiceError``, or what the service's construction throws.
  func wake(in center: ServiceCenter, at place: ReservedSlot, of core: MulticastCore) throws {
    let store = try store(center)
    let stamp = SlotStamp(source: store.number, generation: store.generation)
    // Messages that a service sends while it is made do not reach itself.
    if store.isMaking(id) || core.stamp(of: place) == stamp { return }
    let me = ThreadIdentity.current
    guard wakers.withLock({ $0.insert(me).inserted }) else { return }
    defer { wakers.withLock { _ = $0.remove(me) } }
    _ = core.fill(place, with: try observer(of: entry(center)), stamp: stamp)
  }

  /// The service itself, or what was made for it, which stays the same as long as the service lives in its center.
  private func observer(of entry: ServiceEntry) throws -> AnyObject {
    if let observer = keptObserver(of: entry) { return observer }
    let observer = try make(entry)
    if isObject(entry.service), entry.service as AnyObject === observer { return observer }
    let leash = Leash(self)
    kept.withLock { $0[ObjectIdentifier(leash)] = Kept(observer: observer) }
    let first = entry.keep(leash, for: self) { ($0 as? Leash)?.mark !== self }
    return (first as? Leash).flatMap { self.observer(at: $0) } ?? observer
  }

  /// The observer for the service that lives, where there is one: it is not made.
  func presentObserver(in center: ServiceCenter) -> AnyObject? {
    guard let entry = try? store(center).entry(id) else { return nil }
    return keptObserver(of: entry) ?? (isObject(entry.service) ? entry.service as AnyObject : nil)
  }

  private func keptObserver(of entry: ServiceEntry) -> AnyObject? {
    (entry.companion(of: self) as? Leash).flatMap { observer(at: $0) }
  }

  private func observer(at leash: Leash) -> AnyObject? {
    kept.withLock { $0[ObjectIdentifier(leash)] }?.observer
  }

  /// Lives as long as the service in its center; then the mark releases its observer.
  private final class Leash: Sendable {
    fileprivate weak let mark: LazyMark?
    init(_ mark: LazyMark) { self.mark = mark }
    // The observer is released after the lock.
    deinit { _ = mark?.kept.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) } }
  }

  private struct Kept: @unchecked Sendable {  // the observer is only kept and released
    let observer: AnyObject
  }
}
