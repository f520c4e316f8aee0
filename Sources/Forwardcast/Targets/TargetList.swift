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
  /// The first registration of each target, where there are more than a few: else it is looked for.
  private var first = IdentityTable()
  /// The registrations of each target that has several, in a ring: behind the first the others, the newest first.
  private var rings: [Registration: (before: Registration, after: Registration)] = .init()
  /// The others by their ways, the newest of each.
  private var others: [RegistrationWay: Registration] = .init()
  /// Grows whenever a registration joins or routes end: what a route compares to see whether it is current.
  private(set) var version: UInt = 0
  /// How many registrations there are.
  private var number: UInt32 = 0
  var count: Int { Int(number) }

  /// The next slot that is looked at for a dead target, in whatever group.
  private var cursor: (group: UInt32, slot: UInt32) = (0, 0)
  /// How many registrations the cursor has found alive on its way.
  private var foundAlive: UInt32 = 0
  /// How many registrations there have to be for the cursor to move.
  private var countToReclaim = Self.fewest
  /// With how many registrations looking for dead targets is not worth it.
  private static let fewest: UInt32 = 16

  /// How many registrations are looked through for that of a target, instead of keeping a table.
  private static let fewToLookAt: UInt32 = 8

  /// Whether routes made before can no longer be extended at their end; for the change that is under way.
  var endsRoutes = false

  /// How many slots the last priority has: registrations from there on have joined since.
  var end: Int { groups.last?.slots.count ?? 0 }

  /// Every registration that was not removed, in the order of delivery. Some targets may be dead, some muted.
  var all: [Registration] {
    var all: [Registration] = []
    all.reserveCapacity(count)
    for group in groups { for registration in group.slots { if let registration { all.append(registration) } } }
    return all
  }

  /// How many slots there are, holes included.
  var slotCount: Int { groups.reduce(0) { $0 + $1.slots.count } }

  /// The registrations that joined at the end since ``end`` was `end`.
  func joined(since end: Int) -> [Registration] { groups.last?.slots[end...].compactMap { $0 } ?? [] }

  /// Whether some target has more than one registration.
  var hasRepeats: Bool { !rings.isEmpty }

  /// Puts a registration behind those of another priority. `false` when it is out, or has that priority.
  mutating func move(_ registration: Registration, to priority: Int, garbage: inout Garbage) -> Bool {
    guard registration.storedPriority != priority, let group = group(holding: registration) else { return false }
    unlink(registration)
    let strong = registration.strong
    garbage.keep(vacate(registration, in: group, &garbage))
    registration.strong = strong
    add(registration, priority: priority, garbage: &garbage)
    noteChanged()
    return true
  }

  /// Notes that routes made before can no longer be extended: a registration's target is now kept alive, or is not any more, or
  /// its deliveries changed.
  mutating func noteChanged() {
    endsRoutes = true
    version &+= 1
  }

  /// The oldest registration of a target.
  ///
  /// The list keeps it until it is removed: nobody has to retain it under the lock.
  func registration(of target: ObjectIdentifier) -> Unmanaged<Registration>? {
    if first.isInUse { return first.find(target) }
    for group in groups.indices {
      for index in groups[group].slots.indices.reversed() {
        guard let found = slot(index, in: group) else { continue }
        if found._withUnsafeGuaranteedRef({ $0.key == target && $0.isFirst }) { return found }
      }
    }
    return nil
  }

  /// What stands in a slot. The list keeps it: nobody has to retain it.
  @inline(__always)
  private func slot(_ index: Int, in group: Int) -> Unmanaged<Registration>? {
    groups[group].slots.withUnsafeBytes {
      $0.load(fromByteOffset: index * MemoryLayout<Registration?>.stride, as: Unmanaged<Registration>?.self)
    }
  }

  /// The registrations of a target, the oldest first and the others from the newest on.
  func registrations(of target: ObjectIdentifier) -> [Registration] {
    guard let first = registration(of: target)?.takeUnretainedValue() else { return [] }
    var all = [first]
    while let next = rings[all[all.count - 1]]?.after, next !== first { all.append(next) }
    return all
  }

  /// The registration that adding a target in the way of `new` gives again.
  func registration(like new: Registration) -> Registration? {
    guard let first = registration(of: new.key)?.takeUnretainedValue() else { return nil }
    if first.isLike(new) { return first }
    return hasRepeats ? others[new.way].flatMap { $0.isCancelled ? nil : $0 } : nil
  }

  /// Enters a registration behind those of its priority. The caller keeps what `garbage` collects and releases it after
  /// the lock.
  mutating func add(_ registration: Registration, priority: Int, garbage: inout Garbage) {
    registration.storedPriority = priority
    number += 1
    let group = groups.partitioningIndex { $0.priority <= priority }
    if group == groups.count || groups[group].priority != priority {
      let new = Group(priority: priority)
      if group == groups.count { groups.append(new) } else { groups.insert(new, at: group) }
      if group <= cursor.group { cursor.group += 1 }
      endsRoutes = true
    } else if group != groups.count - 1 {
      endsRoutes = true
    }
    version &+= 1
    registration.slot = groups[group].slots.count
    groups[group].slots.append(registration)
    link(registration, &garbage)
    reclaim(&garbage)
  }

  private mutating func link(_ registration: Registration, _ garbage: inout Garbage) {
    guard let head = enter(registration)?.takeUnretainedValue() else { return }
    // Either the same target once more, or a dead one whose address has been taken over.
    if let alive = head.targetUnderLock {
      garbage.keep(alive)
      noteChanged()  // a route that was made before knows nothing of repeats
      let next = rings[head]?.after ?? head
      rings[registration] = (head, next)
      rings[next, default: (head, head)].before = registration
      rings[head, default: (head, head)].after = registration
      others[registration.way] = registration
    } else {
      let all = registrations(of: registration.key)
      replaceFirst(head, with: registration)
      for dead in all {
        _ = leaveRing(dead)
        if !dead.keepsSlot, let group = group(holding: dead) { garbage.keep(vacate(dead, in: group, &garbage)) }
      }
    }
  }

  /// Makes a registration the first of its target unless there is one, which is given then.
  private mutating func enter(_ registration: Registration) -> Unmanaged<Registration>? {
    if !first.isInUse, number > Self.fewToLookAt { for other in all where other.isFirst { _ = first.enter(other) } }
    let head = first.isInUse ? first.enter(registration) : self.registration(of: registration.key)
    if head == nil { registration.isFirst = true }
    return head
  }

  private mutating func replaceFirst(_ old: Registration, with new: Registration) {
    (old.isFirst, new.isFirst) = (false, true)
    if first.isInUse { first.replace(with: new) }
  }

  private mutating func removeFirst(_ registration: Registration) {
    registration.isFirst = false
    if first.isInUse { first.remove(registration) }
  }

  /// Takes out a registration. `false` when it was out already.
  @inline(never) mutating func remove(_ registration: Registration, garbage: inout Garbage) -> Bool {
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
    noteChanged()
    link(new, &garbage)
    return true
  }

  private mutating func unlink(_ registration: Registration) {
    guard hasRepeats, let next = leaveRing(registration) else { return removeFirst(registration) }
    if registration.isFirst { replaceFirst(registration, with: next) }
  }

  /// Takes a registration out of the ring of its target, and gives the next one; `nil` where it is in none.
  private mutating func leaveRing(_ registration: Registration) -> Registration? {
    guard let (before, after) = rings.removeValue(forKey: registration) else { return nil }
    rings[before]?.after = after
    rings[after]?.before = before
    if before === after { rings[after] = nil }
    let way = registration.way
    if others[way] === registration { others[way] = nil }
    if !hasRepeats { noteChanged() }  // with the last repeat the routes go that look for them
    return after
  }

  /// The group in which a registration has its slot; `nil` when it is out.
  @inline(never) private func group(holding registration: Registration) -> Int? {
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
      noteChanged()  // routes keep strong targets alive: they must go
    }
    let taken = groups[group].slots[registration.slot].take()
    number -= 1
    groups[group].holes += 1
    let (holes, slots) = (groups[group].holes, groups[group].slots.count)
    if holes == slots || holes > 16 && holes * 2 > slots { close(group) }
    return taken
  }

  private mutating func close(_ group: Int) {
    noteChanged()
    if groups[group].holes == groups[group].slots.count {
      if groups.count == 1, groups[0].slots.count <= Int(Self.fewest) {
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
    var seen: UInt32 = 0
    for (index, registration) in groups[group].slots.enumerated() {
      guard let registration else { continue }
      registration.slot = kept.count
      kept.append(registration)
      if index < cursor.slot { seen = UInt32(kept.count) }
    }
    if group == cursor.group { cursor.slot = seen }
    groups[group].slots = kept
    groups[group].holes = 0
  }

  /// Moves the cursor over three slots, of all groups in turn, and takes out what is dead there.
  ///
  /// After one pass it stops until there are twice as many registrations as it has found alive. So targets that come and go
  /// among others cost no look. A target that joins behind the cursor, as one of a higher priority does, is not met in this pass,
  /// alive or dead: when there are many of those, the next pass starts at once, over at most half as many that are dead.
  private mutating func reclaim(_ garbage: inout Garbage) {
    guard number >= countToReclaim else { return }
    for _ in 0..<3 {
      while cursor.group < groups.count, cursor.slot >= groups[Int(cursor.group)].slots.count {
        cursor = (cursor.group + 1, 0)
      }
      guard cursor.group < groups.count else {
        countToReclaim = max(foundAlive * 2, Self.fewest)
        (cursor, foundAlive) = ((0, 0), 0)
        return
      }
      let found = slot(Int(cursor.slot), in: Int(cursor.group))
      cursor.slot += 1
      found?._withUnsafeGuaranteedRef { registration in
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

  @inline(never)
  consuming func release() {}
}
