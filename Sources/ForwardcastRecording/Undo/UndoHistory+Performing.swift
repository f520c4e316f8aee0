// UndoHistory+Performing.swift: undo, redo, and what menus say of them.
// Layer: Recording, Undo. See DESIGN.md, "Undo".

import Forwardcast

extension UndoHistory {
  /// Whether something is being undone.
  public var isUndoing: Bool { phase == .undoing }

  /// Whether something is being redone.
  public var isRedoing: Bool { phase == .redoing }

  /// Whether there is a step to undo whose target is alive, in a group that is open too.
  public var canUndo: Bool { openGroup != nil || top(&undoStack) != nil }

  /// Whether there is a step to redo whose target is alive.
  public var canRedo: Bool { top(&redoStack) != nil }

  /// How many groups there are to undo.
  public var undoCount: Int { undoStack.count(where: \.isLive) + (openGroup == nil ? 0 : 1) }

  /// How many groups there are to redo.
  public var redoCount: Int { redoStack.count(where: \.isLive) }

  /// Undoes the last outermost group, which is closed before if it is open. What its steps register can be redone.
  ///
  /// A step that throws does not keep the others of its group from being undone. What it had registered is kept.
  ///
  /// - Returns: whether there was anything to undo.
  /// - Throws: ``UndoError`` `groupIsOpen` when groups inside of one another are open, `isPerforming` while something is
  ///   undone or redone; else the first error of a step, after all have run.
  @discardableResult
  public func undo() throws -> Bool {
    guard phase == .idle else { throw refusal(.isPerforming) }
    guard open.count <= 1 else { throw refusal(.groupIsOpen) }
    if open.count == 1 { closeGroup() }
    return try performLast(.undoing)
  }

  /// Undoes the last group that was closed inside of the open group, or the last outermost one when none is open.
  ///
  /// - Returns: whether there was one: a step that was registered after it stands before it.
  /// - Throws: as ``undo()``.
  @discardableResult
  public func undoNestedGroup() throws -> Bool {
    guard phase == .idle else { throw refusal(.isPerforming) }
    guard let outer = open.last else { return try performLast(.undoing) }
    guard case .group(let group)? = outer.entries.last else { return false }
    outer.entries.removeLast()
    // The open groups wait: what is registered meanwhile goes to the redo stack.
    let waiting = open
    open = []
    defer { open = waiting }
    try perform(group, .undoing)
    return true
  }

  /// Redoes the group that was undone last. What its steps register can be undone.
  ///
  /// - Returns: whether there was anything to redo.
  /// - Throws: as ``undo()``; `groupIsOpen` already for one open group.
  @discardableResult
  public func redo() throws -> Bool {
    guard phase == .idle else { throw refusal(.isPerforming) }
    guard open.isEmpty else { throw refusal(.groupIsOpen) }
    return try performLast(.redoing)
  }

  private func performLast(_ phase: Phase) throws -> Bool {
    events.broadcast(Events.checkpoint, self)
    guard let group = phase == .undoing ? top(&undoStack) : top(&redoStack) else { return false }
    if phase == .undoing { undoStack.removeLast() } else { redoStack.removeLast() }
    try perform(group, phase)
    return true
  }

  private func perform(_ group: UndoGroup, _ phase: Phase) throws {
    events.broadcast(phase == .undoing ? Events.willUndo : Events.willRedo, self)
    self.phase = phase
    beginGroup()
    // What takes this back again has its name.
    open[0].actionName = group.actionName
    open[0].isDiscardable = group.isDiscardable
    let error = group.perform()
    while !open.isEmpty { closeGroup() }
    self.phase = .idle
    events.broadcast(phase == .undoing ? Events.didUndo : Events.didRedo, self)
    if let error { throw error }
  }

  /// The last group of a stack that has something to do; those above it whose targets have all died are dropped.
  private func top(_ stack: inout [UndoGroup]) -> UndoGroup? {
    while let last = stack.last, !last.isLive { stack.removeLast() }
    return stack.last
  }

  /// The outermost open group, when it has something to undo.
  private var openGroup: UndoGroup? {
    guard phase == .idle, let group = open.first, open.contains(where: \.isLive) else { return nil }
    return group
  }

  // MARK: Names

  /// Names the action that is being registered: the outermost open group or, when none is open, the group that was closed
  /// last. An empty name removes it.
  public func setActionName(_ name: String) {
    (open.first ?? (phase == .idle ? undoStack.last : nil))?.actionName = name
  }

  /// Says whether the action that is being registered can be lost without a question, as a change of view can.
  public func setActionIsDiscardable(_ isDiscardable: Bool) {
    (open.first ?? (phase == .idle ? undoStack.last : nil))?.isDiscardable = isDiscardable
  }

  /// The name of what ``undo()`` would undo; empty when it has none or nothing is there.
  public var undoActionName: String { (openGroup ?? top(&undoStack))?.actionName ?? "" }

  /// The name of what ``redo()`` would redo; empty when it has none or nothing is there.
  public var redoActionName: String { top(&redoStack)?.actionName ?? "" }

  /// Whether what ``undo()`` would undo can be lost without a question.
  public var undoActionIsDiscardable: Bool { (openGroup ?? top(&undoStack))?.isDiscardable ?? false }

  /// Whether what ``redo()`` would redo can be lost without a question.
  public var redoActionIsDiscardable: Bool { top(&redoStack)?.isDiscardable ?? false }

  /// What a menu says: `Undo Rename`, or `Undo`.
  public var undoMenuItemTitle: String { menuItemTitle("Undo", undoActionName) }

  /// What a menu says: `Redo Rename`, or `Redo`.
  public var redoMenuItemTitle: String { menuItemTitle("Redo", redoActionName) }
}
