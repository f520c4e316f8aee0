// TargetList.swift: order, identity and reclaiming of registrations; a value without locks.
// Layer: Proxy. See DESIGN.md, "The target list".

/// The registrations of one proxy in the order of delivery.
///
/// Adding and removing take constant time: a registration knows its slot, a removed one leaves a hole, and holes are
/// closed up when they outnumber the living. Dead targets are found by a hand that looks at two slots for each one that
/// is added, so that no operation walks the whole list.
struct TargetList {
  /// The registrations of one priority, in the order in which they were added.
  private struct Lane {
    let priority: Int
    var slots: ContiguousArray<Registration?> = []
    var holes = 0
  }

  /// Higher priority first.
  private var lanes: [Lane] = []
  /// The first registration of each target; the others follow by `sibling`.
  private var first: [ObjectIdentifier: Registration] = [:]

  /// The next slot that is looked at for a dead target, in whatever lane.
  private var hand = (lane: 0, slot: 0)

  /// Grows whenever routes made before can no longer be extended at their end.
  private(set) var generation: UInt = 0 {
    didSet { version &+= 1 }
  }

  /// Grows whenever a registration joins or ``generation`` grows: what a route compares to see whether it is current.
  private(set) var version: UInt = 0

  /// How many slots the last lane has: registrations from there on have joined since.
  var end: Int { lanes.last?.slots.count ?? 0 }

  /// Every registration that was not removed, in the order of delivery. Some targets may be dead, some muted.
  var all: [Registration] { lanes.flatMap { $0.slots.compactMap { $0 } } }

  /// How many slots there are, holes included.
  var slotCount: Int { lanes.reduce(0) { $0 + $1.slots.count } }

  /// The registrations that joined at the end since ``end`` was `mark`.
  func joined(since mark: Int) -> [Registration] { lanes.last?.slots[mark...].compactMap { $0 } ?? [] }

  /// The oldest registration of a target.
  func registration(of target: ObjectIdentifier) -> Registration? { first[target] }

  /// The registrations of a target, the oldest first and the others from the newest on.
  func registrations(of target: ObjectIdentifier) -> [Registration] {
    var found: [Registration] = []
    var next = first[target]
    while let here = next {
      found.append(here)
      next = here.sibling
    }
    return found
  }

  /// Enters a registration behind those of its priority. The caller keeps what `garbage` collects and lets it go after
  /// the lock.
  mutating func add(_ registration: Registration, garbage: inout Garbage) {
    let lane = lanes.partitioningIndex { $0.priority <= registration.priority }
    if lane == lanes.count || lanes[lane].priority != registration.priority {
      lanes.insert(Lane(priority: registration.priority), at: lane)
      if lane <= hand.lane { hand.lane += 1 }
      generation &+= 1
    } else if lane != lanes.count - 1 {
      generation &+= 1
    }
    version &+= 1
    registration.slot = lanes[lane].slots.count
    lanes[lane].slots.append(registration)
    link(registration, &garbage)
    reclaim(&garbage)
  }

  private mutating func link(_ registration: Registration, _ garbage: inout Garbage) {
    let target = registration.key
    guard let head = first.updateValue(registration, forKey: target) else { return }
    // Either the same target once more, or a dead one whose address has been taken over.
    if let alive = head.targetUnderLock {
      garbage.keep(alive)
      registration.sibling = head.sibling
      head.sibling = registration
      first[target] = head
    } else {
      var next: Registration? = head
      while let here = next {
        next = here.sibling
        here.sibling = nil
        if !here.keepsPlace { vacate(here, &garbage) }
      }
    }
  }

  /// Takes out a registration. `false` when it was out already.
  mutating func remove(_ registration: Registration, garbage: inout Garbage) -> Bool {
    guard holds(registration) else { return false }
    unlink(registration)
    vacate(registration, &garbage)
    return true
  }

