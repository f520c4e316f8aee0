// RouteBoard.swift: route lookup without a lock or reference counting.

import Synchronization

/// The routes of one proxy by selector. Valid for one *epoch*: until any table changes.
///
/// The owning ``MulticastCore`` publishes and replaces routes under its lock. Messages read slots
/// without the lock. A replaced route is retained while a message may use it. Pinned boards need no
/// lock.
// Slots are atomic; `count` and `retired` are guarded by the owner's lock.
@usableFromInline
final class RouteBoard: Visited, @unchecked Sendable {
  let epoch: UInt
  /// The first route, compared first.
  private let firstSlot: Atomic<UnsafeMutableRawPointer>
  /// The other routes, a hash table with open addressing; `nil` if there is only one route.
  private let slots: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>?
  private let lastSlot: UInt32
  private var count: UInt32 = 0
  /// Replaced routes that visiting messages may be using. Released with the board.
  private var retired: [Route] = []

  private var first: Unmanaged<Route> {
    @inline(__always) get { .fromOpaque(firstSlot.load(ordering: .acquiring)) }
  }

  /// A board of routes with distinct selectors. A board of two or more has room for further routes.
  init(_ routes: [Route], epoch: UInt) {
    assert(Set(routes.map(\.selector)).count == routes.count, "a board has one route of a selector")
    self.epoch = epoch
    firstSlot = Atomic(Unmanaged.passRetained(routes[0]).toOpaque())
    var capacity = 1
    while capacity < routes.count * 2, routes.count > 1 { capacity *= 2 }
    lastSlot = UInt32(capacity - 1)
    slots = capacity > 1 ? .allocate(capacity: capacity) : nil
    super.init()
    if let slots { for slot in 0..<capacity { (slots + slot).initialize(to: Atomic(nil)) } }
    for route in routes.dropFirst() { _ = enter(route) }
  }

  deinit {
    forEach { $0.release() }
    slots?.deinitialize(count: mask + 1).deallocate()
  }

  private var mask: Int { Int(lastSlot) }

  /// Calls `body` with each route. Called with the owner's lock held. `body` can exchange routes.
  func forEach(_ body: (Unmanaged<Route>) -> Void) {
    body(first)
    guard let slots else { return }
    for slot in 0...mask { if let found = slots[slot].load(ordering: .relaxed) { body(.fromOpaque(found)) } }
  }

  var all: [Route] {
    var all: [Route] = []
    forEach { all.append($0.takeUnretainedValue()) }
    return all
  }

  /// The route of a selector. Valid while the board is visited, or while the lock is held.
  @inline(__always)
  func find(_ selector: MessageSelector) -> Unmanaged<Route>? {
    if first._withUnsafeGuaranteedRef({ $0.selector == selector }) { return first }
    guard let slots else { return nil }
    var slot = selector.placement & mask
    while let found = slots[slot].load(ordering: .acquiring) {
      let route = Unmanaged<Route>.fromOpaque(found)
      if route._withUnsafeGuaranteedRef({ $0.selector == selector }) { return route }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  /// Publishes a route. Returns false if the board is full or has a route of the selector. Called
  /// with the owner's lock held.
  func enter(_ route: Route) -> Bool {
    // A quarter of the slots stays free, so that searches end soon.
    guard let slots, (Int(count) + 1) * 4 <= (mask + 1) * 3, find(route.selector) == nil else { return false }
    var slot = route.selector.placement & mask
    assert(Int(count) <= mask, "a board keeps a slot free")
    while slots[slot].load(ordering: .relaxed) != nil { slot = (slot + 1) & mask }
    slots[slot].store(Unmanaged.passRetained(route).toOpaque(), ordering: .releasing)
    count += 1
    return true
  }

  /// Replaces the route of the same selector and returns it.
  func exchange(_ new: Route) -> Route? {
    new.core.state.assertHeld()
    let word = Unmanaged.passRetained(new).toOpaque()
    if first._withUnsafeGuaranteedRef({ $0.selector == new.selector }) {
      return Unmanaged<Route>.fromOpaque(firstSlot.exchange(word, ordering: .acquiringAndReleasing)).takeRetainedValue()
    }
    guard let slots else { preconditionFailure("the board has no route of \(new.selector)") }
    var slot = new.selector.placement & mask
    while let found = slots[slot].load(ordering: .relaxed) {
      let route = Unmanaged<Route>.fromOpaque(found)
      if route._withUnsafeGuaranteedRef({ $0.selector == new.selector }) {
        slots[slot].store(word, ordering: .releasing)
        return route.takeRetainedValue()
      }
      slot = (slot &+ 1) & mask
    }
    preconditionFailure("the board has no route of \(new.selector)")
  }

  /// True if nothing else retains a route of this board.
  func isOnlyOwner(of route: Unmanaged<Route>) -> Bool {
    var owned = route.takeRetainedValue()
    let isOnly = isKnownUniquelyReferenced(&owned)
    _ = Unmanaged.passRetained(owned)
    return isOnly
  }

  /// Retains a replaced route while this board is visited.
  func retire(_ route: Route?) {
    guard let route else { return }
    route.core.state.assertHeld()
    assert(find(route.selector)?.takeUnretainedValue() !== route, "a retired route was replaced")
    retired.append(route)
  }
}

extension Unmanaged<RouteBoard> {
  /// The valid route of a selector for new messages; `version` is the target list's version.
  @inline(__always)
  func route(of selector: MessageSelector, _ version: borrowing Atomic<UInt>) -> Unmanaged<Route>? {
    guard _withUnsafeGuaranteedRef({ $0.epoch }) == TableEpoch.current,
      let route = _withUnsafeGuaranteedRef({ $0.find(selector) }),
      _fastPath(route._withUnsafeGuaranteedRef({ $0.isValid(for: version.load(ordering: .acquiring)) }))
    else { return nil }
    return route
  }

  /// Visits a board that only the current thread uses.
  @inline(__always)
  func visit(along route: Unmanaged<Route>) -> MessageVisit {
    let found = _withUnsafeGuaranteedRef { BoardWord(bits: $0.word.load(ordering: .relaxed)) }
    // A pinned route is valid only as long as its version is the number of the core's changes.
    let begun = route._withUnsafeGuaranteedRef(\.version)
    if found.isCrowded { return MessageVisit(keeping: route, begun: begun) }
    _withUnsafeGuaranteedRef { $0.word.store(found.bits &+ BoardWord.one, ordering: .relaxed) }
    return MessageVisit(route, of: .fromOpaque(toOpaque()), found, begun: begun)
  }
}

/// The word of a ``Visited`` object: a count of visits, and the board's address in the low 48 bits.
/// A board with a longer address is not published: messages find it with the lock held.
@usableFromInline
struct BoardWord {
  @usableFromInline let bits: UInt64
  @usableFromInline static var one: UInt64 { @export(implementation) @inline(__always) get { 1 << 48 } }

  @usableFromInline @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  fileprivate init(_ board: RouteBoard?) {
    let address = UInt64(UInt(bitPattern: board.map { Unmanaged.passUnretained($0).toOpaque() }))
    bits = address < BoardWord.one ? address : 0
    assert(bits >> 48 == 0, "a board is published with no visits")
  }

  /// True if half of the possible visits exist. Further messages retain their routes instead of
  /// visiting, so that the count cannot overflow.
  var isCrowded: Bool { Int64(bitPattern: bits) < 0 }

  var board: Unmanaged<RouteBoard>? {
    UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: address)).map { .fromOpaque($0) }
  }

