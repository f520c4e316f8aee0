// ScheduleExplorer.swift: chooses who has the next turn, so that each order is run once.
// Layer: Testing, Schedules. See the article "How schedules work".

import Forwardcast

/// For each lane how many of its steps came before.
struct StepClock {
  private var counts: [Int] = []

  func at(_ lane: Int) -> Int { lane < counts.count ? counts[lane] : 0 }

  mutating func set(_ lane: Int, _ count: Int) {
    while counts.count <= lane { counts.append(0) }
    counts[lane] = count
  }

  mutating func join(_ other: StepClock) {
    for lane in other.counts.indices where other.counts[lane] > at(lane) { set(lane, other.counts[lane]) }
  }
}

/// Searches the orders of a program by running it again and again from its start.
///
/// What goes on in one piece is a step: from one point at which the schedule may choose to the next. Where turns may share
/// anything, every choice leads to another order, and all are taken, depth first. Where they share messages alone, it is a
/// search with partial-order reduction, by source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014): the order
/// of two steps is reversed only when they touch the same object, and a choice that leads to an order that was run is not made.
/// What a step touches is known when it has been run.
final class ScheduleExplorer {
  /// What tells a lane or an object from others in all orders: who made it, and how many that one had made before.
  struct Origin: Hashable {
    var parent: Int
    var ordinal: Int
    var name = ""
  }

  private struct Step {
    let lane: Int
    let touched: Set<Int>
    /// How many steps its lane has had with it.
    let index: Int
    var clock: StepClock
    /// What came before the end of the turn that it began.
    var release: StepClock?
  }

  private struct Node {
    let ready: Set<Int>
    var chosen: Int
    var planned: Set<Int>
    var done: Set<Int> = []
    /// What the steps of lanes that were tried touch.
    var touched: [Int: Set<Int>] = [:]
    /// Lanes whose next step was run from an earlier choice and has met nothing since that touches the same.
    let asleep: [Int: Set<Int>]
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
  private var running: (lane: Int, clock: StepClock, touched: Set<Int>)?
  private var random: RandomOrder?
  /// The order that is replayed, by the lanes' numbers in this run.
  private var replayed: [Int]?
  /// Whether the run goes on in any order: it is one that has been run, or has failed.
  private(set) var isFree = false
  private(set) var isRepeated = false
  private(set) var orders = 0
  private(set) var isComplete = false
  private(set) var longest = 0
  private(set) var repeated = 0

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
    longest = max(longest, steps.count)
    if isRepeated { repeated += 1 } else { orders += 1 }
    if replayed != nil { return false }
    if random != nil { return orders < limit }
    let isOver = !backtrack()
    if isOver {
      isComplete = true
      return false
    }
    if orders + repeated >= max(limit / 2, 1), search == .every {
      // The rest is drawn at random.
      (nodes, random) = ([], RandomOrder(0))
    }
    return orders + repeated < limit
  }

  /// Goes back to the last choice that has an alternative, and takes it.
  private func backtrack() -> Bool {
    while var node = nodes.popLast() {
      node.done.insert(node.chosen)
      let left = node.planned.subtracting(node.done).subtracting(node.asleep.keys)
      if let chosen = left.min() {
        node.chosen = chosen
        nodes.append(node)
        return true
      }
    }
    return false
  }

  /// Lets the run go on in any order: it has failed, and is to end.
  func free() { isFree = true }

  // MARK: Steps

  /// Chooses among the lanes that are ready, by their numbers in all orders and in this one.
  ///
  /// - Parameter staying: the lane that had the step before, if it can go on.
  /// - Returns: `nil` where the order that is replayed, or is run again, has a turn of a lane that is not ready.
  func choose(_ ready: [(key: Int, number: Int)], staying: Int?) -> Int? {
    finishStep()
    let first = ready[0].key
    if isFree { return staying ?? first }
    if let order = replayed {
      guard steps.count < order.count else { return staying ?? first }
      return ready.first { $0.number == order[steps.count] }?.key
    }
    if random != nil { return ready[random?.next(ready.count) ?? 0].key }
    let depth = steps.count
    if depth < nodes.count {
      let chosen = nodes[depth].chosen
      return nodes[depth].ready == Set(ready.map(\.key)) ? chosen : nil
    }
    return chooseNew(ready.map(\.key), staying)
  }

