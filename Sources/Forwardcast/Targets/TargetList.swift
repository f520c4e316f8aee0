// TargetList.swift: the registrations of a proxy; a value without locks.

/// The registrations of one proxy in the order of delivery.
///
/// Adding and removing take constant time: a registration knows its slot, a removed one leaves a hole, and holes are closed when
/// they outnumber the living. Dead targets are found by a cursor, see ``reclaim(_:)``, so that no operation passes the whole list.
struct TargetList {
  /// The registrations of one priority, in the order in which they were added.
  private struct Group {
    let priority: Int
    var slots: ContiguousArray<Registration?> = []
    var holes = 0
  }

  private var groups: [Group] = []
  /// The first registration of each target; unused while there are only a few, which are searched.
  private var first = IdentityTable<Registration>()
  /// What is known of targets that have several registrations; made for the first of them.
  private var repeats: Repeats?
  private final class Repeats {
    /// The registrations of a target as a ring: the first, then the others, newest first. Each with the one before and the one
    /// after it.
    var rings: [ObjectIdentifier: [Registration]] = .init()
    /// The newest of the others for each way.
    var others: [RegistrationWay: Registration] = .init()
  }
  private var number: UInt32 = 0
  var count: Int { Int(number) }

  /// The next slot to be checked for a dead target.
  private var cursor: (group: UInt32, slot: UInt32) = (0, 0)
  /// How many registrations the cursor has found alive in this pass.
  private var foundAlive: UInt32 = 0
  /// How many registrations there have to be for the cursor to move.
  private var countToReclaim = Self.fewest
  /// With fewer registrations, looking for dead targets is not worth it.
  private static let fewest: UInt32 = 16

  /// Up to this many registrations are searched instead of keeping a table.
  private static let fewToLookAt: UInt32 = 8

  /// What the changes since this was reset mean for existing routes; the core counts them as versions of the list.
  var change = Change.none
  enum Change {
    case none
    /// Registrations joined at the end.
    case extendsRoutes
    /// Routes are invalid and cannot be extended.
    case endsRoutes
  }

  /// How many slots the last priority has; registrations that join at the end are behind it.
  var end: Int { groups.last?.slots.count ?? 0 }

  /// All registrations that were not removed, in the order of delivery; some may be muted or have dead targets.
  var all: [Registration] {
    var all: [Registration] = []
    all.reserveCapacity(count)
    for group in groups { for registration in group.slots { if let registration { all.append(registration) } } }
    return all
  }

  /// How many slots there are, including holes.
  var slotCount: Int { groups.reduce(0) { $0 + $1.slots.count } }

  /// The registrations that joined at the end since ``end`` was `end`.
  func joined(since end: Int) -> [Registration] { groups.last?.slots[end...].compactMap { $0 } ?? [] }

  var hasRepeats: Bool { repeats != nil }

  /// Moves a registration to the end of another priority. `false` when it is out, or has that priority.
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

  /// Ends existing routes: a target became or stopped being strong, or its deliveries changed, or what routes know of repeats.
  mutating func noteChanged() { change = .endsRoutes }

  /// The oldest registration of a target, unretained: the list keeps it until it is removed.
  func registration(of target: ObjectIdentifier) -> Unmanaged<Registration>? {
    if first.isInUse { return first.find(UInt(bitPattern: target)) }
    for group in groups.indices {
      for index in groups[group].slots.indices.reversed() {
        guard let found = slot(index, in: group) else { continue }
        if found._withUnsafeGuaranteedRef({ $0.key == target && $0.isFirst }) { return found }
      }
    }
    return nil
  }

  @inline(__always)
  private func slot(_ index: Int, in group: Int) -> Unmanaged<Registration>? {
    groups[group].slots.withUnsafeBytes {
      $0.load(fromByteOffset: index * MemoryLayout<Registration?>.stride, as: Unmanaged<Registration>?.self)
    }
  }

  /// The registrations of a target: the oldest, then the others from the newest on.
  func registrations(of target: ObjectIdentifier) -> [Registration] {
    guard let first = registration(of: target)?.takeUnretainedValue() else { return [] }
    var all = [first]
    while let next = neighbours(of: all[all.count - 1])?[1], next !== first { all.append(next) }
    return all
  }

  @inline(never) private func neighbours(of registration: Registration) -> [Registration]? {
    repeats?.rings[ObjectIdentifier(registration)]
  }

  /// Makes two registrations neighbours in a ring.
  @inline(never) private func tie(_ one: Registration, to next: Registration) {
    repeats?.rings[ObjectIdentifier(one), default: [one, one]][1] = next
    repeats?.rings[ObjectIdentifier(next), default: [next, next]][0] = one
  }

  /// The registration that adding a target like `new` returns.
  func registration(like new: Registration) -> Registration? {
    guard let first = registration(of: new.key)?.takeUnretainedValue() else { return nil }
    if first.isLike(new) { return first }
    return newestOther(of: new.way).flatMap { $0.isCancelled ? nil : $0 }
  }

