// UndoHistory.swift: what takes back what was done, and does it again.

import Forwardcast

/// Keeps messages that take back what was done, and sends them when asked to.
///
///     func setTitle(_ title: String) throws {
///       try history.prepare(self).send(.setTitle, self.title)  // how to take it back
///       history.setActionName("Rename")
///       self.title = title
///     }
///     try history.undo()  // sends the old title; what that registers can be redone
///     try history.redo()
///
/// A message that is registered while something is undone goes to the redo stack, and while something is redone to the
/// undo stack; any other empties the redo stack. Arguments are kept, targets are not: the steps of one that died are gone.
///
/// Steps are undone in **groups**, last step first. A group is what is between ``beginGroup()`` and ``endGroup()``; groups
/// inside of it belong to it, as deep as memory allows. There is no run loop, so nothing is grouped by event: a step that is
/// registered while no group is open is a group by itself. Groups that follow one another, as those of typed characters, can
/// become one: see ``group(_:coalescing:_:)``.
///
/// Listeners of ``events``, and the steps themselves, may call whatever there is here. What cannot be done at that moment,
/// such as an undo within an undo, is refused with ``UndoError`` `isPerforming`.
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

  let undoStack = UndoStack()
  let redoStack = UndoStack()
  var open = OpenGroups()
  /// The groups that are open while something else is undone or redone.
  var waiting = OpenGroups()
  var phase = Phase.idle
  /// Whether something is undone or redone, or is about to be: until all listeners have been told of its end.
  var isPerforming = false
  /// How many of the open groups nobody may end now: they are the history's own, or are being closed.
  var held = 0
  /// The kind of groups that are joined to the one on top of the undo stack.
  private var coalescing: String?
  private var groupNumber = 0
  private var disabled = 0

  enum Phase {
    case idle, undoing, redoing
  }

  /// An empty history without a limit.
  public init() {}

  // MARK: Registering

  /// A stand-in for `target`: a message that is sent to it is kept as a step, and sent to `target` when the step is undone.
  /// - Parameter target: a receiver, which is not kept alive; once it is gone, so are its steps.
  public func prepare(_ target: any MessageReceiver) -> UndoPreparation {
    UndoPreparation(history: self, target: target)
  }

  /// For a class whose methods are no messages.
  @available(*, unavailable, message: "put @Receiver on the class, or keep a closure: register(self) { … }")
  @_disfavoredOverload
  public func prepare(_ target: AnyObject) -> UndoPreparation { preconditionFailure("it is not called") }

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

  /// Whether steps are kept. Nothing is registered, and no group made, while they are not.
  public var isRegistrationEnabled: Bool { disabled == 0 }

  /// Keeps no steps until ``enableRegistration()`` has been called as often as this.
  public func disableRegistration() { disabled += 1 }

  /// Takes back one ``disableRegistration()``.
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
  public var groupingLevel: Int { open.level }

  /// Opens a group: what is registered until the matching ``endGroup()`` is undone together.
  public func beginGroup() { _ = openGroup() }

  /// Closes the group that was opened last. An empty one leaves nothing behind.
  /// - Throws: ``UndoError`` `noGroupIsOpen`; `isPerforming` where the group is being closed, or is that of an undo or a redo.
  public func endGroup() throws(UndoError) {
    guard open.level > held else { throw refusal(open.level == 0 ? .noGroupIsOpen : .isPerforming) }
    closeGroup(open.level)
  }

  /// Runs `body` in a group, which is closed also when it throws.
  ///
  ///     history.group("Typing", coalescing: "typing") {
  ///       history.register(self) { [text] in $0.text = text }
  ///     }
  ///
  /// - Parameters:
  ///   - name: the group's action name; none unless given.
  ///   - coalescing: what kind of change it is. An outermost group becomes part of the one before where that was of the same
  ///     kind, so that typed characters are undone together. Any other step or group, an undo, a redo and
  ///     ``breakCoalescing()`` end that.
  ///   - body: registers the steps. What it throws is thrown on.
  public func group<T>(_ name: String = "", coalescing: String? = nil, _ body: () throws -> T) rethrows -> T {
    let number = openGroup(coalescing: coalescing)
    defer {
      if !name.isEmpty, open.level(of: number) != nil { setActionName(name) }
      close(number)
    }
    return try body()
  }

  /// Keeps the next group from becoming part of the last one: see ``group(_:coalescing:_:)``. Called where the user does
  /// something else, such as placing the cursor.
  public func breakCoalescing() { coalescing = nil }

  /// Opens a group and tells of it.
  /// - Parameter held: whether nobody may end it until the caller takes that back.
  func openGroup(coalescing: String? = nil, held isHeld: Bool = false) -> Int {
    events.broadcast(Events.checkpoint, self)
    groupNumber += 1
    let number = groupNumber
    open.open(number, coalescing: coalescing)
    if isHeld { held = open.level }
    events.broadcast(Events.didOpenGroup, self)
    return number
  }

  /// Closes a group unless it is closed, and with it those that were left open in it.
  func close(_ number: Int) { if let level = open.level(of: number) { closeGroup(level) } }

  /// Closes the groups down to that level, and tells of the outermost of them.
  func closeGroup(_ level: Int) {
    let outer = held
    held = level
    events.broadcast(Events.checkpoint, self)
    events.broadcast(Events.willCloseGroup, self)
    held = outer
    closeSilently(to: level - 1)
    events.broadcast(Events.didCloseGroup, self)
  }

  func closeSilently(to level: Int) {
    while open.level > level {
      guard let (group, kind) = open.close(), !group.steps.isEmpty else { continue }
      switch phase {
      case .undoing: redoStack.push(group)
      case .redoing: undoStack.push(group)
      case .idle:
        let isJoined = kind != nil && kind == coalescing && undoStack.changeLast { $0.steps += group.steps }
        if !isJoined { undoStack.push(group) }
        coalescing = kind
      }
    }
  }

  /// How many outermost groups can be undone, and redone; 0, the default, and less is no limit. The oldest are dropped first, at
  /// once when the limit is lowered; while groups are registered, up to a quarter more are kept for a while.
  public var levelsOfUndo = 0 { didSet { for stack in [undoStack, redoStack] { stack.limit = max(levelsOfUndo, 0) } } }

  // MARK: Forgetting

  /// Forgets all steps, also those of open groups, which stay open; and enables registration.
  public func removeAllActions() {
    undoStack.removeAll()
    redoStack.removeAll()
    open.removeSteps(of: nil)
    waiting.removeSteps(of: nil)
    (disabled, coalescing) = (0, nil)
  }

  /// Forgets the steps of a target. Whether registration is enabled stays as it is.
  public func removeAllActions(withTarget target: AnyObject) {
    undoStack.removeSteps(of: target)
    redoStack.removeSteps(of: target)
    open.removeSteps(of: target)
    waiting.removeSteps(of: target)
  }

  func refusal(_ code: UndoError.Code) -> UndoError { UndoError(code: code, groupingLevel: open.level) }
}

extension UndoHistory {
  /// What a history tells its ``UndoHistory/events``: keys of messages whose argument is the history.
  ///
  ///     history.events.on(UndoHistory.Events.didUndo) {
  ///       menu.title = $0.undoMenuItemTitle
  ///     }
  public enum Events {
    /// A group is about to be opened or closed, or something to be undone or redone.
    public static let checkpoint = Message<(UndoHistory) -> Void>("undoHistoryCheckpoint:")
    public static let didOpenGroup = Message<(UndoHistory) -> Void>("undoHistoryDidOpenGroup:")
    public static let willCloseGroup = Message<(UndoHistory) -> Void>("undoHistoryWillCloseGroup:")
    public static let didCloseGroup = Message<(UndoHistory) -> Void>("undoHistoryDidCloseGroup:")
    public static let willUndo = Message<(UndoHistory) -> Void>("undoHistoryWillUndo:")
    public static let didUndo = Message<(UndoHistory) -> Void>("undoHistoryDidUndo:")
    public static let willRedo = Message<(UndoHistory) -> Void>("undoHistoryWillRedo:")
    public static let didRedo = Message<(UndoHistory) -> Void>("undoHistoryDidRedo:")
  }
}
