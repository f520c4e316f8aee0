// LazyMarks.swift: the lazy observers of one extension point.
// Layer: Centers. See DESIGN.md, "Extension points".

import Synchronization

/// The lazy registrations of one point, in order, and which of them are for which selector.
@usableFromInline
final class LazyMarks: Sendable {
  private struct State {
    var marks: [LazyMark] = []
    /// Worked out once for each selector; dropped when a mark comes or goes, or any table changes.
    var bySelector: [MessageSelector: [LazyMark]] = [:]
    var epoch: UInt = 0
  }

  private let state = Guarded(State())
  /// Whether there are any, so that a point without lazy observers costs one load more than a proxy.
  private let isUsed = Atomic<Bool>(false)
  private let core: MulticastCore
  private let scope: Set<MessageSelector>?
  private let services: @Sendable () -> ServiceCenter?

  init(_ core: MulticastCore, scope: Set<MessageSelector>?, services: @escaping @Sendable () -> ServiceCenter?) {
    (self.core, self.scope, self.services) = (core, scope, services)
  }

  /// All, in the order of registration.
  var all: [LazyMark] { state.withLock { $0.marks } }

  /// Takes in a mark. `false` when one for the same service is there, or it has none of the point's messages.
  func add(_ mark: LazyMark, priority: Int) -> Bool {
    if let scope, !scope.contains(where: { mark.signature(for: $0) != nil }) { return false }
    let place = core.reservePlace(for: mark, priority: priority)
    mark.stand(at: place)
    let added = state.withLock { state in
      guard !state.marks.contains(where: { $0.id == mark.id }) else { return false }
      state.marks.append(mark)
      state.bySelector = [:]
      return true
    }
    if added { isUsed.store(true, ordering: .releasing) } else { place.cancel() }
    return added
  }

  /// Takes out the mark for a service, with the observer that it led to.
  func remove(_ id: ServiceID) -> Bool {
    let mark = state.withLock { state -> LazyMark? in
      guard let index = state.marks.firstIndex(where: { $0.id == id }) else { return nil }
      state.bySelector = [:]
      return state.marks.remove(at: index)
    }
    mark?.takeBack()
    return mark != nil
  }

  /// The marks for a selector, in the order of registration.
  func marks(for selector: MessageSelector) -> [LazyMark] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    let epoch = TableEpoch.current
    let (known, all) = state.withLock { state in
      (state.epoch == epoch ? state.bySelector[selector] : nil, state.marks)
    }
    if let known { return known }
    if let scope, !scope.contains(selector) { return [] }
    let marks = all.filter { $0.signature(for: selector) != nil }
    state.withLock { state in
      guard state.marks.elementsEqual(all, by: ===) else { return }
      if state.epoch != epoch { (state.epoch, state.bySelector) = (epoch, [:]) }
      state.bySelector[selector] = marks
    }
    return marks
  }

  /// The mark whose observer, of that class, the calling thread is making.
  func beingMade(_ type: any AnyObject.Type) -> LazyMark? {
    guard isUsed.load(ordering: .acquiring) else { return nil }
    return all.first { $0.type == type && $0.isWaking }
  }

  /// Makes the observers that a message of `selector` is for and that do not exist; with `nil` those of every message.
  ///
  /// - Returns: who could not be made, each with the reason. The others are there.
  @usableFromInline
  func wake(_ selector: MessageSelector?) -> [LazyFailure] {
    guard isUsed.load(ordering: .acquiring) else { return [] }
    var failures: [LazyFailure] = []
    for mark in selector.map({ marks(for: $0) }) ?? all {
      do {
        guard let center = services() else {
          throw ServiceError(code: .centerIsGone, service: mark.name, chain: [])
        }
        try mark.wake(in: center, core, scope: scope)
      } catch {
        failures.append(LazyFailure(mark: mark, error: error))
      }
    }
    return failures
  }

  /// Gives failures to the point's error handler.
  @usableFromInline
  func report(_ failures: [LazyFailure], _ selector: MessageSelector?) {
    for failure in failures {
      core.report(failure.error, selector ?? "typedCall", failure.mark.place, receiver: failure.mark.name)
    }
  }
}

/// A lazy observer that could not be made for a message.
@usableFromInline
struct LazyFailure {
  let mark: LazyMark
  @usableFromInline let error: any Error
}
