// FlatModelTests.swift: one proxy against the model: every small case, random large ones, and what is known to differ.

import Forwardcast
import TestSupport
import Testing

@Suite("One proxy against the model")
struct FlatModelTests {
  @Test("every world of up to two targets of many kinds")
  func pairs() async {
    let count = await compareWithModel("pairs", each: 41) { check in
      for targets in (0...2).flatMap({ ModelSpecimens.sequences($0, of: ModelSpecimens.many) }) {
        let world = ModelWorld(root: ModelSpecimens.proxy(targets))
        for door in ModelDoor.fewest { check(ModelCase(world: world, door: door)) }
      }
    }
    #expect(count > bound(9000 / 41, full: 9000))
  }

  @Test("every world of three targets of eight kinds", arguments: [false, true])
  func triples(stopsAtFirst: Bool) async {
    let count = await compareWithModel("triples", each: 41) { check in
      for targets in ModelSpecimens.sequences(3, of: ModelSpecimens.few) {
        let world = ModelWorld(root: ModelSpecimens.proxy(targets, stopsAtFirst: stopsAtFirst))
        for door in ModelDoor.fewest { check(ModelCase(world: world, door: door)) }
      }
    }
    #expect(count > bound(4000 / 41, full: 4000))
  }

  @Test("every single target with every option, through every door")
  func singles() async {
    let count = await compareWithModel("singles", each: 41) { check in
      for targets in (0...1).flatMap({ ModelSpecimens.sequences($0, of: ModelSpecimens.many) }) {
        for (stopsAtFirst, silence) in ModelSpecimens.options {
          let root = ModelSpecimens.proxy(targets, stopsAtFirst: stopsAtFirst, silence: silence)
          for door in ModelDoor.all { check(ModelCase(world: ModelWorld(root: root), door: door)) }
        }
      }
    }
    #expect(count > bound(6000 / 41, full: 6000))
  }

  @Test("a sender that is on a queue of its targets, and proxies that had worked out who responds")
  func elsewhere() async {
    let count = await compareWithModel("elsewhere", each: 41) { check in
      let alone = ModelSpecimens.sequences(1, of: ModelSpecimens.many)
      for targets in alone + ModelSpecimens.sequences(2, of: ModelSpecimens.few) {
        for (stopsAtFirst, silence) in ModelSpecimens.options where targets.count < 2 || silence == .ignored {
          let root = ModelSpecimens.proxy(targets, stopsAtFirst: stopsAtFirst, silence: silence)
          for world in [ModelWorld(root: root, sender: .onQueue1), ModelWorld(root: root, isWarm: true)] {
            for door in ModelDoor.fewest { check(ModelCase(world: world, door: door)) }
          }
        }
      }
    }
    #expect(count > bound(4500 / 41, full: 4500))
  }

  @Test("random worlds of many targets, by seed", arguments: ModelGenerator.seeds)
  func random(seed: UInt64) async {
    let worlds = bound(6, full: 60)
    let count = await compareWithModel("seed \(seed)") { check in
      var generator = ModelGenerator(seed: seed)
      for _ in 0..<worlds {
        let world = generator.world(depth: 1, targets: 30)
        for door in ModelDoor.few { check(ModelCase(world: world, door: door)) }
      }
    }
    #expect(count > worlds * 8)
  }

  @Test("what once went otherwise goes as predicted", arguments: ModelExample.all)
  func example(example: ModelExample) async throws {
    let failure = try await compareOne(example.example)
    #expect(failure == nil, "\(example.title)")
  }
}