  fileprivate var address: UInt64 { bits & (BoardWord.one - 1) }
}

/// An object that counts *visits*, the messages that use a board. Both the board and the core that
/// publishes it are such objects. The core's word contains the count and the board's address.
///
///     a message begins      core's word + 1     finds the board and keeps it alive
///     the message ends      core's word - 1     if the board is still published
///                           board's word - 1    if the board was replaced
///     a board is replaced   core's word = new board, no visits; old board's word + its visits
///
/// The thread that brings a board's word to zero releases the board. The word is negative while
/// more visits have ended than the core has added to the word. A pinned proxy counts as a visit of
/// its own board.
@usableFromInline
package class Visited {
  /// The ``BoardWord``. Changed by visits, and when the board is replaced.
  @usableFromInline final let word = Atomic<UInt64>(0)

  /// Ends a visit; `entered` is the word that the visit read when it began.
  @export(implementation) @inline(__always)
  final func leave(_ entered: BoardWord) {
    // Usually the word is unchanged. No other board can have the address of a visited board.
    let (done, found) = word.compareExchange(
      expected: entered.bits &+ BoardWord.one, desired: entered.bits, successOrdering: .releasing,
      failureOrdering: .relaxed)
    if !done { leaveAmongOthers(entered, BoardWord(bits: found)) }
  }

  /// Ends a visit after the word has changed. `self` may be deallocated together with the board.
  @usableFromInline @inline(never)
  final func leaveAmongOthers(_ entered: BoardWord, _ found: BoardWord) {
    var (found, done) = (found.bits, false)
    while entered.address != 0, entered.address == BoardWord(bits: found).address {
      (done, found) = word.weakCompareExchange(
        expected: found, desired: found &- BoardWord.one, successOrdering: .releasing, failureOrdering: .relaxed)
      if done { return }
    }
    (entered.board?.takeUnretainedValue() ?? self).add(-1)
  }

  /// Changes the number of a board's visits. Releases the board when none remain.
  final func add(_ count: Int) {
    let word = word.wrappingAdd(UInt64(truncatingIfNeeded: count) << 48, ordering: .acquiringAndReleasing).newValue
    if word == 0 { Unmanaged.passUnretained(self).release() }
  }

  /// Publishes another board, or none. Called by the core, with its lock held.
  final func replace(by new: RouteBoard?) {
    let next = BoardWord(new)
    let published = BoardWord(bits: word.load(ordering: .relaxed)).address
    assert(next.bits == 0 || next.address != published, "a board is published once")
    _ = next.board?.retain()
    let old = BoardWord(bits: word.exchange(next.bits, ordering: .acquiringAndReleasing))
    old.board?._withUnsafeGuaranteedRef { $0.add(Int(old.bits >> 48)) }
  }

  /// True if a message is visiting the published board. After a false result, messages that begin
  /// see all earlier writes. Called with the proxy's lock held.
  final var isVisited: Bool { word.wrappingAdd(0, ordering: .acquiringAndReleasing).newValue >> 48 != 0 }
}