  /// Puts `new` in the place of `old`, whose priority it has. `false` when `old` is out.
  mutating func replace(_ old: Registration, with new: Registration, garbage: inout Garbage) -> Bool {
    guard holds(old), let lane = laneIndex(of: old) else { return false }
    unlink(old)
    garbage.keep(old)
    new.slot = old.slot
    lanes[lane].slots[new.slot] = new
    generation &+= 1
    link(new, &garbage)
    return true
  }

  private mutating func unlink(_ registration: Registration) {
    if let place = first.index(forKey: registration.key) {
      let head = first.values[place]
      if head === registration {
        if let next = registration.sibling { first.values[place] = next } else { first.remove(at: place) }
      } else {
        var before = head
        while let next = before.sibling, next !== registration { before = next }
        if before.sibling === registration { before.sibling = registration.sibling }
      }
    }
    registration.sibling = nil
  }

  private func holds(_ registration: Registration) -> Bool {
    guard let lane = laneIndex(of: registration) else { return false }
    let slot = registration.slot
    return slot < lanes[lane].slots.count && lanes[lane].slots[slot] === registration
  }

  private func laneIndex(of registration: Registration) -> Int? {
    let lane = lanes.partitioningIndex { $0.priority <= registration.priority }
    return lane < lanes.count && lanes[lane].priority == registration.priority ? lane : nil
  }

  /// Leaves a hole, and closes all holes of the lane when they outnumber the living.
  private mutating func vacate(_ registration: Registration, _ garbage: inout Garbage) {
    guard let lane = laneIndex(of: registration) else { return }
    garbage.keep(registration)
    if let strong = registration.strong {
      garbage.keep(strong)
      registration.strong = nil
      generation &+= 1  // routes keep strong targets alive: they must go
    }
    lanes[lane].slots[registration.slot] = nil
    lanes[lane].holes += 1
    let (holes, slots) = (lanes[lane].holes, lanes[lane].slots.count)
    if holes == slots || holes > 16 && holes * 2 > slots { close(lane) }
  }

  private mutating func close(_ lane: Int) {
    generation &+= 1
    if lanes[lane].holes == lanes[lane].slots.count {
      lanes.remove(at: lane)
      if lane == hand.lane { hand.slot = 0 }
      if lane < hand.lane { hand.lane -= 1 }
      return
    }
    var kept: ContiguousArray<Registration?> = []
    kept.reserveCapacity(lanes[lane].slots.count - lanes[lane].holes)
    for case let registration? in lanes[lane].slots {
      registration.slot = kept.count
      kept.append(registration)
    }
    lanes[lane].slots = kept
    lanes[lane].holes = 0
    if lane == hand.lane { hand.slot = 0 }
  }

  /// Looks at two slots, of all lanes in turn, and takes out what is dead there.
  private mutating func reclaim(_ garbage: inout Garbage) {
    for _ in 0..<2 {
      if hand.lane < lanes.count, hand.slot >= lanes[hand.lane].slots.count { hand = (hand.lane + 1, 0) }
      if hand.lane >= lanes.count { hand = (0, 0) }
      guard hand.lane < lanes.count, hand.slot < lanes[hand.lane].slots.count else { return }
      let registration = lanes[hand.lane].slots[hand.slot]
      hand.slot += 1
      guard let registration else { continue }
      if let alive = registration.targetUnderLock {
        garbage.keep(alive)
      } else if !registration.keepsPlace {
        _ = remove(registration, garbage: &garbage)
      }
    }
  }
}

/// What a change under the lock let go of: it is released after the lock, since a release may run foreign code.
struct Garbage: @unchecked Sendable {  // owned by the one call that collects it
  // Most changes let go of few objects: those need no array.
  private var first: AnyObject?
  private var second: AnyObject?
  private var third: AnyObject?
  private var more: [AnyObject] = []

  /// Keeps an object until the lock is released.
  mutating func keep(_ object: AnyObject) {
    if first == nil {
      first = object
    } else if second == nil {
      second = object
    } else if third == nil {
      third = object
    } else {
      more.append(object)
    }
  }
}

extension Array {
  /// The first index whose element satisfies `belongs`, in an array where those come last.
  fileprivate func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
