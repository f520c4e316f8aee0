// ScheduleExplorer.swift: chooses the next step, so that each order is run once.

/// A vector clock: by lane, the number of its steps that came before.
typealias StepClock = [Int: Int]

extension [Int] {
  /// Whether the order of steps that use these and those objects matters.
  fileprivate func conflicts(with others: [Int]) -> Bool { contains(where: others.contains) }
}

/// Searches the orders of a program by running it repeatedly from its start.
///
/// A step is what runs between two points at which the schedule may choose. If turns may share anything, every choice leads to a
/// different order, and all are tried, depth first. If they share only messages, it is a search with partial-order reduction by
/// source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014): the order of two steps is reversed only if they use
/// the same object, and choices that lead to an equivalent order are skipped. The objects of a step are known after it has run.
final class ScheduleExplorer {
  /// Identifies a lane or an object in all orders: its creator, and how many that one had created before.
  struct Origin: Hashable {
    var parent: Int
    var ordinal: Int
    var name = ""
  }

  private struct Step {
    let lane: Int
    /// The shared objects that it uses.
    var objects: [Int] = []
    /// The first steps of turns or critical sections that end with this one: conflicting steps come after it.
    var released: [Int] = []
    /// The number of the step in its lane.
    var index = 0
    /// The steps before it and, after its end, the step itself.
    var clock: StepClock = [:]
    /// The clock at the end of the turn or critical section that it began.
    var release: StepClock?
  }

  private struct Node {
    let ready: [Int]
    var chosen: Int
    var planned: Set<Int>
    /// The lanes that were tried, with the objects that their steps used.
    var done: [Int: [Int]] = [:]
    /// Sleep set: lanes whose next step was tried from an earlier choice, with no conflicting step since.
    let asleep: [Int: [Int]]
    /// The number of preemptions before.
    let changes: Int
    /// The lane of the previous step, if it can continue.
    let staying: Int?
  }

  private let search: ScheduleSearch
  private let limit: Int
  private let sharing: ScheduleSharing
  private var origins: [Origin: Int] = [:]

  private var nodes: [Node] = []
  private var steps: [Step] = []
  /// The steps of the previous run.
  private var previous: [Step] = []
  private var clocks: [Int: StepClock] = [:]
  private var running: Step?
  private var random: RandomOrder?
  /// The order to replay, by the lanes' numbers in this run.
  private var replayed: [Int]?
  /// Whether the rest of the run takes any order, since it is a repetition or has failed.
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

  /// The number of an origin, the same in every run.
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

  /// Notes the end of the run. `true` when another is to follow.
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
      (nodes, random) = ([], RandomOrder(0))
    }
    return runs < limit
  }

  /// Returns to the last choice with an alternative, and takes it.
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
  /// - Parameter staying: the lane of the previous step, if it can continue.
  /// - Returns: `nil` if the order that is replayed or repeated needs a lane that is not ready.
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

  /// The number of the current step, which is the cause of what it starts.
  var currentStep: Int { steps.count }

  /// - Parameter cause: the step of another lane that made it ready, if any.
  func beginStep(_ lane: Int, after cause: Int?) {
    var step = Step(lane: lane)
    if isReducing {
      step.clock = clocks[lane] ?? step.clock
      if let cause, cause < steps.count { step.clock.merge(steps[cause].clock, uniquingKeysWith: max) }
    }
    running = step
  }

  func use(_ object: Int) { if isReducing { running?.objects.append(object) } }

  /// Notes that the current step ends what `step` began: steps that conflict with `step` come after the current one.
  func release(_ step: Int) { if isReducing { running?.released.append(step) } }

  /// Whether equivalent orders are recognized.
  private var isReducing: Bool { sharing == .messages && search == .every && random == nil && !isFree }

  private func finishStep() {
    guard var step = running else { return }
    running = nil
    let place = steps.count
    if isReducing {
      if place + 1 < nodes.count, place < previous.count {
        // Up to the last choice the run equals the previous one.
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
  /// - Parameter clock: the steps before `step` for reasons other than the race.
  private func plan(_ place: Int, _ step: Step, _ clock: StepClock) {
    let (node, other) = (nodes[place], steps[place])
    let since = steps[(place + 1)...]
    // The initials: the first steps of lanes that nothing but the other step has to precede.
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

/// Reproducible random numbers (SplitMix64).
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
