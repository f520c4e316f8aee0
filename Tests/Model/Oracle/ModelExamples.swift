// ModelExamples.swift: what the library once did otherwise, each with the smallest case that shows it.

import Testing

/// A defect that the model found in the library, and that is gone.
struct ModelExample: Sendable {
  let title: String
  /// The smallest case.
  let example: ModelCase
}

extension ModelExample: CustomTestStringConvertible {
  var testDescription: String { title }
}

extension ModelExample {
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

  static let all: [ModelExample] = [
    ModelExample(
      title: "a collect by boxes that stops early has posted to the queued targets behind",
      example: example(.collectBoxed(.first), { _ in }, { $0.place = .queue1 })),
    ModelExample(
      title: "a forward that waits does not stop at the first error",
      example: example(.forwardAndWait, stopsAtFirst: true, { $0.kind = .throwing }, { _ in })),
    ModelExample(
      title: "a collect that waits does not stop at an error while a target before it has not answered",
      example: example(
        .collectAndWait(.all), stopsAtFirst: true, { $0.place = .queue1 }, { $0.kind = .throwing }, { _ in })),
    ModelExample(
      title: "a forward that waits lists a target that answered and died as its registration",
      example: example(.forwardAndWait, { $0.act = .kill(1) })),
    ModelExample(
      title: "targets that travel alone are queued behind those that share an envelope, whatever their order",
      example: example(.broadcast, { $0.place = .automatic1 }, { $0.place = .queue1 })),
    ModelExample(
      title: "of several errors a collect or a send throws the first and loses the others",
      example: example(.collect(.all), { $0.kind = .throwing }, { $0.kind = .throwing })),
    ModelExample(
      title: "a report lists those that the message is not for behind all others",
      example: example(.forward, { $0.kind = .silent }, { $0.condition = .muted })),
    ModelExample(
      title: "a forward that ends with an error lists targets that joined meanwhile as stopped",
      example: example(.forwardAndWait, { $0.kind = .throwing }, { $0.act = .add })),
    ModelExample(
      title: "an automatic delivery that ran in the sender's turn is reported as queued by a forward that waits",
      example: example(.forwardBlocking, sender: .onQueue1, { $0.place = .automatic1 })),
    ModelExample(
      title: "a broadcast by boxes counts a target that was asked and does not respond as skipped",
      example: example(.broadcastBoxed, { ($0.isForwarded, $0.kind) = (true, .silent) })),
    ModelExample(
      title: "a method that suspends is not reached through a proxy for one, neither from a queue nor by who waits",
      example: example(.collectAndWait(.all), { ($0.isForwarded, $0.kind) = (true, .suspending) })),
    ModelExample(
      title: "arguments are not checked against the first target when it is behind a proxy for one",
      example: example(.forward, { ($0.isForwarded, $0.kind) = (true, .unfit) })),
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
