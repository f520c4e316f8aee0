// TargetList.swift: order, identity and reclaiming of registrations; a value without locks.
// Layer: Proxy. See DESIGN.md, "The target list".

/// The registrations of one proxy in the order of delivery.
///
/// Adding and removing take constant time: a registration knows its slot, a removed one leaves a hole, and holes are
/// closed up when they outnumber the living. Dead targets are found by a hand that looks at two slots for each one that
/// is added, so that no operation walks the whole list.
struct TargetList {
  /// The registrations of one priority, in the order in which they were added.
  private struct Group {
    let priority: Int
    var slots: ContiguousArray<Registration?> = []
    var holes = 0
  }

  /// Higher priority first.
  private var groups: [Group] = []
  /// The first registration of each target; the others follow by `sibling`.
  private var first: [ObjectIdentifier: Registration] = [:]

  /// The next slot that is looked at for a dead target, in whatever group.
  private var hand = (group: 0, slot: 0)

  /// Grows whenever routes made before can no longer be extended at their end.
  private(set) var generation: UInt = 0 {
    didSet { version &+= 1 }
  }

  /// Grows whenever a registration joins or ``generation`` grows: what a route compares to see whether it is current.
  private(set) var version: UInt = 0

  /// How many slots the last priority has: registrations from there on have joined since.
  var end: Int { groups.last?.slots.count ?? 0 }

  /// Every registration that was not removed, in the order of delivery. Some targets may be dead, some muted.
  var all: [Registration] { groups.flatMap { $0.slots.compactMap { $0 } } }

  /// How many slots there are, holes included.
  var slotCount: Int { groups.reduce(0) { $0 + $1.slots.count } }

  /// The registrations that joined at the end since ``end`` was `end`.
  func joined(since end: Int) -> [Registration] { groups.last?.slots[end...].compactMap { $0 } ?? [] }

  /// Whether some target has, or has had, more than one registration.
  private(set) var hasRepeats = false

  /// Priorities that a registration has no room for.
  private var longPriorities: [ObjectIdentifier: Int] = [:]

  /// A registration's priority.
  func priority(of registration: Registration) -> Int {
    registration.storedPriority ?? longPriorities[ObjectIdentifier(registration)] ?? 0
  }

  private mutating func setPriority(of registration: Registration, _ priority: Int) {
    if registration.storedPriority == nil { longPriorities[ObjectIdentifier(registration)] = nil }
    registration.storedPriority = priority
    if registration.storedPriority == nil { longPriorities[ObjectIdentifier(registration)] = priority }
  }

  /// Puts a registration behind those of another priority. `false` when it is out, or has that priority.
  mutating func move(_ registration: Registration, to priority: Int, garbage: inout Garbage) -> Bool {
    guard holds(registration), self.priority(of: registration) != priority else { return false }
    unlink(registration)
    let strong = registration.strong
    vacate(registration, &garbage)
    registration.strong = strong
    add(registration, priority: priority, garbage: &garbage)
    generation &+= 1
    return true
  }

  /// Notes that a registration's target is now kept alive, or is not any more, or that its deliveries changed.
  mutating func noteChanged() { generation &+= 1 }

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

  /// Enters a registration behind those of its priority. The caller keeps what `garbage` collects and releases it after
  /// the lock.
  mutating func add(_ registration: Registration, priority: Int, garbage: inout Garbage) {
    setPriority(of: registration, priority)
    let group = groups.partitioningIndex { $0.priority <= priority }
    if group == groups.count || groups[group].priority != priority {
      groups.insert(Group(priority: priority), at: group)
      if group <= hand.group { hand.group += 1 }
      generation &+= 1
    } else if group != groups.count - 1 {
      generation &+= 1
    }
    version &+= 1
    registration.slot = groups[group].slots.count
    groups[group].slots.append(registration)
    link(registration, &garbage)
    reclaim(&garbage)
  }

  private mutating func link(_ registration: Registration, _ garbage: inout Garbage) {
    let target = registration.key
    guard let head = first.updateValue(registration, forKey: target) else { return }
    // Either the same target once more, or a dead one whose address has been taken over.
    if let alive = head.targetUnderLock {
      garbage.keep(alive)
      // A route that was made before knows nothing of repeats.
      generation &+= 1
      hasRepeats = true
      registration.sibling = head.sibling
      head.sibling = registration
      first[target] = head
    } else {
      var next: Registration? = head
      while let here = next {
        next = here.sibling
        here.sibling = nil
        if !here.keepsSlot { vacate(here, &garbage) }
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
    setPriority(of: new, priority(of: old))
    guard holds(old), let group = groupIndex(of: old) else { return false }
    unlink(old)
    garbage.keep(old)
    new.slot = old.slot
    groups[group].slots[new.slot] = new
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
    guard let group = groupIndex(of: registration) else { return false }
    let slot = registration.slot
    return slot < groups[group].slots.count && groups[group].slots[slot] === registration
  }

  private func groupIndex(of registration: Registration) -> Int? {
    let priority = priority(of: registration)
    let group = groups.partitioningIndex { $0.priority <= priority }
    return group < groups.count && groups[group].priority == priority ? group : nil
  }

  /// Leaves a hole, and closes all holes of the group when they outnumber the living.
  private mutating func vacate(_ registration: Registration, _ garbage: inout Garbage) {
    guard let group = groupIndex(of: registration) else { return }
    garbage.keep(registration)
    if let strong = registration.strong {
      garbage.keep(strong)
      registration.strong = nil
      generation &+= 1  // routes keep strong targets alive: they must go
    }
    groups[group].slots[registration.slot] = nil
    if registration.storedPriority == nil { longPriorities[ObjectIdentifier(registration)] = nil }
    groups[group].holes += 1
    let (holes, slots) = (groups[group].holes, groups[group].slots.count)
    if holes == slots || holes > 16 && holes * 2 > slots { close(group) }
  }

  private mutating func close(_ group: Int) {
    generation &+= 1
    if groups[group].holes == groups[group].slots.count {
      groups.remove(at: group)
      if group == hand.group { hand.slot = 0 }
      if group < hand.group { hand.group -= 1 }
      return
    }
    var kept: ContiguousArray<Registration?> = []
    kept.reserveCapacity(groups[group].slots.count - groups[group].holes)
    for case let registration? in groups[group].slots {
      registration.slot = kept.count
      kept.append(registration)
    }
    groups[group].slots = kept
    groups[group].holes = 0
    if group == hand.group { hand.slot = 0 }
  }

  /// Looks at two slots, of all groups in turn, and takes out what is dead there.
  private mutating func reclaim(_ garbage: inout Garbage) {
    for _ in 0..<2 {
      if hand.group < groups.count, hand.slot >= groups[hand.group].slots.count { hand = (hand.group + 1, 0) }
      if hand.group >= groups.count { hand = (0, 0) }
      guard hand.group < groups.count, hand.slot < groups[hand.group].slots.count else { return }
      let registration = groups[hand.group].slots[hand.slot]
      hand.slot += 1
      guard let registration else { continue }
      if let alive = registration.targetUnderLock {
        garbage.keep(alive)
      } else if !registration.keepsSlot {
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
