// TargetList.swift: the registrations of a proxy, a value without locks.

/// The registrations of one proxy in delivery order.
///
/// Adding and removing take amortized constant time: a registration knows its slot, and leaves a
/// hole when it is removed. Holes are removed when they outnumber the registrations.
/// ``reclaim(_:)`` finds dead targets in small steps, without a scan of the whole list.
struct TargetList {
  /// The registrations of one priority, in the order in which they were added.
  private struct Group {
    var slots: ContiguousArray<Registration?> = []
    var holes = 0
  }

  private final class Rare {
    /// The groups of all priorities but 0.
    var unusual: [Int16: Group] = .init()
    /// For each target with several registrations: the registrations other than the first one.
    var others: [ObjectIdentifier: Set<Registration>] = .init()
    /// The priorities in `unusual` that the current sweep has not finished.
    var unswept: [Int16] = []
  }

  /// The registrations of the usual priority, 0.
  private var usual = Group()
  private var rare: Rare?
  /// The first registration of each target. Short lists are searched and do not use it.
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

  // MARK: - Changes

  /// The number that the core must add to its version: one for each joined registration, and one if
  /// all routes became invalid.
  private var newVersions: UInt32 = 0
  /// The latest registrations to join, one per version. Empty while there are no routes.
  private var joined: [Registration] = []
  /// True if routes exist, so joining registrations are recorded. Set by the core.
  var hasRoutes = false { didSet { if !hasRoutes { (joined, patches) = ([], 0) } } }
  /// True if the core must drop all routes, since they are invalid and cannot be patched.
  private var endsRoutes = false
  /// The cost of removals since a message extended a route. The unit is a search for a step.
  var patches: UInt16 = 0
  /// About as many searches cost as much as rebuilding the routes.
  private static let mostPatches: UInt16 = 128
  /// The number of the next change. Registrations that leave the list record it. Set by the core.
  var nextChange: UInt32 = 1
  private var hasLosses = false

  // MARK: - Sweep for dead targets

  private var sweptPriority: Int16 { rare?.unswept.last ?? 0 }
  /// The next slot of `sweptPriority` that the sweep looks at.
  private var sweptSlot: UInt32 = 0
  /// The number of registrations found alive, or kept for a new target, in this sweep.
  private var foundAlive: UInt32 = 0
  /// The sweep pauses until the list has this many registrations.
  private var countToReclaim = Self.fewest
  /// Shorter lists are not swept.
  private static let fewest: UInt32 = 16

  /// The longest list that is searched without a table.
  private static let fewToLookAt: UInt32 = 8

  private subscript(priority: Int16) -> Group {
    @inline(__always) _read {
      if priority == 0 { yield usual } else { yield rare?.unusual[priority] ?? Group() }
    }
  }

  // A `_modify` accessor would allocate memory for each change.
  @inline(__always)
  private mutating func changeGroup<T>(_ priority: Int16, _ body: (inout Group) -> T) -> T {
    priority == 0 ? body(&usual) : body(&ensuredRare.unusual[priority, default: Group()])
  }

  /// The registrations that were not removed, in delivery order. Some may be muted or dead.
  var all: [Registration] { map { $0 } }

  /// The results of `transform` for the registrations that were not removed, in delivery order.
  @inline(__always)
  func map<T>(_ transform: (Registration) -> T) -> [T] {
    var all: [T] = []
    all.reserveCapacity(count)
    let priorities = rare.map { inOrder($0.unusual.keys + [0]) { -Int($0) } } ?? [0]
    for priority in priorities {
      for registration in self[priority].slots { if let registration { all.append(transform(registration)) } }
    }
    return all
  }

  var slotCount: Int { usual.slots.count + (rare?.unusual.values.reduce(0) { $0 + $1.slots.count } ?? 0) }

  func joined(in versions: UInt) -> ArraySlice<Registration> {
    assert(versions <= joined.count, "the list has forgotten who joined since a route was made")
    // By index, since `suffix(_:)` of a sequence iterates over all elements.
    return joined[(joined.count - Int(versions))...]
  }

  /// Invalidates all routes, for example since a target's ownership, position or delivery changed.
  mutating func noteChanged() {
    endsRoutes = true
    newVersions += 1
  }

  mutating func takeChanges() -> (endsRoutes: Bool, versions: UInt, hasLosses: Bool) {
    if patches > Self.mostPatches { noteChanged() }
    defer { (endsRoutes, newVersions, hasLosses) = (false, 0, false) }
    return (endsRoutes, UInt(newVersions), hasLosses)
  }

  private mutating func noteJoined(_ registration: Registration) {
    newVersions += 1
    guard hasRoutes else { return }
    // With more changes than registrations, rebuilding the routes costs less than patching them.
    if joined.count > max(32, count) { noteChanged() } else { joined.append(registration) }
  }

  // MARK: - Lookup

  /// The `isFirst` registration of a target, unretained: the list retains it until removal.
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

