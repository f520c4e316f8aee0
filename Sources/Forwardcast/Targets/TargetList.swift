// TargetList.swift: the registrations of a proxy; a value without locks.

/// The registrations of one proxy in the order of delivery.
///
/// Adding and removing take constant time: a registration knows its slot, a removed one leaves a
/// hole, and holes are closed when they outnumber the living. Dead targets are found by a sweep,
/// see ``reclaim(_:)``, so that no operation passes the whole list.
struct TargetList {
  /// The registrations of one priority, in the order in which they were added.
  private struct Group {
    var slots: ContiguousArray<Registration?> = []
    var holes = 0
  }

  /// What few proxies need.
  private final class Rare {
    var unusual: [Int16: Group] = .init()
    /// The other registrations of targets that have several.
    var others: [ObjectIdentifier: Set<Registration>] = .init()
    /// The priorities in `unusual` that are still to be swept in this pass.
    var unswept: [Int16] = []
  }

  /// The registrations of priority 0, which most have.
  private var usual = Group()
  private var rare: Rare?
  /// The first registration of each target; unused while there are only a few, which are searched.
  private var first = IdentityTable<Registration>()
  private var number: UInt32 = 0
  var count: Int { Int(number) }

  private var ensuredRare: Rare {
    mutating get {
      let made = rare ?? Rare()
      rare = made
      return made
    }
  }

  // MARK: Changes

  /// How many versions of the list there were since the core took them: one for each registration
  /// that joined, one where routes ended.
  private var newVersions: UInt32 = 0
  /// The registrations that joined last, one for each of the last versions; empty while there are
  /// no routes.
  private var joined: [Registration] = []
  /// Whether routes exist, which have to learn who joins.
  var hasRoutes = false { didSet { if !hasRoutes { joined = [] } } }
  /// Whether routes are invalid and cannot be patched.
  private var endsRoutes = false

  // MARK: The sweep for dead targets

  private var sweptPriority: Int16 { rare?.unswept.last ?? 0 }
  /// The next slot of that priority.
  private var sweptSlot: UInt32 = 0
  /// How many registrations were found alive in this pass.
  private var foundAlive: UInt32 = 0
  /// How many registrations there have to be for the sweep to go on.
  private var countToReclaim = Self.fewest
  /// With fewer registrations, looking for dead targets is not worth it.
  private static let fewest: UInt32 = 16

  /// Up to this many registrations are searched instead of keeping a table.
  private static let fewToLookAt: UInt32 = 8

  private subscript(priority: Int16) -> Group {
    _read {
      if priority == 0 { yield usual } else { yield rare?.unusual[priority] ?? Group() }
    }
    _modify {
      if priority == 0 { yield &usual } else { yield &ensuredRare.unusual[priority, default: Group()] }
    }
  }

  /// All registrations that were not removed, in the order of delivery; some may be muted or have dead targets.
  var all: [Registration] {
    var all: [Registration] = []
    all.reserveCapacity(count)
    let priorities = rare.map { inOrder($0.unusual.keys + [0]) { -Int($0) } } ?? [0]
    for priority in priorities {
      for registration in self[priority].slots { if let registration { all.append(registration) } }
    }
    return all
  }

  /// How many slots there are, including holes.
  var slotCount: Int { usual.slots.count + (rare?.unusual.values.reduce(0) { $0 + $1.slots.count } ?? 0) }

  /// The registrations that joined in the last versions, of which routes existed, in that order.
  func joined(in versions: UInt) -> [Registration] {
    assert(versions <= joined.count, "the list has forgotten who joined since a route was made")
    // By index: `suffix(_:)` of a sequence would go through all of them.
    return Array(joined[(joined.count - Int(versions))...])
  }

  /// Ends existing routes: a target became or stopped being strong, moved, or its deliveries
  /// changed.
  mutating func noteChanged() {
    endsRoutes = true
    newVersions += 1
  }

  /// Gives the core what the changes mean for routes.
  mutating func takeChanges() -> (endsRoutes: Bool, versions: UInt) {
    (exchange(&endsRoutes, with: false), UInt(exchange(&newVersions, with: 0)))
  }

  private mutating func noteJoined(_ registration: Registration) {
    newVersions += 1
    guard hasRoutes else { return }
    // Routes that nobody has used for so long are made anew.
    if joined.count > max(32, count) { noteChanged() } else { joined.append(registration) }
  }

  // MARK: Finding