  private func chooseNew(_ ready: [Int], _ staying: Int?) -> Int? {
    var changes = 0
    var asleep: [Int: Set<Int>] = [:]
    if let parent = nodes.last, let last = steps.last {
      changes = parent.changes + (parent.staying.map { $0 != parent.chosen } == true ? 1 : 0)
      if case .every = search.kind, sharing == .messages {
        asleep = parent.asleep
        for lane in parent.done { asleep[lane] = parent.touched[lane] }
        asleep = asleep.filter { $0.key != last.lane && last.touched.isDisjoint(with: $0.value) }
      }
    }
    let awake = ready.filter { asleep[$0] == nil }
    guard let chosen = awake.first(where: { $0 == staying }) ?? awake.first else {
      (isRepeated, isFree) = (true, true)
      return staying ?? ready[0]
    }
    var planned: Set<Int> = [chosen]
    switch search.kind {
    case .changes(let bound): if staying == nil || changes < bound { planned.formUnion(ready) }
    default: if sharing == .anything { planned.formUnion(ready) }
    }
    nodes.append(
      Node(
        ready: Set(ready), chosen: chosen, planned: planned, asleep: asleep, changes: changes, staying: staying))
    return chosen
  }

  /// The step under way, as what it starts says where it comes from.
  var currentStep: Int { steps.count }

  /// Begins a step of a lane.
  /// - Parameter cause: the step that made it ready, where that was another lane's.
  func beginStep(_ lane: Int, after cause: Int?) {
    var clock = StepClock()
    if isReducing {
      clock = clocks[lane] ?? clock
      if let cause, cause < steps.count { clock.join(steps[cause].clock) }
    }
    running = (lane, clock, [])
  }

  /// Says that the step under way touches an object.
  func touch(_ object: Int) { if isReducing { running?.touched.insert(object) } }

  /// Says that the turn ends which began with a step: what is to have its place comes after all of it.
  func release(_ step: Int) {
    finishStep()
    guard isReducing, step < steps.count, let clock = clocks[steps[step].lane] else { return }
    steps[step].release = clock
  }

  /// Whether orders that are the same are found out.
  private var isReducing: Bool { sharing == .messages && search == .every && random == nil && !isFree }

  private func finishStep() {
    guard let (lane, before, touched) = running else { return }
    running = nil
    guard isReducing else { return steps.append(Step(lane: lane, touched: [], index: 0, clock: before)) }
    let place = steps.count
    if place + 1 < nodes.count, place < previous.count {
      // Up to the last choice the run is the one before.
      var step = previous[place]
      step.release = nil
      clocks[lane] = step.clock
      return steps.append(step)
    }
    var clock = before
    if place < nodes.count { nodes[place].touched[lane] = touched }
    for place in steps.indices.reversed() where !touched.isEmpty {
      let step = steps[place]
      guard step.lane != lane, !step.touched.isDisjoint(with: touched) else { continue }
      if clock.at(step.lane) < step.index { plan(place, lane, touched, before) }
      clock.join(step.release ?? step.clock)
    }
    let index = before.at(lane) + 1
    clock.set(lane, index)
    clocks[lane] = clock
    steps.append(Step(lane: lane, touched: touched, index: index, clock: clock))
  }

  /// Sees to it that some run has the step before the one that it races with.
  private func plan(_ place: Int, _ lane: Int, _ touched: Set<Int>, _ clock: StepClock) {
    let step = steps[place]
    // What can come first without that step: the first of each lane that nothing else has to precede.
    var initials: [Int] = []
    var others: [Step] = []
    for other in steps[(place + 1)...] where other.clock.at(step.lane) < step.index {
      if !others.contains(where: { other.clock.at($0.lane) >= $0.index }) { initials.append(other.lane) }
      others.append(other)
    }
    if !others.contains(where: { clock.at($0.lane) >= $0.index || !$0.touched.isDisjoint(with: touched) }) {
      initials.append(lane)
    }
    let node = nodes[place]
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
