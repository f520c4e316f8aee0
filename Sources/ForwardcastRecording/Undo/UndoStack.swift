// UndoStack.swift: the groups that can be undone, or redone, and how many of them.

/// Closed groups, the last on top, of which no more than a limit can be taken.
///
/// Groups whose targets have all died do not count for the limit. Looking for them takes as long as there are groups, so it
/// is done once a quarter more are there than may be taken: each group that is pushed pays for five looks.
///
/// What is released may call the history from its `deinit`: it is kept until the change is made.
final class UndoStack {
  private var groups: [UndoGroup] = []
  /// How many groups may still be taken: the limit, one less for each that was taken, and one more for each that was pushed.
  private var left = Int.max
  /// How many groups were looked at because of the limit.
  private(set) var looks = 0

  var limit = 0 {
    didSet {
      if left < groups.count { keepLast(left) }
      left = limit == 0 ? .max : min(left, limit)
      if limit > 0 { keepLast(limit) }
    }
  }

  /// How many groups can be taken whose targets are alive.
  var count: Int { min(left, groups.count(where: \.isLive)) }

  func push(_ group: UndoGroup) {
    groups.append(group)
    guard limit > 0 else { return }
    if left < limit { left += 1 }
    if groups.count - limit > limit / 4 { keepLast(limit) }
  }

  private func keepLast(_ number: Int) {
    let old = groups
    looks += old.count
    groups = old.filter(\.isLive).suffix(number)
    withExtendedLifetime(old) {}
  }

  /// The last group that has something to do; those above it whose targets have all died are dropped.
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

  @discardableResult
  func changeLast(_ change: (inout UndoGroup) -> Void) -> Bool {
    guard !groups.isEmpty else { return false }
    change(&groups[groups.count - 1])
    return true
  }

  func removeAll() {
    let old = groups
    (groups, left) = ([], limit == 0 ? .max : limit)
    withExtendedLifetime(old) {}
  }

  func removeSteps(of target: AnyObject) {
    let old = groups
    groups = old.compactMap { old in
      var group = old
      group.steps = old.steps.filter { $0.target !== target }
      return group.steps.isEmpty ? nil : group
    }
    withExtendedLifetime(old) {}
  }
}
