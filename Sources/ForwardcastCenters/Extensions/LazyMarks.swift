// LazyMarks.swift: the lazy registrations of one extension point.

import Forwardcast
import Synchronization

/// The lazy registrations of one point, in order, and by selector.
final class LazyMarks: Sendable {
  private struct State {
    var marks: [ServiceID: PlacedMark] = [:]
    /// How often a mark has come or gone.
    var changes = 0
    /// A cache, dropped when a mark comes or goes, or any table changes.
    var bySelector: [MessageSelector: [PlacedMark]] = [:]
    var epoch: UInt = 0
  }

  private let state = Guarded(State())
  /// Whether there were any, so that a point without lazy observers costs one load more than a proxy.
  private let isUsed = Atomic<Bool>(false)
  private let core: MulticastCore
  private let scope: Set<MessageSelector>?
  private let services: @Sendable () -> ServiceCenter?

  init(_ core: MulticastCore, scope: Set<MessageSelector>?, services: @escaping @Sendable () -> ServiceCenter?) {
    (self.core, self.scope, self.services) = (core, scope, services)
  }

  /// In the order in which they came.
  var all: [PlacedMark] { state.withLock { $0.marks }.values.sorted { $0.number < $1.number } }

  /// Adds a mark. `false` when there is one for the same service, or it has none of the point's messages.
  func add(_ mark: LazyMark, priority: Int) -> Bool {
    if let scope, !scope.contains(where: { mark.signature($0) != nil }) { return false }
    let place = core.reserveSlot(priority: priority, scope: scope, delivery: mark.delivery)
    let added = state.withLock { state in
      guard state.marks[mark.id] == nil else { return false }
      state.changes += 1
      state.marks[mark.id] = PlacedMark(mark: mark, place: place, number: state.changes)
      state.bySelector = [:]
      return true
    }
    if added { isUsed.store(true, ordering: .releasing) } else { core.giveUp(place) }
    return added
  }

  func remove(_ id: ServiceID) -> Bool {
    let placed = state.withLock { state -> PlacedMark? in
      state.changes += 1
      state.bySelector = [:]
      return state.marks.removeValue(forKey: id)
    }
    if let placed { core.giveUp(placed.place) }
    return placed != nil
  }

  func marks(for selector: MessageSelector) -> [PlacedMark] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    let epoch = TableEpoch.current
    let (known, changes) = state.withLock { state in
      (state.epoch == epoch ? state.bySelector[selector] : nil, state.changes)
    }
    if let known { return known }
    if let scope, !scope.contains(selector) { return [] }
    let marks = all.filter { $0.mark.signature(selector) != nil }
    state.withLock { state in
      guard state.changes == changes else { return }
      if state.epoch != epoch { (state.epoch, state.bySelector) = (epoch, [:]) }
      state.bySelector[selector] = marks
    }
    return marks
  }

  /// Registers an observer that the calling thread is making for a mark of its class, in the place of that mark.
  /// - Returns: `nil` when there is no such mark; else the registration, if there is one.
  func takePlace(_ observer: AnyObject) -> Registration?? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    let type: any AnyObject.Type = type(of: observer)
    let found = state.withLock { $0.marks[ServiceID(type: ObjectIdentifier(type), name: nil)] }
    guard let placed = found, placed.mark.type == type, placed.mark.isWaking else { return nil }
    return .some(core.fill(placed.place, with: observer, stamp: nil))
  }

  /// The marks whose observers do not exist, so that the next message for one makes it.
  func vacant(for selector: MessageSelector? = nil) -> [PlacedMark] {
    (selector.map { marks(for: $0) } ?? all).filter { placed in
      guard let target = core.target(of: placed.place), let center = services() else { return true }
      return placed.mark.presentObserver(in: center) !== target
    }
  }

  /// Makes the missing observers of a message; with `nil` those of every message.
  /// - Returns: the marks whose observers could not be made, with the errors.
  func wake(_ selector: MessageSelector?) -> [LazyFailure] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    var failures: [LazyFailure] = []
    for placed in selector.map({ marks(for: $0) }) ?? all {
      do {
        guard let center = services() else {
          throw ServiceError(code: .centerIsGone, service: placed.mark.receiverName, chain: [])
        }
        try placed.mark.wake(in: center, at: placed.place, of: core)
      } catch {
        failures.append((placed.mark, error))
      }
    }
    return failures
  }
}

typealias LazyFailure = (mark: LazyMark, error: any Error)

struct PlacedMark: Sendable {
  let mark: LazyMark
  let place: ReservedSlot
  let number: Int
}
