// ScheduleExplorer.swift: chooses the next step, so that each order is run once.

/// Searches the orders of a program, depth first, by running it repeatedly from its start.
///
/// A lane is a sequence of turns, such as those of a task. A step ends where the schedule can
/// choose among the lanes that are ready. Lanes are numbered in the order of their creation, which
/// is the same in all runs that begin with the same choices.
final class ScheduleExplorer {
  private struct Choice {
    let ready: [Int]
    var chosen: Int
    /// The lanes that later runs try at this choice.
    var untried: [Int]
    /// The number of preemptions before this choice.
    let changes: Int
    /// The lane of the previous step, if it can continue.
    let staying: Int?
  }

  private let search: ScheduleSearch
  private let limit: Int
  private var choices: [Choice] = []
  private var depth = 0
  private var random: RandomOrder?
  private var replayed: [Int]?
  /// True if the bound of `.every(changes:)` has excluded a lane that was ready.
  private var omitsOrders = false
  /// True after a failure. The rest of the run may then have any order.
  var isFree = false
  private(set) var summary = ScheduleSummary()

  init(_ search: ScheduleSearch, limit: Int) {
    (self.search, self.limit) = (search, limit)
    switch search.kind {
    case .random(let seed): random = RandomOrder(seed)
    case .replay(let text): replayed = OrderCode.lanes(text) ?? []
    case .every, .changes: break
    }
  }

  var isReplay: Bool { replayed != nil }

  func begin() { (depth, isFree) = (0, false) }

  /// Ends the run and changes the last choice that has an alternative. Returns true if a run
  /// follows.
  func end() -> Bool {
    summary.longest = max(summary.longest, depth)
    summary.orders += 1
    if replayed != nil { return false }
    if random != nil { return summary.orders < limit }
    while choices.last?.untried.isEmpty == true { choices.removeLast() }
    guard let last = choices.indices.last else {
      summary.isComplete = !omitsOrders
      return false
    }
    choices[last].chosen = choices[last].untried.removeFirst()
    if summary.orders >= max(limit / 2, 1), search == .every { (choices, random) = ([], RandomOrder(0)) }
    return summary.orders < limit
  }

  /// Chooses the next step's lane. `staying` is the lane of the previous step, if it can continue.
  /// Returns `nil` if the replayed or repeated order needs a lane that is not ready.
  func choose(_ ready: [Int], staying: Int?) -> Int? {
    defer { depth += 1 }
    let usual = staying ?? ready[0]
    if isFree { return usual }
    if let replayed { return depth < replayed.count ? ready.first { $0 == replayed[depth] } : usual }
    if random != nil { return ready[random?.next(ready.count) ?? 0] }
    if depth < choices.count { return choices[depth].ready == ready ? choices[depth].chosen : nil }
    let last = choices.last
    let changes = (last?.changes ?? 0) + (last?.staying == nil || last?.staying == last?.chosen ? 0 : 1)
    var takesAll = true
    if case .changes(let bound) = search.kind { takesAll = staying == nil || changes < bound }
    if !takesAll, ready.count > 1 { omitsOrders = true }
    choices.append(
      Choice(
        ready: ready, chosen: usual, untried: takesAll ? ready.filter { $0 != usual } : [], changes: changes,
        staying: staying))
    return usual
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
