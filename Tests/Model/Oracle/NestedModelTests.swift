// NestedModelTests.swift: proxies in one another against the model.

import Forwardcast
import TestSupport
import Testing

@Suite("Proxies in one another against the model")
struct NestedModelTests {
  @Test("every inner proxy of up to two targets, alone and beside another target", arguments: [false, true])
  func small(stopsAtFirst: Bool) async {
    let count = await compareWithModel("small", each: 41) { check in
      for inner in ModelSpecimens.innerProxies {
        for root in ModelSpecimens.around(inner, stopsAtFirst: stopsAtFirst) {
          for door in ModelDoor.fewest { check(ModelCase(world: ModelWorld(root: root), door: door)) }
        }
      }
    }
    #expect(count > bound(10_000 / 41, full: 10_000))
  }

  @Test("random worlds of proxies up to five deep, by seed", arguments: ModelGenerator.seeds)
  func random(seed: UInt64) async {
    let worlds = bound(8, full: 80)
    let count = await compareWithModel("seed \(seed)") { check in
      var generator = ModelGenerator(seed: seed)
      for index in 0..<worlds {
        let world = generator.world(depth: 2 + index % 4, targets: 3 + index % 10)
        for door in ModelDoor.few { check(ModelCase(world: world, door: door)) }
      }
    }
    #expect(count > worlds * 6)
  }
}

@Suite("Nesting in the model")
struct NestingTests {
  @Test(
    "the model says the same of a plain inner proxy as of its targets in its place", arguments: ModelGenerator.seeds)
  func transparency(seed: UInt64) {
    var generator = ModelGenerator(seed: seed)
    let worlds = bound(15, full: 150)
    var compared = 0
    for index in 0..<worlds {
      var world = generator.world(depth: 2 + index % 3, targets: 3 + index % 6)
      world.root.makePlain()
      var flat = world
      flat.root = world.root.flattened
      guard flat.root != world.root else { continue }
      // Who is added comes last in its own proxy, so elsewhere for the message that is sent meanwhile.
      guard ![.add, .send].allSatisfy({ act in world.root.all.contains { $0.act == act } }) else { continue }
      let owners = world.root.owners
      let letsDie = world.root.all.contains { if case .kill? = $0.act { true } else { false } }
      // A burst holds the targets of the proxy itself, not those of inner ones.
      for door in ModelDoor.few where !(door.isPinned && letsDie) {
        guard let nested = world.predict(door), let plain = flat.predict(door)?.relabelled(owners)
        else { continue }
        compared += 1
        let differences = nested.differences(from: plain, telling: door.telling)
        if !differences.isEmpty {
          Issue.record("\(ModelFailure(instance: ModelCase(world: world, door: door), differences: differences))")
          return
        }
      }
    }
    #expect(compared > worlds * 3)
  }

  @Test("what nesting once did otherwise it does as predicted", arguments: NestingDifference.all)
  private func example(difference: NestingDifference) async throws {
    let failure = try await compareOne(difference.example)
    #expect(failure == nil, "\(difference.title)")
  }
}

/// Something that nesting once did otherwise than the model.
private struct NestingDifference: CustomTestStringConvertible {
  let title: String
  let example: ModelCase
  var testDescription: String { title }

  init(
    _ title: String, _ door: ModelDoor, within change: (inout ModelProxy) -> Void = { _ in },
    _ targets: (inout ModelTarget) -> Void...
  ) {
    let made = targets.map { change in
      var target = ModelTarget()
      change(&target)
      return target
    }
    var inner = ModelSpecimens.proxy(made)
    inner.hasHandler = false
    change(&inner)
    var target = ModelTarget()
    target.kind = .proxy(inner)
    self.title = title
    let roots = ModelSpecimens.around(target, stopsAtFirst: false)
    example = ModelCase(world: ModelWorld(root: roots.first ?? ModelProxy()), door: door)
  }

  static let all = [
    NestingDifference("inner targets are counted as one", .broadcast, { _ in }, { _ in }),
    NestingDifference("only the last inner answer counts", .collect(.all), { _ in }, { _ in }),
    NestingDifference("a report lists the inner proxy in place of its targets", .forward, { _ in }),
    NestingDifference(
      "all inner errors but the first are lost", .forward, { $0.kind = .throwing }, { $0.kind = .throwing }),
    NestingDifference(
      "an inner error goes past the inner handler", .broadcast, within: { $0.hasHandler = true },
      { $0.kind = .throwing }),
    NestingDifference(
      "an inner error on a queue is told to nobody", .broadcast, { ($0.kind, $0.place) = (.throwing, .queue1) }),
    NestingDifference("a queued inner target counts as delivered", .broadcast, { $0.place = .queue1 }),
    NestingDifference("nobody waits for queued inner targets", .collectAndWait(.all), { $0.place = .queue1 }),
    NestingDifference("inner methods that suspend are not reached", .collectAndWait(.all), { $0.kind = .suspending }),
    NestingDifference(
      "a result that is known early does not end the inner message", .collect(.first), { _ in }, { _ in }),
    NestingDifference("inner silence that is an error is not", .collect(.all), within: { $0.silence = .thrown }),
    NestingDifference("an inner handler of silence is not called", .broadcast, within: { $0.silence = .handled }),
    NestingDifference("arguments are not checked against the first inner target", .forward, { $0.kind = .unfit }),
  ]
}
