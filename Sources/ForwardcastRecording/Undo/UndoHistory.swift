// UndoHistory.swift: what takes back what was done, and does it again.
// Layer: Recording, Undo. See DESIGN.md, "Undo".

import Forwardcast

/// Keeps messages that take back what was done, and sends them when asked to.
///
///     func setTitle(_ title: String) throws {
///       try history.prepare(self).send(.setTitle, self.title)     // how to take it back
///       history.setActionName("Rename")
///       self.title = title
///     }
///     try history.undo()      // sends the old title; what that registers can be redone
///     try history.redo()
///
/// A message that is registered while something is undone goes to the redo stack, and while something is redone to the
/// undo stack; any other empties the redo stack. Arguments are kept, targets are not: the steps of one that died are gone.
///
/// Steps are undone in **groups**, last step first. A group is what is between ``beginGroup()`` and ``endGroup()``; groups
/// inside of it belong to it. There is no run loop, so nothing is grouped by event: a step that is registered while no
/// group is open is a group by itself.
///
/// A history is not `Sendable`: it stays in the isolation of its targets.
public final class UndoHistory {
  /// Who is told of what happens: see ``Events``.
  public let events = MulticastProxy<any MessageReceiver>()

  /// Makes a menu's title of a command, `Undo` or `Redo`, and an action name, which may be empty. For other languages, set
  /// another one.
  public var menuItemTitle: (_ command: String, _ actionName: String) -> String = { command, actionName in
    actionName.isEmpty ? command : "\(command) \(actionName)"
  }

  var undoStack: [UndoGroup] = []
  var redoStack: [UndoGroup] = []
  /// The groups that are open, the outermost first.
  var open: [UndoGroup] = []
  var phase = Phase.idle
  private var disabled = 0

  enum Phase {
    case idle, undoing, redoing
  }

  /// An empty history without a limit.
  public init() {}

  // MARK: Registering

  /// A stand-in for `target`: a message that is sent to it is kept as a step, and sent to `target` when the step is undone.
  public func prepare(_ target: any MessageReceiver) -> UndoPreparation {
    UndoPreparation(history: self, target: target)
  }

  /// Registers a closure as a step.
  ///
  ///     history.register(self) { $0.move(to: old) }
  ///
  /// - Parameters:
  ///   - target: whom the closure gets. It is not kept alive; once it is gone, so is the step.
  ///   - body: takes back what was done. It should not hold `target` itself.
  public func register<Target: AnyObject>(_ target: Target, _ body: @escaping (Target) throws -> Void) {
    register(
      UndoStep(target: target) { object in
        // The step was made with a `Target`, and gets that object back.
        try body(unsafeDowncast(object, to: Target.self))
      })
  }

  func register(_ step: UndoStep) {
    guard isRegistrationEnabled else { return }
    if phase == .idle { redoStack = [] }
    if let group = open.last {
      group.entries.append(.step(step))
    } else {
      beginGroup()
      open.last?.entries.append(.step(step))
      closeGroup()
    }
  }

  /// Whether steps are kept. Nothing is registered, and no group made, while they are not.
  public var isRegistrationEnabled: Bool { disabled == 0 }

  /// Keeps no steps until ``enableRegistration()`` has been called as often as this.
  public func disableRegistration() { disabled += 1 }

  /// Takes back one ``disableRegistration()``.
  ///
  /// - Throws: ``UndoError`` `isNotDisabled`.
  public func enableRegistration() throws(UndoError) {
    guard disabled > 0 else { throw refusal(.isNotDisabled) }
    disabled -= 1
  }

  /// Runs `body`, of which no step is kept.
  public func withoutRegistration<T>(_ body: () throws -> T) rethrows -> T {
    disabled += 1
    // `removeAllActions` may have enabled registration meanwhile.
    defer { disabled = max(0, disabled - 1) }
    return try body()
  }

  // MARK: Groups

  /// How many groups are open.
  public var groupingLevel: Int { open.count }

  /// Opens a group: what is registered until the matching ``endGroup()`` is undone together.
  public func beginGroup() {
    events.broadcast(Events.checkpoint, self)
    open.append(UndoGroup())
    events.broadcast(Events.didOpenGroup, self)
  }

