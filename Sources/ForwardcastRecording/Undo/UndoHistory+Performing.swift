// UndoHistory+Performing.swift: undo, redo, and titles of menu items.

import Forwardcast

extension UndoHistory {
  /// True during an undo. Steps that are registered during an undo can be redone.
  public var isUndoing: Bool { phase == .undoing }

  /// True during a redo.
  public var isRedoing: Bool { phase == .redoing }

  /// True if a step whose target is alive can be undone. Steps of open groups count.
  public var canUndo: Bool { hasOpenGroup || undoStack.top() != nil }

  /// True if a step whose target is alive can be redone.
  public var canRedo: Bool { redoStack.top() != nil }

  /// The number of groups to undo.
  public var undoCount: Int { undoStack.count + (hasOpenGroup ? 1 : 0) }

  /// The number of groups to redo.
  public var redoCount: Int { redoStack.count }

  /// Undoes the last outermost group. If the group is open, it is closed first. Steps that are
  /// registered during the undo can be redone. Returns `false` if there was nothing to undo.
  ///
  /// A step that throws does not stop the other steps of its group, and stays for the next undo.
  /// Steps that it registered before the error remain. To undo everything, write
  /// `while try history.undo() {}`; a loop over ``canUndo`` that ignores errors may never end. If a
  /// listener of ``Events/willUndo`` registers steps, these become the last group, and that group
  /// is undone.
  /// - Throws: ``UndoError`` `groupIsOpen` if nested groups are open; `isPerforming` during an undo
  ///   or a redo, while a group is being closed, or while a single step is registered; otherwise
  ///   the first error of a step, after all steps have run.
  @discardableResult
  public func undo() throws -> Bool {
    try performing {
      guard open.level <= 1 else { throw refusal(.groupIsOpen) }
      if open.level == 1 { closeGroup(1) }
      return try performLast(.undoing)
    }
  }

  /// Undoes the last closed group within the open group or, if no group is open, the last outermost
  /// group. Returns `false` if there is no such group, or if a step was registered after the group.
  /// The redo of a nested group has no action name.
  /// - Throws: ``UndoError`` `isPerforming` and the first error of a step, as ``undo()``;
  ///   `groupIsOpen`, instead of returning `false`, if the open group is itself nested.
  @discardableResult
  public func undoNestedGroup() throws -> Bool {
    try performing {
      if open.level == 0 { return try performLast(.undoing) }
      guard let group = open.takeNested() else {
        if open.level > 1 { throw refusal(.groupIsOpen) }
        return false
      }
      events.broadcast(Events.willUndo, self)
      try perform(group, .undoing) { [self] failed in waiting.append(failed) }
      return true
    }
  }

  /// Redoes the group that was undone last. Steps that are registered during the redo can be
  /// undone. Returns `false` if there was nothing to redo.
  /// - Throws: as ``undo()``, and `groupIsOpen` if any group is open.
  @discardableResult
  public func redo() throws -> Bool {
    try performing {
      guard open.level == 0 else { throw refusal(.groupIsOpen) }
      return try performLast(.redoing)
    }
  }

  private func performing(_ body: () throws -> Bool) throws -> Bool {
    guard !isPerforming, held == 0 else { throw refusal(.isPerforming) }
    isPerforming = true
    defer { isPerforming = false }
    return try body()
  }

  private func performLast(_ phase: Phase) throws -> Bool {
    let stack = phase == .undoing ? undoStack : redoStack
    events.broadcast(Events.checkpoint, self)
    guard stack.top() != nil else { return false }
    events.broadcast(phase == .undoing ? Events.willUndo : Events.willRedo, self)
    // Listeners may have removed all groups.
    let group = stack.pop()
    try perform(group ?? UndoGroup(), phase, restore: stack.push)
    return group != nil
  }