  /// The oldest registration of a target, unretained: the list keeps it until it is removed.
  func registration(of target: ObjectIdentifier) -> Unmanaged<Registration>? {
    if first.isInUse { return first.find(UInt(bitPattern: target)) }
    if let found = search(usual, for: target) { return found }
    guard let rare else { return nil }
    for group in rare.unusual.values { if let found = search(group, for: target) { return found } }
    return nil
  }

  private func search(_ group: borrowing Group, for target: ObjectIdentifier) -> Unmanaged<Registration>? {
    for index in group.slots.indices.reversed() {
      guard let found = slot(index, in: group) else { continue }
      if found._withUnsafeGuaranteedRef({ $0.key == target && $0.isFirst }) { return found }
    }
    return nil
  }

  @inline(__always)
  private func slot(_ index: Int, in group: borrowing Group) -> Unmanaged<Registration>? {
    group.slots.withUnsafeBytes {
      $0.load(fromByteOffset: index * MemoryLayout<Registration?>.stride, as: Unmanaged<Registration>?.self)
    }
  }

  /// The registrations of a target: the oldest, then the others.
  func registrations(of target: ObjectIdentifier) -> [Registration] {
    guard let first = registration(of: target)?.takeUnretainedValue() else { return [] }
    return rare.map { [first] + ($0.others[target] ?? []) } ?? [first]
  }

  /// The registration that adding a target like `new` returns: that of its delivery.
  func registration(like new: Registration) -> Registration? {
    guard let first = registration(of: new.key)?.takeUnretainedValue() else { return nil }
    if first.isLike(new) { return first }
    return rare?.others[new.key]?.first { $0.isLike(new) }
  }

  func contains(_ registration: Registration) -> Bool {
    let (priority, slot) = (registration.storedPriority, registration.slot)
    return slot < self[priority].slots.count && self[priority].slots[slot] === registration
  }

  // MARK: Adding

  /// Adds a registration at the end of its priority. The caller releases `garbage` after the lock.
  mutating func add(_ registration: Registration, priority: Int16, garbage: inout Garbage) {
    enterSlot(registration, priority)
    link(registration, &garbage)
    noteJoined(registration)
    reclaim(&garbage)
  }

  private mutating func enterSlot(_ registration: Registration, _ priority: Int16) {
    assert(!contains(registration), "a registration has one slot")
    registration.storedPriority = priority
    number += 1
    registration.slot = self[priority].slots.count
    self[priority].slots.append(registration)
  }

  /// Moves a registration to the end of another priority.
  mutating func move(_ registration: Registration, to priority: Int16, garbage: inout Garbage) {
    guard registration.storedPriority != priority, contains(registration) else { return }
    garbage.keep(leaveSlot(registration))
    enterSlot(registration, priority)
    noteChanged()
  }

  /// Puts `new` in the place of `old`, with its priority. `false` when `old` is out.
  mutating func replace(_ old: Registration, with new: Registration, garbage: inout Garbage) -> Bool {
    new.storedPriority = old.storedPriority
    guard contains(old) else { return false }
    unlink(old)
    garbage.keep(old)
    new.slot = old.slot
    self[new.storedPriority].slots[new.slot] = new
    noteChanged()
    link(new, &garbage)
    return true
  }

  private mutating func link(_ registration: Registration, _ garbage: inout Garbage) {
    guard let head = enter(registration)?.takeUnretainedValue() else { return }
    if let alive = head.targetUnderLock {
      garbage.keep(alive)
      ensuredRare.others[registration.key, default: .init()].insert(registration)
      return
    }
    // A dead target whose address is reused.
    let dead = registrations(of: registration.key)
    (head.isFirst, registration.isFirst) = (false, true)
    if first.isInUse { first.replace(with: registration) }
    rare?.others[registration.key] = nil
    assert(!dead.contains { $0 === registration }, "a registration does not replace itself")
    for dead in dead where !dead.keepsSlot && contains(dead) { garbage.keep(vacate(dead, &garbage)) }
  }

  /// Makes a registration the first of its target, or returns the one that it has.
  private mutating func enter(_ registration: Registration) -> Unmanaged<Registration>? {
    if !first.isInUse, number > Self.fewToLookAt { for other in all where other.isFirst { _ = first.enter(other) } }
    assert(!registration.isFirst, "a registration is linked once")
    let head = first.isInUse ? first.enter(registration) : self.registration(of: registration.key)
    if head == nil { registration.isFirst = true }
    return head
  }

  // MARK: Removing