  func registrations(of target: ObjectIdentifier) -> [Registration] {
    guard let first = registration(of: target)?.takeUnretainedValue() else { return [] }
    return rare.map { [first] + ($0.others[target] ?? []) } ?? [first]
  }

  /// The registration that has the same target and delivery as `new`.
  func registration(like new: Registration) -> Registration? {
    guard let first = registration(of: new.key)?.takeUnretainedValue() else { return nil }
    if first.isLike(new) { return first }
    return rare?.others[new.key]?.first { $0.isLike(new) }
  }

  func contains(_ registration: Registration) -> Bool {
    let (priority, slot) = (registration.storedPriority, registration.slot)
    return slot < self[priority].slots.count && self[priority].slots[slot] === registration
  }

  // MARK: - Adding

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
    changeGroup(priority) { group in
      registration.slot = group.slots.count
      group.slots.append(registration)
    }
  }

  mutating func move(_ registration: Registration, to priority: Int16, garbage: inout Garbage) {
    guard registration.storedPriority != priority, contains(registration) else { return }
    garbage.keep(leaveSlot(registration))
    enterSlot(registration, priority)
    noteChanged()
  }

  /// Replaces `old` with `new` at the same position. Returns false if `old` was removed.
  mutating func replace(_ old: Registration, with new: Registration, garbage: inout Garbage) -> Bool {
    new.storedPriority = old.storedPriority
    guard contains(old) else { return false }
    unlink(old)
    garbage.keep(old)
    new.slot = old.slot
    if old.isRemoved { lose(old) }
    changeGroup(new.storedPriority) { $0.slots[new.slot] = new }
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
    // The first registration belongs to a dead target whose address was reused.
    let dead = registrations(of: registration.key)
    (head.isFirst, registration.isFirst) = (false, true)
    if first.isInUse { first.replace(with: registration) }
    rare?.others[registration.key] = nil
    assert(!dead.contains { $0 === registration }, "a registration does not replace itself")
    for dead in dead where !dead.keepsSlot && contains(dead) { garbage.keep(vacate(dead, &garbage)) }
  }

  /// Makes a registration its target's first one, or returns the existing first one.
  private mutating func enter(_ registration: Registration) -> Unmanaged<Registration>? {
    if !first.isInUse, number > Self.fewToLookAt { for other in all where other.isFirst { _ = first.enter(other) } }
    assert(!registration.isFirst, "a registration is linked once")
    let head = first.isInUse ? first.enter(registration) : self.registration(of: registration.key)
    if head == nil { registration.isFirst = true }
    return head
  }

  // MARK: - Removing

  @inline(never) mutating func remove(_ registration: Registration, garbage: inout Garbage) -> Bool {
    guard let taken = take(registration, garbage: &garbage) else { return false }
    garbage.keep(taken)
    return true
  }

  /// Removes a registration and returns the list's reference to it; `nil` if the registration was
  /// removed before.
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

  /// Empties a registration's slot and returns its content. Moves a strong target to `garbage`.
  private mutating func vacate(_ registration: Registration, _ garbage: inout Garbage) -> Registration? {
    if let strong = registration.strong {
      garbage.keep(strong)
      registration.strong = nil
      let closure = strong as? Method
      // Routes do not retain a queued target. They do retain a closure, as its method.
      if hasRoutes, registration.queued == nil || closure != nil {
        garbage.released.append((registration, closure?.selector))
        if patches <= Self.mostPatches { patches += 1 }
      }
    }
    let taken = leaveSlot(registration)
    lose(registration)
    return taken
  }

  private mutating func lose(_ registration: Registration) {
    registration.leave(at: nextChange)
    hasLosses = true
  }

  /// Leaves a hole. Removes the holes of the priority once they outnumber its registrations.
  private mutating func leaveSlot(_ registration: Registration) -> Registration? {
    assert(contains(registration) && number > 0, "only a registration in the list leaves it")
    let priority = registration.storedPriority
    number -= 1
    let (taken, holes, slots) = changeGroup(priority) { group in
      group.holes += 1
      return (group.slots[registration.slot].take(), group.holes, group.slots.count)
    }
    if holes == slots || holes > 16 && holes * 2 > slots { close(priority) }
    // Routes of an emptied proxy would list the removed registrations in later reports.
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
        // Keeps some capacity for later registrations.
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
    changeGroup(priority) { $0 = Group(slots: kept) }
  }

  /// Sweeps three slots, cycling through all priorities, and removes dead targets.
  ///
  /// After a complete sweep, the next sweep starts when the list is twice as long as the number of
  /// targets found alive.
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

/// Objects that a change removed. Releasing them may run foreign code, so they are released after
/// the lock.
struct Garbage: @unchecked Sendable {  // owned by the one call that collects it
  // Most changes remove few objects; these need no array.
  private var first: AnyObject?
  private var second: AnyObject?
  private var third: AnyObject?
  private var fourth: AnyObject?
  private var more: [AnyObject] = []
  /// Removed registrations whose strong target routes still retain. These routes must be patched.
  var released: [(registration: Registration, only: MessageSelector?)] = []

  /// Retains an object until the lock is released.
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
