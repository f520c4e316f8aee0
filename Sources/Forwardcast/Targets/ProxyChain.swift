// ProxyChain.swift: the path of proxies to a target, and its limits.

/// A proxy and the proxies that enclose it on the path of a message, nearest first. Immutable.
@usableFromInline
final class ProxyChain: Sendable {
  let core: MulticastCore
  let outer: ProxyChain?
  let registration: Registration?
  /// `outer` and `registration`, read without reference counting.
  private let around: Unmanaged<ProxyChain>?
  private let place: Unmanaged<Registration>?
  let depth: Int
  /// True if the proxy is a queued target, which sends the message again on its own context. Muting
  /// or removing an outer registration then no longer affects the message.
  private let isSentAgain: Bool
  var isNested: Bool { around != nil }

  init(
    _ core: MulticastCore, in outer: ProxyChain? = nil, by registration: Registration? = nil, isSentAgain: Bool = false
  ) {
    self.isSentAgain = isSentAgain
    (self.core, self.outer, self.registration) = (core, outer, registration)
    (around, place) = (outer.map { .passUnretained($0) }, registration.map { .passUnretained($0) })
    depth = (outer?.depth ?? 0) + 1
    assert(depth <= ProxyChain.maximumDepth, "a message enters no proxy that lies too deep")
    assert((outer == nil) == (registration == nil), "a nested proxy has a registration")
  }

  /// The registrations that must be active for the message to reach the targets.
  var registrations: [Registration] {
    guard !isSentAgain, let registration, let outer else { return [] }
    return [registration] + outer.registrations
  }

  /// True if every registration on the path is active.
  var isOpen: Bool {
    var next = Unmanaged.passUnretained(self)
    while true {
      let (isActive, outer) = next._withUnsafeGuaranteedRef { here -> (Bool, Unmanaged<ProxyChain>?) in
        if here.isSentAgain { return (true, nil) }
        return (here.place?._withUnsafeGuaranteedRef(\.isActive) ?? true, here.around)
      }
      if !isActive { return false }
      guard let outer else { return true }
      next = outer
    }
  }

  /// The reason to skip this proxy's targets, if a registration on the path is removed or muted.
  var obstacle: DeliveryReport.SkipReason? {
    if isOpen { return nil }
    var isMuted = false
    for here in sequence(first: self, next: \.outer) {
      if here.isSentAgain { break }
      if let registration = here.registration, !registration.isActive {
        if registration.isRemoved, registration.queued?.pending != .deliverPending { return .removed }
        isMuted = isMuted || registration.isMuted
      }
    }
    return isMuted ? .muted : nil
  }

  static let maximumDepth = 256
  /// The maximum number of nested proxies per message. A proxy that is reached on several paths
  /// counts once for each path.
  static let maximumCount = 65_536

  /// The error if a message must not enter a nested multicast, because of a cycle or a limit.
  /// `trail` has the proxies that the message passed before an object forwarded it.
  @inline(never) func refusal(of inner: MessageRoute, _ trail: ProxyTrail?, count: Int, _ target: AnyObject)
    -> MessageError?
  {
    if contains(inner.core) || trail?.contains(inner.core) ?? false {
      return .cycle(inner.selector, through: target)
    }
    guard depth >= ProxyChain.maximumDepth || count >= ProxyChain.maximumCount else { return nil }
    return MessageError(
      .tooManyProxies, receiver: typeName(of: target), selector: inner.selector.name,
      evidence: count >= ProxyChain.maximumCount
        ? "one message passes through more than \(ProxyChain.maximumCount) proxies"
        : "proxies are nested more than \(ProxyChain.maximumDepth) levels deep")
  }

  func contains(_ core: MulticastCore) -> Bool {
    var next = Unmanaged.passUnretained(self)
    while true {
      let (isMeant, outer) = next._withUnsafeGuaranteedRef { ($0.core === core, $0.around) }
      guard !isMeant, let outer else { return isMeant }
      next = outer
    }
  }

  /// The proxies on this path, for objects that may forward the message.
  func trail(after earlier: ProxyTrail?) -> ProxyTrail {
    ProxyTrail(core, after: outer?.trail(after: earlier) ?? earlier)
  }
}

extension MessageRoute {
  /// - Throws: `proxyCycle` if the message already passed this proxy.
  func refuseCycle(_ invocation: Invocation) throws {
    guard let trail = invocation.route, trail.contains(core) else { return }
    throw MessageError.cycle(selector, through: core)
  }
}