  /// Closes the group that was opened last. An empty one leaves nothing behind.
  ///
  /// - Throws: ``UndoError`` `noGroupIsOpen`.
  public func endGroup() throws(UndoError) {
    // While something is performed, the outermost group is the history's own.
    guard open.count > (phase == .idle ? 0 : 1) else { throw refusal(.noGroupIsOpen) }
    closeGroup()
  }

  /// Runs `body` in a group, which is closed also when it throws.
  ///
  /// - Parameters:
  ///   - name: the group's action name; none unless given.
  ///   - body: registers the steps. What it throws is thrown on.
  public func group<T>(_ name: String = "", _ body: () throws -> T) rethrows -> T {
    beginGroup()
    let level = open.count
    defer {
      // What `body` opened and did not close belongs to this group.
      while open.count > level { closeGroup() }
      if open.count == level {
        if !name.isEmpty { setActionName(name) }
        closeGroup()
      }
    }
    return try body()
  }

  func closeGroup() {
    events.broadcast(Events.checkpoint, self)
    events.broadcast(Events.willCloseGroup, self)
    let group = open.removeLast()
    if !group.entries.isEmpty {
      if let outer = open.last {
        if outer.actionName.isEmpty { outer.actionName = group.actionName }
        outer.entries.append(.group(group))
      } else if phase == .undoing {
        redoStack.append(group)
      } else {
        undoStack.append(group)
      }
      enforceLimit()
    }
    events.broadcast(Events.didCloseGroup, self)
  }

  /// How many outermost groups are kept; 0, the default, keeps all. The oldest are dropped first, at once when the limit
  /// is lowered.
  public var levelsOfUndo = 0 {
    didSet { enforceLimit() }
  }

  private func enforceLimit() {
    guard levelsOfUndo > 0 else { return }
    undoStack = limited(undoStack)
    redoStack = limited(redoStack)
  }

  private func limited(_ stack: [UndoGroup]) -> [UndoGroup] {
    guard stack.count > levelsOfUndo else { return stack }
    // Dead groups do not count.
    return stack.filter(\.isLive).suffix(levelsOfUndo)
  }

  // MARK: Forgetting

  /// Forgets all steps, also those of open groups, which stay open; and enables registration.
  public func removeAllActions() {
    (undoStack, redoStack, disabled) = ([], [], 0)
    for group in open { group.entries = [] }
  }

  /// Forgets the steps of a target. Whether registration is enabled stays as it is.
  public func removeAllActions(withTarget target: AnyObject) {
    func without(_ stack: [UndoGroup]) -> [UndoGroup] {
      for group in stack { group.removeSteps(of: target) }
      return stack.filter { !$0.entries.isEmpty }
    }
    undoStack = without(undoStack)
    redoStack = without(redoStack)
    for group in open { group.removeSteps(of: target) }
  }

  func refusal(_ code: UndoError.Code) -> UndoError { UndoError(code: code, groupingLevel: open.count) }
}

extension UndoHistory {
  /// What a history tells its ``UndoHistory/events``: keys of messages whose argument is the history.
  ///
  ///     history.events.on(UndoHistory.Events.didUndo) { menu.title = $0.undoMenuItemTitle }
  public enum Events {
    /// A group is about to be opened or closed, or something to be undone or redone.
    public static let checkpoint = Message<(UndoHistory) -> Void>("undoHistoryCheckpoint:")
    /// A group has been opened.
    public static let didOpenGroup = Message<(UndoHistory) -> Void>("undoHistoryDidOpenGroup:")
    /// A group is about to be closed.
    public static let willCloseGroup = Message<(UndoHistory) -> Void>("undoHistoryWillCloseGroup:")
    /// A group has been closed.
    public static let didCloseGroup = Message<(UndoHistory) -> Void>("undoHistoryDidCloseGroup:")
    /// A group is about to be undone.
    public static let willUndo = Message<(UndoHistory) -> Void>("undoHistoryWillUndo:")
    /// A group has been undone.
    public static let didUndo = Message<(UndoHistory) -> Void>("undoHistoryDidUndo:")
    /// A group is about to be redone.
    public static let willRedo = Message<(UndoHistory) -> Void>("undoHistoryWillRedo:")
    /// A group has been redone.
    public static let didRedo = Message<(UndoHistory) -> Void>("undoHistoryDidRedo:")
  }
}