  /// Adds a registration at the end of its priority. The caller releases `garbage` after the lock.
  mutating func add(_ registration: Registration, priority: Int, garbage: inout Garbage) {
    registration.storedPriority = priority
    number += 1
    let group = groups.partitioningIndex { $0.priority <= priority }
    if group == groups.count || groups[group].priority != priority {
      let new = Group(priority: priority)
      if group == groups.count { groups.append(new) } else { groups.insert(new, at: group) }
      if group <= cursor.group { cursor.group += 1 }
      change = .endsRoutes
    } else if group != groups.count - 1 {
      change = .endsRoutes
    } else if change == .none {
      change = .extendsRoutes
    }
    registration.slot = groups[group].slots.count
    groups[group].slots.append(registration)
    link(registration, &garbage)
    reclaim(&garbage)
  }

  private mutating func link(_ registration: Registration, _ garbage: inout Garbage) {
    guard let head = enter(registration)?.takeUnretainedValue() else { return }
    // The same target once more, or a dead one whose address is reused.
    if let alive = head.targetUnderLock {
      garbage.keep(alive)
      noteChanged()  // existing routes know nothing of repeats
      let repeats = repeats ?? Repeats()
      self.repeats = repeats
      let next = neighbours(of: head)?[1] ?? head
      tie(head, to: registration)
      tie(registration, to: next)
      setRareValue(registration, of: registration.way, in: &repeats.others)
    } else {
      let all = registrations(of: registration.key)
      replaceFirst(head, with: registration)
      for dead in all {
        _ = leaveRing(dead)
        if !dead.keepsSlot, let group = group(holding: dead) { garbage.keep(vacate(dead, in: group, &garbage)) }
      }
    }
  }

  /// Makes a registration the first of its target, or returns the one that it has.
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

  /// Takes out a registration. `false` when it is out already.
  @inline(never) mutating func remove(_ registration: Registration, garbage: inout Garbage) -> Bool {
    guard let taken = take(registration, garbage: &garbage) else { return false }
    garbage.keep(taken)
    return true
  }

  /// Takes out a registration and returns the list's reference to it. `nil` when it is out already.
  mutating func take(_ registration: Registration, garbage: inout Garbage) -> Registration? {
    guard let group = group(holding: registration) else { return nil }
    unlink(registration)
    return vacate(registration, in: group, &garbage)
  }

  /// Puts `new` in the place of `old`, with its priority. `false` when `old` is out.
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

  /// Removes a registration from the ring of its target and returns the next one; `nil` when it was in none.
  @inline(never) private mutating func leaveRing(_ registration: Registration) -> Registration? {
    guard let repeats, let left = neighbours(of: registration) else { return nil }
    let (before, after) = (left[0], left[1])
    repeats.rings[ObjectIdentifier(registration)] = nil
    forgetOther(registration)
    if before === after {
      // The last one is in no ring, and will not come here when it leaves.
      repeats.rings[ObjectIdentifier(after)] = nil
      forgetOther(after)
    } else {
      tie(before, to: after)
    }
    if repeats.rings.isEmpty {
      self.repeats = nil
      noteChanged()  // routes that look for repeats end with the last one
    }
    return after
  }

  private func newestOther(of way: RegistrationWay) -> Registration? {
    repeats.flatMap { rareValue(of: way, in: $0.others) }
  }

  @inline(never) private func forgetOther(_ registration: Registration) {
    let way = registration.way
    guard let repeats, newestOther(of: way) === registration else { return }
    setRareValue(nil, of: way, in: &repeats.others)
  }

  func contains(_ registration: Registration) -> Bool { group(holding: registration) != nil }

  /// The group that has a registration; `nil` when it is out.
  @inline(never) private func group(holding registration: Registration) -> Int? {
    let (priority, slot) = (registration.storedPriority, registration.slot)
    let group = groups.count == 1 ? 0 : groups.partitioningIndex { $0.priority <= priority }
    guard group < groups.count, groups[group].priority == priority, slot < groups[group].slots.count,
      groups[group].slots[slot] === registration
    else { return nil }
    return group
  }

  /// Leaves a hole, and closes the group's holes when they outnumber the living. Returns what was in the slot.
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
        // Keeps the memory for whoever comes next.
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

  /// Moves the cursor three slots on, through all groups in turn, and removes dead targets there.
  ///
  /// After one pass it stops until there are twice as many registrations as it found alive, so that targets which come and go cost
  /// no look. A target that joins behind the cursor, such as one of a higher priority, is not met in this pass; if there are many,
  /// the next pass starts at once, over at most half as many that are dead.
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

extension Registration: Identified {
  var identity: UInt { UInt(bitPattern: key) }
}

/// What a change under the lock removed, to be released after it, since a release may run foreign code.
struct Garbage: @unchecked Sendable {  // owned by the one call that collects it
  // Most changes remove few objects, which need no array.
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
