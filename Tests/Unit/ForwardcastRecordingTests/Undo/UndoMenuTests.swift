// UndoMenuTests.swift: action names, lifetimes and events of an undo history.

import Forwardcast
import ForwardcastRecording
import TestSupport
import Testing

extension Message<(Bitmap?) -> Void> { fileprivate static var paint: Self { .init("paint:") } }

private final class Bitmap {}

@Receiver
private final class Canvas {
  var bitmap: Bitmap?
  @Message func paint(_ bitmap: Bitmap?) { self.bitmap = bitmap }
}

/// A documented rule of action names: the actions, and both menu titles.
private struct MenuRow: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let undo: String
  let redo: String
  let act: @Sendable (UndoHistory, Canvas) throws -> Void

  init(_ what: String, undo: String, redo: String, _ act: @escaping @Sendable (UndoHistory, Canvas) throws -> Void) {
    (testDescription, self.undo, self.redo, self.act) = (what, undo, redo, act)
  }
}

private func step(_ history: UndoHistory, _ canvas: Canvas) throws {
  // The undo of painting registers painting again.
  history.register(canvas) { try step(history, $0) }
}

private let menuRows: [MenuRow] = [
  .init("nothing was done", undo: "Undo", redo: "Redo") { _, _ in },
  .init("a step without a name", undo: "Undo", redo: "Redo") { try step($0, $1) },
  .init("a name without a step", undo: "Undo", redo: "Redo") { history, _ in history.setActionName("Paint") },
  .init("a named step", undo: "Undo Paint", redo: "Redo") {
    try step($0, $1)
    $0.setActionName("Paint")
  },
  .init("an empty name removes the name", undo: "Undo", redo: "Redo") {
    try step($0, $1)
    $0.setActionName("Paint")
    $0.setActionName("")
  },
  .init("an undone step's name goes to redo", undo: "Undo", redo: "Redo Paint") {
    try step($0, $1)
    $0.setActionName("Paint")
    try $0.undo()
  },
  .init("and back", undo: "Undo Paint", redo: "Redo") {
    try step($0, $1)
    $0.setActionName("Paint")
    try $0.undo()
    try $0.redo()
  },
  .init("the step before it is what is undone next", undo: "Undo First", redo: "Redo Second") {
    try step($0, $1)
    $0.setActionName("First")
    try step($0, $1)
    $0.setActionName("Second")
    try $0.undo()
  },
  .init("an open group's name counts while it is open", undo: "Undo Open", redo: "Redo") {
    try step($0, $1)
    $0.setActionName("First")
    $0.beginGroup()
    try step($0, $1)
    $0.setActionName("Open")
  },
  .init("an open group without steps does not count", undo: "Undo First", redo: "Redo") {
    try step($0, $1)
    $0.setActionName("First")
    $0.beginGroup()
    $0.setActionName("Open")
  },
  .init("a name that is set in an inner group is the outermost group's", undo: "Undo Inner", redo: "Redo") {
    history, canvas in
    try history.group { try history.group("Inner") { try step(history, canvas) } }
  },
  .init("a nested group has no name, so its redo has none", undo: "Undo Outer", redo: "Redo") { history, canvas in
    try history.group("Outer") {
      try step(history, canvas)
      try history.group("Inner") { try step(history, canvas) }
      try history.undoNestedGroup()
    }
  },
  .init("a step registered by an undo may rename what is redone", undo: "Undo", redo: "Redo Other") { history, canvas in
    history.register(canvas) {
      try step(history, $0)
      history.setActionName("Other")
    }
    history.setActionName("Paint")
    try history.undo()
  },
  .init("a new step after an undo empties redo", undo: "Undo", redo: "Redo") {
    try step($0, $1)
    $0.setActionName("Paint")
    try $0.undo()
    try step($0, $1)
  },
]

@Suite("Undo menus, lifetimes and events")
struct UndoMenuTests {
  private let history = UndoHistory()

  @Test("menu titles name what would be undone and redone", arguments: menuRows)
  private func menus(row: MenuRow) throws {
    let (history, canvas) = (UndoHistory(), Canvas())
    try row.act(history, canvas)
    expect(history.undoMenuItemTitle, equals: row.undo)
    expect(history.redoMenuItemTitle, equals: row.redo)
    expect("Undo" + (history.undoActionName.isEmpty ? "" : " ") + history.undoActionName, equals: row.undo)
    expect("Redo" + (history.redoActionName.isEmpty ? "" : " ") + history.redoActionName, equals: row.redo)
    withExtendedLifetime(canvas) {}
  }

  @Test("menu titles can be localized")
  func otherLanguages() throws {
    let canvas = Canvas()
    history.menuItemTitle = { command, name in name + (command == "Undo" ? " widerrufen" : " wiederholen") }
    try step(history, canvas)
    history.setActionName("Malen")
    expect(history.undoMenuItemTitle, equals: "Malen widerrufen")
    try history.undo()
    expect(history.redoMenuItemTitle, equals: "Malen wiederholen")
    withExtendedLifetime(canvas) {}
  }

