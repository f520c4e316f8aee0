// ModelComparison.swift: a case predicted and sent, the differences, and the smallest case that still differs.

import TestSupport
import Testing

/// One case: a world and a way to send to it.
struct ModelCase: Hashable, Sendable {
  var world: ModelWorld
  var door: ModelDoor
}

/// A case in which the library does something else than the model.
struct ModelFailure: Sendable, CustomStringConvertible {
  let instance: ModelCase
  let differences: [ModelDifference]

  /// The world, and for each difference what was predicted and what happened.
  var description: String {
    let lines = differences.map {
      "  \($0.field.rawValue):\n    predicted  \($0.predicted)\n    actual     \($0.actual)"
    }
    return "\(instance.door), \(instance.world)\n" + lines.joined(separator: "\n")
  }
}

extension ModelCase: CustomTestStringConvertible {
  var testDescription: String { "\(door), \(world)" }
}

/// Compares cases, and counts them.
struct ModelComparison {
  private let sender = ModelSender()
  private(set) var count = 0

  /// Compares one case. `nil` where the library does as predicted, or where nothing certain is predicted.
  mutating func compare(_ instance: ModelCase) throws -> ModelFailure? {
    guard let predicted = instance.world.predict(instance.door) else { return nil }
    count += 1
    let actual = try sender.send(instance.world, instance.door)
    let differences = predicted.differences(from: actual, telling: instance.door.telling)
    return differences.isEmpty ? nil : ModelFailure(instance: instance, differences: differences)
  }

  /// Makes the case of a failure smaller as long as it still fails and `isOfInterest`.
  mutating func shrink(_ failure: ModelFailure) throws
    -> ModelFailure
  {
    var smallest = failure
    var goesOn = true
    while goesOn {
      goesOn = false
      for world in smallest.instance.world.smaller {
        let instance = ModelCase(world: world, door: smallest.instance.door)
        guard let found = try compare(instance) else { continue }
        (smallest, goesOn) = (found, true)
        break
      }
    }
    return smallest
  }
}

extension ModelWorld {
  /// Worlds with one thing less.
  var smaller: [ModelWorld] {
    var worlds = root.smaller.map { root in
      var world = self
      world.root = root
      return world
    }
    if isWarm {
      worlds.append(self)
      worlds[worlds.count - 1].isWarm = false
    }
    if sender != .outside {
      worlds.append(self)
      worlds[worlds.count - 1].sender = .outside
    }
    return worlds
  }
}

extension ModelProxy {
  fileprivate var smaller: [ModelProxy] {
    var proxies: [ModelProxy] = []
    func change(_ body: (inout ModelProxy) -> Void) {
      var proxy = self
      body(&proxy)
      if proxy != self { proxies.append(proxy) }
    }
    for index in targets.indices { change { $0.targets.remove(at: index) } }
    for index in targets.indices {
      for smaller in targets[index].smaller { change { $0.targets[index] = smaller } }
    }
    change { $0.stopsAtFirst = false }
    change { $0.silence = .ignored }
    change { $0.hasHandler = true }
    return proxies
  }
}

extension ModelTarget {
  fileprivate var smaller: [ModelTarget] {
    var targets: [ModelTarget] = []
    func change(_ body: (inout ModelTarget) -> Void) {
      var target = self
      body(&target)
      if target != self { targets.append(target) }
    }
    for proxy in proxy?.smaller ?? [] { change { $0.kind = .proxy(proxy) } }
    change { $0.act = nil }
    change { $0.condition = .active }
    change { $0.scope = .everything }
    change { $0.priority = 0 }
    change { $0.isStrong = false }
    change { $0.isForwarded = false }
    change { $0.keepsPending = false }
    change { $0.place = .direct }
    if place.isAutomatic { change { $0.place = place == .automatic1 ? .queue1 : .queue2 } }
    if proxy == nil { change { $0.kind = .typed } }
    return targets
  }
}

/// Compares cases on a thread that may block, and records the first new failures, each made as small as possible.
///
/// - Parameters:
///   - name: what leads to the same cases again, such as a seed.
///   - step: where bounds are not full, only the first case and each so manieth after it is compared. A prime, so that what
///     is combined with one another is met in all combinations of its parts.
/// - Returns: how many cases were compared.
func compareWithModel(
  _ name: String, each step: Int = 1, at location: SourceLocation = #_sourceLocation,
  _ cases: @escaping @Sendable ((ModelCase) -> Void) -> Void
) async -> Int {
  let found = Locked<(count: Int, texts: [String])>((0, []))
  await onThread {
    var comparison = ModelComparison()
    var recorded: Set<ModelCase> = []
    var texts: [String] = []
    var offered = 0
    cases { instance in
      defer { offered += 1 }
      guard texts.count < 3, Bounds.areFull || offered.isMultiple(of: step) else { return }
      do {
        guard let failure = try comparison.compare(instance) else { return }
        let smallest = try comparison.shrink(failure)
        if recorded.insert(smallest.instance).inserted { texts.append("\(name): \(smallest)") }
      } catch {
        texts.append("\(name): \(error) for \(instance.door), \(instance.world)")
      }
    }
    found.withLock { [comparison, texts] in $0 = (comparison.count, texts) }
  }
  let (count, texts) = found.withLock { $0 }
  for text in texts { Issue.record(Comment(rawValue: text), sourceLocation: location) }
  return count
}

/// Compares one case on a thread that may block.
func compareOne(_ instance: ModelCase) async throws -> ModelFailure? {
  let found = Locked<Result<ModelFailure?, any Error>>(.success(nil))
  await onThread {
    let result = Result {
      var comparison = ModelComparison()
      return try comparison.compare(instance)
    }
    found.withLock { $0 = result }
  }
  return try found.withLock { $0 }.get()
}
