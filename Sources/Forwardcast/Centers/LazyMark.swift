// LazyMark.swift: an observer that does not exist yet.
// Layer: Centers. See DESIGN.md, "Extension points".

/// One lazy registration: whom to make, for which selectors, and whose place it takes.
final class LazyMark: Sendable {
  /// What a service center looked like when the mark was last served: while it looks the same, there is nothing to do.
  struct Stamp: Hashable, Sendable {
    let store: UInt
    let generation: UInt
  }

  private struct State {
    var place: Registration?
    /// The registration of the observer that the mark was last served with; its owner may have cancelled it since.
    var served: Registration?
    var stamp: Stamp?
    /// Threads that are making the observer for this mark.
    var wakers: Set<ThreadMark> = []
    var isTakenBack = false
  }

  /// What errors and lists call the observer.
  let name: String
  /// The service that is the observer.
  let id: ServiceID
  /// Its class, where that is known.
  let type: (any AnyObject.Type)?
  private let delivery: Delivery
  private let methodOf: @Sendable (MessageSelector) -> MethodSignature?
  private let stampOf: @Sendable (ServiceCenter) throws -> (Stamp, isMaking: Bool)
  private let make: @Sendable (ServiceCenter) throws -> AnyObject
  private let state = Guarded(State())

  init<Service, Interface>(
    _ key: ServiceKey<Service>, type: (any AnyObject.Type)?, delivery: Delivery,
    signature: @escaping @Sendable (MessageSelector) -> MethodSignature?,
    as observer: @escaping @Sendable (Service) -> Interface
  ) {
    (name, id, self.type, self.delivery, methodOf) = (key.name, key.id, type, delivery, signature)
    stampOf = { center in
      let store = try center.owner(of: key).store
      return (Stamp(store: store.number, generation: store.generation), store.isMaking(key.id))
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

  /// The place in the order: vacant until the observer exists, and again when it has gone.
  var place: Registration? { state.withLock { $0.place } }

  /// Gives the mark its place, before anybody else sees it.
  func stand(at place: Registration) { state.withLock { $0.place = place } }

  /// Puts `observer` in the mark's place, unless it is registered, or was and had enough.
  ///
  /// - Returns: its registration when it took the place.
  @discardableResult
  func serve(with observer: AnyObject, _ core: MulticastCore, scope: Set<MessageSelector>?) -> Registration? {
    let (place, served) = state.withLock { ($0.place, $0.served) }
    guard let place, served?.target !== observer else { return nil }
    let now = core.fill(
      place, with: observer, scope: scope, queued: core.queuedPart(delivery, .unbounded, .dropPending))
    let (old, isTakenBack) = state.withLock { state in
      let old = [state.place, state.served]
      (state.place, state.served) = (now.place, now.registration)
      return (old, state.isTakenBack)
    }
    withExtendedLifetime(old) {}
    if isTakenBack { now.place.cancel() }
    return now.registration
  }

  /// Ends the lazy registration, with the observer in its place; one that is being made will have none.
  func takeBack() {
    let place = state.withLock { state in
      state.isTakenBack = true
      return state.place
    }
    place?.cancel()
  }

  /// Whether the calling thread is making the observer for this mark.
  var isWaking: Bool { state.withLock { $0.wakers.contains(ThreadMark.current) } }

  /// Makes sure that the observer exists and has its place.
  ///
  /// - Throws: ``ServiceError``, or what the service's construction throws.
  func wake(in center: ServiceCenter, _ core: MulticastCore, scope: Set<MessageSelector>?) throws {
    let (stamp, isMaking) = try stampOf(center)
    let me = ThreadMark.current
    // What a service sends while it is made does not reach itself: nobody sees it yet.
    let begins = state.withLock { state in
      state.stamp != stamp && !isMaking && state.wakers.insert(me).inserted
    }
    guard begins else { return }
    defer { state.withLock { _ = $0.wakers.remove(me) } }
    serve(with: try make(center), core, scope: scope)
    state.withLock { $0.stamp = stamp }
  }
}

extension LazyMark: NamedReceiver {
  var receiverName: String { name }
}