  @Test("an action stays discardable when it is undone")
  func discardable() throws {
    let canvas = Canvas()
    try step(history, canvas)
    expect(!history.undoActionIsDiscardable)
    history.setActionIsDiscardable(true)
    expect(history.undoActionIsDiscardable && !history.redoActionIsDiscardable)
    try history.undo()
    expect(history.redoActionIsDiscardable && !history.undoActionIsDiscardable)
    withExtendedLifetime(canvas) {}
  }

  @Test("an action joined to a discardable one needs confirmation unless it is discardable too")
  func joinedToDiscardable() {
    final class View {}
    let (history, view) = (UndoHistory(), View())
    for isDiscardable in [true, true, false] {
      history.group("Scroll", coalescing: "scroll") {
        history.register(view) { _ in }
        history.setActionIsDiscardable(isDiscardable)
      }
      expect(history.undoCount == 1 && history.undoActionIsDiscardable == isDiscardable)
    }
    history.setActionIsDiscardable(true)
    expect(history.undoActionIsDiscardable)
    withExtendedLifetime(view) {}
  }

  @Test("a history retains arguments and not targets")
  func lifetimes() throws {
    var canvas: Canvas? = Canvas()
    weak let weakCanvas = canvas
    weak var weakBitmap: Bitmap?
    do {
      let bitmap = Bitmap()
      weakBitmap = bitmap
      try history.prepare(#require(canvas)).send(.paint, Optional(bitmap))
    }
    expect(weakBitmap != nil && history.canUndo)
    try history.undo()
    expect(canvas?.bitmap === weakBitmap)
    try history.prepare(#require(canvas)).send(.paint, nil)
    canvas = nil
    expect(weakCanvas == nil)
    expect(!history.canUndo && history.undoCount == 0)
    expect(try !history.undo())
  }

  @Test("steps of a dead target are skipped, and other steps in the same group are undone")
  func deadTargets() throws {
    let canvas = Canvas()
    canvas.bitmap = Bitmap()
    try history.prepare(canvas).send(.paint, nil)
    history.setActionName("First")
    do {
      let other = Canvas()
      try history.group("Both") {
        try history.prepare(other).send(.paint, nil)
        try history.prepare(canvas).send(.paint, canvas.bitmap)
      }
      try history.prepare(other).send(.paint, nil)
      history.setActionName("Dead")
      expect(history.undoActionName == "Dead" && history.undoCount == 3)
    }
    expect(history.undoActionName == "Both" && history.undoCount == 2)
    try history.undo()
    expect(canvas.bitmap != nil && history.undoActionName == "First")
    try history.undo()
    expect(canvas.bitmap == nil)
  }

  @Test("dead groups do not count for the limit")
  func deadGroupsAndLimit() throws {
    let canvas = Canvas()
    history.levelsOfUndo = 2
    try history.prepare(canvas).send(.paint, nil)
    do {
      let other = Canvas()
      try history.prepare(other).send(.paint, nil)
      withExtendedLifetime(other) {}
    }
    try history.prepare(canvas).send(.paint, Optional(Bitmap()))
    expect(history.undoCount, equals: 2)
    withExtendedLifetime(canvas) {}
  }

  @Test("every event is reported, in order")
  func events() throws {
    let canvas = Canvas()
    var told: [String] = []
    for (name, key) in [
      ("checkpoint", UndoHistory.Events.checkpoint), ("opened", UndoHistory.Events.didOpenGroup),
      ("closing", UndoHistory.Events.willCloseGroup), ("closed", UndoHistory.Events.didCloseGroup),
      ("undoing", UndoHistory.Events.willUndo), ("undone", UndoHistory.Events.didUndo),
      ("redoing", UndoHistory.Events.willRedo), ("redone", UndoHistory.Events.didRedo),
    ] {
      history.events.on(key) { told.append($0.isUndoing || $0.isRedoing ? name + "!" : name) }
    }
    try step(history, canvas)
    expect(told, equals: ["checkpoint", "opened", "checkpoint", "closing", "closed"])
    told = []
    try history.undo()
    expect(
      told, equals: ["checkpoint", "undoing", "checkpoint!", "opened!", "checkpoint!", "closing!", "closed!", "undone"])
    told = []
    try history.redo()
    expect(told.contains("redoing") && told.last == "redone")
    withExtendedLifetime(canvas) {}
  }

  @Test("canUndo is correct outside groups, in an open group and during an undo")
  func canUndo() throws {
    let canvas = Canvas()
    expect(!history.canUndo && !history.canRedo)
    history.beginGroup()
    expect(!history.canUndo)
    try step(history, canvas)
    expect(history.canUndo && history.undoCount == 1)
    try history.endGroup()
    expect(history.canUndo && history.undoCount == 1)
    var inside: [Bool] = []
    history.register(canvas) { _ in inside = [history.canUndo, history.canRedo] }
    try history.undo()
    expect(inside, equals: [true, false])
    withExtendedLifetime(canvas) {}
  }
}
