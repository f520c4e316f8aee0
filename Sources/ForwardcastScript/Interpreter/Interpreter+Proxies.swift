// Interpreter+Proxies.swift: creates proxies and changes their registrations.

import Forwardcast

extension Interpreter {
  /// `proxy p = …`: binds a global name, even in a method.
  func makeProxy(_ name: String, _ make: (Interpreter) throws -> ScriptReference) throws {
    try run.charge(Work.make + Work.name(name))
    world.bind(name, .object(try make(self)))
  }

  func makeMulticast(_ name: String, _ options: Set<ProxyOption>) -> ScriptReference {
    let proxy = ScriptMulticast(
      options: MulticastOptions(
        duplicates: options.contains(.duplicates) ? .allowed : .refused,
        noResponder: options.contains(.throwing) ? .throw : .ignore,
        errors: options.contains(.stopping) ? .stopAtFirst : .collected))
    proxy.onError = { [weak world] failure in world?.report(failure.error) }
    world.trace(proxy, as: "<multicast \(name)>")
    return world.label(proxy, "<multicast \(name)>", ownership: options.contains(.strong) ? .strong : .weak)
  }

  func makeForward(_ name: String, to target: Expression) throws -> ScriptReference {
    let receiver = try object(target).receiver
    let proxy = ForwardingProxy(to: receiver)
    let reference = world.label(proxy, "<forward \(name)>")
    try world.link(proxy, to: receiver, strongly: true)
    return reference
  }

  func makeLazy(_ name: String, _ expression: Expression) -> ScriptReference {
    let (world, names) = (world, frame.copy(depth: 0))
    weak var owner: LazyProxy?
    let proxy = LazyProxy {
      try world.inProgress { send in
        let interpreter = Interpreter(world: world, run: send.run, frame: names.copy(depth: send.depth))
        // Queries raise the depth unchecked, since few run script code, as this closure does.
        try interpreter.at(expression.offset) { try interpreter.checkDepth(send.depth) }
        let target = try interpreter.object(expression).receiver
        if let owner {
          // A query cannot throw the error of an exceeded limit, so the run stores it.
          try interpreter.at(expression.offset) { try world.link(owner, to: target, strongly: true) }
        }
        let holder = LazyTarget(target)
        world.label(holder, holder.description, .session)
        return holder
      }
    }
    owner = proxy
    // A lazy proxy has no lock, so it stays in the isolation of its session.
    return world.label(proxy, "<lazy \(name)>", .session)
  }

  func add(_ target: Expression, to proxy: Expression, _ modifiers: [RegistrationTerms.Modifier]) throws {
    let target = try object(target).receiver
    let proxy = try multicast(proxy, "add")
    var terms = RegistrationTerms()
    for modifier in modifiers { try modifier(self, &terms) }
    terms.ownership = world.label(of: proxy)?.ownership ?? .weak
    try run.charge(world.workOfAdding(to: proxy, terms) + (terms.name.map(Work.name) ?? 0))
    let registration =
      try terms.queue.map { try register(target, with: proxy, on: $0, terms) } ?? register(target, with: proxy, terms)
    if let name = terms.name { world.bind(name, .registration(registration)) }
  }

  private func register(
    _ target: any MessageReceiver, with proxy: any ScriptedMulticast, _ terms: RegistrationTerms
  ) throws -> Registration {
    // An extension point refuses the target here, before `link` confines the point to the session.
    if !(proxy is ScriptPoint) { try world.link(proxy, to: target, strongly: terms.ownership == .strong) }
    return try proxy.register(target, terms)
  }

  private func register(
    _ target: any MessageReceiver, with proxy: any ScriptedMulticast, on queue: ScriptQueue, _ terms: RegistrationTerms
  ) throws -> Registration {
    guard let proxy = proxy as? ScriptMulticast, world.label(of: proxy)?.ownership != nil else {
      throw ScriptError(.typeMismatch, "targets on a queue can be added only to proxies that the script created")
    }
    let reference = world.reference(target)
    guard try world.mayCross(target, run) else {
      throw ScriptError(
        .thrown, "isolation mismatch: \(reference) is not Sendable and may not be used on queue \(queue.mark.name)")
    }
    try world.link(proxy, to: target, strongly: terms.ownership == .strong)
    world.note(queue, of: proxy)
    return try proxy.register(crossing: target, delivery: queue.delivery, terms)
  }

  /// Interns the selectors of a list, because the registration responds to them.
  func selectors(_ expression: Expression) throws -> [MessageSelector] {
    let elements = try evaluate(expression, "\"only\" takes a list of selectors, not", \.list)
    return try at(expression.offset) {
      try run.charge(Work.pass * elements.count)
      return try elements.map { try world.intern(selectorName($0)) }
    }
  }

  func remove(_ target: Expression, from proxy: Expression) throws {
    let value = try evaluate(target)
    let proxy = try multicast(proxy, "remove")
    guard case .registration(let registration) = value else {
      let reference = try at(target.offset) { try value.wanted("wanted an object, found", \.reference) }
      return proxy.unregister(reference.receiver)
    }
    try run.charge(Work.look * proxy.holder.count)
    proxy.holder.remove(registration)
  }

  func apply(_ change: StatementWord, to expression: Expression) throws {
    let value = try evaluate(expression)
    if case .hook(let hook) = value, change == .cancel {
      try run.charge(Work.look * world.hookCount)
      return hook.cancel()
    }
    let wanted = change == .cancel ? "a registration or a hook" : "a registration"
    let registration = try at(expression.offset) {
      try value.wanted("\"\(change.rawValue)\" takes \(wanted), not", \.registration)
    }
    switch change {
    case .mute: registration.mute()
    case .unmute: registration.unmute()
    default: registration.cancel()
    }
  }

  func object(_ expression: Expression) throws -> ScriptReference {
    try evaluate(expression, "wanted an object, found", \.reference)
  }

  func multicast(_ expression: Expression, _ wanting: String) throws -> any ScriptedMulticast {
    try evaluate(expression, "\"\(wanting)\" needs a multicast proxy, not", showsValue: true, \.multicast)
  }
}

/// Holds the target of a lazy proxy, so that the session can release this target when it ends. If
/// the target leads back to the lazy proxy, this ends the reference cycle.
final class LazyTarget: ForwardingProxy, CustomStringConvertible {
  /// Used only in the session's isolation, like the proxy.
  private var target: (any MessageReceiver)?

  init(_ target: any MessageReceiver) {
    self.target = target
    super.init()
  }

  var description: String { "<lazy target>" }

  func release() { target = nil }

  override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { target }
}
