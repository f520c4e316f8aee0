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
  /// Makes the observer, and tells whether it is the service itself.
  private let make: @Sendable (ServiceCenter) throws -> (AnyObject, isService: Bool)
  /// An observer other than the service, with an object whose life ends with the service.
  private let kept = Guarded<Kept?>(nil)
  private let wakers = Guarded<Set<ThreadIdentity>>([])

  init<Service, Interface>(
    _ key: ServiceKey<Service>, type: (any AnyObject.Type)?, delivery: Delivery,
    signature: @escaping @Sendable (MessageSelector) -> MethodSignature?,
    as observer: @escaping @Sendable (Service) -> Interface
  ) {
    (receiverName, id, self.type, self.delivery, self.signature) = (key.name, key.id, type, delivery, signature)
    store = { try $0.owner(of: key).store }
    make = { center in
      let service = try center.service(key)
      let observer = observer(service)
      guard Swift.type(of: observer as Any) is AnyObject.Type else {
        throw ServiceError(code: .notAnObject, service: key.name, chain: [])
      }
      return (observer as AnyObject, isObject(service) && service as AnyObject === observer as AnyObject)
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
    let (observer, isService) = try make(center)
    if !isService {
      let leash = Leash(self)
      replaceKept(by: Kept(observer: observer, leash: ObjectIdentifier(leash))) { _ in true }
      store.keep(leash, for: self, with: id)
    }
    _ = core.fill(place, with: observer, stamp: stamp)
  }

  /// Lives as long as the service in its center; then the mark releases its observer.
  private final class Leash: Sendable {
    private weak let mark: LazyMark?
    init(_ mark: LazyMark) { self.mark = mark }
    deinit {
      let me = ObjectIdentifier(self)
      mark?.replaceKept(by: nil) { $0?.leash == me }
    }
  }

  private struct Kept: @unchecked Sendable {  // the observer is only kept and released
    let observer: AnyObject
    let leash: ObjectIdentifier
  }

  private func replaceKept(by new: Kept?, where isMeant: (Kept?) -> Bool) {
    // The old value is released after the lock.
    _ = kept.withLock { kept in isMeant(kept) ? exchange(&kept, with: new) : nil }
  }
}