  private func perform(_ group: UndoGroup, _ phase: Phase, restore: (UndoGroup) -> Void) throws {
    self.phase = phase
    // Open groups are set aside, because steps that are registered now go to the other stack.
    swap(&open, &waiting)
    _ = openGroup(held: true)
    // The reverse action has the same name.
    open.action = group.action
    let error = performSteps(of: group)
    let steps = failed.take()
    if !steps.isEmpty { restore(UndoGroup(steps: steps, action: group.action)) }
    closeGroup(1)
    // Listeners may have opened a group.
    closeSilently(to: 0)
    swap(&open, &waiting)
    // The history is idle now, so listeners may undo and redo.
    (self.phase, isPerforming) = (.idle, false)
    events.broadcast(phase == .undoing ? Events.didUndo : Events.didRedo, self)
    if let error { throw error }
  }

  /// Performs all steps, the last step first. Returns the first error.
  private func performSteps(of group: UndoGroup) -> (any Error)? {
    var first: (any Error)?
    for step in group.steps.reversed() {
      guard let target = step.target else { continue }
      failed.begin(step)
      do {
        try step.perform(target)
        failed.end(threw: false)
      } catch {
        failed.end(threw: true)
        first = first ?? error
      }
    }
    return first
  }

  private var hasOpenGroup: Bool { phase == .idle && open.isLive }

  // MARK: Names

  /// Names the current action, which is the outermost open group or, without one, the last closed
  /// group. An empty name removes the name.
  public func setActionName(_ name: String) { changeAction { $0.name = name } }

  /// Sets whether the current action can be discarded without asking the user.
  public func setActionIsDiscardable(_ isDiscardable: Bool) { changeAction { $0.isDiscardable = isDiscardable } }

  private func changeAction(_ change: (inout UndoAction) -> Void) {
    if open.level > 0 {
      change(&open.action)
    } else if phase == .idle {
      undoStack.changeLast { change(&$0.action) }
    }
  }

  private var undoAction: UndoAction? { hasOpenGroup ? open.action : undoStack.top()?.action }

  /// The name of the action that ``undo()`` would undo; empty if there is nothing to undo.
  public var undoActionName: String { undoAction?.name ?? "" }

  /// The name of the action that ``redo()`` would redo; empty if there is nothing to redo.
  public var redoActionName: String { redoStack.top()?.action.name ?? "" }

  /// True if the action that ``undo()`` would undo can be discarded without asking the user.
  public var undoActionIsDiscardable: Bool { undoAction?.isDiscardable ?? false }

  /// True if the action that ``redo()`` would redo can be discarded without asking the user.
  public var redoActionIsDiscardable: Bool { redoStack.top()?.action.isDiscardable ?? false }

  /// The title of a menu item: `Undo Rename`, or `Undo`.
  public var undoMenuItemTitle: String { menuItemTitle("Undo", undoActionName) }

  /// The title of a menu item: `Redo Rename`, or `Redo`.
  public var redoMenuItemTitle: String { menuItemTitle("Redo", redoActionName) }
}

/// Why an ``UndoHistory`` refused a call. The history is unchanged.
public struct UndoError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rule that the call broke. More rules may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    fileprivate let words: String

    /// Groups are open, so it is not clear what to undo or redo.
    public static let groupIsOpen = Code(words: "an undo group is open")
    /// No group is open, so none can be closed.
    public static let noGroupIsOpen = Code(words: "no undo group is open")
    /// An undo or a redo is in progress, or the history is closing a group or registering a step.
    public static let isPerforming = Code(
      words: "an undo or a redo is in progress, or the history is closing a group or registering a step")
    /// Registration is not disabled, so it cannot be enabled.
    public static let isNotDisabled = Code(words: "registration is already enabled")
  }

  /// The rule that the call broke.
  public let code: Code
  /// The number of open groups.
  public let groupingLevel: Int

  public var description: String {
    guard code == .groupIsOpen else { return code.words }
    return groupingLevel == 1 ? "\(code.words); end it first" : "\(groupingLevel) undo groups are open; end them first"
  }
}
