// UndoHistory+Performing.swift: undo, redo, and what menus say of them.

import Forwardcast

extension UndoHistory {
  /// Whether an undo is in progress: what is registered now is to be redone.
  public var isUndoing: Bool { phase == .undoing }

  /// Whether a redo is in progress.
  public var isRedoing: Bool { phase == .redoing }

  /// Whether there is a step to undo whose target is alive, in a group that is open too.
  public var canUndo: Bool { hasOpenGroup || undoStack.top() != nil }

  /// Whether there is a step to redo whose target is alive.
  public var canRedo: Bool { redoStack.top() != nil }

  /// How many groups there are to undo.
  public var undoCount: Int { undoStack.count + (hasOpenGroup ? 1 : 0) }

  /// How many groups there are to redo.
  public var redoCount: Int { redoStack.count }

  /// Undoes the last outermost group, which is closed before if it is open. What its steps register can be redone.
  ///
  /// A step that throws does not keep the others of its group from being undone. What it had registered is kept. What a
  /// listener of ``Events/willUndo`` registers was done last, and is what is undone.
  ///
  /// - Returns: whether there was anything to undo.
  /// - Throws: ``UndoError`` `groupIsOpen` when groups inside of one another are open; `isPerforming` while something is
  ///   undone or redone, or a group is being made or closed; else the first error of a step, after all have run.
  @discardableResult
  public func undo() throws -> Bool {
    try performing {
      guard open.level <= 1 else { throw refusal(.groupIsOpen) }
      if open.level == 1 { closeGroup(1) }
      return try performLast(.undoing)
    }
  }

  /// Undoes the last group that was closed inside of the open group, or the last outermost one when none is open.
  ///
  /// - Returns: whether there was one: a step that was registered after it stands before it.
  /// - Throws: as ``undo()``.
  @discardableResult
  public func undoNestedGroup() throws -> Bool {
    try performing {
      if open.level == 0 { return try performLast(.undoing) }
      guard let group = open.takeNested() else { return false }
      events.broadcast(Events.willUndo, self)
      try perform(group, .undoing)
      return true
    }
  }

  /// Redoes the group that was undone last. What its steps register can be undone.
  ///
  /// - Returns: whether there was anything to redo.
  /// - Throws: as ``undo()``; `groupIsOpen` already for one open group.
  @discardableResult
  public func redo() throws -> Bool {
    try performing {
      guard open.level == 0 else { throw refusal(.groupIsOpen) }
      return try performLast(.redoing)
    }
  }

  /// Runs `body`, in which nothing else is undone or redone.
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
    // Listeners may have taken everything away.
    let group = stack.pop()
    try perform(group ?? UndoGroup(), phase)
    return group != nil
  }

  private func perform(_ group: UndoGroup, _ phase: Phase) throws {
    breakCoalescing()
    self.phase = phase
    // Groups that are open wait: what is registered meanwhile goes to the other stack.
    swap(&open, &waiting)
    _ = openGroup(held: true)
    // What takes this back again has its name.
    open.action = group.action
    let error = group.perform()
    closeGroup(1)
    // A listener may have opened another one at the last moment.
    closeSilently(to: 0)
    held = 0
    swap(&open, &waiting)
    self.phase = .idle
    events.broadcast(phase == .undoing ? Events.didUndo : Events.didRedo, self)
    if let error { throw error }
  }

  private var hasOpenGroup: Bool { phase == .idle && open.isLive }

  // MARK: Names

  /// Names the action that is being registered: the outermost open group or, when none is open, the group that was closed
  /// last. An empty name removes it.
  /// - Parameter name: what menus show behind *Undo*.
  public func setActionName(_ name: String) { changeAction { $0.name = name } }

  /// Says whether the action that is being registered can be lost without a question, as a change of view can.
  public func setActionIsDiscardable(_ isDiscardable: Bool) { changeAction { $0.isDiscardable = isDiscardable } }

  private func changeAction(_ change: (inout UndoAction) -> Void) {
    if open.level > 0 {
      change(&open.action)
    } else if phase == .idle {
      undoStack.changeLast { change(&$0.action) }
    }
  }

  private var undoAction: UndoAction? { hasOpenGroup ? open.action : undoStack.top()?.action }

  /// The name of what ``undo()`` would undo; empty when it has none or nothing is there.
  public var undoActionName: String { undoAction?.name ?? "" }

  /// The name of what ``redo()`` would redo; empty when it has none or nothing is there.
  public var redoActionName: String { redoStack.top()?.action.name ?? "" }

  /// Whether what ``undo()`` would undo can be lost without a question.
  public var undoActionIsDiscardable: Bool { undoAction?.isDiscardable ?? false }

  /// Whether what ``redo()`` would redo can be lost without a question.
  public var redoActionIsDiscardable: Bool { redoStack.top()?.action.isDiscardable ?? false }

  /// What a menu says: `Undo Rename`, or `Undo`.
  public var undoMenuItemTitle: String { menuItemTitle("Undo", undoActionName) }

  /// What a menu says: `Redo Rename`, or `Redo`.
  public var redoMenuItemTitle: String { menuItemTitle("Redo", redoActionName) }
}

/// Why an ``UndoHistory`` refused. The history is then as it was.
public struct UndoError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which rule was broken. More may join, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    fileprivate let words: String

    /// More than one group is open, so that it is not clear what is to be undone.
    public static let groupIsOpen = Code(words: "undo groups are open")
    /// A group is to be closed, and none is open.
    public static let noGroupIsOpen = Code(words: "no undo group is open")
    /// An undo or a redo is in progress.
    public static let isPerforming = Code(words: "an undo or a redo is in progress")
    /// Registration is to be enabled, and it is not disabled.
    public static let isNotDisabled = Code(words: "registration is not disabled")
  }

  public let code: Code
  /// How many groups were open.
  public let groupingLevel: Int

  public var description: String { code == .groupIsOpen ? "\(groupingLevel) \(code.words)" : code.words }
}
