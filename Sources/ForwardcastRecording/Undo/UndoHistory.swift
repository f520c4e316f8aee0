// UndoHistory.swift: undo and redo by messages.

import Forwardcast

/// Keeps messages that reverse changes, and sends them on undo.
///
///     func setTitle(_ title: String) throws {
///       try history.prepare(self).send(.setTitle, self.title)  // reverses the change
///       history.setActionName("Rename")
///       self.title = title
///     }
///     try history.undo()  // sends the old title, which registers a step to redo
///     try history.redo()
///
/// Messages that are registered during an undo go to the redo stack. Messages that are registered
/// during a redo go to the undo stack. Any other registration empties the redo stack. Arguments are
/// retained. Targets are referenced weakly, and their deallocation ends their steps.
///
/// A registered message is a **step**. Steps are undone in **groups**, the last step of a group
/// first. A group has the steps between ``beginGroup()`` and ``endGroup()``, and may contain
/// groups. A step outside of a group is a group by itself. Unlike in Foundation's `UndoManager`,
/// events of the run loop do not form groups. To join successive groups, see
/// ``group(_:coalescing:_:)``.
///
/// Steps, and listeners of ``events``, may call every method. A call that is impossible at that
/// moment, such as an undo within an undo, throws ``UndoError`` `isPerforming`. A history is not
/// `Sendable`, so it stays in the isolation of its targets.
public final class UndoHistory {
  /// Sends the messages of ``Events`` to its targets.
  public let events = MulticastProxy<any MessageReceiver>()

  /// Makes the title of a menu item from `Undo` or `Redo` and an action name, which may be empty.
  /// Replace this closure for other languages.
  public var menuItemTitle: (_ command: String, _ actionName: String) -> String = { command, actionName in
    actionName.isEmpty ? command : "\(command) \(actionName)"
  }

  let undoStack = UndoStack()
  let redoStack = UndoStack()
  var open = OpenGroups()
  /// The groups that were open before the current undo or redo.
  var waiting = OpenGroups()
  var failed = FailedSteps()
  var phase = Phase.idle
  /// True from the start of an undo or redo until its steps have run and its groups are closed.
  var isPerforming = false
  /// The number of open groups that callers cannot end: groups of the history itself, and groups
  /// that are being closed.
  var held = 0
  private var groupNumber = 0
  private var disabled = 0

  enum Phase {
    case idle, undoing, redoing
  }

  /// Creates an empty history without a limit.
  public init() {}

  // MARK: Registering

  /// A stand-in for `target`, which is referenced weakly. Each message to the stand-in becomes a
  /// step.
  public func prepare(_ target: any MessageReceiver) -> UndoPreparation {
    UndoPreparation(history: self, target: target)
  }

  /// Does not compile. The compiler's error says what to write for classes without messages.
  @available(*, unavailable, message: "put @Receiver on the class, or register a closure: register(self) { … }")
  @_disfavoredOverload
  public func prepare(_ target: AnyObject) -> UndoPreparation { preconditionFailure("it is not called") }

  /// Registers a closure as a step.
  ///
  ///     history.register(self) { $0.move(to: old) }
  ///
  /// - Parameters:
  ///   - target: the argument of the closure, referenced weakly. The target's deallocation ends the
  ///     step.
  ///   - body: reverses the change. It should not capture `target`.
  public func register<Target: AnyObject>(_ target: Target, _ body: @escaping (Target) throws -> Void) {
    register(
      UndoStep(target: target) { object in
        // The object is the step's target, which is a `Target`.
        try body(unsafeDowncast(object, to: Target.self))
      })
  }

  func register(_ step: UndoStep) {
    guard isRegistrationEnabled else { return }
    if open.level > 0 { return append(step) }
    let outer = held
    let number = openGroup(held: true)
    append(step)
    close(number)
    held = outer
  }

  private func append(_ step: UndoStep) {
    if phase == .idle { redoStack.removeAll() }
    open.append(step)
  }

  /// True if steps are registered: no call of ``disableRegistration()`` is in effect.
  public var isRegistrationEnabled: Bool { disabled == 0 }

  /// Disables registration until ``enableRegistration()`` has been called as often as this method.
  public func disableRegistration() { disabled += 1 }

  /// Reverses one call of ``disableRegistration()``. Throws ``UndoError`` `isNotDisabled` if there
  /// is no call to reverse.
  public func enableRegistration() throws(UndoError) {
    guard disabled > 0 else { throw refusal(.isNotDisabled) }
    disabled -= 1
  }

  /// Runs `body` without registering steps.
  public func withoutRegistration<T>(_ body: () throws -> T) rethrows -> T {
    disabled += 1
    // `removeAllActions` may have enabled registration during the call.
    defer { disabled = max(0, disabled - 1) }
    return try body()
  }

  // MARK: Groups

  /// The number of open groups.
  public var groupingLevel: Int { open.level }

  /// Opens a group: steps up to the matching ``endGroup()`` are undone together. Groups may be
  /// nested as deeply as memory allows.
  public func beginGroup() { _ = openGroup() }

  /// Closes the group that was opened last. An empty group is dropped.
  /// - Throws: ``UndoError`` `noGroupIsOpen`, or `isPerforming` if the group is being closed or is
  ///   the history's own, for a single step, an undo or a redo.
  public func endGroup() throws(UndoError) {
    guard open.level > held else { throw refusal(open.level == 0 ? .noGroupIsOpen : .isPerforming) }
    closeGroup(open.level)
  }

