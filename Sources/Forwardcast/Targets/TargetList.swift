// TargetList.swift: order, identity and reclaiming of registrations; a value without locks.

/// The registrations of one proxy in the order of delivery.
///
/// Adding and removing take constant time: a registration knows its slot, a removed one leaves a hole, and holes are
/// closed up when they outnumber the living. Dead targets are found by a cursor that starts whenever there are twice as
/// many registrations as it found alive, and passes three slots for each one that is added, so that no operation goes
/// through the whole list.
struct TargetList {
  /// The registrations of one priority, in the order in which they were added.
  private struct Group {
    let priority: Int
    var slots: ContiguousArray<Registration?> = []
    var holes = 0
  }

  /// Higher priority first.
  private var groups: [Group] = []
  /// The first registration of each target.
  private var first = IdentityTable()
  /// The other registrations of targets that have several, the newest first.
  private var others: [ObjectIdentifier: [Registration]] = .init()
  /// How many registrations there are.
  private(set) var count = 0

  /// The next slot that is looked at for a dead target, in whatever group.
  private var cursor = (group: 0, slot: 0)
  /// How many registrations the cursor has found alive on its way.
  private var foundAlive = 0
  /// How many registrations there have to be for the cursor to move.
  private var countToReclaim = Self.fewest
  /// With how many registrations looking for dead targets is not worth it.
  private static let fewest = 16

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

  /// Whether some target has more than one registration.
  var hasRepeats: Bool { !others.isEmpty }

  /// Puts a registration behind those of another priority. `false` when it is out, or has that priority.
  mutating func move(_ registration: Registration, to priority: Int, garbage: inout Garbage) -> Bool {
    guard registration.storedPriority != priority, let group = group(holding: registration) else { return false }
    unlink(registration)
    let strong = registration.strong
    garbage.keep(vacate(registration, in: group, &garbage))
    registration.strong = strong
    add(registration, priority: priority, garbage: &garbage)
    generation &+= 1
    return true
  }

  /// Notes that a registration's target is now kept alive, or is not any more, or that its deliveries changed.
  mutating func noteChanged() { generation &+= 1 }

  /// The oldest registration of a target.
  ///
  /// The list keeps it until it is removed: nobody has to retain it under the lock.
  func registration(of target: ObjectIdentifier) -> Unmanaged<Registration>? { first.find(target) }

  /// The registrations of a target, the oldest first and the others from the newest on.
  func registrations(of target: ObjectIdentifier) -> [Registration] {
    guard let first = first.find(target) else { return [] }
    return [first.takeUnretainedValue()] + (others[target] ?? [])
  }

