// Rows+Registry.swift: registration and removal among many targets, and their memory.

import Forwardcast

extension Bench {
  /// Registration and removal, compared with a dictionary of weak boxes, and the memory of each.
  func registryRows() {
    registry("add", "remove, same order") { $0 }
    registry(nil, "remove, random order") { $0.shuffledAlike() }
    one()
    for n in registrySizes where wants("registry", "memory", n) { memory(n) }
  }

  /// Fills and empties both registries alternately, with new targets each time.
  private func registry(_ adding: String?, _ removing: String, _ order: ([any Listener]) -> [any Listener]) {
    for n in registrySizes {
      let wantsAdding = adding.map { wants("registry", $0, n) } ?? false
      let wantsRemoving = wants("registry", removing, n)
      guard wantsAdding || wantsRemoving else { continue }
      var (adds, removes) = (Samples(), Samples())
      let start = nanoseconds()
      let budget = isQuick ? 2e8 : 2e9
      for round in 0..<effort.pairs where round < 3 || nanoseconds() - start < budget {
        let proxy = MulticastProxy<any Listener>()
        let boxes = WeakDictionary()
        let mine = fillAndEmpty(n, order, { proxy.add($0) }, { proxy.remove($0) })
        let theirs = fillAndEmpty(n, order, { boxes.add($0) }, { boxes.remove($0) })
        adds.append(mine.add, theirs.add)
        removes.append(mine.remove, theirs.remove)
      }
      if let adding, wantsAdding { note(adding, n, adds) }
      if wantsRemoving { note(removing, n, removes) }
    }
  }

  /// Nanoseconds to add and to remove one of `n` new targets.
  private func fillAndEmpty(
    _ n: Int, _ order: ([any Listener]) -> [any Listener], _ add: (any Listener) -> Void,
    _ remove: (any Listener) -> Void
  ) -> (add: Double, remove: Double) {
    let targets = makeTargets(n)
    let ordered = order(targets)
    let start = nanoseconds()
    for target in targets { add(target) }
    let middle = nanoseconds()
    for target in ordered { remove(target) }
    let end = nanoseconds()
    withExtendedLifetime(targets) {}
    return ((middle - start) / Double(n), (end - middle) / Double(n))
  }

  /// One target that is added and removed among many others.
  private func one() {
    for n in registrySizes where wants("registry", "add or remove one", n) {
      let sides = Sides(n)
      let boxes = WeakDictionary()
      let staying = makeTargets(n)
      for target in staying { boxes.add(target) }
      let guest = makeTargets(1)[0]
      let found = timed(
        effort, unitsPerOperation: 2,
        ours: {
          for _ in 0..<$0 {
            sides.proxy.add(guest)
            sides.proxy.remove(guest)
          }
        },
        reference: {
          for _ in 0..<$0 {
            boxes.add(guest)
            boxes.remove(guest)
          }
        })
      withExtendedLifetime(staying) {}
      add(
        Figure(
          row: "registry", name: "add or remove one", n: n, ours: found.ours, reference: found.reference,
          unit: "ns/target", ratio: found.ratio, spread: found.spread, goal: .atMost(200, "ns")))
      noteGrowth("add or remove one", n)
    }
  }

  private func note(_ name: String, _ n: Int, _ samples: Samples) {
    add(
      Figure(
        row: "registry", name: name, n: n, ours: samples.mine.quantile(0.5), reference: samples.theirs.quantile(0.5),
        unit: "ns/target", ratio: samples.ratios.quantile(0.5),
        spread: (samples.ratios.quantile(0.75) - samples.ratios.quantile(0.25)) / 2, goal: .atMost(200, "ns")))
    noteGrowth(name, n)
  }

  /// Compares the last line with the same line at the smallest size.
  private func noteGrowth(_ name: String, _ n: Int) {
    guard n > registrySizes[0],
      let first = figures.first(where: { $0.row == "registry" && $0.name == name && $0.n == registrySizes[0] }),
      let last = figures.last, let firstReference = first.reference, let lastReference = last.reference
    else { return }
    add(
      Figure(
        row: "registry", name: "\(name), growth", n: n, ours: last.ours / first.ours,
        reference: lastReference / firstReference, unit: "× N = \(first.n)", ratio: nil, goal: .atMost(2, "×")))
  }

  /// Bytes for each target, without the side table that its first weak reference creates.
  private func memory(_ n: Int) {
    var (mine, theirs): ([Double], [Double]) = ([], [])
    for _ in 0..<3 {
      if let bytes = weigh(
        n,
        { targets in
          let proxy = MulticastProxy<any Listener>()
          for target in targets { proxy.add(target) }
          // The message's route counts as memory of the targets.
          sendTick(proxy, 1)
          return proxy
        })
      {
        mine.append(bytes)
      }
      if let bytes = weigh(
        n,
        { targets in
          let boxes = WeakDictionary()
          for target in targets { boxes.add(target) }
          return boxes
        })
      {
        theirs.append(bytes)
      }
    }
    guard !mine.isEmpty else { return }
    add(
      Figure(
        row: "registry", name: "memory", n: n, ours: mine.quantile(0.5), reference: theirs.quantile(0.5),
        unit: "bytes/target", ratio: mine.quantile(0.5) / theirs.quantile(0.5), goal: .atMost(120, "bytes")))
  }

  /// The bytes that the result of `keep` needs per target. The targets already have side tables.
  private func weigh(_ n: Int, _ keep: ([any Listener]) -> AnyObject) -> Double? {
    let targets = makeTargets(n)
    let sideTables = targets.map { WeakBox($0) }
    guard let before = Memory.bytesInUse else { return nil }
    let kept = keep(targets)
    guard let after = Memory.bytesInUse else { return nil }
    withExtendedLifetime((kept, targets, sideTables)) {}
    return Double(after - before) / Double(n)
  }
}

/// Pairs of measurements.
private struct Samples {
  private(set) var mine: [Double] = []
  private(set) var theirs: [Double] = []

  mutating func append(_ mine: Double, _ theirs: Double) {
    self.mine.append(mine)
    self.theirs.append(theirs)
  }

  var ratios: [Double] { zip(mine, theirs).map { $0 / $1 } }
}

extension [any Listener] {
  /// The same targets in a random order, which is the same in every run.
  fileprivate func shuffledAlike() -> Self {
    var generator = SplitMix(state: 42)
    return shuffled(using: &generator)
  }
}

/// Reproducible random numbers.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
