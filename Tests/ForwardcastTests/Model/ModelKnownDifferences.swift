// ModelKnownDifferences.swift: what the library does otherwise at present, each with the smallest case that shows it.

import Testing

/// A defect of the library that the model found. Once the library does as predicted, the entry goes.
struct ModelKnownDifference: Sendable {
  let title: String
  /// The smallest case.
  let example: ModelCase
  /// Whether a difference in a case is, or may be, of this defect.
  let covers: @Sendable (ModelCase, ModelDifference) -> Bool
}

extension ModelKnownDifference: CustomTestStringConvertible {
  var testDescription: String { title }
}

extension ModelKnownDifference {
  static func covers(_ failure: ModelFailure) -> Bool {
    failure.differences.allSatisfy { difference in all.contains { $0.covers(failure.instance, difference) } }
  }

  private static func example(
    _ door: ModelDoor, stopsAtFirst: Bool = false, sender: ModelWorld.Sender = .outside,
    _ targets: (inout ModelTarget) -> Void...
  ) -> ModelCase {
    let made = targets.map { change in
      var target = ModelTarget()
      change(&target)
      return target
    }
    return ModelCase(
      world: ModelWorld(root: ModelSpecimens.proxy(made, stopsAtFirst: stopsAtFirst), sender: sender), door: door)
  }

  static let all: [ModelKnownDifference] = [
    ModelKnownDifference(
      title: "a collect by boxes that stops early has posted to the queued targets behind",
      example: example(.collectBoxed(.first), { _ in }, { $0.place = .queue1 }),
      covers: { instance, _ in instance.door == .collectBoxed(.first) && instance.world.hasQueued }),
    ModelKnownDifference(
      title: "a forward that waits does not stop at the first error",
      example: example(.forwardAndWait, stopsAtFirst: true, { $0.kind = .throwing }, { _ in }),
      covers: { instance, _ in
        instance.world.root.stopsAtFirst && instance.door.family == .report && instance.door.waits
      }),
    ModelKnownDifference(
      title: "a collect that waits does not stop at an error while a target before it has not answered",
      example: example(
        .collectAndWait(.all), stopsAtFirst: true, { $0.place = .queue1 }, { $0.kind = .throwing }, { _ in }),
      covers: { instance, _ in
        instance.world.root.stopsAtFirst && instance.world.hasQueued && instance.door.family == .output
          && instance.door.waits
      }),
    ModelKnownDifference(
      title: "a forward that waits lists a target that answered and died as its registration",
      example: example(.forwardAndWait, { $0.act = .kill(1) }),
      covers: { instance, difference in
        instance.door.family == .report && instance.door.waits && difference.actual.contains("a stranger")
      }),
    ModelKnownDifference(
      title: "targets that travel alone are queued behind those that share an envelope, whatever their order",
      example: example(.broadcast, { $0.place = .automatic1 }, { $0.place = .queue1 }),
      covers: { instance, _ in instance.world.hasMixedTravel }),
    ModelKnownDifference(
      title: "of several errors a collect or a send throws the first and loses the others",
      example: example(.collect(.all), { $0.kind = .throwing }, { $0.kind = .throwing }),
      covers: { instance, difference in
        [.output, .answer].contains(instance.door.family) && difference.field == .told
          && difference.actual.count < difference.predicted.count
      }),
    ModelKnownDifference(
      title: "a report lists those that the message is not for behind all others",
      example: example(.forward, { $0.kind = .silent }, { $0.condition = .muted }),
      covers: { _, difference in
        difference.field == .skipped && difference.isInAnotherOrder
      }),
    ModelKnownDifference(
      title: "a forward that ends with an error lists targets that joined meanwhile as stopped",
      example: example(.forwardAndWait, { $0.kind = .throwing }, { $0.act = .add }),
      covers: { _, difference in
        difference.field == .skipped && difference.actual.contains("t1") && difference.isInAnotherOrder
      }),
    ModelKnownDifference(
      title: "an automatic delivery that ran in the sender's turn is reported as queued by a forward that waits",
      example: example(.forwardBlocking, sender: .onQueue1, { $0.place = .automatic1 }),
      covers: { instance, difference in
        instance.door == .forwardBlocking && instance.world.sender == .onQueue1 && difference.field == .answers
          && difference.actual.contains("queued")
      }),
    ModelKnownDifference(
      title: "a broadcast by boxes counts a target that was asked and does not respond as skipped",
      example: example(.broadcastBoxed, { ($0.isForwarded, $0.kind) = (true, .silent) }),
      covers: { instance, difference in
        instance.door == .broadcastBoxed && difference.field == .output
          && instance.world.root.all.contains { $0.isForwarded && $0.kind == .silent }
      }),
    ModelKnownDifference(
      title: "a method that suspends is not reached through a proxy for one, neither from a queue nor by who waits",
      example: example(.collectAndWait(.all), { ($0.isForwarded, $0.kind) = (true, .suspending) }),
      covers: { instance, _ in instance.world.root.all.contains { $0.isForwarded && $0.suspends } }),
    ModelKnownDifference(
      title: "arguments are not checked against the first target when it is behind a proxy for one",
      example: example(.forward, { ($0.isForwarded, $0.kind) = (true, .unfit) }),
      covers: { instance, _ in
        instance.door.isChecked && instance.world.root.all.contains { $0.isForwarded && $0.kind == .unfit }
      }),
  ]
}

extension ModelDifference {
  /// Whether the same is listed, but for targets that joined while the message was on its way.
  fileprivate var isInAnotherOrder: Bool {
    func words(_ text: String) -> [Substring] {
      text.split(separator: ", ").filter { word in
        let number = word.dropFirst().prefix { $0.isNumber }
        return (Int(number) ?? 0) <= ModelTarget.firstLate
      }
      .sorted()
    }
    return words(predicted) == words(actual)
  }
}

extension ModelWorld {
  /// Whether targets of one proxy and one queue travel alone and together.
  fileprivate var hasMixedTravel: Bool { root.hasMixedTravel }

  /// Whether a target of the outermost proxy runs on a queue.
  fileprivate var hasQueued: Bool { root.targets.contains { $0.place != .direct } }
}

extension ModelProxy {
  fileprivate var hasMixedTravel: Bool {
    let mixed = ModelQueue.allCases.contains { queue in
      let there = targets.filter { $0.place.queue == queue }
      return Set(there.map { $0.place.isAutomatic || $0.keepsPending }).count == 2
    }
    return mixed || targets.contains { $0.proxy?.hasMixedTravel ?? false }
  }
}
