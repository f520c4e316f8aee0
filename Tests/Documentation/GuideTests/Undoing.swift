// Undoing.swift: the code of the page "Undo".

// snippet: undo-closures
import Forwardcast
import ForwardcastRecording
// end
import TestSupport
import Testing

// snippet: undo-closures
final class Document {
  let history = UndoHistory()
  private(set) var title = "untitled"

  func rename(_ title: String) {
    history.register(self) { [old = self.title] document in
      document.rename(old)  // the reverse
    }
    if !history.isUndoing, !history.isRedoing {
      history.setActionName("Rename")
    }
    self.title = title
  }
}
// end

// snippet: undo-keys
extension Message<(String) -> Void> {
  static var retitle: Self { .init("retitle:") }
}

@Receiver
final class Chapter {
  let history = UndoHistory()
  private(set) var title = "untitled"

  @Message func retitle(_ title: String) throws {
    try history.prepare(self).send(.retitle, self.title)  // the reverse
    self.title = title
  }
}
// end

// snippet: undo-typed
@Forwarded
protocol Shape: AnyObject {
  func move(to x: Int)
}

final class Circle: Shape {
  let history = UndoHistory()
  var x = 0
  func move(to x: Int) {
    history.prepare(self, as: ShapeProxy()).move(to: self.x)
    self.x = x
  }
}
// end

@Suite("Undo")
struct Undoing {
  @Test("a call on a typed stand-in becomes an undo step")
  func typed() throws {
    let circle = Circle()
    circle.move(to: 3)
    try circle.history.undo()
    expect(circle.x, equals: 0)
    try circle.history.redo()
    expect(circle.x, equals: 3)
  }

  @Test("an undo message is checked when it is registered")
  func keys() throws {
    let chapter = Chapter()
    try chapter.retitle("one")
    try chapter.history.undo()
    expect(chapter.title, equals: "untitled")
    try chapter.history.redo()
    expect(chapter.title, equals: "one")
    try expect(chapter.history.redo(), equals: false)
    let unknown = #expect(throws: MessageError.self) {
      try chapter.history.prepare(chapter).send(Message<() -> Void>("forget"))
    }
    expect(unknown?.code, equals: .unrecognizedSelector)
  }

  @Test("a change is undone and redone")
  func undo() throws {
    // snippet: undo-use
    let document = Document()
    document.rename("draft")
    document.rename("final")
    try document.history.undo()  // draft
    try document.history.redo()  // final
    print(document.history.undoMenuItemTitle)  // Undo Rename
    // end
    expect(document.title, equals: "final")
    expect(document.history.undoMenuItemTitle, equals: "Undo Rename")
    var titles: [String] = []
    let token = document.history.events.on(UndoHistory.Events.didUndo) { history in
      titles.append(history.undoMenuItemTitle)
    }
    try document.history.undo()
    try document.history.redo()
    token.cancel()
    expect(titles, equals: ["Undo Rename"])
    // snippet: undo-group
    document.history.group("Reset") {
      document.rename("a")
      document.rename("b")
    }
    try document.history.undo()  // undoes both
    // end
    expect(document.title, equals: "final")
    // snippet: undo-typing
    for title in ["d", "dr", "dra"] {
      document.history.group("Typing", coalescing: "typing") {
        document.rename(title)
      }
    }
    try document.history.undo()  // all three
    // end
    expect(document.title, equals: "final")
  }
}