  /// Runs `body` in a group. The group is closed even if `body` throws.
  ///
  ///     history.group("Typing", coalescing: "typing") {
  ///       history.register(self) { [text] in $0.text = text }
  ///     }
  ///
  /// `name`, if any, becomes the action name of the outermost open group. `coalescing` is the kind
  /// of change: an outermost group is joined to the previous group of the same kind, so that typed
  /// characters, for example, are undone together. The groups are not joined if another step or
  /// group, an undo, a redo or ``breakCoalescing()`` comes between them.
  public func group<T>(_ name: String = "", coalescing: String? = nil, _ body: () throws -> T) rethrows -> T {
    let number = openGroup(coalescing: coalescing)
    defer {
      if !name.isEmpty, open.level(of: number) != nil { setActionName(name) }
      close(number)
    }
    return try body()
  }

  /// Prevents the next group from joining the last group, for example after a cursor move.
  public func breakCoalescing() { undoStack.changeLast { $0.coalescing = nil } }

  /// Opens a group and sends its events. If `isHeld`, callers cannot end the group.
  func openGroup(coalescing: String? = nil, held isHeld: Bool = false) -> Int {
    events.broadcast(Events.checkpoint, self)
    groupNumber += 1
    let number = groupNumber
    open.open(number, coalescing: coalescing)
    if isHeld { held = open.level }
    events.broadcast(Events.didOpenGroup, self)
    return number
  }

  func close(_ number: Int) { if let level = open.level(of: number) { closeGroup(level) } }

  /// Closes the group at `level` and the groups within it, with the events of a single group.
  func closeGroup(_ level: Int) {
    let outer = held
    held = level
    events.broadcast(Events.checkpoint, self)
    events.broadcast(Events.willCloseGroup, self)
    held = min(outer, level - 1)
    closeSilently(to: level - 1)
    events.broadcast(Events.didCloseGroup, self)
  }

  func closeSilently(to level: Int) {
    while open.level > level {
      guard let group = open.close(), !group.steps.isEmpty else { continue }
      switch phase {
      case .undoing: redoStack.push(group)
      case .redoing: undoStack.push(group)
      case .idle:
        let (kind, last) = (group.coalescing, undoStack.last?.coalescing)
        let isJoined = kind != nil && kind == last && undoStack.changeLast { $0.join(group) }
        if isJoined { continue }
        breakCoalescing()
        undoStack.push(group)
      }
    }
  }

  /// The maximum number of outermost groups to undo, and to redo. 0 (the default) or less means no
  /// limit. Setting a lower limit drops the oldest groups. While groups are added, the history can
  /// exceed the limit by up to a quarter.
  public var levelsOfUndo = 0 { didSet { for stack in [undoStack, redoStack] { stack.limit = max(levelsOfUndo, 0) } } }

  // MARK: Forgetting

  /// Removes all steps, even from open groups, which stay open. Enables registration.
  public func removeAllActions() {
    undoStack.removeAll()
    redoStack.removeAll()
    open.removeSteps(of: nil)
    waiting.removeSteps(of: nil)
    _ = failed.remove(of: nil)
    disabled = 0
  }

  /// Removes the steps of a target.
  public func removeAllActions(withTarget target: AnyObject) {
    undoStack.removeSteps(of: target)
    redoStack.removeSteps(of: target)
    open.removeSteps(of: target)
    waiting.removeSteps(of: target)
    _ = failed.remove(of: target)
  }

  func refusal(_ code: UndoError.Code) -> UndoError { UndoError(code: code, groupingLevel: open.level) }
}

extension UndoHistory {
  /// The messages that a history sends to its ``UndoHistory/events``, with the history as argument.
  ///
  ///     history.events.on(UndoHistory.Events.didUndo) {
  ///       menu.title = $0.undoMenuItemTitle
  ///     }
  public enum Events {
    /// Sent before a group is opened or closed, and before an undo or a redo.
    public static let checkpoint = Message<(UndoHistory) -> Void>("undoHistoryCheckpoint:")
    /// Sent after a group was opened.
    public static let didOpenGroup = Message<(UndoHistory) -> Void>("undoHistoryDidOpenGroup:")
    /// Sent before a group is closed, with any groups that are open within it.
    public static let willCloseGroup = Message<(UndoHistory) -> Void>("undoHistoryWillCloseGroup:")
    /// Sent after a group was closed.
    public static let didCloseGroup = Message<(UndoHistory) -> Void>("undoHistoryDidCloseGroup:")
    /// Sent before the steps of an undo run.
    public static let willUndo = Message<(UndoHistory) -> Void>("undoHistoryWillUndo:")
    /// Sent after the steps of an undo have run.
    public static let didUndo = Message<(UndoHistory) -> Void>("undoHistoryDidUndo:")
    /// Sent before the steps of a redo run.
    public static let willRedo = Message<(UndoHistory) -> Void>("undoHistoryWillRedo:")
    /// Sent after the steps of a redo have run.
    public static let didRedo = Message<(UndoHistory) -> Void>("undoHistoryDidRedo:")
  }
}
