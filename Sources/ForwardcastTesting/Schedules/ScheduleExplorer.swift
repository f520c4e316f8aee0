// ScheduleExplorer.swift: chooses who has the next step, so that each order is run once.

/// For each lane how many of its steps came before.
typealias StepClock = [Int: Int]

extension [Int] {
  /// Whether steps that use these objects and those are not to be exchanged.
  fileprivate func conflicts(with others: [Int]) -> Bool { contains(where: others.contains) }
}

/// Searches the orders of a program by running it again and again from its start.
///
/// What goes on in one piece is a step: from one point at which the schedule may choose to the next. Where turns may share
/// anything, every choice leads to another order, and all are taken, depth first. Where they share messages alone, it is a
/// search with partial-order reduction, by source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014): the order
/// of two steps is reversed only when they use the same object, and a choice that leads to an order that was run is not made.
/// What a step uses is known when it has been run.
final class ScheduleExplorer {
  /// What tells a lane or an object from others in all orders: who made it, and how many that one had made before.
  struct Origin: Hashable {
    var parent: Int
    var ordinal: Int
    var name = ""
  }

  private struct Step {
    let lane: Int
    /// The objects that it uses, which others may use too.
    var objects: [Int] = []
    /// The steps that began what ends with this one: what conflicts with those comes after this one.
    var released: [Int] = []
    /// How many steps its lane has had with it.
    var index = 0
    /// What came before it; once it has ended, with itself.
    var clock: StepClock = [:]
    /// The clock at the end of what it began, such as a turn or a critical section.
    var release: StepClock?
  }

  private struct Node {
    let ready: [Int]
    var chosen: Int
    var planned: Set<Int>
    /// The lanes that were tried, and what their steps used.
    var done: [Int: [Int]] = [:]
    /// Lanes whose next step was run from an earlier choice and has met nothing since that conflicts with it.
    let asleep: [Int: [Int]]
    /// How many changes there have been before.
    let changes: Int
    /// The lane that had the step before, where it could go on.
    let staying: Int?
  }

  private let search: ScheduleSearch
  private let limit: Int
  private let sharing: ScheduleSharing
  private var origins: [Origin: Int] = [:]

  private var nodes: [Node] = []
  private var steps: [Step] = []
  /// Those of the run before.
  private var previous: [Step] = []
  private var clocks: [Int: StepClock] = [:]
  /// The step under way.
  private var running: Step?
  private var random: RandomOrder?
  /// The order that is replayed, by the lanes' numbers in this run.
  private var replayed: [Int]?
  /// Whether the run goes on in any order: it is one that has been run, or has failed.
  var isFree = false
  private(set) var isRepeated = false
  private(set) var summary = ScheduleSummary()

  init(_ search: ScheduleSearch, limit: Int, _ sharing: ScheduleSharing) {
    (self.search, self.limit, self.sharing) = (search, limit, sharing)
    switch search.kind {
    case .random(let seed): random = RandomOrder(seed)
    case .replay(let text): replayed = OrderCode.lanes(text) ?? []
    case .every, .changes: break
    }
  }

  /// The number of what came from there, the same in every run.
  func number(_ origin: Origin) -> Int {
    if let number = origins[origin] { return number }
    origins[origin] = origins.count
    return origins.count - 1
  }

  // MARK: Runs

  func begin() {
    (previous, steps) = (steps, [])
    (clocks, running, isFree, isRepeated) = ([:], nil, false, false)
  }

  /// Takes in that the run has ended. `true` when another is to follow.
  func end() -> Bool {
    finishStep()
    summary.longest = max(summary.longest, steps.count)
    if isRepeated { summary.repeated += 1 } else { summary.orders += 1 }
    if replayed != nil { return false }
    if random != nil { return summary.orders < limit }
    if !backtrack() {
      summary.isComplete = true
      return false
    }
    let runs = summary.orders + summary.repeated
    if runs >= max(limit / 2, 1), search == .every {
      // The rest is drawn at random.
      (nodes, random) = ([], RandomOrder(0))
    }
    return runs < limit
  }

  /// Goes back to the last choice that has an alternative, and takes it.
  private func backtrack() -> Bool {
    while var node = nodes.popLast() {
      node.done[node.chosen] = nodes.count < steps.count ? steps[nodes.count].objects : []
      let left = node.planned.filter { node.done[$0] == nil && node.asleep[$0] == nil }
      if let chosen = left.min() {
        node.chosen = chosen
        nodes.append(node)
        return true
      }
    }
    return false
  }

  // MARK: Steps