  /// Enters a registration behind those of its priority. The caller keeps what `garbage` collects and releases it after
  /// the lock.
  mutating func add(_ registration: Registration, priority: Int, garbage: inout Garbage) {
    registration.storedPriority = priority
    count += 1
    let group = groups.partitioningIndex { $0.priority <= priority }
    if group == groups.count || groups[group].priority != priority {
      groups.insert(Group(priority: priority), at: group)
      if group <= cursor.group { cursor.group += 1 }
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
    guard let head = first.enter(registration)?.takeUnretainedValue() else { return }
    // Either the same target once more, or a dead one whose address has been taken over.
    let target = registration.key
    if let alive = head.targetUnderLock {
      garbage.keep(alive)
      // A route that was made before knows nothing of repeats.
      generation &+= 1
      others[target, default: []].insert(registration, at: 0)
    } else {
      first.replace(with: registration)
      let more = others.removeValue(forKey: target) ?? []
      if !more.isEmpty { noteRepeatsEnded() }
      for dead in [head] + more where !dead.keepsSlot {
        if let group = group(holding: dead) { garbage.keep(vacate(dead, in: group, &garbage)) }
      }
    }
  }

  /// Takes out a registration. `false` when it was out already.
  mutating func remove(_ registration: Registration, garbage: inout Garbage) -> Bool {
    guard let taken = take(registration, garbage: &garbage) else { return false }
    garbage.keep(taken)
    return true
  }

  /// Takes out a registration and gives the list's own reference to it. `nil` when it was out already.
  mutating func take(_ registration: Registration, garbage: inout Garbage) -> Registration? {
    guard let group = group(holding: registration) else { return nil }
    unlink(registration)
    return vacate(registration, in: group, &garbage)
  }

  /// Puts `new` in the place of `old`, whose priority it has. `false` when `old` is out.
  mutating func replace(_ old: Registration, with new: Registration, garbage: inout Garbage) -> Bool {
    new.storedPriority = old.storedPriority
    guard let group = group(holding: old) else { return false }
    unlink(old)
    garbage.keep(old)
    new.slot = old.slot
    groups[group].slots[new.slot] = new
    generation &+= 1
    link(new, &garbage)
    return true
  }

  private mutating func unlink(_ registration: Registration) {
    if others.isEmpty { return first.remove(registration) }
    let target = registration.key
    if let head = first.find(target), head.toOpaque() != Unmanaged.passUnretained(registration).toOpaque() {
      // It is one of the others, or the target's address has been taken over since.
      guard let place = others[target]?.firstIndex(where: { $0 === registration }) else { return }
      others[target]?.remove(at: place)
    } else if others[target] == nil {
      first.remove(registration)
    } else if let next = others[target]?.removeFirst() {
      first.replace(with: next)
    }
    if others[target]?.isEmpty ?? false {
      others[target] = nil
      noteRepeatsEnded()
    }
  }

  /// Notes that a target has one registration again. With the last such target the routes go that look for repeats.
  private mutating func noteRepeatsEnded() { if !hasRepeats { generation &+= 1 } }

  /// The group in which a registration has its slot; `nil` when it is out.
  private func group(holding registration: Registration) -> Int? {
    let (priority, slot) = (registration.storedPriority, registration.slot)
    let group = groups.count == 1 ? 0 : groups.partitioningIndex { $0.priority <= priority }
    guard group < groups.count, groups[group].priority == priority, slot < groups[group].slots.count,
      groups[group].slots[slot] === registration
    else { return nil }
    return group
  }

  /// Leaves a hole, and closes all holes of the group when they outnumber the living.
  ///
  /// - Returns: what stood in the slot.
  private mutating func vacate(_ registration: Registration, in group: Int, _ garbage: inout Garbage) -> Registration? {
    if let strong = registration.strong {
      garbage.keep(strong)
      registration.strong = nil
      generation &+= 1  // routes keep strong targets alive: they must go
    }
    let taken = groups[group].slots[registration.slot].take()
    count -= 1
    groups[group].holes += 1
    let (holes, slots) = (groups[group].holes, groups[group].slots.count)
    if holes == slots || holes > 16 && holes * 2 > slots { close(group) }
    return taken
  }

  private mutating func close(_ group: Int) {
    generation &+= 1
    if groups[group].holes == groups[group].slots.count {
      if groups.count == 1, groups[0].slots.count <= Self.fewest {
        // Whoever comes next finds the memory there.
        groups[0].slots.removeAll(keepingCapacity: true)
        groups[0].holes = 0
        (cursor, foundAlive) = ((0, 0), 0)
        return
      }
      groups.remove(at: group)
      if group == cursor.group { cursor.slot = 0 }
      if group < cursor.group { cursor.group -= 1 }
      return
    }
    var kept: ContiguousArray<Registration?> = []
    kept.reserveCapacity(groups[group].slots.count - groups[group].holes)
    var seen = 0
    for (index, registration) in groups[group].slots.enumerated() {
      guard let registration else { continue }
      registration.slot = kept.count
      kept.append(registration)
      if index < cursor.slot { seen = kept.count }
    }
    if group == cursor.group { cursor.slot = seen }
    groups[group].slots = kept
    groups[group].holes = 0
  }

  /// Moves the cursor over three slots, of all groups in turn, and takes out what is dead there.
  ///
  /// Once around, it stops until there are twice as many registrations as it has found alive. So targets that come and go
  /// among others cost no look. Whoever joins behind the cursor, as one of a higher priority does, is not found on this way,
  /// alive or dead: when there are many of those, it starts again at once, over at most half as many that are dead.
  private mutating func reclaim(_ garbage: inout Garbage) {
    guard count >= countToReclaim else { return }
    for _ in 0..<3 {
      while cursor.group < groups.count, cursor.slot >= groups[cursor.group].slots.count {
        cursor = (cursor.group + 1, 0)
      }
      guard cursor.group < groups.count else {
        countToReclaim = max(foundAlive * 2, Self.fewest)
        (cursor, foundAlive) = ((0, 0), 0)
        return
      }
      let slot = groups[cursor.group].slots.withUnsafeBytes {
        $0.load(fromByteOffset: cursor.slot * MemoryLayout<Registration?>.stride, as: Unmanaged<Registration>?.self)
      }
      cursor.slot += 1
      // The list keeps it: nobody has to retain it.
      slot?._withUnsafeGuaranteedRef { registration in
        if let alive = registration.targetUnderLock {
          garbage.keep(alive)
          foundAlive += 1
        } else if registration.keepsSlot {
          foundAlive += 1
        } else {
          _ = remove(registration, garbage: &garbage)
        }
      }
    }
  }
}

/// What a change under the lock removed: it is released after the lock, since a release may run foreign code.
struct Garbage: @unchecked Sendable {  // owned by the one call that collects it
  // Most changes remove few objects: those need no array.
  private var first: AnyObject?
  private var second: AnyObject?
  private var third: AnyObject?
  private var fourth: AnyObject?
  private var more: [AnyObject] = []

  /// Keeps an object until the lock is released.
  @inline(__always)
  mutating func keep(_ object: consuming AnyObject?) {
    if first == nil {
      first = object
    } else if second == nil {
      second = object
    } else if third == nil {
      third = object
    } else if fourth == nil {
      fourth = object
    } else if let object {
      more.append(object)
    }
  }

  /// Releases what there is.
  @inline(never)
  consuming func release() {}
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
