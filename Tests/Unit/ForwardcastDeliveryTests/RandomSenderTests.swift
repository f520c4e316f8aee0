// RandomSenderTests.swift: methods that send, wait, drain, remove and mute at random.

import CoreTestSupport
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Forwardcast

private typealias Proxy = MulticastProxy<any MessageReceiver & Sendable>

private final class World: Sendable {
  let proxies: [Proxy]
  private let random: Locked<SeededGenerator>

  init(seed: Int) {
    let options = MulticastOptions(
      errors: seed % 3 == 2 ? .stopAtFirst : .collected, deadlockTimeout: .milliseconds(30))
    proxies = [Proxy(options: options), Proxy(options: options)]
    random = Locked(SeededGenerator(seed: UInt64(seed)))
  }

  func below(_ limit: Int) -> Int { random.withLock { $0.below(limit) } }
  var proxy: Proxy { proxies[below(2)] }
}

private final class Agent: MessageReceiver, Sendable {
  private let world: World

  init(_ world: World) { self.world = world }

  static let selectorTable = SelectorTable(for: Agent.self) {
    Responds(to: .note) { (agent: Agent, depth: Int) in
      guard depth > 0 else { return }
      switch agent.world.below(12) {
      case 0, 1: agent.world.proxy.broadcast(.note, depth - 1)
      case 2: agent.world.proxy.remove(agent)
      case 3: agent.world.proxy.registrations.first?.mute()
      case 4: for registration in agent.world.proxy.registrations { registration.unmute() }
      case 5: throw TargetError(name: "agent")
      case 6: _ = try? agent.world.proxy.collect(.value, returning: .all)
      case 7: agent.world.proxy.broadcast(.slow, depth - 1)
      default: break
      }
    }
    Responds(to: .value) { (agent: Agent) in 1 }
    Responds(
      to: .slow,
      async: { (agent: Agent, depth: Int) async throws in
        guard depth > 0 else { return depth }
        switch agent.world.below(8) {
        case 0: return try await agent.world.proxy.collectAndWait(.slow, depth - 1, returning: .sum)
        case 1: _ = try? await agent.world.proxy.broadcastWhenReady(.note, depth - 1)
        case 2: _ = try? await agent.world.proxy.collectAndWait(.value, returning: .sum, timeout: .milliseconds(5))
        case 3: agent.world.proxy.remove(agent)
        case 4: _ = try? await agent.world.proxy.drain()
        case 5: throw TargetError(name: "slow agent")
        default: break
        }
        return depth
      })
  }
}

@Suite("Methods that send at random")
struct RandomSenderTests {
  private let serial = DispatchQueue(label: "serial")
  private let wide = DispatchQueue(label: "wide", attributes: .concurrent)

  @Test("every wait ends, and no buffer keeps a message or a sender", .timeLimit(.minutes(5)))
  func waitsEnd() async throws {
    for seed in 0..<bound(20, full: 20, named: "FORWARDCAST_RANDOM_SENDERS") {
      let world = World(seed: seed)
      for proxy in world.proxies { proxy.onError = { _ in } }
      if seed % 4 > 0 { world.proxies[0].add(world.proxies[1], delivery: seed % 4 == 1 ? .direct : delivery(world)) }
      let agents = Locked<[Agent]>([])
      await withTaskGroup { group in
        for _ in 0..<5 { group.addTask { for number in 0..<25 { await act(number, world, agents) } } }
      }
      for proxy in world.proxies + world.proxies { try await proxy.drain() }
      for registration in world.proxies.flatMap(\.registrations) {
        guard let line = registration.queued?.line else { continue }
        expect(line.waitingSenders == 0 && line.count == 0, "seed \(seed): \(registration)")
      }
    }
  }

  private func delivery(_ world: World) -> Delivery {
    [.queue(serial), .concurrentQueue(wide), .automatic(.global()), .mainActor, .automatic(serial), .automatic()][
      world.below(6)]
  }

  private func act(_ number: Int, _ world: World, _ agents: Locked<[Agent]>) async {
    let (proxy, message) = (world.proxy, Invocation("note:", arguments: [ArgumentBox(3)]))
    switch world.below(9) {
    case 0, 1:
      let agent = Agent(world)
      agents.withLock { $0.append(agent) }
      let buffers: [DeliveryBuffer] = [
        .unbounded, .suspendSender(1), .suspendSender(2), .keepNewest(2), .keepOldest(1), .latestPerSelector,
      ]
      proxy.add(
        agent, delivery: delivery(world), priority: world.below(3), buffer: buffers[world.below(6)],
        whenRemoved: world.below(3) == 0 ? .deliverPending : .dropPending)
    case 2: proxy.broadcast(.note, 3)
    case 3:
      let sender = Task { try await proxy.broadcastWhenReady(.note, 3) }
      if world.below(3) == 0 { sender.cancel() }
      _ = await sender.result
    case 4: _ = try? await proxy.collectAndWait(.slow, 3, returning: .all)
    case 5: _ = try? await proxy.forwardAndWait(message)
    case 6: agents.withLock { if !$0.isEmpty { $0.removeFirst() } }
    case 7: _ = try? await proxy.collectAndWait(.slow, 3, returning: .sum, timeout: .milliseconds(4))
    default: if number % 5 == 0 { _ = try? await proxy.drain(timeout: .milliseconds(200)) }
    }
  }
}
