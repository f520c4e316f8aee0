// UndoStack.swift: the groups to undo, or to redo, with their limit.

/// A stack of closed groups, with a limit on the number of groups that can be undone.
///
/// Groups whose targets were deallocated do not count toward the limit. Finding such groups takes
/// linear time, so the stack looks for them only if it has a quarter more groups than the limit.
/// Removed steps are released after a change is complete, because a `deinit` may call the history.
final class UndoStack {
  private var groups: [UndoGroup] = []
  /// How many groups can still be popped. A pop subtracts 1, and a push adds 1, up to `limit`.
  private var left = Int.max
  /// The number of groups that were examined because of the limit.
  private(set) var looks = 0

  var limit = 0 {
    didSet {
      if left < groups.count { keepLast(left) }
      left = limit == 0 ? .max : min(left, limit)
      if limit > 0 { keepLast(limit) }
    }
  }

  /// The number of groups that can be popped and whose targets are alive.
  var count: Int { min(left, groups.count(where: \.isLive)) }

  func push(_ group: UndoGroup) {
    groups.append(group)
    guard limit > 0 else { return }
    if left < limit { left += 1 }
    if groups.count - limit > limit / 4 { keepLast(limit) }
  }

  private func keepLast(_ number: Int) {
    looks += groups.count
    _ = exchange(&groups, with: groups.filter(\.isLive).suffix(number))
  }

  /// The last group with a live target. Groups above it are dropped.
  func top() -> UndoGroup? {
    while let last = groups.last, !last.isLive { groups.removeLast() }
    return groups.last
  }

  func pop() -> UndoGroup? {
    guard let group = top() else { return nil }
    groups.removeLast()
    if limit > 0 {
      left -= 1
      if left == 0 { keepLast(0) }
    }
    return group
  }

  var last: UndoGroup? { groups.last }

  @discardableResult
  func changeLast(_ change: (inout UndoGroup) -> Void) -> Bool {
    guard !groups.isEmpty else { return false }
    change(&groups[groups.count - 1])
    return true
  }

  func removeAll() {
    left = limit == 0 ? .max : limit
    _ = exchange(&groups, with: [])
  }

  func removeSteps(of target: AnyObject) {
    let kept = groups.compactMap { old in
      var group = old
      group.steps = old.steps.filter { $0.target !== target }
      return group.steps.isEmpty ? nil : group
    }
    _ = exchange(&groups, with: kept)
  }
}
