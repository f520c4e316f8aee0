// NestedModelTests.swift: proxies in one another against the model.

import Forwardcast
import Foundation
import Testing

/// Whether a multicast among the targets of a multicast is transparent.
private enum Nesting {
  /// To be `true` from then on; the variable runs the tests before.
  static let isTransparent = ProcessInfo.processInfo.environment["FORWARDCAST_NESTED_MODEL"] != nil
}

@Suite(
  "Proxies in one another against the model", .enabled(if: Nesting.isTransparent, "nesting is not transparent yet"))
struct NestedModelTests {
  private static let within: [ModelTarget] =
    [0, 1, 2, 3, 4, 6, 7].map { ModelSpecimens.few[$0] } + [
      ModelSpecimens.many[8], ModelSpecimens.many[11],
    ]

  @Test("every inner proxy of up to two targets, alone and beside another target", arguments: [false, true])
  func small(stopsAtFirst: Bool) async {
    let count = await compareWithModel("small") { check in
      for inner in ModelSpecimens.innerProxies(Self.within) {
        for root in ModelSpecimens.around(inner, stopsAtFirst: stopsAtFirst) {
          for door in ModelDoor.few { check(ModelCase(world: ModelWorld(root: root), door: door)) }
        }
      }
    }
    #expect(count > 15_000)
  }

  @Test("random worlds of proxies up to five deep, by seed", arguments: ModelGenerator.seeds)
  func random(seed: UInt64) async {
    let count = await compareWithModel("seed \(seed)") { check in
      var generator = ModelGenerator(seed: seed)
      for index in 0..<150 {
        let world = generator.world(depth: 2 + index % 4, targets: 3 + index % 10)
        for door in ModelDoor.few { check(ModelCase(world: world, door: door)) }
      }
    }
    #expect(count > 1000)
  }
}
