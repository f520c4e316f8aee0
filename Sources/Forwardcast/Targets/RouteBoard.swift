// RouteBoard.swift: how messages find their route without a lock or a count of references.

import Synchronization

/// The routes of one proxy for one table epoch and one generation of its target list.
///
/// Who owns the board enters routes under its lock. A slot is written once, so a message finds its route without the lock.
/// What takes a route out, or puts another in its place, is another board.
@usableFromInline
final class RouteBoard: @unchecked Sendable {  // slots are atomic; what else changes is guarded by the owner's lock
  fileprivate typealias Place = Atomic<UnsafeMutableRawPointer?>

  /// The table changes that the routes know of.
  let epoch: UInt
  private let slots: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>
  private let lastSlot: UInt32
  private var count: UInt32 = 0
  /// Minus how many visits have ended; from the replacement on, how many have yet to end.
  @usableFromInline let visits = Atomic<Int>(0)
  /// Where messages find the board; `nil` before it is published, and where its owner alone knows it.
  fileprivate var place: UnsafeMutablePointer<Place>?

  /// A board with some routes, each of another selector, and room for one more in most cases.
  init(_ routes: [Route], epoch: UInt) {
    self.epoch = epoch
    var capacity = 2
    while capacity < routes.count * 2 { capacity *= 2 }
    lastSlot = UInt32(capacity - 1)
    slots = .allocate(capacity: capacity)
    for slot in 0..<capacity { (slots + slot).initialize(to: Atomic(nil)) }
    for route in routes { _ = enter(route) }
  }

  deinit {
    for slot in 0...mask {
      slots[slot].load(ordering: .relaxed).map { Unmanaged<Route>.fromOpaque($0).release() }
    }
    slots.deinitialize(count: mask + 1).deallocate()
  }

  private var mask: Int { Int(lastSlot) }

  /// Every route, in no order.
  var all: [Route] {
    (0...mask).compactMap { slot in
      slots[slot].load(ordering: .relaxed).map { Unmanaged<Route>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  /// The route of a selector, as long as the board keeps it.
  @inline(__always)
  func find(_ selector: MessageSelector) -> Unmanaged<Route>? {
    var slot = selector.placement & mask
    while let found = slots[slot].load(ordering: .acquiring) {
      let route = Unmanaged<Route>.fromOpaque(found)
      if route._withUnsafeGuaranteedRef({ $0.selector == selector }) { return route }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  /// Enters a route. `false` where its selector has one, or there is no room. Called under the owner's lock.
  func enter(_ route: Route) -> Bool {
    // A search has to meet a free slot soon: a quarter are free.
    guard (Int(count) + 1) * 4 <= (mask + 1) * 3 || count == 0, find(route.selector) == nil else { return false }
    var slot = route.selector.placement & mask
    while slots[slot].load(ordering: .relaxed) != nil { slot = (slot + 1) & mask }
    slots[slot].store(Unmanaged.passRetained(route).toOpaque(), ordering: .releasing)
    count += 1
    return true
  }

  /// A board with the same routes but that of `selector`, for which there may be another.
  func replacing(_ selector: MessageSelector, with route: Route?) -> RouteBoard {
    RouteBoard(all.filter { $0.selector != selector } + (route.map { [$0] } ?? []), epoch: epoch)
  }

  /// Says that a visit has ended. `true` for the last one of a board that has been replaced: it is to ``remove()`` it.
  @export(implementation) @inline(__always)
  func leave() -> Bool { visits.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 }

  /// Says that no visit begins any more. `true` where all have ended: the caller is to ``remove()`` the board.
  ///
  /// - Parameter came: how many visits have begun.
  func close(came: Int) -> Bool { visits.wrappingAdd(came, ordering: .acquiringAndReleasing).newValue == 0 }

  /// Gives up the place, and the reference that kept the board while messages could be visiting it.
  func remove() -> RouteBoard {
    place?.pointee.store(nil, ordering: .releasing)
    return Unmanaged.passUnretained(self).takeRetainedValue()
  }
}

/// Where messages find the board of a proxy: one word, of which the top byte is the number of its place and the rest counts the
/// messages that came since it is there. So one addition finds the board and keeps it.
///
///     a message                          a change, under the proxy's lock
///     word + 1        → board, kept      word = place of another board, nobody has come
///     visits - 1                         visits of the old board + those who came
///
/// The message that makes `visits` 0 removes the board: it is negative while the board is in place, and falls to 0 once
/// afterwards. Each board counts for itself, so a message that takes long keeps its own and no other.
struct PublishedBoard: ~Copyable, @unchecked Sendable {  // atomic, and so is what `places` points to
  private let word = Atomic<UInt64>(0)
  /// The places, of which number 1 is the first; made for the first board.
  private let places = Atomic<UnsafeMutablePointer<RouteBoard.Place>?>(nil)
  /// So many boards can be in use at a time. With more, the latest is found under the lock.
  static let capacity = 3
  private static let shift: UInt64 = 56

  deinit { places.load(ordering: .relaxed)?.deinitialize(count: Self.capacity).deallocate() }

  /// A visit begins: the board is kept until ``RouteBoard/leave()``.
  @inline(__always)
  borrowing func enter() -> Unmanaged<RouteBoard>? {
    let number = Int(truncatingIfNeeded: word.wrappingAdd(1, ordering: .acquiring).oldValue >> Self.shift)
    guard number > 0 else { return nil }
    // A place that the word names is there, and has its board until all visits have ended.
    let place = places.load(ordering: .relaxed).unsafelyUnwrapped + (number &- 1)
    return Unmanaged.fromOpaque(place.pointee.load(ordering: .relaxed).unsafelyUnwrapped)
  }

  /// Puts a board in the place of the one that is there. Called under the proxy's lock.
  borrowing func replace(by new: RouteBoard?, _ garbage: inout Garbage) {
    // The old one goes first: the new one may need its place. A message in between finds no board, and takes the lock.
    let old = word.exchange(0, ordering: .acquiringAndReleasing)
    let number = Int(old >> Self.shift)
    if number > 0, let found = places.load(ordering: .relaxed)?[number - 1].load(ordering: .relaxed) {
      let board = Unmanaged<RouteBoard>.fromOpaque(found).takeUnretainedValue()
      if board.close(came: Int(truncatingIfNeeded: old & (1 << Self.shift - 1))) { garbage.keep(board.remove()) }
    }
    if let new { word.store(self.number(for: new) << Self.shift, ordering: .releasing) }
  }

  /// Finds a place for a board. 0 where none is free: too many messages are visiting boards that have been replaced.
  private borrowing func number(for board: RouteBoard) -> UInt64 {
    let places = places.load(ordering: .relaxed) ?? makePlaces()
    for number in 0..<Self.capacity where places[number].load(ordering: .acquiring) == nil {
      board.place = places + number
      places[number].store(Unmanaged.passRetained(board).toOpaque(), ordering: .relaxed)
      return UInt64(number) + 1
    }
    return 0
  }

  private borrowing func makePlaces() -> UnsafeMutablePointer<RouteBoard.Place> {
    let new = UnsafeMutablePointer<RouteBoard.Place>.allocate(capacity: Self.capacity)
    for number in 0..<Self.capacity { (new + number).initialize(to: Atomic(nil)) }
    places.store(new, ordering: .relaxed)
    return new
  }

  /// Whether messages find a board without the lock.
  var isEmpty: Bool { word.load(ordering: .relaxed) >> Self.shift == 0 }
}