  /// Takes out a registration. `false` when it is out already.
  @inline(never) mutating func remove(_ registration: Registration, garbage: inout Garbage) -> Bool {
    guard let taken = take(registration, garbage: &garbage) else { return false }
    garbage.keep(taken)
    return true
  }

  /// Takes out a registration and returns the list's reference to it. `nil` when it is out already.
  mutating func take(_ registration: Registration, garbage: inout Garbage) -> Registration? {
    guard contains(registration) else { return nil }
    unlink(registration)
    return vacate(registration, &garbage)
  }

  private mutating func unlink(_ registration: Registration) {
    if let rare, var more = rare.others.removeValue(forKey: registration.key) {
      let next = registration.isFirst ? more.popFirst() : nil
      if next == nil { more.remove(registration) }
      if !more.isEmpty { rare.others[registration.key] = more }
      guard registration.isFirst else { return }
      registration.isFirst = false
      next?.isFirst = true
      if first.isInUse, let next { first.replace(with: next) }
    } else if registration.isFirst {
      registration.isFirst = false
      if first.isInUse { first.remove(registration) }
    }
  }

  /// Leaves a hole, and notes a strong target that routes keep alive. Returns what was in the slot.
  private mutating func vacate(_ registration: Registration, _ garbage: inout Garbage) -> Registration? {
    if let strong = registration.strong {
      garbage.keep(strong)
      registration.strong = nil
      let closure = strong as? Method
      // Routes retain no queued target, but closures as methods.
      if hasRoutes, registration.queued == nil || closure != nil {
        garbage.released.append((registration, closure?.selector))
      }
    }
    return leaveSlot(registration)
  }

  /// Leaves a hole, and closes the group's holes when they outnumber the living.
  private mutating func leaveSlot(_ registration: Registration) -> Registration? {
    assert(contains(registration) && number > 0, "only a registration in the list leaves it")
    let priority = registration.storedPriority
    let taken = self[priority].slots[registration.slot].take()
    number -= 1
    self[priority].holes += 1
    let (holes, slots) = (self[priority].holes, self[priority].slots.count)
    if holes == slots || holes > 16 && holes * 2 > slots { close(priority) }
    // Nobody is listed as removed in a proxy that was empty before the message.
    if number == 0, hasRoutes { noteChanged() }
    return taken
  }

  private mutating func close(_ priority: Int16) {
    let isSwept = priority == sweptPriority
    let (holes, slots) = (self[priority].holes, self[priority].slots.count)
    assert(holes > 0 && holes <= slots, "\(holes) holes in \(slots) slots")
    if holes == slots {
      if isSwept { sweptSlot = 0 }
      if priority != 0 {
        rare?.unusual[priority] = nil
      } else {
        // Keeps a little memory for whoever comes next.
        usual.slots.removeAll(keepingCapacity: slots <= Int(Self.fewest))
        usual.holes = 0
      }
      return
    }
    var kept: ContiguousArray<Registration?> = []
    kept.reserveCapacity(slots - holes)
    var seen: UInt32 = 0
    for (index, registration) in self[priority].slots.enumerated() {
      guard let registration else { continue }
      registration.slot = kept.count
      kept.append(registration)
      if index < sweptSlot { seen = UInt32(kept.count) }
    }
    assert(kept.count == slots - holes, "holes are counted")
    if isSwept { sweptSlot = seen }
    self[priority] = Group(slots: kept)
  }

  /// Sweeps three slots, of all priorities in turn, and removes dead targets there.
  ///
  /// After one pass it stops until there are twice as many registrations as it found alive, so that
  /// targets which come and go cost no look. A target that joins behind it, such as one of a new
  /// priority, is not met in this pass; if there are many, the next pass starts at once, over at
  /// most half as many that are dead.
  private mutating func reclaim(_ garbage: inout Garbage) {
    guard number >= countToReclaim else { return }
    for _ in 0..<3 {
      while sweptSlot >= self[sweptPriority].slots.count {
        sweptSlot = 0
        if rare?.unswept.popLast() == nil {
          countToReclaim = max(foundAlive * 2, Self.fewest)
          foundAlive = 0
          if let rare { rare.unswept = Array(rare.unusual.keys) }
          return
        }
      }
      let found = slot(Int(sweptSlot), in: self[sweptPriority])
      sweptSlot += 1
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
  /// The removed registrations of strong, direct targets, with the selectors of closures: routes
  /// keep these targets alive.
  var released: [(registration: Registration, only: MessageSelector?)] = []

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
