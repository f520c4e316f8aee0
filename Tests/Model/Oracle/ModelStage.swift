// ModelStage.swift: the proxies and targets of one case, made for real.

import Dispatch
import Forwardcast
import TestSupport

/// The proxies and targets of one case, and their only owner.
final class ModelStage: Sendable {
  private struct Parts: Sendable {
    var targets: [Int: ModelMember] = [:]
    var proxies: [Int: ModelMulticast] = [:]
    var registrations: [Int: Registration] = [:]
    var names: [ObjectIdentifier: String] = [:]
  }

  let journal = ModelJournal()
  let root: ModelMulticast
  private let parts = Locked(Parts())
  private let world: ModelWorld
  private let queues: ModelQueues

  init(_ world: ModelWorld, _ queues: ModelQueues) {
    (self.world, self.queues) = (world, queues)
    root = Self.multicast(world.root, journal)
    fill(root, world.root)
    if world.isWarm {
      _ = root.responds(to: "model:")
      _ = root.responds(to: "modelAgrees:")
    }
    // Those who wait on a queue died before anybody asked: the library need not notice later deaths there at once.
    let targets = world.root.all
    for target in targets where target.condition == .muted { registration(target.id)?.mute() }
    for target in targets where target.condition == .removed { registration(target.id)?.cancel() }
    for target in targets where target.condition == .dead { kill(target.id) }
  }

  private static func multicast(_ proxy: ModelProxy, _ journal: ModelJournal) -> ModelMulticast {
    let name = proxy.name
    let silence: MulticastOptions.Silence =
      switch proxy.silence {
      case .ignored: .ignored
      case .thrown: .thrown
      case .handled: .handled { _ in journal.note(silence: name) }
      }
    let multicast = ModelMulticast(
      options: MulticastOptions(silence: silence, errors: proxy.stopsAtFirst ? .stopAtFirst : .collected))
    if proxy.hasHandler {
      multicast.onError = { failure in journal.note(told: "\(name): \(ModelStage.text(failure.error))") }
    }
    return multicast
  }

  private func fill(_ multicast: ModelMulticast, _ proxy: ModelProxy) {
    parts.withLock {
      $0.proxies[proxy.id] = multicast
      $0.names[ObjectIdentifier(multicast)] = proxy.name
    }
    for target in proxy.targets {
      if let inner = target.proxy {
        let made = Self.multicast(inner, journal)
        fill(made, inner)
        register(made, target, in: multicast)
      } else {
        let made = make(target, proxy)
        register(target.isForwarded ? ModelStandIn(to: made) : made, target, in: multicast)
      }
    }
  }

  private func make(_ target: ModelTarget, _ owner: ModelProxy) -> ModelMember {
    ModelReceiver.type(for: target.kind)
      .init(target, owner: owner.name, journal) { [weak self] in
        if let act = target.act { self?.perform(act, of: target, in: owner) }
      }
  }

  private func register(_ member: ModelMember, _ target: ModelTarget, in multicast: ModelMulticast) {
    let only: [MessageSelector]? =
      switch target.scope {
      case .everything: nil
      case .named: ["model:", "modelAgrees:"]
      case .other: ["somethingElse"]
      }
    let registration = multicast.add(
      member, delivery: delivery(target.place), priority: target.priority,
      ownership: target.isStrong ? .strong : .weak, only: only,
      whenRemoved: target.keepsPending ? .deliverPending : .dropPending)
    parts.withLock {
      $0.registrations[target.id] = registration
      $0.names[ObjectIdentifier(member)] = target.name
      $0.targets[target.id] = member
    }
    if target.condition == .dead, target.place != .direct { kill(target.id) }
  }

  private func delivery(_ place: ModelPlace) -> Delivery {
    guard let name = place.queue else { return .direct }
    return place.isAutomatic ? .automatic(queues[name]) : .queue(queues[name])
  }

  private func registration(_ id: Int) -> Registration? { parts.withLock { $0.registrations[id] } }

  /// Lets go of a target, outside of the lock.
  private func kill(_ id: Int) {
    let last = parts.withLock { parts in
      parts.proxies[id] = nil
      return parts.targets.removeValue(forKey: id)
    }
    withExtendedLifetime(last) {}
  }

  private func perform(_ act: ModelTarget.Act, of target: ModelTarget, in owner: ModelProxy) {
    switch act {
    case .remove(let id): registration(id)?.cancel()
    case .mute(let id): registration(id)?.mute()
    case .kill(let id): kill(id)
    case .add:
      guard let multicast = parts.withLock({ $0.proxies[owner.id] }) else { return }
      let late = ModelTarget.late(addedBy: target.id)
      register(make(late, owner), late, in: multicast)
    case .send: root.broadcast(.model, ModelSimulation.second)
    }
  }

  // MARK: Names

  /// What the model calls an object; `nobody` where there is none.
  func name(_ object: AnyObject?) -> String {
    guard let object else { return "nobody" }
    return parts.withLock { $0.names[ObjectIdentifier(object)] } ?? "a stranger"
  }

  /// What the model calls an error.
  static func text(_ error: any Error) -> String {
    (error as? MessageError)?.code.description ?? (error as? Thrown)?.text ?? "\(error)"
  }

  /// Waits until nothing is on its way.
  func drain() throws {
    // What runs on a queue may queue more: once for each proxy that lies in another on a queue.
    for _ in 0..<6 { for queue in world.queues { queues[queue].sync {} } }
    guard world.root.all.contains(where: { $0.suspends && $0.place != .direct }) else { return }
    // A message that suspends on a queue may be followed by others: again until nothing has run.
    let proxies = parts.withLock { Array($0.proxies.values) }
    while try proxies.reduce(0, { $0 + (try $1.drain(timeout: .seconds(600))) }) > 0 {}
  }
}