  /// Chooses among the lanes that are ready, by their numbers in all orders and in this one.
  ///
  /// - Parameter staying: the lane that had the step before, if it can go on.
  /// - Returns: `nil` where the order that is replayed, or is run again, has a turn of a lane that is not ready.
  func choose(_ ready: [(key: Int, number: Int)], staying: Int?) -> Int? {
    finishStep()
    let first = ready[0].key
    if isFree { return staying ?? first }
    let depth = steps.count
    if let order = replayed {
      guard depth < order.count else { return staying ?? first }
      return ready.first { $0.number == order[depth] }?.key
    }
    if random != nil { return ready[random?.next(ready.count) ?? 0].key }
    let keys = ready.map(\.key)
    if depth < nodes.count { return nodes[depth].ready == keys ? nodes[depth].chosen : nil }
    return chooseNew(keys, staying)
  }

  private func chooseNew(_ ready: [Int], _ staying: Int?) -> Int {
    var changes = 0
    var asleep: [Int: [Int]] = [:]
    if let parent = nodes.last, let last = steps.last {
      changes = parent.changes + (parent.staying.map { $0 != parent.chosen } == true ? 1 : 0)
      if isReducing {
        asleep = parent.asleep.merging(parent.done) { _, done in done }
        asleep = asleep.filter { $0.key != last.lane && !last.objects.conflicts(with: $0.value) }
      }
    }
    let awake = ready.filter { asleep[$0] == nil }
    guard let chosen = awake.first(where: { $0 == staying }) ?? awake.first else {
      (isRepeated, isFree) = (true, true)
      return staying ?? ready[0]
    }
    let takesAll =
      switch search.kind {
      case .changes(let bound): staying == nil || changes < bound
      default: sharing == .anything
      }
    nodes.append(
      Node(
        ready: ready, chosen: chosen, planned: takesAll ? Set(ready) : [chosen], asleep: asleep,
        changes: changes, staying: staying))
    return chosen
  }

  /// The step under way, as what it starts says where it comes from.
  var currentStep: Int { steps.count }

  /// Begins a step of a lane.
  /// - Parameter cause: the step that made it ready, where that was another lane's.
  func beginStep(_ lane: Int, after cause: Int?) {
    var step = Step(lane: lane)
    if isReducing {
      step.clock = clocks[lane] ?? step.clock
      if let cause, cause < steps.count { step.clock.merge(steps[cause].clock, uniquingKeysWith: max) }
    }
    running = step
  }

  /// Says what the step under way uses.
  func use(_ object: Int) { if isReducing { running?.objects.append(object) } }

  /// Says that the step under way ends what `step` began: what conflicts with `step` comes after the one under way.
  func release(_ step: Int) { if isReducing { running?.released.append(step) } }

  /// Whether orders that are the same are recognised, so that one of them is run.
  private var isReducing: Bool { sharing == .messages && search == .every && random == nil && !isFree }

  private func finishStep() {
    guard var step = running else { return }
    running = nil
    let place = steps.count
    if isReducing {
      if place + 1 < nodes.count, place < previous.count {
        // Up to the last choice the run is the one before.
        step = previous[place]
        step.release = nil
      } else {
        let before = step.clock
        for place in (0..<place).reversed() {
          let other = steps[place]
          guard other.lane != step.lane, other.objects.conflicts(with: step.objects) else { continue }
          if step.clock[other.lane, default: 0] < other.index { plan(place, step, before) }
          step.clock.merge(other.release ?? other.clock, uniquingKeysWith: max)
        }
        step.index = before[step.lane, default: 0] + 1
        step.clock[step.lane] = step.index
      }
      clocks[step.lane] = step.clock
    }
    steps.append(step)
    for begun in step.released { steps[begun].release = step.clock }
  }

  /// Plans a run in which `step` comes before the one at `place`, with which it races.
  /// - Parameter clock: what came before the step for another reason than the race.
  private func plan(_ place: Int, _ step: Step, _ clock: StepClock) {
    let (node, other) = (nodes[place], steps[place])
    let since = steps[(place + 1)...]
    // What can come first without the other: the first of each lane that nothing else has to precede.
    var initials: [Int] = []
    var free: [Step] = []
    for next in since where next.clock[other.lane, default: 0] < other.index {
      if !free.contains(where: { next.clock[$0.lane, default: 0] >= $0.index }) { initials.append(next.lane) }
      free.append(next)
    }
    if !free.contains(where: { clock[$0.lane, default: 0] >= $0.index || $0.objects.conflicts(with: step.objects) }) {
      initials.append(step.lane)
    }
    if initials.contains(where: node.planned.contains) { return }
    if let first = initials.first(where: node.ready.contains) {
      nodes[place].planned.insert(first)
    } else {
      nodes[place].planned.formUnion(node.ready)
    }
  }
}

/// Random numbers that are the same for the same seed (SplitMix64).
struct RandomOrder {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next(_ count: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return Int(truncatingIfNeeded: (mixed ^ (mixed >> 31)) >> 33) % count
  }
}
