// Interpreter+Proxies.swift: creates proxies and changes their registrations.

import Forwardcast

extension Interpreter {
  /// `proxy p = …`: binds a global name, even within a row.
  func makeProxy(_ name: String, _ definition: ProxyDefinition) throws {
    try run.charge(Work.make + Work.name(name))
    let reference: ScriptReference
    switch definition {
    case .multicast(let options):
      let proxy = ScriptMulticast(
        options: MulticastOptions(
          duplicates: options.contains(.duplicates) ? .allowed : .refused,
          silence: options.contains(.throwing) ? .thrown : .ignored,
          errors: options.contains(.stopping) ? .stopAtFirst : .collected))
      reference = world.label(proxy, "<multicast \(name)>", ownership: options.contains(.strong) ? .strong : .weak)
      proxy.onError = { [weak world] failure in world?.report(failure.error) }
      world.trace(proxy, as: "<multicast \(name)>")
    case .forward(let target):
      let receiver = try object(target).receiver
      let proxy = ForwardingProxy(to: receiver)
      reference = world.label(proxy, "<forward \(name)>", before: receiver)
      try world.link(proxy, to: receiver, strongly: true)
    case .lazy(let expression):
      let proxy = makeLazy(expression)
      // A lazy proxy has no lock, so it stays in the turn of its session.
      reference = world.label(proxy, "<lazy \(name)>", .session)
    case .recording(let target): reference = try makeRecording(name, target)
    }
    world.bind(name, .object(reference))
  }

  private func makeLazy(_ expression: Expression) -> LazyProxy {
    let (world, names) = (world, Frame(later: frame, depth: 0))
    weak var owner: LazyProxy?
    let proxy = LazyProxy {
      let send = SendInProgress.current
      let interpreter = Interpreter(
        world: world, run: send?.run ?? Run(world), frame: Frame(later: names, depth: send?.depth ?? 0))
      let target = try interpreter.object(expression).receiver
      if let owner {
        // A question cannot throw when a limit is exceeded: the run remembers it.
        try interpreter.at(expression.offset) { try world.link(owner, to: target, strongly: true) }
      }
      let holder = LazyTarget(target)
      world.label(holder, holder.description, .session)
      return holder
    }
    owner = proxy
    return proxy
  }

  func add(_ addition: Addition) throws {
    let target = try object(addition.target).receiver
    let proxy = try multicast(addition.proxy, "add")
    var terms = RegistrationTerms()
    var name: String?
    var queue: ScriptQueue?
    for modifier in addition.modifiers {
      switch modifier {
      case .priority(let expression):
        terms.priority = try evaluate(expression, "a priority is an integer, not", \.integer)
      case .only(let expression): terms.only = try selectors(evaluate(expression), at: expression)
      case .name(let word): name = word
      case .queue(let expression): queue = try evaluate(expression, "on takes a queue, not", \.queue)
      }
    }
    terms.ownership = world.label(of: proxy)?.ownership ?? .weak
    try run.charge(world.workOfAdding(to: proxy, terms))
    try world.link(proxy, to: target, strongly: terms.ownership == .strong)
    let registration =
      try queue.map { try register(target, with: proxy, on: $0, terms) } ?? proxy.register(target, terms)
    if let name { world.bind(name, .registration(registration)) }
  }

  private func register(
    _ target: any MessageReceiver, with proxy: any ScriptedMulticast, on queue: ScriptQueue, _ terms: RegistrationTerms
  ) throws -> Registration {
    guard let proxy = proxy as? ScriptMulticast, world.label(of: proxy)?.ownership != nil else {
      throw ScriptFault(.typeMismatch, "only a proxy of the script takes targets on a queue")
    }
    let reference = world.reference(target)
    guard try world.mayCross(target, run) else {
      throw ScriptFault(
        .thrown, "isolation mismatch: \(reference) is not Sendable and may not be used on queue \(queue.mark.name)")
    }
    world.note(queue, of: proxy)
    return try proxy.register(crossing: target, delivery: queue.delivery, terms)
  }

  /// The selectors of a list, interned: the registration answers them.
  private func selectors(_ list: ScriptValue, at expression: Expression) throws -> [MessageSelector] {
    try at(expression.offset) {
      let elements = try list.wanted("only takes a list of selectors, not", \.list)
      try run.charge(Work.pass * elements.count)
      return try elements.map { try world.intern(selectorName($0)) }
    }
  }

  /// `remove e from p`; `e` is a target or a registration.
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

  func apply(_ change: RegistrationChange, to expression: Expression) throws {
    let value = try evaluate(expression)
    if case .hook(let hook) = value, change == .cancel {
      try run.charge(Work.look * world.hookCount)
      return hook.cancel()
    }
    let registration = try at(expression.offset) {
      try value.wanted("\(change.rawValue) takes a registration, not", \.registration)
    }
    switch change {
    case .cancel: registration.cancel()
    case .mute: registration.mute()
    case .unmute: registration.unmute()
    }
  }

  // MARK: What is wanted

  func object(_ expression: Expression) throws -> ScriptReference {
    try evaluate(expression, "wanted an object, found", \.reference)
  }

  func multicast(_ expression: Expression, _ wanting: String) throws -> any ScriptedMulticast {
    try evaluate(expression, "\(wanting) needs a multicast proxy, not", showsValue: true, \.multicast)
  }
}

/// Holds the target of a lazy proxy until the session ends. Without it, a lazy proxy that comes to stand behind its own target
/// would be a reference cycle.
final class LazyTarget: ForwardingProxy, CustomStringConvertible {
  /// Used in the turn of the session only, like the proxy.
  private var target: (any MessageReceiver)?

  init(_ target: any MessageReceiver) {
    self.target = target
    super.init()
  }

  var description: String { "<lazy target>" }

  func release() { target = nil }

  override func forwardingTarget(for selector: MessageSelector) -> (any MessageReceiver)? { target }
}
