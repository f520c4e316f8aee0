// LazyMark.swift: an observer that does not exist yet.
// Layer: Centers, Extensions. See the article "How centers work".

import Forwardcast

/// One lazy registration: whom to make, for which selectors, and whose place it takes.
final class LazyMark: Sendable {
  /// What errors and lists call the observer.
  let name: String
  /// The service that is the observer.
  let id: ServiceID
  /// Its class, where that is known.
  let type: (any AnyObject.Type)?
  let delivery: Delivery
  private let methodOf: @Sendable (MessageSelector) -> MethodSignature?
  private let stampOf: @Sendable (ServiceCenter) throws -> (SlotStamp, isMaking: Bool)
  private let make: @Sendable (ServiceCenter) throws -> AnyObject
  /// Threads that are making the observer for this mark.
  private let wakers = Guarded<Set<ThreadIdentity>>([])

  init<Service, Interface>(
    _ key: ServiceKey<Service>, type: (any AnyObject.Type)?, delivery: Delivery,
    signature: @escaping @Sendable (MessageSelector) -> MethodSignature?,
    as observer: @escaping @Sendable (Service) -> Interface
  ) {
    (name, id, self.type, self.delivery, methodOf) = (key.name, key.id, type, delivery, signature)
    stampOf = { center in
      let store = try center.owner(of: key).store
      return (SlotStamp(source: store.number, generation: store.generation), store.isMaking(key.id))
    }
    make = { center in
      let observer = observer(try center.service(key))
      guard Swift.type(of: observer as Any) is AnyObject.Type else {
        throw ServiceError(code: .notAnObject, service: key.name, chain: [])
      }
      return observer as AnyObject
    }
  }

  /// The types of the method that the observer will have for `selector`, found without making it.
  func signature(for selector: MessageSelector) -> MethodSignature? { methodOf(selector) }

  /// Whether the calling thread is making the observer for this mark.
  var isWaking: Bool { wakers.withLock { $0.contains(ThreadIdentity.current) } }

  /// Makes sure that the observer exists and has its place.
  ///
  /// - Throws: ``ServiceError``, or what the service's construction throws.
  func wake(in center: ServiceCenter, at place: ReservedSlot, of core: MulticastCore) throws {
    let (stamp, isMaking) = try stampOf(center)
    // What a service sends while it is made does not reach itself: nobody sees it yet.
    if isMaking || core.stamp(of: place) == stamp { return }
    let me = ThreadIdentity.current
    guard wakers.withLock({ $0.insert(me).inserted }) else { return }
    defer { wakers.withLock { _ = $0.remove(me) } }
    _ = core.fill(place, with: try make(center), stamp: stamp)
  }
}

extension LazyMark: NamedReceiver {
  var receiverName: String { name }
}
