// RouteBoard.swift: how messages find their route without a lock or reference counting.

import Synchronization

/// The routes of one proxy for one table epoch.
///
/// The owner enters and replaces routes under its lock; messages read the slots without the lock. A
/// replaced route is kept as long as a message that found it may be on its way: see
/// ``MulticastCore/replace(with:_:_:)``.
// Slots are atomic; `count` and `retired` are guarded by the owner's lock.
@usableFromInline
final class RouteBoard: Visited, @unchecked Sendable {
  let epoch: UInt
  /// The first route, looked at first.
  private let firstSlot: Atomic<UnsafeMutableRawPointer>
  /// The others; `nil` without room for any.
  private let slots: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>?
  private let lastSlot: UInt32
  private var count: UInt32 = 0
  /// Replaced routes that messages visiting this board may be using.
  private var retired: [Route] = []

  private var first: Unmanaged<Route> {
    @inline(__always) get { .fromOpaque(firstSlot.load(ordering: .acquiring)) }
  }

  /// A board with at least one route, all of different selectors, and usually room for one more.
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
    for route in others { route.release() }
    first.release()
    slots?.deinitialize(count: mask + 1).deallocate()
  }

  private var mask: Int { Int(lastSlot) }

  private var others: [Unmanaged<Route>] {
    guard let slots else { return [] }
    return (0...mask).compactMap { slots[$0].load(ordering: .relaxed).map { .fromOpaque($0) } }
  }

  var all: [Route] { ([first] + others).map { $0.takeUnretainedValue() } }

  /// The route of a selector, as long as the board lives.
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

  /// Enters a route. `false` when its selector has one, or there is no room. Called under the owner's lock.
  func enter(_ route: Route) -> Bool {
    // A search has to meet a free slot soon: at least a quarter are free.
    guard let slots, (Int(count) + 1) * 4 <= (mask + 1) * 3, find(route.selector) == nil else { return false }
    var slot = route.selector.placement & mask
    assert(Int(count) <= mask, "a board keeps a slot free")
    while slots[slot].load(ordering: .relaxed) != nil { slot = (slot + 1) & mask }
    slots[slot].store(Unmanaged.passRetained(route).toOpaque(), ordering: .releasing)
    count += 1
    return true
  }

  /// Puts a route in the place of that of its selector, which is returned. Called under the owner's
  /// lock.
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

  /// Keeps a replaced route until no message visits this board. Called under the owner's lock.
  func retire(_ route: Route?) {
    guard let route else { return }
    route.core.state.assertHeld()
    assert(find(route.selector)?.takeUnretainedValue() !== route, "a retired route was replaced")
    retired.append(route)
  }
}

extension Unmanaged<RouteBoard> {
  /// The valid route of a selector for messages that begin now; `version` is that of the target list.
  @inline(__always)
  func route(of selector: MessageSelector, _ version: borrowing Atomic<UInt>) -> Unmanaged<Route>? {
    guard _withUnsafeGuaranteedRef({ $0.epoch }) == TableEpoch.current,
      let route = _withUnsafeGuaranteedRef({ $0.find(selector) }),
      _fastPath(route._withUnsafeGuaranteedRef({ $0.isValid(for: version.load(ordering: .acquiring)) }))
    else { return nil }
    return route
  }

  /// A visit of a board that only the running turn knows.
  @inline(__always)
  func visit(along route: Unmanaged<Route>) -> MessageVisit {
    let found = _withUnsafeGuaranteedRef { BoardWord(bits: $0.word.load(ordering: .relaxed)) }
    if found.isCrowded { return MessageVisit(keeping: route) }
    _withUnsafeGuaranteedRef { $0.word.store(found.bits &+ BoardWord.one, ordering: .relaxed) }
    return MessageVisit(route, of: .fromOpaque(toOpaque()), found)
  }
}

/// A word that a visit has found: above, how many messages were visiting; below, the address of the published board.
///
/// Addresses have at most 48 bits. A board whose address has more, for example a tag, is not published: messages find it under the
/// lock.
@usableFromInline
struct BoardWord {
  @usableFromInline let bits: UInt64
  @usableFromInline static var one: UInt64 { @export(implementation) @inline(__always) get { 1 << 48 } }

  @usableFromInline @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// For a board that is published now.
  fileprivate init(_ board: RouteBoard?) {
    let address = UInt64(UInt(bitPattern: board.map { Unmanaged.passUnretained($0).toOpaque() }))
    bits = address < BoardWord.one ? address : 0
    assert(bits >> 48 == 0, "a board is published with no visits")
  }

  /// Half of the visits that can be counted. Further ones retain their routes, so that the count never overflows.
  var isCrowded: Bool { Int64(bitPattern: bits) < 0 }

  var board: Unmanaged<RouteBoard>? {
    UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: address)).map { .fromOpaque($0) }
  }

  fileprivate var address: UInt64 { bits & (BoardWord.one - 1) }
}

/// What messages visit: the core of a proxy, which publishes a board, or a board itself. A core has the address of its board in the
/// word that counts, so that one addition finds the board and keeps it.
///
///     a message                                    a change, under the proxy's lock
///     core's word + 1     → board, kept            core's word = another board, with no visits
///     core's word - 1     while that is its board  board's word + those who were visiting it
///     board's word - 1    once it is another one
///
/// Whoever makes a board's word 0 releases the board: the word is negative while messages have ended that are not added yet. So a
/// long message keeps its own board and no other. A board that only one turn knows counts from the beginning, its owner included.
@usableFromInline
package class Visited {
  @usableFromInline final let word = Atomic<UInt64>(0)

  /// Ends a visit; `entered` is the word that it found.
  @export(implementation) @inline(__always)
  final func leave(_ entered: BoardWord) {
    // Mostly the word is as the visit left it. No other board can have the address of a visited one.
    let (done, found) = word.compareExchange(
      expected: entered.bits &+ BoardWord.one, desired: entered.bits, successOrdering: .releasing,
      failureOrdering: .relaxed)
    if !done { leaveAmongOthers(entered, BoardWord(bits: found)) }
  }

  /// As above when the word has changed. `self` may end with the board.
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

  /// Counts visits of a board. When none is left, it is released.
  final func add(_ count: Int) {
    let word = word.wrappingAdd(UInt64(truncatingIfNeeded: count) << 48, ordering: .acquiringAndReleasing).newValue
    if word == 0 { Unmanaged.passUnretained(self).release() }
  }

  /// Publishes another board. Called under the proxy's lock by the owner of the old one.
  final func replace(by new: RouteBoard?) {
    let next = BoardWord(new)
    let published = BoardWord(bits: word.load(ordering: .relaxed)).address
    assert(next.bits == 0 || next.address != published, "a board is published once")
    _ = next.board?.retain()
    let old = BoardWord(bits: word.exchange(next.bits, ordering: .acquiringAndReleasing))
    old.board?._withUnsafeGuaranteedRef { $0.add(Int(old.bits >> 48)) }
  }

  /// Whether a message is visiting the published board. Messages that begin after this was `false`
  /// see everything that was written before. Called under the proxy's lock.
  final var isVisited: Bool { word.wrappingAdd(0, ordering: .acquiringAndReleasing).newValue >> 48 != 0 }
}
